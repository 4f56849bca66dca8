"""The answer to a question by one leg alone, or without one signal: recomputed offline from its candidates.

The served order is the sum of the signals, with ties by path; no rule follows the sum. So the effect of a signal is
known without another request, as long as the recomputed sum yields the served order: `is_reproduced`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.quality.questions import Question
from bench.quality.score import Place, covers


@dataclass(frozen=True)
class Candidate:
    """A considered file: its lines in the answer, each signal's share of its score, its rank
    (from 1) by leg.
    """

    place: Place
    signals: Mapping[str, float]
    legs: Mapping[str, int]


@dataclass(frozen=True)
class Answer:
    """The served answer, best first, its confidence, and all candidates."""

    question: Question
    served: tuple[Place, ...]
    confidence: str
    candidates: tuple[Candidate, ...]


def is_first_right(answer: Answer) -> bool:
    """Whether the first result covers a target."""
    return any(covers(place, target) for place in answer.served[:1] for target in answer.question.targets)


def ranked(candidates: Iterable[Candidate], without: str = "") -> list[Place]:
    """Returns the candidates in the order of their sums, without a signal."""

    def key(candidate: Candidate) -> tuple[float, str]:
        shares = (share for name, share in candidate.signals.items() if name != without)
        return -sum(shares), candidate.place.path

    return [candidate.place for candidate in sorted(candidates, key=key)]


def by_leg(candidates: Iterable[Candidate], leg: str) -> list[Place]:
    """Returns the answer of a leg alone: its candidates, in its own order."""
    found = (candidate for candidate in candidates if leg in candidate.legs)
    return [candidate.place for candidate in sorted(found, key=lambda candidate: candidate.legs[leg])]


def is_reproduced(answer: Answer) -> bool:
    """Whether summing again gives the served files in the served order."""
    files = list(dict.fromkeys(place.path for place in answer.served))
    return [place.path for place in ranked(answer.candidates)[: len(files)]] == files


def finders(answer: Answer) -> Iterator[frozenset[str]]:
    """Returns for each target the legs that found a covering file."""
    for target in answer.question.targets:
        found = (one.legs for one in answer.candidates if covers(one.place, target))
        yield frozenset(leg for legs in found for leg in legs)


def signals_of(answers: Sequence[Answer]) -> list[str]:
    """Returns signals with a share in any score."""
    return sorted({name for answer in answers for one in answer.candidates for name in one.signals})


def legs_of(answers: Sequence[Answer]) -> list[str]:
    """Returns legs with any hit."""
    return sorted({leg for answer in answers for one in answer.candidates for leg in one.legs})
