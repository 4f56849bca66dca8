"""Dependencies and dependents of files."""

from prism_atlas.core import dependencies
from prism_atlas.core.answering.start import next_page, page_start, requested_files
from prism_atlas.core.dependencies import Dependencies
from prism_atlas.core.graph import Graph
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import DependenciesReply, DependenciesRequest, DependencyDirection

FILES_SHOWN_MAX = 10


def dependencies_of(
    graph: Graph, between: Graph, request: DependenciesRequest, receipt: GraphReceipt
) -> DependenciesReply:
    """Returns a page of each direction. Raises FILE_NOT_FOUND, INVALID_CURSOR."""
    asked = requested_files(graph, request.path)
    start = page_start(request, request.cursor)
    sides: dict[DependencyDirection, Dependencies] = {
        direction: dependencies.dependencies(
            graph,
            between,
            asked,
            request.depth,
            forward=direction is DependencyDirection.OUT,
            candidates=request.include_candidates,
        )
        for direction in (DependencyDirection.OUT, DependencyDirection.IN)
        if request.direction in (direction, DependencyDirection.BOTH)
    }
    told = {
        direction: tuple(dependencies.tell(graph, side, start, request.limit))
        for direction, side in sides.items()
    }
    totals = {direction: len(side) for direction, side in sides.items()}
    unsure = {direction: side.unsure for direction, side in sides.items()}
    outside = dependencies.externals(graph, asked) if DependencyDirection.OUT in sides else []
    used, using = DependencyDirection.OUT, DependencyDirection.IN
    return DependenciesReply(
        files=tuple(graph.path(int(file)) for file in asked[:FILES_SHOWN_MAX]),
        total_files=len(asked),
        uses=told.get(used, ()),
        used_by=told.get(using, ()),
        total_uses=totals.get(used, 0),
        total_used_by=totals.get(using, 0),
        unsure_uses=unsure.get(used, 0),
        unsure_used_by=unsure.get(using, 0),
        externals=tuple(outside[: request.limit]),
        total_externals=len(outside),
        cycles=dependencies.cycles(between, asked),
        next_cursor=next_page(request, start + request.limit, max(totals.values())),
        receipt=receipt,
    )
