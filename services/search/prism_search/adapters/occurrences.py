"""What SCIP indexes say of repositories, read from the object store and kept: what lies under a name never changes."""

import asyncio

from nats.errors import Error as NatsError
from nats.js.errors import Error as JetStreamError
from nats.js.errors import ObjectNotFoundError
from nats.js.object_store import ObjectStore

from prism_contracts.base import file_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import ScipIndex
from prism_graph.occurrences import Columns, OccurrenceIndex, Occurrences
from prism_runtime.kept import Kept
from prism_runtime.records import WatchedRecords
from prism_store.repositories import Target

BYTES_KEPT_MAX = 256 * 1024 * 1024
# A record that was replaced is heard of within milliseconds.
TRIES_MAX = 20
PAUSE_S = 0.05


class OccurrenceReader:
    """Reads indexes."""

    def __init__(self, records: WatchedRecords[ScipIndex], objects: ObjectStore) -> None:
        self._records = records
        self._objects = objects
        self._kept: Kept[str, OccurrenceIndex] = Kept(BYTES_KEPT_MAX)

    async def of(self, target: Target) -> Occurrences:
        """All that is known of a target's repositories. Raises UNAVAILABLE."""
        return Occurrences(await self.indexes(target))

    async def indexes(self, target: Target) -> list[OccurrenceIndex]:
        """One a repository, indexer and folder. Raises UNAVAILABLE."""
        for _ in range(TRIES_MAX):
            try:
                return [await self._read(record) for record in self._of(target)]
            except ObjectNotFoundError:
                await asyncio.sleep(PAUSE_S)  # a newer one took its place
            except (NatsError, JetStreamError) as error:
                raise _unavailable() from error
        raise _unavailable()

    def _of(self, target: Target) -> list[ScipIndex]:
        scope = target.scope
        found = (one for one in self._records.values() if one.tenant == scope.tenant)
        mine = (one for one in found if one.repo in scope.repos and one.layer == scope.layer)
        return sorted(mine, key=lambda one: one.key)

    async def _read(self, record: ScipIndex) -> OccurrenceIndex:
        known = self._kept.get(record.object)
        if known is None:
            stored = await self._objects.get(record.object)
            known = await asyncio.to_thread(_unpacked, record, stored.data or b"")
            self._kept.keep(record.object, known, known.size_bytes)
        return known


def _unpacked(record: ScipIndex, data: bytes) -> OccurrenceIndex:
    return OccurrenceIndex(
        Columns.unpacked(data), lambda path: file_id(record.tenant, record.repo, record.layer, path)
    )


def _unavailable() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE, "What SCIP indexes say cannot be read now.", "Ask again in a few seconds."
    )
