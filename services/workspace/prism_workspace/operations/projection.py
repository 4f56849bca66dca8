"""Keeps the index of each tenant equal to its documents.

A record says which content was indexed last. What differs is sent as one import at a time for each tenant, so a
crash anywhere leaves a difference that a later round of any copy sends. A commit changes no content: once no
draft is left, an import without files names it, and no document is sent again.
"""

import asyncio
import heapq
import logging
import time
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from itertools import accumulate

from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import DocumentRecord, JobState
from prism_runtime.tasks import cancelled
from prism_workspace.adapters.documents import DocumentRecords
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs
from prism_workspace.adapters.ingest import DocumentImports

# What other copies left, or a failed import, is found in a round.
ROUND_S = 1.0
# An import is short, because a document that is written meanwhile waits for it. A file has 1 MiB at most.
FILES_MAX = 150
# Every third document of an import is one that has waited longest: while more is written than an import takes, the
# newest alone would leave the others waiting for ever.
OLDEST_EVERY = 3
BYTES_MAX = 8 * 1024 * 1024
WAIT_LOOK_S = 0.02
# An import with errors has dealt with every file: one that cannot be indexed is not sent again and again.
ENDED_WELL = frozenset({JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS})
UNREGISTERED = frozenset({ErrorCode.REPO_NOT_FOUND, ErrorCode.REF_NOT_FOUND})

log = logging.getLogger(__name__)


class IndexProjection:
    """The index as a projection of the records."""

    def __init__(
        self,
        records: DocumentRecords,
        objects: GitObjects,
        refs: GitRefs,
        imports: DocumentImports,
    ) -> None:
        self._records = records
        self._objects = objects
        self._refs = refs
        self._imports = imports
        self._changed = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}
        # Tenants without a repository of that name, for which a document was sent again to learn why.
        self._probed: set[str] = set()
        # By tenant, the commits of its documents when the index was last seen to name the newest one. After a
        # start there are none, so that what another process left is found.
        self._named: dict[str, AbstractSet[str]] = {}

    def wake(self) -> None:
        """Look for differences now: a document changed."""
        self._changed.set()

    async def run(self) -> None:
        """Send differences as they arise, until cancelled."""
        try:
            while True:
                self._changed.clear()
                await self._probe()
                self._begin()
                try:
                    async with asyncio.timeout(ROUND_S):
                        await self._changed.wait()
                except TimeoutError:
                    continue
        finally:
            await cancelled(*self._running.values())

    async def wait(self, record: DocumentRecord, wait_s: float) -> bool:
        """Wait until a document is indexed, `wait_s` seconds at most. Returns whether it is."""
        self.wake()
        end = time.monotonic() + wait_s
        while True:
            found = await self._records.get(record.tenant, record.document)
            if found is None or found.is_indexed:
                return found is not None
            if time.monotonic() > end:
                return False
            await asyncio.sleep(WAIT_LOOK_S)

    async def send_again(self, record: DocumentRecord) -> None:
        """Send a document again, whatever the index has of it. Raises DOCUMENT_NOT_FOUND."""
        await self._records.change(record.tenant, record.document, _unindexed)
        self.wake()

    async def _probe(self) -> None:
        """Send one document again of each tenant whose repository is gone: if it was removed, all are sent."""
        absent = set(self._records.known_tenants()) - self._imports.tenants()
        for tenant in absent - self._probed:
            indexed = next((one for one in self._records.known_of(tenant) if one.indexed_blob), None)
            if indexed is None:
                absent -= {tenant}
                continue
            try:
                await self._records.change(tenant, indexed.document, _unindexed)
            except PrismError as error:
                log.info("documents of %s are not sent again yet: %s", tenant, error)
                absent -= {tenant}
        self._probed = absent

    def _begin(self) -> None:
        for tenant in filter(self._is_unsettled, self._records.known_tenants()):
            running = self._running.get(tenant)
            if running is None or running.done():
                self._running[tenant] = asyncio.create_task(self._settle(tenant))

    def _is_unsettled(self, tenant: str) -> bool:
        """Whether the index lacks a content of a tenant, or may not name its newest commit."""
        if self._records.known_unindexed(tenant):
            return True
        is_named = self._named.get(tenant) == self._records.known_commits(tenant)
        return not is_named and not self._records.has_known_drafts(tenant)

    async def _settle(self, tenant: str) -> None:
        """Send differences of a tenant until there are none."""
        try:
            while await self.send(tenant):
                pass
        except PrismError as error:
            # Another import, or an outage. The next round tries again.
            log.info("documents of %s are not indexed yet: %s", tenant, error)
        except Exception as error:  # noqa: BLE001 - whatever it was, the next round tries again
            log.warning("documents of %s cannot be indexed: %s", tenant, reason_of(error))

    async def send(self, tenant: str) -> bool:
        """Import what differs, some documents at a time, as `chosen` says. Returns whether anything did.

        Raises PrismError if ingest refuses it, or if the import fails.
        """
        await self._records.require_current()
        differing = self._records.known_unindexed(tenant)
        has_drafts = self._records.has_known_drafts(tenant)
        commits = frozenset(self._records.known_commits(tenant))
        # The branch second: what a later commit holds differs from these records, and is sent next.
        head = (await self._refs.head(tenant)).commit
        if not differing:
            return not has_drafts and await self._name(tenant, head, commits)
        batch, files = await self._batch(differing)
        is_whole = len(batch) == len(differing) and not has_drafts
        await self._import(tenant, files, head if is_whole else "")
        await self._records.change_many(tenant, {one.document: partial(_indexed, sent=one) for one in batch})
        for one in batch:
            if one.is_removed:
                await self._records.forget(tenant, one.document)
        return True

    async def _name(self, tenant: str, head: str, commits: frozenset[str]) -> bool:
        """Name the newest commit, of which the index has all documents. Returns whether that took an import.

        `commits` are those of the documents before the branch was read.
        """
        is_named = not head or await self._imports.is_named(tenant, head)
        if not is_named and not await self._import(tenant, {}, head):
            return True
        self._named[tenant] = commits
        return not is_named

    async def _import(self, tenant: str, files: Mapping[str, bytes | None], commit: str) -> bool:
        """Import files, as `DocumentImports.replace` does. Returns whether the commit was passed on.

        It is not if the tenant has no repository: a new one lacks what the records said was indexed.
        """
        is_registered = True
        try:
            job = await self._imports.replace(tenant, files, commit)
        except PrismError as error:
            if error.code not in UNREGISTERED:
                raise
            is_registered = False
            # Before the repository exists again, because nothing shows later that it was removed.
            await self._forget(tenant)
            await self._imports.register(tenant)
            job = await self._imports.replace(tenant, files, "")
        if job.state not in ENDED_WELL:
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"The import {job.job} ended as {job.state.value}.", "It is repeated."
            )
        return is_registered

    async def _forget(self, tenant: str) -> None:
        """Note that nothing of a tenant is indexed."""
        known = await self._records.all_of(tenant)
        changes = {one.document: _unindexed for one in known if one.indexed_blob}
        await self._records.change_many(tenant, changes)

    async def _content(self, record: DocumentRecord) -> bytes | None:
        """Returns the file of a document; None if it is gone."""
        return None if record.is_removed else await self._objects.blob(record.tenant, record.blob)

    async def _batch(
        self, differing: Collection[DocumentRecord]
    ) -> tuple[list[DocumentRecord], dict[str, bytes | None]]:
        """Returns as many documents as an import takes, and their files by path."""
        wanted = chosen(differing)
        bodies = await asyncio.gather(*(self._content(one) for one in wanted))
        sizes = accumulate(len(body or b"") for body in bodies)
        taken = max(1, sum(size <= BYTES_MAX for size in sizes))
        batch = wanted[:taken]
        return batch, {one.path: body for one, body in zip(batch, bodies, strict=False)}


def chosen(differing: Collection[DocumentRecord]) -> list[DocumentRecord]:
    """Returns the documents of the next import: those written last, and the ones that have waited longest.

    Somebody waits for what was written just now. They alternate, because the size of an import ends the list.
    """
    if len(differing) <= FILES_MAX:
        return sorted(differing, key=_modified_at, reverse=True)
    count = FILES_MAX // OLDEST_EVERY
    oldest = iter(heapq.nsmallest(count, differing, key=_modified_at))
    newest = iter(heapq.nlargest(FILES_MAX - count, differing, key=_modified_at))
    return [next(newest if number % OLDEST_EVERY else oldest) for number in range(1, FILES_MAX + 1)]


def _modified_at(record: DocumentRecord) -> datetime:
    return record.modified_at


def _indexed(found: DocumentRecord, sent: DocumentRecord) -> DocumentRecord:
    """Returns the record with what was sent. A newer content differs from it, and is sent next.

    If another copy noted something else meanwhile, the order of the two imports is not known, so the record
    says that nothing is indexed, and the document is sent again.
    """
    if found.indexed_blob in (sent.indexed_blob, sent.blob):
        return found.model_copy(update={"indexed_blob": sent.blob})
    return _unindexed(found)


def _unindexed(found: DocumentRecord) -> DocumentRecord:
    return found.model_copy(update={"indexed_blob": ""})
