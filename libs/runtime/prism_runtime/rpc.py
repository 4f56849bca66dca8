"""Request/reply over NATS with typed models, deadlines, and errors that reach the caller as errors.

On the wire a reply is `{"ok": …}` or `{"error": ErrorBody}`. Without that, an exception in a handler would be
a timeout for the caller.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from faststream.nats import NatsBroker
from nats.errors import ConnectionClosedError, NoRespondersError, NoServersError
from nats.errors import Error as NatsError
from nats.js.errors import BucketNotFoundError, NoStreamResponseError, ServiceUnavailableError
from pydantic import ValidationError

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, invalid_argument
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import WAIT_MAX_S, ScopedRequest
from prism_runtime.codec import ClaimCodec

# Per subject. Requests that wait for a commit occupy a worker too; the gateway limits them.
SERVE_WORKERS = 1_024
OK_PREFIX = b'{"ok":'

# NATS is down, or a stream or bucket was deleted and is not declared again yet.
OUTAGES = (
    NoRespondersError,
    ConnectionClosedError,
    NoServersError,
    NoStreamResponseError,
    BucketNotFoundError,
    ServiceUnavailableError,
)

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)

log = logging.getLogger(__name__)


def serve(
    broker: NatsBroker,
    service: str,
    rpc: Rpc[Request, Answer],
    handle: Callable[[Request], Awaitable[Answer]],
    *,
    deadline_s: float,
) -> None:
    """Answer requests; the copies of a service share them."""
    subject = rpc.subject

    async def on_request(body: bytes) -> bytes:
        try:
            request = rpc.request.model_validate_json(body)
            async with asyncio.timeout(deadline_s + _waits_s(request)):
                answer = await handle(request)
        except Exception as error:  # noqa: BLE001 - every error is an answer
            return json.dumps(
                {"error": _error_body(subject, error, deadline_s).model_dump(mode="json")}
            ).encode()
        return OK_PREFIX + answer.model_dump_json().encode() + b"}"

    broker.subscriber(subject, queue=service, max_workers=SERVE_WORKERS)(on_request)


async def call(
    broker: NatsBroker, codec: ClaimCodec, rpc: Rpc[Request, Answer], request: Request, *, timeout_s: float
) -> Answer:
    """Send a request and return the reply, or raise the PrismError that came instead."""
    try:
        reply = await broker.request(request, rpc.subject, timeout=timeout_s + _waits_s(request))
        body = await codec.decode(reply)
    except NoRespondersError as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            f"The {rpc.service} service is not running.",
            "Retry in a few seconds. `prism status` shows what is running.",
        ) from error
    except TimeoutError as error:
        raise PrismError(
            ErrorCode.DEADLINE_EXCEEDED,
            f"The {rpc.service} service did not answer within {timeout_s:g} s.",
            "Retry, or ask for less.",
        ) from error
    except NatsError as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE, f"NATS is not reachable: {error}", "Retry in a few seconds."
        ) from error
    if body.startswith(OK_PREFIX):
        return rpc.reply.model_validate_json(body[len(OK_PREFIX) : -1])
    error_body = ErrorBody.model_validate(json.loads(body)["error"])
    raise PrismError(error_body.code, error_body.message, error_body.next_action, **error_body.details)


def _waits_s(request: Message) -> float:
    """How long a request may wait for its commit, in addition to the time for the answer."""
    return WAIT_MAX_S if isinstance(request, ScopedRequest) and request.wait_for_commit else 0.0


def _error_body(subject: str, error: Exception, deadline_s: float) -> ErrorBody:
    if isinstance(error, PrismError):
        return error.body
    if isinstance(error, ValidationError):
        return invalid_argument(
            error.errors(include_url=False, include_input=False), "Correct the arguments and call again."
        )
    if isinstance(error, TimeoutError):
        return ErrorBody(
            code=ErrorCode.DEADLINE_EXCEEDED,
            message=f"No answer within {deadline_s:g} s.",
            next_action="Retry, or ask for less.",
        )
    if isinstance(error, OUTAGES):
        log.warning("request on %s failed: %r", subject, error)
        return ErrorBody(
            code=ErrorCode.UNAVAILABLE,
            message="NATS lacks a stream or bucket that the request needs.",
            next_action="Retry in a few seconds. `prism status` shows what is running.",
        )
    log.error("request on %s failed", subject, exc_info=error)
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message="Something went wrong inside Prism. The service's log has the details.",
        next_action="Retry. If the error persists, check `prism status` and the logs.",
    )
