"""Decides whether the match of a line is in code, in a comment or in a string.

In: the text of a file, and lines that match. A line is tried in parts, because the engine of patterns says only
whether a text matches. What is not surely a comment or a string counts as code.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

from prism_contracts.rpc.search import Only
from prism_search.core.references.text_spans import TextSpan, TextSpans

# Whether a piece of a line matches.
Matches = Callable[[str], bool]

PARTS = frozenset({Only.CODE, Only.COMMENTS, Only.STRINGS})


class MatchPlaces:
    """The matches of one file that count."""

    def __init__(self, text: str, language: str, only: Only | None) -> None:
        self._text = text
        self._language = language
        self._only = only

    def count(self, number: int, line: str, matches: Matches) -> bool:
        """Whether a matching line has a match where it counts. Lines are numbered from 1."""
        if self._only not in PARTS:
            return True
        start = self._starts[number - 1]
        spans = [
            TextSpan(span.start - start, span.end - start, span.is_comment)
            for span in self._spans.within(start, start + len(line))
        ]
        if self._only is Only.CODE:
            return _is_in_code(line, spans, matches)
        wanted = self._only is Only.COMMENTS
        return any(matches(line[span.start : span.end]) for span in spans if span.is_comment is wanted)

    @cached_property
    def _spans(self) -> TextSpans:
        return TextSpans(self._text, self._language)

    @cached_property
    def _starts(self) -> Sequence[int]:
        return list(accumulate((len(line) + 1 for line in self._text.split("\n")), initial=0))


def _is_in_code(line: str, spans: Sequence[TextSpan], matches: Matches) -> bool:
    """Whether a match is left without the spans, or none of them has it alone: then it includes code."""
    if not any(matches(line[span.start : span.end]) for span in spans):
        return True
    masked = line
    for span in spans:
        masked = masked[: span.start] + " " * (span.end - span.start) + masked[span.end :]
    return matches(masked)
