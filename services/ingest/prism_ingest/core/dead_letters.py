"""Decides what a retry of a dead letter does. In: the letter. Out: an event to publish again, or what to read again.

A letter holds no text of files, so the message of a file cannot be sent again: its repository is read again.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from prism_contracts import topics
from prism_contracts.base import BASE_LAYER, Event
from prism_contracts.registry import AnyTopic

# Their letters have all of their fields.
WHOLE: Final[Mapping[str, AnyTopic]] = {
    topic.fact: topic for topic in (topics.REPO_INDEXED, topics.SCIP_STORED, topics.SCIP_REMOVED)
}
# What happens anyway, or what a person has to do. Ingest has no right to the events of the deep model.
INSTEAD: Final[Mapping[str, str]] = {
    "deep.requested": "Restart the deep embedder: it computes the vectors that are missing.",
    "deep.embedded": "Restart the deep embedder: it computes the vectors that are missing.",
    topics.FILES_DROPPED.fact: "The next sweep of ingest publishes it again.",
    topics.BRANCH_PUSHED.fact: "Push again, or change the tasks that the push names.",
    topics.PULL_MERGED.fact: "Deliver the webhook again at the git server, or change the tasks that it names.",
}


class ReadAgain(NamedTuple):
    """A retry reads these files again. Either the repository is known, or the job that read it."""

    repo: str
    layer: str
    branch: str  # the pushed branch, which may have another layer
    job: str


def fact_of(subject: str) -> str:
    """Returns what a message said: the end of its subject, such as `file.changed`."""
    return subject.split(".", 2)[-1]


def whole_event(fact: str, body: Mapping[str, Any]) -> Event | None:
    """Returns the event of a letter that holds it whole, else None."""
    topic = WHOLE.get(fact)
    try:
        return topic.event.model_validate(body) if topic else None
    except ValidationError:  # a letter of an earlier release, or the event itself was not valid
        return None


def to_read_again(fact: str, body: Mapping[str, Any]) -> ReadAgain | None:
    """Returns what a retry reads again; None if the letter names no repository, or reading would not help."""
    if fact in INSTEAD:
        return None
    said = ReadAgain(*(_text(body.get(name)) for name in ("repo", "layer", "branch", "job")))
    return said._replace(layer=said.layer or BASE_LAYER) if said.repo or said.job else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
