"""What NATS keeps of a repository, or of a tenant, outside of the records of jobs.

It is found by keys, names of objects and subjects.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping

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
from prism_contracts.records import RemovedCounts, ScipIndex, record_key

# Buckets whose keys are `<tenant>.<repository>` or begin with it and a dot.
RECORDS = (
    names.KV_LAYERS,
    names.KV_CONDEMNED,
    names.KV_SECRETS,
    names.KV_SCIP,
    names.KV_GRAPHS,
    names.KV_WIKI,
    names.KV_DESCRIPTIONS,
    names.KV_WRITTEN_DESCRIPTIONS,
)
# Buckets of objects with such names.
OBJECTS = (
    names.OBJECTS_LAYERS,
    names.OBJECTS_HISTORIES,
    names.OBJECTS_GRAPHS,
    names.OBJECTS_WIKI,
)
# Buckets whose keys begin with the tenant and a dot, in addition to RECORDS.
TENANT_RECORDS = (
    names.KV_REPOSITORIES,
    names.KV_REPOSITORY_NAMES,
    names.KV_GROUPS,
    names.KV_DOCUMENTS,
    names.KV_GIT_OBJECTS,
    names.KV_GIT_REFS,
    names.KV_DOCUMENT_REMOTES,
    names.KV_ANCHORS,
    names.KV_TASKS,
    names.KV_MODEL_DAYS,
)
# Buckets of objects whose names begin with the tenant and a dot, in addition to OBJECTS.
TENANT_OBJECTS = (names.OBJECTS_GIT,)
# Streams with subjects of a tenant.
TENANT_STREAMS: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    names.DEAD_LETTERS: lambda tenant: (names.dead_letter_subject(tenant, "*", "*"),),
    names.LIMITS_MINUTE: lambda tenant: (names.limits_subject(names.LIMITS_MINUTE, f"{tenant}.>"),),
    names.LIMITS_DAY: lambda tenant: (names.limits_subject(names.LIMITS_DAY, f"{tenant}.>"),),
    names.USAGE: lambda tenant: _accounting(names.USAGE, tenant),
    names.HISTORY: lambda tenant: _accounting(names.HISTORY, tenant),
    names.FEEDBACK: lambda tenant: _accounting(names.FEEDBACK, tenant),
    names.CHANGES: lambda tenant: _accounting(names.CHANGES, tenant),
}


class Leftovers:
    """Records, objects and messages of repositories and tenants."""

    def __init__(self, js: JetStreamContext) -> None:
        self._js = js

    async def delete(self, tenant: str, repo: str) -> None:
        """Delete everything of a repository, and the cached answers of its tenant. Idempotent."""
        prefix = record_key(tenant, repo)
        await self._delete_objects(OBJECTS, prefix)
        await self._delete_records(RECORDS, prefix)
        await self._purge(names.CHANGES, (names.accounting_subject(names.CHANGES, tenant, repo),))
        await self._forget_answers(tenant)

    async def delete_of_tenant(self, tenant: str) -> RemovedCounts:
        """Delete the records, objects and messages of a tenant, besides jobs and tokens. Idempotent."""
        objects = await self._delete_objects((*TENANT_OBJECTS, *OBJECTS), tenant)
        records = await self._delete_records((*TENANT_RECORDS, *RECORDS), tenant)
        await self._forget_answers(tenant)
        messages = [await self._purge(stream, of(tenant)) for stream, of in TENANT_STREAMS.items()]
        return RemovedCounts(records=records, objects=objects, messages=sum(messages))

    async def forget_keys(self, tenant: str) -> None:
        """Delete the markers that deleted records left: their keys name the tenant.

        Copies of a bucket learn of a deletion by its marker, so this is done long after.
        """
        for bucket in (*TENANT_RECORDS, *RECORDS):
            await self._purge(_stream(bucket), (_subject(bucket, f"{tenant}.>"),))

    async def _delete_objects(self, buckets: Iterable[str], prefix: str) -> int:
        """Delete objects by their name, and those that records name."""
        deleted = await self._delete_occurrences(prefix)
        for bucket in buckets:
            store = await self._objects(bucket)
            if store is not None:
                for name in await _objects_of(store, prefix):
                    await _delete_object(store, name)
                    deleted += 1
        return deleted

    async def _delete_records(self, buckets: Iterable[str], prefix: str) -> int:
        deleted = 0
        for bucket in buckets:
            async for kv, key, _ in self._records_of(bucket, prefix):
                await kv.delete(key)
                deleted += 1
        return deleted

    async def _delete_occurrences(self, prefix: str) -> int:
        store = await self._objects(names.OBJECTS_SCIP)
        deleted = 0
        async for _, _, value in self._records_of(names.KV_SCIP, prefix):
            if store is not None:
                await _delete_object(store, ScipIndex.model_validate_json(value).object)
                deleted += 1
        return deleted

    async def _purge(self, stream: str, subjects: Iterable[str]) -> int:
        """Delete the messages with some subjects. Returns how many there were."""
        found = 0
        for subject in subjects:
            try:
                info = await self._js.stream_info(stream, subjects_filter=subject)
                count = sum((info.state.subjects or {}).values())
                if count:
                    await self._js.purge_stream(stream, subject=subject)
            except NotFoundError:
                break
            found += count
        return found

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
        await self._purge(_stream(names.KV_ANSWERS), (_subject(names.KV_ANSWERS, f"{tenant}.>"),))


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


def _accounting(stream: str, tenant: str) -> tuple[str, ...]:
    return tuple(names.accounting_subject(stream, tenant, *more) for more in ((), (">",)))


def _stream(bucket: str) -> str:
    return f"KV_{bucket}"


def _subject(bucket: str, key: str) -> str:
    return f"$KV.{bucket}.{key}"
