"""Graph traversals as text: one node per line, `?` before edges matched by name only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from prism_contracts.base import Message
from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import (
    AffectedNode,
    CallDirection,
    CallHierarchyReply,
    ChangedSymbol,
    DependenciesReply,
    DiffFile,
    ExternalModule,
    FileDependency,
    FindPathReply,
    GraphEdge,
    GraphNode,
    GraphPath,
    ImpactReply,
    PathSearch,
    TreeBranch,
    TypeHierarchyReply,
)
from prism_contracts.rpc.symbols import Reconciliation
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json, receipt_line
from prism_gateway.mcp.tool import Answer, Json

# The cost of a node without its path and names: field names, braces, lines.
NODE_CHARS = 60
EDGE_CHARS = 120
OTHERS_SHOWN_MAX = 5


def fit_branches(branches: Sequence[TreeBranch], max_tokens: int) -> int:
    """Returns the number of branches that fit. Parents come first, so the fitting branches form a tree."""
    costs = [_cost(branch.node) + EDGE_CHARS + sum(map(_cost, branch.overrides)) for branch in branches]
    return fit([0] * len(costs), costs, chars(max_tokens), 0).kept


def fit_dependencies(reply: DependenciesReply, max_tokens: int) -> int:
    """Returns the number of files per direction that fit."""
    rest = sum(len(module.module) + NODE_CHARS for module in reply.externals)
    rest += sum(len(path) for cycle in reply.cycles for path in cycle)
    return _fit_rows(
        [[_dependency_cost(one) for one in side] for side in (reply.uses, reply.used_by)], max_tokens, rest
    )


def fit_impact(reply: ImpactReply, max_tokens: int) -> int:
    """Returns the number of affected symbols, and of tests, that fit."""
    rest = min(sum(_cost(one.node) for one in reply.changed), chars(max_tokens) // 2)
    return _fit_rows(
        [
            [_cost(one.node) + _cost(one.uses) + EDGE_CHARS for one in side]
            for side in (reply.affected, reply.tests)
        ],
        max_tokens,
        rest,
    )


def call_hierarchy(reply: CallHierarchyReply, max_tokens: int) -> Answer:
    """Returns the first branches of the tree."""
    branches = _cut(reply.branches, fit_branches(reply.branches, max_tokens))
    structured: Json = {
        "roots": _plain_all(reply.roots),
        "direction": reply.direction.value,
        "branches": _plain_all(branches),
        "total": reply.total,
        "other_uses": {kind.value: count for kind, count in reply.other_uses.items()},
        "others": _plain_all(reply.others),
        "next_cursor": reply.next_cursor,
        "receipt": receipt_json(reply.receipt),
    }
    if reply.in_text:
        structured["in_text"] = reply.in_text.model_dump(mode="json")
    if reply.matched:
        structured["matched"] = reply.matched
    if len(branches) < len(reply.branches):
        structured["truncated"] = True
    lines = [
        f"{reply.direction.value} of {_nodes_line(reply.roots)}",
        *_tree_lines(branches),
        *_call_totals(reply, sum(branch.depth == 1 for branch in branches)),
        *_others_lines(reply.others, reply.matched),
    ]
    return _answer(structured, lines, reply.receipt, reply.next_cursor)


def type_hierarchy(reply: TypeHierarchyReply, max_tokens: int) -> Answer:
    """Returns both trees, each cut to half of the budget."""
    trees = {
        "supertypes": (reply.supertypes, reply.total_supertypes),
        "subtypes": (reply.subtypes, reply.total_subtypes),
    }
    structured: Json = {"roots": _plain_all(reply.roots), "others": _plain_all(reply.others)}
    lines = [f"types around {_nodes_line(reply.roots)}"]
    for name, (tree, total) in trees.items():
        branches = _cut(tree, fit_branches(tree, max_tokens // 2)) if tree else ()
        structured[name] = _plain_all(branches)
        if len(branches) < len(tree):
            structured["truncated"] = True
        lines += [
            f"{name} ({total} direct):"
            if total
            else f"{name}: none in the graph; find_references searches the text.",
            *_tree_lines(branches),
        ]
    if reply.note:
        structured |= {"note": reply.note, "structural": _plain_all(reply.structural)}
        lines += [
            f"{reply.note} {reply.total_structural}:",
            *(f"? {_place(node)}" for node in reply.structural),
        ]
    structured["receipt"] = receipt_json(reply.receipt)
    lines += _others_lines(reply.others, reply.matched)
    return _answer(structured, lines, reply.receipt)


def dependencies(reply: DependenciesReply) -> Answer:
    """Returns both directions, then external modules and cycles."""
    structured = _plain(reply, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
    head = (
        reply.files[0]
        if reply.total_files == 1
        else f"{reply.total_files} files: {', '.join(reply.files[:3])} …"
    )
    lines = [
        f"dependencies of {head}",
        *_dependency_lines("uses", reply.uses, reply.total_uses, reply.unsure_uses),
        *_dependency_lines("used by", reply.used_by, reply.total_used_by, reply.unsure_used_by),
    ]
    if reply.externals:
        named = ", ".join(_external(module) for module in reply.externals)
        more = reply.total_externals - len(reply.externals)
        lines.append(
            f"external modules ({reply.total_externals}): {named}" + (f" … and {more} more" if more else "")
        )
    lines += [f"cycle: {' → '.join(cycle)}" for cycle in reply.cycles]
    return _answer(structured, lines, reply.receipt, reply.next_cursor)


def find_path(reply: FindPathReply, max_tokens: int) -> Answer:
    """Returns each path node by node, or the searches that found none."""
    costs = [sum(_cost(node) + EDGE_CHARS for node in path.nodes) for path in (*reply.paths, *reply.backward)]
    kept = fit([0] * len(costs), costs, chars(max_tokens), 0).kept if costs else 0
    cut = reply.model_copy(update={"paths": reply.paths[:kept], "backward": reply.backward[:kept]})
    structured = _plain(cut, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
    if kept < len(costs):
        structured["truncated"] = True
    lines = [f"from {_nodes_line(reply.source)} to {_nodes_line(reply.target)}"]
    for number, path in enumerate(cut.paths, 1):
        lines += [f"path {number}, {len(path.edges)} edges:", *_path_lines(path)]
    if not reply.paths:
        lines += ["no path. Searched:", *map(_search_line, reply.searches)]
    for path in cut.backward[:1]:
        lines += ["but in the opposite direction:", *_path_lines(path)]
    return _answer(structured, lines, reply.receipt)


def impact(reply: ImpactReply, max_tokens: int) -> Answer:
    """Returns the changed symbols, the affected ones, and the tests that reach them."""
    costs = [_cost(one.node) for one in reply.changed]
    kept = fit([0] * len(costs), costs, chars(max_tokens) // 2, 0).kept if costs else 0
    cut = reply.model_copy(update={"changed": reply.changed[:kept]})
    structured = _plain(cut, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
    if kept < len(reply.changed):
        structured["truncated"] = True
    lines = [
        *map(_diff_file_line, reply.files),
        f"changed ({reply.total_changed}):",
        *map(_changed_line, cut.changed),
        *_affected_lines(f"affected within {reply.depth} uses", reply.affected, reply.total_affected),
        *_affected_lines(f"tests within {reply.test_depth} uses", reply.tests, reply.total_tests),
    ]
    if reply.total_affected:
        unsure = reply.total_affected - reply.resolved_affected
        lines.append(f"{reply.resolved_affected} affected over resolved edges, {unsure} over candidates (?).")
        lines.append(
            "most affected: "
            + ", ".join(f"{path} {count}" for path, count in islice(reply.by_file.items(), 8))
        )
    lines += _others_lines(reply.others, reply.matched)
    return _answer(structured, lines, reply.receipt, reply.next_cursor)


# ── pieces
# ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _answer(structured: Json, lines: Iterable[str], receipt: GraphReceipt, cursor: str = "") -> Answer:
    foot = [receipt_line(receipt), *([f"next_cursor: {cursor}"] if cursor else [])]
    return Answer(structured, "\n".join([*lines, *foot]))


def _plain(message: Message, exclude: set[str] | None = None) -> Json:
    return message.model_dump(mode="json", exclude_defaults=True, exclude=exclude)


def _plain_all(messages: Iterable[Message]) -> list[Json]:
    return [_plain(message) for message in messages]


def _cost(node: GraphNode) -> int:
    return len(node.file_path) + len(node.symbol) + NODE_CHARS


def _dependency_cost(one: FileDependency) -> int:
    return (
        len(one.file_path)
        + len(one.through)
        + sum(map(len, one.symbols))
        + NODE_CHARS
        + EDGE_CHARS * len(one.edges)
    )


def _fit_rows(columns: Sequence[Sequence[int]], max_tokens: int, rest: int) -> int:
    """Returns the number of rows that fit, each with one item of every column."""
    longest = max(map(len, columns))
    rows = [sum(sum(column[row : row + 1]) for column in columns) for row in range(longest)]
    return fit([0] * longest, rows, chars(max_tokens) - rest, 0).kept if rows else 0


def _cut(branches: Sequence[TreeBranch], kept: int) -> tuple[TreeBranch, ...]:
    """Returns the first branches, with the number of children cut from each."""
    lost: dict[int, int] = {}
    for branch in branches[kept:]:
        lost[branch.parent] = lost.get(branch.parent, 0) + 1
    return tuple(
        branch.model_copy(update={"left_out": branch.left_out + lost.get(position, 0)})
        for position, branch in enumerate(branches[:kept])
    )


def _tree_lines(branches: Sequence[TreeBranch]) -> Iterator[str]:
    children: dict[int, list[int]] = {}
    for position, branch in enumerate(branches):
        children.setdefault(branch.parent, []).append(position)
    yield from _lines_below(-1, branches, children)


def _lines_below(
    parent: int, branches: Sequence[TreeBranch], children: Mapping[int, Sequence[int]]
) -> Iterator[str]:
    for position in children.get(parent, ()):
        branch = branches[position]
        indent = "  " * branch.depth
        yield _branch_line(branch)
        yield from (f"{indent}  overriding: {node.symbol}:{node.line}" for node in branch.overrides)
        yield from _lines_below(position, branches, children)
        if branch.left_out:
            yield f"{indent}  … and {branch.left_out} more: ask about {branch.node.symbol or branch.node.file_path}"


def _branch_line(branch: TreeBranch) -> str:
    end = " (recursion)" if branch.recursive else " (see above)" if branch.same_as >= 0 else ""
    return f"{'  ' * (branch.depth - 1)}{_mark(branch.via.status)} {_place(branch.node)} {_edge(branch.via)}{end}"


def _call_totals(reply: CallHierarchyReply, shown: int) -> Iterator[str]:
    what = reply.direction.value
    others = ", ".join(f"{kind.value} {count}" for kind, count in reply.other_uses.items())
    if reply.total:
        yield f"direct {what}: {reply.total}, shown {shown}." + (
            f" Other uses: {others} (find_references)." if others else ""
        )
        return
    yield f"The graph has no {what}." + (f" Other uses: {others} (find_references)." if others else "")
    if reply.direction is CallDirection.CALLERS:
        yield _text_line(reply.in_text)


def _text_line(text: Reconciliation | None) -> str:
    if text is None:
        return "Not checked against the text: find_references does that."
    if text.resolved or text.candidates or text.unexplained or text.files_left_out:
        return (
            f"The text does not confirm it: {text.resolved} resolved and {text.candidates} candidate references, "
            f"and {several(text.unexplained, 'other line')} of code with the name. find_references lists them."
        )
    if text.mentions:
        lines = several(text.mentions, "line")
        return (
            f"No code uses it. {lines} in comments or strings contain the name; find_references lists them."
        )
    return "The text confirms it: no line with the name uses this symbol."


def _dependency_lines(title: str, files: Sequence[FileDependency], total: int, unsure: int) -> Iterator[str]:
    more = f", {unsure} more over candidates only (include_candidates)" if unsure else ""
    yield f"{title} ({total} files{more}):"
    yield from map(_dependency_line, files)


def _dependency_line(one: FileDependency) -> str:
    if one.depth > 1:
        return f"  {one.file_path} (depth {one.depth}, through {one.through})"
    unsure = all(edge.status is EdgeStatus.CANDIDATE for edge in one.edges)
    edges = "; ".join(_edge(edge) for edge in one.edges)
    symbols = f": {', '.join(one.symbols)}" if one.symbols else ""
    return f"{'?' if unsure else ' '} {one.file_path} {edges}{symbols}"


def _external(module: ExternalModule) -> str:
    return module.module if module.files == 1 else f"{module.module} ({module.files} files)"


def _path_lines(path: GraphPath) -> Iterator[str]:
    yield f"  {_place(path.nodes[0])}"
    for node, edge in zip(path.nodes[1:], path.edges, strict=True):
        yield f"{_mark(edge.status)} → {_place(node)} {_edge(edge)}"


def _search_line(search: PathSearch) -> str:
    way = "source to target" if search.forward else "target to source"
    unsure = "with candidates" if search.candidates else "without candidates"
    reach = f"{search.found} paths" if search.found else f"only {search.visited} nodes reach the end"
    return f"  {way} over {search.edges}, {unsure}: {reach}"


def _diff_file_line(file: DiffFile) -> str:
    applied = ", as indexed" if file.applied else ""
    return f"{file.file_path}: {file.state.value}{applied}" + (f" ({file.detail})" if file.detail else "")


def _changed_line(one: ChangedSymbol) -> str:
    public = " public" if one.exported else ""
    signature = " signature" if one.signature else ""
    return f"  {_place(one.node)}{public}{signature}, used by {one.used_by}"


def _affected_lines(title: str, nodes: Sequence[AffectedNode], total: int) -> Iterator[str]:
    yield (
        f"{title} ({total}):" if total else f"{title}: none in the graph; find_references searches the text."
    )
    for one in nodes:
        yield f"{_mark(one.status)} {one.distance} {_place(one.node)} {_edge(one.via)} {one.uses.symbol or one.uses.file_path}"


def _others_lines(others: Sequence[GraphNode], matched: str) -> Iterator[str]:
    if matched:
        yield f"Found by the name {matched}; the qualifier did not match, so this may be another symbol."
    if others:
        more = f" and {len(others) - OTHERS_SHOWN_MAX} more" if len(others) > OTHERS_SHOWN_MAX else ""
        yield f"The name also matches: {', '.join(map(_place, others[:OTHERS_SHOWN_MAX]))}{more}."


def _nodes_line(nodes: Sequence[GraphNode]) -> str:
    more = f" and {len(nodes) - 1} more definitions of it" if len(nodes) > 1 else ""
    return f"{_place(nodes[0])}{more}"


def _place(node: GraphNode) -> str:
    lines = f"{node.start_line}-{node.end_line}" if node.end_line else f"{node.line}"
    return f"{node.file_path}:{lines} {node.symbol or '(top level)'}"


def _edge(edge: GraphEdge) -> str:
    more = f" and {edge.total_lines - len(edge.lines)} more" if edge.total_lines > len(edge.lines) else ""
    return f"[{edge.edge.value} at {', '.join(map(str, edge.lines))}{more}]"


def _mark(status: EdgeStatus) -> str:
    return "?" if status is EdgeStatus.CANDIDATE else " "
