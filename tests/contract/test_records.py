"""Records on a real nats-server: compare-and-set, a watched copy, restarts."""

import asyncio
from collections.abc import AsyncIterator, Callable

import nats
import pytest
from nats.aio.client import Client
from nats.js.kv import KeyValue
from pydantic import ValidationError

from prism_contracts.base import Message
from prism_runtime import records as records_module
from prism_runtime.patience import StartError
from prism_runtime.records import FollowedBucket, Records, WatchedRecords, open_bucket
from prism_runtime.tasks import cancelled

DEADLINE_S = 120
FOLLOWS_WITHIN_S = 1.0
BUCKET = "prism_test"


class Tally(Message):
    count: int = 0
    by: tuple[str, ...] = ()


async def until(condition: Callable[[], bool], within_s: float = DEADLINE_S) -> None:
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture
async def connect(nats_server) -> AsyncIterator[Callable]:
    clients: list[Client] = []

    async def one() -> Client:
        clients.append(
            await nats.connect(nats_server.url, reconnect_time_wait=0.05, max_reconnect_attempts=-1)
        )
        return clients[-1]

    yield one
    for client in clients:
        await client.close()


async def follow(client: Client) -> WatchedRecords[Tally]:
    bucket = await open_bucket(client.jetstream(), BUCKET)
    return WatchedRecords(bucket, Tally, lambda: client.stats["reconnects"])


@pytest.fixture
async def tallies(connect) -> Records[Tally]:
    return Records(await open_bucket((await connect()).jetstream(), BUCKET), Tally)


async def test_a_record_is_deleted_only_at_its_revision(tallies) -> None:
    await tallies.put("k", Tally(count=1))
    delete, seen = tallies._kv.delete, []

    async def delete_late(key: str, last: int) -> bool:
        if not seen:
            await tallies.put(key, Tally(count=2))
        seen.append(last)
        return await delete(key, last=last)

    tallies._kv.delete = delete_late
    assert await tallies.delete_if("k", lambda found: found.count == 1) is None
    assert await tallies.get("k") == Tally(count=2)
    assert await tallies.delete_if("k", lambda found: found.count == 2) == Tally(count=2)
    assert await tallies.get("k") is None
    assert await tallies.delete_if("k", lambda _: True) is None


@pytest.fixture
async def watched(connect, tallies) -> AsyncIterator[WatchedRecords[Tally]]:
    copy = await follow(await connect())
    yield copy
    await copy.close()


async def test_a_record_is_written_read_and_deleted(tallies):
    assert await tallies.get("a") is None
    assert await tallies.all() == []
    await tallies.put("a", Tally(count=1))
    await tallies.put("b", Tally(count=2))
    assert await tallies.get("a") == Tally(count=1)
    assert sorted(record.count for record in await tallies.all()) == [1, 2]
    await tallies.delete("a")
    assert await tallies.get("a") is None
    assert await tallies.all() == [Tally(count=2)]


async def test_twenty_modifiers_at_once_lose_no_change(connect, tallies):
    async def add(who: str) -> None:
        records = Records(await open_bucket((await connect()).jetstream(), BUCKET), Tally)
        await records.modify(
            "a", lambda found: Tally(count=(found or Tally()).count + 1, by=(*(found or Tally()).by, who))
        )

    names = [f"m{n}" for n in range(20)]
    await asyncio.gather(*map(add, names))
    tally = await tallies.get("a")
    assert tally.count == 20
    assert sorted(tally.by) == sorted(names)


async def test_an_empty_change_is_not_written(tallies):
    await tallies.modify("a", lambda _: Tally(count=1))
    before = (await tallies._kv.get("a")).revision
    assert await tallies.modify("a", lambda found: found) == Tally(count=1)
    assert (await tallies._kv.get("a")).revision == before


async def test_a_failing_change_leaves_the_record_unchanged(tallies):
    await tallies.put("a", Tally(count=1))
    with pytest.raises(ZeroDivisionError):
        await tallies.modify("a", lambda _: 1 // 0)
    assert await tallies.get("a") == Tally(count=1)


async def test_a_deleted_record_can_be_created_again(tallies):
    await tallies.put("a", Tally(count=1))
    await tallies.delete("a")
    seen = []
    assert await tallies.modify("a", lambda found: seen.append(found) or Tally(count=5)) == Tally(count=5)
    assert seen == [None]
    assert await tallies.get("a") == Tally(count=5)


async def test_endless_conflicts_end_in_an_error(tallies, monkeypatch):
    monkeypatch.setattr(records_module, "CONFLICTS_MAX", 3)
    monkeypatch.setattr(records_module, "CONFLICT_PAUSE_S", 0)
    await tallies.put("a", Tally())
    read, count = tallies._read, 0

    async def read_and_be_overtaken(key: str):
        nonlocal count
        found = await read(key)
        count += 1
        await tallies.put(key, Tally(count=count))
        return found

    monkeypatch.setattr(tallies, "_read", read_and_be_overtaken)
    with pytest.raises(TimeoutError, match="changed 3 times"):
        await tallies.modify("a", lambda _: Tally(count=-1))


async def test_a_copy_starts_complete_and_follows_within_a_second(connect, tallies):
    await tallies.put("a", Tally(count=1))
    copy = await follow(await connect())
    async with asyncio.timeout(DEADLINE_S):
        await copy.ready()
    assert copy.get("a") == Tally(count=1)
    await tallies.put("a", Tally(count=2))
    await tallies.put("b", Tally(count=3))
    await until(lambda: copy.get("a") == Tally(count=2) and copy.get("b") is not None, FOLLOWS_WITHIN_S)
    assert sorted(record.count for record in copy.values()) == [2, 3]
    await tallies.delete("a")
    await until(lambda: copy.get("a") is None, FOLLOWS_WITHIN_S)
    await copy.close()


async def test_a_copy_knows_whether_it_is_behind(connect, tallies):
    copy = await follow(await connect())
    await copy.ready()
    assert await copy.is_current()
    await tallies.put("a", Tally(count=1))
    await until(lambda: copy.get("a") is not None)
    assert await copy.is_current()
    await copy.close()  # it receives no more updates
    await tallies.put("b", Tally(count=1))
    assert not await copy.is_current()


async def test_a_quiet_bucket_is_heard_and_a_deaf_watch_is_not(connect, tallies, monkeypatch) -> None:
    monkeypatch.setattr(records_module, "CONFIRM_EVERY_S", 0.01)
    copy = await follow(await connect())
    await copy.ready()
    start = copy.unheard_s
    await until(lambda: copy.unheard_s < start)
    follows, _ = copy._tasks
    await cancelled(follows)
    await tallies.put("k", Tally(count=1))
    asked = asyncio.Event()
    status = copy._kv.status

    async def ask() -> KeyValue.BucketStatus:
        found = await status()
        asked.set()
        return found

    copy._kv.status = ask
    await asked.wait()
    heard_at = copy._heard_at
    asked.clear()
    await asked.wait()
    assert copy._heard_at == heard_at
    await copy.close()


async def test_a_close_copy_follows_within_a_second_though_its_watch_is_deaf(connect, tallies) -> None:
    client = await connect()
    js = client.jetstream()
    bucket = await open_bucket(js, BUCKET)
    copy = WatchedRecords(bucket, Tally, lambda: 0, is_close=True)
    await copy.ready()
    for count in (1, 2):
        (consumer,) = await js.consumers_info(f"KV_{BUCKET}")
        await js.delete_consumer(f"KV_{BUCKET}", consumer.name)  # as if the leader died with it
        await tallies.put("a", Tally(count=count))
        await until(lambda: copy.get("a") == Tally(count=count), FOLLOWS_WITHIN_S)  # noqa: B023 - awaited here
    await copy.close()


async def test_a_copy_says_for_how_long_it_may_be_behind(connect, tallies, nats_server) -> None:
    client = await connect()
    copy = WatchedRecords(await open_bucket(client.jetstream(), BUCKET), Tally, lambda: 0, is_close=True)
    await copy.ready()
    nats_server.freeze()
    await until(lambda: copy.unconfirmed_s > FOLLOWS_WITHIN_S)
    nats_server.thaw()
    await until(lambda: copy.unconfirmed_s < FOLLOWS_WITHIN_S)
    await copy.close()


async def test_a_copy_is_confirmed_again_after_any_failure(connect, tallies, monkeypatch) -> None:
    client = await connect()
    bucket = await open_bucket(client.jetstream(), BUCKET)
    copy = WatchedRecords(bucket, Tally, lambda: 0, is_close=True)
    await copy.ready()
    failed = asyncio.Event()

    async def fail() -> None:
        failed.set()
        raise StartError("no leader", 69)

    with monkeypatch.context() as broken:
        broken.setattr(bucket, "status", fail)
        await failed.wait()
        await until(lambda: copy.unconfirmed_s > FOLLOWS_WITHIN_S)
    await until(lambda: copy.unconfirmed_s < FOLLOWS_WITHIN_S)
    await copy.close()


async def test_an_unseen_record_is_looked_up(connect, tallies):
    copy = await follow(await connect())
    await copy.ready()
    await copy.close()  # it receives no more updates
    assert await copy.look_up("a") is None
    await tallies.put("a", Tally(count=1))
    assert copy.get("a") is None
    assert await copy.look_up("a") == Tally(count=1)


class HastyWatch:
    """A watch that reports the end of the initial values first, as the client's own may do under load."""

    def __init__(self, watcher: KeyValue.KeyWatcher) -> None:
        self._watcher = watcher
        self._has_reported = False
        self.stop = watcher.stop

    async def updates(self, timeout: float | None) -> KeyValue.Entry | None:  # noqa: ASYNC109 - the client's signature
        if not self._has_reported:
            self._has_reported = True
            return None
        return await self._watcher.updates(timeout=timeout)


@pytest.fixture
async def hasty_bucket(connect, monkeypatch) -> KeyValue:
    bucket = await open_bucket((await connect()).jetstream(), BUCKET)
    watchall = bucket.watchall

    async def hasty(**options: bool) -> HastyWatch:
        return HastyWatch(await watchall(**options))

    monkeypatch.setattr(bucket, "watchall", hasty)
    return bucket


async def test_a_copy_is_ready_only_with_all_existing_records(tallies, hasty_bucket):
    await tallies.put("early", Tally(count=1))
    copy = WatchedRecords(hasty_bucket, Tally, lambda: 0)
    await copy.ready()
    assert copy.get("early") == Tally(count=1)
    await copy.close()


async def test_a_list_is_complete(tallies, hasty_bucket):
    await tallies.put("kept", Tally(count=1))
    await tallies.put("changed", Tally(count=2))
    await tallies.put("changed", Tally(count=3))
    await tallies.put("forgotten", Tally(count=4))
    await tallies.delete("forgotten")
    counts = [record.count for record in await Records(hasty_bucket, Tally).all()]
    assert sorted(counts) == [1, 3]


async def test_a_failed_list_leaves_no_consumer_on_the_server(connect, tallies, monkeypatch):
    await tallies.put("a", Tally(count=1))
    kv = tallies._kv
    stopped: list[bool] = []
    watchall = kv.watchall

    async def watched(**options: object) -> KeyValue.KeyWatcher:
        watcher = await watchall(**options)
        stop = watcher.stop

        async def stopping() -> None:
            await stop()
            stopped.append(True)

        monkeypatch.setattr(watcher, "stop", stopping)
        return watcher

    async def away() -> None:
        raise TimeoutError

    monkeypatch.setattr(kv, "watchall", watched)
    monkeypatch.setattr(kv, "status", away)
    with pytest.raises(TimeoutError):
        await tallies.all()
    assert stopped == [True]


async def test_a_list_fails_on_an_unreadable_record(tallies):
    await tallies.put("a", Tally(count=1))
    await tallies._kv.put("b", b'{"count": "many"}')
    with pytest.raises(ValidationError):
        await tallies.all()


async def test_lists_leave_no_consumer_on_the_server(connect):
    js = (await connect()).jetstream()
    listed = Records(await open_bucket(js, "prism_listed"), Tally)
    await listed.put("a", Tally(count=1))
    for _ in range(30):
        assert await listed.all() == [Tally(count=1)]

    async def consumers() -> int:
        return (await js.stream_info("KV_prism_listed")).state.consumer_count or 0

    async with asyncio.timeout(DEADLINE_S):
        while await consumers():
            await asyncio.sleep(0.1)


async def test_a_copy_of_an_expired_bucket_is_ready(connect):
    client = await connect()
    bucket = await open_bucket(client.jetstream(), "prism_test_expired")
    await Records(bucket, Tally).put("old", Tally(count=1))
    await client.jetstream().purge_stream("KV_prism_test_expired")
    copy = WatchedRecords(bucket, Tally, lambda: 0)
    await copy.ready()
    assert copy.values() == []
    await copy.close()


async def test_a_copy_of_an_empty_bucket_is_ready(watched):
    async with asyncio.timeout(DEADLINE_S):
        await watched.ready()
    assert watched.values() == []


async def test_an_unreadable_record_hides_no_other(tallies, connect):
    """A record may have been written by a newer version of Prism."""
    await tallies.put("a", Tally(count=1))
    await tallies._kv.put("b", b'{"count": "many"}')
    await tallies.put("c", Tally(count=3))
    copy = await follow(await connect())
    async with asyncio.timeout(DEADLINE_S):
        await copy.ready()
    assert (copy.get("a"), copy.get("b"), copy.get("c")) == (Tally(count=1), None, Tally(count=3))
    await tallies.put("b", Tally(count=2))
    await until(lambda: copy.get("b") == Tally(count=2))
    await copy.close()


async def test_records_and_copies_survive_a_restart_of_the_server(nats_server, tallies, watched):
    await tallies.put("a", Tally(count=1))
    await until(lambda: watched.get("a") is not None)
    nats_server.stop()
    assert watched.get("a") == Tally(count=1)  # the watched values are kept
    nats_server.start()
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                assert await tallies.get("a") == Tally(count=1)
                await tallies.modify("a", lambda found: Tally(count=found.count + 1))
                break
            except nats.errors.Error:
                await asyncio.sleep(0.05)
    await until(lambda: watched.get("a") == Tally(count=2))


class Sums:
    """A projection: the sum of all counts."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def put(self, key: str, record: Tally) -> None:
        self.counts[key] = record.count

    def remove(self, key: str) -> None:
        self.counts.pop(key, None)


async def test_a_projection_follows_its_bucket(connect, tallies) -> None:
    await tallies.put("a", Tally(count=1))
    bucket = await open_bucket((await connect()).jetstream(), BUCKET)
    reconnections = [0]
    followed = FollowedBucket(bucket, Tally, Sums, lambda: reconnections[0])
    await followed.ready()
    assert followed.projection.counts == {"a": 1}
    await tallies.put("b", Tally(count=2))
    await tallies.delete("a")
    await followed.catch_up()
    assert followed.projection.counts == {"b": 2}
    before, reconnections[0] = followed.projection, 1
    await until(lambda: followed.projection is not before)
    assert followed.projection.counts == {"b": 2}  # a new one, which is filled once
    await followed.close()
