"""Orders candidates by the sum of their signals and picks the lines to show of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from math import log

from prism_search.core.candidates import Candidate, ChunkHit
from prism_search.core.matching import Question, Rarity
from prism_search.core.outline import Definition
from prism_search.core.query import Query, dotted, last_name
from prism_search.core.signals import NAME_WEIGHTS, SURFACE_WEIGHTS, names_score_max, score

RANGE_LINES_MAX = 120
OPENING_LINES = 40
ROUNDING = 1e-9  # of sums in another order
CONFIDENT, PLAUSIBLE = 1.6, 0.8


@dataclass(frozen=True)
class Range:
    """Lines of a candidate that answer, 1-based and inclusive."""

    start: int
    end: int
    symbol: str = ""
    kind: str = ""


def rarity_of(document_frequency: dict[str, int], documents: int) -> Rarity:
    """Inverse document frequency as in BM25: ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return {
        stem: log(1 + (max(documents, df) - df + 0.5) / (df + 0.5)) for stem, df in document_frequency.items()
    }


def rank(question: Question, candidates: Iterable[Candidate], limit: int) -> list[Candidate]:
    """The best candidates, best first; equal scores by path. Fills in `touched`, `score` and `signals`.

    Names of symbols cost most to look at. Files are taken in order of the most that they could reach, until the rest
    would stay below the best `limit` whatever their symbols are called: the answer is that of looking at all.
    """
    files = list(candidates)
    question.shallowest = min((file.path.count("/") for file in files), default=0)
    reach: dict[int, float] = {}
    for file in files:
        file.signals = score(question, file, SURFACE_WEIGHTS)
        reach[id(file)] = sum(file.signals.values()) + names_score_max(question, file) + ROUNDING
    ranked: list[Candidate] = []
    best: list[float] = []  # a heap of the `limit` highest scores
    for file in sorted(files, key=lambda file: -reach[id(file)]):
        if len(best) == limit and reach[id(file)] < best[0]:
            break
        file.touched = file.outline.touched(question.heads, question.taken_up_by_name)
        file.signals |= score(question, file, NAME_WEIGHTS)
        file.score = sum(file.signals.values())
        ranked.append(file)
        (heappush if len(best) < limit else heappushpop)(best, file.score)
    return sorted(ranked, key=lambda file: (-file.score, file.path, file.repo))[:limit]


def best_range(question: Question, file: Candidate) -> Range:
    """The lines to show: the definition of a symbol that the question names, else the best chunk by words, else by
    vector, else the best-named definition, else the beginning.
    """
    named = _named_definition(question.query, file)
    if named is not None:
        return _definition_range(named)
    for chunks in (file.keyword_chunks, file.vector_chunks):
        if chunks:
            return _chunk_range(max(chunks, key=lambda chunk: chunk.score))
    defined = max(file.touched, key=lambda d: question.name_match(d.name), default=None)
    if defined is not None and question.name_match(defined.name):
        return _definition_range(defined)
    return Range(1, max(1, min(file.lines, OPENING_LINES)))


def further_ranges(file: Candidate, shown: Sequence[Range]) -> list[Range]:
    """Other chunks of the file by words, best first, that do not overlap what is shown."""
    ranges: list[Range] = []
    for chunk in sorted(file.keyword_chunks, key=lambda chunk: -chunk.score):
        found = _chunk_range(chunk)
        if all(found.end < other.start or found.start > other.end for other in [*shown, *ranges]):
            ranges.append(found)
    return ranges


def confidence(scores: Sequence[float]) -> str:
    """`high`, `medium` or `low` by the best score: 1.6 and more is rarely wrong, below 0.8 rarely right."""
    if not scores:
        return "none"
    return "high" if scores[0] >= CONFIDENT else "medium" if scores[0] >= PLAUSIBLE else "low"


def _named_definition(query: Query, file: Candidate) -> Definition | None:
    for symbol in query.symbols:
        wanted, name = dotted(symbol), last_name(symbol)
        if not file.outline.may_define(name):
            continue
        named = [definition for definition in file.outline.definitions() if definition.name == name]
        if named:
            return max(named, key=lambda d: (d.qualified_name.endswith(wanted), d.group in "TF", -d.start))
    return None


def _definition_range(definition: Definition) -> Range:
    end = min(definition.end, definition.start + RANGE_LINES_MAX - 1)
    return Range(definition.start, end, definition.qualified_name, definition.kind)


def _chunk_range(chunk: ChunkHit) -> Range:
    return Range(chunk.start, chunk.end, chunk.symbol, chunk.kind)
