"""Graphs in the object store, over real NATS: which one is served, and what is dropped."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from prometheus_client import CollectorRegistry

from prism_atlas.adapters.graphs import GraphStore
from prism_atlas.core.assembly import Assembly
from prism_atlas.core.snapshot import FORMAT, GraphSnapshot
from prism_atlas.main import build
from prism_atlas.settings import AtlasSettings
from prism_atlas.worker import PACKED_SUFFIX
from prism_contracts import names
from prism_contracts.base import BASE_LAYER
from prism_contracts.records import GraphRecord
from prism_runtime.bus import Bus
from prism_runtime.settings import ServiceSettings
from prism_store.gate import connect
from prism_store.settings import StoreSettings

REPO = "a1b2c3d4e5f60718"
DEADLINE_S = 120


@pytest.fixture
async def bus(nats_server) -> AsyncIterator[Bus]:
    bus = Bus("test", ServiceSettings(nats_url=nats_server.url))
    await bus.start()
    yield bus
    await bus.stop()


@pytest.fixture
def tenant() -> str:
    return f"t{uuid.uuid4().hex}"


@pytest.fixture
async def open_graphs(bus, tmp_path) -> AsyncIterator[Callable[[], Awaitable[GraphStore]]]:
    """Opens the graphs as a process of atlas does. Qdrant is not requested."""
    store = connect(StoreSettings())

    async def open_() -> GraphStore:
        return (await build(bus, AtlasSettings(), store, tmp_path, CollectorRegistry())).graphs

    yield open_
    await store.close()


async def put(graphs: GraphStore, tenant: str, version: int, folder: Path) -> GraphRecord:
    path = folder / f"graph-{version}"
    GraphSnapshot.of(Assembly().graph()).write(path)
    path.with_suffix(PACKED_SUFFIX).write_bytes(zstandard.compress(path.read_bytes()))
    record = GraphRecord(
        tenant=tenant, repo=REPO, version=version, commit=f"c{version}", format=FORMAT, object=f"{tenant}.{version}",
        size_bytes=1, files=0, symbols=0, edges=0, built_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    await graphs.put(record, path)
    return record


async def until_served(graphs: GraphStore, record: GraphRecord) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while graphs.record(record.tenant, record.repo, BASE_LAYER) != record:
            await asyncio.sleep(0.005)


async def stored(bus: Bus, tenant: str) -> set[str]:
    objects = await (await bus.objects(names.OBJECTS_GRAPHS)).list(ignore_deletes=True)
    return {info.name for info in objects if info.name.startswith(tenant)}


async def test_only_the_newest_graph_is_kept_in_any_order(bus, open_graphs, tenant, tmp_path):
    graphs = await open_graphs()
    await until_served(graphs, await put(graphs, tenant, 1, tmp_path))
    newest = await put(graphs, tenant, 3, tmp_path)
    await until_served(graphs, newest)
    assert await stored(bus, tenant) == {newest.object}
    await put(graphs, tenant, 2, tmp_path)  # its build began earlier and took longer
    assert await stored(bus, tenant) == {newest.object}
    fresh = await open_graphs()
    await until_served(fresh, newest)
    assert len((await fresh.snapshot(newest)).graph.symbols) == 0
