"""The gateway as a process: assembles its parts, opens them, and serves HTTP."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from fastapi import FastAPI
from prometheus_client import REGISTRY, CollectorRegistry

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.tenants import PlanSettings, Tenants
from prism_catalog.vault import Vault, VaultSettings
from prism_gateway.accounting.audit import AuditLog, AuditMetrics
from prism_gateway.accounting.history import HistoryLog, HistoryMetrics
from prism_gateway.accounting.usage import UsageLog, UsageMetrics
from prism_gateway.app import SERVICE, GatewayParts, build_http
from prism_gateway.console.progress import LiveJobs
from prism_gateway.console.sessions import Sessions
from prism_gateway.groups import Groups
from prism_gateway.kept_requests import KeptRequests
from prism_gateway.rates.limiter import Limiter, LimitMetrics
from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.door import SignOn
from prism_gateway.tokens import TokenBook
from prism_gateway.webhooks.receiver import Receiver, WebhookMetrics
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.service import Service

# How long a stopping gateway waits for NATS.
STORE_REST_MAX_S = 3.0


@dataclass(frozen=True)
class GatewayApp:
    """The HTTP application of the gateway, and its parts."""

    http: FastAPI
    parts: GatewayParts


def build(
    bus: Bus,
    settings: GatewaySettings,
    vault: Vault,
    plans: PlanSettings,
    metrics: CollectorRegistry = REGISTRY,
) -> GatewayApp:
    """Assemble the gateway. Unlike other services it serves before NATS is connected.

    Until `open_records`, guarded paths wait, and answer `unavailable` after some seconds.
    """
    tenants, names = Tenants(plans), RepositoryNames()
    tokens = TokenBook(tenants, unconfirmed_s_max=settings.tokens_unconfirmed_s_max)
    sign_on = SignOn(settings, tenants, plan=plans.plan_default)
    parts = GatewayParts(
        tenants=tenants,
        groups=Groups(),
        tokens=tokens,
        sessions=Sessions(tokens, sign_on, person_s=settings.console_session_s),
        live_jobs=LiveJobs(),
        names=names,
        vault=vault,
        webhooks=Receiver(bus, tenants, vault, settings, WebhookMetrics(metrics), book=names),
        sign_on=sign_on,
        limiter=Limiter(tenants, LimitMetrics(metrics)),
        usage=UsageLog(UsageMetrics(metrics)),
        kept_requests=KeptRequests(bus),
        audit=AuditLog(AuditMetrics(metrics)),
        history=HistoryLog(tenants, settings.history, HistoryMetrics(metrics)),
    )
    return GatewayApp(build_http(settings, bus, parts, metrics), parts)


async def open_records(bus: Bus, app: GatewayApp, settings: GatewaySettings) -> None:
    """Open the records on a started bus, and store the first token."""
    parts = app.parts
    await parts.tenants.open(bus, replicas=settings.nats_replicas)
    await parts.groups.open(bus)
    await parts.tokens.open(bus, replicas=settings.nats_replicas)
    await parts.sessions.open(bus, replicas=settings.nats_replicas)
    await parts.limiter.open(bus, replicas=settings.nats_replicas)
    await parts.usage.open(
        bus,
        days=settings.usage_days,
        bytes_max=settings.usage_bytes_max,
        replicas=settings.nats_replicas,
    )
    await parts.kept_requests.open(replicas=settings.nats_replicas)
    await parts.names.open(bus.js, replicas=settings.nats_replicas)
    await parts.audit.open(bus, bytes_max=settings.audit_bytes_max, replicas=settings.nats_replicas)
    await parts.history.open(bus, replicas=settings.nats_replicas)
    await parts.vault.open(bus.js, replicas=settings.nats_replicas)
    await parts.webhooks.open()
    if settings.bootstrap_token_sha256:
        await parts.tokens.bootstrap(settings.bootstrap_token_sha256, settings.bootstrap_tenant)


async def store_rest(app: GatewayApp) -> None:
    """Store what waits in memory."""
    parts = app.parts
    with suppress(TimeoutError):
        async with asyncio.timeout(STORE_REST_MAX_S):
            await asyncio.gather(parts.audit.flush(), parts.usage.store(), parts.history.flush())


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings = GatewaySettings()
    vault_settings = VaultSettings()
    service = Service(
        SERVICE,
        settings,
        hosts=(settings.gateway_host,),
        secrets={"PRISM_SECRETS_KEY": vault_settings.secrets_key},
    )
    app = build(service.bus, settings, Vault(vault_settings), PlanSettings())

    async def start() -> None:
        await service.bus.start()
        await open_records(service.bus, app, settings)

    await service.run_app(
        app.http,
        settings.gateway_host,
        settings.gateway_port,
        start,
        drain_s=settings.drain_s,
        end_streams=app.parts.live_jobs.close,
        store_rest=partial(store_rest, app),
    )


if __name__ == "__main__":
    run(serve)
