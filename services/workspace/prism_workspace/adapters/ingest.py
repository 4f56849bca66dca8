"""The imports that keep the index equal to the documents."""

import asyncio
from collections.abc import Mapping

from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import FINAL_STATES, NO_TREE, Job, Repository
from prism_contracts.rpc.imports import (
    EDIT,
    JOB,
    OPEN_SNAPSHOT,
    EditRequest,
    FileEdit,
    JobRequest,
    OpenSnapshotRequest,
)
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords

TIMEOUT_S = 20.0
LOOK_S = 0.05
# A job that takes longer goes on; the next round sends the same files, and finds it.
JOB_S_MAX = 60.0


class DocumentImports:
    """Imports into the repositories of documents."""

    def __init__(self, bus: Bus, repo: str, repositories: WatchedRecords[Repository]) -> None:
        """`repo`: the name of these repositories. `repositories` has those of all tenants, whatever their names."""
        self._bus = bus
        self._repo = repo
        self._repositories = repositories

    def tenants(self) -> set[str]:
        """Returns the tenants that are known to have a repository of documents."""
        return {one.tenant for one in self._repositories.values() if one.name == self._repo}

    async def is_named(self, tenant: str, commit: str) -> bool:
        """Whether the answers of a tenant's repository name a commit. True if there is none to name it.

        Raises UNAVAILABLE if NATS does not answer.
        """
        await self._repositories.require_current("repositories")
        served = [
            one.served
            for one in self._repositories.values()
            if (one.tenant, one.name) == (tenant, self._repo)
        ]
        return all(state is not None and not state.dirty and state.commit == commit for state in served)

    async def register(self, tenant: str) -> None:
        """Create the repository, without files. Does nothing if it exists."""
        request = OpenSnapshotRequest(
            tenant=tenant,
            repo_name=self._repo,
            snapshot="documents",
            commit=NO_TREE,
            lane=Lane.LIVE,
            files=(),
        )
        reply = await self._bus.ask(OPEN_SNAPSHOT, request, timeout_s=TIMEOUT_S)
        await self._ended(tenant, reply.job)

    async def replace(self, tenant: str, files: Mapping[str, bytes | None], commit: str) -> Job:
        """Index these files, by path; None is deleted. `commit` is the commit that all indexed files are of; empty: of none.

        Returns the ended job. Raises what ingest raises: REPO_NOT_FOUND and REF_NOT_FOUND before `register`,
        SNAPSHOT_CONFLICT while another import runs.
        """
        request = EditRequest(
            tenant=tenant,
            repo_name=self._repo,
            commit=commit,
            files=tuple(FileEdit(path=path, content=body) for path, body in files.items()),
        )
        reply = await self._bus.ask(EDIT, request, timeout_s=TIMEOUT_S)
        return await self._ended(tenant, reply.job)

    async def _ended(self, tenant: str, job: Job) -> Job:
        try:
            async with asyncio.timeout(JOB_S_MAX):
                while job.state not in FINAL_STATES:
                    await asyncio.sleep(LOOK_S)
                    request = JobRequest(tenant=tenant, job=job.job)
                    job = (await self._bus.ask(JOB, request, timeout_s=TIMEOUT_S)).job
        except TimeoutError as error:
            raise PrismError(
                ErrorCode.DEADLINE_EXCEEDED,
                f"The import {job.job} of documents has not ended yet.",
                "Wait: it goes on.",
            ) from error
        return job
