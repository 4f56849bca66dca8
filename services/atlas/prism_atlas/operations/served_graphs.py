"""Finds the graph that a request is about, and how fresh it is."""

from datetime import UTC, datetime
from typing import NamedTuple

from prism_atlas.adapters.graphs import GraphStore
from prism_atlas.core.graph import Graph
from prism_atlas.core.snapshot import GraphSnapshot
from prism_atlas.operations.base_graphs import BaseGraphs
from prism_atlas.operations.layer_graphs import LayerGraphs
from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import GraphRecord, Layer, LayerState, Repository
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_store.scope import View


class ServedGraph(NamedTuple):
    """A graph with its target and its receipt."""

    target: Target  # one repository
    snapshot: GraphSnapshot
    state: str  # differs whenever the graph does
    receipt: GraphReceipt

    @property
    def repo(self) -> str:
        """owner/name."""
        return self.target.repositories[0].name


class BareGraph(NamedTuple):
    """A graph with the name of its repository and the versions that it was built from."""

    repo: str
    graph: Graph
    version: int  # the version of the import, or of the layer
    indexes: tuple[str, ...]  # as in `GraphRecord`


class _LocatedGraph(NamedTuple):
    """The graph of a target, with the fields of its receipt."""

    snapshot: GraphSnapshot
    state: str  # as in `ServedGraph`
    commit: str
    version: int  # the version of the import, or of the layer
    indexes: tuple[str, ...]  # as in `GraphRecord`
    built_at: datetime
    lag_s: float


class ServedGraphs:
    """Finds graphs by repository name and ref."""

    def __init__(
        self,
        repositories: RepositoryCatalog,
        graphs: GraphStore,
        base_graphs: BaseGraphs,
        layer_graphs: LayerGraphs,
    ) -> None:
        self._repositories = repositories
        self._graphs = graphs
        self._base_graphs = base_graphs
        self._layer_graphs = layer_graphs

    async def get(self, request: ScopedRequest) -> ServedGraph:
        """Returns the graph of a request.

        Raises REPO_NOT_FOUND, REPO_AMBIGUOUS, REF_NOT_FOUND, and GRAPH_NOT_BUILT until the repository has its
        first graph, or the layer has one of its current state.
        """
        target = await self._repositories.target(request, single=True)
        found = await self._locate(target)
        receipt = await self._repositories.receipt(target)
        graph_receipt = GraphReceipt(
            **receipt.model_dump(),
            graph_commit=found.commit,
            graph_version=found.version,
            graph_built_at=found.built_at,
            graph_lag_seconds=found.lag_s,
        )
        return ServedGraph(target, found.snapshot, found.state, graph_receipt)

    async def bare(self, request: ScopedRequest) -> BareGraph:
        """Returns the graph without a receipt, for services that write their own."""
        target = await self._repositories.target(request, single=True)
        found = await self._locate(target)
        repo = target.repositories[0].name
        return BareGraph(repo, found.snapshot.graph, found.version, found.indexes)

    async def _locate(self, target: Target) -> _LocatedGraph:
        layer, view = target.layer, target.scope.view
        # A layer that overrides nothing shares the graph of its base.
        if layer and view and view.hidden:
            return await self._of_layer(target, layer, view)
        return await self._of_base(target.repositories[0])

    async def _of_base(self, repository: Repository) -> _LocatedGraph:
        record = self._record(repository)
        snapshot = await self._graphs.snapshot(record)
        return _LocatedGraph(
            snapshot,
            state=" ".join([str(record.version), *record.indexes]),
            commit=record.commit,
            version=record.version,
            indexes=record.indexes,
            built_at=record.built_at,
            lag_s=_lag_s(record, repository.served),
        )

    async def _of_layer(self, target: Target, layer: Layer, view: View) -> _LocatedGraph:
        base = target.repositories[0].served
        if base is None or layer.served is None:
            raise _not_built(target.repositories[0].name, None)
        graph = await self._layer_graphs.get(target, layer, base.version)
        return _LocatedGraph(
            graph.snapshot,
            state=" ".join([str(base.version), *graph.indexes, *view.state]),
            commit=layer.served.commit,
            version=layer.served.version,
            indexes=graph.indexes,
            built_at=graph.built_at,
            lag_s=0.0,
        )

    def _record(self, repository: Repository) -> GraphRecord:
        """Returns the newest graph's record. Starts a build if there is none or its SCIP indexes differ."""
        record = self._graphs.record(repository.tenant, repository.repo, BASE_LAYER)
        state = repository.served
        if state is not None and (record is None or not self._base_graphs.has_all_indexes(record)):
            self._base_graphs.ensure_built(repository, state)
        if record is None:
            raise _not_built(repository.name, state)
        return record


def _lag_s(record: GraphRecord, state: LayerState | None) -> float:
    if state is None or state.version <= record.version:
        return 0.0
    return round((datetime.now(UTC) - state.indexed_at).total_seconds(), 3)


def _not_built(name: str, state: LayerState | None) -> PrismError:
    if state is None:
        return PrismError(
            ErrorCode.GRAPH_NOT_BUILT,
            f"The first import of {name} is still running.",
            "Retry when index_status reports it as complete.",
        )
    seconds = (datetime.now(UTC) - state.indexed_at).total_seconds()
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        f"The graph of {name} is being built; it was indexed {seconds:.0f} s ago.",
        "Retry in a few seconds. Meanwhile the tools of the toolset code answer.",
        seconds_since_indexed=round(seconds, 1),
    )
