"""All of ingest on a real nats-server over a real git repository, with a fake index that tests can inspect.

The index stores each event as the indexer would: the newest version of each file wins. Files are indexed at
once unless a test delays them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from prometheus_client import CollectorRegistry
from test_mirrors import Origin

from prism_catalog.tenants import PlanSettings
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.base import BASE_LAYER, Lane, file_id, layer_id, repo_id, variant_layer
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import (
    FileChanged,
    FileEvent,
    FileFailed,
    FileRemoved,
    FilesDropped,
    FileSkipped,
    FilesSettled,
    Outcome,
    PushReceived,
    RepoIndexed,
    SettledFile,
)
from prism_contracts.records import (
    CHUNKER_KEY,
    FAST_MODEL_KEY,
    Job,
    Layer,
    Limit,
    ModelVersion,
    Repository,
    layer_key,
    repository_key,
)
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import (
    COUNT_CHUNKS,
    MANIFEST,
    POINT_COUNTS,
    READ_FILE,
    CountChunksReply,
    CountChunksRequest,
    LayerPoints,
    ManifestEntry,
    ManifestReply,
    ManifestRequest,
    PointCountsReply,
    PointCountsRequest,
    ReadFileReply,
    ReadFileRequest,
)
from prism_contracts.rpc.imports import CloneRequest, JobRequest
from prism_contracts.rpc.repositories import (
    DROP_POINTS,
    DROP_TENANT,
    DropPointsReply,
    DropPointsRequest,
    DropTenantReply,
    DropTenantRequest,
)
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.variants import Variants
from prism_ingest.core import is_final
from prism_ingest.handlers.clones import CloneHandlers
from prism_ingest.handlers.commits import CommitHandlers
from prism_ingest.handlers.edits import EditHandlers
from prism_ingest.handlers.jobs import JobHandlers
from prism_ingest.handlers.layers import LayerHandlers
from prism_ingest.handlers.letters import LetterHandlers
from prism_ingest.handlers.overlays import OverlayHandlers
from prism_ingest.handlers.rebase import RebaseHandlers
from prism_ingest.handlers.removals import RemovalHandlers
from prism_ingest.handlers.repositories import RepositoryHandlers
from prism_ingest.handlers.snapshots import SnapshotHandlers
from prism_ingest.main import build, register
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import Planner
from prism_ingest.operations.poll import Poller
from prism_ingest.operations.rebase import Rebaser
from prism_ingest.operations.recovery import Recovery
from prism_ingest.operations.removals import Removals
from prism_ingest.operations.sweep import Sweeper
from prism_ingest.operations.tenant_removals import TenantRemovals
from prism_ingest.settings import IngestSettings
from prism_runtime import bus as bus_module
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket

TENANT, NAME = "t", "acme/app"
REPO = repo_id(NAME)
DEADLINE_S = 120
LEFT_WORK_S = 0.1
SWEEP_PAUSE_S = 300
NOWHERE = Receipt(
    repo=NAME, indexed_commit="", head_commit="", lag_seconds=0, indexed_at=None, corpus_version=0, files_indexed=0,
    files_skipped=0, files_failed=0,
)  # fmt: skip


class Held(NamedTuple):
    """The indexed state of a file."""

    layer: str
    path: str
    version: int
    status: str
    blob: str = ""
    text: str = ""
    place: tuple[str, str] = (TENANT, REPO)


class Index:
    """A stand-in for all services behind ingest."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.held: dict[str, Held] = {}
        self.written: list[str] = []  # paths, in the order of their events
        self.variants_at: Callable[[str], Awaitable[dict[str, str]]]  # by path, at a ref
        self.fails: set[str] = set()  # paths
        self.refuses: set[str] = set()  # paths whose messages become dead letters
        self.lost: set[str] = set()  # layers with a lost file
        self.more_chunks = 0  # added to every tenant's count of one chunk per indexed file
        self.may_index = asyncio.Event()
        self.may_index.set()

    def register(self) -> None:
        self.bus.consume(topics.FILE_CHANGED, self.on_changed, workers=8)
        self.bus.consume(topics.FILE_SKIPPED, self.on_skipped, workers=8)
        self.bus.consume(topics.FILE_REMOVED, self.on_removed, workers=8)
        self.bus.consume(topics.FILE_FAILED, self.on_failed, workers=8)
        self.bus.consume(topics.FILES_DROPPED, self.on_dropped, workers=1)
        self.bus.serve(MANIFEST, self.manifest, deadline_s=DEADLINE_S)
        self.bus.serve(POINT_COUNTS, self.point_counts, deadline_s=DEADLINE_S)
        self.bus.serve(COUNT_CHUNKS, self.count_chunks, deadline_s=DEADLINE_S)
        self.bus.serve(READ_FILE, self.read_file, deadline_s=DEADLINE_S)
        self.bus.serve(DROP_POINTS, self.drop_points)
        self.bus.serve(DROP_TENANT, self.drop_tenant)

    async def on_changed(self, event: FileChanged) -> None:
        await self.may_index.wait()
        if event.path in self.refuses:
            raise PrismError(ErrorCode.MESSAGE_INVALID, "The parser refuses it.")
        outcome = Outcome.FAILED if event.path in self.fails else Outcome.INDEXED
        await self._hold(event, outcome, blob=event.blob, text=event.text)

    async def on_skipped(self, event: FileSkipped) -> None:
        await self._hold(event, Outcome.SKIPPED, blob=event.blob)

    async def on_removed(self, event: FileRemoved) -> None:
        await self._hold(event, Outcome.REMOVED)

    async def on_failed(self, event: FileFailed) -> None:
        await self._hold(event, Outcome.FAILED, code=event.code, detail=event.detail)

    async def on_dropped(self, event: FilesDropped) -> None:
        for file in event.files:
            if file in self.held and self.held[file].version < event.below:
                del self.held[file]

    async def _hold(
        self, event: FileEvent, outcome: Outcome, blob: str = "", text: str = "", **reason: str
    ) -> None:
        file = file_id(event.tenant, event.repo, event.layer, event.path)
        if file not in self.held or self.held[file].version < event.version:
            self.held[file] = Held(
                event.layer, event.path, event.version, outcome.value, blob, text, (event.tenant, event.repo)
            )
        self.written.append(event.path)
        settled = SettledFile(path=event.path, ordinal=event.ordinal, outcome=outcome, **reason)
        settled_event = FilesSettled(tenant=event.tenant, job=event.job, files=(settled,))
        await self.bus.publish(settled_event, lane=event.lane)

    async def manifest(self, request: ManifestRequest) -> ManifestReply:
        def is_asked(file: str, held: Held) -> bool:
            if request.files:
                return file in request.files
            is_of_layer = (held.place, held.layer) == ((request.tenant, request.repo), request.layer)
            return is_of_layer and (not request.paths or held.path in request.paths)

        return ManifestReply(
            entries=tuple(
                ManifestEntry(
                    path=held.path, blob=held.blob, generation="", status=held.status, version=held.version, file=file
                )
                for file, held in self.held.items()
                if held.status != Outcome.REMOVED and is_asked(file, held)
            )
        )  # fmt: skip

    async def drop_points(self, request: DropPointsRequest) -> DropPointsReply:
        """Deletes a few at a time, as the indexer does."""
        found = [file for file, held in self.held.items() if held.place == (request.tenant, request.repo)]
        for file in found[:5]:
            del self.held[file]
        return DropPointsReply(is_done=not found)

    async def drop_tenant(self, request: DropTenantRequest) -> DropTenantReply:
        found = [file for file, held in self.held.items() if held.place[0] == request.tenant]
        for file in found:
            del self.held[file]
        return DropTenantReply(points=len(found))

    async def point_counts(self, request: PointCountsRequest) -> PointCountsReply:
        layers = tuple(
            LayerPoints(repo=request.repo, layer=one, points=0, files=0, lost=1) for one in sorted(self.lost)
        )
        return PointCountsReply(total=0, repositories={}, layers=layers)

    async def count_chunks(self, request: CountChunksRequest) -> CountChunksReply:
        """Counts a chunk per indexed file."""
        own = [held for held in self.held.values() if held.place[0] == request.tenant]
        indexed = sum(held.status == Outcome.INDEXED for held in own)
        return CountChunksReply(chunks=indexed + self.more_chunks)

    async def read_file(self, request: ReadFileRequest) -> ReadFileReply:
        """Reads a file of the base, or the variant that overrides it."""
        variants = await self.variants_at(request.ref) if request.ref else {}
        held = self.held.get(file_id(TENANT, REPO, variants.get(request.path, BASE_LAYER), request.path))
        if held is None or held.status != Outcome.INDEXED:
            raise PrismError(ErrorCode.FILE_NOT_FOUND, f"There is no {request.path}.")
        lines = held.text.count("\n")
        return ReadFileReply(
            repo=NAME, file_path=request.path, start_line=1, end_line=lines, line_count=lines, content=held.text,
            language="", blob=held.blob, receipt=NOWHERE,
        )  # fmt: skip


class EndedImports:
    """Queues the ends of imports, so that a test decides when layers follow."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[RepoIndexed] = asyncio.Queue()

    async def on_indexed(self, event: RepoIndexed) -> None:
        await self.queue.put(event)


class Town(NamedTuple):
    """The parts of ingest that tests of layers use."""

    bus: Bus
    origin: Origin
    index: Index
    ledger: Ledger
    variants: Variants
    clones: CloneHandlers
    jobs: JobHandlers
    snapshots: SnapshotHandlers
    edits: EditHandlers
    layers: LayerHandlers
    overlays: OverlayHandlers
    commits: CommitHandlers
    registry: LayerRegistry
    poller: Poller
    sweeper: Sweeper
    planner: Planner
    rebases: RebaseHandlers
    rebaser: Rebaser
    recovery: Recovery
    removals: Removals
    removing: RemovalHandlers
    ended_imports: asyncio.Queue[RepoIndexed]  # receives the imports if `rebases` does not
    repositories: RepositoryHandlers
    letters: LetterHandlers
    tenant_removals: TenantRemovals

    async def repository(self) -> Repository:
        found = await self.ledger.repositories.get(repository_key(TENANT, REPO))
        assert found is not None
        return found

    async def layer(self, ref: str) -> Layer | None:
        return await self.ledger.layers.get(layer_key(TENANT, REPO, layer_id(ref)))

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits until an awaitable condition holds."""
        async with asyncio.timeout(DEADLINE_S):
            while not await condition():
                await asyncio.sleep(0.01)

    async def index_base(self) -> None:
        await self.clones.clone(CloneRequest(tenant=TENANT, url=self.origin.url, repo_name=NAME))
        await self.serves_base(self.origin.git("rev-parse", "main"))
        await self.until(self._has_followed)

    async def _has_followed(self) -> bool:
        """Whether ingest has handled the end of the first import. Later, it would fetch a layer made meanwhile again."""
        handled = 0
        for lane in Lane:
            durable = topics.REPO_INDEXED.durable(self.bus.service, lane)
            consumer = await self.bus.js.consumer_info(topics.REPO_INDEXED.stream.name, durable)
            handled += consumer.ack_floor.consumer_seq
        return handled > 0

    async def serves_base(self, commit: str) -> None:
        async def serves() -> bool:
            found = await self.ledger.repositories.get(repository_key(TENANT, REPO))
            return found is not None and found.served is not None and found.served.commit == commit

        await self.until(serves)

    async def push(self, branch: str, delivery: str = "", **more) -> None:
        """Announces a push to a branch, as a webhook does."""
        event = PushReceived(
            tenant=TENANT, repo=REPO, branch=branch, default_branch="main", delivery=delivery or f"{branch}{datetime.now(UTC)}",
            received_at=datetime.now(UTC), **more,
        )  # fmt: skip
        await self.bus.publish(event)

    async def serves(self, ref: str, commit: str) -> None:
        """Waits until a layer serves a commit over the served base."""

        async def is_there() -> bool:
            layer, base = await self.layer(ref), (await self.repository()).served
            return bool(
                layer and layer.served and layer.served.commit == commit and base and layer.base_version == base.version
            )  # fmt: skip

        await self.until(is_there)

    async def ended(self, job: Job) -> Job:
        """Waits until a job is final; returns it."""
        found = job

        async def is_over() -> bool:
            nonlocal found
            found = (await self.jobs.job(JobRequest(tenant=TENANT, job=job.job))).job
            return is_final(found)

        await self.until(is_over)
        return found

    async def shown(self, ref: str) -> dict[str, str]:
        """Returns the visible files of a layer: blob by path. Fails if the index lacks a variant."""
        files = None
        async with asyncio.timeout(DEADLINE_S):
            while files is None:  # the layer may get a newer list between the two reads
                layer = await self.layer(ref)
                assert layer is not None
                files = await self.variants.lists.get(layer.files)
        assert (layer.files_changed, layer.files_hidden) == (len(files.variants), len(files.hidden))
        own = {
            path: self.index.held[file_id(TENANT, REPO, variant, path)].blob
            for path, variant in files.variants.items()
        }
        return {**{path: blob for path, blob in self.base().items() if path not in files.hidden}, **own}

    def base(self, repo: str = REPO) -> dict[str, str]:
        return {
            held.path: held.blob
            for held in self.index.held.values()
            if (held.place, held.layer) == ((TENANT, repo), BASE_LAYER) and held.status != Outcome.REMOVED
        }

    def tree(self, ref: str) -> dict[str, str]:
        """Returns the files of a checkout of a ref: blob by path."""
        lines = self.origin.git("ls-tree", "-r", ref).splitlines()
        return {line.partition("\t")[2]: line.split()[2] for line in lines}

    def commit(self, files: dict[str, str | None]) -> str:
        """Commits files on the checked-out branch; None deletes one."""
        for path, text in files.items():
            file = self.origin.folder / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.origin.git("add", "--all")
        self.origin.git("commit", "--quiet", "--allow-empty", "--message", "Go on")
        return self.origin.git("rev-parse", "HEAD")

    def branch(self, name: str, files: dict[str, str | None], start: str = "main") -> str:
        """Creates a branch with one commit; main is checked out afterwards."""
        self.origin.git("checkout", "--quiet", "-B", name, start)
        commit = self.commit(files)
        self.origin.git("checkout", "--quiet", "main")
        return commit

    async def variants_at(self, ref: str) -> dict[str, str]:
        layer = await self.layer(ref)
        files = await self.variants.lists.get(layer.files) if layer else None
        return files.variants if files else {}

    async def variants_held(self) -> set[str]:
        return {held.layer for held in self.index.held.values() if held.layer != BASE_LAYER}

    async def variant(self, path: str, blob: str) -> str:
        return variant_layer(path, blob, await self.planner.basis())


@asynccontextmanager
async def town(
    nats_server,
    folder: Path,
    *,
    rebases_layers: bool = True,
    plan: Mapping[Limit, int] | None = None,
    **settings,
) -> AsyncIterator[Town]:
    """Ingest with an indexed repository of six files. With `rebases_layers=False` only the tests receive
    ended imports. `plan` limits every tenant.
    """
    config = IngestSettings(
        nats_url=nats_server.url,
        clone_schemes="file",
        cache_dir=str(folder / "cache"),
        sweep_pause_s=SWEEP_PAUSE_S,
        **settings,
    )
    bus, behind = Bus("ingest", config), Bus("index", config)
    index = Index(behind)
    index.register()
    await behind.start()
    await bus.connect()
    model_versions = Records(await open_bucket(bus.js, names.KV_MODEL_VERSIONS), ModelVersion)
    for key in (CHUNKER_KEY, FAST_MODEL_KEY):
        await model_versions.put(key, ModelVersion(version="1"))
    plans = PlanSettings(plans={"tested": dict(plan or {})}, plan_default="tested")
    app = await build(bus, config, Vault(VaultSettings()), CollectorRegistry(), plan_settings=plans)
    imports = EndedImports()
    register(bus, app if rebases_layers else replace(app, rebases=imports))
    await bus.start()
    origin = Origin(folder / "origin" / "app")
    made = Town(
        bus, origin, index, app.ledger, app.variants, app.clones, app.jobs, app.snapshots, app.edits, app.layers, app.overlays,
        app.commits, app.registry, app.poller, app.sweeper, app.planner, app.rebases, app.rebaser, app.recovery,
        app.removals, app.removing, imports.queue, app.repositories, app.letters, app.tenant_removals,
    )  # fmt: skip
    index.variants_at = made.variants_at
    made.commit({f"{name}.py": f"{name} = 1\n" for name in "abcdef"})
    await made.index_base()
    yield made
    with pytest.MonkeyPatch.context() as patch:
        # Nobody needs the work that a test left: a stopping bus would finish it first.
        patch.setattr(bus_module, "FINISH_S", LEFT_WORK_S)
        patch.setattr(bus_module, "CUT_SHORT_S", LEFT_WORK_S)
        await bus.stop()
        await behind.stop()
