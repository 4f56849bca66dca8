"""How many files of a target the store holds, by status and reason, and how many it lost."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.code import FileStatus
from prism_contracts.records import Layer, Repository
from prism_store.reader import Reader, summed, with_status
from prism_store.scope import Scope

CACHED_S = 1.0
# Between imports the counts only change if the store loses something.
CACHED_AT_REST_S = 10.0
CACHED_SCOPES_MAX = 1_000
# Statuses of files that an import counts; a removed file leaves a tombstone.
PRESENT = (FileStatus.INDEXED, FileStatus.SKIPPED, FileStatus.FAILED)


class Counts(NamedTuple):
    """Files of a target by status and by reason, and when they were counted."""

    at: float  # time.monotonic()
    by_status: dict[str, int]
    by_reason: dict[str, int]
    lost: int  # files that were indexed and that the store no longer has


class FileCounts:
    """Counts the files of targets, and caches the counts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cached: dict[tuple[Scope, int], Counts] = {}
        self._counting: dict[tuple[Scope, int], asyncio.Task[Counts]] = {}

    async def cached(self, target: Target) -> Counts:
        """Returns the counts of a target.

        Old counts are returned at once, and counted again in the background.
        """
        key = (target.scope, target.corpus_version)
        known = self._cached.get(key)
        if known is None:
            return await self.count(target)
        cached_s = CACHED_AT_REST_S if target.is_quiet else CACHED_S
        is_old = time.monotonic() - known.at > cached_s
        if is_old and key not in self._counting:
            self._counting[key] = asyncio.create_task(self.count(target))
            self._counting[key].add_done_callback(lambda _: self._counting.pop(key, None))
        return known

    async def count(self, target: Target) -> Counts:
        """Counts the files of a target now, and caches the result."""
        skipped = [with_status(FileStatus.SKIPPED, FileStatus.FAILED)]
        if target.layer is None:
            by_status, by_reason = await asyncio.gather(
                self._reader.counts_by(target.scope, "status"),
                self._reader.counts_by(target.scope, "reason", skipped),
            )
            lost = _base_files_lost(by_status, target.repositories)
        else:
            base, statuses, reasons, lost_here = await asyncio.gather(
                self.cached(target.base),
                self._reader.added_by(target.scope, "status", [with_status(*FileStatus)]),
                self._reader.added_by(target.scope, "reason", skipped),
                self._layer_files_lost(target.layer, target.scope),
            )
            by_status, by_reason = summed(base.by_status, statuses), summed(base.by_reason, reasons)
            lost = base.lost + lost_here
        if len(self._cached) >= CACHED_SCOPES_MAX:
            self._cached.clear()
        counts = Counts(time.monotonic(), by_status, by_reason, lost)
        self._cached[target.scope, target.corpus_version] = counts
        return counts

    async def _layer_files_lost(self, layer: Layer, scope: Scope) -> int:
        # Without a basis, files may have failed, and failed files have no point.
        if scope.view is None or layer.served is None or not layer.served.basis:
            return 0
        present = await self._reader.counts_of_keys(scope, scope.view.keys, [with_status(*PRESENT)])
        return max(0, len(scope.view.files) - sum(present.values()))


def _base_files_lost(by_status: Mapping[str, int], repositories: Sequence[Repository]) -> int:
    served = [known.served.files for known in repositories if known.served]
    if served and all(files != 0 for files in served) and not by_status:
        return max(1, sum(files for files in served if files > 0))  # not even a tombstone is left
    present = sum(by_status.get(status, 0) for status in PRESENT)
    return max(0, sum(files for files in served if files > 0) - present)
