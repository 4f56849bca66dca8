"""A snapshot arrives by upload: its file list first, then the contents that are wanted."""

from datetime import UTC, datetime

from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileEvent, FilesUploaded
from prism_contracts.records import Job, JobState
from prism_contracts.rpc import OpenSnapshotReply, OpenSnapshotRequest, SnapshotFile
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.snapshots import SnapshotStore
from prism_ingest.core import is_final, new_job
from prism_ingest.core.contents import file_event
from prism_ingest.handlers.planning import Listing, Planner
from prism_ingest.handlers.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.limits import FILES_MAX, Limits
from prism_source.pack import decode_pack
from prism_source.paths import path_problem


class SnapshotHandlers:
    """Begins jobs and takes their contents in."""

    def __init__(
        self, bus: Bus, ledger: Ledger, snapshots: SnapshotStore, planner: Planner, settings: IngestSettings
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._snapshots = snapshots
        self._planner = planner
        self._limits = Limits(file_bytes_max=settings.file_bytes_max)

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        """Begin a job for a snapshot, or go on with it; says which contents are wanted."""
        _check_files(request.files)
        job = new_job(
            tenant=request.tenant,
            repo_name=request.repo_name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=request.snapshot,
            state=JobState.INDEXING,
            now=_now(),
        ).model_copy(update={"commit": request.commit, "ref": request.ref, "dirty": request.dirty})
        opened = await self._planner.open(
            job, Origin(request.source), Listing(request.files, history=request.history)
        )
        return OpenSnapshotReply(
            job=opened.job.model_copy(update={"settled": b""}), needed=tuple(opened.wanted)
        )

    async def on_uploaded(self, event: FilesUploaded) -> None:
        """Contents of a job's files came."""
        job = await self._ledger.jobs.get(event.job)
        if job is None or job.tenant != event.tenant:
            raise PrismError(ErrorCode.MESSAGE_INVALID, f"A pack came for an unknown job {event.job}.")
        if is_final(job):
            return
        files = (await self._snapshots.get(job.job)).files
        contents = decode_pack(event.data, self._limits)
        if any(ordinal >= len(files) for ordinal, _ in contents):
            raise PrismError(
                ErrorCode.MESSAGE_INVALID, "A pack names a file that its snapshot does not have."
            )
        await publish_file_events(
            self._bus,
            (self._uploaded_event(job, ordinal, files[ordinal], data) for ordinal, data in contents),
        )

    def _uploaded_event(self, job: Job, ordinal: int, file: SnapshotFile, data: bytes) -> FileEvent:
        # The client has seen the text and the attributes: its flags are final.
        return file_event(job, ordinal, file, data, limits=self._limits, flags_of=lambda _: file.flags)


def _check_files(files: tuple[SnapshotFile, ...]) -> None:
    """Refuse a file list that no honest client sends."""
    if len(files) > FILES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"{len(files)} files are more than the {FILES_MAX} of one snapshot.",
            "Index folders of the repository on their own.",
        )
    seen: set[str] = set()
    for file in files:
        problem = "it occurs twice" if file.path in seen else path_problem(file.path)
        if problem:
            raise PrismError(ErrorCode.INVALID_PATH, f"The path {file.path[:200]!r} is refused: {problem}.")
        seen.add(file.path)


def _now() -> datetime:
    return datetime.now(UTC)
