"""Has a language model describe repositories, in the background: one subject at a time, each stored at once.

A run can be killed at any point: what is written stays, and the run goes on where it stopped, here or in another
copy. Copies race for a run by compare-and-set. What has been described is never asked for again.
"""

import asyncio
import logging
import random
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from prism_contracts.accounting import ModelPurpose
from prism_contracts.errors import ErrorCode, PrismError, reason_of
from prism_contracts.records import DescriptionsRecord, DescriptionsState, Repository, WrittenDescription
from prism_runtime.records import WatchedRecords
from prism_runtime.tasks import cancelled
from prism_scribe.adapters.description_store import DescriptionStore
from prism_scribe.core.describing import INSTRUCTIONS, ModelSentence, Subject, is_due, kept
from prism_scribe.core.writing import (
    Declined,
    DeclineReason,
    EvidenceText,
    TextWriter,
    WritingTask,
)

ROUND_S = 10.0
RUNS_MAX = 2
TOKENS_MAX = 200
DEADLINE_S = 60.0

log = logging.getLogger(__name__)


class DescribedRepository(Protocol):
    """The index of one repository. Raises PrismError."""

    async def subjects(self, files_max: int) -> list[Subject]:
        """Returns what to describe, the most important first."""
        ...

    async def evidence(self, subject: Subject) -> tuple[EvidenceText, ...]:
        """Returns what a model may draw from; empty if the subject is gone."""
        ...


class LostRunError(Exception):
    """Another copy has taken over the run, or the repository is gone."""


class DescriptionRuns:
    """The runs of this process."""

    def __init__(
        self,
        store: DescriptionStore,
        writer: TextWriter,
        sources_of: Callable[[Repository], DescribedRepository],
        *,
        files_max: int,
    ) -> None:
        self._store = store
        self._writer = writer
        self._sources_of = sources_of
        self._files_max = files_max
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def model(self) -> str:
        """The model that is asked first; empty without one."""
        return next(iter(self._writer.models), "")

    @property
    def has_room(self) -> bool:
        """Whether this process may begin another run."""
        return len(self._tasks) < RUNS_MAX

    async def begin(self, repository: Repository, now: datetime) -> DescriptionsRecord | None:
        """Begin or resume the run of a repository. Returns its record; None without a model.

        Leaves a run alone that reports, here or in another copy. Raises REPO_NOT_INDEXED, RATE_LIMITED.
        """
        if not self.model:
            return None
        if repository.served is None:
            raise PrismError(
                ErrorCode.REPO_NOT_INDEXED,
                f"{repository.name} has no completed import.",
                "Wait for its first import.",
            )
        version, owner = repository.served.version, uuid.uuid4().hex[:12]

        def change(found: DescriptionsRecord | None) -> DescriptionsRecord:
            if found is not None and not _may_begin(found, version, now):
                return found
            return DescriptionsRecord(
                tenant=repository.tenant,
                repo=repository.repo,
                state=DescriptionsState.RUNNING,
                version=version,
                owner=owner,
                model=self.model,
                started_at=now,
                alive_at=now,
            )

        if not self.has_room and repository.key not in self._tasks:
            raise PrismError(
                ErrorCode.RATE_LIMITED, "Other repositories are being described.", "Try again in a minute."
            )
        record = await self._store.modify(repository.tenant, repository.repo, change)
        if record.owner == owner:
            before = self._tasks.pop(repository.key, None)
            if before is not None:
                await cancelled(before)
            task = asyncio.create_task(self._run(repository, record))
            self._tasks[repository.key] = task
            task.add_done_callback(lambda done: self._forget(repository.key, done))
        return record

    async def close(self) -> None:
        """Stop all runs. They go on where they stopped once a copy looks for runs that are due."""
        await cancelled(*self._tasks.values())

    def _forget(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _run(self, repository: Repository, record: DescriptionsRecord) -> None:
        try:
            subjects = await self._sources_of(repository).subjects(self._files_max)
            record = await self._report(record, total=len(subjects))
            await self._describe_all(repository, record, subjects)
        except LostRunError:
            log.info("another copy describes %s", repository.name)
        except Exception as error:  # noqa: BLE001 - the record says that it stopped, and a round resumes it
            log.warning("describing %s stopped: %s", repository.name, reason_of(error))

    async def _describe_all(
        self, repository: Repository, record: DescriptionsRecord, subjects: Sequence[Subject]
    ) -> None:
        sources = self._sources_of(repository)
        for start in range(0, len(subjects), 100):
            page = subjects[start : start + 100]
            known = await self._store.written(record.tenant, record.repo, (one.content for one in page))
            for subject in page:
                written = known.get(subject.content)
                if written is None:
                    made = await self._describe(record, await sources.evidence(subject))
                    if isinstance(made, Declined):
                        await self._report(record, state=DescriptionsState.PAUSED, message=made.message)
                        return
                    written = made
                    await self._store.put(record.tenant, record.repo, subject.content, written)
                record = await self._count(record, subject, written)
        await self._report(record, state=DescriptionsState.COMPLETE, finished_at=datetime.now(UTC))

    async def _count(
        self, record: DescriptionsRecord, subject: Subject, written: WrittenDescription
    ) -> DescriptionsRecord:
        is_done = bool(written.text)
        try:
            return await self._report(
                record, done=record.done + is_done, failed=record.failed + (not is_done)
            )
        except LostRunError:
            # The repository may have been removed, with all that was written about it before.
            await self._store.drop(record.tenant, record.repo, subject.content)
            raise

    async def _describe(
        self, record: DescriptionsRecord, evidence: tuple[EvidenceText, ...]
    ) -> WrittenDescription | Declined:
        """Returns what a model wrote; with an empty text if its sentence is not kept, or the subject is gone.

        Declined if no model can be asked now.
        """
        now = datetime.now(UTC)
        if not evidence:
            return WrittenDescription(text="", model=record.model, written_at=now)
        task = WritingTask(
            tenant=record.tenant,
            purpose=ModelPurpose.DESCRIPTIONS,
            instructions=INSTRUCTIONS,
            tokens_max=TOKENS_MAX,
            deadline_s=DEADLINE_S,
        )
        found = await self._writer.write(task, evidence, ModelSentence)
        if isinstance(found, Declined):
            if found.reason is DeclineReason.INVALID:
                return WrittenDescription(text="", model=record.model, written_at=now)
            return found
        return WrittenDescription(
            text=kept(found.output.description, evidence), model=found.model, written_at=now
        )

    async def _report(self, record: DescriptionsRecord, **changes: object) -> DescriptionsRecord:
        """Store how far the run is. Raises LostRunError if it is not this process's any more."""

        def change(found: DescriptionsRecord | None) -> DescriptionsRecord:
            if found is None or found.owner != record.owner:
                raise LostRunError
            return found.model_copy(update={"alive_at": datetime.now(UTC), **changes})

        return await self._store.modify(record.tenant, record.repo, change)


def _may_begin(found: DescriptionsRecord, version: int, now: datetime) -> bool:
    """Whether a caller or a round may begin a run: none reports, and there is something new to describe."""
    if found.state is DescriptionsState.COMPLETE:
        return found.version != version
    return found.state is DescriptionsState.PAUSED or is_due(found, version, now)


class DescriptionRenewal:
    """Resumes runs that were stopped, and describes what imports changed."""

    def __init__(
        self,
        records: WatchedRecords[DescriptionsRecord],
        repositories: WatchedRecords[Repository],
        runs: DescriptionRuns,
    ) -> None:
        self._records = records
        self._repositories = repositories
        self._runs = runs

    async def run(self) -> None:
        """Begin runs as they are due, until cancelled."""
        while True:
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - the next round tries again
                log.warning("descriptions cannot be renewed: %s", reason_of(error))
            await asyncio.sleep(ROUND_S * random.uniform(0.8, 1.2))  # noqa: S311 - copies take turns

    async def round(self, now: datetime) -> list[str]:
        """Begin the runs that are due, as far as this process has room. Returns the repositories."""
        begun = []
        for record in sorted(self._records.values(), key=lambda one: one.alive_at):
            repository = self._repositories.get(record.key)
            if not self._runs.has_room:
                break
            if repository is None or repository.served is None or not self._runs.model:
                continue
            if is_due(record, repository.served.version, now):
                await self._runs.begin(repository, now)
                begun.append(repository.name)
        return begun
