"""Ingest as a process: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_catalog.histories import HistoryStore
from prism_catalog.shared_buckets import create_shared_buckets
from prism_catalog.tenants import PlanSettings, Tenants
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.records import CancelledJob, Job, Layer, Repository, Token
from prism_contracts.rpc.changes import CHANGES
from prism_contracts.rpc.dead_letters import DROP_LETTER, RETRY_LETTER
from prism_contracts.rpc.imports import (
    ADMIT_UPLOAD,
    CANCEL_JOB,
    CLONE,
    COMMIT_FILE,
    COMMIT_FILES,
    EDIT,
    JOB,
    JOBS,
    LIST_SCIP,
    OPEN_SNAPSHOT,
    REMOVE_SCIP,
    STORE_SCIP,
)
from prism_contracts.rpc.layers import (
    CLOSE_OVERLAY,
    CREATE_LAYER,
    DELETE_LAYER,
    OPEN_OVERLAY,
)
from prism_contracts.rpc.repositories import (
    CLEAR_CACHE,
    REGISTER,
    REINDEX,
    REMOVE_REPOSITORY,
    REPOSITORY_STATUS,
    UPDATE_REPOSITORY,
)
from prism_ingest.adapters.change_log import ChangeLog
from prism_ingest.adapters.file_window import IMPORTS, SMALL_IMPORTS, FileWindow
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.leftovers import Leftovers
from prism_ingest.adapters.letter_box import LetterBox
from prism_ingest.adapters.metrics import (
    DeadLetterMetrics,
    GitMetrics,
    JobMetrics,
    LayerMetrics,
    LeaseMetrics,
    PollMetrics,
    PushMetrics,
    QueueMetrics,
)
from prism_ingest.adapters.mirrors import Mirrors
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.adapters.quotas import Quotas
from prism_ingest.adapters.scip import ScipMetrics, ScipStore
from prism_ingest.adapters.variants import Variants
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
from prism_ingest.handlers.scip import ScipHandlers
from prism_ingest.handlers.snapshots import SnapshotHandlers
from prism_ingest.operations.branch_layers import BranchLayers
from prism_ingest.operations.cancelling import Cancelling
from prism_ingest.operations.commit_reader import CommitReader
from prism_ingest.operations.edits import Edits
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.fetching import Fetcher
from prism_ingest.operations.import_gate import ChunkQuota, ImportGate
from prism_ingest.operations.index_changes import IndexChanges
from prism_ingest.operations.job_status import JobStatus
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.letters import Letters
from prism_ingest.operations.overlays import Overlays
from prism_ingest.operations.planning import Planner
from prism_ingest.operations.poll import Poller
from prism_ingest.operations.pushed_branches import PushedBranches
from prism_ingest.operations.pushes import Pushes
from prism_ingest.operations.queue_watch import QueueWatch
from prism_ingest.operations.rebase import Rebaser
from prism_ingest.operations.recovery import Recovery
from prism_ingest.operations.registrations import Registrations
from prism_ingest.operations.removals import Removals
from prism_ingest.operations.renames import Renames
from prism_ingest.operations.repository_status import RepositoryStatus
from prism_ingest.operations.scip_imports import ScipImports
from prism_ingest.operations.sweep import Sweeper
from prism_ingest.operations.tenant_removals import TenantRemovals
from prism_ingest.operations.uploads import PACK_WORKERS, Uploads
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim_regularly
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled

SERVICE = "ingest"
SETTLED_WORKERS = 16
# Per lane. Most wait for a slot of their tenant: see adapters/mirrors.py.
CLONE_WORKERS = 64
PUSHES_AT_ONCE = 16
# Two for one repository would do the same work twice.
REBASES_AT_ONCE = 1


@dataclass(frozen=True)
class IngestApp:
    """The parts of ingest that something outside calls: handlers, the tasks of rounds, and the stores."""

    ledger: Ledger
    histories: HistoryStore
    variants: Variants
    scip_store: ScipStore
    mirrors: Mirrors
    registry: LayerRegistry
    planner: Planner
    rebaser: Rebaser
    recovery: Recovery
    poller: Poller
    sweeper: Sweeper
    removals: Removals
    tenant_removals: TenantRemovals
    watch: QueueWatch
    snapshots: SnapshotHandlers
    clones: CloneHandlers
    edits: EditHandlers
    jobs: JobHandlers
    letters: LetterHandlers
    layers: LayerHandlers
    overlays: OverlayHandlers
    rebases: RebaseHandlers
    commits: CommitHandlers
    scip: ScipHandlers
    repositories: RepositoryHandlers
    removing: RemovalHandlers


async def build(
    bus: Bus,
    settings: IngestSettings,
    vault: Vault,
    metrics: CollectorRegistry = REGISTRY,
    *,
    plan_settings: PlanSettings | None = None,
) -> IngestApp:
    """Assemble ingest on a connected bus. Nothing runs until `register` and `Bus.start`."""
    replicas = settings.nats_replicas
    await vault.open(bus.js, replicas=replicas)
    await create_shared_buckets(bus, settings, replicas=replicas)
    mirrors = Mirrors(settings, vault, GitMetrics(metrics))
    tenants = Tenants(plan_settings or PlanSettings())
    await tenants.open(bus, replicas=replicas)
    watched_layers = await bus.follow(names.KV_LAYERS, Layer)
    watched_repositories = await bus.follow(names.KV_REPOSITORIES, Repository)
    jobs = Records(
        await open_bucket(bus.js, names.KV_JOBS, ttl_s=names.JOBS_MAX_AGE_S, replicas=replicas), Job
    )
    quotas = Quotas(tenants, watched_repositories, watched_layers, jobs, idle_s=settings.job_idle_s)
    ledger = await Ledger.open(bus.js, replicas, quotas)
    plans = await PlanStore.open(bus.js, replicas)
    histories = await HistoryStore.open(bus.js, replicas)
    variants = await Variants.open(bus, replicas)
    scip_store = await ScipStore.open(bus, replicas)
    changes = IndexChanges(ledger, plans, await ChangeLog.open(bus, replicas=replicas))
    tracker = JobTracker(bus, ledger, plans, variants.lists, changes=changes, metrics=PushMetrics(metrics))
    windows = {
        Lane.LIVE: FileWindow(ledger.jobs.get, SMALL_IMPORTS),
        Lane.BULK: FileWindow(ledger.jobs.get, IMPORTS),
    }
    chunks = ChunkQuota(bus, tenants, windows.values())
    gates = {lane: ImportGate(window, chunks) for lane, window in windows.items()}
    cancelled_jobs = await CancelledJobs.open(bus)
    cancellations = Records(await open_bucket(bus.js, names.KV_CANCELLED_JOBS), CancelledJob)
    cancelling = Cancelling(ledger, cancellations, tracker)
    registry = LayerRegistry(ledger, watched_layers, tracker, settings)
    planner = Planner(
        bus,
        ledger,
        plans=plans,
        variants=variants,
        histories=histories,
        tracker=tracker,
        cancelled=cancelled_jobs,
        settings=settings,
    )
    fetch_jobs = FetchJobs(bus, ledger, mirrors, settings)
    pushed = PushedBranches(bus, ledger)
    pushes = Pushes(ledger, mirrors, layers=registry, fetch_jobs=fetch_jobs, pushed=pushed, settings=settings)
    fetcher = Fetcher(
        bus,
        ledger,
        mirrors,
        quotas=quotas,
        planner=planner,
        pushed=pushed,
        layers=registry,
        tracker=tracker,
        cancelled=cancelled_jobs,
        gates=gates,
        settings=settings,
    )
    rebaser = Rebaser(
        bus,
        ledger,
        mirrors,
        variants=variants,
        layers=registry,
        planner=planner,
        fetch_jobs=fetch_jobs,
        cancelled=cancelled_jobs,
        settings=settings,
    )
    renames = Renames(ledger)
    recovery = Recovery(
        ledger, fetch_jobs, tracker, cancelling=cancelling, renames=renames, settings=settings
    )
    leases = LeaseMetrics(metrics)
    poller = Poller(
        bus,
        ledger,
        mirrors,
        tenants=tenants,
        fetch_jobs=fetch_jobs,
        layers=registry,
        lease=await Lease.open(bus.js, "poll", leases, replicas=replicas),
        metrics=PollMetrics(metrics),
    )
    sweeper = Sweeper(
        ledger,
        registry,
        rebaser,
        variants,
        recovery=recovery,
        lease=await Lease.open(bus.js, "sweep", leases, replicas=replicas),
        metrics=LayerMetrics(metrics),
        pause_s=settings.sweep_pause_s,
    )
    uploads = Uploads(
        bus,
        ledger,
        plans,
        planner=planner,
        pushed=pushed,
        layers=registry,
        cancelled=cancelled_jobs,
        gates=gates,
        settings=settings,
    )
    leftovers = Leftovers(bus.js)
    removals = Removals(bus, ledger, leftovers=leftovers, plans=plans, mirrors=mirrors, cancelling=cancelling)
    tenant_removals = TenantRemovals(
        bus,
        ledger,
        tenants,
        Records(await open_bucket(bus.js, names.KV_TOKENS, replicas=replicas), Token),
        leftovers=leftovers,
        plans=plans,
        mirrors=mirrors,
        cancelling=cancelling,
        lease=await Lease.open(bus.js, "remove-tenants", leases, replicas=replicas),
    )
    watch = QueueWatch(
        bus,
        jobs,
        watched_repositories,
        watched_layers,
        queue_metrics=QueueMetrics(metrics),
        job_metrics=JobMetrics(metrics),
    )
    scip_imports = ScipImports(bus, ledger, scip_store, ScipMetrics(metrics), settings)
    return IngestApp(
        ledger=ledger,
        histories=histories,
        variants=variants,
        scip_store=scip_store,
        mirrors=mirrors,
        registry=registry,
        planner=planner,
        rebaser=rebaser,
        recovery=recovery,
        poller=poller,
        sweeper=sweeper,
        removals=removals,
        tenant_removals=tenant_removals,
        watch=watch,
        snapshots=SnapshotHandlers(uploads),
        clones=CloneHandlers(fetch_jobs, pushes, fetcher),
        edits=EditHandlers(Edits(bus, ledger, planner, settings)),
        jobs=JobHandlers(tracker, JobStatus(ledger), cancelling, DeadLetterMetrics(metrics)),
        letters=LetterHandlers(Letters(bus, ledger, LetterBox(bus.js), fetch_jobs, registry)),
        layers=LayerHandlers(BranchLayers(ledger, mirrors, fetch_jobs, registry)),
        overlays=OverlayHandlers(
            Overlays(bus, ledger, registry, planner, tenants=tenants, settings=settings)
        ),
        rebases=RebaseHandlers(rebaser),
        commits=CommitHandlers(CommitReader(ledger, mirrors, settings)),
        scip=ScipHandlers(scip_imports),
        repositories=RepositoryHandlers(
            Registrations(ledger, fetch_jobs, renames),
            RepositoryStatus(ledger, registry),
            fetch_jobs,
            changes,
        ),
        removing=RemovalHandlers(removals),
    )


def register(bus: Bus, app: IngestApp) -> None:
    """Subscribe the handlers."""
    bus.consume(topics.FILES_UPLOADED, app.snapshots.on_uploaded, workers=PACK_WORKERS)
    bus.consume(topics.PUSH_RECEIVED, app.clones.on_push, workers=PUSHES_AT_ONCE)
    bus.consume(topics.CLONE_REQUESTED, app.clones.on_clone_requested, workers=CLONE_WORKERS)
    bus.consume(topics.FILES_SETTLED, app.jobs.on_settled, workers=SETTLED_WORKERS)
    bus.consume_dead_letters(app.jobs.on_dead_letter)
    bus.consume(topics.REPO_INDEXED, app.rebases.on_indexed, workers=REBASES_AT_ONCE)
    bus.serve(OPEN_SNAPSHOT, app.snapshots.open_snapshot)
    bus.serve(ADMIT_UPLOAD, app.snapshots.admit_upload)
    bus.serve(CLONE, app.clones.clone)
    bus.serve(EDIT, app.edits.edit)
    bus.serve(JOB, app.jobs.job)
    bus.serve(JOBS, app.jobs.jobs)
    bus.serve(CANCEL_JOB, app.jobs.cancel)
    bus.serve(RETRY_LETTER, app.letters.retry)
    bus.serve(DROP_LETTER, app.letters.drop)
    bus.serve(CREATE_LAYER, app.layers.create)
    bus.serve(DELETE_LAYER, app.layers.delete)
    bus.serve(OPEN_OVERLAY, app.overlays.open)
    bus.serve(CLOSE_OVERLAY, app.overlays.close)
    bus.serve(COMMIT_FILE, app.commits.file)
    bus.serve(COMMIT_FILES, app.commits.files)
    bus.serve(STORE_SCIP, app.scip.store)
    bus.serve(LIST_SCIP, app.scip.indexes)
    bus.serve(REMOVE_SCIP, app.scip.remove)
    bus.serve(REGISTER, app.repositories.register)
    bus.serve(CLEAR_CACHE, app.repositories.clear_cache)
    bus.serve(UPDATE_REPOSITORY, app.repositories.update)
    bus.serve(REPOSITORY_STATUS, app.repositories.status)
    bus.serve(CHANGES, app.repositories.changes)
    bus.serve(REINDEX, app.repositories.reindex)
    bus.serve(REMOVE_REPOSITORY, app.removing.remove)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = IngestSettings()
    vault_settings = VaultSettings()
    plan_settings = PlanSettings()
    service = Service(SERVICE, settings, secrets={"PRISM_SECRETS_KEY": vault_settings.secrets_key})
    bus, vault = service.bus, Vault(vault_settings)
    open_until_stop = AsyncExitStack()

    async def start() -> None:
        await bus.connect()
        app = await build(bus, settings, vault, plan_settings=plan_settings)
        open_until_stop.callback(app.mirrors.close)
        register(bus, app)
        await app.recovery.start()
        await bus.start()
        open_until_stop.push_async_callback(cancelled, *_begin_rounds(bus, app, settings))

    await service.run(start, close=open_until_stop.aclose)


def _begin_rounds(bus: Bus, app: IngestApp, settings: IngestSettings) -> list[asyncio.Task[None]]:
    buckets = {
        names.OBJECTS_SCIP: app.scip_store.named,
        names.OBJECTS_LAYERS: None,
        names.OBJECTS_HISTORIES: None,
    }
    rounds = [
        asyncio.create_task(reclaim_regularly(bus.js, buckets)),
        asyncio.create_task(app.removals.run()),
        asyncio.create_task(app.tenant_removals.run()),
        asyncio.create_task(app.watch.run()),
    ]
    if settings.poll_interval_s:
        rounds.append(asyncio.create_task(app.poller.run(settings.poll_interval_s)))
    if settings.sweep_interval_s:
        rounds.append(asyncio.create_task(app.sweeper.run(settings.sweep_interval_s)))
    return rounds


if __name__ == "__main__":
    run(serve)
