"""The cuts of an outline become chunks that partition the rows of a file.

A chunk ends at a cut, as shallow and as near to the target size as the window of the hard maximum allows.
Rows without a cut are cut at their blank or least indented row. A row longer than the maximum is its own
chunk.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from prism_chunker.core.lines import TextRows
from prism_chunker.core.model import Cut, ParsedFile
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Chunk, Symbol

CHUNK_CHARS_MAX = 3_000
CHUNK_LINES_MAX = 60
CHUNK_CHARS_TARGET = 2_000
CHUNK_CHARS_MIN = 400


def make_chunks(lines: TextRows, outline: ParsedFile) -> tuple[Chunk, ...]:
    """Returns the chunks of the file, each with its symbol."""
    owner = _Owners(outline.symbols)
    return tuple(
        _chunk(ordinal, first, end, lines, owner)
        for ordinal, (first, end) in enumerate(_ranges(lines, outline.cuts))
    )


def _chunk(ordinal: int, first: int, end: int, lines: TextRows, owner: "_Owners") -> Chunk:
    symbol = owner.of(*_trimmed(first, end, lines))
    return Chunk(
        ordinal=ordinal,
        start_line=first + 1,
        end_line=end,
        text=lines.slice(first, end),
        symbol=symbol.qualified_name if symbol else "",
        kind=symbol.kind if symbol else None,
    )


def _trimmed(first: int, end: int, lines: TextRows) -> tuple[int, int]:
    """Returns the lines (1-based, inclusive) without the blank rows at both ends."""
    while first < end - 1 and lines.is_blank(first):
        first += 1
    while end - 1 > first and lines.is_blank(end - 1):
        end -= 1
    return first + 1, end


class _Owners:
    """Finds the symbol of a chunk: the innermost one around it, else the first one that begins in it.

    If several begin in it, a type or a callable is preferred to a value.
    """

    def __init__(self, symbols: tuple[Symbol, ...]) -> None:
        self._symbols = sorted(symbols, key=lambda symbol: (symbol.start_line, -symbol.end_line))
        self._starts = [symbol.start_line for symbol in self._symbols]
        self._outer = _enclosing(self._symbols)

    def of(self, first: int, last: int) -> Symbol | None:
        begin = bisect_left(self._starts, first)
        after = bisect_right(self._starts, first)
        return self._around(after - 1, last) or self._within(begin, bisect_right(self._starts, last))

    def _around(self, index: int, last: int) -> Symbol | None:
        while index >= 0 and self._symbols[index].end_line < last:
            index = self._outer[index]
        return self._symbols[index] if index >= 0 else None

    def _within(self, begin: int, end: int) -> Symbol | None:
        inside = self._symbols[begin:end]
        weighty = (symbol for symbol in inside if symbol.kind in TYPE_KINDS or symbol.kind in CALLABLE_KINDS)
        return next(weighty, inside[0] if inside else None)


def _enclosing(symbols: list[Symbol]) -> list[int]:
    """Returns for each symbol, in order of its first line, the position of its parent, or -1."""
    outer: list[int] = []
    stack: list[int] = []
    for index, symbol in enumerate(symbols):
        while stack and symbols[stack[-1]].end_line < symbol.end_line:
            stack.pop()
        outer.append(stack[-1] if stack else -1)
        stack.append(index)
    return outer


def _ranges(lines: TextRows, cuts: list[Cut]) -> Iterator[tuple[int, int]]:
    """Returns half-open ranges of rows, one per chunk."""
    rows = [cut.row for cut in cuts]
    first = 0
    while first < lines.count:
        limit = _limit(lines, first)
        window = cuts[bisect_right(rows, first) : bisect_right(rows, limit)]
        end = _end(lines, first, limit, _depth_at(cuts, rows, first), window)
        yield first, end
        first = end


def _limit(lines: TextRows, first: int) -> int:
    """Returns the last row before which a chunk that begins at `first` may end, at least one row later."""
    by_size = bisect_right(lines.offsets, lines.offsets[first] + CHUNK_CHARS_MAX) - 1
    return max(first + 1, min(by_size, first + CHUNK_LINES_MAX, lines.count))


def _depth_at(cuts: list[Cut], rows: list[int], row: int) -> int:
    index = bisect_right(rows, row) - 1
    return cuts[index].depth if index >= 0 else 0


def _end(lines: TextRows, first: int, limit: int, depth: int, window: list[Cut]) -> int:
    leaving = next((c.row for c in window if c.depth < depth and _is_big(lines, first, c.row)), None)
    if leaving is not None:
        limit = leaving
        window = [cut for cut in window if cut.row <= limit]
    if limit == lines.count:
        window = [*window, Cut(limit, depth)]
    ends = [cut.row for cut in window if cut.depth <= depth] or _shallowest(lines, first, window)
    return _nearest_to_target(lines, first, ends) if ends else _quiet_row(lines, first, limit)


def _is_big(lines: TextRows, first: int, end: int) -> bool:
    return lines.size(first, end) >= CHUNK_CHARS_MIN


def _shallowest(lines: TextRows, first: int, window: list[Cut]) -> list[int]:
    """Returns the rows of the shallowest cuts that leave a chunk of the minimum size, if any."""
    useful = [cut for cut in window if _is_big(lines, first, cut.row)] or window
    depth = min((cut.depth for cut in useful), default=0)
    return [cut.row for cut in useful if cut.depth == depth]


def _nearest_to_target(lines: TextRows, first: int, ends: list[int]) -> int:
    """Returns the last end within the target size, or the first beyond it if the rest would be too small."""
    within = [end for end in ends if lines.size(first, end) <= CHUNK_CHARS_TARGET]
    beyond = ends[len(within) :]
    if within and (_is_big(lines, first, within[-1]) or not beyond):
        return within[-1]
    return beyond[0]


def _quiet_row(lines: TextRows, first: int, limit: int) -> int:
    """Returns where to cut rows without syntax: after a blank row if there is one, else before the least
    indented.
    """
    half = first + (limit - first + 1) // 2
    return max(range(half, limit + 1), key=lambda row: _quietness(lines, row), default=limit)


def _quietness(lines: TextRows, row: int) -> tuple[bool, int, int]:
    if row == lines.count:
        return True, 1, row
    text = lines[row]
    return lines.is_blank(row - 1), len(text.lstrip()) - len(text), row
