"""Dependencies of the routes: the caller, the services, the repository of the header, the settings."""

from typing import Annotated, cast

from fastapi import Depends, Header, Request

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.tenants import Tenants
from prism_catalog.vault import Vault
from prism_contracts.types import RepoKeyOrNone
from prism_gateway import callers
from prism_gateway.accounting.audit import AuditLog
from prism_gateway.accounting.changes import CallChange
from prism_gateway.accounting.facts import FACTS_KEY, facts_of
from prism_gateway.accounting.history import HistoryLog
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.backend import Backend, BackendServices
from prism_gateway.callers import caller_of
from prism_gateway.console.sessions import Sessions
from prism_gateway.rates.limiter import Limiter
from prism_gateway.rates.policies import CLASS_OF_ROUTE, CallClass
from prism_gateway.scopes import OPEN_ROUTES, ROUTES, check_scope
from prism_gateway.settings import GatewaySettings
from prism_gateway.tokens import TokenBook
from prism_gateway.webhooks.receiver import Receiver
from prism_runtime.bus import Bus

# They are async because FastAPI runs synchronous dependencies on threads.


async def check_route(request: Request) -> None:
    """Raise FORBIDDEN unless the request's token has a scope that the route requires, RATE_LIMITED if it calls
    too often.
    """
    name = f"{request.method} {request.scope['route'].path}"
    if name in OPEN_ROUTES:
        return
    caller, facts = caller_of(request), facts_of(request)
    if facts.call:  # checked before its Idempotency-Key was looked up
        return
    call_class = CLASS_OF_ROUTE.get(name, CallClass.OTHER)
    facts.call, facts.is_text = name, call_class is CallClass.SEARCH
    check_scope(caller, ROUTES.get(name, frozenset()))
    limiter = cast("Limiter", request.app.state.parts.limiter)
    admission = await limiter.admit(caller, call_class)
    facts.admission = admission
    admission.check()


async def _caller(request: Request) -> callers.Caller:
    return caller_of(request)


async def _backend(request: Request) -> Backend:
    services = cast("BackendServices", request.app.state.backend)
    return services.of(caller_of(request), request.scope["state"].get(FACTS_KEY))


async def _bus(request: Request) -> Bus:
    return cast("Bus", request.app.state.bus)


async def _webhooks(request: Request) -> Receiver:
    return cast("Receiver", request.app.state.parts.webhooks)


async def _vault(request: Request) -> Vault:
    return cast("Vault", request.app.state.parts.vault)


async def _names(request: Request) -> RepositoryNames:
    return cast("RepositoryNames", request.app.state.parts.names)


async def _tokens(request: Request) -> TokenBook:
    return cast("TokenBook", request.app.state.parts.tokens)


async def _sessions(request: Request) -> Sessions:
    return cast("Sessions", request.app.state.parts.sessions)


async def _tenants(request: Request) -> Tenants:
    return cast("Tenants", request.app.state.parts.tenants)


async def _usage(request: Request) -> UsageLog:
    return cast("UsageLog", request.app.state.parts.usage)


async def _audit(request: Request) -> AuditLog:
    return cast("AuditLog", request.app.state.parts.audit)


async def _history(request: Request) -> HistoryLog:
    return cast("HistoryLog", request.app.state.parts.history)


async def _change(request: Request) -> CallChange:
    return facts_of(request).change


async def _settings(request: Request) -> GatewaySettings:
    return cast("GatewaySettings", request.app.state.settings)


Caller = Annotated[callers.Caller, Depends(_caller)]
Services = Annotated[Backend, Depends(_backend)]
Connection = Annotated[Bus, Depends(_bus)]
Webhooks = Annotated[Receiver, Depends(_webhooks)]
RepositorySecrets = Annotated[Vault, Depends(_vault)]
NameBook = Annotated[RepositoryNames, Depends(_names)]
Tokens = Annotated[TokenBook, Depends(_tokens)]
ConsoleSessions = Annotated[Sessions, Depends(_sessions)]
Registry = Annotated[Tenants, Depends(_tenants)]
UsageBook = Annotated[UsageLog, Depends(_usage)]
AuditBook = Annotated[AuditLog, Depends(_audit)]
History = Annotated[HistoryLog, Depends(_history)]
ThisChange = Annotated[CallChange, Depends(_change)]
Settings = Annotated[GatewaySettings, Depends(_settings)]
RepoHeader = Annotated[
    RepoKeyOrNone,
    Header(alias="X-Prism-Repo", description="owner/name, for requests without a repository."),
]
