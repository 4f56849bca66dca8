"""The gateway as a process: assembles its parts, opens them, and serves HTTP."""

from dataclasses import dataclass

from fastapi import FastAPI
from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.tenants import PlanSettings, Tenants
from prism_catalog.vault import Vault, VaultSettings
from prism_gateway.app import SERVICE, build_http
from prism_gateway.rates.limiter import Limiter, LimitMetrics
from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.door import SignOn
from prism_gateway.tokens import TokenBook
from prism_gateway.webhooks.receiver import Receiver, WebhookMetrics
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.service import Service


@dataclass(frozen=True)
class GatewayApp:
    """The HTTP application of the gateway, and the records behind it."""

    http: FastAPI
    tenants: Tenants
    tokens: TokenBook
    limiter: Limiter
    vault: Vault
    webhooks: Receiver


def build(
    bus: Bus,
    settings: GatewaySettings,
    vault: Vault,
    plans: PlanSettings,
    metrics: CollectorRegistry = REGISTRY,
) -> GatewayApp:
    """Assemble the gateway. Unlike other services it serves before NATS is connected.

    Until `open_records`, guarded paths answer `unavailable`.
    """
    tenants = Tenants(plans)
    tokens = TokenBook(tenants)
    webhooks = Receiver(bus, vault, settings, WebhookMetrics(metrics))
    limiter = Limiter(tenants, LimitMetrics(metrics))
    sign_on = SignOn(settings, tenants, plan=plans.plan_default)
    http = build_http(settings, bus, tokens, vault, webhooks, sign_on=sign_on, limiter=limiter)
    return GatewayApp(http, tenants, tokens, limiter, vault, webhooks)


async def open_records(bus: Bus, app: GatewayApp, settings: GatewaySettings) -> None:
    """Open the records of tenants, tokens, secrets and repositories on a started bus, and store the first token."""
    await app.tenants.open(bus, replicas=settings.nats_replicas)
    await app.tokens.open(bus, replicas=settings.nats_replicas)
    await app.limiter.open(bus, replicas=settings.nats_replicas)
    await app.vault.open(bus.js, replicas=settings.nats_replicas)
    await app.webhooks.open()
    if settings.bootstrap_token_sha256:
        await app.tokens.bootstrap(settings.bootstrap_token_sha256, settings.bootstrap_tenant)


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = GatewaySettings()
    service = Service(SERVICE, settings)
    app = build(service.bus, settings, Vault(VaultSettings()), PlanSettings())

    async def start() -> None:
        await service.bus.start()
        await open_records(service.bus, app, settings)

    await service.run_app(app.http, settings.gateway_host, settings.gateway_port, start)


if __name__ == "__main__":
    run(serve)
