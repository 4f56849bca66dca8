"""Finds a shortest cycle through a node, to show a strongly connected group as a path."""

from collections import deque
from collections.abc import Mapping, Sequence


def shortest_cycle(start: int, targets: Mapping[int, Sequence[int]]) -> list[int]:
    """Returns a shortest path from a node back to itself, both ends included; empty if there is none."""
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for target in targets.get(node, ()):
            if target == start:
                return _cycle_path(start, node, came_from)
            if target not in came_from:
                came_from[target] = node
                waiting.append(target)
    return []


def _cycle_path(start: int, last: int, came_from: Mapping[int, int]) -> list[int]:
    path = [start, last] if last != start else [start]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1] if last != start else [start, start]
