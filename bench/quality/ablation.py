"""What a question's answer would have been by one leg alone, or without one signal: from its candidates, offline.

The order that is served is that of the sum of the signals, with equal sums by path; no rule comes after the sum. So a
signal's part in it is known without asking again, as long as summing again gives the served order: `is_reproduced`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.quality.questions import Question
from bench.quality.score import Place, covers


@dataclass(frozen=True)
class Candidate:
    """A file that was considered: the lines shown of it, each signal's share of its score, its rank (from 1) by leg."""

    place: Place
    signals: Mapping[str, float]
    legs: Mapping[str, int]


@dataclass(frozen=True)
class Answer:
    """What was served, best first, how sure of it the answer said to be, and all that was considered."""

    question: Question
    served: tuple[Place, ...]
    confidence: str
    candidates: tuple[Candidate, ...]


def is_first_right(answer: Answer) -> bool:
    """Whether the first result covers a target."""
    return any(covers(place, target) for place in answer.served[:1] for target in answer.question.targets)


def ranked(candidates: Iterable[Candidate], without: str = "") -> list[Place]:
    """The candidates in the order of their sums, a signal left out."""

    def key(candidate: Candidate) -> tuple[float, str]:
        shares = (share for name, share in candidate.signals.items() if name != without)
        return -sum(shares), candidate.place.path

    return [candidate.place for candidate in sorted(candidates, key=key)]


def by_leg(candidates: Iterable[Candidate], leg: str) -> list[Place]:
    """What a leg alone would have answered: the candidates that it found, in its own order."""
    found = (candidate for candidate in candidates if leg in candidate.legs)
    return [candidate.place for candidate in sorted(found, key=lambda candidate: candidate.legs[leg])]


def is_reproduced(answer: Answer) -> bool:
    """Whether summing again gives the served files in the served order."""
    files = list(dict.fromkeys(place.path for place in answer.served))
    return [place.path for place in ranked(answer.candidates)[: len(files)]] == files


def finders(answer: Answer) -> Iterator[frozenset[str]]:
    """For each target of the question the legs that found a file that covers it."""
    for target in answer.question.targets:
        found = (one.legs for one in answer.candidates if covers(one.place, target))
        yield frozenset(leg for legs in found for leg in legs)


def signals_of(answers: Sequence[Answer]) -> list[str]:
    """Signals that had a share in any score."""
    return sorted({name for answer in answers for one in answer.candidates for name in one.signals})


def legs_of(answers: Sequence[Answer]) -> list[str]:
    """Legs that found anything."""
    return sorted({leg for answer in answers for one in answer.candidates for leg in one.legs})
