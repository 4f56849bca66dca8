"""Builds of graphs, with stand-ins for the process that builds and for the records."""

import logging
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.operations.base_graphs import BaseGraphs
from prism_atlas.worker import BuildResult
from prism_contracts.base import Lane
from prism_contracts.events import RepoIndexed
from prism_contracts.records import Repository
from prism_runtime.telemetry import FIELDS

REPOSITORY = Repository(
    tenant="t", repo="r", name="acme/app", source="upload", created_at=datetime(2026, 3, 14, tzinfo=UTC)
)
INDEXED = RepoIndexed(tenant="t", repo="r", version=1, job="j", commit="c", complete=True)
OF_IMPORT = {"tenant": "t", "repo": "acme/app", "layer": INDEXED.layer, "version": 1}
BUILT = BuildResult(size_bytes=1, files=1, files_resolved=1, symbols=1, edges=1, seconds=0.1)


class Town:
    """All that a build needs. `removes` removes the repository during the build."""

    def __init__(self, *, removes: bool) -> None:
        self.removes = removes
        self.known: Repository | None = REPOSITORY
        self.stored: list[object] = []

    @asynccontextmanager
    async def reserve(self, repository: str, lane: Lane):
        yield self

    async def build(self, request: object) -> BuildResult:
        if self.removes:
            self.known = None
        return BUILT

    def get(self, key: str) -> Repository | None:
        return self.known

    async def look_up(self, key: str) -> Repository | None:
        return self.known

    def record(self, tenant: str, repo: str, layer: str) -> None:
        return None

    async def put(self, record: object, path: Path) -> None:
        self.stored.append(record)

    @asynccontextmanager
    async def materialized(self, tenant: str, repo: str):
        yield {}


@pytest.mark.parametrize("removes", [True, False])
async def test_no_graph_is_stored_of_a_repository_that_was_removed_meanwhile(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, removes: bool
) -> None:
    caplog.set_level(logging.INFO)
    town = Town(removes=removes)
    graphs = BaseGraphs(town, town, town, town, folder=tmp_path, metrics=BuildMetrics(CollectorRegistry()))  # type: ignore[arg-type]
    await graphs.build_import(INDEXED)
    assert len(town.stored) == (0 if removes else 1)
    built = [getattr(record, FIELDS) for record in caplog.records if record.getMessage() == "graph built"]
    assert built == ([] if removes else [{**OF_IMPORT, **BUILT.line}])
