"""Orders the rows of a picture so that few lines cross, and spreads them. Takes and returns numbers.

Each vertex goes to the mean of its neighbours in the row above, then of those below, some times over; the order
with the fewest crossings is kept.
"""

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final

SWEEPS: Final = 10

Rows = list[list[int]]
# The pairs of an upper and a lower vertex between a row and the next.
Steps = Sequence[Sequence[tuple[int, int]]]


def ordered(rows: Rows, steps: Steps) -> Rows:
    """Returns the rows with the same vertices, in an order with few crossings."""
    best, fewest = rows, crossings(rows, steps)
    above, below = neighbours(steps)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        rows = _swept(rows, above if sweep % 2 == 0 else below, is_down=sweep % 2 == 0)
        crossed = crossings(rows, steps)
        if crossed < fewest:
            best, fewest = rows, crossed
    return best


def crossings(rows: Rows, steps: Steps) -> int:
    """Returns how many pairs of lines cross between rows."""
    place = {vertex: position for row in rows for position, vertex in enumerate(row)}
    found = 0
    for step in steps:
        passed: list[int] = []
        for _, lower in sorted((place[upper], place[lower]) for upper, lower in step):
            found += len(passed) - bisect_right(passed, lower)
            insort(passed, lower)
    return found


def neighbours(steps: Steps) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
    """Returns the neighbours of each vertex in the row above, and in the row below."""
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for step in steps:
        for upper, lower in step:
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def spread(wanted: Sequence[float], widths: Sequence[float], room: float) -> list[float]:
    """Returns the left edges of boxes in a row: in order, within the room, near the wanted ones.

    The sum of squared distances to the wanted left edges is the least that is possible.
    """
    starts = list(accumulate(widths, initial=0.0))
    slack = max(0.0, room - starts.pop())
    pulled = _rising([left - start for left, start in zip(wanted, starts, strict=True)])
    return [min(max(left, 0.0), slack) + start for left, start in zip(pulled, starts, strict=True)]


def _swept(rows: Rows, beside: Mapping[int, list[int]], *, is_down: bool) -> Rows:
    swept = list(rows)
    place: dict[int, float] = {}
    for number in range(len(rows)) if is_down else reversed(range(len(rows))):
        own = {vertex: (at + 0.5) / len(rows[number]) for at, vertex in enumerate(rows[number])}
        goal = {
            vertex: sum(place[one] for one in found) / len(found) if (found := beside.get(vertex)) else at
            for vertex, at in own.items()
        }
        swept[number] = sorted(rows[number], key=goal.__getitem__)
        place |= {vertex: (at + 0.5) / len(swept[number]) for at, vertex in enumerate(swept[number])}
    return swept


def _rising(values: Sequence[float]) -> list[float]:
    """Returns the rising sequence that is nearest to the values: neighbours that fall are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            more, others = blocks.pop()
            total, count = total + more, count + others
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
