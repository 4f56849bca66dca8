"""The SCIP indexes of repositories, and their occurrences in immutable objects."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from nats.errors import Error as NatsError
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts import names
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import ScipIndex
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords

# A replaced record arrives within milliseconds.
TRIES_MAX = 20
PAUSE_S = 0.05

Thing = TypeVar("Thing")


class ScipIndexes:
    """Follows the records, and reads the objects."""

    def __init__(self, records: WatchedRecords[ScipIndex], objects: ObjectStore) -> None:
        self._records = records
        self._objects = objects

    @classmethod
    async def open(cls, bus: Bus) -> "ScipIndexes":
        """Open the indexes of all tenants. They are complete when this returns."""
        return cls(await bus.follow(names.KV_SCIP, ScipIndex), await bus.objects(names.OBJECTS_SCIP))

    def of(self, tenant: str, repos: Collection[str]) -> list[ScipIndex]:
        """Returns the indexes of repositories: one per repository, indexer and folder."""
        found = (one for one in self._records.values() if one.tenant == tenant and one.repo in repos)
        return sorted((one for one in found if one.layer == BASE_LAYER), key=lambda one: one.key)

    def objects(self, tenant: str, repos: Collection[str]) -> tuple[str, ...]:
        """Returns the names of their objects, in order."""
        return tuple(sorted(index.object for index in self.of(tenant, repos)))

    async def each(
        self, tenant: str, repos: Collection[str], read: Callable[[ScipIndex], Awaitable[Thing]]
    ) -> list[Thing]:
        """Returns the result of `read` for each of them. Raises UNAVAILABLE."""
        for _ in range(TRIES_MAX):
            try:
                return [await read(index) for index in self.of(tenant, repos)]
            except ObjectNotFoundError:
                await asyncio.sleep(PAUSE_S)  # a newer one replaced it
            except NatsError as error:
                raise _unavailable() from error
        raise _unavailable()

    async def data(self, index: ScipIndex) -> bytes:
        """Returns the occurrences of an index, packed.

        Raises ObjectNotFoundError if a newer one replaced it.
        """
        return (await self._objects.get(index.object)).data or b""

    async def catch_up(self) -> None:
        """Wait until the copy has everything that was written before this call. Raises UNAVAILABLE."""
        for _ in range(TRIES_MAX):
            try:
                if await self._records.is_current():
                    return
            except (NatsError, TimeoutError) as error:
                raise _unavailable() from error
            await asyncio.sleep(PAUSE_S)
        raise _unavailable()


def _unavailable() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE, "The SCIP indexes cannot be read at the moment.", "Retry in a few seconds."
    )
