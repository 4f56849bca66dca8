"""The HTTP application: REST and MCP behind authentication, and health endpoints."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CollectorRegistry
from starlette.routing import BaseRoute, Route

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.tenants import Tenants
from prism_catalog.vault import Vault
from prism_gateway.accounting.audit import AuditLog
from prism_gateway.accounting.call_log import CallLog
from prism_gateway.accounting.frame import CallFrame
from prism_gateway.accounting.history import HistoryLog
from prism_gateway.accounting.traced_calls import TracedCalls
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.auth import BearerAuth
from prism_gateway.backend import BackendServices
from prism_gateway.console.door import ConsoleDoor
from prism_gateway.console.progress import LiveJobs
from prism_gateway.console.routes import console_routes
from prism_gateway.console.sessions import Sessions
from prism_gateway.groups import Groups
from prism_gateway.kept_requests import KeptRequests
from prism_gateway.limits import BodyLimit, limits_of
from prism_gateway.mcp.server import mcp_server, session_manager
from prism_gateway.mcp.tool_metrics import ToolMetrics
from prism_gateway.mcp.toolsets import ToolsetCheck
from prism_gateway.rates.limiter import Limiter
from prism_gateway.rates.strangers import Strangers
from prism_gateway.rest import audit as audit_door
from prism_gateway.rest import (
    context,
    dead_letters,
    descriptions,
    document_remote,
    documents,
    edits,
    errors,
    ingest,
    jobs,
    layers,
    repos,
    scip,
    search,
    tasks,
    wiki,
)
from prism_gateway.rest import history as history_door
from prism_gateway.rest import sign_in as sign_in_door
from prism_gateway.rest import tenants as tenant_door
from prism_gateway.rest import tokens as token_door
from prism_gateway.rest import usage as usage_door
from prism_gateway.rest import webhooks as webhook_door
from prism_gateway.rest.bodies import SnapshotBody
from prism_gateway.rest.dependencies import check_route
from prism_gateway.rest.replies import Error
from prism_gateway.route_names import REST_PREFIX, RouteNames
from prism_gateway.settings import GatewaySettings
from prism_gateway.signon.door import SignOn
from prism_gateway.tokens import TokenBook
from prism_gateway.traffic import HttpMetrics, HttpTraffic
from prism_gateway.webhooks.receiver import Receiver
from prism_runtime.bus import Bus
from prism_runtime.health import Check, cached, health_routes
from prism_runtime.version import release

SERVICE = "gateway"
SEARCH = "search"
SEARCH_CHECKED_EVERY_S = 2.0
SCHEMA_REF = "#/components/schemas/{model}"


@dataclass(frozen=True)
class GatewayParts:
    """What the gateway reads and writes itself, and how people sign on."""

    tenants: Tenants
    groups: Groups
    tokens: TokenBook
    sessions: Sessions
    live_jobs: LiveJobs
    names: RepositoryNames
    vault: Vault
    webhooks: Receiver
    sign_on: SignOn
    limiter: Limiter
    usage: UsageLog
    kept_requests: KeptRequests
    audit: AuditLog
    history: HistoryLog


def build_http(
    settings: GatewaySettings, bus: Bus, parts: GatewayParts, metrics: CollectorRegistry
) -> FastAPI:
    """Build the application. It is not connected yet: until then, guarded paths wait, and answer `unavailable` after some seconds."""
    backend = BackendServices(bus, settings, parts.groups, parts.tenants)
    manager = session_manager(
        mcp_server(backend, parts.limiter, parts.history, release(), ToolMetrics(metrics)),
        _security(settings),
        settings.mcp_bytes_max,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with (
            manager.run(),
            parts.tokens.storing_uses(),
            parts.usage.storing(),
            parts.audit.storing(),
            parts.history.storing(),
        ):
            yield
        await parts.sign_on.close()

    app = FastAPI(
        title="Prism",
        version=release(),
        summary="The REST side of Prism. Agents use MCP at `/mcp`.",
        lifespan=lifespan,
        redoc_url=None,
        servers=[{"url": settings.public_url}] if settings.public_url else None,
    )
    app.state.settings, app.state.bus, app.state.backend = settings, bus, backend
    app.state.parts = parts
    errors.install(app)
    # First: routes are tried in order, and this one gets the most requests.
    app.router.routes.insert(0, Route("/mcp", ToolsetCheck(StreamableHTTPASGIApp(manager))))
    app.router.routes.extend(_rest_routes())
    if parts.sign_on.resource:
        app.router.routes.extend(parts.sign_on.resource.routes())
    app.router.routes.extend(
        health_routes(SERVICE, {"nats": bus.check_connection}, metrics, _shared_checks(bus, parts.tokens))
    )
    strangers = Strangers(settings.unauthenticated_per_minute)
    app.router.routes.extend(console_routes(parts.sessions, strangers, parts.sign_on))
    routes = RouteNames(route.path for route in app.router.routes if isinstance(route, Route))
    # The middleware that was added last runs first.
    app.add_middleware(BodyLimit, limit_of=limits_of(settings))
    app.add_middleware(CallFrame, usage=parts.usage, audit=parts.audit, history=parts.history)
    app.add_middleware(TracedCalls, routes=routes)
    app.add_middleware(
        ConsoleDoor, sessions=parts.sessions, strangers=strangers, usage=parts.usage, settings=settings
    )
    app.add_middleware(
        BearerAuth, tokens=parts.tokens, sign_on=parts.sign_on, strangers=strangers, usage=parts.usage
    )
    calls = CallLog(settings.redacted if settings.log_queries else None)
    app.add_middleware(HttpTraffic, metrics=HttpMetrics(metrics), calls=calls, routes=routes)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _shared_checks(bus: Bus, tokens: TokenBook) -> dict[str, Check]:
    """The optional checks of `/readyz`: what a question needs and every copy of the gateway lacks at the same time.

    If they made a gateway unready, a proxy would have none left, and refuse pushes too.
    """
    search = cached(partial(bus.ping, SEARCH), SEARCH_CHECKED_EVERY_S)
    return {"jetstream": bus.check, "tokens": tokens.check, "search": search}


def rest_router() -> APIRouter:
    """All routes of `/api/v1`."""
    rest = APIRouter(
        prefix=REST_PREFIX,
        responses={"4XX": {"model": Error}, "5XX": {"model": Error}},
        dependencies=[Depends(check_route)],
    )
    for router in (
        search.router,
        context.router,
        descriptions.router,
        wiki.router,
        document_remote.router,  # before a route that takes any id of a document
        documents.router,
        repos.router,
        jobs.router,
        dead_letters.router,
        ingest.router,
        edits.router,
        layers.router,
        tasks.router,
        scip.router,
        token_door.router,
        sign_in_door.router,
        tenant_door.router,
        usage_door.router,
        audit_door.router,
        history_door.router,
        webhook_door.router,
    ):
        rest.include_router(router)
    return rest


@cache
def _rest_routes() -> list[BaseRoute]:
    """Returns the routes of `/api/v1` for any application: FastAPI takes a tenth of a second to make them."""
    router = APIRouter()
    router.include_router(rest_router())
    return router.routes


def _security(settings: GatewaySettings) -> TransportSecuritySettings:
    """The `Host` and `Origin` headers that MCP accepts, against DNS rebinding."""
    hosts = [host.strip() for host in settings.allowed_hosts.split(",") if host.strip()]
    public = urlsplit(settings.public_url).netloc
    if public:
        hosts.append(public)
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Returns FastAPI's OpenAPI document, with the authentication and the request bodies that FastAPI cannot
    infer.
    """
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes, servers=app.servers
        )
        components = schema["components"]
        snapshot = SnapshotBody.model_json_schema(ref_template=SCHEMA_REF)
        components["schemas"] |= snapshot.pop("$defs") | {"SnapshotBody": snapshot}
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema
