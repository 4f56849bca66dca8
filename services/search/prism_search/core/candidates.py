"""Files that may answer, brought together from the legs by reciprocal rank fusion."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prism_contracts.base import ordinal_of
from prism_search.core.outline import NO_OUTLINE, Definition, Outline

# Cormack, Clarke, Buettcher: Reciprocal rank fusion outperforms Condorcet (SIGIR 2009).
RRF_K = 60
# Whole numbers add up the same in any order of the legs.
FUSION_SCALE = 10**12
# Twice as many answer the development benchmark no better, and each costs reading its file point and its signals.
CANDIDATES_MAX = 40

# Equal weights lose five to seven points of NDCG on the development benchmark: keywords lead.
LEG_WEIGHTS: Mapping[str, float] = {
    "keyword": 1.0,
    "path": 1.0,
    "symbol": 0.8,
    "exact": 1.5,
    "vector": 0.5,
    "deep": 0.5,
}


class ChunkHit(NamedTuple):
    """A chunk that a leg found. `score` is that leg's own. Where it is and what it is part of is told by `locate_chunks`."""

    id: str
    score: float
    start: int = 0
    end: int = 0
    symbol: str = ""
    kind: str = ""


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
    chunk_symbols: str = (
        ""  # a line a chunk: kind and qualified name of the symbol that it is part of, by a tab
    )
    outline: Outline = NO_OUTLINE
    keyword_chunks: list[ChunkHit] = field(default_factory=list)  # best first
    vector_chunks: list[ChunkHit] = field(default_factory=list)
    legs: dict[str, int] = field(default_factory=dict)  # leg -> best rank, from 1
    # Of the best chunk's vector, standard deviations above the leg's mean.
    nearness: float = 0.0
    deep_nearness: float = 0.0
    score: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    # Of the outline, what takes up a word of the question.
    touched: tuple[Definition, ...] = ()


def fuse(ranked: Mapping[str, Sequence[str]], limit: int) -> dict[str, dict[str, int]]:
    """File ids by reciprocal rank fusion of the legs' file lists, best first, each with its rank by leg."""
    ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)
    fused: defaultdict[str, int] = defaultdict(int)
    for leg, files in ranked.items():
        weight = LEG_WEIGHTS[leg]
        for rank, file in enumerate(dict.fromkeys(files), start=1):
            ranks[file][leg] = rank
            fused[file] -= round(FUSION_SCALE * weight / (RRF_K + rank))
    ordered = sorted((score, file) for file, score in fused.items())
    return {file: ranks[file] for _, file in ordered[:limit]}


def chunk_places(starts: str, lines: int) -> list[tuple[int, int]]:
    """First and last line of each chunk of a file: chunks are whole lines, and follow one another."""
    firsts = [int(line) for line in starts.split()]
    return list(
        zip(firsts, [*(first - 1 for first in firsts[1:]), lines], strict=False)
    )  # no chunk of an empty file


def locate_chunks(file: Candidate) -> None:
    """Fill in where the chunks that were found are and what they are part of."""
    places = chunk_places(file.starts, file.lines)
    symbols = [line.partition("\t") for line in file.chunk_symbols.split("\n")]

    def located(chunk: ChunkHit) -> ChunkHit:
        ordinal = ordinal_of(chunk.id)
        kind, _, symbol = symbols[ordinal]
        start, end = places[ordinal]
        return chunk._replace(start=start, end=end, symbol=symbol, kind=kind)

    file.keyword_chunks = [located(chunk) for chunk in file.keyword_chunks]
    file.vector_chunks = [located(chunk) for chunk in file.vector_chunks]
