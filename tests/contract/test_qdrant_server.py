"""The local Qdrant server as a process: start, stop, kill, limits, refusals.

What it shares with a real Qdrant is in test_qdrant_contract.py.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from qdrant_client import AsyncQdrantClient, models

from prism_qdrant_local.limits import UNCOMPACTED_POINTS_MIN

START_TIMEOUT_S = 120
DEADLINE_S = 120
WORDS = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]
HTTP_OK, HTTP_NOT_FOUND = 200, 404
VECTORS = {"fast": models.VectorParams(size=4, distance=models.Distance.COSINE)}


class LocalQdrant:
    """A server process on a data folder that can be killed and restarted."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = {"data_dir": str(folder / "data"), "port": "0", **settings}
        self.log_path = folder / "qdrant.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{(self.folder / 'data' / 'qdrant.port').read_text()}"

    def launch(self) -> subprocess.Popen[bytes]:
        variables = {f"PRISM_QDRANT_LOCAL_{name.upper()}": value for name, value in self.settings.items()}
        return subprocess.Popen(
            [sys.executable, "-m", "prism_qdrant_local.main"],
            env={**os.environ, **variables},
            stderr=self.log_path.open("ab"),
        )

    def start(self) -> None:
        # A killed server leaves its port file; the next one removes it before it loads anything.
        (self.folder / "data" / "qdrant.port").unlink(missing_ok=True)
        self.process = self.launch()
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (self.folder / "data" / "qdrant.port").exists():
            assert self.process.poll() is None, self.log_path.read_text()
            assert time.monotonic() < deadline, self.log_path.read_text()
            time.sleep(0.005)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        assert self.process
        self.process.terminate()
        return self.process.wait(timeout=DEADLINE_S)

    def client(self, **options: Any) -> AsyncQdrantClient:
        return AsyncQdrantClient(url=self.url, check_compatibility=False, timeout=DEADLINE_S, **options)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., LocalQdrant]]:
    started: list[LocalQdrant] = []

    def start_one(**settings: str) -> LocalQdrant:
        server = LocalQdrant(tmp_path, **settings)
        server.start()
        started.append(server)
        return server

    yield start_one
    for server in started:
        server.kill()


@pytest.fixture
def server(start: Callable[..., LocalQdrant]) -> LocalQdrant:
    return start()


@pytest.fixture
async def client(server: LocalQdrant) -> AsyncIterator[AsyncQdrantClient]:
    client = server.client()
    await client.create_collection("c", vectors_config=VECTORS)
    yield client
    await client.close()


@pytest.fixture
async def http(server: LocalQdrant, client: AsyncQdrantClient) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=DEADLINE_S) as http:
        yield http


def point(point_id: int, **payload: Any) -> models.PointStruct:
    return models.PointStruct(id=point_id, vector={"fast": [1, 0, 0, point_id]}, payload=payload)


# Start, stop, kill


async def test_acknowledged_writes_survive_a_kill(server, client) -> None:
    """Writers run until the server is killed; every write answered with "completed" must persist."""
    await client.create_payload_index("c", "writer", models.PayloadSchemaType.KEYWORD)
    acknowledged: set[int] = set()
    enough = asyncio.Event()

    async def write(writer: int) -> None:
        for ordinal in range(1_000_000):
            point_id = ordinal * 10 + writer
            await client.upsert("c", [point(point_id, writer=str(writer))])
            acknowledged.add(point_id)
            if len(acknowledged) >= 200:
                enough.set()

    writers = [asyncio.create_task(write(writer)) for writer in range(3)]
    async with asyncio.timeout(DEADLINE_S):
        await enough.wait()
    server.kill()
    await asyncio.gather(*writers, return_exceptions=True)

    server.start()
    after = server.client()
    found = await after.retrieve("c", list(acknowledged))
    assert {record.id for record in found} == acknowledged
    by_writer = await after.count("c", count_filter=matching("writer", "1"))
    assert by_writer.count >= sum(point_id % 10 == 1 for point_id in acknowledged)
    await after.close()


async def test_every_kind_of_write_survives_a_kill(server, client) -> None:
    await client.create_payload_index(
        "c", "text", models.TextIndexParams(type="text", tokenizer="code", scoring=True)
    )
    await client.upsert("c", [point(number, text=f"get{word}Name") for number, word in enumerate(WORDS)])
    await client.delete("c", [0])
    await client.set_payload("c", {"layer": "main"}, points=[1])
    await client.create_vector_name(
        "c", "deep", models.DenseVectorNameConfig(dense=models.DenseVectorConfig(size=2, distance="Dot"))
    )
    await client.update_vectors("c", [models.PointVectors(id=2, vector={"deep": [3, 4]})])
    await client.update_collection_aliases(
        [models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name="c", alias_name="now"))]
    )
    await client.create_collection("gone", vectors_config=VECTORS)
    await client.delete_collection("gone")
    server.kill()
    server.start()
    after = server.client()
    assert (await after.count("now")).count == 4
    assert (await after.retrieve("now", [1]))[0].payload == {"text": "getBetaName", "layer": "main"}
    assert (await after.retrieve("now", [2], with_vectors=["deep"]))[0].vector == {"deep": [3, 4]}
    hits = await after.query_points("now", query=models.TextQuery(text="name delta"), using="text")
    assert hits.points[0].id == 3
    info = await after.get_collection("c")
    assert info.config.params.vectors.keys() == {"fast", "deep"}
    assert info.payload_schema["text"].params.tokenizer == "code"
    assert not await after.collection_exists("gone")
    await after.close()


async def test_refused_batch_leaves_nothing_after_a_restart(server, client, http) -> None:
    good, bad = {"id": 1, "vector": {"fast": [1, 0, 0, 0]}}, {"id": 2, "vector": {"fast": [1, 0, 0, "x"]}}
    response = await http.put("/collections/c/points", json={"points": [good] * 150 + [bad]})
    assert response.status_code == 400
    assert (await client.count("c")).count == 0
    server.kill()
    server.start()
    after = server.client()
    assert (await after.count("c")).count == 0
    await after.close()


async def test_terminate_flushes_and_exits_with_zero(server, client) -> None:
    await client.upsert("c", [point(1)])
    assert server.stop() == 0
    assert not (server.folder / "data" / "qdrant.port").exists()
    server.start()
    after = server.client()
    assert (await after.count("c")).count == 1
    await after.close()


def test_a_second_server_on_the_same_folder_is_refused(server) -> None:
    second = server.launch()
    assert second.wait(timeout=DEADLINE_S) == 3
    last = json.loads(server.log_path.read_text().splitlines()[-1])
    assert last["event"] == "another server is using this data folder"
    assert httpx.get(f"{server.url}/livez").status_code == 200


def test_the_server_stops_on_an_interrupt_too(server) -> None:
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=DEADLINE_S) == 0


async def write_words(client: AsyncQdrantClient) -> None:
    """A point per word, and an alias."""
    await client.upsert("c", [point(number, word=word) for number, word in enumerate(WORDS)], wait=True)
    create = models.CreateAlias(collection_name="c", alias_name="other name")
    await client.update_collection_aliases([models.CreateAliasOperation(create_alias=create)])


def test_unknown_folders_are_set_aside_at_start(server) -> None:
    collections, aside = server.folder / "data" / "collections", server.folder / "data" / "set-aside"
    for name in ("unknown", "copy-of-a-compaction"):
        (collections / name).mkdir()
        (collections / name / "file").write_text("content")
    server.kill()
    server.start()
    assert list(collections.iterdir()) == []
    (kept,) = aside.iterdir()  # the copy is incomplete, and its collection still exists
    assert kept.name.startswith("unknown-")
    assert (kept / "file").read_text() == "content"


@pytest.mark.parametrize("content", [None, b"", b'{"version": 1, "collect', b"\0" * 100])
async def test_a_lost_state_file_loses_no_collection(server, client, content: bytes | None) -> None:
    await write_words(client)
    server.kill()
    state = server.folder / "data" / "state.json"
    if content is None:
        state.unlink()
    else:
        state.write_bytes(content)
    server.start()
    again = server.client()
    try:
        assert (await again.count("other name")).count == len(WORDS)
    finally:
        await again.close()


async def test_a_damaged_collection_is_named_and_set_aside(server, client) -> None:
    await write_words(client)
    assert server.stop() == 0
    pages = list((server.folder / "data").rglob("payload_storage/page_0.dat"))
    assert pages
    for page in pages:
        page.write_bytes(bytes(random.Random(7).randbytes(page.stat().st_size)))
    server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        answer = await http.post("/collections/c/points/scroll", json={"limit": 1_000, "with_payload": True})
        assert answer.status_code == 500
        assert "Damaged: collection `c`" in answer.text, answer.text
        listed = (await http.get("/prism/damages")).json()["result"]
        assert list(listed) == ["c"]
        moved = await http.post("/prism/set-aside/c")
        assert moved.json()["result"]["folder"].startswith(str(server.folder / "data" / "set-aside"))
        assert (await http.get("/collections/c")).status_code == 404
        assert (await http.get("/prism/damages")).json()["result"] == {}


async def fill(client: AsyncQdrantClient) -> None:
    """Enough points for a compaction."""
    await client.create_collection("c", vectors_config=VECTORS)
    numbers = range(UNCOMPACTED_POINTS_MIN)
    for first in numbers[::1_000]:
        await client.upsert("c", [point(number) for number in numbers[first : first + 1_000]], wait=True)


async def until(server: LocalQdrant, client: AsyncQdrantClient, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, server.log_path.read_text()
        await client.count("c")  # it answers during the compaction


async def test_idle_store_compacts_and_a_kill_loses_nothing(start) -> None:
    server = start(compaction_idle_s="0.1")
    client = server.client()
    await fill(client)
    await until(server, client, lambda: '"compacted"' in server.log_path.read_text())
    assert (await client.get_collection("c")).indexed_vectors_count == UNCOMPACTED_POINTS_MIN
    await client.close()
    server.kill()
    server.start()
    again = server.client()
    assert (await again.count("c")).count == UNCOMPACTED_POINTS_MIN
    await again.close()


async def test_stop_during_a_compaction_keeps_the_old_state(start) -> None:
    server = start(compaction_idle_s="0.1")
    client, folders = server.client(), server.folder / "data" / "collections"
    await fill(client)
    await until(server, client, lambda: len(list(folders.iterdir())) > 1)
    await client.close()
    assert server.stop() == 0
    server.settings["compaction_idle_s"] = str(DEADLINE_S)
    server.start()
    again = server.client()
    assert (await again.count("c")).count == UNCOMPACTED_POINTS_MIN
    assert [folder.name for folder in folders.iterdir()] == ["c"]
    await again.close()


# What one request does, others see whole


async def test_readers_never_see_half_of_an_upsert(client) -> None:
    """One upsert replaces 100 points; a reader finds one version in all of them."""
    versions_seen: set[int] = set()
    is_writing = True

    async def read() -> None:
        while is_writing:
            records, _ = await client.scroll("c", limit=200)
            versions = {record.payload["version"] for record in records}
            assert len(versions) <= 1
            versions_seen.update(versions)

    readers = [asyncio.create_task(read()) for _ in range(3)]
    for version in range(20):
        await client.upsert("c", [point(number, version=version) for number in range(100)])
    is_writing = False
    await asyncio.gather(*readers)
    assert versions_seen


async def test_readers_never_see_half_of_a_batch_of_operations(client) -> None:
    """A file with new chunk boundaries: old points go and new ones come in one request."""
    is_writing = True

    async def read() -> None:
        while is_writing:
            records, _ = await client.scroll("c", limit=100)
            assert len(records) in (0, 30)
            assert len({record.payload["version"] for record in records}) <= 1

    reader = asyncio.create_task(read())
    for version in range(20):
        new = [point(version * 100 + number, version=version) for number in range(30)]
        old = models.Filter(
            must_not=[models.FieldCondition(key="version", match=models.MatchValue(value=version))]
        )
        await client.batch_update_points(
            "c",
            [
                models.UpsertOperation(upsert=models.PointsList(points=new)),
                models.DeleteOperation(delete=models.FilterSelector(filter=old)),
            ],
        )
    is_writing = False
    await reader


async def test_inexact_count_is_estimated_from_the_index(client) -> None:
    await client.create_payload_index("c", "scope", models.PayloadSchemaType.KEYWORD, wait=True)
    points = [
        models.PointStruct(id=number, vector={"fast": [1, 0, 0, 0]}, payload={"scope": "ab"[number % 4 > 0]})
        for number in range(40)
    ]
    await client.upsert("c", points, wait=True)
    for exact in (True, False):
        found = await client.count("c", count_filter=models.Filter(must=[matching_scope("a")]), exact=exact)
        assert found.count == 10


def matching_scope(value: str) -> models.FieldCondition:
    return models.FieldCondition(key="scope", match=models.MatchValue(value=value))


async def test_a_large_write_does_not_block_other_requests(client, http) -> None:
    """Repeat with larger writes until a read overlaps a write: on a fast machine a write may end between two
    reads.
    """
    written = 0
    for size in (5_000, 20_000, 80_000):
        points = [{"id": written + number, "vector": {"fast": [1, 0, 0, 0]}} for number in range(size)]
        write = asyncio.create_task(http.put("/collections/c/points", json={"points": points}))
        counts: list[int] = []
        while not write.done():
            counts.append((await client.count("c")).count)
        assert (await write).status_code == HTTP_OK
        before, written = written, written + size
        assert (await client.count("c")).count == written
        if any(before < seen < written for seen in counts):
            return
    pytest.fail("no read was answered in the middle of a write")


async def test_write_to_a_deleted_collection_ends_with_404(client, http) -> None:
    """Repeat with larger writes: on a fast machine the write may end before the deletion."""
    for size in (20_000, 40_000, 80_000):
        body = {"points": [{"id": number, "vector": {"fast": [1, 0, 0, 0]}} for number in range(size)]}
        write = asyncio.create_task(http.put("/collections/c/points", json=body))
        while not write.done() and not (await client.count("c")).count:
            pass
        is_under_way = not write.done()
        await client.delete_collection("c")
        status = (await write).status_code
        if is_under_way and status == HTTP_NOT_FOUND:
            return
        assert status == HTTP_OK
        await client.create_collection("c", vectors_config=VECTORS)
    pytest.fail("no write was under way when its collection was deleted")


# Refusals


def matching(key: str, value: str) -> models.Filter:
    return models.Filter(must=[models.FieldCondition(key=key, match=models.MatchValue(value=value))])


NAMED = {"fast": {"size": 4, "distance": "Cosine"}}
DEEP: dict[str, Any] = {"must": []}
for _ in range(40):
    DEEP = {"must": [DEEP]}

DEEP_PAYLOAD: dict[str, Any] = {}
for _ in range(70):
    DEEP_PAYLOAD = {"a": [DEEP_PAYLOAD]}

REFUSED = {
    "unknown endpoint": (
        "POST",
        "/collections/c/points/recommend",
        {},
        404,
        "/collections/c/points/recommend",
    ),
    "unknown collection": ("POST", "/collections/nope/points/count", {}, 404, "nope"),
    "unknown query parameter": ("POST", "/collections/c/points/count?wat=1", {}, 400, "wat"),
    "unknown field of a request": ("POST", "/collections/c/points/count", {"filtre": {}}, 400, "filtre"),
    "unknown clause": ("POST", "/collections/c/points/count", {"filter": {"most": []}}, 400, "most"),
    "unknown condition": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": [{"slice": {}}]}},
        400,
        "slice",
    ),
    "unsupported nested": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"nested": {}}}},
        400,
        "nested",
    ),
    "unsupported geo": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"key": "a", "geo_radius": {}}}},
        400,
        "geo_radius",
    ),
    "unknown match": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"key": "a", "match": {"regex": "x"}}}},
        400,
        "regex",
    ),
    "condition without a test": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"key": "a"}}},
        400,
        "`a`",
    ),
    "two lower bounds": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"key": "a", "range": {"gt": 0, "gte": 1}}}},
        400,
        "both gt and gte",
    ),
    "filter that is a string": ("POST", "/collections/c/points/count", {"filter": "1=1"}, 400, "filter"),
    "mixed list": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"key": "a", "match": {"any": ["x", 1]}}}},
        400,
        "match.any",
    ),
    "deep filter": ("POST", "/collections/c/points/count", {"filter": DEEP}, 400, "nested deeper"),
    "bad path": (
        "POST",
        "/collections/c/points/count",
        {"filter": {"must": {"is_empty": {"key": "a]"}}}},
        400,
        "path",
    ),
    "bad path in a selector": ("POST", "/collections/c/points/scroll", {"with_payload": ["a]"]}, 400, "path"),
    "limit of zero": ("POST", "/collections/c/points/scroll", {"limit": 0}, 422, "limit"),
    "limit too large": ("POST", "/collections/c/points/scroll", {"limit": 10_001}, 422, "limit"),
    "query by id": ("POST", "/collections/c/points/query", {"query": 1, "using": "fast"}, 400, "by point id"),
    "formula": ("POST", "/collections/c/points/query", {"query": {"formula": {}}}, 400, "formula"),
    "groups": ("POST", "/collections/c/points/query/groups", {}, 404, "groups"),
    "text query without a field": (
        "POST",
        "/collections/c/points/query",
        {"query": {"text": "a"}},
        400,
        "using",
    ),
    "too many queries": (
        "POST",
        "/collections/c/points/query/batch",
        {"searches": [{}] * 101},
        422,
        "searches",
    ),
    "upsert without a vector": ("PUT", "/collections/c/points", {"points": [{"id": 1}]}, 400, "vector"),
    "unknown field of a point": (
        "PUT",
        "/collections/c/points",
        {"points": [{"id": 1, "vec": {}}]},
        400,
        "vec",
    ),
    "negative id": ("PUT", "/collections/c/points", {"points": [{"id": -1, "vector": {}}]}, 400, "-1"),
    "boolean id": ("PUT", "/collections/c/points", {"points": [{"id": True, "vector": {}}]}, 400, "True"),
    "id that is no uuid": (
        "PUT",
        "/collections/c/points",
        {"points": [{"id": "a.py", "vector": {}}]},
        400,
        "a.py",
    ),
    "payload that is a list": (
        "PUT",
        "/collections/c/points",
        {"points": [{"id": 1, "vector": {}, "payload": []}]},
        400,
        "payload",
    ),
    "payload too deep": (
        "PUT",
        "/collections/c/points",
        {"points": [{"id": 1, "vector": {}, "payload": DEEP_PAYLOAD}]},
        400,
        "nested deeper",
    ),
    "unnamed vector": (
        "PUT",
        "/collections/c/points",
        {"points": [{"id": 1, "vector": [1, 0, 0, 0]}]},
        400,
        "named",
    ),
    "batch of uneven columns": (
        "PUT",
        "/collections/c/points",
        {"batch": {"ids": [1, 2], "vectors": {"fast": [[1, 0, 0, 0]]}}},
        400,
        "batch.vectors.fast",
    ),
    "shard key": ("PUT", "/collections/c/points", {"points": [], "shard_key": "a"}, 400, "shard_key"),
    "delete of everything and nothing": ("POST", "/collections/c/points/delete", {}, 400, "points"),
    "delete by ids and filter": (
        "POST",
        "/collections/c/points/delete",
        {"points": [], "filter": {}},
        400,
        "points",
    ),
    "unknown operation": (
        "POST",
        "/collections/c/points/batch",
        {"operations": [{"explode": {}}]},
        400,
        "explode",
    ),
    "no vectors": ("PUT", "/collections/d", {"vectors": {}}, 400, "named vectors"),
    "sparse vectors": ("PUT", "/collections/d", {"vectors": {}, "sparse_vectors": {"s": {}}}, 400, "sparse"),
    "unknown setting of a collection": ("PUT", "/collections/d", {"vector": {}}, 400, "vector"),
    "name that leaves the folder": ("PUT", "/collections/..%2F..%2Fd", {"vectors": NAMED}, 400, "forbidden"),
    "name of dots": ("PUT", "/collections/%2E%2E", {"vectors": NAMED}, 400, "forbidden"),
    "unknown index": (
        "PUT",
        "/collections/c/index",
        {"field_name": "a", "field_schema": "blob"},
        400,
        "blob",
    ),
    "unknown index setting": (
        "PUT",
        "/collections/c/index",
        {"field_name": "a", "field_schema": {"type": "text", "tokeniser": "code"}},
        400,
        "tokeniser",
    ),
}


@pytest.fixture(scope="module")
def with_empty_collection(tmp_path_factory) -> Iterator[httpx.Client]:
    server = LocalQdrant(tmp_path_factory.mktemp("qdrant"))
    server.start()
    with httpx.Client(base_url=server.url, timeout=DEADLINE_S) as http:
        http.put("/collections/c", json={"vectors": NAMED})
        yield http
    server.kill()


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_request_is_refused_with_the_field(with_empty_collection, case) -> None:
    http = with_empty_collection
    method, path, body, status, named = REFUSED[case]
    response = http.request(method, path, json=body)
    assert (response.status_code, response.json().keys()) == (status, {"status", "time"})
    assert named in response.json()["status"]["error"]
    assert http.post("/collections/c/points/count", json={}).json()["result"] == {"count": 0}


async def test_a_body_that_is_not_json_is_refused(http) -> None:
    headers = {"content-type": "application/json"}
    for body in (b"{", b"\xff\xfe", b"[" * 5_000, b'{"limit": NaN}'):
        response = await http.post("/collections/c/points/scroll", content=body, headers=headers)
        assert response.status_code == 400


async def test_a_web_page_cannot_post_without_a_preflight(http) -> None:
    """A browser sends text/plain across origins without a preflight request."""
    response = await http.post(
        "/collections/c/points/delete", content=b'{"filter": {}}', headers={"content-type": "text/plain"}
    )
    assert response.status_code == 415


async def test_bodies_are_accepted_up_to_the_limit(start) -> None:
    limit = 20_000
    server = start(max_body_bytes=str(limit))

    def body_of(length: int) -> bytes:
        empty = b'{"points":[{"id":1,"vector":{},"payload":{"text":""}}]}'
        return empty.replace(b'""', b'"' + b"x" * (length - len(empty)) + b'"')

    async with httpx.AsyncClient(base_url=server.url, headers={"content-type": "application/json"}) as http:
        await http.put("/collections/c", content=b'{"vectors":{"v":{"size":1,"distance":"Dot"}}}')
        assert (await http.put("/collections/c/points?wait=true", content=body_of(limit))).status_code == 200
        for length in (limit + 1, 3 * limit):
            response = await http.put("/collections/c/points?wait=true", content=body_of(length))
            assert response.status_code == 413
            assert str(limit) in response.json()["status"]["error"]

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b" " * limit

        assert (await http.put("/collections/c/points", content=chunks())).status_code == 413


async def test_everything_but_health_checks_needs_the_key(start) -> None:
    server = start(api_key="s3cret")
    async with httpx.AsyncClient(base_url=server.url) as http:
        for path in ("/", "/livez", "/readyz", "/healthz"):
            assert (await http.get(path)).status_code == 200
        for path in ("/collections", "/metrics"):
            assert (await http.get(path)).status_code == 401
            assert (await http.get(path, headers={"api-key": "wrong"})).status_code == 403
            assert (await http.get(path, headers={"api-key": "s3cret"})).status_code == 200
            assert (await http.get(path, headers={"authorization": "Bearer s3cret"})).status_code == 200


async def test_metrics_count_points_and_requests(client, http) -> None:
    await client.upsert("c", [point(1), point(2)])
    lines = (await http.get("/metrics")).text.splitlines()
    assert 'collection_points{id="c"} 2.0' in lines
    assert 'rest_responses_total{endpoint="/collections/*/points",method="PUT",status="200"} 1.0' in lines
    assert 'rest_responses_duration_seconds_count{endpoint="/collections/*/points"} 1.0' in lines


async def test_a_full_disk_refuses_writes_and_answers_reads(start) -> None:
    server = start(disk_free_bytes_min=str(2**62))
    async with httpx.AsyncClient(base_url=server.url) as http:
        assert (await http.put("/collections/c", json={"vectors": NAMED})).status_code == 507
        assert (await http.get("/collections")).status_code == 200
        assert (await http.post("/collections/c/points/delete", json={"points": [1]})).status_code == 404
