"""Request/reply over NATS with typed models, deadlines, and errors that reach the caller as errors.

On the wire a reply is `{"ok": …}` or `{"error": ErrorBody}`. Without that, an exception in a handler would be
a timeout for the caller.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from faststream.exceptions import RejectMessage
from faststream.nats import NatsBroker, NatsMessage
from faststream.nats.subscriber.usecases.core_subscriber import ConcurrentCoreSubscriber
from nats.errors import ConnectionClosedError, NoRespondersError, NoServersError
from nats.errors import Error as NatsError
from nats.js.errors import BucketNotFoundError, NoStreamResponseError, ServiceUnavailableError
from pydantic import ValidationError

from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, invalid_argument
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import WAIT_MAX_S, ScopedRequest
from prism_runtime import tracing
from prism_runtime.codec import ClaimCodec
from prism_runtime.metrics import OK, RpcMetrics
from prism_runtime.stopping import Calls
from prism_runtime.tasks import running

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
    metrics: RpcMetrics,
    calls: Calls,
) -> ConcurrentCoreSubscriber:
    """Answer requests, each as one of `calls`; the copies of a service share them."""
    subject = rpc.subject
    metrics.begin(rpc.name)

    async def answer(body: bytes) -> tuple[bytes, str]:
        try:
            request = rpc.request.model_validate_json(body)
            tracing.note_message(request)
            async with calls.within(deadline_s + _waits_s(request)):
                reply = await handle(request)
        except Exception as error:  # noqa: BLE001 - every error is an answer
            problem = _error_body(subject, error, deadline_s)
            tracing.note_error(problem.code)
            return json.dumps({"error": problem.model_dump(mode="json")}).encode(), problem.code.value
        return OK_PREFIX + reply.model_dump_json().encode() + b"}", OK

    async def on_request(body: bytes) -> bytes:
        message: NatsMessage = broker.context.get_local("message")
        # Whoever may create a consumer can have NATS deliver a stream's messages to any subject, this one
        # included. They keep the subject of the stream.
        if message.raw_message.subject != subject:
            log.error("refused a message of a stream as a request: %s", message.raw_message.subject)
            raise RejectMessage
        began = time.perf_counter()
        reply, code = await answer(body)
        metrics.observe(rpc.name, code, time.perf_counter() - began)
        return reply

    subscriber = broker.subscriber(subject, queue=service, max_workers=SERVE_WORKERS)
    subscriber(on_request)
    assert isinstance(subscriber, ConcurrentCoreSubscriber)
    return subscriber


async def call(
    broker: NatsBroker,
    codec: ClaimCodec,
    rpc: Rpc[Request, Answer],
    request: Request,
    *,
    timeout_s: float,
    reconnected: asyncio.Event,
) -> Answer:
    """Send a request and return the reply, or raise the PrismError that came instead.

    `reconnected` is set at the next reconnect: a request that only reads is sent again then, once, because its
    reply may be lost.
    """
    try:
        send = partial(broker.request, request, rpc.subject)
        reply = await _reply(send, timeout_s + _waits_s(request), reconnected if rpc.reads else None)
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


async def _reply(
    send: Callable[..., Awaitable[NatsMessage]], timeout_s: float, reconnected: asyncio.Event | None
) -> NatsMessage:
    if reconnected is None:
        return await send(timeout=timeout_s)
    ends_at = time.monotonic() + timeout_s
    async with running(_sent(send, timeout_s)) as first, running(reconnected.wait()) as reconnect:
        await asyncio.wait([first, reconnect], return_when=asyncio.FIRST_COMPLETED)
        if first.done():
            return first.result()
    return await send(timeout=max(0.0, ends_at - time.monotonic()))


async def _sent(send: Callable[..., Awaitable[NatsMessage]], timeout_s: float) -> NatsMessage:
    return await send(timeout=timeout_s)


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
