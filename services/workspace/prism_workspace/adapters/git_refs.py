"""The branch of each tenant's documents: which commit is its newest. It moves by compare-and-set."""

from typing import NamedTuple

from nats.js.errors import BadRequestError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from prism_contracts import names
from prism_contracts.records import record_key
from prism_runtime.bus import Bus
from prism_runtime.records import WRONG_LAST_SEQUENCE, open_bucket

BRANCH = "main"
# While records may be older than the branch: a commit that they are known to have noted.
NOTED = "noted"
# Its value where they have noted none.
NOTHING = "none"
RACES_MAX = 20


class Head(NamedTuple):
    """The newest commit of a branch, empty if there is none, and the revision at which it was read."""

    commit: str
    revision: int


class GitRefs:
    """The branches of all tenants."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "GitRefs":
        """Open the bucket."""
        return cls(await open_bucket(bus.js, names.KV_GIT_REFS, replicas=replicas))

    async def head(self, tenant: str) -> Head:
        """Returns the newest commit of a tenant's branch."""
        return await self._read(tenant, BRANCH)

    async def move(self, tenant: str, before: Head, commit: str) -> bool:
        """Move the branch to a commit. Returns False, and changes nothing, if it moved since `before`."""
        try:
            await self._bucket.update(record_key(tenant, BRANCH), commit.encode(), last=before.revision)
        except KeyWrongLastSequenceError:
            return False
        return True

    async def unnoted(self, tenant: str) -> Head | None:
        """Returns the commit that the records are known to have noted, if they may be older than the branch."""
        found = await self._read(tenant, NOTED)
        return Head(found.commit.removeprefix(NOTHING), found.revision) if found.commit else None

    async def begin(self, tenant: str, commit: str) -> None:
        """Say that the records, which noted a commit, will be older than the branch. An older one stays.

        Each call makes an `end` that read the revision before it fail.
        """
        for _ in range(RACES_MAX):
            found = await self._read(tenant, NOTED)
            value = found.commit or commit or NOTHING
            try:
                await self._bucket.update(record_key(tenant, NOTED), value.encode(), last=found.revision)
            except KeyWrongLastSequenceError:
                continue
            return
        raise TimeoutError("the mark of the records changes each time")

    async def end(self, tenant: str, mark: Head) -> None:
        """Say that the records have noted the branch, unless `begin` was called since `mark` was read."""
        try:
            await self._bucket.delete(record_key(tenant, NOTED), last=mark.revision)
        except BadRequestError as error:
            if error.err_code != WRONG_LAST_SEQUENCE:
                raise

    async def _read(self, tenant: str, name: str) -> Head:
        try:
            entry = await self._bucket.get(record_key(tenant, name))
        except KeyNotFoundError as error:  # a deleted one has a revision, which the next write names
            return Head("", (error.entry.revision or 0) if error.entry else 0)
        return Head((entry.value or b"").decode(), entry.revision or 0)
