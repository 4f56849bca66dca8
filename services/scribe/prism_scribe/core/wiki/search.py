"""Searches the sections of a wiki's pages by words, with BM25.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prism_scribe.core.questions import words_of

# The usual saturation and length normalization.
K1, B = 1.2, 0.75
# How often a word of a heading counts. The title of the page counts once for each of its sections.
HEADING_WEIGHT = 3
STEM_CHARS_MIN = 3
EXCERPT_LINES = 4
EXCERPT_CHARS_MAX = 600
LINE_CHARS_MAX = 240

_ENDINGS = ("ing", "ers", "ies", "er", "es", "ed", "s")


@dataclass(frozen=True)
class Section:
    """A section of a page. Lines are counted from 1, in the page without its header."""

    page: str
    heading: str  # empty for what precedes the first heading
    line: int
    lines: tuple[str, ...]


class SectionHit(NamedTuple):
    """A section with its score, and its lines that say most about the question: rows of a table, else a passage."""

    section: Section
    line: int  # the first line of the excerpt
    excerpt: str
    score: float


class WikiIndex:
    """The sections of a wiki, with their words. It never changes."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        """`pages` are texts without header, by key, in reading order."""
        self._sections = [section for key, text in pages.items() for section in sections_of(key, text)]
        self._counts = [_counts(section, _title(pages[section.page])) for section in self._sections]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(self._lengths))
        self._holding = Counter(word for counts in self._counts for word in counts)
        self.size_chars = sum(map(len, pages.values()))

    def search(self, query: str, limit: int) -> list[SectionHit]:
        """Returns the best sections, best first. A section without a word of the query is no hit."""
        wanted = sorted(_stems(query))
        scored = ((self._score(position, wanted), position) for position in range(len(self._sections)))
        best = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))[:limit]
        return [self._hit(position, score, wanted) for score, position in best]

    def _score(self, position: int, wanted: Sequence[str]) -> float:
        counts, length = self._counts[position], self._lengths[position]
        norm = K1 * (1 - B + B * length / max(1.0, self._mean))
        return sum(
            self._weight(word) * counts[word] * (K1 + 1) / (counts[word] + norm)
            for word in wanted
            if word in counts
        )

    def _weight(self, word: str) -> float:
        holding = self._holding[word]
        return math.log(1 + (len(self._sections) - holding + 0.5) / (holding + 0.5))

    def _hit(self, position: int, score: float, wanted: Sequence[str]) -> SectionHit:
        section = self._sections[position]
        said = [at for at, line in enumerate(section.lines) if line and not line.startswith("#")]
        values = {at: sum(map(self._weight, _stems(section.lines[at]) & set(wanted))) for at in said}
        best = sorted(said, key=lambda at: (-values[at], at))
        if section.lines[best[0]].startswith("|"):
            shown = sorted(at for at in best[:EXCERPT_LINES] if values[at] or at == best[0])
        else:
            shown = list(range(best[0], min(best[0] + EXCERPT_LINES, len(section.lines))))
        lines = [section.lines[at][:LINE_CHARS_MAX] for at in shown]
        excerpt = "\n".join(lines).strip("\n")[:EXCERPT_CHARS_MAX]
        return SectionHit(section, section.line + shown[0], excerpt, round(score, 4))


def sections_of(key: str, text: str) -> Iterator[Section]:
    """Yields the sections of a page that say something, split at headings outside of fenced blocks."""
    heading, first, held, fence = "", 1, list[str](), ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```"):
            ticks = line[: len(line) - len(line.lstrip("`"))]
            fence = "" if line == fence else fence or ticks
        if line.startswith("#") and not fence:
            yield from _section(key, heading, first, held)
            heading, first, held = line.lstrip("#").strip(), number, []
        held.append(line)
    yield from _section(key, heading, first, held)


def _section(key: str, heading: str, first: int, lines: Sequence[str]) -> Iterator[Section]:
    if any(line.strip() and not line.startswith("#") for line in lines):
        yield Section(key, heading, first, tuple(lines))


def _title(page: str) -> str:
    return page.partition("\n")[0]


def _counts(section: Section, title: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in (title, *section.lines):
        counts.update(_stems(line) if line != f"# {section.heading}" else ())
    for word in _stems(section.heading):
        counts[word] += HEADING_WEIGHT if section.line > 1 else 1
    return counts


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in words_of(text)}


def _stem(word: str) -> str:
    """Returns what the usual forms of a word share: `test` for tests, `run` for running."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_CHARS_MIN:
            bare = word.removesuffix(ending)
            return bare[:-1] if bare[-1] == bare[-2] else bare
    return word.removesuffix("e")
