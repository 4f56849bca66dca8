"""Parsing requests: limits at and past the edge, and slices."""

from typing import Any

import pytest

from prism_qdrant_local import limits
from prism_qdrant_local.errors import Refusal, refusal_of_engine
from prism_qdrant_local.wire import changes, queries, schema
from prism_qdrant_local.wire.filters import read_filter
from prism_qdrant_local.wire.ids import read_id

SIZES = {"fast": 2}


def point(point_id: int, **payload: Any) -> dict[str, Any]:
    return {"id": point_id, "vector": {"fast": [0.5, 1]}, "payload": payload}


def read_all(reading: changes.Reading) -> list[changes.AnyChange]:
    return [change for change in reading if change is not None]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_an_upsert_is_read_and_applied_in_slices(count, sizes) -> None:
    body = {"points": [point(number) for number in range(count)]}
    (change,) = read_all(changes.read_upsert(body, SIZES))
    assert [len(part) for part in change.slices] == sizes
    assert len(list(changes.read_upsert(body, SIZES))) == len(sizes) + 1


def test_reading_pauses_after_each_slice() -> None:
    reading = changes.read_upsert({"points": [point(number) for number in range(150)]}, SIZES)
    assert [step is None for step in reading] == [True, True, False]


def test_updates_of_vectors_name_the_points_that_must_exist() -> None:
    uuid = "6F8B7F4C-3C57-4C55-9F1B-0F3B9D5A6A10"
    body = {"points": [{"id": 1, "vector": {"fast": [1, 2]}}, {"id": uuid, "vector": {"fast": [1, 2]}}]}
    (change,) = read_all(changes.read_vectors_update(body, SIZES))
    assert change.ids == [[1, read_id(uuid)]]


def test_deleting_missing_points_is_no_error() -> None:
    (change,) = read_all(changes.read_delete({"points": [1, 2]}, SIZES))
    assert (change.slices, change.ids) == ([[1, 2]], [])


def nested_payload(levels: int) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for _ in range(levels - 1):
        payload = {"a": payload}
    return payload


def test_payloads_nest_up_to_the_limit() -> None:
    deepest = nested_payload(limits.PAYLOAD_DEPTH_MAX)
    assert read_all(changes.read_upsert({"points": [point(1, **deepest)]}, SIZES))
    with pytest.raises(Refusal, match="nested deeper"):
        read_all(changes.read_upsert({"points": [point(1, a=deepest)]}, SIZES))


def nested_filter(levels: int) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for _ in range(levels - 1):
        body = {"must": [body]}
    return body


def test_filters_nest_up_to_the_limit() -> None:
    read_filter(nested_filter(limits.FILTER_DEPTH_MAX))
    with pytest.raises(Refusal, match="nested deeper"):
        read_filter(nested_filter(limits.FILTER_DEPTH_MAX + 1))


def test_prefetches_nest_up_to_the_limit() -> None:
    body: dict[str, Any] = {"query": [1.0, 2.0]}
    for _ in range(limits.PREFETCH_DEPTH_MAX - 1):
        body = {"prefetch": body, "query": [1.0, 2.0]}
    queries.read_query(body)
    with pytest.raises(Refusal, match="nested deeper"):
        queries.read_query({"prefetch": {"prefetch": body}})


@pytest.mark.parametrize("limit", [1, limits.LIMIT_MAX])
def test_limits_within_bounds_are_accepted(limit) -> None:
    assert queries.read_query({"limit": limit}).limit == limit


@pytest.mark.parametrize("limit", [0, -1, limits.LIMIT_MAX + 1, True, 1.5, "10"])
def test_limits_out_of_bounds_are_refused(limit) -> None:
    with pytest.raises(Refusal, match="limit"):
        queries.read_query({"limit": limit})


def test_null_equals_an_absent_field() -> None:
    assert queries.read_query({"filter": None, "limit": None, "query": None}).limit == 10
    assert read_filter({"must": None}).must is None


@pytest.mark.parametrize("value", [True, False])
def test_booleans_stay_booleans(value) -> None:
    (condition,) = read_filter({"must": {"key": "flag", "match": {"value": value}}}).must
    assert condition.match.value is value


@pytest.mark.parametrize("point_id", [0, 2**64 - 1, "6f8b7f4c3c574c559f1b0f3b9d5a6a10"])
def test_valid_ids_are_accepted(point_id) -> None:
    read_id(point_id)


@pytest.mark.parametrize("point_id", [-1, 2**64, True, 1.0, None, "", "src/a.py", [1]])
def test_invalid_ids_are_refused(point_id) -> None:
    with pytest.raises(Refusal, match="not a valid point ID"):
        read_id(point_id)


def test_an_index_schema_is_kept_as_it_was_given() -> None:
    given = {"type": "keyword", "prefix": True}
    field, kept, _ = schema.read_index({"field_name": "path", "field_schema": given})
    assert (field, kept) == ("path", given)
    assert schema.read_index({"field_name": "n", "field_schema": "integer"})[1] == {"type": "integer"}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("No point with id 7", 404),
        ("Vector dimension error: expected dim: 4, got 3", 400),
        ("invalid JSON path a]", 400),
        ("Service runtime error: No space left on device", 500),
    ],
)
def test_errors_of_the_engine_have_a_status(text, status) -> None:
    assert refusal_of_engine(Exception(text)).status == status
