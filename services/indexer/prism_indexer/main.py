"""The indexer as a process."""

from prism_contracts import names
from prism_contracts.records import Component
from prism_indexer.handlers import IndexerHandlers
from prism_indexer.settings import IndexerSettings
from prism_runtime.bus import Bus
from prism_runtime.health import health_app
from prism_runtime.process import run, run_process
from prism_runtime.telemetry import set_up_logging, set_up_tracing
from prism_store.gate import connect
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

SERVICE = "indexer"


async def serve() -> None:
    """Build everything, then run until told to stop."""
    settings = IndexerSettings()
    set_up_logging(SERVICE, settings.log_level)
    bus = Bus(SERVICE, settings, set_up_tracing(SERVICE, settings.otlp_endpoint))
    qdrant = connect(StoreSettings())
    handlers = IndexerHandlers(bus, Writer(qdrant), settings)
    handlers.register()

    async def start() -> None:
        await bus.connect()
        handlers.components = await bus.follow(names.KV_COMPONENTS, Component)
        await bus.start()

    async def stop() -> None:
        await bus.stop()
        await qdrant.close()

    async def check_store() -> None:
        await qdrant.get_collections()

    checks = {"nats": bus.check, "qdrant": check_store}
    await run_process(
        SERVICE,
        health_app(SERVICE, checks),
        host=settings.health_host,
        port=settings.health_port,
        run_dir=settings.run_dir,
        start=start,
        stop=stop,
    )


if __name__ == "__main__":
    run(serve)
