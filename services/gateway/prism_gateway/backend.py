"""Everything that the gateway asks of other services, as typed calls over NATS. Raises PrismError, nothing else."""

import asyncio
from typing import IO, Protocol, TypeVar, cast

from prism_contracts import names, rpc
from prism_contracts.base import Lane, Message
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FilesUploaded
from prism_gateway.settings import GatewaySettings
from prism_gateway.turns import TurnLimits, Turns, Waiters
from prism_runtime.bus import Bus
from prism_runtime.rpc import call

Answer = TypeVar("Answer", bound=Message)


class Backend:
    """The services behind the gateway."""

    def __init__(self, bus: Bus, settings: GatewaySettings) -> None:
        self._bus = bus
        self._settings = settings
        limits = TurnLimits(
            total=settings.questions_max,
            of_tenant_shared=settings.questions_of_tenant_shared,
            queued_of_tenant=settings.questions_queued_max,
            queue_s=settings.rpc_timeout_s,
        )
        self._turns = Turns(limits)
        # So costly that many of them would take the time of all other questions.
        self._edit_turns = Turns(limits._replace(total=settings.edit_contexts_max, of_tenant_shared=1))
        self._waiters = Waiters(settings.waiters_of_tenant_max)

    async def search(self, request: rpc.SearchRequest) -> rpc.SearchReply:
        """Hits for a question."""
        return await self._ask(names.RPC_SEARCH, request, rpc.SearchReply)

    async def grep(self, request: rpc.GrepRequest) -> rpc.GrepReply:
        """Matching lines."""
        return await self._ask(names.RPC_GREP, request, rpc.GrepReply)

    async def read_file(self, request: rpc.ReadFileRequest) -> rpc.ReadFileReply:
        """Lines of a file."""
        return await self._ask(names.RPC_READ_FILE, request, rpc.ReadFileReply)

    async def list_files(self, request: rpc.ListFilesRequest) -> rpc.ListFilesReply:
        """Files by glob."""
        return await self._ask(names.RPC_LIST_FILES, request, rpc.ListFilesReply)

    async def outline(self, request: rpc.OutlineRequest) -> rpc.OutlineReply:
        """Symbols of a file."""
        return await self._ask(names.RPC_OUTLINE, request, rpc.OutlineReply)

    async def definitions(self, request: rpc.DefinitionsRequest) -> rpc.DefinitionsReply:
        """Where symbols are defined."""
        return await self._ask(names.RPC_DEFINITIONS, request, rpc.DefinitionsReply)

    async def references(self, request: rpc.ReferencesRequest) -> rpc.ReferencesReply:
        """Who uses symbols."""
        return await self._ask(names.RPC_REFERENCES, request, rpc.ReferencesReply)

    async def call_hierarchy(self, request: rpc.CallHierarchyRequest) -> rpc.CallHierarchyReply:
        """Who calls a symbol, or what it calls."""
        return await self._ask(names.RPC_CALL_HIERARCHY, request, rpc.CallHierarchyReply)

    async def type_hierarchy(self, request: rpc.TypeHierarchyRequest) -> rpc.TypeHierarchyReply:
        """What is above and below a type."""
        return await self._ask(names.RPC_TYPE_HIERARCHY, request, rpc.TypeHierarchyReply)

    async def dependencies(self, request: rpc.DependenciesRequest) -> rpc.DependenciesReply:
        """What files use, and what uses them."""
        return await self._ask(names.RPC_DEPENDENCIES, request, rpc.DependenciesReply)

    async def find_path(self, request: rpc.FindPathRequest) -> rpc.FindPathReply:
        """How one symbol comes to another."""
        return await self._ask(names.RPC_FIND_PATH, request, rpc.FindPathReply)

    async def impact(self, request: rpc.ImpactRequest) -> rpc.ImpactReply:
        """What hangs on a change."""
        return await self._ask(names.RPC_IMPACT, request, rpc.ImpactReply)

    async def module_map(self, request: rpc.ModuleMapRequest) -> rpc.ModuleMapReply:
        """Files by how much hangs on them."""
        return await self._ask(names.RPC_MODULE_MAP, request, rpc.ModuleMapReply)

    async def architecture(self, request: rpc.ArchitectureRequest) -> rpc.ArchitectureReply:
        """The components of a repository, or one of them."""
        return await self._ask(names.RPC_ARCHITECTURE, request, rpc.ArchitectureReply)

    async def edit_context(self, request: rpc.EditContextRequest) -> rpc.EditContextReply:
        """What to know before an edit."""
        async with self._edit_turns.turn(request.tenant):
            return await self._ask(names.RPC_EDIT_CONTEXT, request, rpc.EditContextReply)

    async def existing(self, request: rpc.ExistingRequest) -> rpc.ExistingReply:
        """What there is already for an intent."""
        return await self._ask(names.RPC_EXISTING, request, rpc.ExistingReply)

    async def conventions(self, request: rpc.ConventionsRequest) -> rpc.ConventionsReply:
        """How code is written in a repository."""
        return await self._ask(names.RPC_CONVENTIONS, request, rpc.ConventionsReply)

    async def repo_context(self, request: rpc.RepoContextRequest) -> rpc.RepoContextReply:
        """What a repository says of itself."""
        return await self._ask(names.RPC_REPO_CONTEXT, request, rpc.RepoContextReply)

    async def coverage(self, request: rpc.CoverageRequest) -> rpc.CoverageReply:
        """What of a repository is searchable."""
        return await self._ask(names.RPC_COVERAGE, request, rpc.CoverageReply)

    async def receipt(self, request: rpc.ReceiptRequest) -> rpc.Receipt:
        """How fresh and how complete answers are now."""
        return await self._ask(names.RPC_RECEIPT, request, rpc.Receipt)

    async def point_counts(self, tenant: str) -> rpc.PointCountsReply:
        """Points of a tenant."""
        return await self._ask(
            names.RPC_POINT_COUNTS, rpc.PointCountsRequest(tenant=tenant), rpc.PointCountsReply
        )

    async def clone(self, request: rpc.CloneRequest) -> rpc.JobReply:
        """Start to index a git URL."""
        self._bus.room.check()
        return await self._ask(names.RPC_CLONE, request, rpc.JobReply)

    async def job(self, tenant: str, *, job: str = "", repo: str = "") -> rpc.JobReply:
        """A job, or the newest job of a repository."""
        return await self._ask(names.RPC_JOB, rpc.JobRequest(tenant=tenant, job=job, repo=repo), rpc.JobReply)

    async def jobs(self, tenant: str, limit: int) -> rpc.JobsReply:
        """The newest jobs of a tenant, and its repositories."""
        return await self._ask(names.RPC_JOBS, rpc.JobsRequest(tenant=tenant, limit=limit), rpc.JobsReply)

    async def open_snapshot(self, request: rpc.OpenSnapshotRequest) -> rpc.OpenSnapshotReply:
        """Begin to bring a repository to a set of files."""
        self._bus.room.check()
        return await call(
            self._bus,
            names.RPC_OPEN_SNAPSHOT,
            request,
            rpc.OpenSnapshotReply,
            timeout_s=self._settings.rpc_snapshot_timeout_s,
        )

    async def store_scip(self, request: rpc.StoreScipRequest, file: IO[bytes]) -> rpc.StoreScipReply:
        """Hand a SCIP index to ingest; the reply says what was taken from it."""
        self._bus.room.check()
        name = await self._bus.codec.store_file(file)
        return await call(
            self._bus,
            names.RPC_STORE_SCIP,
            request.model_copy(update={"object": name}),
            rpc.StoreScipReply,
            timeout_s=self._settings.rpc_scip_timeout_s,
        )

    async def edit(self, request: rpc.EditRequest) -> rpc.JobReply:
        """Change some files of a repository."""
        self._bus.room.check()
        return await call(
            self._bus,
            names.RPC_EDIT,
            request,
            rpc.JobReply,
            timeout_s=self._settings.rpc_snapshot_timeout_s,
        )

    async def create_layer(self, request: rpc.CreateLayerRequest) -> rpc.LayerReply:
        """Make a layer of a branch, a tag, a commit or a pull request."""
        self._bus.room.check()
        return await self._ask_slowly(names.RPC_CREATE_LAYER, request)

    async def delete_layer(self, request: rpc.DeleteLayerRequest) -> rpc.LayerReply:
        """Forget a layer."""
        return await self._ask(names.RPC_DELETE_LAYER, request, rpc.LayerReply)

    async def open_overlay(self, request: rpc.OpenOverlayRequest) -> rpc.LayerReply:
        """Lay uncommitted edits on a layer."""
        self._bus.room.check()
        return await self._ask_slowly(names.RPC_OPEN_OVERLAY, request)

    async def close_overlay(self, request: rpc.CloseOverlayRequest) -> rpc.LayerReply:
        """Forget an overlay."""
        return await self._ask(names.RPC_CLOSE_OVERLAY, request, rpc.LayerReply)

    async def _ask_slowly(self, subject: str, request: Message) -> rpc.LayerReply:
        """What asks a git server, or takes many files in."""
        timeout_s = self._settings.rpc_snapshot_timeout_s
        return await call(self._bus, subject, request, rpc.LayerReply, timeout_s=timeout_s)

    async def admit_upload(self, tenant: str, job: str) -> rpc.AdmitUploadReply:
        """Whether a job of the tenant needs contents. Raises JOB_NOT_FOUND."""
        self._bus.room.check()
        request = rpc.AdmitUploadRequest(tenant=tenant, job=job)
        return await call(
            self._bus,
            names.RPC_ADMIT_UPLOAD,
            request,
            rpc.AdmitUploadReply,
            timeout_s=self._settings.rpc_timeout_s,
        )

    async def store_pack(self, pack: FilesUploaded, lane: Lane) -> None:
        """Hand a pack of file contents to ingest; return when it is stored."""
        try:
            async with asyncio.timeout(self._settings.publish_timeout_s):
                await self._bus.publish(names.FILES_UPLOADED, lane, pack, pack.message_id)
        except TimeoutError as error:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                "The bus takes no more uploads now.",
                "Send the same pack again in a few seconds; a pack sent twice counts once.",
            ) from error

    async def _ask(self, subject: str, request: Message, answer: type[Answer]) -> Answer:
        if isinstance(request, rpc.ScopedRequest) and request.wait_for_commit:
            await self._wait_for_commit(request)
        async with self._turns.turn(cast("_OfTenant", request).tenant):
            return await call(self._bus, subject, request, answer, timeout_s=self._settings.rpc_timeout_s)

    async def _wait_for_commit(self, request: rpc.ScopedRequest) -> None:
        """Wait until the commit is served: the question itself is asked after that, and does not wait."""
        waiting = rpc.ReceiptRequest(
            tenant=request.tenant,
            repo=request.repo,
            ref=request.ref,
            wait_for_commit=request.wait_for_commit,
        )
        async with self._waiters.place(request.tenant):
            await call(
                self._bus,
                names.RPC_RECEIPT,
                waiting,
                rpc.Receipt,
                timeout_s=self._settings.rpc_timeout_s,
            )


class _OfTenant(Protocol):
    tenant: str
