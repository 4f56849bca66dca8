"""The harness that ends a process at a write sees every kind of write."""

import inspect
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import nats
import pytest
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig
from nats.js.kv import KeyValue
from nats.js.object_store import ObjectStore

from prism_runtime import crash
from prism_source.git import READ_LIMITS, isolated_environment, run_git

READS = {
    Msg: {"in_progress", "nak", "respond"},  # the message remains
    JetStreamContext: {
        *("account_info", "consumer_info", "consumers_info", "find_stream_name_by_subject", "get_last_msg", "get_msg"),
        *("key_value", "object_store", "publish_async_completed", "pull_subscribe", "pull_subscribe_bind", "stream_info"),
        *("streams_info", "streams_info_iterator", "subscribe", "subscribe_bind"),
    },
    KeyValue: {"get", "history", "keys", "status", "watch", "watchall"},
    ObjectStore: {"get", "get_info", "list", "status", "watch"},
}  # fmt: skip
# Every start repeats these, whatever the previous one left (`prism_runtime.upkeep`).
DECLARES = {
    Msg: set(),
    JetStreamContext: {
        *("add_consumer", "add_stream", "create_key_value", "create_object_store", "delete_consumer", "delete_key_value"),
        *("delete_object_store", "delete_stream", "pause_consumer", "reset_consumer", "resume_consumer", "update_stream"),
    },
    KeyValue: set(),
    ObjectStore: {"seal"},
}  # fmt: skip

Write = Callable[[JetStreamContext, KeyValue, ObjectStore], Awaitable[object]]


async def _message(js: JetStreamContext) -> Msg:
    await js.publish("work.one", b"1")
    return (await (await js.pull_subscribe("work.>", durable="one")).fetch(1))[0]


async def _acked(js: JetStreamContext, how: str) -> None:
    await getattr(await _message(js), how)()


# The harness's name of the last write of each method.
WRITES: dict[tuple[type, str], tuple[str, Write]] = {
    (Msg, "ack"): ("ack", lambda js, _, __: _acked(js, "ack")),
    (Msg, "ack_sync"): ("ack", lambda js, _, __: _acked(js, "ack_sync")),
    (Msg, "term"): ("ack", lambda js, _, __: _acked(js, "term")),
    (JetStreamContext, "publish"): ("publish", lambda js, _, __: js.publish("work.one", b"1")),
    (JetStreamContext, "publish_async"): ("publish", lambda js, _, __: js.publish_async("work.one", b"1")),
    (JetStreamContext, "purge_stream"): ("purge", lambda js, _, __: js.purge_stream("WORK")),
    (JetStreamContext, "delete_msg"): ("purge", lambda js, _, __: js.delete_msg("WORK", 1)),
    (KeyValue, "put"): ("publish", lambda _, kv, __: kv.put("b", b"1")),
    (KeyValue, "create"): ("publish", lambda _, kv, __: kv.create("b", b"1")),
    (KeyValue, "update"): ("publish", lambda _, kv, __: kv.update("a", b"2", last=1)),
    (KeyValue, "delete"): ("publish", lambda _, kv, __: kv.delete("a")),
    (KeyValue, "purge"): ("publish", lambda _, kv, __: kv.purge("a")),
    (KeyValue, "purge_deletes"): ("purge", lambda _, kv, __: _purge_deletes(kv)),
    (ObjectStore, "put"): ("publish", lambda _, __, store: store.put("b", b"1")),
    (ObjectStore, "delete"): ("purge", lambda _, __, store: store.delete("a")),
    (ObjectStore, "update_meta"): ("publish", lambda _, __, store: _describe(store)),
}


async def _purge_deletes(kv: KeyValue) -> None:
    await kv.delete("a")
    await kv.purge_deletes(olderthan=-1)


async def _describe(store: ObjectStore) -> None:
    meta = (await store.get_info("a")).meta
    meta.description = "another"
    await store.update_meta("a", meta)


@pytest.fixture
def watched() -> Iterator[list[str]]:
    """Returns the names of the writes so far."""
    names: list[str] = []
    undo = crash.watch(names.append)
    yield names
    undo()


@pytest.mark.parametrize("client", [Msg, JetStreamContext, KeyValue, ObjectStore])
def test_every_method_of_a_client_is_known(client: type) -> None:
    methods = {
        name
        for name, _ in inspect.getmembers(client, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    assert methods == READS[client] | DECLARES[client] | {name for of, name in WRITES if of is client}


@pytest.mark.parametrize("write", WRITES, ids=lambda write: f"{write[0].__name__}.{write[1]}")
async def test_a_write_to_the_bus_is_seen(nats_server, watched: list[str], write: tuple[type, str]) -> None:
    connection = await nats.connect(nats_server.url)
    js = connection.jetstream()
    await js.add_stream(name="WORK", subjects=["work.>"])
    kv = await js.create_key_value(KeyValueConfig(bucket="records"))
    store = await js.create_object_store("objects")
    await js.publish("work.none", b"0")
    await kv.put("a", b"1")
    await store.put("a", b"1")
    watched.clear()
    expected, make = WRITES[write]
    try:
        await make(js, kv, store)
        assert watched[-1].startswith(expected)
    finally:
        for stream in ("WORK", "KV_records", "OBJ_objects"):
            await js.delete_stream(stream)
        await connection.close()


@pytest.mark.parametrize(
    ("method", "path", "is_write"),
    [
        ("GET", "/collections", False),
        ("POST", "/collections/c/points", False),
        ("POST", "/collections/c/points/query/batch", False),
        ("POST", "/collections/c/points/scroll", False),
        ("PUT", "/collections/c/points", True),
        ("POST", "/collections/c/points/batch", True),
        ("POST", "/collections/c/points/payload", True),
        ("POST", "/collections/c/points/delete", True),
        ("POST", "/collections/aliases", True),
        ("POST", "/collections/c/something-new", True),
    ],
)
async def test_a_write_to_the_store_is_seen(
    watched: list[str], method: str, path: str, *, is_write: bool
) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200))
    async with httpx.AsyncClient(transport=transport) as http:
        await http.request(method, f"http://store{path}?wait=true")
    assert watched == ([f"{method} {path}"] if is_write else [])


def test_a_write_to_git_is_seen(tmp_path: Path, watched: list[str]) -> None:
    for limits in (None, READ_LIMITS):
        run_git(tmp_path, "init", "--quiet", environment=isolated_environment(), limits=limits)
        run_git(tmp_path, "rev-parse", "--git-dir", environment=isolated_environment(), limits=limits)
    assert watched == ["git init", "git init"]


def test_a_removed_folder_is_seen(tmp_path: Path, watched: list[str]) -> None:
    shutil.rmtree(tmp_path)
    assert watched == ["remove a folder"]
