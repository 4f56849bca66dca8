"""Writes file versions idempotently, so that the newest wins and no reader sees half a file.

For a batch of files of one tenant:
1. Read their file points: an event that is not newer than its point is already settled.
2. Upsert the new chunks, unless a newer version of the same chunk exists.
3. Upsert the file points under the same condition: this is the switch.
4. Read the file points back. A version that lost a race, now or in an earlier attempt, deletes its chunks.
5. Delete the chunks of older versions.
After a crash between any two steps, the redelivered event completes the work.
"""

import contextlib
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from prism_contracts.base import scope_key
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileVersion
from prism_runtime.tracing import Attribute
from prism_store.client import StoreClient
from prism_store.gate import is_missing, store_call
from prism_store.points import FilePoint
from prism_store.schema import (
    FAST_VECTOR,
    alias,
    collection,
    deep_vector,
    is_deep_vector,
    payload_indexes,
    vector_params,
)

CHUNKS_PER_UPSERT = 256
# The local store answers nothing else while it deletes.
POINTS_PER_DELETE = 500
DELETES_PER_DROP = 8
HTTP_CONFLICT = 409
VECTOR_DECIMALS = 4  # more exact than the stored vectors; makes the JSON a third shorter
# Chunk vectors are sent as integers up to this value: 40 % shorter as JSON, and more exact than the stored
# vectors. Cosine ignores the length of a vector.
VECTOR_MAX = 2_047
NOT_ZERO = 1e-9  # less than the largest value of any vector except zero

log = logging.getLogger(__name__)


class Writer:
    """The only writer of collections. One per process; any number of processes may write."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._known: dict[str, str] = {}  # alias -> its collection when last seen

    async def ensure_collection(self, tenant: str, model: str, dimension: int) -> None:
        """Create the tenant's collection for a model.

        Raises MODEL_MISMATCH if that of another model is served.
        """
        name, wanted = alias(tenant), collection(tenant, model)
        if self._known.get(name) == wanted:
            return
        with store_call(self._client, "ensure_collection", name):
            served = await self._alias_target(name)
            if served is None:
                with self._collection_of(wanted):
                    await self._create(wanted, dimension)
                    await self._point_alias(name, wanted)
                served = await self._alias_target(name)
        if served is None:  # the alias has not reached the node that answered
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"The collection {wanted} is being created.", "Retry in a few seconds."
            )
        if served != wanted:
            raise PrismError(
                ErrorCode.MODEL_MISMATCH,
                f"The index of tenant {tenant} was built by another model or version of Prism ({served}, not {wanted}).",
                "Run the version that built the index, or index again into a new data folder.",
            )
        self._known[name] = wanted

    async def write(self, tenant: str, files: Sequence[FilePoint]) -> list[bool]:
        """Write file versions, at most one per file.

        Returns for each whether its version is the one served; False if a newer version is.
        """
        name = alias(tenant)
        with store_call(self._client, "write", name) as span, self._collection_of(name):
            span.set_attributes(
                {Attribute.FILES: len(files), Attribute.CHUNKS: sum(len(file.chunks) for file in files)}
            )
            before = await self._states(name, files)
            fresh = [file for file in files if file.id not in before or before[file.id][0] < file.version]
            await self._upsert_chunks(name, fresh)
            await self._upsert_files(name, fresh)
            after = await self._states(name, fresh) if fresh else {}
            now = before | after
            # Also for versions that had already lost: an attempt that died may have left chunks.
            await self._delete_lost(
                name, [file for file in files if now[file.id] != (file.version, file.generation)]
            )
            # Also for files that had no point before: an older version may have written chunks meanwhile.
            await self._delete_older(name, [file for file in files if now[file.id][0] == file.version])
        return [now[file.id][0] == file.version for file in files]

    @contextlib.contextmanager
    def _collection_of(self, name: str) -> Iterator[None]:
        """Raises UNAVAILABLE if a known collection is missing, so that the next attempt creates it again."""
        try:
            yield
        except UnexpectedResponse as error:
            if not is_missing(error):
                raise
            self._known.pop(name, None)
            self._known.pop(f"{name}/deep", None)
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                f"The collection {name} no longer exists.",
                "It is being created again. Retry.",
            ) from error

    async def drop(self, tenant: str, files: Sequence[str], *, below: int) -> None:
        """Delete file points and their chunks, and leave no tombstones. For files of which no older version can arrive.

        Keeps points of the version `below` and of later versions.
        """
        name = alias(tenant)
        with store_call(self._client, "drop", name):
            try:
                # The file point is deleted first: chunks without it are not valid.
                await self._delete(name, [_older(models.HasIdCondition(has_id=list(files)), below)])
                await self._delete(name, [_older(_match_any("file", files), below)])
            except UnexpectedResponse as error:
                if not is_missing(error):
                    raise

    async def drop_repository(self, tenant: str, repo: str) -> bool:
        """Delete points of a repository, of all layers, up to a maximum. Returns whether none is left."""
        name = alias(tenant)
        all_layers = models.FieldCondition(key="scope", match=models.MatchPrefix(prefix=scope_key(repo, "")))
        some = {
            "filter": models.Filter(must=[all_layers]),
            "limit": POINTS_PER_DELETE,
            "with_payload": False,
            "with_vector": False,
        }
        with store_call(self._client, "drop_repository", name) as span:
            dropped = 0
            try:
                for _ in range(DELETES_PER_DROP):
                    page = await self._client.ask(name, "points/scroll", some)
                    found = [point["id"] for point in page["points"]]
                    if not found:
                        return True
                    await self._delete(name, [models.Filter(must=[models.HasIdCondition(has_id=found)])])
                    dropped += len(found)
                    span.set_attribute(Attribute.POINTS, dropped)
            except UnexpectedResponse as error:
                if not is_missing(error):
                    raise
                return True
        return False

    async def drop_tenant(self, tenant: str) -> int:
        """Delete all collections of a tenant. Returns how many points they had."""
        name, points = alias(tenant), 0
        with store_call(self._client, "drop_tenant", name) as span:
            known = (await self._client.get_collections()).collections
            # A tenant has no underscore, so no other tenant's collections begin like these.
            for found in (one.name for one in known if one.name.startswith(f"{name}_")):
                points += (await self._client.count(found, exact=True)).count
                await self._client.delete_collection(found)
            span.set_attribute(Attribute.POINTS, points)
        self._known.pop(name, None)
        self._known.pop(f"{name}/deep", None)
        return points

    async def write_deep(
        self, tenant: str, model: str, files: Sequence[FileVersion], vectors: NDArray[np.float32]
    ) -> None:
        """Add a deep model's vectors, one row per file, to those files that still have these versions."""
        name = alias(tenant)
        with store_call(self._client, "write_deep", name) as span, self._collection_of(name):
            found = await self._client.retrieve(
                name, [file.file for file in files], with_payload=False, with_vectors=False
            )
            present = {str(point.id) for point in found}
            points = [
                models.PointVectors(id=file.file, vector={deep_vector(model): row})
                for file, row in zip(files, _rounded(vectors).tolist(), strict=True)
                if file.file in present
            ]
            span.set_attribute(Attribute.POINTS, len(points))
            if points:
                # The condition prevents adding the vector of one version to the next, which may arrive now.
                same = models.Filter(should=[_is_version(file) for file in files])
                await self._client.update_vectors(name, points, wait=True, update_filter=same)

    async def ensure_deep_vector(self, tenant: str, model: str, dimension: int) -> bool:
        """Create the vector of a deep model in the tenant's collection, and delete those of other models.

        Returns False if the tenant has no collection yet.
        """
        name, wanted = alias(tenant), deep_vector(model)
        key = f"{name}/deep"
        if self._known.get(key) == wanted:
            return True
        with store_call(self._client, "ensure_deep_vector", name):
            if await self._alias_target(name) is None:
                return False
            info = await self._client.get_collection(name)
            vectors = info.config.params.vectors
            known = set(vectors) if isinstance(vectors, dict) else set()
            if wanted not in known:
                params = models.DenseVectorConfig(
                    size=dimension, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16
                )
                await self._client.create_vector_name(
                    name, wanted, models.DenseVectorNameConfig(dense=params)
                )
            for old in sorted(filter(is_deep_vector, known - {wanted})):
                await self._client.delete_vector_name(name, old)
        self._known[key] = wanted
        return True

    async def _alias_target(self, name: str) -> str | None:
        found = await self._client.get_aliases()
        return next((item.collection_name for item in found.aliases if item.alias_name == name), None)

    async def _create(self, name: str, dimension: int) -> None:
        settings = self._client.settings
        try:
            await self._client.create_collection(
                name,
                vectors_config={FAST_VECTOR: vector_params(dimension)},
                shard_number=settings.shard_number,
                replication_factor=settings.replication_factor,
                write_consistency_factor=settings.write_consistency_factor,
            )
        except UnexpectedResponse as error:
            if error.status_code != HTTP_CONFLICT:  # another process is creating it
                raise
        for field_name, params in payload_indexes().items():
            await self._client.create_payload_index(name, field_name, params, wait=True)

    async def _point_alias(self, name: str, target: str) -> None:
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=target, alias_name=name)
        )
        try:
            await self._client.update_collection_aliases([create])
        except UnexpectedResponse as error:
            if error.status_code != HTTP_CONFLICT:
                raise

    async def _states(self, name: str, files: Sequence[FilePoint]) -> dict[str, tuple[int, str]]:
        """Returns version and generation of the file points that exist."""
        body = {
            "ids": [file.id for file in files],
            "with_payload": ["version", "generation"],
            "with_vector": False,
        }
        try:
            found = await self._client.ask(name, "points", body)
        except UnexpectedResponse as error:
            if is_missing(error):
                self._known.clear()
                raise PrismError(
                    ErrorCode.UNAVAILABLE, "The tenant's collection does not exist yet."
                ) from error
            raise
        return {point["id"]: (point["payload"]["version"], point["payload"]["generation"]) for point in found}

    async def _upsert_chunks(self, name: str, files: Sequence[FilePoint]) -> None:
        for version, group in _by_version(files).items():
            chunks = [
                {"id": chunk.id, "payload": chunk.payload, "vector": {FAST_VECTOR: row}}
                for file in group
                for chunk, row in zip(file.chunks, _directions(file.vectors), strict=True)
            ]
            for start in range(0, len(chunks), CHUNKS_PER_UPSERT):
                await self._upsert(name, chunks[start : start + CHUNKS_PER_UPSERT], version)

    async def _upsert_files(self, name: str, files: Sequence[FilePoint]) -> None:
        for version, group in _by_version(files).items():
            points = [{"id": file.id, "payload": file.payload, "vector": {}} for file in group]
            await self._upsert(name, points, version)

    async def _upsert(self, name: str, points: list[dict[str, Any]], version: int) -> None:
        # The condition lets the newest win.
        await self._client.put_points(name, points, models.Filter(must=[_older_than(version)]))
        self._client.metrics.count_points(len(points))

    async def _delete_lost(self, name: str, files: Sequence[FilePoint]) -> None:
        """Delete the chunks of versions that a newer version overtook during the write."""
        if not files:
            return
        after = await self._states(name, files)
        await self._delete(
            name,
            [
                models.Filter(
                    must=[
                        _match("file", file.id),
                        models.FieldCondition(key="version", match=models.MatchValue(value=file.version)),
                    ],
                    must_not=[_match("generation", after[file.id][1])],
                )
                for file in files
            ],
        )

    async def _delete_older(self, name: str, files: Sequence[FilePoint]) -> None:
        await self._delete(
            name,
            [
                models.Filter(
                    must=[_match("file", file.id), _older_than(file.version)],
                    must_not=[_match("generation", file.generation)] if file.generation else None,
                )
                for file in files
            ],
        )

    async def _delete(self, name: str, filters: Sequence[models.Filter]) -> None:
        if filters:
            await self._client.delete_points(name, models.Filter(should=list(filters)))


def _by_version(files: Sequence[FilePoint]) -> dict[int, list[FilePoint]]:
    groups: dict[int, list[FilePoint]] = defaultdict(list)
    for file in files:
        groups[file.version].append(file)
    return groups


def _older(condition: models.Condition, version: int) -> models.Filter:
    return models.Filter(must=[condition, _older_than(version)])


def _older_than(version: int) -> models.FieldCondition:
    return models.FieldCondition(key="version", range=models.Range(lt=version))


def _is_version(file: FileVersion) -> models.Filter:
    return models.Filter(
        must=[models.HasIdCondition(has_id=[file.file]), _match("generation", file.generation)]
    )


def _match_any(key: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _match(key: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _directions(vectors: NDArray[np.float32]) -> NDArray[np.int16]:
    """Scales each row to integers with a largest value of VECTOR_MAX; a row of zeros stays zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=NOT_ZERO)
    scaled: NDArray[np.float32] = vectors * (VECTOR_MAX / largest)
    return np.rint(scaled).astype(np.int16)


def _rounded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.round(vectors, VECTOR_DECIMALS).astype(np.float32, order="C", copy=False)
