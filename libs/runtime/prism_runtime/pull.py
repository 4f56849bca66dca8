"""Pulls messages from JetStream, and returns each as it arrives, with its heartbeat started.

nats-py's own `fetch` times out a moment before the server's answer "no messages" arrives. The next `fetch`
takes that for its own answer, sends a request that collects messages until its timeout, and so delays a
single message for seconds: beyond its ack wait, so that it is redelivered while the first delivery still
waits.
"""

import asyncio
import itertools
import json
import logging
import time
from collections.abc import Callable
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import StatusCode

from prism_runtime.patience import StartPatience

# The server reports the end of a request after its timeout. A later answer was lost with the connection.
ANSWER_LATE_S = 2.0
REFUSED_PAUSE_S = 0.25
ENDS = frozenset({StatusCode.NO_MESSAGES, StatusCode.REQUEST_TIMEOUT})
NANOSECONDS = 1_000_000_000

log = logging.getLogger(__name__)


class PullingJetStream(JetStreamContext):
    """A JetStream context whose pull subscriptions are `PromptPullSubscription`.

    `arrived` is called with every message on arrival, `refused` when the server refuses a request. While the
    service starts, a subscription is repeated with `patience`.
    """

    def __init__(
        self,
        connection: Client,
        patience: StartPatience,
        arrived: Callable[[Msg], None],
        refused: Callable[[], None],
    ) -> None:
        super().__init__(connection)
        self._patience = patience
        self._arrived = arrived
        self._refused = refused
        self._pulls: list[PromptPullSubscription] = []

    async def end_pulls(self) -> None:
        """Ask for no more messages. Returns when those under way have arrived."""
        await asyncio.gather(*(pull.end() for pull in self._pulls))
        self._pulls.clear()

    async def pull_subscribe(self, subject: str, *args: Any, **options: Any) -> Any:
        """Pull from a durable consumer, after asking for it."""
        subscribe = super().pull_subscribe
        return await self._patience.outlast(subject, lambda: subscribe(subject, *args, **options))

    async def pull_subscribe_bind(self, *, stream: str, durable: str, **_: Any) -> "PromptPullSubscription":  # type: ignore[override]
        """Pull from an existing durable consumer."""
        inbox = self._nc.new_inbox()
        answers = await self._nc.subscribe(f"{inbox}.*")
        pull = PromptPullSubscription(
            self, answers, stream, durable, inbox, arrived=self._arrived, refused=self._refused
        )
        self._pulls.append(pull)
        return pull


class PromptPullSubscription(JetStreamContext.PullSubscription):
    """A pull subscription with one open request at a time, answered on a subject of its own."""

    def __init__(
        self,
        js: JetStreamContext,
        answers: Subscription,
        stream: str,
        durable: str,
        inbox: str,
        *,
        arrived: Callable[[Msg], None],
        refused: Callable[[], None],
    ) -> None:
        super().__init__(js, answers, stream, durable, inbox.encode())
        self._arrived = arrived
        self._refused = refused
        self._numbers = itertools.count()
        self._request = ""
        self._missing = 0  # messages that the open request may still deliver; 0: no open request
        self._over_at = 0.0
        self._has_ended = False

    async def end(self) -> None:
        """Ask for no more. Returns when what the server sent has arrived; `fetch` returns it."""
        self._has_ended = True
        await self._sub.drain()  # type: ignore[no-untyped-call]

    async def unsubscribe(self) -> None:
        """End at once, unless it ended before."""
        if not self._has_ended:
            await super().unsubscribe()

    async def fetch(
        self,
        batch: int = 1,
        timeout: float | None = 5,  # noqa: ASYNC109 - the signature is nats-py's
        heartbeat: float | None = None,  # noqa: ARG002
    ) -> list[Msg]:
        """Returns the messages that arrived, as soon as there is one; none if the request ended without any.

        A request covers up to `batch` messages within `timeout` seconds. It stays open until they are
        delivered or the server ends it, and the next call continues it.
        """
        assert timeout is not None
        if not self._missing:
            if self._has_ended:
                await asyncio.Event().wait()  # until FastStream ends its task
            await self._ask(batch, timeout)
        messages: list[Msg] = []
        while self._missing and (not messages or self.pending_msgs):
            try:
                answer = await self._sub.next_msg(self._over_at - time.monotonic())
            except NatsTimeoutError:
                self._missing = 0
                break
            status = self._js.is_status_msg(answer)
            if status is None:
                self._arrived(answer)
                messages.append(answer)
                self._missing -= 1
            elif answer.subject == self._request:
                await self._end(status, answer)
        return messages

    async def _ask(self, batch: int, timeout_s: float) -> None:
        self._request = f"{self._deliver}.{next(self._numbers)}"
        self._missing = batch
        self._over_at = time.monotonic() + timeout_s + ANSWER_LATE_S
        # With `expires`, `no_wait` means: wait for the first message, and not for the following ones.
        wish = {"batch": batch, "expires": int(timeout_s * NANOSECONDS), "no_wait": True}
        await self._nc.publish(self._nms, json.dumps(wish).encode(), self._request)

    async def _end(self, status: str, answer: Msg) -> None:
        self._missing = 0
        if status not in ENDS:
            log.warning("pulling %s pauses: %s %s", self._consumer, status, answer.headers)
            self._refused()
            await asyncio.sleep(REFUSED_PAUSE_S)
