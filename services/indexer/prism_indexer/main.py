"""The indexer as a process: assembles its parts, subscribes them to the bus, and runs them."""

from dataclasses import dataclass
from functools import partial

from prometheus_client import REGISTRY

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import names, topics
from prism_contracts.records import Layer, ModelVersion, Repository
from prism_contracts.rpc.repositories import (
    DROP_POINTS,
    DROP_TENANT,
)
from prism_indexer.deep_handlers import DeepVectorHandlers
from prism_indexer.handlers import IndexerHandlers
from prism_indexer.settings import IndexerSettings
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service
from prism_store.client import StoreClient
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

SERVICE = "indexer"
DEEP_WRITES_AT_ONCE = 4


@dataclass(frozen=True)
class IndexerApp:
    """The handlers of the indexer."""

    files: IndexerHandlers
    deep: DeepVectorHandlers | None  # None unless PRISM_DEEP_ENABLED is set


async def build(bus: Bus, settings: IndexerSettings, store: StoreClient) -> IndexerApp:
    """Assemble the indexer on a connected bus. Nothing runs until `register` and `Bus.start`."""
    writer = Writer(store)
    model_versions = await bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
    repositories = await bus.follow(names.KV_REPOSITORIES, Repository)
    deep = None
    if settings.deep_enabled:
        layers = await open_bucket(bus.js, names.KV_LAYERS, replicas=settings.nats_replicas)
        deep = DeepVectorHandlers(
            bus,
            Reader(store),
            writer,
            model_versions=model_versions,
            repositories=repositories,
            layers=Records(layers, Layer),
            layer_files=await LayerFilesStore.open(bus.js, settings.nats_replicas),
        )
    cancelled = await CancelledJobs.open(bus)
    return IndexerApp(IndexerHandlers(bus, writer, model_versions, repositories, cancelled), deep)


def register(bus: Bus, app: IndexerApp, *, workers: int) -> None:
    """Subscribe the handlers. `workers` is the number of files in progress at once, per lane."""
    bus.consume(topics.FILE_EMBEDDED, app.files.on_embedded, workers=workers)
    bus.consume(topics.FILE_REMOVED, app.files.on_removed, workers=workers)
    bus.consume(topics.FILE_SKIPPED, app.files.on_skipped, workers=workers)
    bus.consume(topics.FILE_FAILED, app.files.on_failed, workers=workers)
    bus.consume(topics.FILES_DROPPED, app.files.on_dropped, workers=1)
    bus.serve(DROP_POINTS, app.files.drop_points)
    bus.serve(DROP_TENANT, app.files.drop_tenant)
    if app.deep:
        bus.consume(topics.DEEP_STARTED, app.deep.on_started, workers=1)
        bus.consume(topics.REPO_INDEXED, app.deep.on_indexed, workers=1)
        bus.consume(topics.DEEP_EMBEDDED, app.deep.on_embedded, workers=DEEP_WRITES_AT_ONCE)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = IndexerSettings()
    store_settings = StoreSettings()
    service = Service(SERVICE, settings, secrets={"PRISM_QDRANT_API_KEY": store_settings.api_key})
    bus, store = service.bus, connect(store_settings, REGISTRY)

    async def start() -> None:
        await bus.connect()
        register(bus, await build(bus, settings, store), workers=settings.indexer_workers)
        await bus.start()

    await service.run(start, close=store.close, checks={"qdrant": partial(check_store, store)})


if __name__ == "__main__":
    run(serve)
