"""The writer of the index on a real server: the newest version wins, writes are idempotent, tenants are
isolated.
"""

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import indexed_texts
import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from qdrant_client import models

from prism_contracts.base import Lane, file_id, repo_id, scope_key, variant_layer
from prism_contracts.code import Chunk, FileFlags, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import (
    FileChunked,
    FileEmbedded,
    FileFailed,
    FileRemoved,
    FileSkipped,
    FileVersion,
)
from prism_indexer.core import failed_point, indexed_point, removed_point, skipped_point
from prism_runtime.vectors import to_message
from prism_store.client import StoreClient
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.reader import VALUES_PER_COUNT, MatchLeg, Reader, TextLeg, VectorLeg
from prism_store.schema import (
    FAST_VECTOR,
    alias,
    collection,
    deep_vector,
    is_deep_vector,
    payload_indexes,
)
from prism_store.scope import Scope
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

MODEL = "m1"
DIMENSION = 4
NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)
PATH = "tracker/routes.py"
# Chunks per content. `A` is always the same content.
CONTENTS = {"A": 3, "B": 2, "C": 0}


@pytest.fixture
async def client(qdrant_url) -> AsyncIterator[StoreClient]:
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    yield client
    await client.close()


@pytest.fixture(scope="session")
def shared_name() -> str:
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
async def tenant(client, shared_name) -> str:
    """A tenant with an empty collection. Creation is slow, so all tests share one."""
    await Writer(client).ensure_collection(shared_name, MODEL, DIMENSION)
    await clear(client, shared_name)
    return shared_name


def address(tenant: str, version: int, path: str = PATH) -> dict[str, Any]:
    return {
        "tenant": tenant, "repo": REPO, "path": path, "version": version, "job": "j", "ordinal": 0, "lane": Lane.LIVE,
    }  # fmt: skip


def version_of(tenant: str, what: str, version: int, path: str = PATH) -> FilePoint:
    """A version of a file: content A, B or C, or removed, skipped or failed."""
    where = address(tenant, version, path)
    if what == "removed":
        return removed_point(FileRemoved(**where))
    if what == "skipped":
        return skipped_point(FileSkipped(**where, blob="b", size_bytes=1, reason=SkipReason.BINARY))
    if what == "failed":
        return failed_point(FileFailed(**where, stage="chunker", code="parse_failed"))
    count = CONTENTS[what]
    file = FileChunked(
        **where,
        blob=what * 40,
        size_bytes=count,
        line_count=count,
        language="python",
        flags=FileFlags(),
        chunker="1",
        chunks=tuple(
            Chunk(ordinal=n, start_line=n + 1, end_line=n + 1, text=f"text_{what}{n} {path}\n")
            for n in range(count)
        ),
    )
    rows = np.array([[n + 1, ord(what), 1, 0] for n in range(count)], np.float32).reshape(count, DIMENSION)
    return indexed_point(FileEmbedded(**where, file=file, vectors=to_message(MODEL, rows)))


async def everything(client: StoreClient, tenant: str) -> dict[str, Any]:
    """Every point of a tenant: payload and vectors by id."""
    points, more = await client.scroll(alias(tenant), limit=10_000, with_vectors=True)
    assert more is None
    return {str(point.id): (point.payload, point.vector) for point in points}


async def clear(client: StoreClient, tenant: str) -> None:
    await client.delete(alias(tenant), list(await everything(client, tenant)), wait=True)


async def written_alone(client: StoreClient, tenant: str, *files: FilePoint) -> dict[str, Any]:
    """The expected index after these versions alone."""
    await clear(client, tenant)
    assert await Writer(client).write(tenant, files) == [True] * len(files)
    state = await everything(client, tenant)
    assert len(state) == sum(1 + len(file.chunks) for file in files)
    await clear(client, tenant)
    return state


STORIES = [
    ("A", "B", "A"),
    ("A", "B", "removed"),
    ("A", "removed", "A"),
    ("A", "failed", "C"),
    ("removed", "A", "skipped"),
]


@pytest.mark.parametrize("story", STORIES, ids="-".join)
async def test_newest_version_wins_in_any_order_with_duplicates(client, tenant, story):
    files = [version_of(tenant, what, version) for version, what in enumerate(story, start=1)]
    expected = await written_alone(client, tenant, files[-1])
    writer = Writer(client)
    for order in permutations(files):
        for _ in range(2):
            for file in order:
                newest = (await writer.write(tenant, [file]))[0]
                assert newest or file is not files[-1]
            assert await everything(client, tenant) == expected, [f.version for f in order]
        await clear(client, tenant)


async def test_drop_removes_all_points_of_older_versions_only(client, tenant):
    writer = Writer(client)
    old, kept = version_of(tenant, "A", 1), version_of(tenant, "B", 7, "tracker/other.py")
    expected = await written_alone(client, tenant, kept)
    await writer.write(tenant, [old])
    await writer.write(tenant, [kept])
    for _ in range(2):
        await writer.drop(tenant, [old.id, kept.id], below=7)
        assert await everything(client, tenant) == expected
    assert await writer.write(tenant, [old]) == [True]
    await writer.drop("absent-" + tenant, [old.id], below=7)


async def test_a_removed_repository_loses_the_points_of_all_layers_and_no_other_does(
    client, tenant, monkeypatch
) -> None:
    monkeypatch.setattr("prism_store.writer.POINTS_PER_DELETE", 3)
    monkeypatch.setattr("prism_store.writer.DELETES_PER_DROP", 1)
    other = address(tenant, 1) | {"repo": repo_id("acme/other")}
    expected = await written_alone(client, tenant, removed_point(FileRemoved(**other)))
    writer = Writer(client)
    await writer.write(tenant, [removed_point(FileRemoved(**other))])
    variant = address(tenant, 2) | {"layer": variant_layer(PATH, "b", "1")}
    await writer.write(tenant, [version_of(tenant, "A", 1), removed_point(FileRemoved(**variant))])
    calls = 0
    while not await writer.drop_repository(tenant, REPO):
        calls += 1
    assert calls == 2  # five points, three per call
    assert await everything(client, tenant) == expected
    assert await writer.drop_repository("absent-" + tenant, REPO)


async def test_the_index_of_a_tenant_is_dropped_and_built_again(client, tenant):
    writer, late = Writer(client), Writer(client)
    others = [f"{tenant}-2", f"{tenant}0"]  # whose names begin alike
    for one in (tenant, *others):
        await writer.ensure_collection(one, MODEL, DIMENSION)
        await writer.write(one, [version_of(one, "A", 1)])
    await late.ensure_collection(tenant, MODEL, DIMENSION)
    before = [await everything(client, one) for one in others]
    assert await writer.drop_tenant(tenant) == 1 + CONTENTS["A"]
    assert await writer.drop_tenant(tenant) == 0
    known = (await client.get_collections()).collections
    assert collection(tenant, MODEL) not in {one.name for one in known}
    assert [await everything(client, one) for one in others] == before
    with pytest.raises(PrismError) as refused:
        await late.write(tenant, [version_of(tenant, "A", 1)])
    assert refused.value.code is ErrorCode.UNAVAILABLE
    await late.ensure_collection(tenant, MODEL, DIMENSION)
    assert await late.write(tenant, [version_of(tenant, "A", 1)]) == [True]


@pytest.mark.parametrize("story", STORIES, ids="-".join)
@pytest.mark.parametrize("seed", range(2))
async def test_two_writers_at_once_leave_the_newest_version(client, tenant, story, seed):
    files = [version_of(tenant, what, version) for version, what in enumerate(story, start=1)]
    expected = await written_alone(client, tenant, files[-1])
    chance = random.Random(seed)
    work = files * 2
    chance.shuffle(work)
    writers = [Writer(Jittery(client, chance.randrange(1 << 30))) for _ in range(2)]
    await asyncio.gather(*(writers[n % 2].write(tenant, [file]) for n, file in enumerate(work)))
    assert await everything(client, tenant) == expected


async def test_a_batch_of_files_equals_single_writes(client, tenant):
    paths = [f"src/{n}.py" for n in range(30)]
    whats = ["A", "B", "C", "removed", "skipped"]
    final = [version_of(tenant, whats[n % 5], 2 + n % 3, path) for n, path in enumerate(paths)]
    expected = await written_alone(client, tenant, *final)
    writer = Writer(client)
    await writer.write(tenant, [version_of(tenant, "A", 1, path) for path in paths])
    assert all(await writer.write(tenant, final))
    assert await writer.write(tenant, [version_of(tenant, "B", 1, path) for path in paths]) == [False] * 30
    assert await everything(client, tenant) == expected


# Crashes


class DiedError(Exception):
    """The process ended here."""


class Wrapped:
    """A client with observable calls."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            await self._before(name)
            return await found(*args, **kwargs)

        return call

    async def _before(self, name: str) -> None:
        raise NotImplementedError


class Dying(Wrapped):
    """Dies at the n-th call, from 0; nothing reaches the server afterwards."""

    def __init__(self, client: StoreClient, calls: int) -> None:
        super().__init__(client)
        self.calls_left = calls

    async def _before(self, name: str) -> None:
        if self.calls_left == 0:
            raise DiedError
        self.calls_left -= 1


class Jittery(Wrapped):
    """Yields to other tasks before each call, for a random number of turns."""

    def __init__(self, client: StoreClient, seed: int) -> None:
        super().__init__(client)
        self._chance = random.Random(seed)

    async def _before(self, name: str) -> None:
        for _ in range(self._chance.randrange(40)):
            await asyncio.sleep(0)


class Meddling(Wrapped):
    """Before the n-th call, another writer writes another version completely."""

    def __init__(self, client: StoreClient, calls: int, tenant: str, other: FilePoint) -> None:
        super().__init__(client)
        self.calls_left = calls
        self._other = (tenant, [other])

    async def _before(self, name: str) -> None:
        if self.calls_left == 0:
            await Writer(self._client).write(*self._other)
        self.calls_left -= 1


CALLS_MAX = 12


async def dies_at(client: StoreClient, tenant: str, calls: int, files: Sequence[FilePoint]) -> bool:
    """Write and die at a call; False if the write needed fewer calls."""
    try:
        await Writer(Dying(client, calls)).write(tenant, files)
    except DiedError:
        return True
    return False


@pytest.mark.parametrize(
    "story", [("A", "B"), ("A", "removed"), ("B", "A"), ("removed", "A"), ("A", "A")], ids="-".join
)
async def test_write_repeated_after_a_crash_has_the_same_result(client, tenant, story):
    old, new = (version_of(tenant, what, version) for version, what in enumerate(story, start=1))
    expected = await written_alone(client, tenant, new)
    for calls in range(CALLS_MAX):
        await Writer(client).write(tenant, [old])
        died = await dies_at(client, tenant, calls, [new])
        assert await Writer(client).write(tenant, [new]) == [True]
        assert await everything(client, tenant) == expected, calls
        await clear(client, tenant)
        if not died:
            return
    raise AssertionError("a write of one file takes more calls than expected")


@pytest.mark.parametrize("overtaken_by", ["B", "A", "removed"])
async def test_an_overtaken_crash_leaves_nothing_behind(client, tenant, overtaken_by):
    """Version 1 dies at any call, version 2 is written, then version 1 is delivered again."""
    first, second = version_of(tenant, "A", 1), version_of(tenant, overtaken_by, 2)
    expected = await written_alone(client, tenant, second)
    for calls in range(CALLS_MAX):
        died = await dies_at(client, tenant, calls, [first])
        await Writer(client).write(tenant, [second])
        assert await Writer(client).write(tenant, [first]) == [False]
        assert await everything(client, tenant) == expected, calls
        await clear(client, tenant)
        if not died:
            return
    raise AssertionError("a write of one file takes more calls than expected")


@pytest.mark.parametrize("overtaken_by", ["B", "A", "removed"])
@pytest.mark.parametrize("with_past", [False, True])
@pytest.mark.parametrize("dies", [False, True])
async def test_version_superseded_at_any_call_leaves_nothing(client, tenant, overtaken_by, with_past, dies):
    """A newer version is written between two calls of an older one, which then continues or dies."""
    past, slow, fast = (version_of(tenant, w, v) for v, w in enumerate(("C", "A", overtaken_by), start=1))
    expected = await written_alone(client, tenant, fast)
    for calls in range(CALLS_MAX):
        if with_past:
            await Writer(client).write(tenant, [past])
        meddling = Meddling(client, calls, tenant, fast)
        with contextlib.suppress(DiedError):
            await Writer(Dying(meddling, calls + 1 if dies else 1_000)).write(tenant, [slow])
        met = meddling.calls_left < 0
        if not met:
            await Writer(client).write(tenant, [fast])
        await Writer(client).write(tenant, [slow])  # delivered again
        assert await everything(client, tenant) == expected, calls
        await clear(client, tenant)
        if not met:
            return
    raise AssertionError("a write of one file takes more calls than expected")


@pytest.mark.parametrize("newest", ["B", "A", "removed"])
async def test_older_version_between_any_two_calls_leaves_nothing(client, tenant, newest):
    """The index is empty when the newest starts; a whole older one is written before it continues."""
    older, newer = version_of(tenant, "A" if newest == "B" else "B", 1), version_of(tenant, newest, 2)
    expected = await written_alone(client, tenant, newer)
    for calls in range(CALLS_MAX):
        meddling = Meddling(client, calls, tenant, older)
        assert await Writer(meddling).write(tenant, [newer]) == [True]
        assert await everything(client, tenant) == expected, calls
        await clear(client, tenant)
        if meddling.calls_left >= 0:
            return
    raise AssertionError("a write of one file takes more calls than expected")


async def test_first_of_two_contents_of_a_version_stays_complete(client, tenant):
    """Another version of the chunker may have cut the same snapshot's file differently."""
    one, other = version_of(tenant, "A", 1), version_of(tenant, "B", 1)
    expected = await written_alone(client, tenant, other)
    for calls in range(3):
        await Writer(Meddling(client, calls, tenant, other)).write(tenant, [one])
        assert await everything(client, tenant) == expected, calls
        await clear(client, tenant)


# No half file


async def test_a_reader_never_sees_half_a_file(client, tenant):
    """While contents alternate, a read of the file point and its chunks sees one version or is known to be
    stale.
    """
    reader, scope = Reader(client), Scope(tenant=tenant, repos=(REPO,))
    files = [version_of(tenant, "AB"[n % 2], n + 1) for n in range(12)]
    await Writer(client).write(tenant, files[:1])
    file = files[0].id
    whole = {one.generation: {chunk.id for chunk in one.chunks} for one in files[:2]}
    seen = 0

    async def look() -> None:
        nonlocal seen
        while not writing.done():
            point = (await reader.points(scope, [file], ["generation"]))[file]
            wanted = whole[point.text("generation")]
            found = await reader.points(scope, sorted(wanted), ["generation", "text"])
            again = (await reader.points(scope, [file], ["generation"]))[file]
            assert set(found) == wanted or again.payload != point.payload
            seen += 1

    async def write() -> None:
        for one in files[1:]:
            await Writer(client).write(tenant, [one])

    writing = asyncio.create_task(write())
    await look()
    await writing
    assert seen


# Vectors


async def test_a_vector_keeps_its_direction_and_a_row_of_zeros_is_kept(client, tenant):
    file = version_of(tenant, "A", 1)
    rows = np.random.default_rng(7).normal(0, 0.06, file.vectors.shape).astype(np.float32)
    rows[0] = 0.0
    await Writer(client).write(tenant, [replace(file, vectors=rows)])
    stored = await everything(client, tenant)
    kept = np.array([stored[chunk.id][1][FAST_VECTOR] for chunk in file.chunks])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(kept[1:], (rows / np.maximum(lengths, 1e-9))[1:], atol=4e-3)
    assert not kept[0].any()


# Deep vectors


async def test_deep_vectors_go_only_to_files_of_their_version(client, tenant):
    writer = Writer(client)
    same, newer, gone = (version_of(tenant, "A", 1, path) for path in ("same.py", "newer.py", "gone.py"))
    await writer.write(tenant, [same, newer])
    await writer.write(tenant, [version_of(tenant, "B", 2, "newer.py")])
    before = await everything(client, tenant)
    assert await writer.ensure_deep_vector(tenant, "d1", 2)
    assert await Writer(client).ensure_deep_vector(tenant, "d1", 2)  # another process
    files = [FileVersion(file=file.id, generation=file.generation) for file in (same, newer, gone)]
    await writer.write_deep(tenant, "d1", files, np.array([[1, 0]] * 3, np.float32))
    after = await everything(client, tenant)
    assert {key: payload for key, (payload, _) in after.items()} == {key: p for key, (p, _) in before.items()}
    assert [key for key, (_, vectors) in after.items() if deep_vector("d1") in vectors] == [same.id]


async def test_new_version_of_a_file_drops_the_old_deep_vector(client, tenant):
    writer, file = Writer(client), version_of(tenant, "A", 1)
    await writer.write(tenant, [file])
    await writer.ensure_deep_vector(tenant, "d1", 2)
    version = FileVersion(file=file.id, generation=file.generation)
    await writer.write_deep(tenant, "d1", [version], np.array([[1, 0]], np.float32))
    await writer.write(tenant, [version_of(tenant, "B", 2)])
    assert deep_vector("d1") not in (await everything(client, tenant))[file.id][1]


async def test_deep_vectors_of_a_new_model_replace_the_old(client, tenant):
    writer = Writer(client)
    await writer.ensure_deep_vector(tenant, "d1", 2)
    await writer.ensure_deep_vector(tenant, "d2", 3)
    vectors = (await client.get_collection(alias(tenant))).config.params.vectors
    assert {name: params.size for name, params in vectors.items() if is_deep_vector(name)} == {
        deep_vector("d2"): 3
    }
    assert not await writer.ensure_deep_vector(f"t{uuid.uuid4().hex}", "d1", 2)  # no collection yet


# Models


async def test_the_index_of_another_model_is_not_written_to(client, tenant):
    with pytest.raises(PrismError) as caught:
        await Writer(client).ensure_collection(tenant, "m2", DIMENSION)
    assert caught.value.code is ErrorCode.MODEL_MISMATCH
    assert not await client.collection_exists(collection(tenant, "m2"))


async def test_concurrent_creators_of_a_collection_all_succeed(client):
    tenant = f"t{uuid.uuid4().hex}"
    await asyncio.gather(*(Writer(client).ensure_collection(tenant, MODEL, DIMENSION) for _ in range(4)))
    assert await Writer(client).write(tenant, [version_of(tenant, "A", 1)]) == [True]
    await client.delete_collection(collection(tenant, MODEL))


async def test_a_crash_while_a_collection_is_created_is_repaired(client):
    last = len(payload_indexes()) + 3
    for calls in (2, last - 1):
        tenant = f"t{uuid.uuid4().hex}"
        with pytest.raises(DiedError):
            await Writer(Dying(client, calls)).ensure_collection(tenant, MODEL, DIMENSION)
        await Writer(client).ensure_collection(tenant, MODEL, DIMENSION)
        info = await client.get_collection(alias(tenant))
        assert set(info.payload_schema) == set(payload_indexes())
        await client.delete_collection(collection(tenant, MODEL))


async def test_a_new_collection_has_the_copies_of_the_settings(qdrant_gate, client):
    tenant = f"t{uuid.uuid4().hex}"
    settings = StoreSettings(
        url=client.settings.url, shard_number=2, replication_factor=3, write_consistency_factor=2
    )
    of_cluster = connect(settings)
    before = len(qdrant_gate.exchanges)
    await Writer(of_cluster).ensure_collection(tenant, MODEL, DIMENSION)
    await of_cluster.close()
    (created,) = (
        exchange.body
        for exchange in qdrant_gate.exchanges[before:]
        if exchange.method == "PUT" and exchange.path.endswith(collection(tenant, MODEL))
    )
    assert created.keys() - {"vectors"} == {"shard_number", "replication_factor", "write_consistency_factor"}
    assert (created["shard_number"], created["replication_factor"], created["write_consistency_factor"]) == (
        2,
        3,
        2,
    )
    await client.delete_collection(collection(tenant, MODEL))


async def test_an_alias_that_a_node_has_not_heard_of_yet_is_a_retried_outage(client, monkeypatch):
    tenant = f"t{uuid.uuid4().hex}"

    async def no_aliases() -> models.CollectionsAliasesResponse:
        return models.CollectionsAliasesResponse(aliases=[])

    with monkeypatch.context() as patched:
        patched.setattr(client, "get_aliases", no_aliases)
        with pytest.raises(PrismError) as caught:
            await Writer(client).ensure_collection(tenant, MODEL, DIMENSION)
    assert caught.value.code is ErrorCode.UNAVAILABLE
    await Writer(client).ensure_collection(tenant, MODEL, DIMENSION)
    await client.delete_collection(collection(tenant, MODEL))


async def test_write_without_a_collection_is_a_retried_outage(client):
    with pytest.raises(PrismError) as caught:
        await Writer(client).write("absent", [version_of("absent", "A", 1)])
    assert caught.value.code is ErrorCode.UNAVAILABLE


# Tenants and scopes


LEGS = [
    VectorLeg((1.0, 65.0, 1.0, 0.0), 100),
    TextLeg("text", "text_A0 tracker routes", 100),
    TextLeg("path_text", "tracker routes", 100),
    MatchLeg(100, ()),
]


async def seen_by(reader: Reader, scope: Scope, ids: list[str]) -> list[Any]:
    """Returns the result of each way of reading within a scope."""
    return [
        *await reader.ask_legs(scope, LEGS, ["path"]),
        list(await reader.points(scope, ids, ["path"])),
        [point async for point in reader.scan(scope, [], ["path"])],
        (await reader.page(scope, [], ["path"], "", 100))[0],
        [()] * await reader.count(scope),
        list(await reader.counts_by(scope, "status")),
    ]


@pytest.fixture
async def two_tenants(client, tenant) -> AsyncIterator[tuple[str, str]]:
    """Two tenants with a repository of the same name and the same file in it."""
    other = f"u{uuid.uuid4().hex}"
    await Writer(client).ensure_collection(other, MODEL, DIMENSION)
    for name in (tenant, other):
        await Writer(client).write(name, [version_of(name, "A", 1)])
    yield tenant, other
    await client.delete_collection(collection(other, MODEL))


async def test_tenants_never_see_each_other(client, two_tenants):
    reader = Reader(client)
    for mine, theirs in permutations(two_tenants):
        scope = Scope(tenant=mine, repos=(REPO,))
        own = [version_of(mine, "A", 1).id, *(chunk.id for chunk in version_of(mine, "A", 1).chunks)]
        foreign = [version_of(theirs, "A", 1).id, *(c.id for c in version_of(theirs, "A", 1).chunks)]
        assert not set(own) & set(foreign)
        assert await reader.points(scope, foreign, ["path"]) == {}
        shown = await seen_by(reader, scope, own)
        assert all(shown), shown
        ids = {point.id for leg in shown[: len(LEGS)] for point in leg}
        assert ids <= set(own)


async def test_leg_returns_at_most_ids_from_outside_the_scope(client, tenant):
    await Writer(client).write(tenant, [version_of(tenant, "A", 1)])
    reader, elsewhere = Reader(client), Scope(tenant=tenant, repos=(repo_id("acme/other"),))
    found = [point for leg in await reader.ask_legs(elsewhere, LEGS, is_whole=True) for point in leg]
    assert found
    assert not any(point.payload for point in found)
    assert await reader.points(elsewhere, [point.id for point in found], ["path"]) == {}
    with pytest.raises(ValueError, match="only be read within a scope"):
        await reader.ask_legs(elsewhere, LEGS, ["path"], is_whole=True)


@pytest.mark.parametrize(
    "elsewhere", [{"repos": (repo_id("acme/other"),)}, {"layer": "feature"}, {"tenant": "absent"}], ids=str
)
async def test_nothing_is_seen_outside_the_scope(client, tenant, elsewhere):
    file = version_of(tenant, "A", 1)
    await Writer(client).write(tenant, [file])
    scope = Scope(**{"tenant": tenant, "repos": (REPO,)} | elsewhere)
    assert not any(await seen_by(Reader(client), scope, [file.id, file.chunks[0].id]))


async def test_layers_are_counted_however_many_there_are(client, tenant):
    layers = [f"layer{number}" for number in range(VALUES_PER_COUNT + 50)]
    of_layers = [indexed_texts.file_point(tenant, NAME, PATH, "x = 1\n", 1, layer=layer) for layer in layers]
    await Writer(client).write(tenant, of_layers)
    keys = [scope_key(REPO, layer) for layer in layers]
    scope = Scope(tenant=tenant, repos=(REPO,))
    counts = await Reader(client).counts_of_keys(scope, [*keys, scope_key(repo_id("acme/other"), "layer0")])
    assert counts == dict.fromkeys(keys, 2)  # the file and its chunk


async def test_chunks_of_a_tenant_are_counted_in_all_repositories_and_layers(client, two_tenants):
    tenant, other = two_tenants
    before = await Reader(client).chunks_of(tenant), await Reader(client).chunks_of(other)
    layer = indexed_texts.file_point(tenant, NAME, PATH, "x = 1\n", 1, layer="layer")
    second = indexed_texts.file_point(tenant, "acme/second", PATH, "x = 1\n", 1)
    await Writer(client).write(tenant, [layer, second, version_of(tenant, "skipped", 1, "b.png")])
    after = await Reader(client).chunks_of(tenant), await Reader(client).chunks_of(other)
    assert after == (before[0] + 2, before[1])
    with pytest.raises(PrismError) as caught:
        await Reader(client).chunks_of("")
    assert caught.value.code is ErrorCode.FORBIDDEN


@pytest.mark.parametrize("scope", [Scope(tenant="", repos=(REPO,)), Scope(tenant="t", repos=())], ids=str)
async def test_read_without_tenant_or_repository_is_not_sent(scope):
    class Unreachable:
        def __getattr__(self, name: str) -> Any:
            async def call(*_: Any, **__: Any) -> Any:
                raise AssertionError(f"the store was asked to {name}")

            return call

    reader = Reader(Unreachable())
    reads = [
        lambda: reader.ask_legs(scope, LEGS, ["path"]),
        lambda: reader.points(scope, [file_id("t", REPO, "base", PATH)], ["path"]),
        lambda: reader.scan(scope, [], ["path"]).__anext__(),
        lambda: reader.page(scope, [], ["path"], "", 10),
        lambda: reader.count(scope),
        lambda: reader.rarities(scope, ["text"]),
        lambda: reader.counts_by(scope, "status"),
    ]
    for read in reads:
        with pytest.raises(PrismError) as caught:
            await read()
        assert caught.value.code is ErrorCode.FORBIDDEN


async def test_writes_are_counted_and_measured(qdrant_url, tenant):
    metrics = CollectorRegistry()
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30), metrics)
    await Writer(client).write(tenant, [version_of(tenant, "A", 1)])
    await client.close()
    assert metrics.get_sample_value("prism_points_written_total") == CONTENTS["A"] + 1
    labels = {"operation": "write"}
    assert metrics.get_sample_value("prism_store_seconds_count", labels) == 1
    assert metrics.get_sample_value("prism_store_failures_total", labels) == 0


async def test_unreachable_store_is_an_error_not_an_empty_answer():
    metrics = CollectorRegistry()
    client = connect(StoreSettings(url="http://127.0.0.1:1", timeout_s=1), metrics)
    reader = Reader(client)
    scope = Scope(tenant="t", repos=(REPO,))
    for read in (reader.count(scope), reader.points(scope, [REPO], []), reader.ask_legs(scope, LEGS, [])):
        with pytest.raises(PrismError) as caught:
            await read
        assert caught.value.code is ErrorCode.UNAVAILABLE
    for operation in ("count", "points", "ask_legs"):
        labels = {"operation": operation}
        assert metrics.get_sample_value("prism_store_failures_total", labels) == 1, operation
        assert metrics.get_sample_value("prism_store_seconds_count", labels) == 1, operation
    await client.close()
