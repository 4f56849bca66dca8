"""What a retry of a dead letter does, by what its message said."""

import pytest

from prism_contracts import topics
from prism_contracts.base import Lane
from prism_contracts.events import RepoIndexed, ScipStored
from prism_ingest.core.dead_letters import (
    INSTEAD,
    WHOLE,
    ReadAgain,
    fact_of,
    to_read_again,
    whole_event,
)
from prism_runtime.letters import KEPT, fields_of

EVENTS = (
    RepoIndexed(tenant="t", repo="r", version=1, job="j", commit="c", complete=True, lane=Lane.LIVE),
    ScipStored(tenant="t", repo="r", object="o"),
)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_a_letter_keeps_these_events_whole(event):
    """A field that letters do not keep would be lost when the event is published again."""
    assert type(event).model_fields.keys() <= set(KEPT)
    fact = topics.topic_of(type(event)).fact
    assert whole_event(fact, event.model_dump(mode="json")) == event


def test_every_other_event_is_read_again_or_has_advice():
    for topic in topics.ALL_TOPICS:
        fields = set(topic.event.model_fields) & set(KEPT)
        body = dict.fromkeys(fields, "x")
        ways = [topic.fact in WHOLE, topic.fact in INSTEAD, to_read_again(topic.fact, body) is not None]
        is_unowned = "tenant" not in fields or topic in topics.FOR_OTHERS
        assert any(ways) or is_unowned, topic.fact


@pytest.mark.parametrize("body", [{"repo": 5}, {"job": None}, {"repo": ""}, {}])
def test_a_letter_that_names_nothing_is_not_read_again(body):
    assert to_read_again("file.changed", body) is None


def test_the_layer_of_a_letter_is_the_base_by_default():
    assert to_read_again("clone.requested", {"repo": "r", "job": "j"}) == ReadAgain("r", "base", "", "j")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"5", b"\xff"])
def test_a_letter_that_cannot_be_read_keeps_nothing(data):
    assert fields_of(data) == {}


def test_the_end_of_a_subject_is_what_happened():
    assert fact_of("prism.live.file.changed") == "file.changed"
    assert fact_of("") == ""
