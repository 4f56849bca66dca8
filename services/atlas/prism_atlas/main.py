"""Atlas as a process: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry

from prism_atlas.adapters.build_processes import BuildProcesses
from prism_atlas.adapters.graphs import GraphStore
from prism_atlas.adapters.indexes import IndexFiles
from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.adapters.search import SearchClient
from prism_atlas.handlers.builds import BuildHandlers
from prism_atlas.handlers.maps import MapHandlers
from prism_atlas.handlers.traversal import TraversalHandlers
from prism_atlas.handlers.unused import UnusedHandler
from prism_atlas.handlers.uses import UsesHandler
from prism_atlas.operations.base_graphs import BaseGraphs
from prism_atlas.operations.diff_impact import DiffImpact
from prism_atlas.operations.layer_graphs import LayerGraphs
from prism_atlas.operations.module_entries import ModuleEntries
from prism_atlas.operations.served_graphs import ServedGraphs
from prism_atlas.operations.text_checks import TextChecks
from prism_atlas.operations.unused_code import UnusedCodeFinder
from prism_atlas.settings import AtlasSettings
from prism_catalog.descriptions import Descriptions
from prism_catalog.histories import Histories, HistoryStore
from prism_catalog.layer_files import LayerFilesStore
from prism_catalog.layers import Layers
from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.scip_indexes import ScipIndexes
from prism_contracts import names, topics
from prism_contracts.records import GraphRecord, Layer, Repository
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    TYPE_HIERARCHY,
)
from prism_contracts.rpc.maps import ARCHITECTURE, MODULE_MAP
from prism_contracts.rpc.symbols import USES
from prism_contracts.rpc.unused import UNUSED
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim_regularly
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled
from prism_store.client import StoreClient
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings

SERVICE = "atlas"


@dataclass(frozen=True)
class AtlasApp:
    """The parts of atlas that something outside calls: handlers, graphs, and the processes that build them."""

    processes: BuildProcesses
    graphs: GraphStore
    layer_graphs: LayerGraphs
    builds: BuildHandlers
    maps: MapHandlers
    traversals: TraversalHandlers
    uses: UsesHandler
    unused: UnusedHandler


async def build(
    bus: Bus, settings: AtlasSettings, store: StoreClient, folder: Path, metrics: CollectorRegistry = REGISTRY
) -> AtlasApp:
    """Assemble atlas on a connected bus. Nothing runs until `register` and `Bus.start`.

    Graphs under construction and copies of stored ones are files in `folder`.
    """
    reader = Reader(store)
    records = await bus.follow(names.KV_REPOSITORIES, Repository)
    layers = Layers(
        await bus.follow(names.KV_LAYERS, Layer), await LayerFilesStore.open(bus.js, settings.nats_replicas)
    )
    histories = Histories(await HistoryStore.open(bus.js, settings.nats_replicas))
    indexes = IndexFiles(await ScipIndexes.open(bus), folder)
    graphs = await _open_graphs(bus, settings, folder)
    processes = BuildProcesses(folder / "states", settings.atlas_warm_s, settings.atlas_build_s_max)
    build_metrics = BuildMetrics(metrics)
    base_graphs = BaseGraphs(processes, graphs, records, indexes, folder=folder, metrics=build_metrics)
    layer_graphs = LayerGraphs(
        processes,
        records,
        indexes,
        folder=folder,
        metrics=build_metrics,
        kept_bytes_max=settings.atlas_layers_bytes_max,
        wait_s=settings.atlas_layer_wait_s,
    )
    served = ServedGraphs(RepositoryCatalog(records, layers, reader), graphs, base_graphs, layer_graphs)
    search = SearchClient(bus)
    text = TextChecks(search)
    return AtlasApp(
        processes=processes,
        graphs=graphs,
        layer_graphs=layer_graphs,
        builds=BuildHandlers(base_graphs),
        maps=MapHandlers(served, ModuleEntries(Descriptions(reader), histories)),
        traversals=TraversalHandlers(served, text, DiffImpact(search, text)),
        uses=UsesHandler(served),
        unused=UnusedHandler(served, UnusedCodeFinder(search)),
    )


async def _open_graphs(bus: Bus, settings: AtlasSettings, folder: Path) -> GraphStore:
    store = await bus.objects(names.OBJECTS_GRAPHS)
    bucket = await open_bucket(bus.js, names.KV_GRAPHS, replicas=settings.nats_replicas)
    watched = await bus.follow(names.KV_GRAPHS, GraphRecord)
    return GraphStore(store, Records(bucket, GraphRecord), watched, folder, settings.atlas_kept_bytes_max)


def register(bus: Bus, app: AtlasApp, *, deadline_s: float) -> None:
    """Subscribe the handlers. `deadline_s` is the longest time for one question."""
    bus.consume(topics.REPO_INDEXED, app.builds.on_indexed, workers=1)
    bus.consume(topics.SCIP_STORED, app.builds.on_scip_stored, workers=1)
    bus.consume(topics.SCIP_REMOVED, app.builds.on_scip_removed, workers=1)
    bus.serve(MODULE_MAP, app.maps.module_map, deadline_s=deadline_s)
    bus.serve(ARCHITECTURE, app.maps.architecture, deadline_s=deadline_s)
    bus.serve(CALL_HIERARCHY, app.traversals.call_hierarchy, deadline_s=deadline_s)
    bus.serve(TYPE_HIERARCHY, app.traversals.type_hierarchy, deadline_s=deadline_s)
    bus.serve(DEPENDENCIES, app.traversals.dependencies, deadline_s=deadline_s)
    bus.serve(FIND_PATH, app.traversals.find_path, deadline_s=deadline_s)
    bus.serve(IMPACT, app.traversals.impact, deadline_s=deadline_s)
    bus.serve(USES, app.uses.uses, deadline_s=deadline_s)
    bus.serve(UNUSED, app.unused.unused)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = AtlasSettings()
    store_settings = StoreSettings()
    service = Service(SERVICE, settings, secrets={"PRISM_QDRANT_API_KEY": store_settings.api_key})
    bus, store = service.bus, connect(store_settings, REGISTRY)
    open_until_stop = AsyncExitStack()
    open_until_stop.push_async_callback(store.close)

    with tempfile.TemporaryDirectory(prefix="prism-atlas-", dir=settings.atlas_dir or None) as folder:

        async def start() -> None:
            await bus.connect()
            app = await build(bus, settings, store, Path(folder))
            open_until_stop.push_async_callback(app.processes.close)
            register(bus, app, deadline_s=settings.atlas_deadline_s)
            await bus.start()
            referenced = {names.OBJECTS_GRAPHS: app.graphs.referenced_objects}
            reclaiming = asyncio.create_task(reclaim_regularly(bus.js, referenced))
            open_until_stop.push_async_callback(cancelled, reclaiming)

        await service.run(start, close=open_until_stop.aclose, checks={"qdrant": partial(check_store, store)})


if __name__ == "__main__":
    run(serve)
