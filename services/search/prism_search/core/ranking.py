"""Orders candidates by the sum of their signals."""

from collections.abc import Iterable
from math import log

from prism_search.core.candidates import Candidate
from prism_search.core.matching import Question, Rarity
from prism_search.core.signals import score


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
