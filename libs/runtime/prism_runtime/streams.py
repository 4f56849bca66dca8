"""Reads a stream that serves as a log: its messages by subject, forward from a time on, or back from the end.

Raises PrismError (UNAVAILABLE) if NATS does not answer.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager, suppress
from datetime import datetime

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from prism_contracts.errors import ErrorCode, PrismError, reason_of

BATCH = 256
FETCH_TIMEOUT_S = 2.0
# NATS deletes the consumer of a reader that has gone.
FORGOTTEN_S = 10.0
# NATS reads forward only. Reading back takes windows of so many messages of the stream, whatever their subject.
WINDOW = 1_024
WINDOW_MAX = 16_384


async def read_stream(
    js: JetStreamContext, stream: str, subject: str, *, since: datetime | None = None
) -> AsyncGenerator[Msg, None]:
    """Yields the messages of a subject, which may be a wildcard, the oldest first.

    Ends at the last message that the stream had when the reading began.
    """
    start = (
        ConsumerConfig(deliver_policy=DeliverPolicy.BY_START_TIME, opt_start_time=since)
        if since
        else ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
    )
    async with aclosing(_read(js, stream, subject, start)) as messages:
        async for message in messages:
            yield message


async def read_stream_back(
    js: JetStreamContext, stream: str, subject: str, *, before: int = 0
) -> AsyncGenerator[Msg, None]:
    """Yields the messages of a subject, which may be a wildcard, the newest first.

    `before` is a position in the stream that is left out with what follows it; 0: begin at the end.
    """
    with _answered():
        state = (await js.stream_info(stream)).state
    first, end = max(1, state.first_seq), min(before or state.last_seq + 1, state.last_seq + 1)
    size = WINDOW
    while end > first:
        begin = max(first, end - size)
        window = await _window(js, stream, subject, begin, end)
        for message in reversed(window):
            yield message
        size = min(2 * size, WINDOW_MAX) if len(window) < BATCH else WINDOW
        end = begin


async def _window(js: JetStreamContext, stream: str, subject: str, begin: int, end: int) -> list[Msg]:
    """Returns the messages from one position up to another, without it, the oldest first."""
    found: list[Msg] = []
    start = ConsumerConfig(deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=begin)
    async with aclosing(_read(js, stream, subject, start)) as messages:
        async for message in messages:
            if message.metadata.sequence.stream >= end:
                break
            found.append(message)
    return found


async def _read(
    js: JetStreamContext, stream: str, subject: str, start: ConsumerConfig
) -> AsyncGenerator[Msg, None]:
    """Yields the messages from a start to the end that the stream has now."""
    config = start.evolve(ack_policy=AckPolicy.NONE, inactive_threshold=FORGOTTEN_S, mem_storage=True)
    with _answered():
        reader = await js.pull_subscribe(subject, stream=stream, config=config)
    try:
        with _answered():
            left = (await reader.consumer_info()).num_pending or 0
        while left > 0:
            with _answered():
                try:
                    messages = await reader.fetch(min(BATCH, left), timeout=FETCH_TIMEOUT_S)
                except NatsTimeoutError:  # the rest was replaced or expired meanwhile
                    return
            for message in messages:
                left -= 1
                yield message
    finally:
        with suppress(NatsError):
            await reader.unsubscribe()


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except (NatsError, TimeoutError) as error:
        raise PrismError(
            ErrorCode.UNAVAILABLE, f"NATS did not answer: {reason_of(error)}.", "Retry in a few seconds."
        ) from error
