"""Requests that write points, as lists of short engine calls.

Takes decoded JSON and the sizes of the collection's vectors. Returns `Change`s. Everything that the engine
would refuse half-way through a batch is refused here first: the engine keeps the first half of a call that
fails.
"""

from __future__ import annotations  # some of the engine's types exist in its stub only

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import qdrant_edge as edge

from prism_qdrant_local.errors import bad_request
from prism_qdrant_local.limits import BATCH_OPERATIONS_MAX, PAYLOAD_DEPTH_MAX, SLICE_POINTS
from prism_qdrant_local.wire.fields import (
    read_choice,
    read_list,
    read_object,
    read_string,
    read_strings,
    require,
)
from prism_qdrant_local.wire.filters import read_filter, read_optional_filter
from prism_qdrant_local.wire.ids import PointId, read_id, read_ids

VectorSizes = Mapping[str, int]
Operation = edge.UpdateOperation


@dataclass(frozen=True, slots=True)
class Change:
    """A write to listed points: `operation` makes one engine call per slice.

    `ids` holds the points that must exist before the first call, slice by slice, or nothing.
    """

    slices: list[list[Any]]
    operation: Callable[[list[Any]], Operation]
    ids: list[list[PointId]]


@dataclass(frozen=True, slots=True)
class FilteredChange:
    """A write to all points that match: `operation` makes one engine call per filter."""

    filter: edge.Filter
    operation: Callable[[edge.Filter], Operation]


AnyChange = Change | FilteredChange
# A request is read in steps of one slice each, so that other requests run in between: None means "not yet".
Reading = Iterator[AnyChange | None]


def read_upsert(body: object, sizes: VectorSizes) -> Reading:
    """Read an upsert in either form, building its points slice by slice."""
    if isinstance(body, dict) and "batch" in body:
        fields = read_object(body, "upsert", frozenset({"batch", "update_filter", "update_mode"}))
        points = _points_of_batch(fields["batch"])
    else:
        fields = read_object(body, "upsert", frozenset({"points", "update_filter", "update_mode"}))
        points = _points_of_list(require(fields, "points", "upsert"))
    condition = read_optional_filter(fields, "update_filter")
    mode = _update_mode(fields)
    slices: list[list[edge.Point]] = []
    while built := [_point(*parts, sizes) for parts in islice(points, SLICE_POINTS)]:
        slices.append(built)
        yield None
    yield Change(slices, lambda part: Operation.upsert_points(part, condition, mode), [])


_MODES = {
    "upsert": edge.UpdateMode.Upsert,
    "insert_only": edge.UpdateMode.InsertOnly,
    "update_only": edge.UpdateMode.UpdateOnly,
}


def _update_mode(fields: dict[str, Any]) -> edge.UpdateMode | None:
    if "update_mode" not in fields:
        return None
    return _MODES[read_choice(fields["update_mode"], "update_mode", _MODES)]


_POINT = frozenset({"id", "vector", "payload"})
_BATCH = frozenset({"ids", "vectors", "payloads"})


def _points_of_list(value: object) -> Iterator[tuple[object, object, object]]:
    for body in read_list(value, "points"):
        if (
            not isinstance(body, dict)
            or not body.keys() <= _POINT
            or "id" not in body
            or "vector" not in body
        ):
            read_object(body, "point", _POINT)
            raise bad_request("Format error in JSON body: point: missing field `id` or `vector`")
        yield body["id"], body["vector"], body.get("payload")


def _points_of_batch(body: object) -> Iterator[tuple[object, object, object]]:
    fields = read_object(body, "batch", _BATCH)
    ids = read_list(require(fields, "ids", "batch"), "batch.ids")
    columns = require(fields, "vectors", "batch")
    if not isinstance(columns, dict):
        raise bad_request("Wrong input: only named vectors are supported by this server")
    for name, column in columns.items():
        _same_length(ids, read_list(column, f"batch.vectors.{name}"), f"batch.vectors.{name}")
    payloads = read_list(fields.get("payloads", [None] * len(ids)), "batch.payloads")
    _same_length(ids, payloads, "batch.payloads")
    for row, point_id in enumerate(ids):
        yield point_id, {name: column[row] for name, column in columns.items()}, payloads[row]


def _same_length(ids: list[Any], column: list[Any], where: str) -> None:
    if len(ids) != len(column):
        raise bad_request(f"Wrong input: {where} holds {len(column)} items for {len(ids)} ids")


def _point(point_id: object, vectors: object, payload: object, sizes: VectorSizes) -> edge.Point:
    known_id = read_id(point_id)
    _check_vectors(vectors, sizes)
    if payload is not None:
        _check_payload(payload)
    try:
        return edge.Point(known_id, vectors, payload)  # type: ignore[arg-type]  # both were checked
    except (TypeError, ValueError, OverflowError) as error:
        raise bad_request(f"Format error in JSON body: point {known_id}: {_first_line(error)}") from error


def _check_vectors(vectors: object, sizes: VectorSizes) -> None:
    if not isinstance(vectors, dict):
        raise bad_request("Wrong input: only named vectors are supported by this server")
    for name, vector in vectors.items():
        size = sizes.get(name)
        if size is None:
            raise bad_request(f"Wrong input: Not existing vector name error: {name}")
        if not isinstance(vector, list):
            raise bad_request(f"Wrong input: vector `{name}` must be a list of numbers")
        if len(vector) != size:
            raise bad_request(f"Wrong input: Vector dimension error: expected dim: {size}, got {len(vector)}")


def _check_payload(payload: object) -> None:
    if not isinstance(payload, dict):
        raise bad_request("Format error in JSON body: payload must be an object")
    _check_depth(payload.values(), 1)


def _check_depth(values: Iterable[object], depth: int) -> None:
    if depth > PAYLOAD_DEPTH_MAX:
        raise bad_request(f"Wrong input: payload is nested deeper than {PAYLOAD_DEPTH_MAX} levels")
    for value in values:
        if type(value) is dict:
            _check_depth(value.values(), depth + 1)
        elif type(value) is list:
            _check_depth(value, depth + 1)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def read_vectors_update(body: object, sizes: VectorSizes) -> Reading:
    """Read new vectors of points that exist."""
    fields = read_object(body, "update vectors", frozenset({"points", "update_filter"}))
    condition = read_optional_filter(fields, "update_filter")
    points = iter(read_list(require(fields, "points", "update vectors"), "points"))
    slices: list[list[edge.PointVectors]] = []
    while built := [_point_vectors(point, sizes) for point in islice(points, SLICE_POINTS)]:
        slices.append(built)
        yield None
    ids = [[_canonical(point.id) for point in part] for part in slices]
    yield Change(slices, lambda part: Operation.update_vectors(part, condition), ids)


def _canonical(point_id: object) -> PointId:
    return read_id(point_id if isinstance(point_id, int) else str(point_id))


def _point_vectors(body: object, sizes: VectorSizes) -> edge.PointVectors:
    fields = read_object(body, "point", frozenset({"id", "vector"}))
    point_id = read_id(require(fields, "id", "point"))
    vectors = require(fields, "vector", "point")
    _check_vectors(vectors, sizes)
    try:
        return edge.PointVectors(point_id, vectors)
    except (TypeError, ValueError, OverflowError) as error:
        raise bad_request(f"Format error in JSON body: point {point_id}: {_first_line(error)}") from error


def read_vectors_delete(body: object, sizes: VectorSizes) -> Reading:
    """Read the removal of named vectors from points."""
    fields = read_object(body, "delete vectors", frozenset({"points", "filter", "vector"}))
    names = read_strings(require(fields, "vector", "delete vectors"), "vector")
    for name in names:
        if name not in sizes:
            raise bad_request(f"Wrong input: Not existing vector name error: {name}")
    yield _selected(
        fields,
        lambda ids: Operation.delete_vectors(ids, names),
        lambda matching: Operation.delete_vectors_by_filter(matching, names),
    )


def read_delete(body: object, _sizes: VectorSizes) -> Reading:
    """Read the removal of points; missing ids are not an error."""
    fields = read_object(body, "delete", _SELECTOR)
    change = _selected(fields, Operation.delete_points, Operation.delete_points_by_filter)
    yield Change(change.slices, change.operation, []) if isinstance(change, Change) else change


def read_payload_clear(body: object, _sizes: VectorSizes) -> Reading:
    """Read the removal of whole payloads."""
    fields = read_object(body, "clear payload", _SELECTOR)
    yield _selected(fields, Operation.clear_payload, Operation.clear_payload_by_filter)


def read_payload_delete(body: object, _sizes: VectorSizes) -> Reading:
    """Read the removal of payload keys."""
    fields = read_object(body, "delete payload", _SELECTOR | {"keys"})
    keys = read_strings(require(fields, "keys", "delete payload"), "keys")
    yield _selected(
        fields,
        lambda ids: Operation.delete_payload(ids, keys),
        lambda matching: Operation.delete_payload_by_filter(matching, keys),
    )


def read_payload_set(body: object, _sizes: VectorSizes) -> Reading:
    """Read payload keys to set beside the others."""
    fields, payload, key = _read_payload(body)
    yield _selected(
        fields,
        lambda ids: Operation.set_payload(ids, payload, key),
        lambda matching: Operation.set_payload_by_filter(matching, payload, key),
    )


def read_payload_overwrite(body: object, _sizes: VectorSizes) -> Reading:
    """Read whole payloads that replace the old ones."""
    fields, payload, key = _read_payload(body)
    yield _selected(
        fields,
        lambda ids: Operation.overwrite_payload(ids, payload, key),
        lambda matching: Operation.overwrite_payload_by_filter(matching, payload, key),
    )


def _read_payload(body: object) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    fields = read_object(body, "payload request", _SELECTOR | {"payload", "key"})
    payload = require(fields, "payload", "payload request")
    _check_payload(payload)
    key = read_string(fields["key"], "key") if "key" in fields else None
    return fields, payload, key


_SELECTOR = frozenset({"points", "filter"})


def _selected(
    fields: dict[str, Any],
    by_ids: Callable[[list[PointId]], Operation],
    by_filter: Callable[[edge.Filter], Operation],
) -> AnyChange:
    if ("points" in fields) == ("filter" in fields):
        raise bad_request("Wrong input: exactly one of `points` and `filter` must be given")
    if "filter" in fields:
        return FilteredChange(read_filter(fields["filter"]), by_filter)
    ids = iter(read_ids(fields["points"], "points", length_max=None))
    slices = list(iter(lambda: list(islice(ids, SLICE_POINTS)), []))
    return Change(slices, by_ids, slices)


Reader = Callable[[object, VectorSizes], Reading]

_OPERATIONS: dict[str, Reader] = {
    "upsert": read_upsert,
    "delete": read_delete,
    "set_payload": read_payload_set,
    "overwrite_payload": read_payload_overwrite,
    "delete_payload": read_payload_delete,
    "clear_payload": read_payload_clear,
    "update_vectors": read_vectors_update,
    "delete_vectors": read_vectors_delete,
}


def read_operations(body: object, sizes: VectorSizes) -> Reading:
    """Read a batch of operations; all are read before the first one is applied."""
    fields = read_object(body, "batch", frozenset({"operations"}))
    operations = read_list(require(fields, "operations", "batch"), "operations", BATCH_OPERATIONS_MAX)
    for operation in operations:
        named = read_object(operation, "operation", frozenset(_OPERATIONS))
        if len(named) != 1:
            raise bad_request("Wrong input: an operation must hold exactly one field")
        ((name, arguments),) = named.items()
        yield from _OPERATIONS[name](arguments, sizes)
