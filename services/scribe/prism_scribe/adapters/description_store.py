"""Descriptions by a model in NATS: a record for each repository, and one for each content."""

import asyncio
from collections.abc import Callable, Iterable

from prism_contracts import names
from prism_contracts.records import (
    DescriptionsRecord,
    WrittenDescription,
    descriptions_key,
    written_description_key,
)
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket

READS_AT_ONCE = 16


class DescriptionStore:
    """The runs, and what they wrote."""

    def __init__(self, runs: Records[DescriptionsRecord], written: Records[WrittenDescription]) -> None:
        self._runs = runs
        self._written = written
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    @classmethod
    async def open(cls, bus: Bus, *, replicas: int) -> "DescriptionStore":
        """Open the buckets."""
        runs = await open_bucket(bus.js, names.KV_DESCRIPTIONS, replicas=replicas)
        written = await open_bucket(bus.js, names.KV_WRITTEN_DESCRIPTIONS, replicas=replicas)
        return cls(Records(runs, DescriptionsRecord), Records(written, WrittenDescription))

    async def get(self, tenant: str, repo: str) -> DescriptionsRecord | None:
        """Returns the run of a repository, as stored now."""
        return await self._runs.get(descriptions_key(tenant, repo))

    async def modify(
        self, tenant: str, repo: str, change: Callable[[DescriptionsRecord | None], DescriptionsRecord]
    ) -> DescriptionsRecord:
        """Replace the run of a repository, by compare-and-set. What `change` raises stops it."""
        return await self._runs.modify(descriptions_key(tenant, repo), change)

    async def written(self, tenant: str, repo: str, contents: Iterable[str]) -> dict[str, WrittenDescription]:
        """Returns what is written about contents; those without it are absent."""
        wanted = list(dict.fromkeys(contents))
        found = await asyncio.gather(*(self._read(tenant, repo, content) for content in wanted))
        return {content: one for content, one in zip(wanted, found, strict=True) if one is not None}

    async def put(self, tenant: str, repo: str, content: str, written: WrittenDescription) -> None:
        """Store what a model wrote about a content."""
        await self._written.put(written_description_key(tenant, repo, content), written)

    async def drop(self, tenant: str, repo: str, content: str) -> None:
        """Delete what a model wrote about a content."""
        await self._written.delete(written_description_key(tenant, repo, content))

    async def _read(self, tenant: str, repo: str, content: str) -> WrittenDescription | None:
        async with self._reads:
            return await self._written.get(written_description_key(tenant, repo, content))
