"""Orders candidates by the sum of their signals."""

from collections.abc import Iterable
from heapq import heappush, heappushpop
from math import log

from prism_search.core.matching import Question, Rarity
from prism_search.core.retrieval.candidates import Candidate
from prism_search.core.signals import NAME_WEIGHTS, SURFACE_WEIGHTS, names_score_max, read_path, score

ROUNDING = 1e-9  # for sums in another order


def rarity_of(document_frequency: dict[str, int], documents: int) -> Rarity:
    """Returns the inverse document frequency as in BM25: ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return {
        stem: log(1 + (max(documents, df) - df + 0.5) / (df + 0.5)) for stem, df in document_frequency.items()
    }


def rank(question: Question, candidates: Iterable[Candidate], limit: int) -> list[Candidate]:
    """Returns the best candidates, best first. Fills in `touched`, `score` and `signals`.

    Equal scores are ordered by path. Names of symbols cost most to score, so files are scored in order of
    their highest possible score, until no other file can reach the best `limit`. The result is the same as if
    all files were scored.
    """
    files = list(candidates)
    question.shallowest = min((read_path(file.path).folders for file in files), default=0)
    bounds: list[tuple[float, Candidate]] = []
    for file in files:
        file.signals = score(question, file, SURFACE_WEIGHTS)
        most = sum(file.signals.values()) + names_score_max(question, file) + ROUNDING
        bounds.append((most, file))
    heads = frozenset(question.stem_heads.values())
    ranked: list[Candidate] = []
    best: list[float] = []  # a heap of the `limit` highest scores
    for most, file in sorted(bounds, key=lambda pair: -pair[0]):
        if len(best) == limit and most < best[0]:
            break
        file.touched = file.outline.touched(heads, question.matched_stems_of_name)
        file.signals |= score(question, file, NAME_WEIGHTS)
        file.score = sum(file.signals.values())
        ranked.append(file)
        (heappush if len(best) < limit else heappushpop)(best, file.score)
    return sorted(ranked, key=lambda file: (-file.score, file.path, file.repo))[:limit]
