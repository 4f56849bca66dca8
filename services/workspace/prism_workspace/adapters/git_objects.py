"""Git objects in a key-value bucket, by tenant and SHA-1; a large one in the object store.

An object never changes, so any copy may write it, twice if need be, and a cache of it is never wrong. A value
is the content of a loose object file of git (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects).
"""

import asyncio
import io
from collections.abc import Iterable
from typing import TypeVar

from dulwich.errors import ObjectFormatException
from dulwich.objects import Blob, Commit, ShaFile, Tree
from nats.js.errors import KeyNotFoundError, ObjectNotFoundError
from nats.js.kv import KeyValue
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import record_key
from prism_runtime.bus import Bus
from prism_runtime.records import open_bucket
from prism_runtime.weighted_cache import WeightedCache

# Compressed. NATS takes no message beyond 1 MiB, headers included.
VALUE_BYTES_MAX = 700_000
CACHE_BYTES_MAX = 32 * 1024 * 1024
WRITES_AT_ONCE = 64

AnObject = TypeVar("AnObject", Blob, Tree, Commit)


class GitObjects:
    """The git objects of all tenants."""

    def __init__(self, bucket: KeyValue, large: ObjectStore) -> None:
        self._bucket = bucket
        self._large = large
        # What NATS is known to hold, as it is stored.
        self._cache: WeightedCache[str, bytes] = WeightedCache(CACHE_BYTES_MAX)
        self._writes = asyncio.Semaphore(WRITES_AT_ONCE)

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "GitObjects":
        """Open the buckets."""
        bucket = await open_bucket(bus.js, names.KV_GIT_OBJECTS, replicas=replicas)
        return cls(bucket, await bus.objects(names.OBJECTS_GIT))

    async def blob(self, tenant: str, sha: str) -> bytes:
        """Returns the content of a blob. Raises STORE_DAMAGED if it is missing or unreadable."""
        return (await self._read(tenant, sha, Blob)).data

    async def tree(self, tenant: str, sha: str) -> Tree:
        """Returns a tree. Raises STORE_DAMAGED if it is missing or unreadable."""
        return await self._read(tenant, sha, Tree)

    async def commit(self, tenant: str, sha: str) -> Commit:
        """Returns a commit. Raises STORE_DAMAGED if it is missing or unreadable."""
        return await self._read(tenant, sha, Commit)

    async def find_commit(self, tenant: str, sha: str) -> Commit | None:
        """Returns a commit, or None if no commit has this hash."""
        body = await self._found(_key(tenant, sha))
        found = ShaFile.from_file(io.BytesIO(body)) if body else None
        return found if isinstance(found, Commit) else None

    async def raw(self, tenant: str, sha: str) -> bytes:
        """Returns an object as a loose object file of git. Raises STORE_DAMAGED if it is missing."""
        found = await self._found(_key(tenant, sha))
        if found is None:
            raise _damaged(sha, "is missing")
        return found

    async def write(self, tenant: str, objects: Iterable[ShaFile]) -> None:
        """Store objects. When it returns, NATS holds all of them."""
        await asyncio.gather(*(self._write(tenant, one) for one in objects))

    async def _write(self, tenant: str, one: ShaFile) -> None:
        key, body = _key(tenant, one.id.decode()), one.as_legacy_object()
        if self._cache.get(key) is not None:
            return
        async with self._writes:
            if len(body) > VALUE_BYTES_MAX:
                await self._large.put(key, body)
            else:
                await self._bucket.put(key, body)
        self._cache.put(key, body, len(body))

    async def _read(self, tenant: str, sha: str, kind: type[AnObject]) -> AnObject:
        body = await self.raw(tenant, sha)
        try:
            found = ShaFile.from_file(io.BytesIO(body))
        except (ObjectFormatException, AssertionError, ValueError) as error:
            raise _damaged(sha, "cannot be read") from error
        if not isinstance(found, kind) or found.id.decode() != sha:
            raise _damaged(sha, "is another object")
        return found

    async def _found(self, key: str) -> bytes | None:
        found = self._cache.get(key)
        if found is None:
            found = await self._stored(key)
            if found is not None:
                self._cache.put(key, found, len(found))
        return found

    async def _stored(self, key: str) -> bytes | None:
        try:
            return (await self._bucket.get(key)).value or b""
        except KeyNotFoundError:
            pass
        try:
            return (await self._large.get(key)).data
        except ObjectNotFoundError:
            return None


def _key(tenant: str, sha: str) -> str:
    return record_key(tenant, sha)


def _damaged(sha: str, problem: str) -> PrismError:
    return PrismError(
        ErrorCode.STORE_DAMAGED,
        f"The git object {sha} of the documents {problem}.",
        "Restore the NATS store from a backup.",
    )
