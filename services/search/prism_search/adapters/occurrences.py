"""Reads SCIP indexes of repositories, and caches them unpacked: a stored object never changes."""

import asyncio
from functools import partial

from prism_catalog.scip_indexes import ScipIndexes
from prism_catalog.target import Target
from prism_contracts.base import file_id
from prism_contracts.records import ScipIndex
from prism_resolver.occurrences import Columns, OccurrenceIndex, Occurrences
from prism_runtime.weighted_cache import WeightedCache

BYTES_KEPT_MAX = 256 * 1024 * 1024


class OccurrenceReader:
    """Reads SCIP indexes."""

    def __init__(self, stored: ScipIndexes) -> None:
        self._stored = stored
        self._cache: WeightedCache[str, OccurrenceIndex] = WeightedCache(BYTES_KEPT_MAX)

    async def of(self, target: Target) -> Occurrences:
        """Returns the occurrences in a target's repositories. Raises UNAVAILABLE."""
        return Occurrences(await self.indexes(target))

    async def indexes(self, target: Target) -> list[OccurrenceIndex]:
        """Returns one index per repository, indexer and folder. Raises UNAVAILABLE."""
        return await self._stored.each(target.scope.tenant, target.scope.repos, self._read)

    def objects(self, target: Target) -> tuple[str, ...]:
        """Returns the object names of the indexes, in order."""
        return self._stored.objects(target.scope.tenant, target.scope.repos)

    async def _read(self, record: ScipIndex) -> OccurrenceIndex:
        known = self._cache.get(record.object)
        if known is None:
            known = await asyncio.to_thread(_unpacked, record, await self._stored.data(record))
            self._cache.put(record.object, known, known.size_bytes)
        return known


def _unpacked(record: ScipIndex, data: bytes) -> OccurrenceIndex:
    id_of = partial(file_id, record.tenant, record.repo, record.layer)
    return OccurrenceIndex(Columns.unpacked(data), id_of)
