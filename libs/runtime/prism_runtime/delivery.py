"""What happens to a message whose handler failed: again later, or to the dead letters.

| error                                   | then                                            |
|-----------------------------------------|-------------------------------------------------|
| UNAVAILABLE, DEADLINE_EXCEEDED,         | again after a pause, as often as it takes, in   |
|                                         | place: an outage is not a failed attempt        |
| MESSAGE_INVALID, validation, decoding   | dead letter at once: it will never get better   |
| anything else                           | again with growing pauses, then dead letter,    |
|                                         | after ATTEMPTS_MAX failures in one process      |
| the process died with it several times: | dead letter, before the handler sees it again   |
| it came more often than DELIVERIES_MAX  |                                                 |

A message that a stopping process gives back counts as a delivery at the server, but not as a failure here.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections import OrderedDict
from typing import Any

from faststream import BaseMiddleware, ContextRepo
from faststream.exceptions import HandlerException, NackMessage
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from pydantic import ValidationError

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.names import DEAD_LETTER_SUBJECTS, dead_letter_subject
from prism_runtime import letters
from prism_runtime.codec import ClaimCodec

# Heartbeats per ack wait: a few may be late before the message is redelivered.
HEARTBEATS_PER_WAIT = 4
ATTEMPTS_MAX = 4
DELIVERIES_MAX = 10
BACKOFF_S = (0.5, 2.0, 8.0)
OUTAGE_PAUSE_S = 2.0
DEAD_LETTER_TIMEOUT_S = 5.0
# Messages whose failures are counted; the oldest is forgotten first.
COUNTED_MAX = 10_000
DEAD_LETTER_PREFIX = DEAD_LETTER_SUBJECTS.rstrip(">")

OUTAGES = frozenset(
    {ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED, ErrorCode.DISK_FULL, ErrorCode.STORE_DAMAGED}
)
POISON = (ValidationError, json.JSONDecodeError, UnicodeDecodeError)

log = logging.getLogger(__name__)


class Heartbeats:
    """Sends heartbeats for every message in this process, so that the server does not redeliver it."""

    def __init__(self, ack_wait_s: float) -> None:
        self._pause_s = ack_wait_s / HEARTBEATS_PER_WAIT
        self._working: dict[int, tuple[Msg, float]] = {}  # by identity: a message does not hash
        self._task: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self.is_stopping = False

    def begin(self, msg: Msg) -> None:
        """Start the heartbeat of a message that has arrived."""
        self._working[id(msg)] = (msg, time.monotonic())
        self._idle.clear()
        if self._task is None or self._task.done() or self._task.get_loop() is not asyncio.get_running_loop():
            self._task = asyncio.create_task(self._beat())

    def end(self, msg: Msg) -> None:
        """Stop the heartbeat of a message."""
        self._working.pop(id(msg), None)
        if not self._working:
            self._idle.set()

    def refuse(self) -> None:
        """From now on, messages that are not being handled yet go to another process."""
        self.is_stopping = True

    async def all_ended(self) -> None:
        """Wait until no message waits or is being handled."""
        await self._idle.wait()

    async def give_back(self) -> None:
        """Give all messages to another process at once, also those whose handlers run."""
        for msg, _ in list(self._working.values()):
            with contextlib.suppress(NatsError):
                await msg.nak()
            self.end(msg)

    def stop(self) -> None:
        """Stop all heartbeats: unhandled messages are redelivered to another process."""
        self._working.clear()
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        while self._working:
            await asyncio.sleep(self._pause_s)
            old = time.monotonic() - self._pause_s
            for msg, since in list(self._working.values()):
                if since <= old:
                    # While NATS is down, heartbeats cannot be sent, and none is expected.
                    with contextlib.suppress(NatsError):
                        await msg.in_progress()


class Failures:
    """Counts the failed attempts of each message in this process."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[str, str, int], int] = OrderedDict()

    def add(self, msg: Msg) -> int:
        """Count a failure. Returns how often the message has failed."""
        key = _key(msg)
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > COUNTED_MAX:
            self._counts.popitem(last=False)
        return count

    def forget(self, msg: Msg) -> None:
        """Forget a message that is acked."""
        self._counts.pop(_key(msg), None)


class DeliveryMiddleware(BaseMiddleware):
    """Retries, dead letters and the end of heartbeats, for JetStream messages. Requests pass unchanged."""

    def __init__(
        self,
        msg: Any,
        /,
        *,
        context: ContextRepo,
        heartbeats: Heartbeats,
        failures: Failures,
        codec: ClaimCodec,
    ) -> None:
        super().__init__(msg, context=context)
        self._heartbeats = heartbeats
        self._failures = failures
        self._codec = codec

    async def consume_scope(self, call_next: Any, msg: Any) -> Any:
        """Handle the message, and repeat it after each outage."""
        work = self._jetstream_message()
        if work is None:
            return await call_next(msg)
        if self._heartbeats.is_stopping:
            raise NackMessage
        if work.metadata.num_delivered > DELIVERIES_MAX:
            raise PrismError(ErrorCode.INTERNAL, "Every process that received this message died or hung.")
        return await self._outlast_outages(call_next, msg, work)

    async def after_processed(
        self,
        exc_type: type[BaseException] | None = None,  # noqa: ARG002 - the signature is FastStream's
        exc_val: BaseException | None = None,
        exc_tb: Any = None,  # noqa: ARG002
    ) -> bool | None:
        """Decide about a failed message. Returns True to ack it."""
        work = self._jetstream_message()
        if work is None:
            return False
        self._heartbeats.end(work)
        if isinstance(exc_val, HandlerException):
            return False
        if not isinstance(exc_val, Exception):
            self._failures.forget(work)
            return False
        deliveries, failures = work.metadata.num_delivered, self._failures.add(work)
        log.warning(
            "delivery %d of %s failed: %s", deliveries, work.subject, letters.reason(exc_val),
            exc_info=exc_val if not isinstance(exc_val, PrismError) else None,
        )  # fmt: skip
        is_given_up = failures >= ATTEMPTS_MAX or deliveries > DELIVERIES_MAX or _is_poison(exc_val)
        if not is_given_up:
            raise NackMessage(delay=BACKOFF_S[min(failures - 1, len(BACKOFF_S) - 1)]) from exc_val
        self._failures.forget(work)
        # A dead letter that cannot be handled stays in its stream: publishing it again would never end.
        if not work.subject.startswith(DEAD_LETTER_PREFIX):
            await self._bury(work, exc_val)
        return True

    async def _outlast_outages(self, call_next: Any, msg: Any, work: Msg) -> Any:
        while True:
            try:
                return await call_next(msg)
            except PrismError as error:
                if error.code not in OUTAGES:
                    raise
                log.warning("%s waits for the end of an outage: %s", work.subject, error)
            await asyncio.sleep(OUTAGE_PAUSE_S)
            # An outage may last longer than a stopping process: the message waits in another one.
            if self._heartbeats.is_stopping:
                raise NackMessage

    def _jetstream_message(self) -> Msg | None:
        return self.msg if isinstance(self.msg, Msg) and self.msg.reply.startswith("$JS.ACK") else None

    async def _bury(self, work: Msg, error: Exception) -> None:
        meta = work.metadata
        code = error.code.value if isinstance(error, PrismError) else ErrorCode.INTERNAL.value
        if _is_poison(error):
            code = ErrorCode.MESSAGE_INVALID.value
        tenant, body = await letters.summary(self._codec, work)
        headers = {
            "Nats-Msg-Id": f"{meta.stream}-{meta.consumer}-{meta.sequence.stream}",
            "Prism-Subject": work.subject,
            "Prism-Consumer": meta.consumer,
            "Prism-Code": code,
            "Prism-Reason": letters.reason(error),
            "Prism-Deliveries": str(meta.num_delivered),
        }
        js = self.context.get("broker").connection.jetstream()
        subject = dead_letter_subject(tenant, meta.stream, meta.consumer)
        await js.publish(subject, body, headers=headers, timeout=DEAD_LETTER_TIMEOUT_S)


def _key(msg: Msg) -> tuple[str, str, int]:
    return (msg.metadata.stream, msg.metadata.consumer, msg.metadata.sequence.stream)


def _is_poison(error: Exception) -> bool:
    return isinstance(error, POISON) or (
        isinstance(error, PrismError) and error.code is ErrorCode.MESSAGE_INVALID
    )
