from datetime import UTC, datetime
from itertools import product

import pytest

from prism_contracts import events, names, topics
from prism_contracts.all_rpcs import ALL_RPCS
from prism_contracts.base import Event, Lane
from prism_contracts.errors import HTTP_STATUS, ErrorCode, PrismError, http_status
from prism_contracts.registry import Stream, Topic

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_every_declared_topic_and_stream_is_listed():
    assert {value for value in vars(topics).values() if isinstance(value, Topic)} == set(topics.ALL_TOPICS)
    assert {value for value in vars(topics).values() if isinstance(value, Stream)} == set(topics.STREAMS)


def test_every_event_type_has_one_topic():
    types = {found for found in vars(events).values() if isinstance(found, type) and issubclass(found, Event)}
    assert {topic.event for topic in topics.ALL_TOPICS} == types - {Event, events.FileEvent}
    for topic in topics.ALL_TOPICS:
        assert topics.topic_of(topic.event) is topic


def test_a_subject_names_lane_and_fact():
    assert topics.FILE_CHANGED.subject(Lane.LIVE) == "prism.live.file.changed"
    assert topics.FILE_CHANGED.durable("chunker", Lane.BULK) == "chunker-bulk-file-changed"


def test_subjects_and_durables_are_unique():
    pairs = list(product(topics.ALL_TOPICS, Lane))
    assert len({topic.subject(lane) for topic, lane in pairs}) == len(pairs)
    durables = {topic.durable(service, lane) for service in ("ingest", "indexer") for topic, lane in pairs}
    assert len(durables) == 2 * len(pairs)
    assert not any(set(durable) & set(". *>/\\") for durable in durables)


def test_the_lane_comes_from_the_event_or_the_topic():
    dropped = events.FilesDropped(tenant="t", files=(), below=1, round="1")
    assert topics.FILES_DROPPED.lane_of(dropped) is Lane.BULK
    push = events.PushReceived(tenant="t", repo="r", delivery="1", received_at=NOW, lane=Lane.BULK)
    assert topics.PUSH_RECEIVED.lane_of(push) is Lane.BULK
    with pytest.raises(TypeError):
        topics.FILES_SETTLED.lane_of(events.FilesSettled(tenant="t", job="j", files=()))


def test_streams_have_limits_and_names_of_their_own():
    assert len({stream.name for stream in topics.STREAMS} | {names.DEAD_LETTERS}) == len(topics.STREAMS) + 1
    for stream in topics.STREAMS:
        assert stream.max_bytes > 0
        assert stream.max_age_s > 0


def test_dead_letters_have_subjects_of_their_own():
    subject = names.dead_letter_subject("acme", "PRISM_FILES", "chunker-live-file-changed")
    assert subject.startswith(names.DEAD_LETTER_SUBJECTS.rstrip(">"))
    assert not any(
        topic.subject(lane).startswith("prism.dead.") for lane in Lane for topic in topics.ALL_TOPICS
    )


def test_requests_and_buckets_are_unique_and_name_their_service():
    buckets = [value for name, value in vars(names).items() if name.startswith(("KV_", "OBJECTS_"))]
    requests = [rpc.subject for rpc in ALL_RPCS]
    assert len(set(requests)) == len(requests)
    assert len(set(buckets)) == len(buckets)
    assert all(subject.startswith("prism.rpc.") and subject.count(".") == 3 for subject in requests)


def test_a_body_at_the_limit_fits_a_message_with_headers():
    assert names.MESSAGE_BYTES_MAX < 1024 * 1024


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_code_has_an_http_status(code):
    status = http_status(code)
    assert 400 <= status < 600
    assert status == HTTP_STATUS.get(code, 400)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ErrorCode.UNAUTHENTICATED, 401),
        (ErrorCode.FORBIDDEN, 403),
        (ErrorCode.FILE_NOT_FOUND, 404),
        (ErrorCode.SNAPSHOT_CONFLICT, 409),
        (ErrorCode.PAYLOAD_TOO_LARGE, 413),
        (ErrorCode.RATE_LIMITED, 429),
        (ErrorCode.INTERNAL, 500),
        (ErrorCode.UNAVAILABLE, 503),
        (ErrorCode.DEADLINE_EXCEEDED, 504),
        (ErrorCode.EMPTY_QUERY, 400),
    ],
)
def test_http_statuses_are_the_usual_ones(code, status):
    assert http_status(code) == status


def test_an_error_carries_its_body():
    error = PrismError(ErrorCode.REPO_NOT_FOUND, "none", "index one", known=["a"])
    assert str(error) == "none"
    assert error.code is ErrorCode.REPO_NOT_FOUND
    assert (error.body.next_action, error.body.details) == ("index one", {"known": ["a"]})
