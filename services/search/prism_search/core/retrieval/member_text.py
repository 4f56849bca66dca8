"""The text around a hit: its lines, which of them are prose, and the words of the question in each."""

from collections.abc import Iterable, Mapping
from itertools import accumulate

from prism_search.core.matching import NOTHING, Question
from prism_search.core.references.text_spans import TextSpans
from prism_search.core.words import IDENTIFIER

# The beginnings of lines inside a comment whose beginning may be above the text.
COMMENT_STARTS = ("* ", "*/", "/*", "//", "#!")


class MemberText:
    """Consecutive lines of a file, by number. What a line contains is worked out when it is asked."""

    def __init__(self, content: str, first_line: int, language: str) -> None:
        """Splits the text of an excerpt."""
        self._content, self._language = content, language
        lines = content.split("\n")
        self.lines: Mapping[int, str] = dict(enumerate(lines, first_line))
        self._starts = dict(
            enumerate(accumulate((len(line) + 1 for line in lines[:-1]), initial=0), first_line)
        )
        self._spans: TextSpans | None = None
        # The identifiers that match the question, each with its stems; then by line the stems that it contains.
        self._names: dict[str, Mapping[str, float]] | None = None
        self._stems: dict[int, Mapping[str, float]] = {}

    def is_prose(self, number: int) -> bool:
        """Whether a line is part of a comment or a docstring, and nothing else."""
        bare = self.lines.get(number, "").strip()
        if not bare or bare == "*" or bare.startswith(COMMENT_STARTS):
            return bool(bare)
        if self._spans is None:
            self._spans = TextSpans(self._content, self._language)
        return self._spans.hold([self._starts[number] + self.lines[number].index(bare)], len(bare))

    def matched(self, question: Question, numbers: Iterable[int]) -> dict[str, float]:
        """Returns the stems of the question that these lines contain, each with its best likeness."""
        return merged(stems for number in numbers if (stems := self.of_line(question, number)))

    def of_line(self, question: Question, number: int) -> Mapping[str, float]:
        """Returns the same for one line."""
        known = self._stems.get(number)
        if known is None:
            if self._names is None:
                every = set(IDENTIFIER.findall(self._content))
                self._names = {
                    name: stems for name in every if (stems := question.matched_stems_of_name(name))
                }
            names = self._names
            words = [names[word] for word in IDENTIFIER.findall(self.lines.get(number, "")) if word in names]
            known = self._stems[number] = merged(words) if words else NOTHING
        return known

    def code(self, first: int, last: int) -> list[int]:
        """Returns the numbers of the lines with code."""
        return [
            number
            for number in range(first, last + 1)
            if self.lines.get(number, "").strip() and not self.is_prose(number)
        ]


def merged(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the best likeness of each stem."""
    found: dict[str, float] = {}
    for one in many:
        for stem, degree in one.items():
            if degree > found.get(stem, 0.0):
                found[stem] = degree
    return found
