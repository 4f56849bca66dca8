"""Paths as text: each function with the line of its call, on request with its code."""

from collections.abc import Iterable, Iterator, Sequence

from prism_contracts.code import EdgeKind
from prism_contracts.rpc.files import FileRange
from prism_contracts.rpc.graph import FindPathReply, GraphEdge, GraphNode, PathSearch
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
from prism_gateway.mcp.answers.path_code import Bodies, code_lines, ranges_of
from prism_gateway.mcp.answers.path_steps import PathStep, shared_steps, steps_of
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer

# The kinds of edges that run the next node, or load it.
JOINING = frozenset({EdgeKind.CALLS, EdgeKind.IMPORTS})


def body_ranges(reply: FindPathReply) -> tuple[FileRange, ...]:
    """Returns the ranges of the functions on the first path."""
    return ranges_of(steps_of(reply.paths[0])) if reply.paths else ()


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
    first = steps_of(reply.paths[0]) if reply.paths else ()
    for number, path in enumerate(cut.paths, 1):
        steps = steps_of(path)
        shared = shared_steps(steps, first) if number > 1 else 0
        lines += [f"path {number}, {several(len(steps), 'step')}:", *_step_lines(steps, texts, shared)]
    if not reply.paths:
        lines += [f"no path over {' or '.join(_searched(reply.searches))}", *_both_ends(reply)]
    for path in cut.backward[:1]:
        lines += ["but in the opposite direction:", *_step_lines(steps_of(path), texts)]
    if bodies and first:
        room = chars(max_tokens) - sum(map(len, lines))
        lines += ["code on path 1, without docstrings:", *code_lines(first, bodies, room)]
    return answer(structured, [*lines, _completeness(reply, first)], reply.receipt)


def _step_lines(steps: Sequence[PathStep], texts: LineTexts, shared: int = 0) -> Iterator[str]:
    """Returns the nodes with the line of each call; of what is shared with the first path only the last node."""
    if shared:
        yield f"  as path 1 to {node_line(steps[shared - 1].node)}"
    elif steps:
        yield f"  {node_line(steps[0].source)}"
    for step in steps[shared:]:
        if step.call:
            yield f"      {_call_line(step.source, step.call, texts)}"
        yield f"  → {node_line(step.node)}{_notes(step)}"
        for other in step.others:
            reached = ", which resolved uses lead to" if other.resolved else ""
            yield f"      or {node_line(other.node)}{reached}"


def _call_line(source: GraphNode, edge: GraphEdge, texts: LineTexts) -> str:
    line = edge.lines[0]
    text = texts.get((source.file_path, line), "")
    kind = "" if edge.edge is EdgeKind.CALLS else f" [{edge.edge.value}]"
    return f"{line}: {text}{kind}" if text else edge_text(edge)


def _notes(step: PathStep) -> str:
    """Returns what to know about a step: what the node overrides, and whether only a name leads to it."""
    declared = [node for node in (*step.overridden, *(() if step.call else (step.source,))) if node.symbol]
    notes = [f"overrides {node_line(node)}" for node in declared[:1]]
    if step.choices > 1:
        notes.append(f"one of {step.choices} implementations")
    if step.is_unsure:
        notes.append("by name only ?")
    elif step.is_only_definition:
        notes.append("by name, its only definition")
    return f" ({'; '.join(notes)})" if notes else ""


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


def _completeness(reply: FindPathReply, first: Sequence[PathStep]) -> str:
    if not reply.paths:
        lacks = [*stop_lacks(reply.stops)] or ["a path may pass a call that has no edge"]
        return sentence(lacks, "no path was found", reply.stops)
    unsure = sum(step.is_unsure for step in first)
    other = sum(step.call is not None and step.call.edge not in JOINING for step in first)
    lacks = [
        f"{unsure} of the {several(len(first), 'step')} of path 1 match{'es' if unsure == 1 else ''} by name only (?)"
        if unsure
        else "",
        f"{several(other, 'step')} of path 1 {'is' if other == 1 else 'are'} no call" if other else "",
    ]
    return sentence(lacks, f"{several(len(reply.paths), 'path')}, the most certain and shortest first")
