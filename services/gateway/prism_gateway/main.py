"""The gateway as a process."""

from prometheus_client import REGISTRY

from prism_catalog.vault import Vault, VaultSettings
from prism_gateway.app import SERVICE, build_app
from prism_gateway.auth import TokenBook
from prism_gateway.settings import GatewaySettings
from prism_gateway.webhooks.receiver import Receiver, WebhookMetrics
from prism_runtime.process import run
from prism_runtime.service import Service


async def main() -> None:
    """Serve until a signal stops the process."""
    settings = GatewaySettings()
    service = Service(SERVICE, settings)
    bus = service.bus
    tokens, vault = TokenBook(), Vault(VaultSettings())
    webhooks = Receiver(bus, vault, settings, WebhookMetrics(REGISTRY))

    async def start() -> None:
        await bus.start()
        await tokens.open(bus, replicas=settings.nats_replicas)
        await vault.open(bus.js, replicas=settings.nats_replicas)
        await webhooks.open()
        if settings.bootstrap_token_sha256:
            await tokens.bootstrap(settings.bootstrap_token_sha256, settings.bootstrap_tenant)

    app = build_app(settings, bus, tokens, vault, webhooks)
    await service.run_app(app, settings.gateway_host, settings.gateway_port, start)


if __name__ == "__main__":
    run(main)
