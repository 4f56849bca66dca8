"""The gateway as a process."""

from prism_gateway.app import SERVICE, build_app
from prism_gateway.auth import TokenBook
from prism_gateway.settings import GatewaySettings
from prism_runtime.bus import Bus
from prism_runtime.process import run, run_process
from prism_runtime.telemetry import set_up_logging, set_up_tracing


async def main() -> None:
    """Serve until told to stop."""
    settings = GatewaySettings()
    set_up_logging(SERVICE, settings.log_level)
    tracing = set_up_tracing(SERVICE, settings.otlp_endpoint)
    bus = Bus(SERVICE, settings, tracing)
    tokens = TokenBook()

    async def start() -> None:
        await bus.start()
        await tokens.open(bus, replicas=settings.nats_replicas)
        if settings.bootstrap_token_sha256:
            await tokens.bootstrap(settings.bootstrap_token_sha256, settings.bootstrap_tenant)

    async def stop() -> None:
        await tokens.close()
        await bus.stop()
        if tracing:
            tracing.shutdown()

    await run_process(
        SERVICE,
        build_app(settings, bus, tokens),
        host=settings.gateway_host,
        port=settings.gateway_port,
        run_dir=settings.run_dir,
        start=start,
        stop=stop,
    )


if __name__ == "__main__":
    run(main)
