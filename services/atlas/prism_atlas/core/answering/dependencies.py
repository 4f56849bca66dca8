"""Dependencies and dependents of files."""

from prism_atlas.core import dependencies
from prism_atlas.core.answering.common import next_page, page_start, requested_files
from prism_atlas.core.dependencies import Dependencies
from prism_atlas.core.graph import Graph
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import DependenciesReply, DependenciesRequest, DependencyDirection

FILES_SHOWN_MAX = 10


def dependencies_of(
    graph: Graph, between: Graph, request: DependenciesRequest, receipt: GraphReceipt
) -> DependenciesReply:
    """Returns a page of each direction. Raises FILE_NOT_FOUND, INVALID_CURSOR."""
    requested = requested_files(graph, request.path)
    start = page_start(request, request.cursor)
    sides: dict[DependencyDirection, Dependencies] = {
        direction: dependencies.dependencies(
            graph,
            between,
            requested,
            request.depth,
            forward=direction is DependencyDirection.OUT,
            candidates=request.include_candidates,
        )
        for direction in (DependencyDirection.OUT, DependencyDirection.IN)
        if request.direction in (direction, DependencyDirection.BOTH)
    }
    pages = {
        direction: tuple(dependencies.tell(graph, side, start, request.limit))
        for direction, side in sides.items()
    }
    totals = {direction: len(side) for direction, side in sides.items()}
    unsure = {direction: side.unsure for direction, side in sides.items()}
    externals = dependencies.externals(graph, requested) if DependencyDirection.OUT in sides else []
    used, using = DependencyDirection.OUT, DependencyDirection.IN
    return DependenciesReply(
        files=tuple(graph.path(int(file)) for file in requested[:FILES_SHOWN_MAX]),
        total_files=len(requested),
        uses=pages.get(used, ()),
        used_by=pages.get(using, ()),
        total_uses=totals.get(used, 0),
        total_used_by=totals.get(using, 0),
        unsure_uses=unsure.get(used, 0),
        unsure_used_by=unsure.get(using, 0),
        externals=tuple(externals[: request.limit]),
        total_externals=len(externals),
        cycles=dependencies.cycles(between, requested),
        next_cursor=next_page(request, start + request.limit, max(totals.values())),
        receipt=receipt,
    )
