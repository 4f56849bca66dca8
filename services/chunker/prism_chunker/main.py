"""The chunker as a process."""

from prism_chunker.adapters.parser import Parser
from prism_chunker.core import CHUNKER_VERSION
from prism_chunker.handlers import ChunkerHandlers
from prism_chunker.settings import ChunkerSettings
from prism_contracts import names
from prism_contracts.records import COMPONENT_CHUNKER, Component
from prism_runtime.bus import Bus
from prism_runtime.health import health_app
from prism_runtime.process import run, run_process
from prism_runtime.records import Records, open_bucket
from prism_runtime.telemetry import set_up_logging, set_up_tracing

SERVICE = "chunker"


async def serve() -> None:
    """Build everything, then run until told to stop."""
    settings = ChunkerSettings()
    set_up_logging(SERVICE, settings.log_level)
    bus = Bus(SERVICE, settings, set_up_tracing(SERVICE, settings.otlp_endpoint))
    parser = Parser()
    ChunkerHandlers(bus, parser, settings).register()

    async def start() -> None:
        await bus.connect()
        bucket = await open_bucket(bus.js, names.KV_COMPONENTS, replicas=settings.nats_replicas)
        await Records(bucket, Component).put(COMPONENT_CHUNKER, Component(version=CHUNKER_VERSION))
        await bus.start()

    async def stop() -> None:
        await bus.stop()
        await parser.close()

    await run_process(
        SERVICE,
        health_app(SERVICE, {"nats": bus.check}),
        host=settings.health_host,
        port=settings.health_port,
        run_dir=settings.run_dir,
        start=start,
        stop=stop,
    )


if __name__ == "__main__":
    run(serve)
