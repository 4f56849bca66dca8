"""Paths as text: each function with the line of its call, on request with its code."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from prism_contracts.code import EdgeKind, EdgeStatus, Strategy
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.graph import FindPathReply, GraphEdge, GraphNode, GraphPath, PathSearch
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    LineTexts,
    answer,
    edge_text,
    node_cost,
    node_line,
    nodes_line,
    plain,
    sentence,
    stop_lacks,
    stop_lines,
    texts_of,
)
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer

# Lines of a body around the call that are shown if the whole is too long.
FRAME_LINES = 6
# A body may take at most this many lines, of which the first are the signature.
BODY_LINES_MAX = 60
HEAD_LINES = 3

# The code of nodes that a path passes.
Bodies = Mapping[FileRange, str]


def body_ranges(reply: FindPathReply) -> tuple[FileRange, ...]:
    """Returns the ranges of the functions on the first path."""
    nodes = reply.paths[0].nodes if reply.paths else ()
    return tuple(dict.fromkeys(_range(node) for node in nodes if node.end_line))


def find_path(reply: FindPathReply, max_tokens: int, bodies: Bodies | None = None) -> Answer:
    """Returns each path node by node, or the searches that found none."""
    texts = texts_of(reply.source_lines)
    costs = [
        sum(node_cost(node) + EDGE_CHARS for node in path.nodes) for path in (*reply.paths, *reply.backward)
    ]
    kept = fit([0] * len(costs), costs, chars(max_tokens), 0).kept if costs else 0
    cut = reply.model_copy(update={"paths": reply.paths[:kept], "backward": reply.backward[:kept]})
    structured = plain(cut, exclude={"receipt", "source_lines"}) | {"receipt": receipt_json(reply.receipt)}
    if kept < len(costs):
        structured["truncated"] = True
    lines = [f"from {nodes_line(reply.source)} to {nodes_line(reply.target)}", *reply.notes]
    for number, path in enumerate(cut.paths, 1):
        shared = _shared_nodes(path, cut.paths[0]) if number > 1 else 0
        lines += [f"path {number}, {several(len(path.edges), 'edge')}:", *_path_lines(path, texts, shared)]
    if not reply.paths:
        lines += [f"no path over {' or '.join(_searched(reply.searches))}", *_both_ends(reply)]
    for path in cut.backward[:1]:
        lines += ["but in the opposite direction:", *_path_lines(path, texts)]
    if bodies and reply.paths:
        room = chars(max_tokens) - sum(map(len, lines))
        lines += ["code on path 1:", *_body_lines(reply.paths[0], bodies, room)]
    return answer(structured, [*lines, _completeness(reply)], reply.receipt)


def _shared_nodes(path: GraphPath, first: GraphPath) -> int:
    """Returns the number of nodes at the beginning that a path shares with the first one."""
    pairs = zip(
        zip(path.nodes, path.edges, strict=False), zip(first.nodes, first.edges, strict=False), strict=False
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _path_lines(path: GraphPath, texts: LineTexts, shared: int = 0) -> Iterator[str]:
    """Returns the nodes with the line of each call; of the nodes shared with the first path only the last."""
    nodes = path.nodes
    yield f"  as path 1 to {node_line(nodes[shared])}" if shared else f"  {node_line(nodes[0])}"
    for at in range(shared, len(path.edges)):
        source, edge, node = nodes[at], path.edges[at], nodes[at + 1]
        if edge.edge is EdgeKind.OVERRIDES:
            yield f"  → {node_line(node)} (may run: override){_unsure(edge)}"
            continue
        is_overridden = at + 1 < len(path.edges) and path.edges[at + 1].edge is EdgeKind.OVERRIDES
        yield f"      {_edge_line(source, edge, texts)}"
        yield f"  → {node_line(node)}{' (its override runs)' if is_overridden else ''}{_unsure(edge)}"


def _edge_line(source: GraphNode, edge: GraphEdge, texts: LineTexts) -> str:
    line = edge.lines[0]
    text = texts.get((source.file_path, line), "")
    kind = "" if edge.edge is EdgeKind.CALLS else f" [{edge.edge.value}]"
    return f"{line}: {text}{kind}" if text else edge_text(edge)


def _unsure(edge: GraphEdge) -> str:
    if edge.status is not EdgeStatus.CANDIDATE:
        return ""
    is_only = edge.strategy is Strategy.ONLY_DEFINITION
    return f" (by name only ?{', its only definition' if is_only else ''})"


def _searched(searches: Iterable[PathSearch]) -> list[str]:
    return list(dict.fromkeys(search.edges for search in searches if search.forward))


def _both_ends(reply: FindPathReply) -> Iterator[str]:
    """Returns where calls from the source stop, and what reaches the target."""
    if reply.stops:
        yield "From the source, calls stop here:"
        yield from stop_lines(reply.stops)
    if reply.reaching:
        yield "The target is reached from:"
        yield from (f"  {node_line(node)}" for node in reply.reaching)


def _completeness(reply: FindPathReply) -> str:
    if not reply.paths:
        lacks = [*stop_lacks(reply.stops)] or ["a path may pass a call that has no edge"]
        return sentence(lacks, "no path was found", reply.stops)
    unsure = sum(edge.status is EdgeStatus.CANDIDATE for edge in reply.paths[0].edges)
    other = sum(
        edge.edge not in (EdgeKind.CALLS, EdgeKind.OVERRIDES) and edge.edge is not EdgeKind.IMPORTS
        for edge in reply.paths[0].edges
    )
    lacks = [
        f"{unsure} of the {several(len(reply.paths[0].edges), 'edge')} of path 1 match by name only (?)"
        if unsure
        else "",
        f"{several(other, 'edge')} of path 1 {'is' if other == 1 else 'are'} no call" if other else "",
    ]
    return sentence(lacks, f"{several(len(reply.paths), 'path')}, the most certain and shortest first")


def _body_lines(path: GraphPath, bodies: Bodies, room: int) -> Iterator[str]:
    """Returns the numbered code of the functions, each within an equal share of the room."""
    calls: dict[FileRange, set[int]] = {}
    nodes: dict[FileRange, GraphNode] = {}
    for position, node in enumerate(path.nodes):
        if node.end_line:
            nodes.setdefault(_range(node), node)
            edges = path.edges[position : position + 1]
            calls.setdefault(_range(node), set()).update(line for edge in edges for line in edge.lines)
    shown = [place for place in nodes if bodies.get(place)]
    share = max(room, 0) // max(len(shown), 1)
    for place in shown:
        yield node_line(nodes[place])
        yield from _framed(bodies[place].split("\n"), place.start_line, calls[place], share)


def _framed(lines: Sequence[str], first: int, calls: Iterable[int], room: int) -> Iterator[str]:
    """Returns all lines if they fit, else the signature and the frame around each call."""
    numbers = range(first, first + len(lines))
    kept: Iterable[int] = numbers
    if len(lines) > BODY_LINES_MAX or sum(len(line) + 6 for line in lines) > room:
        around = [range(line - FRAME_LINES, line + FRAME_LINES + 1) for line in calls]
        kept = sorted({*numbers[:HEAD_LINES], *(line for one in around for line in one if line in numbers)})
    before = first - 1
    for number in kept:
        if number > before + 1:
            yield f"  … {number - before - 1} lines"
        yield f"  {number}: {lines[number - first]}"
        before = number
    if before < numbers[-1]:
        yield f"  … {numbers[-1] - before} lines"


def _range(node: GraphNode) -> FileRange:
    return FileRange(file_path=node.file_path, start_line=node.start_line, end_line=node.end_line)
