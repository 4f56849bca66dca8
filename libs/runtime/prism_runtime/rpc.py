"""Request/reply over NATS with typed models, deadlines, and errors that arrive as errors.

On the wire a reply is `{"ok": …}` or `{"error": ErrorBody}`: an exception in a handler would otherwise be a
time-out at the caller.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nats.errors import ConnectionClosedError, NoRespondersError, NoServersError
from nats.errors import Error as NatsError
from nats.js.errors import BucketNotFoundError, NoStreamResponseError, ServiceUnavailableError
from pydantic import ValidationError

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, invalid_argument
from prism_contracts.rpc import WAIT_MAX_S, ScopedRequest
from prism_runtime.bus import Bus

# Of one subject. Requests that wait for a commit take a place too; the gateway limits how many do.
SERVE_WORKERS = 1_024
OK_PREFIX = b'{"ok":'

# NATS is away, or a stream or bucket was deleted and is not declared again yet.
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
    bus: Bus,
    subject: str,
    request_type: type[Request],
    handle: Callable[[Request], Awaitable[Message]],
    *,
    deadline_s: float,
) -> None:
    """Answer requests on a subject; copies of a service share them."""

    async def on_request(body: bytes) -> bytes:
        try:
            request = request_type.model_validate_json(body)
            async with asyncio.timeout(deadline_s + _waits_s(request)):
                answer = await handle(request)
        except Exception as error:  # noqa: BLE001 - every error is an answer
            return json.dumps(
                {"error": _error_body(subject, error, deadline_s).model_dump(mode="json")}
            ).encode()
        return OK_PREFIX + answer.model_dump_json().encode() + b"}"

    bus.broker.subscriber(subject, queue=bus.service, max_workers=SERVE_WORKERS)(on_request)


async def call(
    bus: Bus, subject: str, request: Message, answer_type: type[Answer], *, timeout_s: float
) -> Answer:
    """Ask and wait for the typed answer, or raise the PrismError that came instead."""
    service = subject.split(".")[2]
    try:
        reply = await bus.broker.request(request, subject, timeout=timeout_s + _waits_s(request))
        body = await bus.codec.decode(reply)
    except NoRespondersError as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            f"The {service} service is not running.",
            "Try again in a few seconds; see `prism status`.",
        ) from error
    except TimeoutError as error:
        raise PrismError(
            ErrorCode.DEADLINE_EXCEEDED,
            f"The {service} service did not answer within {timeout_s:g} s.",
            "Try again, or ask for less.",
        ) from error
    except NatsError as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE, f"NATS is not reachable: {error}", "Try again in a few seconds."
        ) from error
    if body.startswith(OK_PREFIX):
        return answer_type.model_validate_json(body[len(OK_PREFIX) : -1])
    error_body = ErrorBody.model_validate(json.loads(body)["error"])
    raise PrismError(error_body.code, error_body.message, error_body.next_action, **error_body.details)


def _waits_s(request: Message) -> float:
    """How long a request may wait for the commit that it is about, beside the time for the answer."""
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
            next_action="Try again, or ask for less.",
        )
    if isinstance(error, OUTAGES):
        log.warning("request on %s failed: %r", subject, error)
        return ErrorBody(
            code=ErrorCode.UNAVAILABLE,
            message="NATS does not have what the request needs at the moment.",
            next_action="Try again in a few seconds; see `prism status`.",
        )
    log.error("request on %s failed", subject, exc_info=error)
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message="Something went wrong inside Prism; the log of the service has the details.",
        next_action="Try again; if it stays, look at `prism status` and the logs.",
    )
