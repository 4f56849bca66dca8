"""The text around a hit: its lines, which of them are prose, and the words of a question in each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from weakref import WeakKeyDictionary

from prism_search.core.matching import Question
from prism_search.core.passages import Range
from prism_search.core.references.text_spans import TextSpans
from prism_search.core.words import HEAD_CHARS, IDENTIFIER, stems_of

# The beginnings of lines inside a comment whose beginning may be above the text.
COMMENT_STARTS = ("* ", "*/", "/*", "//", "#!")


class MemberText:
    """Consecutive lines of a file, by number. What a line contains is computed on first use, and kept."""

    def __init__(self, content: str, first_line: int, language: str) -> None:
        """Splits the text of an excerpt."""
        self._content, self._language = content, language
        lines = content.split("\n")
        self.lines: Mapping[int, str] = dict(enumerate(lines, first_line))
        self._starts = dict(
            enumerate(accumulate((len(line) + 1 for line in lines[:-1]), initial=0), first_line)
        )
        self._stems: WeakKeyDictionary[Question, Mapping[int, Mapping[str, float]]] = WeakKeyDictionary()

    def is_prose(self, number: int) -> bool:
        """Whether a line is part of a comment or a docstring, and nothing else."""
        bare = self.lines.get(number, "").strip()
        if not bare or bare == "*" or bare.startswith(COMMENT_STARTS):
            return bool(bare)
        return self._spans.hold([self._starts[number] + self.lines[number].index(bare)], len(bare))

    def matched(self, question: Question, numbers: Iterable[int]) -> dict[str, float]:
        """Returns the stems of the question that these lines contain, each with its best likeness."""
        by_line = self.stems_by_line(question)
        return merged(by_line[number] for number in numbers if number in by_line)

    def stems_by_line(self, question: Question) -> Mapping[int, Mapping[str, float]]:
        """Returns the same of each line that contains any."""
        known = self._stems.get(question)
        if known is None:
            found: defaultdict[int, list[Mapping[str, float]]] = defaultdict(list)
            heads = question.heads & self._words_by_head.keys()
            for name in {name for head in heads for name in self._words_by_head[head]}:
                if stems := question.matched_stems_of_name(name):
                    for number in self._words[name]:
                        found[number].append(stems)
            known = self._stems[question] = {number: merged(stems) for number, stems in found.items()}
        return known

    def code(self, first: int, last: int) -> list[int]:
        """Returns the numbers of the lines with code."""
        return list(self.iter_code(first, last))

    def iter_code(self, first: int, last: int) -> Iterator[int]:
        """Yields the numbers of the lines with code."""
        for number in range(first, last + 1):
            if self.lines.get(number, "").strip() and not self.is_prose(number):
                yield number

    def text_of(self, lines: Range) -> str | None:
        """Returns some of the lines as one text; None if it has not all of them."""
        if lines.start not in self.lines or lines.end not in self.lines:
            return None
        end = self._starts[lines.end] + len(self.lines[lines.end])
        return self._content[self._starts[lines.start] : end]

    @cached_property
    def _spans(self) -> TextSpans:
        return TextSpans(self._content, self._language)

    @cached_property
    def _words(self) -> Mapping[str, list[int]]:
        """The lines of each identifier."""
        words: defaultdict[str, list[int]] = defaultdict(list)
        for number, line in self.lines.items():
            for word in IDENTIFIER.findall(line):
                words[word].append(number)
        return dict(words)

    @cached_property
    def _words_by_head(self) -> Mapping[str, list[str]]:
        """The identifiers by how a part of them begins. Stems that begin differently are not alike."""
        by_head: defaultdict[str, list[str]] = defaultdict(list)
        for word in self._words:
            for part in stems_of(word):
                by_head[part[:HEAD_CHARS]].append(word)
        return dict(by_head)


def merged(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the best likeness of each stem."""
    found: dict[str, float] = {}
    for one in many:
        for stem, degree in one.items():
            if degree > found.get(stem, 0.0):
                found[stem] = degree
    return found
