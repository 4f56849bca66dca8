"""Ingest as a process."""

import asyncio

from prometheus_client import REGISTRY

from prism_catalog.histories import HistoryStore
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.records import Layer
from prism_contracts.rpc.imports import (
    ADMIT_UPLOAD,
    CLONE,
    COMMIT_FILE,
    COMMIT_FILES,
    EDIT,
    JOB,
    JOBS,
    OPEN_SNAPSHOT,
    STORE_SCIP,
)
from prism_contracts.rpc.layers import (
    CLOSE_OVERLAY,
    CREATE_LAYER,
    DELETE_LAYER,
    OPEN_OVERLAY,
)
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import LayerMetrics, PollMetrics, PushMetrics
from prism_ingest.adapters.mirrors import Mirrors
from prism_ingest.adapters.plans import PlanStore
from prism_ingest.adapters.scip import ScipMetrics, ScipStore
from prism_ingest.adapters.variants import Variants
from prism_ingest.operations.branch_layers import LayerHandlers
from prism_ingest.operations.commit_reader import CommitHandlers
from prism_ingest.operations.edits import EditHandlers
from prism_ingest.operations.fetching import CloneHandlers
from prism_ingest.operations.job_tracker import JobHandlers
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.overlays import OverlayHandlers
from prism_ingest.operations.planning import Planner
from prism_ingest.operations.poll import Poller
from prism_ingest.operations.rebase import RebaseHandlers
from prism_ingest.operations.recovery import Recovery
from prism_ingest.operations.scip_imports import ScipHandlers
from prism_ingest.operations.sweep import Sweeper
from prism_ingest.operations.uploads import SnapshotHandlers
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim_regularly
from prism_runtime.process import run
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled

SERVICE = "ingest"
OPEN_DEADLINE_S = 110.0
CLONE_DEADLINE_S = 20.0
SCIP_DEADLINE_S = 280.0
EDIT_DEADLINE_S = 60.0
ASK_DEADLINE_S = 10.0
SETTLED_WORKERS = 16
# Of one lane. Most wait for a slot of their tenant: see adapters/mirrors.py.
CLONE_WORKERS = 64
PUSHES_AT_ONCE = 16
# Two of one repository would do the same work twice.
REBASES_AT_ONCE = 1


def register(
    bus: Bus,
    snapshots: SnapshotHandlers,
    clones: CloneHandlers,
    edits: EditHandlers,
    jobs: JobHandlers,
    *,
    workers: int,
) -> None:
    """Subscribe to what ingest hears and answers."""
    bus.consume(topics.FILES_UPLOADED, snapshots.on_uploaded, workers=workers)
    bus.consume(topics.PUSH_RECEIVED, clones.on_push, workers=PUSHES_AT_ONCE)
    bus.consume(topics.CLONE_REQUESTED, clones.on_clone_requested, workers=CLONE_WORKERS)
    bus.consume(topics.FILES_SETTLED, jobs.on_settled, workers=SETTLED_WORKERS)
    bus.consume_dead_letters(jobs.on_dead_letter)
    bus.serve(OPEN_SNAPSHOT, snapshots.open_snapshot)
    bus.serve(ADMIT_UPLOAD, snapshots.admit_upload)
    bus.serve(CLONE, clones.clone)
    bus.serve(EDIT, edits.edit)
    bus.serve(JOB, jobs.job)
    bus.serve(JOBS, jobs.jobs)


def register_scip(bus: Bus, scip: ScipHandlers) -> None:
    """Answer those who bring SCIP indexes."""
    bus.serve(STORE_SCIP, scip.store)


def register_layers(
    bus: Bus,
    layers: LayerHandlers,
    overlays: OverlayHandlers,
    rebases: RebaseHandlers,
    commits: CommitHandlers,
) -> None:
    """Subscribe to what moves layers, and answer those who make some or read at a commit."""
    bus.consume(topics.REPO_INDEXED, rebases.on_indexed, workers=REBASES_AT_ONCE)
    bus.serve(CREATE_LAYER, layers.create)
    bus.serve(DELETE_LAYER, layers.delete)
    bus.serve(OPEN_OVERLAY, overlays.open)
    bus.serve(CLOSE_OVERLAY, overlays.close)
    bus.serve(COMMIT_FILE, commits.file)
    bus.serve(COMMIT_FILES, commits.files)


async def serve() -> None:
    """Build everything, then run until told to stop."""
    settings = IngestSettings()
    service = Service(SERVICE, settings)
    bus, vault = service.bus, Vault(VaultSettings())
    mirrors = Mirrors(settings, vault)
    rounds: list[asyncio.Task[None]] = []

    async def start() -> None:
        await bus.connect()
        replicas = settings.nats_replicas
        ledger = await Ledger.open(bus.js, replicas)
        store = await PlanStore.open(bus.js, replicas)
        histories = await HistoryStore.open(bus.js, replicas)
        variants = await Variants.open(bus, replicas)
        await vault.open(bus.js, replicas=replicas)
        jobs = JobHandlers(bus, ledger, store, variants.lists, PushMetrics(REGISTRY))
        layers = LayerRegistry(ledger, await bus.follow(names.KV_LAYERS, Layer), jobs, settings)
        planner = Planner(
            bus,
            ledger,
            snapshots=store,
            variants=variants,
            histories=histories,
            jobs=jobs,
            settings=settings,
        )
        snapshots = SnapshotHandlers(bus, ledger, store, planner=planner, layers=layers, settings=settings)
        clones = CloneHandlers(
            bus, ledger, mirrors, planner=planner, layers=layers, jobs=jobs, settings=settings
        )
        edits = EditHandlers(bus, ledger, planner, settings)
        register(bus, snapshots, clones, edits, jobs, workers=settings.ingest_workers)
        rebases = RebaseHandlers(
            bus,
            ledger,
            mirrors,
            variants=variants,
            layers=layers,
            planner=planner,
            clones=clones,
            settings=settings,
        )
        register_layers(
            bus,
            LayerHandlers(ledger, mirrors, clones, layers),
            OverlayHandlers(bus, ledger, layers, planner, settings),
            rebases,
            CommitHandlers(ledger, mirrors, settings),
        )
        scip = await ScipStore.open(bus, replicas)
        register_scip(bus, ScipHandlers(bus, ledger, scip, ScipMetrics(REGISTRY), settings))
        recovery = Recovery(ledger, clones, jobs, settings)
        await recovery.start()
        await bus.start()
        buckets = {names.OBJECTS_SCIP: scip.named, names.OBJECTS_LAYERS: None, names.OBJECTS_HISTORIES: None}
        rounds.append(asyncio.create_task(reclaim_regularly(bus.js, buckets)))
        if settings.poll_interval_s:
            lease = await Lease.open(bus.js, "poll", replicas=replicas)
            poller = Poller(
                bus,
                ledger,
                mirrors,
                clones=clones,
                layers=layers,
                lease=lease,
                metrics=PollMetrics(REGISTRY),
            )
            rounds.append(asyncio.create_task(poller.run(settings.poll_interval_s)))
        if settings.sweep_interval_s:
            lease = await Lease.open(bus.js, "sweep", replicas=replicas)
            metrics, pause_s = LayerMetrics(REGISTRY), settings.sweep_pause_s
            sweeper = Sweeper(
                ledger,
                layers,
                rebases,
                variants,
                recovery=recovery,
                lease=lease,
                metrics=metrics,
                pause_s=pause_s,
            )
            rounds.append(asyncio.create_task(sweeper.run(settings.sweep_interval_s)))

    async def close() -> None:
        await cancelled(*rounds)
        mirrors.close()

    await service.run(start, close=close)


if __name__ == "__main__":
    run(serve)
