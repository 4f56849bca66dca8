"""The bodies of REST answers that are not replies of the contract as they stand."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel
from starlette.responses import Response

from prism_contracts.errors import ErrorBody
from prism_contracts.records import Job, Repository
from prism_contracts.rpc.layers import LayerReply
from prism_gateway.webhooks.payloads import Event
from prism_gateway.webhooks.receiver import Outcome

JSON = "application/json"


class Error(BaseModel):
    """What every request that fails is answered with."""

    error: ErrorBody


class WhoAmI(BaseModel):
    """What the token stands for."""

    tenant: str
    label: str
    scopes: tuple[str, ...]


class Repositories(BaseModel):
    """The tenant's repositories."""

    repositories: tuple[Repository, ...]


class Jobs(BaseModel):
    """Jobs, newest first."""

    jobs: tuple[Job, ...]


class Stored(BaseModel):
    """The upload is safe on the bus."""

    stored: bool


class WebhookTaken(BaseModel):
    """What is done about a webhook."""

    outcome: Outcome
    event: Event
    reason: str  # why nothing is done, empty if something is
    repositories: tuple[str, ...]  # which are looked at


class SecretsKept(BaseModel):
    """Which secrets of a repository are kept. They themselves are never told."""

    webhook_secret: bool
    git_password: bool


class Overlay(BaseModel):
    """An overlay. It is searchable when its job has ended."""

    handle: str
    expires_at: datetime | None
    files_changed: int  # of what is searchable now
    job: Job | None

    @classmethod
    def of(cls, found: LayerReply) -> Self:
        """From what ingest says."""
        layer = found.layer
        return cls(
            handle=layer.ref,
            expires_at=layer.expires_at,
            files_changed=layer.files_changed,
            job=found.job,
        )


# How far a job is stands in its counts; the bits behind them are the business of ingest.
JOB = {"job": {"settled"}}
JOBS = {"jobs": {"__all__": {"settled"}}}


def reply(model: BaseModel, *, status: int = 200, exclude: Any = None) -> Response:
    """An answer from a model that is valid already: it is written once and not checked again."""
    return Response(model.model_dump_json(exclude=exclude), status_code=status, media_type=JSON)
