"""Callers and callees as text: grouped by file, each call with its line, then whether they are complete."""

from collections.abc import Iterator

from prism_contracts.code import EdgeStatus, Strategy
from prism_contracts.rpc.graph import CallDirection, CallHierarchyReply, TreeBranch
from prism_gateway.budget import chars, fit
from prism_gateway.mcp.answers.graph_parts import (
    EDGE_CHARS,
    answer,
    cut_branches,
    lines_cost,
    node_cost,
    nodes_line,
    other_meaning_lines,
    others_lines,
    plain,
    plain_all,
    rows_of_roots,
    sentence,
    stop_lacks,
    stop_lines,
    tests_account,
    text_account,
    text_lacks,
    texts_of,
    unresolved_lines,
    within_file,
)
from prism_gateway.mcp.answers.level_parts import (
    levels_account,
    levels_cost,
    levels_lack,
    levels_left_out,
    levels_lines,
)
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.answers.receipts import receipt_json
from prism_gateway.mcp.tool import Answer, Json

# What the symbols are whose callers are compared with the text.
LISTED = "calling"


def fit_calls(reply: CallHierarchyReply, max_tokens: int) -> int:
    """Returns the number of branches that fit. Parents come first, so the fitting branches form a tree."""
    texts = texts_of(reply.source_lines)
    costs = [
        node_cost(branch.node)
        + EDGE_CHARS
        + lines_cost(branch.via.file_path or branch.node.file_path, branch.via.lines, texts)
        for branch in reply.branches
    ]
    unresolved = reply.in_text.unexplained_lines if reply.in_text else ()
    rest = sum(len(line.file_path) + len(line.text) for line in unresolved)
    rest += levels_cost(reply.levels_in_text)
    return fit([0] * len(costs), costs, max(0, chars(max_tokens) - rest), 0).kept


def call_hierarchy(reply: CallHierarchyReply, max_tokens: int) -> Answer:
    """Returns the first branches of the tree, and the lines that no edge explains."""
    branches = cut_branches(reply.branches, fit_calls(reply, max_tokens))
    structured: Json = {
        "roots": plain_all(reply.roots),
        "direction": reply.direction.value,
        "branches": plain_all(branches),
        "total": reply.total,
        "other_uses": {kind.value: count for kind, count in reply.other_uses.items()},
        "others": plain_all(reply.others),
        "next_cursor": reply.next_cursor,
        "receipt": receipt_json(reply.receipt),
    }
    if reply.in_text:
        structured["in_text"] = reply.in_text.model_dump(mode="json")
    if reply.levels_in_text:
        structured["levels_in_text"] = plain(reply.levels_in_text)
    if reply.stored:
        structured["stored"] = plain_all(reply.stored)
    if reply.stops:
        structured["stops"] = plain_all(reply.stops)
    if reply.matched:
        structured["matched"] = reply.matched
    if len(branches) < len(reply.branches):
        structured["truncated"] = True
    lines = [
        f"{reply.direction.value} of {nodes_line(reply.roots)}",
        *reply.notes,
        *_sections(reply, branches),
        *_stored(reply),
        *unresolved_lines(reply.in_text),
        *other_meaning_lines(reply.in_text),
        *levels_lines(reply.levels_in_text, LISTED),
        *stop_lines(reply.stops),
        *_other_uses(reply),
        *others_lines(reply.others, reply.matched),
        _completeness(reply, sum(branch.depth == 1 for branch in branches)),
    ]
    return answer(structured, lines, reply.receipt, reply.next_cursor)


def _sections(reply: CallHierarchyReply, branches: tuple[TreeBranch, ...]) -> Iterator[str]:
    """Returns the branches of the root by certainty, tests apart."""
    texts = texts_of(reply.source_lines)
    for title, status, test, stored in (
        ("", EdgeStatus.RESOLVED, False, False),
        ("in tests:", EdgeStatus.RESOLVED, True, False),
        ("through a field in which it is stored (?):", EdgeStatus.CANDIDATE, False, True),
        ("through a field in which it is stored (?), in tests:", EdgeStatus.CANDIDATE, True, True),
        ("by name only (?):", EdgeStatus.CANDIDATE, False, False),
        ("by name only (?), in tests:", EdgeStatus.CANDIDATE, True, False),
    ):
        rows = [
            position
            for position, branch in enumerate(branches)
            if branch.depth == 1
            and branch.via.status is status
            and branch.node.test == test
            and _is_by_field(branch) == stored
        ]
        if reply.direction is CallDirection.CALLERS:
            rows.sort(key=lambda position: _place(branches[position]))
        if rows:
            yield from filter(None, [title])
            yield from rows_of_roots(rows, branches, texts)


def _is_by_field(branch: TreeBranch) -> bool:
    """Whether a call is of a field that may hold the function."""
    return branch.via.strategy is Strategy.STORED


def _stored(reply: CallHierarchyReply) -> Iterator[str]:
    """Returns where the function is stored in a field, and what calls of the field may run it."""
    if reply.stored:
        yield "stored in a field:"
        for place in reply.stored:
            struct, _, position = place.field.partition("#")
            field = f"field {int(position) + 1} of {struct}" if position else f".{place.field}"
            yield f"  {place.node.file_path}:{place.line} in {field}, {within_file(place.node)}"


def _place(branch: TreeBranch) -> tuple[str, int]:
    return branch.node.file_path, branch.node.line


def _other_uses(reply: CallHierarchyReply) -> Iterator[str]:
    if reply.other_uses:
        others = ", ".join(f"{kind.value} {count}" for kind, count in reply.other_uses.items())
        yield f"Other uses: {others} (find_references lists them)."


def _completeness(reply: CallHierarchyReply, shown: int) -> str:
    what = reply.direction.value
    upwards = reply.direction is CallDirection.CALLERS
    name = reply.roots[0].symbol.rpartition(".")[2] or reply.roots[0].file_path
    more = reply.total - shown
    by_field = sum(branch.depth == 1 and _is_by_field(branch) for branch in reply.branches)
    by_name = max(0, reply.candidates - by_field)
    lacks = [
        f"{by_name} of the {reply.total} {what} match by name only (?)" if by_name else "",
        f"{by_field} of the {reply.total} {what} are through a field that may hold another function (?)"
        if by_field
        else "",
        f"{more} of the {reply.total} {what} are on other pages" if more else "",
        *stop_lacks(reply.stops),
    ]
    tests = tests_account(reply.tests_left_out, what.removesuffix("s"))
    if not upwards:
        account = [f"{several(reply.total, 'direct callee')} in the repository", tests]
        return sentence(lacks, "; ".join(filter(None, account)), reply.stops)
    lacks += text_lacks(reply.in_text)
    levels = reply.levels_in_text
    lacks += levels_lack(levels, LISTED) if levels else ()
    unsure = reply.in_text.candidates if reply.in_text else 0
    if unsure and not levels and not reply.candidates:
        lacks.append(f"{several(unsure, 'use')} other than calls match by name only (find_references)")
    direct = several(reply.total, "direct caller") if reply.total else "no direct caller"
    account = [
        direct,
        tests,
        text_account(reply.in_text, name),
        levels_account(levels, LISTED) if levels else "",
    ]
    is_deep = any(branch.depth > 1 for branch in reply.branches)
    whole = "; ".join(filter(None, account))
    if levels and levels.names_left_out and is_deep:
        compared = f"callers within {levels.levels + 1} levels" if levels.levels else "direct callers"
        return sentence(lacks, whole, reply.stops, compared, levels_left_out(levels))
    return sentence(lacks, whole, reply.stops, "direct callers" if is_deep and not levels else "")
