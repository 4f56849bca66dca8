"""Supertypes or subtypes as rows: one per type, by file, tests apart. Details are dropped before types."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, SymbolKind
from prism_contracts.rpc.graph import GraphNode, TreeBranch
from prism_gateway.mcp.answers.graph_parts import LineTexts, call_lines, mark, within_file

ANONYMOUS = "anonymous class"


class RowDetail(IntEnum):
    """What a row shows beside the place of its type."""

    NONE = 0
    DECLARATION = 1
    MEMBERS = 2


class TypeRow(NamedTuple):
    """A type; `over` is the type between it and the requested one, empty for a direct one."""

    branch: TreeBranch
    over: str


class ShownRows(NamedTuple):
    """The lines of the rows that fit."""

    lines: list[str]
    kept: int
    detail: RowDetail


def rows_of(tree: Sequence[TreeBranch]) -> list[TypeRow]:
    """Returns each type of a tree once: code before tests, each file's types together, the nearest file first."""
    files: dict[tuple[bool, str], list[TypeRow]] = {}
    for branch in tree:
        if branch.same_as < 0 and not branch.recursive:
            over = tree[branch.parent].node.symbol if branch.parent >= 0 else ""
            files.setdefault((branch.node.test, branch.node.file_path), []).append(TypeRow(branch, over))
    return [row for _, rows in sorted(files.items(), key=lambda item: item[0][0]) for row in rows]


def fitting_rows(rows: Sequence[TypeRow], texts: LineTexts, room: int) -> ShownRows:
    """Returns all rows with as much detail as fits into some characters; else those that fit without any."""
    for detail in reversed(RowDetail):
        lines = list(_lines(rows, texts, detail))
        if _size(lines) <= room:
            return ShownRows(lines, len(rows), detail)
    kept = len(rows)
    while kept > 1 and _size(_lines(rows[:kept], texts, RowDetail.NONE)) > room:
        kept -= 1
    return ShownRows(list(_lines(rows[:kept], texts, RowDetail.NONE)), kept, RowDetail.NONE)


def _size(lines: Iterator[str] | Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _lines(rows: Sequence[TypeRow], texts: LineTexts, detail: RowDetail) -> Iterator[str]:
    usual = usual_kind(rows)
    for test, of_kind in groupby(rows, key=lambda row: row.branch.node.test):
        if test:
            yield "in tests:"
        for path, found in groupby(of_kind, key=lambda row: row.branch.node.file_path):
            yield path
            for row in found:
                yield from _row_lines(row, texts, detail, usual)


def usual_kind(rows: Sequence[TypeRow]) -> SymbolKind | None:
    """Returns the kind of most types; other kinds are named beside their types."""
    kinds = Counter(row.branch.node.kind for row in rows if row.branch.node.kind in TYPE_KINDS)
    return kinds.most_common(1)[0][0] if kinds else None


def kind_of(node: GraphNode) -> str:
    """Returns the kind of a type. A function or a variable is no type: it holds a class that has no name."""
    return node.kind.value if node.kind and node.kind in TYPE_KINDS else ANONYMOUS


def _kind_before(node: GraphNode, usual: SymbolKind | None) -> str:
    if node.kind is None or node.kind is usual:
        return ""
    return f"{node.kind.value} " if node.kind in TYPE_KINDS else f"{ANONYMOUS}, held by "


def _row_lines(row: TypeRow, texts: LineTexts, detail: RowDetail, usual: SymbolKind | None) -> Iterator[str]:
    branch = row.branch
    name = f"{mark(branch.via.status)} {_kind_before(branch.node, usual)}{within_file(branch.node)}"
    indirect = f" (indirect, over {row.over})" if row.over else ""
    if detail is RowDetail.NONE:
        yield f"{name}{indirect}"
        return
    path = branch.via.file_path or branch.node.file_path
    behind, below = call_lines(branch.via, path, texts, "  ")
    yield f"{name}{indirect}{behind}"
    yield from below
    if detail is RowDetail.MEMBERS:
        yield from (f"    overriding: {within_file(node)}" for node in branch.overrides)
