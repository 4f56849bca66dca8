"""A file that may answer: what is known of it, and what each leg found in it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from prism_contracts.base import ordinal_of
from prism_search.core.outline import NO_OUTLINE, Outline, OutlineEntry
from prism_store.schema import repo_of

# Twice as many do not improve the development benchmark, and each costs a read of its file point and its
# signals.
CANDIDATES_MAX = 40


class ChunkHit(NamedTuple):
    """A chunk that a leg found, with the leg's score. `locate_chunks` adds its lines and its symbol."""

    id: str
    score: float
    start: int = 0
    end: int = 0
    symbol: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class RankFacts:
    """What the file point says about a file, as far as ranking needs it."""

    file: str
    scope: str
    path: str
    generation: str
    language: str
    flags: str
    prose: bool
    lines: int
    starts: str  # first lines of its chunks
    chunk_symbols: str  # the symbol that each chunk belongs to
    outline: Outline

    @property
    def repo(self) -> str:
        """The id of the repository."""
        return repo_of(self.scope)


@dataclass
class Candidate:
    """A file that may answer."""

    file: str
    repo: str
    path: str
    generation: str
    language: str = ""
    flags: str = ""
    prose: bool = False
    lines: int = 0
    starts: str = ""  # first lines of its chunks
    # One line per chunk: kind and qualified name of the symbol that it belongs to, separated by a tab.
    chunk_symbols: str = ""
    outline: Outline = NO_OUTLINE
    keyword_chunks: list[ChunkHit] = field(default_factory=list)  # best first
    vector_chunks: list[ChunkHit] = field(default_factory=list)
    legs: dict[str, int] = field(default_factory=dict)  # leg -> best rank, from 1
    # How far the best chunk's vector is above the leg's mean, in standard deviations.
    nearness: float = 0.0
    deep_nearness: float = 0.0
    score: float = 0.0
    likelihood: float = 0.0  # that it answers the question, 0 to 1
    signals: dict[str, float] = field(default_factory=dict)
    # The definitions of the outline whose names match a word of the question.
    touched: tuple[OutlineEntry, ...] = ()

    @cached_property
    def definitions(self) -> tuple[OutlineEntry, ...]:
        """All definitions of the file, parsed once per question."""
        return self.outline.definitions()


def chunk_places(starts: str, lines: int) -> list[tuple[int, int]]:
    """Returns the first and last line of each chunk. Chunks have no gaps; empty files have no chunk."""
    firsts = [int(line) for line in starts.split()]
    return list(zip(firsts, [*(first - 1 for first in firsts[1:]), lines], strict=False))


def locate_chunks(file: Candidate) -> None:
    """Fills in the lines and the symbols of the chunks that were found."""
    places = chunk_places(file.starts, file.lines)
    symbols = [line.partition("\t") for line in file.chunk_symbols.split("\n")]

    def located(chunk: ChunkHit) -> ChunkHit:
        ordinal = ordinal_of(chunk.id)
        kind, _, symbol = symbols[ordinal]
        start, end = places[ordinal]
        return chunk._replace(start=start, end=end, symbol=symbol, kind=kind)

    file.keyword_chunks = [located(chunk) for chunk in file.keyword_chunks]
    file.vector_chunks = [located(chunk) for chunk in file.vector_chunks]
