"""Generates wikis: the run is stored first, then the table of contents, then page by page.

If a language model is set, it introduces the pages once all are written, one by one.

A run can be killed at any point. The record says which pages are written, and the next trigger writes the others.
Several copies may run the same wiki: each page is written whole, equal sources give an equal page, and the record
changes by compare-and-set.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import Repository, WikiPageState, WikiRecord, WikiTocEntry
from prism_runtime.records import WatchedRecords
from prism_runtime.tasks import cancelled, running
from prism_scribe.adapters.wiki_store import WikiStore
from prism_scribe.core.wiki import contents, pages, progress
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.renewal import BEAT_S
from prism_scribe.core.writing import NoWriter, TextWriter
from prism_scribe.operations.wiki_introductions import Introductions, NotIntroducedError

ATTEMPTS = 3
PAUSE_S = 0.5
# How long a table of contents waits for the graph of an import, and how often it looks.
PLAN_S = 600.0
PLAN_PAUSE_S = 2.0
# Runs at a time, and those that wait or run. A run takes seconds, so more of them mean that something is wrong.
RUNS_AT_ONCE = 2
RUNS_MAX = 50

_PASSING = frozenset(
    {ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED, ErrorCode.RATE_LIMITED, ErrorCode.GRAPH_NOT_BUILT}
)

log = logging.getLogger(__name__)


class PageSources(Protocol):
    """The index of one repository, as the pages of its wiki need it. Raises PrismError."""

    async def orient(self, version: int) -> Orientation:
        """Returns what is known of the repository as a whole."""
        ...

    async def evidence(self, entry: WikiTocEntry, orientation: Orientation) -> Evidence:
        """Returns what one page needs besides."""
        ...


class WikiRuns:
    """The runs of this process."""

    def __init__(
        self,
        store: WikiStore,
        repositories: WatchedRecords[Repository],
        sources_of: Callable[[Repository], PageSources],
        writer: TextWriter | None = None,
    ) -> None:
        self._store = store
        self._repositories = repositories
        self._sources_of = sources_of
        self._introductions = Introductions(writer or NoWriter())
        self._slots = asyncio.Semaphore(RUNS_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def has_room(self) -> bool:
        """Whether a run that no one asked for would delay no other."""
        return len(self._tasks) < RUNS_AT_ONCE

    async def begin(self, repository: Repository, seen: WikiRecord | None = None) -> WikiRecord:
        """Begin or resume the wiki of a repository, and return once the run is stored.

        Does nothing if all pages are of the newest state of the index, or if this process is at it. With the
        record that a caller has `seen`, the run begins only if the record has not changed since.
        Raises REPO_NOT_INDEXED, RATE_LIMITED; UNAVAILABLE if another run has begun.
        """
        version = _version(repository)
        found = await self._store.get(repository.tenant, repository.repo)
        if found is not None and (self._is_done(found, version) or self._is_running(found, version)):
            return found
        if len(self._tasks) >= RUNS_MAX:
            raise PrismError(
                ErrorCode.RATE_LIMITED, "Too many wikis are being generated.", "Try again in a minute."
            )
        record = await self._begun(repository, version, seen)
        if not self._is_running(record, version):
            await self._start(repository, version)
        return record

    async def close(self) -> None:
        """Stop all runs. The next trigger resumes them."""
        await cancelled(*self._tasks.values())

    def _is_done(self, record: WikiRecord, version: int) -> bool:
        return progress.is_done(record, version) and not any(
            self._lacks_introduction(record, entry) for entry in record.toc
        )

    def _is_running(self, record: WikiRecord, version: int) -> bool:
        task = self._tasks.get(record.key)
        return task is not None and not task.done() and record.version == version

    async def _begun(self, repository: Repository, version: int, seen: WikiRecord | None) -> WikiRecord:
        now = datetime.now(UTC)

        def change(found: WikiRecord | None) -> WikiRecord:
            if seen is not None and found != seen:
                raise progress.SupersededError
            return progress.begun(
                found,
                tenant=repository.tenant,
                repo=repository.repo,
                version=version,
                commit=repository.served.commit if repository.served else "",
                now=now,
            )

        try:
            return await self._store.modify(repository.tenant, repository.repo, change)
        except progress.SupersededError as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE, "Another run has begun meanwhile.", "Call generate_wiki again."
            ) from error

    async def _start(self, repository: Repository, version: int) -> None:
        key = repository.key
        if key in self._tasks:  # a run for an older version of the index
            await cancelled(self._tasks[key])
        task = asyncio.create_task(self._run(repository, version))
        self._tasks[key] = task
        task.add_done_callback(partial(self._forget, key))

    def _forget(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _run(self, repository: Repository, version: int) -> None:
        try:
            sources = self._sources_of(repository)
            async with running(self._report_alive(repository, version)):
                orientation = await self._planned(repository, version, sources)
                async with self._slots:
                    await self._write_all(repository, version, sources, orientation)
        except progress.SupersededError:
            log.info("the wiki of %s was superseded", repository.name)
        except Exception as error:  # noqa: BLE001 - the record says what is written, a trigger resumes it
            log.warning("the wiki of %s stopped: %s", repository.name, reason_of(error))

    async def _report_alive(self, repository: Repository, version: int) -> None:
        """Report that a run goes on, for as long as it does: other copies leave it alone."""
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._store.modify(
                    repository.tenant,
                    repository.repo,
                    partial(progress.alive, version=version, now=datetime.now(UTC)),
                )
            except progress.SupersededError:
                return
            except Exception as error:  # noqa: BLE001 - the next beat tries again
                log.info("the run of %s cannot report: %s", repository.name, reason_of(error))

    async def _planned(self, repository: Repository, version: int, sources: PageSources) -> Orientation:
        """Store the table of contents, or why there is none. Returns what it was planned from."""
        tenant, repo = repository.tenant, repository.repo
        try:
            orientation = await self._oriented(repository, version, sources)
            toc = contents.plan(orientation)
        except progress.SupersededError:
            raise
        except Exception as error:
            note = partial(progress.unplanned, version=version, error=reason_of(error), now=datetime.now(UTC))
            await self._store.modify(tenant, repo, note)
            raise
        await self._store.modify(tenant, repo, partial(progress.planned, version=version, toc=toc))
        return orientation

    async def _oriented(self, repository: Repository, version: int, sources: PageSources) -> Orientation:
        """Returns the orientation, as soon as the graph of this version is built and search answers."""
        ends_at = time.monotonic() + PLAN_S
        while True:
            self._check_newest(repository.key, version)
            try:
                async with self._slots:
                    return await sources.orient(version)
            except PrismError as error:
                if error.code not in _PASSING or time.monotonic() > ends_at:
                    raise
            await asyncio.sleep(PLAN_PAUSE_S)

    async def _write_all(
        self, repository: Repository, version: int, sources: PageSources, orientation: Orientation
    ) -> None:
        tenant, repo = repository.tenant, repository.repo
        record = await self._store.get(tenant, repo)
        if record is None or record.version != version:
            raise progress.SupersededError
        for entry in record.toc:
            if not progress.is_current(record, entry.key):
                record = await self._write_or_note(record, entry, sources, orientation)
        for entry in record.toc:
            if self._lacks_introduction(record, entry):
                record = await self._introduce_or_note(record, entry)
        await self._store.modify(
            tenant, repo, lambda found: progress.ended(found, version, datetime.now(UTC))
        )

    async def _write_or_note(
        self, record: WikiRecord, entry: WikiTocEntry, sources: PageSources, orientation: Orientation
    ) -> WikiRecord:
        """Write a page, or note why it failed: one page ends no run."""
        attempts = 0
        while True:
            attempts += 1
            try:
                evidence = await sources.evidence(entry, orientation)
                page = await asyncio.to_thread(pages.write, entry, orientation, evidence, record.toc)
                break
            except Exception as error:  # noqa: BLE001 - whatever it was, the other pages follow
                if attempts < ATTEMPTS and isinstance(error, PrismError) and error.code in _PASSING:
                    await asyncio.sleep(PAUSE_S * 2 ** (attempts - 1))
                    continue
                return await self._note(record, entry, reason_of(error), attempts)
        self._check_newest(record.key, record.version)
        return await self._keep(record, entry, page)

    def _lacks_introduction(self, record: WikiRecord, entry: WikiTocEntry) -> bool:
        page = record.pages.get(entry.key)
        return self._introductions.has_model_for(entry) and page is not None and not page.model

    async def _introduce_or_note(self, record: WikiRecord, entry: WikiTocEntry) -> WikiRecord:
        """Add the introduction of a language model to a page that is kept already, or note why there is none."""
        before = record.pages[entry.key]
        text = await self._store.page(before.object)
        if text is None:
            raise progress.SupersededError
        try:
            introduced, model = await self._introductions.introduced(record.tenant, text)
        except NotIntroducedError as error:
            return await self._note(record, entry, str(error), attempts=1)
        self._check_newest(record.key, record.version)
        name = await self._store.put_page(record, entry.key, before.source_hash, introduced)
        update = {"object": name, "model": model, "size_bytes": len(introduced.encode())}
        return await self._replace(record, entry, before.model_copy(update=update))

    async def _note(self, record: WikiRecord, entry: WikiTocEntry, error: str, attempts: int) -> WikiRecord:
        log.warning("the page %s failed: %s", entry.key, error)
        change = partial(
            progress.with_failure, version=record.version, entry=entry, error=error, attempts=attempts
        )
        return await self._store.modify(record.tenant, record.repo, change)

    def _check_newest(self, key: str, version: int) -> None:
        """Raises SupersededError if the sources of a page may be those of a newer import."""
        known = self._repositories.get(key)
        if known is None or known.served is None or known.served.version != version:
            raise progress.SupersededError

    async def _keep(self, record: WikiRecord, entry: WikiTocEntry, page: str) -> WikiRecord:
        """Store a page if its sources changed, then its state with the texts before."""
        before = record.pages.get(entry.key)
        hashed = pages.source_hash(page)
        is_same = before is not None and before.source_hash == hashed
        name = (
            before.object
            if before is not None and is_same
            else await self._store.put_page(record, entry.key, hashed, page)
        )
        state = WikiPageState(
            source_hash=hashed,
            object=name,
            size_bytes=len(page.encode()),
            version=record.version,
            commit=record.commit,
            written_at=before.written_at if before is not None and is_same else datetime.now(UTC),
            older=progress.older_texts(before, hashed),
            model=before.model if before is not None and is_same else "",
        )
        return await self._replace(record, entry, state)

    async def _replace(self, record: WikiRecord, entry: WikiTocEntry, state: WikiPageState) -> WikiRecord:
        """Store the state of a page, then delete the texts that it names no longer."""
        before = record.pages.get(entry.key)
        changed = await self._store.modify(
            record.tenant, record.repo, lambda found: progress.with_page(found, entry.key, state)
        )
        for gone in progress.dropped_texts(before, state):
            await self._store.drop_page(gone)
        return changed


def _version(repository: Repository) -> int:
    if repository.served is None:
        raise PrismError(
            ErrorCode.REPO_NOT_INDEXED,
            f"{repository.name} has no completed import.",
            "Wait for its first import, then generate the wiki.",
        )
    return repository.served.version
