"""NDCG@10 as the benchmark counts it, its means, and their confidence intervals. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import NamedTuple

import numpy as np

from bench.quality.questions import Question, Target

CUTOFF = 10
ROUNDS = 2_000
SEED = 20_260
PERCENTILES = (2.5, 97.5)

Scores = Mapping[Question, float]


class Place(NamedTuple):
    """Lines of a file in an answer, 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True)
class Mean:
    """A mean over grouped questions. `low` and `high` bound 95 % of the bootstrap means of `by_corpus`."""

    questions: int
    corpora: int
    by_corpus: float  # mean over corpora of each one's mean: the benchmark's figure
    by_question: float
    low: float
    high: float


def ndcg(places: Sequence[Place], targets: Sequence[Target]) -> float:
    """Binary NDCG@10 (Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002).

    A target credits the first place that covers it; two targets on one place are one gain. Places are not
    de-duplicated by file. The ideal has all targets at the top.
    """
    first = (_first_covering(places[:CUTOFF], target) for target in targets)
    slots = {slot for slot in first if slot is not None}
    return _gain(slots) / _gain(range(min(CUTOFF, len(targets))))


def covers(place: Place, target: Target) -> bool:
    """Paths are equal or one ends with the other, and lines overlap where the target names some."""
    if not f"/{place.path}".endswith(f"/{target.path}") and not f"/{target.path}".endswith(f"/{place.path}"):
        return False
    if target.start_line is None or target.end_line is None:
        return True
    return place.start_line <= target.end_line and place.end_line >= target.start_line


def mean(scores: Scores) -> Mean:
    """Returns the mean with its interval; for differences of the same questions, a paired one."""
    groups: dict[str, list[float]] = {}
    for question, value in scores.items():
        groups.setdefault(question.corpus.name, []).append(value)
    corpora = [np.array(values) for values in groups.values()]
    low, high = _interval(corpora)
    return Mean(
        questions=sum(map(len, corpora)),
        corpora=len(corpora),
        by_corpus=float(np.mean([values.mean() for values in corpora])),
        by_question=float(np.concatenate(corpora).mean()),
        low=low,
        high=high,
    )


def differences(scores: Scores, others: Scores) -> dict[Question, float]:
    """Returns the gain over the others, for common questions."""
    return {question: scores[question] - others[question] for question in scores if question in others}


def _first_covering(places: Sequence[Place], target: Target) -> int | None:
    return next((slot for slot, place in enumerate(places) if covers(place, target)), None)


def _gain(slots: Iterable[int]) -> float:
    return sum(1 / log2(slot + 2) for slot in slots)


def _interval(corpora: Sequence[np.ndarray]) -> tuple[float, float]:
    """Bootstrap in two levels: corpora are resampled, then the questions of each."""
    random = np.random.default_rng(SEED)
    means = np.zeros(ROUNDS)
    for _ in corpora:
        drawn = random.integers(len(corpora), size=ROUNDS)
        for number, values in enumerate(corpora):
            rounds = np.flatnonzero(drawn == number)
            again = random.integers(len(values), size=(len(rounds), len(values)))
            means[rounds] += values[again].mean(axis=1)
    low, high = np.percentile(means / len(corpora), PERCENTILES)
    return float(low), float(high)
