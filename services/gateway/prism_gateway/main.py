"""The gateway as a process."""

from prism_gateway.app import SERVICE, build_app
from prism_gateway.auth import TokenBook
from prism_gateway.settings import GatewaySettings
from prism_runtime.process import run
from prism_runtime.service import Service


async def main() -> None:
    """Serve until told to stop."""
    settings = GatewaySettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    tokens = TokenBook()

    async def start() -> None:
        await bus.start()
        await tokens.open(bus, replicas=settings.nats_replicas)
        if settings.bootstrap_token_sha256:
            await tokens.bootstrap(settings.bootstrap_token_sha256, settings.bootstrap_tenant)

    app = build_app(settings, bus, tokens)
    await service.run_app(app, settings.gateway_host, settings.gateway_port, start, close=tokens.close)


if __name__ == "__main__":
    run(main)
