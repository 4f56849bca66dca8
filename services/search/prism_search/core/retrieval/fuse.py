"""Joins what the legs found into candidate files, by reciprocal rank fusion."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from prism_contracts.base import file_of, is_of_generation
from prism_search.core.retrieval.candidates import Candidate, ChunkHit, RankFacts
from prism_search.core.retrieval.plan import CHUNK_LEGS, DEEP_LEG, FAST_LEG
from prism_store.reader import StoredPoint

# Cormack, Clarke, Buettcher: Reciprocal rank fusion outperforms Condorcet (SIGIR 2009).
RRF_K = 60
# Whole numbers have the same sum in any order of the legs.
FUSION_SCALE = 10**12
# Equal weights lose five to seven points of NDCG on the development benchmark: keywords are the best
# evidence.
LEG_WEIGHTS: Mapping[str, float] = {
    "keyword": 1.0,
    "path": 1.0,
    "symbol": 0.8,
    "exact": 1.5,
    "vector": 0.5,
    "deep": 0.5,
}

Ranks = dict[str, dict[str, int]]


@dataclass(frozen=True)
class LegResults:
    """The points that each leg found, best first, and the legs that did not answer."""

    points: Mapping[str, Sequence[StoredPoint]]
    missing: tuple[str, ...] = ()

    def files(self, leg: str) -> list[str]:
        """Returns the ids of the files of a leg's points, in their order."""
        ids = [point.id for point in self.points[leg]]
        return [file_of(id_) for id_ in ids] if leg in CHUNK_LEGS else ids

    def chunks(self) -> Iterator[StoredPoint]:
        """Returns the points of chunks."""
        return (point for leg in CHUNK_LEGS for point in self.points.get(leg, ()))

    def chunks_by_file(self, leg: str) -> dict[str, list[StoredPoint]]:
        """Returns the chunks that a leg found, by file."""
        points: dict[str, list[StoredPoint]] = defaultdict(list)
        for point in self.points.get(leg, ()):
            points[file_of(point.id)].append(point)
        return points

    def spread(self, leg: str) -> tuple[float, float]:
        """Returns the mean and the standard deviation of a leg's scores."""
        scores = [point.score for point in self.points.get(leg, ())]
        if not scores:
            return 0.0, 0.0
        mean = fmean(scores)
        # `statistics.pstdev` computes with fractions, which takes thirty times as long.
        return mean, sqrt(fmean([(score - mean) ** 2 for score in scores]))


def fuse(ranked: Mapping[str, Sequence[str]], limit: int) -> Ranks:
    """Returns the best file ids over all legs' lists, best first, each with its rank by leg."""
    ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)
    fused: defaultdict[str, int] = defaultdict(int)
    for leg, files in ranked.items():
        weight = LEG_WEIGHTS[leg]
        for rank, file in enumerate(dict.fromkeys(files), start=1):
            ranks[file][leg] = rank
            fused[file] -= round(FUSION_SCALE * weight / (RRF_K + rank))
    ordered = sorted((score, file) for file, score in fused.items())
    return {file: ranks[file] for _, file in ordered[:limit]}


def fuse_legs(found: LegResults, limit: int) -> Ranks:
    """Returns the best files over all legs, best first, each with its rank by leg."""
    return fuse({leg: found.files(leg) for leg in found.points}, limit)


def candidates_of(
    found: LegResults, facts: Mapping[str, RankFacts], ranks: Ranks, stale: set[str]
) -> list[Candidate]:
    """Returns the candidates with their chunks, except chunks of another version of the file."""
    keyword, vector = (found.chunks_by_file(leg) for leg in CHUNK_LEGS)
    deep = {point.id: point.score for point in found.points.get(DEEP_LEG, ())}
    fast_spread, deep_spread = found.spread(FAST_LEG), found.spread(DEEP_LEG)
    candidates = []
    for file_id, legs in ranks.items():
        known = facts.get(file_id)
        if known is None or not known.generation:
            continue
        file = _candidate(known, legs)
        file.keyword_chunks = _current(keyword.get(file_id, ()), file)
        file.vector_chunks = _current(vector.get(file_id, ()), file)
        file.nearness = _nearness([chunk.score for chunk in file.vector_chunks], fast_spread)
        file.deep_nearness = _nearness([deep[file_id]] if file_id in deep else [], deep_spread)
        if file_id in stale:
            file.legs = {leg: rank for leg, rank in legs.items() if leg not in CHUNK_LEGS}
        candidates.append(file)
    return candidates


def _nearness(scores: Sequence[float], spread: tuple[float, float]) -> float:
    mean, deviation = spread
    return (max(scores) - mean) / deviation if scores and deviation else 0.0


def _candidate(facts: RankFacts, legs: dict[str, int]) -> Candidate:
    return Candidate(
        file=facts.file,
        repo=facts.repo,
        path=facts.path,
        generation=facts.generation,
        language=facts.language,
        flags=facts.flags,
        prose=facts.prose,
        lines=facts.lines,
        starts=facts.starts,
        chunk_symbols=facts.chunk_symbols,
        outline=facts.outline,
        legs=legs,
    )


def _current(points: Sequence[StoredPoint], file: Candidate) -> list[ChunkHit]:
    return [
        ChunkHit(point.id, point.score) for point in points if is_of_generation(point.id, file.generation)
    ]
