from itertools import product

import pytest

from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.errors import HTTP_STATUS, ErrorCode, PrismError, http_status

FACTS = [fact for stream in names.STREAMS for fact in stream.facts]
NAMED_FACTS = [
    value
    for name, value in vars(names).items()
    if name.startswith(("FILE_", "FILES_", "CLONE_", "PUSH_", "DEEP_", "REPO_", "SCIP_"))
    and isinstance(value, str)
]


def test_every_fact_is_stored_in_exactly_one_stream():
    assert sorted(FACTS) == sorted(NAMED_FACTS)
    for fact in FACTS:
        assert fact in names.stream_of(fact).facts


def test_a_subject_says_lane_and_fact():
    assert names.subject(Lane.LIVE, names.FILE_CHANGED) == "prism.live.file.changed"
    assert names.durable("chunker", Lane.BULK, names.FILE_CHANGED) == "chunker-bulk-file-changed"


def test_subjects_and_durables_are_unique():
    lanes_facts = list(product(Lane, FACTS))
    assert len({names.subject(*pair) for pair in lanes_facts}) == len(lanes_facts)
    durables = {names.durable(service, *pair) for service in ("ingest", "indexer") for pair in lanes_facts}
    assert len(durables) == 2 * len(lanes_facts)
    assert not any(set(durable) & set(". *>/\\") for durable in durables)


def test_streams_have_limits_and_names_of_their_own():
    assert len({stream.name for stream in names.STREAMS} | {names.DEAD_LETTERS}) == len(names.STREAMS) + 1
    for stream in names.STREAMS:
        assert stream.max_bytes > 0
        assert stream.max_age_s > 0


def test_dead_letters_lie_apart_from_the_lanes():
    subject = names.dead_letter_subject("acme", "PRISM_FILES", "chunker-live-file-changed")
    assert subject.startswith(names.DEAD_LETTER_SUBJECTS.rstrip(">"))
    assert not any(names.subject(lane, fact).startswith("prism.dead.") for lane in Lane for fact in FACTS)


def test_requests_and_buckets_are_unique_and_name_their_service():
    requests = [value for name, value in vars(names).items() if name.startswith("RPC_")]
    buckets = [value for name, value in vars(names).items() if name.startswith(("KV_", "OBJECTS_"))]
    assert len(set(requests)) == len(requests)
    assert len(set(buckets)) == len(buckets)
    assert all(subject.startswith("prism.rpc.") and subject.count(".") == 3 for subject in requests)


def test_a_body_at_the_limit_fits_the_servers_message_with_its_headers():
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
