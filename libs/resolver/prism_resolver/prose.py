"""Extracts prose from files: the first comments of a file, and the first sentence of a docstring."""

import re
from collections.abc import Iterator
from itertools import groupby

SENTENCE_CHARS_MAX = 160
COMMENTS_CHARS_MAX = 400
# A paragraph with so many lines about a licence has no others; one such line may stand above a description.
LICENCE_LINES_MIN = 2
PROSE_CHARS_MAX = 4_000  # characters of a docstring that are searched for its first sentence
OPENING_CHARS_MAX = 6_000  # at the start of a file, searched for its first comments

# Start of a block comment or docstring -> its end.
_CLOSERS = {"/*": "*/", '"""': '"""', "'''": "'''", "{-": "-}", "<!--": "-->"}
# Start of a block comment, or a run of line comments.
_COMMENT_START = re.compile(
    r'/\*|"""|\'\'\'|\{-(?!#)|<!--'
    r"|(?:^[ \t]*(?://|--|;|%|#(?!\[|!|[ \t]*(?:include|define|undef|if|elif|else|endif|pragma|import|region)\b))[^\n]*\n?)+",
    re.MULTILINE,
)
_DECORATION = re.compile(r"""^[\s/*#;%"'{}|!<>=~-]+|[\s/*#"'{}|<>=~-]+$""")
# Licence and copyright lines.
_LICENCE = re.compile(
    r"copyright|licen[sc]|spdx|warrant|redistribut|permission|merchantab|liable|liability|damages|all rights|furnished"
    r"|substantial portions|without restriction|\bas is\b|and associated documentation|conditions are met|@author"
    r"|copies of the software|fitness for|in no event|other dealings|applicable law|governed by|maintainer *:|stability *:"
    r"|portability *:",
    re.IGNORECASE,
)
# Directives for linters, compilers and editors, and standalone marks.
_DIRECTIVE = re.compile(
    r"(?:eslint|tslint|jshint|jscs|biome|prettier|stylelint|istanbul|c8 ignore|v8 ignore|webpack|@ts-|pylint|flake8|mypy|ruff|noqa|type: ignore"
    r"|rubocop|frozen_string_literal|phpcs|swiftlint|clang-format|nolint|coding[:=]|vim?:|region\b|go:\w|\+build\b)"
    r"|@\w+$|end(?:region)?$|(?:-\*-|<reference\b)",
    re.IGNORECASE,
)
# `:class:`Depot``, `[Depot](depot.md)`, `[`Depot`]`, `{@link Depot}` -> the words; and tags of HTML.
_ROLE = re.compile(r":\w[\w:]{0,20}:`~?([^`<>]{1,80})(?: <[^`<>]{1,80}>)?`")
_LINK = re.compile(r"(?<![\w\]])\[`{0,2}([^\[\]`]{1,80})`{0,2}\](?:\([^()\s]{1,200}\)|\[[^\[\]]{0,80}\])?")
_TAG_OF_TEXT = re.compile(r"^\s*@(?:file|fileoverview|overview|description|brief|summary)\b:?", re.MULTILINE)
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}|]{1,80})(?:\|[^{}]{1,80})?\}")
_ADDRESS = re.compile(r"[(<]?\b(?:https?|ftp)://[^\s<>()]{1,500}[)>]?")
_MARKUP = re.compile(r"<[^>]{1,80}>|[`{}@]|(?<!\w)[*_]{1,2}(?=\w)|(?<=\w)[*_]{1,2}(?!\w)|[*]")
_SENTENCE = re.compile(r".{12,}?(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?](?=\s)|.+", re.DOTALL)
# The end of what a docstring says: a list of parameters, an example, a heading.
_END = re.compile(
    r"\s*@(?!(?:file|fileoverview|overview|description|brief|summary)\b)\w"
    r"|\s*:(?:param|return|raise|type|copyright|license)|\s*(?:>>>|```|~~~|\.\. \w|#+ \w)"
    r"|\s*(?:Args|Arguments|Parameters|Returns|Raises|Examples?|Usage|Notes?):?\s*$",
)
_RULE = re.compile(r"\s*[-=~^*+#/]{3,}\s*$")
_NOTE = re.compile(
    r"^(?:TODO|FIXME|XXX|HACK|NB)\b|^this (?:module|file|code) is (?:based on|adapted|taken|part of)\b|^(?:see|from|source|adapted from|taken from|based on|ref|via)?:?\s*(?:https?|ftp)://\S*$",
    re.IGNORECASE,
)
# A line of code that is commented out.
_CODE = re.compile(
    r"[;{}]\s*$|\w\(.*\)\s*$|^\s*(?:import|from|const|let|var|return|if|for|#include)\b[^.]*$|[=!]==?|=>|&&|\|\|"
)
# Allowed before the first comment: whitespace, and a line for the system or the compiler.
_LEADING = re.compile(r"(?:\s++|^#![^\n]*+\n?)*+", re.MULTILINE)


def first_comments(opening: str) -> str:
    """Returns the text of the first comments of a file, without licences.

    `opening` is the start of the file.
    """
    text = opening[:OPENING_CHARS_MAX]
    lines = (line for start, end in _comments(text) for line in text[start:end].splitlines())
    plain = (_DECORATION.sub("", line) for line in lines if not _LICENCE.search(line))
    return " ".join(filter(None, plain))[:COMMENTS_CHARS_MAX]


def leading_comments(opening: str) -> Iterator[tuple[int, str]]:
    """Yields the comments before the first code of a file, each with its first line, without licences."""
    at = 0
    for start, end in _comments(opening):
        if not _LEADING.fullmatch(opening, at, start):
            break
        yield opening.count("\n", 0, start) + 1, "\n".join(comment_lines(opening[start:end]))
        at = end


def first_sentence(prose: str) -> str:
    """Returns the first sentence of a docstring, without markup, cut between words.

    Empty if it is about the licence, a note to the authors, an address, or code that is commented out.
    """
    for paragraph in paragraphs(prose[:PROSE_CHARS_MAX]):
        plain = " ".join(_plain(paragraph).split())
        match = _SENTENCE.match(plain)
        sentence = match[0] if match else ""
        if " " in sentence and not any(said.search(sentence) for said in (_LICENCE, _NOTE, _CODE)):
            return _cut(sentence)
    return ""


def _cut(sentence: str) -> str:
    if len(sentence) <= SENTENCE_CHARS_MAX:
        return sentence
    return f"{sentence[: SENTENCE_CHARS_MAX - 1].rpartition(' ')[0].rstrip(' ,;:(-')}…"


def paragraphs(prose: str) -> Iterator[str]:
    """Yields paragraphs up to the first tag, example or list of parameters."""
    lines: list[str] = []
    for line in prose.splitlines():
        if _is_directive(line):
            continue
        if not line.strip() or _RULE.match(line):
            if lines:
                yield "\n".join(lines)
            lines = []
        elif _END.match(line):
            break
        else:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _plain(text: str) -> str:
    """Returns text without the marks of reStructuredText, Markdown, Javadoc and HTML."""
    text = _TAG_OF_TEXT.sub("", text)
    for pattern in (_ROLE, _INLINE_TAG, _LINK):
        text = pattern.sub(r"\1", text)
    return _MARKUP.sub("", _ADDRESS.sub("", text))


def comment_lines(comment: str) -> Iterator[str]:
    """Yields the lines of a comment without its marks and directives, and without paragraphs about the licence."""
    lines = [_DECORATION.sub("", line) for line in comment.splitlines() if not _is_directive(line)]
    for has_text, group in groupby(lines, bool):
        paragraph = list(group)
        licence = [line for line in paragraph if _LICENCE.search(line)]
        if not has_text or len(licence) < LICENCE_LINES_MIN:
            yield from (line for line in paragraph if line not in licence)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each comment and docstring.

    Linear time: a missing end is searched only once.
    """
    at, unclosed = 0, set()
    while found := _COMMENT_START.search(text, at):
        at, closer = found.end(), _CLOSERS.get(found[0])
        if closer in unclosed:
            continue
        if closer and (end := text.find(closer, at)) < 0:
            unclosed.add(closer)
            continue
        at = end + len(closer) if closer else at
        yield found.start(), at


def _is_directive(line: str) -> bool:
    """Returns whether a comment line is a directive for tools."""
    return _DIRECTIVE.match(_DECORATION.sub("", line)) is not None
