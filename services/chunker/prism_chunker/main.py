"""The chunker as a process."""

from prism_chunker.adapters.parser import Parser
from prism_chunker.core import CHUNKER_VERSION
from prism_chunker.handlers import ChunkerHandlers
from prism_chunker.settings import ChunkerSettings
from prism_contracts import names
from prism_contracts.records import COMPONENT_CHUNKER, Component
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service

SERVICE = "chunker"


async def serve() -> None:
    """Build the service, and run it until a signal."""
    settings = ChunkerSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    parser = Parser()
    ChunkerHandlers(bus, parser, settings).register()

    async def start() -> None:
        await bus.connect()
        bucket = await open_bucket(bus.js, names.KV_COMPONENTS, replicas=settings.nats_replicas)
        await Records(bucket, Component).put(COMPONENT_CHUNKER, Component(version=CHUNKER_VERSION))
        await bus.start()

    await service.run(start, close=parser.close)


if __name__ == "__main__":
    run(serve)
