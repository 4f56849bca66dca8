"""The dependents of a change."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from prism_atlas.core.answering.common import STOPS_SHOWN_MAX, next_page, notes_of, page_start
from prism_atlas.core.diffs import FileDiff, applies_to
from prism_atlas.core.graph import NONE, Graph, Numbers
from prism_atlas.core.hierarchy import constructed
from prism_atlas.core.impact import (
    USES,
    Affected,
    NodeRanks,
    TouchedSymbol,
    affected,
    touched_symbols,
)
from prism_atlas.core.lookup import ResolvedName
from prism_atlas.core.named_tests import TitleTexts, listed_tests, rendered_test
from prism_atlas.core.reaching_tests import DEPTH_MAX, reaching_tests
from prism_atlas.core.rendering import UsingLine, render_edge, render_node, render_nodes
from prism_atlas.core.run_commands import commands, project_of
from prism_atlas.core.traversal import BY_NAME, follow, nodes_of, other_end, step, within
from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    AffectedNode,
    ChangedSymbol,
    DiffFile,
    DiffState,
    GraphEdge,
    ImpactReply,
    ImpactRequest,
    StopReason,
    WalkStop,
)

BEFORE, AFTER = 0, 1  # indexes of the sides in a hunk
CHANGED_SHOWN_MAX = 100
FILES_SHOWN_MAX = 20
FURTHER_LINES_MAX = 60
# How many tests connected only by name are shown with the text of their line.
TEST_LINES_MAX = 20


class ChangeSet(NamedTuple):
    """The files of a diff, and the symbols that it changes."""

    files: Sequence[DiffFile]
    touched_symbols: Sequence[TouchedSymbol]


def impact_of_symbol(
    graph: Graph,
    rank: NodeRanks,
    resolved_name: ResolvedName,
    request: ImpactRequest,
    receipt: GraphReceipt,
    *,
    texts: TitleTexts | None = None,
) -> ImpactReply:
    """Returns the impact of changing a symbol completely, its signature included."""
    changed = [TouchedSymbol(int(node), signature=True) for node in resolved_name.nodes]
    reply = impact_of(graph, rank, ChangeSet((), changed), request, receipt, texts=texts)
    return reply.model_copy(
        update={
            "others": render_nodes(graph, resolved_name.others),
            "matched": resolved_name.matched,
            "notes": notes_of(resolved_name),
        }
    )


def impact_of(
    graph: Graph,
    rank: NodeRanks,
    changes: ChangeSet,
    request: ImpactRequest,
    receipt: GraphReceipt,
    *,
    texts: TitleTexts | None = None,
) -> ImpactReply:
    """Returns a page of affected nodes and a page of affected tests. Raises INVALID_CURSOR.

    `texts` has the lines of test files, and receives the paths of those that would name more tests.
    """
    start = page_start(request, request.cursor)
    starts = starts_of(graph, changes.touched_symbols, request)
    found = affected(graph, rank, starts, request.depth, candidates=request.include_candidates)
    others = found.at(~found.in_test)
    reaching = reaching_tests(graph, starts, candidates=request.include_candidates)
    listed = listed_tests(graph, reaching, texts or TitleTexts())
    changed_tests = [one.named for one in listed if one.reached.edge == NONE]
    tests = [one for one in listed if one.reached.edge != NONE]
    sites = _CallSites(graph, starts)
    page = slice(start, start + request.limit)
    return ImpactReply(
        files=tuple(changes.files),
        changed=tuple(_render_changed(graph, one) for one in changes.touched_symbols[:CHANGED_SHOWN_MAX]),
        total_changed=len(changes.touched_symbols),
        affected=_render(graph, others.at(page), sites),
        total_affected=len(others),
        resolved_affected=int(others.resolved.sum()),
        depth=request.depth,
        tests=() if request.source_only else tuple(rendered_test(graph, one) for one in tests[page]),
        total_tests=0 if request.source_only else len(tests),
        resolved_tests=0 if request.source_only else sum(one.reached.resolved for one in tests),
        tests_left_out=len(tests) if request.source_only else 0,
        test_depth=DEPTH_MAX,
        test_commands=()
        if request.source_only
        else commands([*changed_tests, *(one.named for one in tests[page])], project_of(graph)),
        by_file=_by_file(graph, others.nodes),
        stops=_stops(graph, found, starts, request.depth),
        next_cursor=next_page(request, page.stop, max(len(others), 0 if request.source_only else len(tests))),
        receipt=receipt,
    )


def read_change(graph: Graph, diff: FileDiff, lines: Sequence[str]) -> tuple[DiffFile, list[TouchedSymbol]]:
    """Returns the state of a diff's file, and the symbols of the graph that it touches.

    `lines` are those of the indexed file: of the path before the diff, else of the path after it.
    """
    file, applied = indexed_as(graph, diff)
    file_diff = DiffFile(file_path=diff.before or diff.after, state=_state(diff), applied=applied)
    if diff.binary:
        return file_diff, []
    if file == NONE:
        is_new = file_diff.state is DiffState.ADDED
        return file_diff if is_new else file_diff.model_copy(update={"state": DiffState.NOT_INDEXED}), []
    if file_diff.state is DiffState.REMOVED:
        return file_diff, [TouchedSymbol(int(node), signature=True) for node in nodes_of(graph, file)]
    side = _side(diff, lines, applied=applied)
    if side is None:
        return file_diff.model_copy(
            update={"state": DiffState.DOES_NOT_APPLY, "detail": _mismatch(diff, lines)}
        ), []
    applied = side == AFTER
    found = touched_symbols(graph, file, [change[side] for change in diff.changes], lines)
    if file_diff.state is DiffState.RENAMED:
        found = _with_imported(graph, file, found)
    return file_diff.model_copy(update={"applied": applied}), found


def indexed_as(graph: Graph, diff: FileDiff) -> tuple[int, bool]:
    """Returns the diff's file in the graph, or NONE, and whether only its path after the diff is indexed."""
    for path, applied in ((diff.before, False), (diff.after, True)):
        if path and (file := graph.find_file(path)) != NONE:
            return file, applied
    return NONE, False


def _state(diff: FileDiff) -> DiffState:
    if diff.binary:
        return DiffState.BINARY
    if not diff.before:
        return DiffState.ADDED
    if not diff.after:
        return DiffState.REMOVED
    return DiffState.MODIFIED if diff.before == diff.after else DiffState.RENAMED


def _side(diff: FileDiff, lines: Sequence[str], *, applied: bool) -> int | None:
    """Returns the side that matches the indexed file, or None; if both match, the side before the diff."""
    for side in (AFTER,) if applied else (BEFORE, AFTER):
        if all(applies_to(change[side], lines) for change in diff.changes):
            return side
    return None


def _mismatch(diff: FileDiff, lines: Sequence[str]) -> str:
    first = next(
        (change for change in diff.changes if not applies_to(change[BEFORE], lines)), diff.changes[0]
    )
    return f"the context of the diff at line {first[BEFORE].start} differs from the index"


def _with_imported(graph: Graph, file: int, found: list[TouchedSymbol]) -> list[TouchedSymbol]:
    """Adds the imported symbols of a renamed file: renaming a file renames its module for every importer."""
    importing = step([EdgeKind.IMPORTS], forward=False, candidate_cost=1)
    edges, sources = follow(graph, nodes_of(graph, file), [importing])
    imported = np.unique(graph.edges.target[edges[graph.files_of(sources) != file]])
    known = {one.node for one in found}
    return [
        *found,
        *(TouchedSymbol(int(node), signature=True) for node in imported if int(node) not in known),
    ]


def starts_of(graph: Graph, changed: Sequence[TouchedSymbol], request: ImpactRequest) -> Numbers:
    """Returns where the traversal starts: a requested symbol with all its members, or the lines of a diff."""
    nodes = [one.node for one in changed]
    if request.symbol:
        return np.unique(np.concatenate([within(graph, node) for node in nodes]))
    return np.unique(np.array(nodes, np.int32))


def _render_changed(graph: Graph, one: TouchedSymbol) -> ChangedSymbol:
    backward = step(USES, forward=False, candidate_cost=1)
    calls = step([EdgeKind.CALLS], forward=False, candidate_cost=1)
    node = np.array([one.node], np.int32)
    users = np.concatenate(
        [follow(graph, node, [backward]).nodes, follow(graph, constructed(graph, node), [calls]).nodes]
    )
    return ChangedSymbol(
        node=render_node(graph, one.node),
        exported=not graph.is_file(one.node) and bool(graph.symbols.exported[one.node]),
        signature=one.signature,
        used_by=len(np.unique(users)),
    )


class _CallSites:
    """The lines of the uses of the changed symbols, by using node."""

    def __init__(self, graph: Graph, starts: Numbers) -> None:
        self._graph = graph
        uses = step(USES, forward=False, candidate_cost=1)
        calls = step([EdgeKind.CALLS], forward=False, candidate_cost=1)
        used = [follow(graph, starts, [uses]), follow(graph, constructed(graph, starts), [calls])]
        self._edges = np.concatenate([one.edges for one in used])
        self._sources = np.concatenate([one.nodes for one in used])

    def edge(self, edge: int, node: int, distance: int) -> GraphEdge:
        """Returns the edge that reached a node; a direct user's edge has the lines of all its uses."""
        if distance > 1:
            return render_edge(self._graph, edge)
        lines = np.unique(self._graph.edges.line[self._edges[self._sources == node]])
        return render_edge(self._graph, edge, lines.tolist())


def _stops(graph: Graph, found: Affected, starts: Numbers, depth: int) -> tuple[WalkStop, ...]:
    """Returns the users at the last distance that have further users, and those that only a name connects."""
    last = found.nodes[(found.distance == depth) & ~found.in_test]
    uses = step(USES, forward=False)
    edges, users = follow(graph, last, [uses])
    in_test = graph.in_tests()[users]
    known = np.concatenate([found.nodes, starts])
    further = np.unique(graph.edges.target[edges[~np.isin(users, known) & ~in_test]])
    named = found.nodes[graph.edges.strategy[found.edge] == BY_NAME]
    stops = [(StopReason.DEPTH, further), (StopReason.NAME, named)]
    return tuple(
        WalkStop(reason=reason, count=len(nodes), nodes=render_nodes(graph, nodes[:STOPS_SHOWN_MAX]))
        for reason, nodes in stops
        if len(nodes)
    )


def lines_of(reply: ImpactReply) -> Iterator[UsingLine]:
    """Returns the lines of the direct uses in source files, and of the first of the further ones and of unsure tests."""
    uses = [one for one in reply.affected if one.via.edge is not EdgeKind.OVERRIDES]
    further = (one for one in uses if one.distance > 1)
    for one in (*(one for one in uses if one.distance == 1), *islice(further, FURTHER_LINES_MAX)):
        yield from (UsingLine(one.node.file_path, line) for line in one.via.lines)
    unsure = (one for one in reply.tests if one.via.status is EdgeStatus.CANDIDATE and _is_inside(one))
    yield from (UsingLine(one.node.file_path, one.via.lines[0]) for one in islice(unsure, TEST_LINES_MAX))


def _is_inside(one: AffectedNode) -> bool:
    """Whether the line of an edge is in the lines of the node."""
    return one.node.start_line <= one.via.lines[0] <= one.node.end_line


def _render(graph: Graph, shown: Affected, sites: _CallSites) -> tuple[AffectedNode, ...]:
    return tuple(
        AffectedNode(
            node=render_node(graph, node),
            distance=distance,
            status=EdgeStatus.RESOLVED if resolved else EdgeStatus.CANDIDATE,
            via=sites.edge(edge, node, distance),
            uses=render_node(graph, other_end(graph, edge, node)),
        )
        for node, distance, edge, resolved, _ in zip(*(column.tolist() for column in shown), strict=True)
    )


def _by_file(graph: Graph, nodes: Numbers) -> dict[str, int]:
    files, counts = np.unique(graph.files_of(nodes), return_counts=True)
    order = np.lexsort((files, -counts))[:FILES_SHOWN_MAX]
    return {graph.path(int(files[position])): int(counts[position]) for position in order}
