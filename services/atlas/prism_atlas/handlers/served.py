"""The graph that a question is about, and how fresh it is."""

from datetime import UTC, datetime
from typing import NamedTuple

from prism_atlas.adapters.graphs import Graphs
from prism_atlas.core.graph import Graph
from prism_atlas.core.snapshot import Snapshot
from prism_atlas.handlers.builds import BuildHandlers
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import GraphRecord, LayerState, Repository
from prism_contracts.rpc import GraphReceipt, ScopedRequest
from prism_store.repositories import Repositories, Target


class Served(NamedTuple):
    """A graph, whose it is, and what to say of it."""

    target: Target  # one repository
    snapshot: Snapshot
    version: int
    receipt: GraphReceipt

    @property
    def repo(self) -> str:
        """owner/name."""
        return self.target.repositories[0].name


class BareGraph(NamedTuple):
    """A graph, the name of its repository, and the import that it was built after."""

    repo: str
    graph: Graph
    version: int


class ServedGraphs:
    """Finds graphs by the names of repositories."""

    def __init__(self, repositories: Repositories, graphs: Graphs, builds: BuildHandlers) -> None:
        self._repositories = repositories
        self._graphs = graphs
        self._builds = builds

    async def of(self, request: ScopedRequest) -> Served:
        """Raises REPO_NOT_FOUND, REPO_AMBIGUOUS, and GRAPH_NOT_BUILT until the first graph of the repository is there."""
        target = await self._target(request)
        repository = target.repositories[0]
        state = repository.served
        record = self._record(repository)
        snapshot = await self._graphs.snapshot(record)
        receipt = await self._repositories.receipt(target)
        told = GraphReceipt(
            **receipt.model_dump(),
            graph_commit=record.commit,
            graph_version=record.version,
            graph_built_at=record.built_at,
            graph_lag_seconds=_lag_s(record, state),
        )
        return Served(target, snapshot, record.version, told)

    async def bare(self, request: ScopedRequest) -> BareGraph:
        """The same without a receipt, for services that write their own."""
        repository = (await self._target(request)).repositories[0]
        record = self._record(repository)
        snapshot = await self._graphs.snapshot(record)
        return BareGraph(repository.name, snapshot.graph, record.version)

    async def _target(self, request: ScopedRequest) -> Target:
        target = await self._repositories.target(request, single=True)
        if target.layer:
            raise _of_base_only(target)
        return target

    def _record(self, repository: Repository) -> GraphRecord:
        """Has a graph built where there is none."""
        record = self._graphs.record(repository.tenant, repository.repo, BASE_LAYER)
        if record is None:
            state = repository.served
            if state is not None:
                self._builds.want(repository, state)
            raise _not_built(repository.name, state)
        return record


def _lag_s(record: GraphRecord, state: LayerState | None) -> float:
    if state is None or state.version <= record.version:
        return 0.0
    return round((datetime.now(UTC) - state.indexed_at).total_seconds(), 3)


def _of_base_only(target: Target) -> PrismError:
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        f"There is a graph of the default branch of {target.repositories[0].name}, and none of {target.ref}.",
        "Ask without ref; find_references and prepare_to_edit answer at a ref.",
    )


def _not_built(name: str, state: LayerState | None) -> PrismError:
    if state is None:
        return PrismError(
            ErrorCode.GRAPH_NOT_BUILT,
            f"The first import of {name} has not ended yet.",
            "Ask again when index_status says that it is complete.",
        )
    seconds = (datetime.now(UTC) - state.indexed_at).total_seconds()
    return PrismError(
        ErrorCode.GRAPH_NOT_BUILT,
        f"The graph of {name} is being built; it was indexed {seconds:.0f} s ago.",
        "Ask again in some seconds; the tools of the toolset code answer meanwhile.",
        seconds_since_indexed=round(seconds, 1),
    )
