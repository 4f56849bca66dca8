"""The tenants of this Prism: who they are, their plans and limits. Each route needs the scope `operator`."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Limits, Tenant, Token
from prism_contracts.types import TenantId, TenantIdOrNone
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import OF_PLAN, LimitChanges, TenantBody, TenantChanges
from prism_gateway.rest.dependencies import Caller, Registry, Settings, ThisChange, Tokens
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply
from prism_gateway.scopes import TokenScope

TENANTS_MAX = 1_000
TENANTS_DEFAULT = 200
FIRST_LABEL = "first"
FIRST_SCOPES = (TokenScope.ADMIN, TokenScope.READ, TokenScope.WRITE)

router = APIRouter(prefix="/tenants", tags=["tenants"], route_class=IdempotentRoute)


@router.post("", response_model=replies.CreatedTenant, status_code=201, dependencies=[IDEMPOTENT])
async def create_tenant(
    body: TenantBody, *, caller: Caller, tenants: Registry, tokens: Tokens, change: ThisChange
) -> Response:
    """Create a tenant with a first token, which can do everything within it.

    The response is the only one with the token's secret.
    """
    change.subject = change.tenant = body.id
    change.describe(name=body.name, plan=body.plan, limits=_listed(body.limits))
    now = datetime.now(UTC)
    tenant = Tenant(
        tenant=body.id,
        name=body.name,
        plan=tenants.plan_named(body.plan),
        limits=_changed({}, body.limits),
        created_at=now,
    )
    await tenants.create(tenant)
    token = Token(
        tenant=body.id, label=FIRST_LABEL, scopes=FIRST_SCOPES, created_at=now, created_by=caller.id
    )
    secret, known = await tokens.create(token)
    created = replies.CreatedTenant(
        tenant=_shown(tenant, tenants), secret=secret, token=replies.DeveloperToken.of(*known)
    )
    response = reply(created, status=201)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.get("", response_model=replies.TenantPage)
async def list_tenants(
    tenants: Registry,
    limit: Annotated[int, Query(ge=1, le=TENANTS_MAX)] = TENANTS_DEFAULT,
    cursor: Annotated[TenantIdOrNone, Query(description="`next_cursor` of the page before.")] = "",
) -> Response:
    """List the tenants by id."""
    known = [tenant for tenant in await tenants.newest() if tenant.tenant > cursor]
    page = known[:limit]
    listed = replies.TenantPage(
        tenants=tuple(_shown(tenant, tenants) for tenant in page),
        next_cursor=page[-1].tenant if len(known) > limit else "",
    )
    return reply(listed)


@router.get("/{tenant}", response_model=replies.TenantDetails)
async def show_tenant(tenant: TenantId, tenants: Registry) -> Response:
    """Return a tenant, with the limits of its own and those in effect."""
    return reply(_shown(await tenants.find(tenant), tenants))


@router.patch("/{tenant}", response_model=replies.TenantDetails)
async def update_tenant(
    tenant: TenantId, *, body: TenantChanges, caller: Caller, tenants: Registry, change: ThisChange
) -> Response:
    """Change a tenant. Omitted fields stay unchanged.

    Every copy of the gateway follows within a second: with `is_active` false it refuses every token and
    webhook of the tenant, and new limits hold for the next call.
    """
    change.subject = change.tenant = tenant
    fields = body.model_dump(exclude={"limits"}, exclude_none=True)
    change.describe(**fields, limits=_listed(body.limits))
    if body.is_active is False and tenant == caller.tenant:
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "The token belongs to this tenant, so it could not make it active again.",
            "Use an operator's token of another tenant.",
        )
    changes = body.model_dump(include={"name", "is_active"}, exclude_none=True)
    if body.plan is not None:
        changes["plan"] = tenants.plan_named(body.plan)

    def changed(known: Tenant) -> Tenant:
        return known.model_copy(update={**changes, "limits": _changed(known.limits, body.limits)})

    return reply(_shown(await tenants.change(tenant, changed), tenants))


@router.delete("/{tenant}", response_model=replies.TenantDetails, status_code=202)
async def remove_tenant(
    tenant: TenantId, *, caller: Caller, tenants: Registry, settings: Settings, change: ThisChange
) -> Response:
    """Remove a tenant with everything that is stored of it: repositories, index, tokens, secrets, usage.

    Every copy of the gateway refuses it within a second. Its data is deleted in the background: `removal` says
    what was deleted, until the id is free again.
    """
    change.subject = change.tenant = tenant
    if tenant in (caller.tenant, settings.bootstrap_tenant):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            "The tenant of the token, and that of the first token (PRISM_BOOTSTRAP_TENANT), cannot be removed.",
            "Remove its repositories and revoke its tokens instead.",
        )
    return reply(_shown(await tenants.remove(tenant, datetime.now(UTC)), tenants), status=202)


def _changed(limits: Limits, changes: LimitChanges) -> Limits:
    """Returns limits of a tenant after changes to some of them."""
    changed = dict(limits)
    for limit, value in changes.items():
        if value == OF_PLAN:
            changed.pop(limit, None)
        else:
            changed[limit] = value
    return changed


def _listed(limits: LimitChanges) -> str:
    return ", ".join(f"{limit} {value}" for limit, value in limits.items())


def _shown(tenant: Tenant, tenants: Registry) -> replies.TenantDetails:
    return replies.TenantDetails(
        id=tenant.tenant,
        limits_in_effect=tenants.limits_in_effect(tenant),
        **tenant.model_dump(exclude={"tenant"}),
    )
