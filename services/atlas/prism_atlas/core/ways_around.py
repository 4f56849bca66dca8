"""Cycles as paths: a group in which each needs all others is shown by a shortest way around."""

from collections import deque
from collections.abc import Mapping, Sequence


def way_around(start: int, targets: Mapping[int, Sequence[int]]) -> list[int]:
    """A shortest way from a node back to itself, both ends included; empty if there is none."""
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for target in targets.get(node, ()):
            if target == start:
                return _way_back(start, node, came_from)
            if target not in came_from:
                came_from[target] = node
                waiting.append(target)
    return []


def _way_back(start: int, last: int, came_from: Mapping[int, int]) -> list[int]:
    way = [start, last] if last != start else [start]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1] if last != start else [start, start]
