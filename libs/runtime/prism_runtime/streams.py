"""Reads a stream that serves as a log: its messages by subject, from a time on, to its end."""

from collections.abc import AsyncIterator
from datetime import datetime

from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

BATCH = 256
FETCH_TIMEOUT_S = 2.0
# NATS deletes the consumer of a reader that has gone.
FORGOTTEN_S = 10.0


async def read_stream(
    js: JetStreamContext, stream: str, subject: str, *, since: datetime | None = None
) -> AsyncIterator[Msg]:
    """Yields the messages of a subject, which may be a wildcard, the oldest first.

    Ends at the last message that the stream had when the reading began.
    """
    config = ConsumerConfig(
        ack_policy=AckPolicy.NONE,
        deliver_policy=DeliverPolicy.BY_START_TIME if since else DeliverPolicy.ALL,
        opt_start_time=since,
        inactive_threshold=FORGOTTEN_S,
        mem_storage=True,
    )
    reader = await js.pull_subscribe(subject, stream=stream, config=config)
    try:
        left = (await reader.consumer_info()).num_pending or 0
        while left > 0:
            try:
                messages = await reader.fetch(min(BATCH, left), timeout=FETCH_TIMEOUT_S)
            except NatsTimeoutError:  # the rest was replaced or expired meanwhile
                return
            for message in messages:
                left -= 1
                yield message
    finally:
        await reader.unsubscribe()
