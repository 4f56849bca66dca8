"""Finds the lines of a file that contain any of many names as whole words, and where in the file each stands.

One pass over the words of a text serves thousands of names. A name with other characters than those of words is found
as a piece of text, wherever it is.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from itertools import accumulate
from typing import NamedTuple

from prism_contracts.rpc.unused import NamedIn
from prism_search.core.references.text_spans import TextSpan, TextSpans

WORD = re.compile(r"\w+")
# Before the name of a component in Markdown: `<Gauge value="1" />`.
_TAG_STARTS = frozenset({"<", "{"})
# A string that begins its line, and is no part of an expression: a docstring.
_DOCSTRINGS = ('"""', "'''")


class NameLine(NamedTuple):
    """A line that contains a name."""

    name: str
    place: NamedIn
    line: int


class SoughtNames:
    """Names to look for."""

    def __init__(self, names: Collection[str]) -> None:
        self._words = frozenset(name for name in names if WORD.fullmatch(name))
        self._others = tuple(sorted(set(names) - self._words))

    def lines(self, text: str, language: str, *, is_prose: bool) -> Iterator[NameLine]:
        """Yields each line once per name and place, in order."""
        found = self._words & set(WORD.findall(text))
        others = [name for name in self._others if name in text]
        if not found and not others:
            return
        places = [
            (match.start(), match[0]) for match in WORD.finditer(text) if found and match[0] in found
        ] + [(match.start(), name) for name in others for match in re.finditer(re.escape(name), text)]
        places.sort()
        spans = None if is_prose else TextSpans(text, language)
        ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
        seen: set[NameLine] = set()
        for start, name in places:
            if spans is not None:
                place = _place(spans, text, start, start + len(name))
            else:
                place = NamedIn.CODE if text[start - 1 : start] in _TAG_STARTS else NamedIn.PROSE
            one = NameLine(name, place, bisect_right(ends, start) + 1)
            if one not in seen:
                seen.add(one)
                yield one


def _place(spans: TextSpans, text: str, start: int, end: int) -> NamedIn:
    if not spans.hold([start], end - start):
        return NamedIn.CODE
    span = spans.around(start)
    is_text = span is not None and (span.is_comment or _is_docstring(text, span))
    return NamedIn.COMMENT if is_text else NamedIn.STRING


def _is_docstring(text: str, span: TextSpan) -> bool:
    """Whether nothing takes a string of several lines: only its indentation is before it."""
    line = text.rfind("\n", 0, span.start) + 1
    return text.startswith(_DOCSTRINGS, span.start) and not text[line : span.start].strip()
