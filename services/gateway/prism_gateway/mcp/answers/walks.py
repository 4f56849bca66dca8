"""Graph traversals as text: one node per line, `?` before edges matched by name only."""

from collections.abc import Iterator, Sequence

from prism_contracts.code import EdgeStatus
from prism_contracts.rpc.graph import (
    DependenciesReply,
    ExternalModule,
    FileDependency,
)
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    NODE_CHARS,
    answer,
    edge_text,
    plain,
)
from prism_gateway.mcp.answers.impacts import fit_rows
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer


def fit_dependencies(reply: DependenciesReply, max_tokens: int) -> int:
    """Returns the number of files per direction that fit."""
    rest = sum(len(module.module) + NODE_CHARS for module in reply.externals)
    rest += sum(len(path) for cycle in reply.cycles for path in cycle)
    return fit_rows(
        [[_dependency_cost(one) for one in side] for side in (reply.uses, reply.used_by)], max_tokens, rest
    )


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
