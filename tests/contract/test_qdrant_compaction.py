"""Compaction of the local store: the answers stay the same from one immutable segment, also under writes."""

import asyncio
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge

from prism_qdrant_local import compaction, limits
from prism_qdrant_local import store as store_module
from prism_qdrant_local.store import Collection, Store
from prism_qdrant_local.wire import changes, queries, schema

WORDS = ["parcel", "route", "depot", "driver", "label", "weight", "scan", "address"]
VECTORS = {"fast": {"size": 4, "distance": "Cosine", "datatype": "float16"}}
INDEXES = {
    "path": {"type": "keyword", "prefix": True},
    "version": {"type": "integer", "lookup": True, "range": True},
    "text": {"type": "text", "tokenizer": "code", "lowercase": True, "scoring": True},
}
ROUTES = {"must": [{"key": "path", "match": {"prefix": "routes/"}}]}
POINTS = 300
DEADLINE_S = 120


def point(number: int, version: int = 1) -> dict[str, Any]:
    rng = random.Random(f"{number} {version}")
    return {
        "id": str(uuid.UUID(int=number)),
        "vector": {"fast": [rng.uniform(-1, 1) for _ in range(4)]},
        "payload": {
            "path": f"{rng.choice(['routes', 'depots'])}/{number}.py",
            "version": version,
            "text": " ".join(rng.choices(WORDS, k=rng.randint(3, 9))),
        },
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(folder) -> Iterator[Store]:
    store = Store(folder)
    store.create("c", VECTORS, None)
    for field, params in INDEXES.items():
        store.create_index(store.get("c"), *schema.read_index({"field_name": field, "field_schema": params}))
    yield store
    store.close()


async def write(store: Store, *points: dict[str, Any]) -> None:
    collection = store.get("c")
    reading = changes.read_upsert({"points": list(points)}, collection.sizes)
    await store.apply(collection, [change for change in reading if change is not None])


async def delete(store: Store, *numbers: int) -> None:
    ids = [str(uuid.UUID(int=number)) for number in numbers]
    collection = store.get("c")
    await store.apply(collection, list(changes.read_delete({"points": ids}, collection.sizes)))


def add_deep_vector(store: Store, number: int) -> None:
    collection = store.get("c")
    store.create_vector(collection, "deep", {"size": 2, "distance": "Cosine"})
    deep = edge.PointVectors(uuid.UUID(int=number), {"deep": [0.0, 1.0]})
    collection.update(edge.UpdateOperation.update_vectors([deep]))


def answers(collection: Collection) -> dict[str, Any]:
    """Returns all points, and the results of every kind of question, rounded to hide float errors."""
    request = {"limit": limits.LIMIT_MAX, "with_vector": True}
    records, _ = collection.shard.scroll(queries.read_scroll(request))
    asked = {
        "vector": {"query": [0.5, -0.1, 0.3, 0.2], "using": "fast"},
        "text": {"query": {"text": "route weight"}, "using": "text"},
        "filtered": {"query": {"text": "depot"}, "using": "text", "filter": ROUTES},
    }
    found = {
        name: collection.shard.query(queries.read_query({**body, "limit": limits.LIMIT_MAX}))
        for name, body in asked.items()
    }
    return {
        "records": {str(record.id): (record.payload, record.vector) for record in records},
        "routes": collection.shard.count(queries.read_count({"filter": ROUTES})),
        **{name: {str(hit.id): round(hit.score, 4) for hit in hits} for name, hits in found.items()},
    }


def without_scores(answers: dict[str, Any]) -> dict[str, Any]:
    """Drops BM25 scores: BM25 counts deleted points of an immutable segment until the next compaction."""
    return answers | {name: set(answers[name]) for name in ("text", "filtered")}


async def until_copied(store: Store, collection: Collection, task: asyncio.Task[bool]) -> None:
    """Wait for the copy, which is not adopted yet."""
    while collection.late is None:
        assert not task.done()
        await asyncio.sleep(0)
    async with store.turn():
        assert not task.done()


async def test_compacted_collection_answers_the_same_after_a_restart(store, folder):
    await write(store, *map(point, range(POINTS)))
    await delete(store, *range(0, POINTS, 7))
    before = answers(store.get("c"))
    assert await compaction.compact(store, store.get("c"))
    assert answers(store.get("c")) == before
    assert store.get("c").shard.info().indexed_vectors_count == len(before["records"])
    assert list(store.folder.iterdir()) == [store.get("c").folder]
    store.close()
    again = Store(folder)
    assert answers(again.get("c")) == before
    assert again.get("c").uncompacted_points == 0
    again.close()


async def test_a_compacted_collection_is_writable_and_compacts_again(store, folder):
    await write(store, *map(point, range(POINTS)))
    assert await compaction.compact(store, store.get("c"))
    await write(store, *(point(number, version=2) for number in range(0, 2 * POINTS, 3)))
    await delete(store, *range(0, POINTS, 5))
    add_deep_vector(store, number=3)
    before = answers(store.get("c"))
    assert await compaction.compact(store, store.get("c"))
    assert without_scores(answers(store.get("c"))) == without_scores(before)
    assert before["records"][str(uuid.UUID(int=3))][1]["deep"] == [0.0, 1.0]
    assert len(list(store.folder.iterdir())) == 1


async def test_writes_during_a_compaction_are_kept(store):
    await write(store, *map(point, range(POINTS)))
    collection = store.get("c")
    task = asyncio.create_task(compaction.compact(store, collection))
    await until_copied(store, collection, task)
    await write(store, *(point(number, version=2) for number in range(0, POINTS + 50, 2)))
    await delete(store, *range(0, POINTS, 5))
    add_deep_vector(store, number=1)
    before = answers(collection)
    assert await task
    assert without_scores(answers(collection)) == without_scores(before)
    assert before["records"][str(uuid.UUID(int=1))][1]["deep"] == [0.0, 1.0]


async def test_compaction_is_cancelled_when_too_much_changes(store, monkeypatch):
    monkeypatch.setattr(store_module, "LATE_OPERATIONS_MAX", 3)
    await write(store, *map(point, range(POINTS)))
    collection = store.get("c")
    for operations, is_compacted in ((4, False), (3, True)):
        task = asyncio.create_task(compaction.compact(store, collection))
        await until_copied(store, collection, task)
        for number in range(operations):
            await write(store, point(number, version=operations))
        before = answers(collection)
        assert await task is is_compacted
        assert (collection.uncompacted_points >= POINTS) is not is_compacted  # cancelled, so it is still due
        assert without_scores(answers(collection)) == without_scores(before)
        assert list(store.folder.iterdir()) == [collection.folder]


async def test_a_collection_deleted_meanwhile_stays_deleted(store):
    await write(store, *map(point, range(POINTS)))
    collection = store.get("c")
    task = asyncio.create_task(compaction.compact(store, collection))
    await until_copied(store, collection, task)
    assert store.drop("c")
    assert not await task
    assert list(store.folder.iterdir()) == []


async def test_a_compaction_that_fails_changes_nothing(store, monkeypatch):
    await write(store, *map(point, range(POINTS)))
    collection = store.get("c")
    before = answers(collection)
    monkeypatch.setitem(collection.state.vectors, "fast", {"size": 5, "distance": "Cosine"})
    with pytest.raises(RuntimeError):
        await compaction.compact(store, collection)
    monkeypatch.undo()
    assert answers(collection) == before
    assert list(store.folder.iterdir()) == [collection.folder]
    assert not compaction.is_worthwhile(collection)


async def test_compaction_starts_at_a_number_of_points(store, monkeypatch):
    monkeypatch.setattr(compaction, "UNCOMPACTED_POINTS_MIN", 100)
    collection = store.get("c")
    collection.uncompacted_points = 0
    await write(store, *map(point, range(99)))
    assert not compaction.is_worthwhile(collection)
    await write(store, point(99))
    assert compaction.is_worthwhile(collection)
    assert await compaction.compact(store, collection)
    await write(store, *map(point, range(100, POINTS * 2)))
    assert compaction.is_worthwhile(collection)
    assert await compaction.compact(store, collection)
    await write(store, *map(point, range(149)))  # a quarter of 600 is 150
    assert not compaction.is_worthwhile(collection)
    await write(store, point(149))
    assert compaction.is_worthwhile(collection)
