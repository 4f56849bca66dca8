"""Orders candidates by the sum of their signals, and says how far the best of them can be trusted."""

from collections.abc import Iterable, Sequence
from math import log

from prism_search.core.candidates import Candidate
from prism_search.core.matching import Question, Rarity
from prism_search.core.signals import score

CONFIDENT, PLAUSIBLE = 1.6, 0.8


def rarity_of(document_frequency: dict[str, int], documents: int) -> Rarity:
    """Inverse document frequency as in BM25: ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return {
        stem: log(1 + (max(documents, df) - df + 0.5) / (df + 0.5)) for stem, df in document_frequency.items()
    }


def rank(question: Question, candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, best first; equal scores by path. Fills in `touched`, `score` and `signals`."""
    files = list(candidates)
    question.shallowest = min((file.path.count("/") for file in files), default=0)
    for file in files:
        near = file.outline.starting(question.heads)
        file.touched = tuple(definition for definition in near if question.taken_up_by_name(definition.name))
        file.signals = score(question, file)
        file.score = sum(file.signals.values())
    return sorted(files, key=lambda file: (-file.score, file.path, file.repo))


def confidence(scores: Sequence[float]) -> str:
    """`high`, `medium` or `low` by the best score: 1.6 and more is rarely wrong, below 0.8 rarely right."""
    if not scores:
        return "none"
    return "high" if scores[0] >= CONFIDENT else "medium" if scores[0] >= PLAUSIBLE else "low"
