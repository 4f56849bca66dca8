"""Graph traversals as text: one node per line, `?` before edges matched by name only."""

from collections.abc import Iterator, Sequence

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.graph import (
    DependenciesReply,
    ExternalModule,
    FileDependency,
    FindPathReply,
    GraphPath,
    PathSearch,
    TreeBranch,
    TypeHierarchyReply,
)
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    NODE_CHARS,
    answer,
    cut_branches,
    edge_text,
    mark,
    node_cost,
    node_line,
    nodes_line,
    others_lines,
    plain,
    plain_all,
    tree_lines,
)
from prism_gateway.mcp.answers.impacts import fit_rows
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer, Json


def fit_branches(branches: Sequence[TreeBranch], max_tokens: int) -> int:
    """Returns the number of branches that fit. Parents come first, so the fitting branches form a tree."""
    costs = [
        node_cost(branch.node) + EDGE_CHARS + sum(map(node_cost, branch.overrides)) for branch in branches
    ]
    return fit([0] * len(costs), costs, chars(max_tokens), 0).kept


def fit_dependencies(reply: DependenciesReply, max_tokens: int) -> int:
    """Returns the number of files per direction that fit."""
    rest = sum(len(module.module) + NODE_CHARS for module in reply.externals)
    rest += sum(len(path) for cycle in reply.cycles for path in cycle)
    return fit_rows(
        [[_dependency_cost(one) for one in side] for side in (reply.uses, reply.used_by)], max_tokens, rest
    )


def type_hierarchy(reply: TypeHierarchyReply, max_tokens: int) -> Answer:
    """Returns both trees, each cut to half of the budget."""
    trees = {
        "supertypes": (reply.supertypes, reply.total_supertypes),
        "subtypes": (reply.subtypes, reply.total_subtypes),
    }
    structured: Json = {"roots": plain_all(reply.roots), "others": plain_all(reply.others)}
    lines = [f"types around {nodes_line(reply.roots)}"]
    for name, (tree, total) in trees.items():
        branches = cut_branches(tree, fit_branches(tree, max_tokens // 2)) if tree else ()
        structured[name] = plain_all(branches)
        if len(branches) < len(tree):
            structured["truncated"] = True
        lines += [
            f"{name} ({total} direct):"
            if total
            else f"{name}: none in the graph; find_references searches the text.",
            *tree_lines(branches, {}),
        ]
    if reply.note:
        structured |= {"note": reply.note, "structural": plain_all(reply.structural)}
        lines += [
            f"{reply.note} {reply.total_structural}:",
            *(f"? {node_line(node)}" for node in reply.structural),
        ]
    structured["receipt"] = receipt_json(reply.receipt)
    lines += others_lines(reply.others, reply.matched)
    return answer(structured, lines, reply.receipt)


def dependencies(reply: DependenciesReply) -> Answer:
    """Returns both directions, then external modules and cycles."""
    structured = plain(reply, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
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
    return answer(structured, lines, reply.receipt, reply.next_cursor)


def find_path(reply: FindPathReply, max_tokens: int) -> Answer:
    """Returns each path node by node, or the searches that found none."""
    costs = [
        sum(node_cost(node) + EDGE_CHARS for node in path.nodes) for path in (*reply.paths, *reply.backward)
    ]
    kept = fit([0] * len(costs), costs, chars(max_tokens), 0).kept if costs else 0
    cut = reply.model_copy(update={"paths": reply.paths[:kept], "backward": reply.backward[:kept]})
    structured = plain(cut, exclude={"receipt"}) | {"receipt": receipt_json(reply.receipt)}
    if kept < len(costs):
        structured["truncated"] = True
    lines = [f"from {nodes_line(reply.source)} to {nodes_line(reply.target)}"]
    for number, path in enumerate(cut.paths, 1):
        lines += [f"path {number}, {len(path.edges)} edges:", *_path_lines(path)]
    if not reply.paths:
        lines += ["no path. Searched:", *map(_search_line, reply.searches)]
    for path in cut.backward[:1]:
        lines += ["but in the opposite direction:", *_path_lines(path)]
    return answer(structured, lines, reply.receipt)


# ── pieces
# ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _dependency_cost(one: FileDependency) -> int:
    return (
        len(one.file_path)
        + len(one.through)
        + sum(map(len, one.symbols))
        + NODE_CHARS
        + EDGE_CHARS * len(one.edges)
    )


def _dependency_lines(title: str, files: Sequence[FileDependency], total: int, unsure: int) -> Iterator[str]:
    more = f", {unsure} more over candidates only (include_candidates)" if unsure else ""
    yield f"{title} ({total} files{more}):"
    yield from map(_dependency_line, files)


def _dependency_line(one: FileDependency) -> str:
    if one.depth > 1:
        return f"  {one.file_path} (depth {one.depth}, through {one.through})"
    unsure = all(edge.status is EdgeStatus.CANDIDATE for edge in one.edges)
    edges = "; ".join(edge_text(edge) for edge in one.edges)
    symbols = f": {', '.join(one.symbols)}" if one.symbols else ""
    return f"{'?' if unsure else ' '} {one.file_path} {edges}{symbols}"


def _external(module: ExternalModule) -> str:
    return module.module if module.files == 1 else f"{module.module} ({module.files} files)"


def _path_lines(path: GraphPath) -> Iterator[str]:
    yield f"  {node_line(path.nodes[0])}"
    for node, edge in zip(path.nodes[1:], path.edges, strict=True):
        yield f"{mark(edge.status)} → {node_line(node)} {edge_text(edge)}"


def _search_line(search: PathSearch) -> str:
    way = "source to target" if search.forward else "target to source"
    unsure = "with candidates" if search.candidates else "without candidates"
    reach = f"{search.found} paths" if search.found else f"only {search.visited} nodes reach the end"
    return f"  {way} over {search.edges}, {unsure}: {reach}"
