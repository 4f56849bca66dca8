"""The chunker as a process: assembles its parts, subscribes them to the bus, and runs them."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from prism_catalog.cancelled_jobs import CancelledJobs
from prism_chunker.adapters.parser import Parser
from prism_chunker.core import CHUNKER_VERSION
from prism_chunker.handlers import ChunkerHandlers
from prism_chunker.settings import ChunkerSettings
from prism_contracts import names, topics
from prism_contracts.records import CHUNKER_KEY, ModelVersion
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.records import Records, open_bucket
from prism_runtime.service import Service

SERVICE = "chunker"


@dataclass(frozen=True)
class ChunkerApp:
    """The handlers of the chunker, the parser that they call, and the record of model versions."""

    parser: Parser
    files: ChunkerHandlers
    model_versions: Records[ModelVersion]


async def build(bus: Bus, settings: ChunkerSettings) -> ChunkerApp:
    """Assemble the chunker on a connected bus. It handles no messages until `register` and `Bus.start`."""
    model_versions = await open_bucket(bus.js, names.KV_MODEL_VERSIONS, replicas=settings.nats_replicas)
    parser = Parser()
    files = ChunkerHandlers(bus, parser, await CancelledJobs.open(bus))
    return ChunkerApp(parser, files, Records(model_versions, ModelVersion))


def register(bus: Bus, app: ChunkerApp, *, workers: int) -> None:
    """Subscribe the handlers. `workers` is the number of files in progress at once, per lane."""
    bus.consume_bytes(topics.FILE_CHANGED, app.files.on_changed, workers=workers)


async def announce(app: ChunkerApp) -> None:
    """Record the version of this chunker, which is part of every generation."""
    await app.model_versions.put(CHUNKER_KEY, ModelVersion(version=CHUNKER_VERSION))


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = ChunkerSettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    open_until_stop = AsyncExitStack()

    async def start() -> None:
        await bus.connect()
        app = await build(bus, settings)
        open_until_stop.push_async_callback(app.parser.close)
        register(bus, app, workers=settings.chunker_workers)
        await announce(app)
        await bus.start()

    await service.run(start, close=open_until_stop.aclose)


if __name__ == "__main__":
    run(serve)
