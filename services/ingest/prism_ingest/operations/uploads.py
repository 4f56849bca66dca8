"""Snapshots that clients upload: the file list first, then the needed contents.

In: file lists and packs. Out: a plan, and one event per file.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import FileEvent, FilesUploaded
from prism_contracts.records import UPLOAD, Job, JobState, LayerKind
from prism_contracts.rpc.imports import (
    AdmitUploadRequest,
    OpenSnapshotRequest,
    SnapshotFile,
)
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.adapters.pack_places import PackPlaces
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.adapters.slots import SlotLimits, Slots
from prism_ingest.core import files_lane, is_final, new_job
from prism_ingest.core.callers import check_may_import
from prism_ingest.core.contents import file_event
from prism_ingest.core.import_limits import ImportLimits, check_import
from prism_ingest.core.layers import check_served, layer_of, usual_ref
from prism_ingest.core.selection import EVERYTHING, Selection
from prism_ingest.operations.import_gate import ImportGate
from prism_ingest.operations.job_status import job_not_found
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import FileListing, Opened, Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.operations.pushed_branches import PushedBranches
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.gittree import is_ref_name, ref_not_found
from prism_source.pack import decode_pack
from prism_source.paths import path_problem

# Packs in this process per lane, most of which wait for their tenant's turn.
PACK_WORKERS = 64

log = logging.getLogger(__name__)


class Uploads:
    """Uploads of snapshots."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        plans: PlanStore,
        *,
        planner: Planner,
        pushed: PushedBranches,
        layers: LayerRegistry,
        cancelled: CancelledJobs,
        gates: Mapping[Lane, ImportGate],
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._plans = plans
        self._planner = planner
        self._pushed = pushed
        self._layers = layers
        self._cancelled = cancelled
        self._limits = settings.limits
        self._import_limits = ImportLimits(settings.import_files_max, settings.import_bytes_max)
        self._gates = gates
        self._places = PackPlaces()
        of_tenant = settings.ingest_workers
        self._unpacking = Slots(SlotLimits(total=PACK_WORKERS, of_tenant=of_tenant, of_server=of_tenant))

    async def open(self, request: OpenSnapshotRequest) -> Opened:
        """Begin or continue the job of a snapshot."""
        check_import(request.files, self._import_limits)
        _check_files(request.files)
        layer, selection = await self._layer(request)
        job = new_job(
            key=self._ledger.job_key,
            tenant=request.tenant,
            repo=await self._ledger.names.id_of(request.tenant, request.repo_name),
            repo_name=request.repo_name,
            layer=layer,
            lane=request.lane,
            snapshot=request.snapshot,
            state=JobState.INDEXING,
            now=_now(),
        ).model_copy(
            update={
                "commit": request.commit,
                "ref": request.ref if layer == BASE_LAYER else usual_ref(request.layer_ref),
                "dirty": request.dirty,
            }
        )
        await self._pushed.uploaded(request, job)
        listing = (
            FileListing(request.files, history=request.history)
            if layer == BASE_LAYER
            else FileListing(request.files, is_sent=True, selection=selection)
        )
        return await self._planner.open(job, Origin(request.source), listing)

    async def _layer(self, request: OpenSnapshotRequest) -> tuple[str, Selection]:
        """Returns the layer id of the snapshot and what to import of it, and creates the layer if necessary.

        Raises REPO_NOT_FOUND, and REF_NOT_FOUND if the repository has no base yet.
        """
        ref = usual_ref(request.layer_ref)
        if not ref:
            check_may_import(request, request.repo_name)
            return BASE_LAYER, EVERYTHING
        repository = await self._ledger.seen_by(request, request.repo_name)
        check_served(repository)
        id_ = layer_of(repository, ref)
        if id_ != BASE_LAYER:
            if not is_ref_name(ref):
                raise ref_not_found(request.layer_ref, ())
            await self._layers.keep(repository, LayerKind.BRANCH, ref, UPLOAD)
            await self._ledger.record_remote_head(
                request.tenant, repository.repo, id_, request.commit, _now()
            )
        return id_, Selection.of(repository) if id_ != BASE_LAYER else EVERYTHING

    async def admit(self, request: AdmitUploadRequest) -> Job:
        """Returns a job that the caller may see, once its tenant may send another pack.

        Raises JOB_NOT_FOUND, and RATE_LIMITED if too many packs wait.
        """
        job = await self._ledger.job_seen_by(request, request.job)
        if job is None:
            raise job_not_found(request.job)
        if not is_final(job):
            await self._places.admit(job.tenant)
        return job

    async def receive(self, event: FilesUploaded) -> None:
        """Publish events for the contents in a pack. Tenants do not wait for each other's packs."""
        async with self._places.held(event.tenant), self._unpacking.held(event.tenant, ""):
            await self._unpack(event)

    async def _unpack(self, event: FilesUploaded) -> None:
        job = await self._ledger.jobs.get(event.job)
        if job is None or job.tenant != event.tenant:
            # The gateway refuses these. With a dead letter for each, a tenant could fill that stream.
            log.warning(
                "dropped a pack of tenant %s for job %s, which it does not have", event.tenant, event.job
            )
            return
        if is_final(job):
            return
        files = (await self._plans.get(job.job)).files
        contents = decode_pack(event.data, self._limits)
        if any(ordinal >= len(files) for ordinal, _ in contents):
            raise PrismError(ErrorCode.MESSAGE_INVALID, "A pack contains a file that is not in its snapshot.")
        await publish_file_events(
            self._bus,
            (self._uploaded_event(job, ordinal, files[ordinal], data) for ordinal, data in contents),
            self._cancelled,
            gate=self._gates[files_lane(job)],
        )

    def _uploaded_event(self, job: Job, ordinal: int, file: SnapshotFile, data: bytes) -> FileEvent:
        # The client has the text and `.gitattributes`, so its flags are final.
        return file_event(job, ordinal, file, data, limits=self._limits, flags_of=lambda _: file.flags)


def _check_files(files: tuple[SnapshotFile, ...]) -> None:
    """Raise INVALID_PATH for a list with an invalid or repeated path."""
    seen: set[str] = set()
    for file in files:
        problem = "it occurs twice" if file.path in seen else path_problem(file.path)
        if problem:
            raise PrismError(
                ErrorCode.INVALID_PATH,
                f"The path {shown(file.path)!r} is not valid: {problem}.",
                "Omit the file, or give its path relative to the root of the repository.",
            )
        seen.add(file.path)


def _now() -> datetime:
    return datetime.now(UTC)
