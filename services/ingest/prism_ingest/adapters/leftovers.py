"""What NATS keeps of a repository outside of the records of its jobs, found by keys and names of objects."""

from collections.abc import AsyncIterator

from nats.js import JetStreamContext
from nats.js.errors import (
    BucketNotFoundError,
    KeyNotFoundError,
    NotFoundError,
    ObjectNotFoundError,
)
from nats.js.kv import KeyValue
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.records import ScipIndex, record_key

# Buckets whose keys are `<tenant>.<repository>` or begin with it and a dot.
RECORDS = (
    names.KV_LAYERS,
    names.KV_CONDEMNED,
    names.KV_SECRETS,
    names.KV_SCIP,
    names.KV_GRAPHS,
)
# Buckets of objects with such names.
OBJECTS = (
    names.OBJECTS_LAYERS,
    names.OBJECTS_HISTORIES,
    names.OBJECTS_GRAPHS,
)


class Leftovers:
    """Records and objects of repositories."""

    def __init__(self, js: JetStreamContext) -> None:
        self._js = js

    async def delete(self, tenant: str, repo: str) -> None:
        """Delete everything of a repository, and the cached answers of its tenant. Idempotent."""
        prefix = record_key(tenant, repo)
        await self._delete_occurrences(prefix)  # before the records that name them
        for bucket in OBJECTS:
            store = await self._objects(bucket)
            if store is not None:
                for name in await _objects_of(store, prefix):
                    await _delete_object(store, name)
        for bucket in RECORDS:
            async for kv, key, _ in self._records_of(bucket, prefix):
                await kv.delete(key)
        await self._forget_answers(tenant)

    async def _delete_occurrences(self, prefix: str) -> None:
        store = await self._objects(names.OBJECTS_SCIP)
        async for _, _, value in self._records_of(names.KV_SCIP, prefix):
            if store is not None:
                await _delete_object(store, ScipIndex.model_validate_json(value).object)

    async def _records_of(self, bucket: str, prefix: str) -> AsyncIterator[tuple[KeyValue, str, bytes]]:
        """Yields the existing records of a repository: their bucket, key and value."""
        try:
            kv = await self._js.key_value(bucket)
        except BucketNotFoundError:
            return
        for subjects in (_subject(bucket, prefix), _subject(bucket, f"{prefix}.>")):
            info = await self._js.stream_info(_stream(bucket), subjects_filter=subjects)
            for subject in sorted(info.state.subjects or ()):
                key = subject.removeprefix(_subject(bucket, ""))
                try:
                    entry = await kv.get(key)
                except KeyNotFoundError:  # it is deleted
                    continue
                yield kv, key, entry.value or b""

    async def _objects(self, bucket: str) -> ObjectStore | None:
        try:
            return await self._js.object_store(bucket)
        except BucketNotFoundError:
            return None

    async def _forget_answers(self, tenant: str) -> None:
        """Delete the cached answers of a tenant: their keys are hashes."""
        try:
            await self._js.purge_stream(
                _stream(names.KV_ANSWERS), subject=_subject(names.KV_ANSWERS, f"{tenant}.>")
            )
        except NotFoundError:
            return


async def _objects_of(store: ObjectStore, prefix: str) -> list[str]:
    try:
        known = [info.name or "" for info in await store.list(ignore_deletes=True)]
    except NotFoundError:  # the store is empty
        return []
    return [name for name in known if name == prefix or name.startswith(f"{prefix}.")]


async def _delete_object(store: ObjectStore, name: str) -> None:
    try:
        await store.delete(name)
    except ObjectNotFoundError:
        return


def _stream(bucket: str) -> str:
    return f"KV_{bucket}"


def _subject(bucket: str, key: str) -> str:
    return f"$KV.{bucket}.{key}"
