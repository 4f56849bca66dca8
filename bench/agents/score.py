"""Scores answers: recall of the places, times the share of given places that are right."""

import re
from collections.abc import Iterable, Mapping, Sequence

from bench.agents.questions import Place, Question

LINE = re.compile(r"^\s*(?P<id>[\w.-]+)\t\s*(?P<answer>.+?)\s*$")
PLACE = re.compile(r"^(?:\./)?(?P<path>[^\s:]+):(?P<start>\d+)(?:-(?P<end>\d+))?(?:\s+(?P<symbol>\S+))?")
VERDICTS = frozenset({"yes", "no"})


class Given:
    """The answer to one question: places, and a verdict if there is one."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.verdict = ""


def read_answers(text: str) -> dict[str, Given]:
    """Returns the answers by question. Lines of another form are ignored."""
    found: dict[str, Given] = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        given = found.setdefault(match["id"], Given())
        if match["answer"].lower().strip(".") in VERDICTS:
            given.verdict = match["answer"].lower().strip(".")
        elif place := PLACE.match(match["answer"]):
            start = int(place["start"])
            given.places.append(
                Place(
                    path=place["path"],
                    start=start,
                    end=int(place["end"] or start),
                    symbol=place["symbol"] or "",
                )
            )
    return found


def score(question: Question, given: Given | None) -> float:
    """Returns 0 to 1. A wrong verdict is 0; where nothing exists, the verdict alone counts."""
    if given is None or (question.verdict and given.verdict != question.verdict):
        return 0.0
    if question.verdict and not question.truth:
        return 1.0
    places = _distinct(given.places)
    found = [truth for truth in question.truth if any(truth.covers(place) for place in places)]
    wrong = [
        place
        for place in places
        if not any(known.covers(place) for known in (*question.truth, *question.acceptable))
    ]
    recall = len(found) / len(question.truth) if question.truth else 1.0
    return recall * (1 - len(wrong) / len(places)) if places else float(not question.truth)


def scores(questions: Iterable[Question], answers: Mapping[str, Given]) -> dict[str, float]:
    """Returns the score of each question by its id."""
    return {one.id: score(one, answers.get(one.id)) for one in questions}


def _distinct(places: Sequence[Place]) -> list[Place]:
    return list({(one.path, one.start, one.end): one for one in places}.values())
