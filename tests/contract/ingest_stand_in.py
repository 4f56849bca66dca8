"""A stand-in for ingest that remembers what it would index, for tests of workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from nats.js.kv import KeyValue
from workspace_stack import DOCUMENTS, TENANT

from prism_contracts import names
from prism_contracts.base import Lane, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, Job, JobState, LayerState, Repository
from prism_contracts.rpc.imports import (
    EDIT,
    JOB,
    OPEN_SNAPSHOT,
    EditRequest,
    JobReply,
    JobRequest,
    OpenSnapshotReply,
    OpenSnapshotRequest,
)
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings

REPOSITORY = Repository(
    tenant=TENANT, repo=repo_id(DOCUMENTS), name=DOCUMENTS, source=UPLOAD, created_at=datetime.now(UTC)
)


class FakeIngest:
    """Answers as ingest does, and remembers what it would index."""

    def __init__(self, bucket: KeyValue) -> None:
        self._repositories = Records(bucket, Repository)
        self.files: dict[str, bytes] = {}
        self.commits: list[str] = []
        self.sent: list[set[str]] = []  # the paths of each import
        self.is_registered = False
        self.refusals: list[ErrorCode] = []
        self.ends: list[JobState] = []

    async def remove(self) -> None:
        """Remove the repository, as its owner may do at any time."""
        self.files, self.is_registered = {}, False
        await self._repositories.delete(REPOSITORY.key)

    async def forget_record(self) -> None:
        """Keep the repository, and have no record of its name."""
        await self._repositories.delete(REPOSITORY.key)

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        assert (request.repo_name, request.files) == (DOCUMENTS, ())
        self.is_registered = True
        await self._repositories.put(REPOSITORY.key, REPOSITORY)
        return OpenSnapshotReply(job=self._job(JobState.COMPLETE), needed=())

    async def edit(self, request: EditRequest) -> JobReply:
        if self.refusals:
            raise PrismError(self.refusals.pop(), "not now", "later")
        if not self.is_registered:
            raise PrismError(ErrorCode.REPO_NOT_FOUND, "none", "index it")
        state = self.ends.pop() if self.ends else JobState.COMPLETE
        if state is JobState.COMPLETE:
            self.files |= {file.path: file.content for file in request.files}
            self.commits.append(request.commit)
            self.sent.append({file.path for file in request.files})
            await self._repositories.change(REPOSITORY.key, lambda found: _serving(found, request.commit))
        return JobReply(job=self._job(state))

    async def job(self, request: JobRequest) -> JobReply:
        return JobReply(job=self._job(JobState.COMPLETE))

    def _job(self, state: JobState) -> Job:
        now = datetime.now(UTC)
        return Job(
            job="j", tenant=TENANT, repo="r", repo_name=DOCUMENTS, lane=Lane.LIVE, state=state, created_at=now, updated_at=now
        )  # fmt: skip


def _serving(found: Repository, commit: str) -> Repository:
    version = found.served.version + 1 if found.served else 1
    known = found.served.commit if found.served else ""
    served = LayerState(
        commit=commit or known, dirty=not commit, version=version, job="j", indexed_at=datetime.now(UTC)
    )
    return found.model_copy(update={"served": served})


@asynccontextmanager
async def serving(nats_url: str) -> AsyncIterator[FakeIngest]:
    """Serve the stand-in on a NATS server."""
    bus = Bus("ingest", ServiceSettings(nats_url=nats_url))
    await bus.connect()
    fake = FakeIngest(await open_bucket(bus.js, names.KV_REPOSITORIES))
    bus.serve(OPEN_SNAPSHOT, fake.open_snapshot)
    bus.serve(EDIT, fake.edit)
    bus.serve(JOB, fake.job)
    await bus.start()
    yield fake
    await bus.stop()
