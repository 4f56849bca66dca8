"""The atlas process."""

import asyncio
import tempfile
from functools import partial
from pathlib import Path

from nats.js.api import ObjectStoreConfig
from prometheus_client import REGISTRY

from prism_atlas.adapters.build_processes import BuildProcesses
from prism_atlas.adapters.graphs import GraphStore
from prism_atlas.adapters.indexes import IndexFiles
from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.adapters.search import SearchClient
from prism_atlas.adapters.summaries import Summaries
from prism_atlas.handlers.builds import BuildHandlers
from prism_atlas.handlers.maps import MapHandlers
from prism_atlas.handlers.traversal import TraversalHandlers
from prism_atlas.handlers.uses import UsesHandler
from prism_atlas.operations.base_graphs import BaseGraphs
from prism_atlas.operations.diff_impact import DiffImpact
from prism_atlas.operations.layer_graphs import LayerGraphs
from prism_atlas.operations.module_entries import ModuleEntries
from prism_atlas.operations.served_graphs import ServedGraphs
from prism_atlas.operations.text_checks import TextChecks
from prism_atlas.settings import AtlasSettings
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
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim_regularly
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings

SERVICE = "atlas"


async def open_graphs(bus: Bus, settings: AtlasSettings, folder: Path) -> GraphStore:
    """Open the graph store, and create its buckets if they do not exist."""
    store = await bus.js.create_object_store(
        names.OBJECTS_GRAPHS, ObjectStoreConfig(replicas=settings.nats_replicas)
    )
    bucket = await open_bucket(bus.js, names.KV_GRAPHS, replicas=settings.nats_replicas)
    watched = await bus.follow(names.KV_GRAPHS, GraphRecord)
    return GraphStore(store, Records(bucket, GraphRecord), watched, folder, settings.atlas_kept_bytes_max)


def register(
    bus: Bus, maps: MapHandlers, traversals: TraversalHandlers, uses: UsesHandler, *, deadline_s: float
) -> None:
    """Serve the requests."""
    bus.serve(MODULE_MAP, maps.module_map, deadline_s=deadline_s)
    bus.serve(ARCHITECTURE, maps.architecture, deadline_s=deadline_s)
    bus.serve(CALL_HIERARCHY, traversals.call_hierarchy, deadline_s=deadline_s)
    bus.serve(TYPE_HIERARCHY, traversals.type_hierarchy, deadline_s=deadline_s)
    bus.serve(DEPENDENCIES, traversals.dependencies, deadline_s=deadline_s)
    bus.serve(FIND_PATH, traversals.find_path, deadline_s=deadline_s)
    bus.serve(USES, uses.uses, deadline_s=deadline_s)
    bus.serve(IMPACT, traversals.impact, deadline_s=deadline_s)


async def serve() -> None:
    """Assemble the service and run until it is stopped."""
    settings = AtlasSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    qdrant = connect(StoreSettings())
    reader = Reader(qdrant)
    with tempfile.TemporaryDirectory(prefix="prism-atlas-", dir=settings.atlas_dir or None) as folder:
        cache_folder = Path(folder) / "states"
        background: list[asyncio.Task[None]] = []
        processes = BuildProcesses(cache_folder, settings.atlas_warm_s, settings.atlas_build_s_max)

        async def close() -> None:
            await cancelled(*background)
            await processes.close()
            await qdrant.close()

        async def start() -> None:
            await bus.connect()
            records = await bus.follow(names.KV_REPOSITORIES, Repository)
            graphs = await open_graphs(bus, settings, Path(folder))
            metrics = BuildMetrics(REGISTRY)
            indexes = IndexFiles(await ScipIndexes.open(bus), Path(folder))
            base_graphs = BaseGraphs(
                processes, graphs, records, indexes, folder=Path(folder), metrics=metrics
            )
            builds = BuildHandlers(base_graphs)
            layer_graphs = LayerGraphs(
                processes,
                records,
                indexes,
                folder=Path(folder),
                metrics=metrics,
                kept_bytes_max=settings.atlas_layers_bytes_max,
                wait_s=settings.atlas_layer_wait_s,
            )
            layers = Layers(
                await bus.follow(names.KV_LAYERS, Layer),
                await LayerFilesStore.open(bus.js, settings.nats_replicas),
            )
            served = ServedGraphs(
                RepositoryCatalog(records, layers, reader), graphs, base_graphs, layer_graphs
            )
            bus.consume(topics.REPO_INDEXED, builds.on_indexed, workers=1)
            bus.consume(topics.SCIP_STORED, builds.on_scip_stored, workers=1)
            histories = Histories(await HistoryStore.open(bus.js, settings.nats_replicas))
            maps = MapHandlers(served, ModuleEntries(Summaries(reader), histories))
            search = SearchClient(bus)
            traversals = TraversalHandlers(served, TextChecks(search), DiffImpact(search))
            register(bus, maps, traversals, UsesHandler(served), deadline_s=settings.atlas_deadline_s)
            await bus.start()
            background.append(
                asyncio.create_task(
                    reclaim_regularly(bus.js, {names.OBJECTS_GRAPHS: graphs.referenced_objects})
                )
            )

        await service.run(start, close=close, checks={"qdrant": partial(check_store, qdrant)})


if __name__ == "__main__":
    run(serve)
