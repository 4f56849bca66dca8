"""What a file of an import passes before it is published: its tenant's share, and the limit `chunks` of its plan.

How many chunks a file has is known when it is indexed. So chunks are estimated while files are on their way,
and counted in the index before the estimates use up half of what is left.
"""

import asyncio
import math
import time
from collections.abc import Callable, Collection
from typing import Final

from prism_catalog.tenants import Tenants, limit_exceeded
from prism_contracts.base import BASE_LAYER
from prism_contracts.code import FileStatus
from prism_contracts.events import FileChanged, FileEvent, FileFailed
from prism_contracts.records import Limit
from prism_ingest.adapters.file_window import FileWindow
from prism_ingest.adapters.index import count_chunks, read_manifest
from prism_ingest.core.contents import STAGE
from prism_runtime.bus import Bus

# Chunks have 1,000 to 1,500 bytes on average: the estimates are rather high.
CHUNK_BYTES: Final = 1_000
# Other copies of ingest add chunks too, and removals make room. Near the limit, chunks are counted more often.
COUNTED_EVERY_S: Final = 30.0
COUNTED_AT_LIMIT_EVERY_S: Final = 5.0
# New versions of indexed files replace their chunks, and may exceed the limit by this share.
GROWTH_PERCENT: Final = 10
PERCENT: Final = 100


class ImportGate:
    """The gate of one lane."""

    def __init__(self, window: FileWindow, chunks: "ChunkQuota") -> None:
        self._window = window
        self._chunks = chunks

    async def admit(self, event: FileEvent) -> FileEvent:
        """Wait for the tenant's turn. Returns what to publish: the event, or that the file is over the limit."""
        admitted = await self._chunks.admit(event) if isinstance(event, FileChanged) else event
        await self._window.enter(admitted)
        return admitted


class ChunkQuota:
    """The limit `chunks` of all tenants. Tenants without it cost nothing."""

    def __init__(
        self,
        bus: Bus,
        tenants: Tenants,
        windows: Collection[FileWindow],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`windows` have the files that are on their way."""
        self._bus = bus
        self._tenants = tenants
        self._windows = windows
        self._clock = clock
        self._uses: dict[str, _Use] = {}

    async def admit(self, event: FileChanged) -> FileEvent:
        """Returns the event if its chunks fit the tenant's limit; otherwise that the file failed."""
        allowed = self._tenants.limit_of(event.tenant, Limit.CHUNKS)
        if allowed is None:
            return event
        use = self._uses.setdefault(event.tenant, _Use())
        async with use.lock:
            if await self._fits(event, use, allowed) or await self._is_update(event, use, allowed):
                return event
        error = limit_exceeded(Limit.CHUNKS, allowed, "Ask the operator for another plan.").body
        detail = f"{error.message} {error.next_action}"
        return FileFailed(**event.address, stage=STAGE, code=error.code.value, detail=detail)

    async def _fits(self, event: FileChanged, use: "_Use", allowed: int) -> bool:
        chunks = 1 + event.size_bytes // CHUNK_BYTES
        if self._is_count_due(use, chunks, allowed):
            for window in self._windows:
                await window.settled(event.tenant)
            use.counted = await count_chunks(self._bus, event.tenant)
            use.counted_at, use.expected = self._clock(), 0
        if use.counted + use.expected + chunks > allowed:
            return False
        use.expected += chunks
        return True

    def _is_count_due(self, use: "_Use", chunks: int, allowed: int) -> bool:
        age_s = self._clock() - use.counted_at
        if age_s >= COUNTED_EVERY_S:
            return True
        is_near = use.expected + chunks > (allowed - use.counted) // 2
        return is_near and (use.expected > 0 or age_s >= COUNTED_AT_LIMIT_EVERY_S)

    async def _is_update(self, event: FileChanged, use: "_Use", allowed: int) -> bool:
        """Whether a file replaces an indexed one. Otherwise a tenant at its limit could not change anything."""
        if event.layer != BASE_LAYER or use.counted > allowed + allowed * GROWTH_PERCENT // PERCENT:
            return False
        if use.job != event.job:
            entries = await read_manifest(self._bus, event.tenant, event.repo, event.layer)
            use.indexed = frozenset(entry.path for entry in entries if entry.status == FileStatus.INDEXED)
            use.job = event.job
        return event.path in use.indexed


class _Use:
    """The chunks of a tenant."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.counted = 0  # in the index
        self.counted_at = -math.inf
        self.expected = 0  # chunks expected from files admitted since then
        self.job = ""  # whose repository has these files
        self.indexed: frozenset[str] = frozenset()
