"""Which graphs of layers are built, and the errors for missing ones. No process is started."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from prometheus_client import CollectorRegistry

from prism_atlas.adapters.build_processes import BuildProcesses
from prism_atlas.adapters.indexes import IndexFiles
from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.operations.layer_graphs import BUILDS_MAX, LayerGraphs
from prism_catalog.scip_indexes import ScipIndexes
from prism_catalog.target import Target
from prism_contracts.base import Lane, layer_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Layer, LayerKind, LayerState, Repository, ScipIndex
from prism_store.scope import Scope, View

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Records:
    """The record of the only repository."""

    def __init__(self) -> None:
        self.serve(1)

    def serve(self, version: int) -> None:
        state = LayerState(commit="c", version=version, job="j", indexed_at=NOW)
        self.known = Repository(
            tenant="t", repo="r", name="acme/depot", source="upload", created_at=NOW, served=state
        )

    def get(self, _: str) -> Repository:
        return self.known


class NoRecords:
    """No SCIP indexes."""

    def values(self) -> list[ScipIndex]:
        return []


class Depot:
    """A repository whose graphs are not built while the test holds its reservation."""

    def __init__(self, tmp_path) -> None:
        self.records = Records()
        self.registry = CollectorRegistry()
        self.processes = BuildProcesses(tmp_path, warm_s=1, seconds_max=1)
        self.graphs = LayerGraphs(
            self.processes, self.records, IndexFiles(ScipIndexes(NoRecords(), None), tmp_path), folder=tmp_path,
            metrics=BuildMetrics(self.registry), kept_bytes_max=1, wait_s=0,
        )  # fmt: skip

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Holds the reservation, then moves the base, so that all requested builds are superseded."""
        async with self.processes.reserve(self.records.known.key, Lane.LIVE):
            yield
            self.records.serve(2)
        while self.waiting:
            await asyncio.sleep(0)

    def ask(self, ref: str, version: int) -> Awaitable[object]:
        layer = Layer(
            tenant="t", repo="r", layer=layer_id(ref), kind=LayerKind.BRANCH, ref=ref, created_at=NOW
        )
        view = View.of((f"{ref} {version}",), ("t", "r"), {"depot.py": "variant"}, ())
        target = Target(Scope("t", ("r",), view=view), (self.records.known,), layer)
        return self.graphs.get(target, layer, 1)

    def count(self, outcome: str) -> float:
        labels = {"lane": Lane.LIVE.value, "outcome": outcome}
        return self.registry.get_sample_value("prism_graph_builds_total", labels) or 0.0

    @property
    def waiting(self) -> float:
        labels = {"lane": Lane.LIVE.value}
        return self.registry.get_sample_value("prism_graph_builds_waiting", labels) or 0.0


@pytest.fixture
def depot(tmp_path) -> Depot:
    return Depot(tmp_path)


async def refusal(answer: Awaitable[object]) -> PrismError:
    with pytest.raises(PrismError) as refused:
        await answer
    assert refused.value.code is ErrorCode.GRAPH_NOT_BUILT
    return refused.value


async def test_concurrent_requests_share_one_build(depot):
    async with depot.held():
        for _ in range(3):
            error = await refusal(depot.ask("topic", 1))
            assert error.body.details["ref"] == "topic"
        await refusal(depot.ask("other", 1))
        assert depot.waiting == 2


async def test_build_over_a_moved_base_is_skipped(depot):
    async with depot.held():
        await refusal(depot.ask("topic", 1))
    assert (depot.count("needless"), depot.waiting) == (1, 0)


async def test_queue_of_builds_is_bounded(depot):
    async with depot.held():
        for number in range(BUILDS_MAX):
            await refusal(depot.ask(f"topic-{number}", 1))
        error = await refusal(depot.ask("one-more", 1))
        assert error.body.details["builds"] == depot.waiting == BUILDS_MAX
        assert "seconds_since_wanted" in (await refusal(depot.ask("topic-0", 1))).body.details
