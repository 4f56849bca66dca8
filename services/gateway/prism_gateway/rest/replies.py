"""Bodies of REST responses that differ from the replies of the contracts."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel
from starlette.responses import Response

from prism_contracts.accounting import AuditEntry, FeedbackEntry, HistoryEntry
from prism_contracts.errors import ErrorBody
from prism_contracts.records import Job, Limits, Repository, TenantRemoval, Token
from prism_contracts.rpc.layers import LayerReply
from prism_contracts.rpc.repositories import IndexState, RepositoryStatusReply
from prism_gateway.webhooks.payloads import WebhookEvent
from prism_gateway.webhooks.receiver import WebhookOutcome

JSON = "application/json"


class Error(BaseModel):
    """The body of every error response."""

    error: ErrorBody


class WhoAmI(BaseModel):
    """The tenant, label and scopes of the token."""

    tenant: str
    label: str
    scopes: tuple[str, ...]


class DeveloperToken(BaseModel):
    """A developer token, without its secret."""

    id: str
    tenant: str
    label: str
    scopes: tuple[str, ...]
    repos: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, token: str, record: Token) -> Self:
        """Returns the token with its id."""
        return cls(id=token, **record.model_dump())


class CreatedToken(BaseModel):
    """A new developer token, and its secret, which is not shown again."""

    secret: str
    token: DeveloperToken


class SignInCode(BaseModel):
    """A code that signs in to the console once."""

    code: str
    seconds: int  # for which it works


class DeveloperTokens(BaseModel):
    """The tokens of a tenant, the newest first."""

    tokens: tuple[DeveloperToken, ...]


class TenantDetails(BaseModel):
    """A tenant. A limit that is missing or null is no limit."""

    id: str
    name: str
    plan: str
    limits: Limits  # instead of those of the plan
    limits_in_effect: Limits
    is_active: bool
    created_at: datetime
    removal: TenantRemoval | None  # while its data is deleted


class CreatedTenant(CreatedToken):
    """A new tenant and its first token, whose secret is not shown again."""

    tenant: TenantDetails


class TenantPage(BaseModel):
    """Tenants by id. An empty cursor means that this is the last page."""

    tenants: tuple[TenantDetails, ...]
    next_cursor: str


class Repositories(BaseModel):
    """The tenant's repositories."""

    repositories: tuple[Repository, ...]


class Registered(BaseModel):
    """A repository, and the job that imports it, if any."""

    repository: Repository
    job: Job | None


class Changed(BaseModel):
    """A repository after a change."""

    repository: Repository


class FilesByStatus(BaseModel):
    """Files of the base, by their state in the index."""

    indexed: int
    skipped: int
    failed: int


class RepositoryReport(BaseModel):
    """The state of a repository."""

    name: str
    repo: str  # its id
    source: str
    ref: str  # the followed ref; empty for the default branch
    is_active: bool
    repo_root_prefix: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    state: IndexState
    served_commit: str
    served_ref: str
    indexed_at: datetime | None
    head_commit: str
    lag_seconds: float
    files: FilesByStatus | None  # None while they are unknown
    layers: int
    active_job: Job | None
    last_job: Job | None
    last_error: ErrorBody | None

    @classmethod
    def of(cls, found: RepositoryStatusReply, files: FilesByStatus | None) -> Self:
        """Convert the reply of ingest."""
        repository, served = found.repository, found.repository.served
        return cls(
            name=repository.name,
            repo=repository.repo,
            source=repository.source,
            ref=repository.ref,
            is_active=repository.is_active,
            repo_root_prefix=repository.repo_root_prefix,
            include=repository.include,
            exclude=repository.exclude,
            state=found.state,
            served_commit=served.commit if served else "",
            served_ref=served.ref if served else "",
            indexed_at=served.indexed_at if served else None,
            head_commit=repository.head_commit,
            lag_seconds=found.lag_seconds,
            files=files,
            layers=found.layers,
            active_job=found.active_job,
            last_job=found.last_job,
            last_error=found.last_error,
        )


class Jobs(BaseModel):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]


class Stored(BaseModel):
    """Whether the pack is stored on the bus."""

    stored: bool


class WebhookTaken(BaseModel):
    """The outcome of a webhook."""

    outcome: WebhookOutcome
    event: WebhookEvent
    reason: str  # why it was ignored; empty if it was not
    repositories: tuple[str, ...]  # the repositories that ingest checks


class SecretsKept(BaseModel):
    """Which secrets of a repository are stored. Their values are never returned."""

    webhook_secret: bool
    git_password: bool


class Audit(BaseModel):
    """Changes, the newest first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str  # empty at the end


class SearchHistory(BaseModel):
    """Questions with their hits, the newest first."""

    is_on: bool  # whether new questions are kept
    entries: tuple[HistoryEntry, ...]
    next_cursor: str  # empty at the end


class HistoryState(BaseModel):
    """Whether the questions of a tenant are kept."""

    tenant: str
    is_on: bool


class FeedbackPage(BaseModel):
    """What callers said about answers, the newest first."""

    entries: tuple[FeedbackEntry, ...]
    next_cursor: str  # empty at the end


class Overlay(BaseModel):
    """An overlay. It is searchable once its job has ended."""

    handle: str
    expires_at: datetime | None
    files_changed: int  # the commit that is searchable now
    job: Job | None

    @classmethod
    def of(cls, found: LayerReply) -> Self:
        """Convert the reply of ingest."""
        layer = found.layer
        return cls(
            handle=layer.ref,
            expires_at=layer.expires_at,
            files_changed=layer.files_changed,
            job=found.job,
        )


# Internal bits of ingest. The counts of a job show its progress.
JOB = {"job": {"settled"}}
JOBS = {"jobs": {"__all__": {"settled"}}}
STATUS = {"active_job": {"settled"}, "last_job": {"settled"}}


def reply(model: BaseModel, *, status: int = 200, exclude: Any = None) -> Response:
    """Returns a response from a validated model: it is serialized once and not validated again."""
    return Response(model.model_dump_json(exclude=exclude), status_code=status, media_type=JSON)
