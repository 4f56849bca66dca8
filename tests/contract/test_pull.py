"""Pulling from a real nats-server, also from one whose answers arrive late."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig

from prism_runtime import pull
from prism_runtime.patience import StartPatience
from prism_runtime.pull import PromptPullSubscription, PullingJetStream

STREAM, SUBJECT, DURABLE = "WORK", "work", "worker"
ACK_PENDING_MAX = 4
# No test waits for the end of such a request.
LONG_S = 600
DEADLINE_S = 120


@pytest.fixture
async def connection(nats_server) -> AsyncIterator[Client]:
    connection = await nats.connect(nats_server.url)
    js = connection.jetstream()
    await js.add_stream(name=STREAM, subjects=[SUBJECT])
    await js.add_consumer(
        STREAM,
        ConsumerConfig(durable_name=DURABLE, ack_policy=AckPolicy.EXPLICIT, max_ack_pending=ACK_PENDING_MAX),
    )
    yield connection
    await connection.close()


@pytest.fixture
def arrived() -> list[bytes]:
    """The messages that the pull returned, in the order of arrival."""
    return []


@pytest.fixture
async def pulling(connection: Client, arrived: list[bytes]) -> PromptPullSubscription:
    js = PullingJetStream(
        connection, StartPatience(), lambda message: arrived.append(message.data), lambda: None
    )
    return await js.pull_subscribe(SUBJECT, durable=DURABLE, stream=STREAM)


@contextmanager
def stopped(nats_server) -> Iterator[None]:
    nats_server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        nats_server.process.send_signal(signal.SIGCONT)


async def publish(connection: Client, *bodies: bytes) -> None:
    for body in bodies:
        await connection.jetstream().publish(SUBJECT, body)


async def bodies(fetching: asyncio.Task[list[Msg]]) -> list[bytes]:
    async with asyncio.timeout(DEADLINE_S):
        return [message.data for message in await fetching]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.01)


async def test_available_messages_arrive_at_once_up_to_the_limit(connection, pulling, arrived) -> None:
    await publish(connection, b"0", b"1", b"2")
    found: list[bytes] = []
    while len(found) < 2:
        found += await bodies(asyncio.create_task(pulling.fetch(2, LONG_S)))
    assert found == arrived == [b"0", b"1"]
    assert await bodies(asyncio.create_task(pulling.fetch(2, LONG_S))) == [b"2"]


async def test_a_single_message_does_not_wait_for_others(connection, pulling, arrived) -> None:
    for body in (b"first", b"second"):
        fetching = asyncio.create_task(pulling.fetch(8, LONG_S))
        await connection.flush()
        await publish(connection, body)
        assert await bodies(fetching) == [body]
    assert arrived == [b"first", b"second"]


async def test_an_expired_request_returns_nothing(pulling) -> None:
    assert await bodies(asyncio.create_task(pulling.fetch(8, 0.05))) == []


async def test_a_late_answer_delays_no_message(connection, pulling, nats_server, monkeypatch) -> None:
    monkeypatch.setattr(pull, "ANSWER_LATE_S", 0.0)
    with stopped(nats_server):
        assert await bodies(asyncio.create_task(pulling.fetch(8, 0.05))) == []
        fetching = asyncio.create_task(pulling.fetch(8, LONG_S))
    await until(lambda: pulling.delivered == 1)  # the end of the first request, during the second
    for body in (b"first", b"second"):
        await connection.flush()
        await publish(connection, body)
        assert await bodies(fetching) == [body]
        fetching = asyncio.create_task(pulling.fetch(8, LONG_S))
    fetching.cancel()


async def test_messages_over_the_ack_limit_delay_no_others(connection, pulling) -> None:
    """The request stays open for more messages than the server sends before the first acks."""
    wanted = ACK_PENDING_MAX + 2
    await publish(connection, *(b"%d" % number for number in range(wanted)))
    messages: list[Msg] = []
    async with asyncio.timeout(DEADLINE_S):
        while len(messages) < wanted:
            fetched = await pulling.fetch(wanted, LONG_S)
            for message in fetched:
                await message.ack()
            messages += fetched
    assert [message.data for message in messages] == [b"%d" % number for number in range(wanted)]


async def test_a_missing_consumer_is_retried_with_pauses(connection, pulling, monkeypatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    await connection.jetstream().delete_consumer(STREAM, DURABLE)
    with monkeypatch.context() as patched:
        patched.setattr(pull.asyncio, "sleep", pause)
        assert await pulling.fetch(8, LONG_S) == []
    assert pauses == [pull.REFUSED_PAUSE_S]
