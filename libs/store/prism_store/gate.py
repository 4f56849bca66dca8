"""The gate to the store: requires a tenant, keeps reads inside their scope, and classifies outages.

Every other module of this package calls Qdrant through it.
"""

import contextlib
import warnings
from collections.abc import Iterator
from http import HTTPStatus

import httpx
from opentelemetry.trace import Span
from prometheus_client import CollectorRegistry
from qdrant_client import models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from prism_contracts.base import scope_key
from prism_contracts.errors import ErrorCode, PrismError
from prism_runtime import tracing
from prism_runtime.tracing import Attribute
from prism_store.client import StoreClient
from prism_store.metrics import StoreMetrics
from prism_store.scope import Scope, View
from prism_store.settings import StoreSettings

SYSTEM = "qdrant"
HTTP_NOT_FOUND = 404
HTTP_SERVER_ERROR = 500
# The start of the local store's error for a collection whose files cannot be read.
DAMAGED = b'"Damaged: '


def connect(settings: StoreSettings, metrics: CollectorRegistry | None = None) -> StoreClient:
    """Returns a client, which connects at the first call. Without `metrics`, its metrics are not exposed."""
    with warnings.catch_warnings():
        # The key of a local stack travels over plain HTTP, but never leaves the machine.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        return StoreClient(settings, StoreMetrics(CollectorRegistry() if metrics is None else metrics))


async def check_store(client: StoreClient) -> None:
    """Raise unless Qdrant answers."""
    await client.get_collections()


def scope_condition(scope: Scope) -> models.FieldCondition:
    """Returns the condition that limits a read to its repositories and their layer, without the view."""
    if not scope.tenant or not scope.repos:
        raise PrismError(ErrorCode.FORBIDDEN, "A read of the store needs a tenant and a repository.")
    keys = [scope_key(repo, scope.layer) for repo in scope.repos]
    match = models.MatchValue(value=keys[0]) if len(keys) == 1 else models.MatchAny(any=keys)
    return models.FieldCondition(key="scope", match=match)


def view_condition(view: View) -> models.FieldCondition:
    """Returns the condition that limits a read to the variants of a view."""
    return models.FieldCondition(key="scope", match=models.MatchAny(any=list(view.keys)))


@contextlib.contextmanager
def store_call(client: StoreClient, operation: str, collection: str) -> Iterator[Span]:
    """Wraps a call to a collection in a span, measures it, and raises outages as UNAVAILABLE, which callers retry."""
    attributes: dict[str, tracing.Value] = {
        Attribute.DB_SYSTEM: SYSTEM,
        Attribute.DB_OPERATION: operation,
        Attribute.DB_COLLECTION: collection,
    }
    with (
        tracing.span(f"{SYSTEM} {operation}", attributes, tracing.CLIENT) as span,
        client.metrics.call(operation),
        _outages_named(),
    ):
        yield span


@contextlib.contextmanager
def _outages_named() -> Iterator[None]:
    try:
        yield
    except (ResponseHandlingException, httpx.TransportError, ResourceExhaustedResponse) as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE, f"Qdrant is not reachable: {error}", "Retry in a few seconds."
        ) from error
    except UnexpectedResponse as error:
        if error.status_code is not None and error.status_code < HTTP_SERVER_ERROR:
            raise
        if error.status_code == HTTPStatus.INSUFFICIENT_STORAGE:
            raise PrismError(
                ErrorCode.DISK_FULL, "The disk of Qdrant is full.", "Free space on it. Reads still work."
            ) from error
        damage = _damage(error.content)
        if damage:
            raise PrismError(
                ErrorCode.STORE_DAMAGED,
                f"The index is damaged: {damage}",
                "Run `prism repair` on the machine of the store. It moves the collection aside and rebuilds it.",
            ) from error
        raise PrismError(
            ErrorCode.UNAVAILABLE, "Qdrant failed to answer.", "Retry in a few seconds."
        ) from error


def _damage(content: bytes) -> str:
    """Returns the local store's reason why a collection cannot be read; empty for other errors."""
    _, found, rest = content.partition(DAMAGED)
    return rest.partition(b'"')[0].decode(errors="replace") if found else ""


def is_missing(error: ApiException) -> bool:
    """Returns whether Qdrant reported that a collection or point does not exist."""
    return isinstance(error, UnexpectedResponse) and error.status_code == HTTP_NOT_FOUND
