"""Detects lists of links, such as tables of contents, which name everything and explain nothing."""

import re

# Markdown: inline, by reference, the definition of a reference, and bare. reStructuredText and AsciiDoc: by
# name and by macro.
LINK = re.compile(
    r"""
    !?\[[^\]]*\]\([^)]*\)        # [text](target)
  | \[[^\]]*\]\[[^\]]*\]         # [text][name]
  | ^\s*\[[^\]]+\]:\s*\S.*$      # [name]: target
  | `[^`]*<[^>]*>`__?            # `text <target>`_
  | (?:link|xref):\S+\[[^\]]*\]  # xref:target[text]
  | <?\bhttps?://[^\s>]+>?
    """,
    re.VERBOSE | re.MULTILINE,
)
WORD = re.compile(r"\w+")
# A line counts as a link if it has at most this many other words: `- [Install](install.md) and update`.
WORDS_BESIDE_MAX = 3
LINKS_MIN = 3
LINK_LINES_SHARE_MIN = 0.6


def is_list_of_links(text: str) -> bool:
    """Whether most lines of a passage are links and little else."""
    lines = [line for line in text.split("\n") if WORD.search(line)]
    links = sum(map(_is_link, lines))
    return links >= LINKS_MIN and links >= LINK_LINES_SHARE_MIN * len(lines)


def _is_link(line: str) -> bool:
    rest, links = LINK.subn(" ", line)
    return links > 0 and len(WORD.findall(rest)) <= WORDS_BESIDE_MAX
