"""Keeps which files each import of a followed branch changed, and lists them."""

from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job
from prism_contracts.rpc.changes import ChangesReply, ChangesRequest
from prism_ingest.adapters.change_log import ChangeLog
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.core.changes import entries_of
from prism_runtime.cursors import read_cursor, write_cursor


class IndexChanges:
    """The changes of the index by file."""

    def __init__(self, ledger: Ledger, plans: PlanStore, changes: ChangeLog) -> None:
        self._ledger = ledger
        self._plans = plans
        self._changes = changes

    async def keep(self, job: Job) -> None:
        """Store what an ended import changed, as its plan has it. Does nothing once its plan is dropped."""
        if job.layer != BASE_LAYER:
            return
        try:
            plan = await self._plans.get(job.job)
        except PrismError as error:
            if error.code is ErrorCode.JOB_NOT_FOUND:
                return
            raise
        entries = entries_of(
            job,
            added=(plan.files[ordinal].path for ordinal in plan.added),
            changed=(plan.files[ordinal].path for ordinal in plan.changed),
            removed=plan.removed,
        )
        await self._changes.append(job.tenant, job.repo, entries)

    async def list(self, request: ChangesRequest) -> ChangesReply:
        """Returns a page of changes, the newest first. Raises REPO_NOT_FOUND, INVALID_CURSOR, UNAVAILABLE."""
        repository = await self._ledger.seen_by(request, request.repo)
        question = request.model_dump_json(include={"tenant", "path", "since"}) + repository.repo
        after = read_cursor(question, request.cursor, (int, int)) if request.cursor else (0, 0)
        found, following = await self._changes.page(request, repository.repo, (int(after[0]), int(after[1])))
        return ChangesReply(
            repo=repository.name,
            changes=tuple(found),
            next_cursor=write_cursor(question, *following) if following else "",
        )
