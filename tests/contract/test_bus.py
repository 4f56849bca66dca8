"""The bus on a real nats-server: delivery, retry, dead letters, claims, outages."""

import asyncio
import json
import random
import shutil
import signal
import uuid
from collections.abc import AsyncIterator, Callable, Collection

import psutil
import pytest
from faststream.exceptions import NackMessage
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.manager import JetStreamManager

from prism_contracts import names, topics
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileRemoved, FilesUploaded
from prism_contracts.names import MESSAGE_BYTES_MAX
from prism_contracts.rpc.imports import JOB, JobReply, JobRequest
from prism_contracts.rpc.search import SEARCH
from prism_runtime import delivery, upkeep
from prism_runtime.bus import Bus
from prism_runtime.records import open_bucket
from prism_runtime.settings import ServiceSettings

DEADLINE_S = 120


def removed(ordinal: int, path: str = "a.py") -> FileRemoved:
    return FileRemoved(tenant="t", repo="r", path=path, version=1, job="j", ordinal=ordinal, lane=Lane.LIVE)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
async def make_bus(nats_server) -> AsyncIterator[Callable[[str], Bus]]:
    made: list[Bus] = []

    def make(
        service: str = "indexer",
        bucket_lost: Callable[[Collection[str]], None] | None = None,
        **settings: float,
    ) -> Bus:
        made.append(
            Bus(service, ServiceSettings(nats_url=nats_server.url, **settings), bucket_lost=bucket_lost)
        )
        return made[-1]

    yield make
    for bus in made:
        await bus.stop()


async def publish(bus: Bus, event: FileRemoved) -> None:
    await bus.publish(event)


async def dead_letters(bus: Bus) -> int:
    return (await bus.js.stream_info(names.DEAD_LETTERS)).state.messages


async def test_an_event_reaches_its_handler_and_is_removed_by_the_ack(make_bus) -> None:
    bus, seen = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        seen.append(event)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    await publish(bus, removed(0))
    await until(lambda: len(seen) == 1)
    assert seen == [removed(0)]
    await bus.check()
    async with asyncio.timeout(DEADLINE_S):
        while (await bus.js.stream_info("PRISM_EMBEDDED")).state.messages:
            await asyncio.sleep(0.01)


async def test_a_consumer_without_an_answer_is_asked_for_again(make_bus, monkeypatch) -> None:
    """As on a cluster that elects the leaders of many consumers, while the service starts."""
    bus, seen, asked = make_bus(), [], []
    ask = JetStreamManager.consumer_info

    async def first_unanswered(self: JetStreamManager, stream: str, *args, **options):
        asked.append(stream)
        if asked.count(stream) == 1:
            raise NatsTimeoutError
        return await ask(self, stream, *args, **options)

    async def handle(event: FileRemoved) -> None:
        seen.append(event)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.connect()
    monkeypatch.setattr(JetStreamManager, "consumer_info", first_unanswered)
    await bus.start()
    await publish(bus, removed(1))
    await until(lambda: seen == [removed(1)])


async def test_a_repeated_publish_is_deduplicated(make_bus) -> None:
    bus, seen = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        seen.append(event.ordinal)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    for ordinal in (0, 0, 1):
        await publish(bus, removed(ordinal))
    await until(lambda: 1 in seen)
    assert sorted(seen) == [0, 1]


async def test_a_failing_message_is_retried_then_dead_lettered(make_bus, monkeypatch) -> None:
    monkeypatch.setattr(delivery, "BACKOFF_S", (0.01,))
    bus, attempts, good = make_bus(), [], []

    async def handle(event: FileRemoved) -> None:
        if event.ordinal == 0:
            attempts.append(event)
            raise RuntimeError("poison")
        good.append(event.ordinal)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    for ordinal in (0, 1, 2):
        await publish(bus, removed(ordinal))
    await until(lambda: len(good) == 2)
    async with asyncio.timeout(DEADLINE_S):
        while not await dead_letters(bus):
            await asyncio.sleep(0.01)
    assert len(attempts) == delivery.ATTEMPTS_MAX
    letter = await bus.js.get_msg(names.DEAD_LETTERS, 1)
    assert letter.headers["Prism-Code"] == ErrorCode.INTERNAL
    assert "poison" in letter.headers["Prism-Reason"]
    assert FileRemoved.model_validate_json(letter.data) == removed(0)
    assert letter.subject.split(".")[2] == removed(0).tenant


async def test_an_invalid_message_becomes_a_dead_letter_at_once(make_bus) -> None:
    bus = make_bus()

    async def handle(event: FileRemoved) -> None:
        raise AssertionError("must not be called")

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    await bus.js.publish(topics.FILE_REMOVED.subject(Lane.LIVE), b'{"not": "an event"}')
    async with asyncio.timeout(DEADLINE_S):
        while not await dead_letters(bus):
            await asyncio.sleep(0.01)
    letter = await bus.js.get_msg(names.DEAD_LETTERS, 1)
    assert letter.headers["Prism-Code"] == ErrorCode.MESSAGE_INVALID
    assert letter.headers["Prism-Deliveries"] == "1"


async def test_a_dead_letter_holds_none_of_the_contents(make_bus) -> None:
    bus = make_bus()

    async def handle(event: FilesUploaded) -> None:
        raise PrismError(ErrorCode.MESSAGE_INVALID, "not a pack")

    bus.consume(topics.FILES_UPLOADED, handle, workers=1)
    await bus.start()
    secret = random.Random(1).randbytes(2 * MESSAGE_BYTES_MAX)  # sent as a claim
    pack = FilesUploaded(tenant="acme", job="j", pack="0" * 64, data=secret)
    await bus.publish(pack, lane=Lane.BULK)
    broken = b'{"tenant": "acme", "job": "j", "pack": "%s", "data": 5, "text": "secret"}' % (b"0" * 64)
    await bus.js.publish(topics.FILES_UPLOADED.subject(Lane.BULK), broken)
    async with asyncio.timeout(DEADLINE_S):
        while await dead_letters(bus) < 2:
            await asyncio.sleep(0.01)
    for number in (1, 2):
        letter = await bus.js.get_msg(names.DEAD_LETTERS, number)
        kept = json.loads(letter.data)
        assert kept.pop("v", 1) == 1
        assert kept == {"tenant": "acme", "job": "j", "pack": "0" * 64}
        assert letter.subject.startswith("prism.dead.acme.")
        assert "secret" not in str(letter.headers)


async def test_an_outage_makes_no_dead_letters(make_bus, monkeypatch) -> None:
    monkeypatch.setattr(delivery, "OUTAGE_PAUSE_S", 0.01)
    monkeypatch.setattr(delivery, "BACKOFF_S", (0.01,))
    outage = 2 * delivery.DELIVERIES_MAX
    bus, calls = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        calls.append(event)
        if len(calls) <= outage:
            raise PrismError(ErrorCode.UNAVAILABLE, "store is down")
        if len(calls) < outage + delivery.ATTEMPTS_MAX:
            raise RuntimeError("afterwards it has as many attempts as any other message")

    bus.consume(topics.FILE_REMOVED, handle, workers=1)
    await bus.start()
    await publish(bus, removed(0))
    await until(lambda: len(calls) == outage + delivery.ATTEMPTS_MAX)
    assert await dead_letters(bus) == 0


async def test_a_message_that_stopping_processes_gave_back_has_all_its_attempts(
    make_bus, monkeypatch
) -> None:
    monkeypatch.setattr(delivery, "BACKOFF_S", (0.01,))
    given_back = delivery.ATTEMPTS_MAX
    bus, calls = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        calls.append(event)
        if len(calls) <= given_back:
            raise NackMessage
        if len(calls) < given_back + delivery.ATTEMPTS_MAX:
            raise RuntimeError("a failure")

    bus.consume(topics.FILE_REMOVED, handle, workers=1)
    await bus.start()
    await publish(bus, removed(0))
    await until(lambda: len(calls) == given_back + delivery.ATTEMPTS_MAX)
    assert await dead_letters(bus) == 0


async def test_a_large_body_is_sent_as_a_claim(make_bus) -> None:
    bus, seen = make_bus(), []
    path = random.Random(1).randbytes(names.MESSAGE_BYTES_MAX).hex()  # still past the limit when compressed

    async def handle(event: FileRemoved) -> None:
        seen.append(event.path)

    bus.consume(topics.FILE_REMOVED, handle, workers=1)
    await bus.start()
    await publish(bus, removed(0, path))
    await until(lambda: bool(seen))
    assert seen == [path]


async def test_a_message_waiting_for_its_handler_sends_heartbeats(make_bus) -> None:
    bus, begun, signs, is_over = make_bus(ack_wait_s=1), [], set(), asyncio.Event()

    async def handle(event: FileRemoved) -> None:
        begun.append(event.ordinal)
        await is_over.wait()

    async def on_sign(sign: Msg) -> None:
        if sign.data == Msg.Ack.Progress:
            # $JS.ACK.<stream>.<consumer>.<deliveries>.<sequence in the stream>. ...
            signs.add(int(sign.subject.split(".")[5]))

    bus.consume(topics.FILE_REMOVED, handle, workers=2)
    await bus.start()
    await bus.broker.connection.subscribe("$JS.ACK.>", cb=on_sign)
    for ordinal in (0, 1, 2):
        await publish(bus, removed(ordinal))
    await until(lambda: signs == {1, 2, 3})
    assert begun == [0, 1]
    is_over.set()
    await until(lambda: begun == [0, 1, 2])


async def test_work_continues_after_a_server_restart(make_bus, nats_server) -> None:
    bus, seen = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        seen.append(event.ordinal)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    await publish(bus, removed(0))
    await until(lambda: 0 in seen)
    assert bus.metrics.get_sample_value("prism_nats_reconnects_total") == 0
    nats_server.kill()
    publishing = asyncio.create_task(publish(bus, removed(1)))
    nats_server.start()
    await publishing
    await until(lambda: 1 in seen)
    assert bus.metrics.get_sample_value("prism_nats_reconnects_total") == 1


async def test_the_disk_and_followed_buckets_are_shown(make_bus, tmp_path) -> None:
    bus = make_bus(disk_dir=str(tmp_path))
    assert bus.metrics.get_sample_value("prism_disk_free_bytes") > 0
    assert make_bus("search").metrics.get_sample_value("prism_disk_free_bytes") is None
    await bus.connect()
    await bus.follow("prism_test", JobRequest)
    assert bus.metrics.get_sample_value("prism_records_heard_seconds", {"bucket": "prism_test"}) >= 0


async def test_a_check_that_times_out_breaks_nothing(make_bus, nats_server) -> None:
    bus = make_bus("search")
    await bus.start()
    nats_server.process.send_signal(signal.SIGSTOP)
    await until(lambda: psutil.Process(nats_server.process.pid).status() == psutil.STATUS_STOPPED)
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await bus.check()
    finally:
        nats_server.process.send_signal(signal.SIGCONT)
    await bus.check()


@pytest.mark.parametrize("what", ["stream", "consumer", "all"])
async def test_deleted_streams_and_consumers_are_declared_again(make_bus, nats_server, what) -> None:
    bus, seen = make_bus(), []

    async def handle(event: FileRemoved) -> None:
        seen.append(event.ordinal)

    bus.consume(topics.FILE_REMOVED, handle, workers=4)
    await bus.start()
    cache = await bus.cache("prism_test", ttl_s=60, bytes_max=4_000)
    await publish(bus, removed(0))
    await until(lambda: 0 in seen)
    stream = topics.FILE_REMOVED.stream.name
    if what == "stream":
        await bus.js.delete_stream(stream)
    elif what == "consumer":
        await bus.js.delete_consumer(stream, topics.FILE_REMOVED.durable(bus.service, Lane.LIVE))
    else:
        nats_server.kill()
        shutil.rmtree(nats_server.folder / "js")
        nats_server.start()
    async with asyncio.timeout(DEADLINE_S):
        await publish(bus, removed(1))
    await until(lambda: 1 in seen)
    await bus.check()
    await cache.put("key", b"value")


@pytest.mark.parametrize("is_made_again", [False, True])
async def test_a_deleted_bucket_is_noticed(make_bus, monkeypatch, is_made_again) -> None:
    monkeypatch.setattr(upkeep, "LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(upkeep, "LOOK_PAUSE_S", 0.1)
    lost: list[Collection[str]] = []
    bus = make_bus(bucket_lost=lost.append)
    await bus.connect()
    for name in ("prism_kept", "prism_lost"):
        await open_bucket(bus.js, name)
    await bus.start()
    await until(lambda: "KV_prism_lost" in bus._upkeep._known)
    assert not lost
    other = make_bus("gateway")
    await other.start()
    await other.js.delete_key_value("prism_lost")
    if is_made_again:
        await open_bucket(other.js, "prism_lost")
    await until(lambda: bool(lost))
    assert lost[0] == ("KV_prism_lost",)


async def test_a_full_cache_evicts_the_oldest_and_accepts_new_bounds(make_bus) -> None:
    bus = make_bus()
    await bus.start()
    cache = await bus.cache("prism_test", ttl_s=60, bytes_max=4_000)
    for number in range(5):
        await cache.put(f"k{number}", b"x" * 1_000)
    assert await cache.keys() == ["k2", "k3", "k4"]
    await bus.cache("prism_test", ttl_s=60, bytes_max=3_000)
    assert await cache.keys() == ["k3", "k4"]


async def test_a_request_gets_an_answer_or_an_error(make_bus) -> None:
    server, client = make_bus("ingest"), make_bus("gateway")

    async def handle(request: JobRequest) -> JobReply:
        if request.job == "slow":
            await asyncio.sleep(DEADLINE_S)
        if request.job == "broken":
            raise RuntimeError("secret detail")
        if request.job == "gone":
            await server.js.key_value("prism_gone")
        raise PrismError(ErrorCode.JOB_NOT_FOUND, f"No job {request.job}.", "List the jobs.", known=["a"])

    server.serve(JOB, handle, deadline_s=0.2)
    await server.start()
    await client.start()

    async def ask(job: str) -> PrismError:
        with pytest.raises(PrismError) as caught:
            await client.ask(JOB, JobRequest(tenant="t", job=job), timeout_s=2)
        return caught.value

    missing = await ask(str(uuid.uuid4()))
    assert missing.code is ErrorCode.JOB_NOT_FOUND
    assert missing.body.details == {"known": ["a"]}
    assert (await ask("slow")).code is ErrorCode.DEADLINE_EXCEEDED
    assert (await ask("gone")).code is ErrorCode.UNAVAILABLE
    broken = await ask("broken")
    assert broken.code is ErrorCode.INTERNAL
    assert "secret" not in broken.body.message
    with pytest.raises(PrismError) as caught:
        await client.ask(SEARCH, JobRequest(tenant="t"), timeout_s=2)
    assert caught.value.code is ErrorCode.UNAVAILABLE


async def test_answers_are_counted_by_code(make_bus) -> None:
    server, client = make_bus("ingest"), make_bus("gateway")

    async def handle(request: JobRequest) -> JobReply:
        if request.job:
            raise PrismError(ErrorCode.JOB_NOT_FOUND, "No such job.")
        raise RuntimeError("broken")

    def count(code: str) -> float | None:
        labels = {"method": JOB.name, "code": code}
        return server.metrics.get_sample_value("prism_rpc_answers_total", labels)

    server.serve(JOB, handle)
    await server.start()
    await client.start()
    assert (count("ok"), count("internal"), count("job_not_found")) == (0, 0, None)
    for job in ("a", "b", ""):
        with pytest.raises(PrismError):
            await client.ask(JOB, JobRequest(tenant="t", job=job), timeout_s=2)
    assert (count("ok"), count("internal"), count("job_not_found")) == (0, 1, 2)
    assert server.metrics.get_sample_value("prism_rpc_seconds_count", {"method": JOB.name}) == 3


async def test_a_message_of_a_stream_is_no_request(make_bus):
    """A right to create a consumer is no right to ask: NATS does not check where a consumer delivers."""
    asked: list[str] = []

    async def handle(request: JobRequest) -> JobReply:
        asked.append(request.job)
        raise PrismError(ErrorCode.JOB_NOT_FOUND, "none", "none")

    server, client = make_bus("ingest"), make_bus("gateway")
    server.serve(JOB, handle)
    await server.start()
    await client.start()
    forged = JobRequest(tenant="t", job="forged").model_dump_json().encode()
    bucket = await open_bucket(client.js, "forgery")
    await bucket.put("x", forged)
    consumer = ConsumerConfig(
        name="forger",
        deliver_subject=JOB.subject,
        deliver_group="ingest",
        ack_policy=AckPolicy.EXPLICIT,
        max_deliver=1,
    )
    await client.js.add_consumer("KV_forgery", consumer)

    async def delivered() -> int:
        return (await client.js.consumer_info("KV_forgery", "forger")).delivered.consumer_seq

    async with asyncio.timeout(DEADLINE_S):
        while not await delivered():
            await asyncio.sleep(0.01)
    with pytest.raises(PrismError, match="none"):
        await client.ask(JOB, JobRequest(tenant="t", job="asked"), timeout_s=2)
    assert asked == ["asked"]
