"""The text around a hit: its lines, which of them are prose, and the words of the question in each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from prism_search.core.matching import Question
from prism_search.core.references.text_spans import TextSpans
from prism_search.core.words import IDENTIFIER

# The beginnings of lines inside a comment whose beginning may be above the text.
COMMENT_STARTS = ("* ", "*/", "/*", "//", "#!")


@dataclass(frozen=True)
class MemberText:
    """Consecutive lines of a file, by number."""

    lines: Mapping[int, str]
    prose: frozenset[int]  # numbers of lines that are comments or docstrings only
    # By line: the stems of the question that it contains, each with its likeness. Filled in by `of_line`.
    _matched: dict[int, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, content: str, first_line: int, language: str) -> "MemberText":
        """Splits the text of an excerpt."""
        lines = content.split("\n")
        spans = TextSpans(content, language)
        starts = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
        prose = {
            number
            for number, (start, line) in enumerate(zip(starts, lines, strict=True), first_line)
            if (bare := line.strip())
            and (
                bare == "*"
                or bare.startswith(COMMENT_STARTS)
                or spans.hold([start + line.index(bare)], len(bare))
            )
        }
        return cls(dict(enumerate(lines, first_line)), frozenset(prose))

    def matched(self, question: Question, numbers: Iterable[int]) -> dict[str, float]:
        """Returns the stems of the question that these lines contain, each with its best likeness."""
        found: dict[str, float] = {}
        for number in numbers:
            if known := self.of_line(question, number):
                found = merged([found, known])
        return found

    def of_line(self, question: Question, number: int) -> Mapping[str, float]:
        """Returns the same for one line."""
        known = self._matched.get(number)
        if known is None:
            words = IDENTIFIER.findall(self.lines.get(number, ""))
            known = self._matched[number] = merged(filter(None, map(question.matched_stems_of_name, words)))
        return known

    def code(self, first: int, last: int) -> list[int]:
        """Returns the numbers of the lines with code."""
        return [
            number
            for number in range(first, last + 1)
            if number not in self.prose and self.lines.get(number, "").strip()
        ]


def merged(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the best likeness of each stem."""
    found: dict[str, float] = {}
    for one in many:
        for stem, degree in one.items():
            if degree > found.get(stem, 0.0):
                found[stem] = degree
    return found
