"""Graphs of base imports, built after an import, after a new SCIP index, or when a question finds none."""

import asyncio
import hashlib
import logging
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from prism_atlas.adapters.build_processes import BuildProcess, BuildProcesses
from prism_atlas.adapters.graphs import GraphStore
from prism_atlas.adapters.indexes import IndexFiles
from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.core.snapshot import FORMAT
from prism_atlas.worker import BuildRequest, BuildResult
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import PrismError
from prism_contracts.events import RepoIndexed, ScipRemoved, ScipStored
from prism_contracts.records import GraphRecord, LayerState, Repository, repository_key
from prism_runtime import tracing
from prism_runtime.records import WatchedRecords
from prism_runtime.telemetry import line_fields
from prism_runtime.tracing import Attribute
from prism_store.scope import Scope

log = logging.getLogger(__name__)


class BaseGraphs:
    """Builds one graph per repository at a time; of several waiting imports only the newest is built."""

    def __init__(
        self,
        processes: BuildProcesses,
        graphs: GraphStore,
        repositories: WatchedRecords[Repository],
        indexes: IndexFiles,
        *,
        folder: Path,
        metrics: BuildMetrics,
    ) -> None:
        self._processes = processes
        self._graphs = graphs
        self._repositories = repositories
        self._indexes = indexes
        self._folder = folder
        self._metrics = metrics
        self._pending: dict[str, asyncio.Task[None]] = {}

    async def build_import(self, event: RepoIndexed) -> None:
        """Build the graph of a base import, unless a later import is done, which has an event of its own."""
        repository = await self._repositories.look_up(repository_key(event.tenant, event.repo))
        if repository is not None:
            state = _ImportState(event.layer, event.version, event.commit)
            await self._build(repository, state, event.lane)

    async def rebuild(self, event: ScipStored | ScipRemoved) -> None:
        """Build the served graph again, with the SCIP indexes that the repository has now."""
        await self._indexes.catch_up()
        repository = await self._repositories.look_up(repository_key(event.tenant, event.repo))
        if repository is not None and repository.served is not None:
            state = _ImportState(BASE_LAYER, repository.served.version, repository.served.commit)
            await self._build(repository, state, Lane.BULK)

    def has_all_indexes(self, graph: GraphRecord) -> bool:
        """Whether a graph was built with exactly the SCIP indexes that its repository has now."""
        return graph.indexes == self._indexes.objects(graph.tenant, graph.repo)

    def ensure_built(self, repository: Repository, state: LayerState) -> None:
        """Start a build in the background: for a missing graph, an old format, or other SCIP indexes."""
        key = repository.key
        if key not in self._pending:
            task = asyncio.create_task(self._build_or_log(repository, state))
            self._pending[key] = task
            task.add_done_callback(lambda _: self._pending.pop(key))

    async def _build_or_log(self, repository: Repository, state: LayerState) -> None:
        try:
            await self._build(repository, _ImportState(BASE_LAYER, state.version, state.commit), Lane.BULK)
        except PrismError as error:  # the next question tries again
            log.warning("the graph of %s was not built: %s", repository.name, error)

    async def _build(self, repository: Repository, state: "_ImportState", lane: Lane) -> None:
        began = time.monotonic()
        with self._metrics.build(lane):
            async with self._processes.reserve(repository.key, lane) as process:
                if self._is_needless(repository, state.layer, state.version):
                    self._metrics.needless(lane)
                    return
                await self._build_with(process, repository, state)
        self._metrics.served(lane, time.monotonic() - began)

    async def _build_with(self, process: BuildProcess, repository: Repository, state: "_ImportState") -> None:
        layer, version, _ = state
        scope = Scope(tenant=repository.tenant, repos=(repository.repo,), layer=layer)
        with tempfile.TemporaryDirectory(dir=self._folder) as own:
            path = Path(own) / "graph"
            request = BuildRequest(
                scope=scope, repo_name=repository.name, version=version, path=str(path), is_stored=True
            )
            async with self._indexes.materialized(repository.tenant, repository.repo) as indexes:
                with tracing.span("build graph", {Attribute.REPO: repository.name}) as span:
                    built = await process.build(request.model_copy(update={"indexes": indexes}))
                    span.set_attributes({Attribute.FILES: built.files, Attribute.BYTES: built.size_bytes})
            if await self._repositories.look_up(repository.key) is None:
                log.info("%s was removed while its graph was built", repository.name)
                return
            await self._graphs.put(_record(repository, state, tuple(indexes), built), path)
        log.info(
            "graph built",
            extra=line_fields(
                tenant=repository.tenant, repo=repository.name, layer=layer, version=version, **built.line
            ),
        )

    def _is_needless(self, repository: Repository, layer: str, version: int) -> bool:
        known = self._repositories.get(repository.key)
        served = known.served if known else None
        built = self._graphs.record(repository.tenant, repository.repo, layer)
        is_superseded = served is not None and served.version > version
        is_built = built is not None and built.version >= version and self.has_all_indexes(built)
        return is_superseded or is_built


class _ImportState(NamedTuple):
    """The state of a repository after an import."""

    layer: str
    version: int
    commit: str


def _record(
    repository: Repository, state: _ImportState, indexes: tuple[str, ...], built: BuildResult
) -> GraphRecord:
    layer, version, commit = state
    return GraphRecord(
        tenant=repository.tenant,
        repo=repository.repo,
        layer=layer,
        version=version,
        commit=commit,
        indexes=indexes,
        format=FORMAT,
        object=f"{repository.key}.{layer}.{version}.{_hash(indexes)}.{FORMAT}",
        size_bytes=built.size_bytes,
        files=built.files,
        symbols=built.symbols,
        edges=built.edges,
        built_at=datetime.now(UTC),
    )


def _hash(indexes: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(indexes).encode()).hexdigest()[:16]
