"""The endpoints: one function each, from a request to the `result` of its answer."""

from __future__ import annotations  # some of the engine's types exist in its stub only

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import qdrant_edge as edge

from prism_qdrant_local.errors import bad_request, not_found
from prism_qdrant_local.limits import BATCH_QUERIES_PER_TURN, NAME_LENGTH_MAX
from prism_qdrant_local.store import Collection, Store
from prism_qdrant_local.wire import changes, queries, schema
from prism_qdrant_local.wire.fields import read_list, read_object, read_string, require
from prism_qdrant_local.wire.ids import read_id


@dataclass(frozen=True, slots=True)
class Request:
    """A request with a known path: `path` holds the variable parts, `body` the decoded JSON."""

    store: Store
    path: tuple[str, ...]
    query: dict[str, str]
    body: object

    @property
    def collection(self) -> Collection:
        """The collection that the path names, directly or by an alias."""
        return self.store.get(self.path[0])


Handler = Callable[[Request], Awaitable[Any]]

_operation_ids = count(1)


def _update_result(request: Request) -> dict[str, Any]:
    # Every write is applied before its answer; a client that did not ask to wait gets Qdrant's status for
    # that case.
    is_awaited = request.query.get("wait", "false") == "true"
    return {"operation_id": next(_operation_ids), "status": "completed" if is_awaited else "acknowledged"}


async def list_collections(request: Request) -> Any:
    """GET /collections."""
    return {"collections": [{"name": collection.name} for collection in request.store.collections]}


async def create_collection(request: Request) -> Any:
    """PUT /collections/{collection}."""
    vectors, metadata = schema.read_collection(request.body)
    request.store.create(request.path[0], vectors, metadata)
    return True


async def delete_collection(request: Request) -> Any:
    """DELETE /collections/{collection}."""
    async with request.store.turn():
        return request.store.drop(request.path[0])


async def collection_exists(request: Request) -> Any:
    """GET /collections/{collection}/exists."""
    return {"exists": request.store.find(request.path[0]) is not None}


async def get_collection(request: Request) -> Any:
    """GET /collections/{collection}; fields that this server does not use have Qdrant's defaults."""
    collection = request.collection
    info = collection.shard.info()
    config = {
        "params": {
            "vectors": collection.state.vectors,
            "shard_number": 1,
            "replication_factor": 1,
            "on_disk_payload": True,
        },
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
        "optimizer_config": {"default_segment_number": 1, "flush_interval_sec": 5},
        "metadata": collection.state.metadata,
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "segments_count": info.segments_count,
        "config": config,
        "payload_schema": _payload_schema(collection, info),
    }


def _payload_schema(collection: Collection, info: edge.ShardInfo) -> dict[str, Any]:
    return {
        field: {"data_type": params["type"], "params": params, "points": info.payload_schema[field].points}
        for field, params in collection.state.indexes.items()
    }


async def create_index(request: Request) -> Any:
    """PUT /collections/{collection}/index."""
    field, params, operation = schema.read_index(request.body)
    async with request.store.turn():
        request.store.create_index(request.collection, field, params, operation)
    return _update_result(request)


async def delete_index(request: Request) -> Any:
    """DELETE /collections/{collection}/index/{field}."""
    async with request.store.turn():
        request.store.drop_index(request.collection, request.path[1])
    return _update_result(request)


async def create_vector_name(request: Request) -> Any:
    """PUT /collections/{collection}/vectors/{vector}."""
    name = request.path[1]
    if not 0 < len(name) <= NAME_LENGTH_MAX:
        raise bad_request("Wrong input: only named vectors are supported by this server")
    vector = schema.read_new_vector(request.body)
    async with request.store.turn():
        request.store.create_vector(request.collection, name, vector)
    return _update_result(request)


async def delete_vector_name(request: Request) -> Any:
    """DELETE /collections/{collection}/vectors/{vector}."""
    async with request.store.turn():
        request.store.drop_vector(request.collection, request.path[1])
    return _update_result(request)


async def list_aliases(request: Request) -> Any:
    """GET /aliases."""
    return _aliases(request.store, None)


async def list_collection_aliases(request: Request) -> Any:
    """GET /collections/{collection}/aliases."""
    return _aliases(request.store, request.collection.name)


def _aliases(store: Store, only_of: str | None) -> dict[str, Any]:
    return {
        "aliases": [
            {"alias_name": alias, "collection_name": name}
            for alias, name in sorted(store.aliases.items())
            if only_of in (None, name)
        ]
    }


_ALIAS_ACTIONS = {
    "create_alias": frozenset({"alias_name", "collection_name"}),
    "delete_alias": frozenset({"alias_name"}),
    "rename_alias": frozenset({"old_alias_name", "new_alias_name"}),
}


async def change_aliases(request: Request) -> Any:
    """POST /collections/aliases."""
    fields = read_object(request.body, "aliases", frozenset({"actions"}))
    request.store.change_aliases(
        [_alias_action(body) for body in read_list(require(fields, "actions", "aliases"), "actions")]
    )
    return True


def _alias_action(body: object) -> tuple[str, dict[str, str]]:
    action = read_object(body, "action", frozenset(_ALIAS_ACTIONS))
    if len(action) != 1:
        raise bad_request("Wrong input: an alias action must hold exactly one field")
    ((kind, value),) = action.items()
    fields = read_object(value, kind, _ALIAS_ACTIONS[kind])
    return kind, {name: read_string(require(fields, name, kind), name) for name in _ALIAS_ACTIONS[kind]}


def _write(read: changes.Reader) -> Handler:
    async def handle(request: Request) -> Any:
        collection = request.collection
        reading = read(request.body, collection.sizes)
        understood: list[changes.AnyChange] = []
        is_read = False
        while not is_read:
            async with request.store.turn():
                is_read = _read_slice(reading, understood)
        await request.store.apply(collection, understood)
        return _update_result(request)

    return handle


def _read_slice(reading: changes.Reading, understood: list[changes.AnyChange]) -> bool:
    """Continue until a slice of points is built; True when the request is read to its end."""
    for change in reading:
        if change is None:
            return False
        understood.append(change)
    return True


upsert = _write(changes.read_upsert)
delete_points = _write(changes.read_delete)
set_payload = _write(changes.read_payload_set)
overwrite_payload = _write(changes.read_payload_overwrite)
delete_payload = _write(changes.read_payload_delete)
clear_payload = _write(changes.read_payload_clear)
update_vectors = _write(changes.read_vectors_update)
delete_vectors = _write(changes.read_vectors_delete)


async def batch_update(request: Request) -> Any:
    """POST /collections/{collection}/points/batch: one result per operation."""
    await _write(changes.read_operations)(request)
    operations = request.body["operations"] if isinstance(request.body, dict) else []
    return [_update_result(request) for _ in operations]


async def retrieve(request: Request) -> Any:
    """POST /collections/{collection}/points, in the order of the requested ids."""
    ids, with_payload, with_vector = queries.read_retrieve(request.body)
    records = {
        record.id: record for record in request.collection.shard.retrieve(ids, with_payload, with_vector)
    }
    return [queries.write_record(records[point_id]) for point_id in dict.fromkeys(ids) if point_id in records]


async def get_point(request: Request) -> Any:
    """GET /collections/{collection}/points/{id}."""
    text = request.path[1]
    point_id = read_id(int(text) if text.isdecimal() else text)
    records = request.collection.shard.retrieve([point_id], True, True)  # noqa: FBT003 - the engine's own form
    if not records:
        raise not_found(f"Point with id {text} does not exists!")
    return queries.write_record(records[0])


async def scroll(request: Request) -> Any:
    """POST /collections/{collection}/points/scroll."""
    points, following = request.collection.shard.scroll(queries.read_scroll(request.body))
    return {"points": [queries.write_record(point) for point in points], "next_page_offset": following}


async def count_points(request: Request) -> Any:
    """POST /collections/{collection}/points/count."""
    return {"count": request.collection.shard.count(queries.read_count(request.body))}


async def facet(request: Request) -> Any:
    """POST /collections/{collection}/facet."""
    response = request.collection.shard.facet(queries.read_facet(request.body))
    # The engine also lists values whose last point was deleted.
    return {"hits": [{"value": hit.value, "count": hit.count} for hit in response.hits if hit.count]}


async def query(request: Request) -> Any:
    """POST /collections/{collection}/points/query."""
    hits = request.collection.shard.query(queries.read_query(request.body))
    return {"points": [queries.write_hit(hit) for hit in hits]}


async def query_batch(request: Request) -> Any:
    """POST /collections/{collection}/points/query/batch; up to `BATCH_QUERIES_PER_TURN` see one state."""
    requests = queries.read_queries(request.body)
    results: list[Any] = []
    for start in range(0, len(requests), BATCH_QUERIES_PER_TURN):
        if start:
            await asyncio.sleep(0)
        part = edge.QueryBatchRequest(requests[start : start + BATCH_QUERIES_PER_TURN])
        answers = request.collection.shard.query_batch(part)
        results.extend({"points": [queries.write_hit(hit) for hit in hits]} for hits in answers)
    return results


# `*` matches one variable part of a path.
async def list_damages(request: Request) -> Any:
    """GET /prism/damages: why collections cannot be read, by their names."""
    return request.store.damages


async def set_aside(request: Request) -> Any:
    """POST /prism/set-aside/{collection}: give a collection up, and move its files aside for inspection."""
    async with request.store.turn():
        folder = request.store.set_collection_aside(request.path[0])
    if folder is None:
        raise not_found(f"Collection `{request.path[0]}` doesn't exist!")
    return {"folder": str(folder)}


ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", "/aliases"): list_aliases,
    ("GET", "/collections"): list_collections,
    ("POST", "/collections/aliases"): change_aliases,
    ("GET", "/collections/*"): get_collection,
    ("PUT", "/collections/*"): create_collection,
    ("DELETE", "/collections/*"): delete_collection,
    ("GET", "/collections/*/exists"): collection_exists,
    ("GET", "/collections/*/aliases"): list_collection_aliases,
    ("PUT", "/collections/*/index"): create_index,
    ("DELETE", "/collections/*/index/*"): delete_index,
    ("PUT", "/collections/*/vectors/*"): create_vector_name,
    ("DELETE", "/collections/*/vectors/*"): delete_vector_name,
    ("PUT", "/collections/*/points"): upsert,
    ("POST", "/collections/*/points"): retrieve,
    ("GET", "/collections/*/points/*"): get_point,
    ("POST", "/collections/*/points/delete"): delete_points,
    ("POST", "/collections/*/points/batch"): batch_update,
    ("POST", "/collections/*/points/payload"): set_payload,
    ("PUT", "/collections/*/points/payload"): overwrite_payload,
    ("POST", "/collections/*/points/payload/delete"): delete_payload,
    ("POST", "/collections/*/points/payload/clear"): clear_payload,
    ("PUT", "/collections/*/points/vectors"): update_vectors,
    ("POST", "/collections/*/points/vectors/delete"): delete_vectors,
    ("POST", "/collections/*/points/scroll"): scroll,
    ("POST", "/collections/*/points/count"): count_points,
    ("POST", "/collections/*/facet"): facet,
    ("POST", "/collections/*/points/query"): query,
    ("POST", "/collections/*/points/query/batch"): query_batch,
    # Beside Qdrant's own interface: for the operator of a machine with damaged files.
    ("GET", "/prism/damages"): list_damages,
    ("POST", "/prism/set-aside/*"): set_aside,
}

# Requests that take space: refused while the disk is full. Deletions and reads continue.
WRITES = frozenset(
    {
        create_collection,
        create_index,
        create_vector_name,
        upsert,
        batch_update,
        set_payload,
        overwrite_payload,
        update_vectors,
    }
)
