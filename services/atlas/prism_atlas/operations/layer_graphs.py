"""Graphs of branches, pull requests and overlays: built on demand, and cached in this process.

The cache key is everything that a graph is built from: the layer's view, the version of its base, and the
base's SCIP indexes. When the layer or its base moves, the key changes, so no stale graph is returned.
"""

import asyncio
import logging
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from prism_atlas.adapters.build_processes import BuildProcesses
from prism_atlas.adapters.graphs import map_and_unlink
from prism_atlas.adapters.indexes import IndexFiles
from prism_atlas.adapters.metrics import BuildMetrics
from prism_atlas.core.snapshot import GraphSnapshot
from prism_atlas.worker import BuildRequest
from prism_catalog.target import Target
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Layer, Repository
from prism_runtime import tracing
from prism_runtime.records import WatchedRecords
from prism_runtime.telemetry import line_fields
from prism_runtime.tracing import Attribute
from prism_runtime.weighted_cache import WeightedCache
from prism_store.scope import Scope

# Waiting and running builds.
BUILDS_MAX = 64

log = logging.getLogger(__name__)


class LayerGraph(NamedTuple):
    """The graph of a layer over one version of its base."""

    snapshot: GraphSnapshot
    indexes: tuple[str, ...]  # as in `GraphRecord`
    size_bytes: int
    built_at: datetime


class _GraphKey(NamedTuple):
    """Everything that a graph is built from; its cache key."""

    scope: Scope  # with the layer's view
    version: int  # the version of the base
    indexes: tuple[str, ...]  # the base's SCIP indexes, as in `GraphRecord`


class _Build(NamedTuple):
    """A waiting or running build."""

    task: asyncio.Task[LayerGraph | None]  # None if the layer moved before the build started
    layer: str  # key of the record
    began: float  # as of time.monotonic()


class LayerGraphs:
    """Builds each graph once for all callers; of a layer's waiting states only the newest is built."""

    def __init__(
        self,
        processes: BuildProcesses,
        repositories: WatchedRecords[Repository],
        indexes: IndexFiles,
        *,
        folder: Path,
        metrics: BuildMetrics,
        kept_bytes_max: int,
        wait_s: float,
    ) -> None:
        self._processes = processes
        self._repositories = repositories
        self._indexes = indexes
        self._folder = folder
        self._metrics = metrics
        self._wait_s = wait_s
        self._cache: WeightedCache[_GraphKey, LayerGraph] = WeightedCache(kept_bytes_max)
        self._builds: dict[_GraphKey, _Build] = {}  # oldest first

    async def get(self, target: Target, layer: Layer, version: int) -> LayerGraph:
        """Returns the graph of a layer over the base of this version.

        Raises GRAPH_NOT_BUILT, with the seconds since the first request, if it is not ready in time; and
        the build's error.
        """
        repository = target.repositories[0]
        key = _GraphKey(target.scope, version, self._indexes_of(repository))
        cached = self._cache.get(key)
        if cached is not None:
            # Refreshes the entry, so that the least recently used graph is evicted first.
            self._cache.put(key, cached, cached.size_bytes)
            return cached
        build = self._builds.get(key) or self._begin(key, repository, layer)
        done, _ = await asyncio.wait([build.task], timeout=self._wait_s)
        graph = build.task.result() if done else None
        if graph is None:
            raise _not_built(layer, time.monotonic() - build.began)
        return graph

    def _begin(self, key: _GraphKey, repository: Repository, layer: Layer) -> _Build:
        if len(self._builds) >= BUILDS_MAX:
            raise _too_many(layer, len(self._builds))
        task = asyncio.create_task(self._build(key, repository, layer))
        build = self._builds[key] = _Build(task, layer.key, time.monotonic())
        task.add_done_callback(lambda _: self._end(key, layer))
        return build

    def _end(self, key: _GraphKey, layer: Layer) -> None:
        task = self._builds.pop(key).task
        error = None if task.cancelled() else task.exception()
        if error:  # the next question tries again
            log.warning("the graph of %s was not built: %s", layer.ref, error)

    async def _build(self, key: _GraphKey, repository: Repository, layer: Layer) -> LayerGraph | None:
        began = time.monotonic()
        with self._metrics.build(Lane.LIVE), tempfile.TemporaryDirectory(dir=self._folder) as own:
            path = Path(own) / "graph"
            request = BuildRequest(
                scope=key.scope,
                repo_name=repository.name,
                version=key.version,
                path=str(path),
                is_stored=False,
            )
            async with self._processes.reserve(repository.key, Lane.LIVE) as process:
                if self._is_superseded(key, repository, layer.key):
                    self._metrics.needless(Lane.LIVE)
                    return None
                async with self._indexes.materialized(repository.tenant, repository.repo) as indexes:
                    with tracing.span("build graph", {Attribute.REPO: repository.name}) as span:
                        built = await process.build(request.model_copy(update={"indexes": indexes}))
                        span.set_attributes({Attribute.FILES: built.files, Attribute.BYTES: built.size_bytes})
            graph = LayerGraph(map_and_unlink(path), key.indexes, built.size_bytes, datetime.now(UTC))
        self._cache.put(key, graph, graph.size_bytes)
        self._metrics.served(Lane.LIVE, time.monotonic() - began)
        log.info(
            "graph built",
            extra=line_fields(
                tenant=repository.tenant,
                repo=repository.name,
                layer=layer.layer,
                version=key.version,
                **built.line,
            ),
        )
        return graph

    def _is_superseded(self, key: _GraphKey, repository: Repository, layer: str) -> bool:
        """Whether the base or its indexes moved, or a later question found the layer in another state."""
        known = self._repositories.get(repository.key)
        served = known.served if known else None
        newest = _GraphKey(key.scope, served.version if served else 0, self._indexes_of(repository))
        of_layer = [one for one, build in self._builds.items() if build.layer == layer]
        return key != newest or of_layer[-1] != key

    def _indexes_of(self, repository: Repository) -> tuple[str, ...]:
        return self._indexes.objects(repository.tenant, repository.repo)


def _not_built(layer: Layer, seconds: float) -> PrismError:
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        f"The graph of {layer.ref} has been building for {seconds:.0f} s.",
        "Retry in a few seconds. Meanwhile find_references, prepare_to_edit and the tools of the toolset code"
        " answer at this ref.",
        ref=layer.ref,
        seconds_since_wanted=round(seconds, 1),
    )


def _too_many(layer: Layer, builds: int) -> PrismError:
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        f"{builds} graphs are queued before the graph of {layer.ref}.",
        "Retry in a minute, or ask without ref.",
        ref=layer.ref,
        builds=builds,
    )
