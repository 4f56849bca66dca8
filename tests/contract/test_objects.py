"""Objects left by a process that died while storing them are freed."""

from collections.abc import AsyncIterator

import nats
import pytest
from nats.js import JetStreamContext

from prism_runtime.objects import reclaim

BUCKET = "things"


@pytest.fixture
async def js(nats_server) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(nats_server.url)
    yield client.jetstream()
    await client.close()


async def named() -> set[str]:
    return {"named"}


async def test_unnamed_objects_and_stray_pieces_are_freed(js: JetStreamContext) -> None:
    store = await js.create_object_store(BUCKET)
    for name in ("named", "unnamed"):
        await store.put(name, name.encode())
    await js.publish(f"$O.{BUCKET}.C.piece", b"of an object whose process died")
    assert await reclaim(js, BUCKET, named) == 0  # all of them may be named soon
    assert await reclaim(js, BUCKET, kept_s=0) == 1
    assert [one.name for one in await store.list(ignore_deletes=True)] == ["named", "unnamed"]
    assert await reclaim(js, BUCKET, named, kept_s=0) == 1
    assert (await store.get("named")).data == b"named"
    assert [one.name for one in await store.list(ignore_deletes=True)] == ["named"]
    assert await reclaim(js, BUCKET, named, kept_s=0) == 0


async def test_nothing_is_freed_in_an_empty_bucket(js: JetStreamContext) -> None:
    await js.create_object_store(BUCKET)
    assert await reclaim(js, BUCKET, named, kept_s=0) == 0
