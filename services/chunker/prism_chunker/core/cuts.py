"""The rows where a file can be cut: before each syntax node, top-down, and inside nodes too big for a chunk.

Comments and attributes stay with the definition below them. No recursion: a tree may be as deep as the file
is long.
"""

from collections.abc import Iterator

from tree_sitter import Node

from prism_chunker.core.chunks import CHUNK_CHARS_MAX, CHUNK_LINES_MAX
from prism_chunker.core.comments import Leads
from prism_chunker.core.lines import TextRows
from prism_chunker.core.model import Cut
from prism_chunker.core.parse import Syntax

DEPTH_MAX = 60


def find_cuts(syntax: Syntax, lines: TextRows, leads: Leads, nodes_max: int) -> list[Cut]:
    """Returns cuts in ascending order of rows, at most one per row."""
    cuts: list[Cut] = []
    last = 0
    for node, depth in _big_and_between(syntax, lines, nodes_max):
        row = leads.first_row(node.start_point[0])
        if row > last:
            cuts.append(Cut(row, depth))
            last = row
    return cuts


def _big_and_between(syntax: Syntax, lines: TextRows, nodes_max: int) -> Iterator[tuple[Node, int]]:
    """Yields the nodes from the root down, in source order; descends only into nodes too big for a chunk."""
    pending = [(syntax.root, 0)]
    seen = 0
    while pending and seen < nodes_max:
        node, depth = pending.pop()
        seen += 1
        yield node, depth
        if depth < DEPTH_MAX and _is_too_big(node, lines):
            pending += [(child, depth + 1) for child in reversed(syntax.children(node))]


def _is_too_big(node: Node, lines: TextRows) -> bool:
    first, last = node.start_point[0], node.end_point[0]
    if last - first >= CHUNK_LINES_MAX:
        return True
    return last > first and lines.size(first, min(last + 1, lines.count)) > CHUNK_CHARS_MAX
