"""The indexer as a process."""

from functools import partial

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import names
from prism_contracts.records import Component, Layer, Repository
from prism_indexer.deep_handlers import DeepVectorHandlers
from prism_indexer.handlers import IndexerHandlers
from prism_indexer.settings import IndexerSettings
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service
from prism_store.gate import check_store, connect
from prism_store.reader import Reader
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

SERVICE = "indexer"


async def serve() -> None:
    """Build the service, and run it until a signal."""
    settings = IndexerSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    qdrant = connect(StoreSettings())
    writer = Writer(qdrant)
    handlers = IndexerHandlers(bus, writer, settings)
    handlers.register()
    deep = DeepVectorHandlers(bus, Reader(qdrant), writer)
    if settings.deep_enabled:
        deep.register()

    async def start() -> None:
        await bus.connect()
        handlers.components = deep.components = await bus.follow(names.KV_COMPONENTS, Component)
        handlers.repositories = deep.repositories = await bus.follow(names.KV_REPOSITORIES, Repository)
        if settings.deep_enabled:
            bucket = await open_bucket(bus.js, names.KV_LAYERS, replicas=settings.nats_replicas)
            deep.layers = Records(bucket, Layer)
            deep.files = await LayerFilesStore.open(bus.js, settings.nats_replicas)
        await bus.start()

    await service.run(start, close=qdrant.close, checks={"qdrant": partial(check_store, qdrant)})


if __name__ == "__main__":
    run(serve)
