"""Draws files as cells whose areas are their ranks, by folder. Takes paths and ranks, returns rectangles.

Rectangles are squarified: each row of cells is filled as long as its cells come nearer to squares. A file of little
rank has an area that can still be seen and clicked.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from prism_gateway.console.drawing.fitting import LINE_PX, fitted, width_of

CELLS_MAX: Final = 120
FOLDERS_MAX: Final = 14
WIDTH: Final = 1_000.0
HEIGHT: Final = 520.0
HEADING_PX: Final = 17.0
PADDING_PX: Final = 4.0
GAP_PX: Final = 3.0
SHARE_MIN: Final = 0.003


class TreeFile(NamedTuple):
    """A file with its rank, on any scale."""

    path: str
    rank: float


class Rectangle(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


class TreeCell(NamedTuple):
    """A file by position, and its name if it fits."""

    file: int
    place: Rectangle
    text: str


class TreeFolder(NamedTuple):
    """A folder with its files, most rank first. `text` is empty without room for a heading."""

    path: str
    place: Rectangle
    text: str
    cells: list[TreeCell]


class TreeDrawing(NamedTuple):
    """A picture with its size in pixels."""

    width: float
    height: float
    folders: list[TreeFolder]


def draw_tree(files: Sequence[TreeFile]) -> TreeDrawing:
    """Returns the picture of up to `CELLS_MAX` files. The same input gives the same picture."""
    least = SHARE_MIN * sum(max(file.rank, 0.0) for file in files) or 1.0
    ranks = [max(file.rank, least) for file in files]
    members: dict[str, list[int]] = defaultdict(list)
    depth = _depth([file.path for file in files])
    for number, file in enumerate(files):
        members[_folder(file.path, depth)].append(number)
    whole = {path: sum(ranks[number] for number in own) for path, own in members.items()}
    paths = sorted(members, key=lambda path: (-whole[path], path))
    places = squarified([whole[path] for path in paths], Rectangle(0, 0, WIDTH, HEIGHT))
    folders = []
    for path, place in zip(paths, places, strict=True):
        own = sorted(members[path], key=lambda number: (-ranks[number], files[number].path))
        folders.append(_drawn(path, place, own, files, ranks))
    return TreeDrawing(WIDTH, HEIGHT, folders)


def squarified(areas: Sequence[float], room: Rectangle) -> list[Rectangle]:
    """Divides a rectangle by areas that fall, each above 0. Returns one rectangle per area, in their order."""
    total = sum(areas)
    # Shares first: the scale of the tiniest areas would be infinite.
    sizes = [area / total * room.width * room.height for area in areas]
    places: list[Rectangle] = []
    while sizes and min(room.width, room.height) > 0:
        count = _row_length(sizes, min(room.width, room.height))
        row, sizes = sizes[:count], sizes[count:]
        laid, room = _laid(row, room, is_last=not sizes)
        places += laid
    return places + [Rectangle(room.x, room.y, 0, 0)] * len(sizes)


def _drawn(
    path: str, place: Rectangle, own: Sequence[int], files: Sequence[TreeFile], ranks: Sequence[float]
) -> TreeFolder:
    inner = _inset(place, GAP_PX / 2)
    text = ""
    if inner.height >= 2 * HEADING_PX:
        text = fitted(path, inner.width - 2 * PADDING_PX)
    if text:
        inner = Rectangle(inner.x, inner.y + HEADING_PX, inner.width, inner.height - HEADING_PX)
    cells = []
    for number, found in zip(own, squarified([ranks[one] for one in own], inner), strict=True):
        cell = _rounded(_inset(found, 0.5))
        name = files[number].path.rpartition("/")[2]
        fits = cell.height >= LINE_PX and width_of(name) <= cell.width - 2 * PADDING_PX
        cells.append(TreeCell(number, cell, name if fits else ""))
    return TreeFolder(path, _rounded(place), text, cells)


def _depth(paths: Sequence[str]) -> int:
    """Returns the most parts of a path that a heading can have without too many folders."""
    deepest = max((path.count("/") for path in paths), default=0)
    fitting = [
        depth for depth in range(deepest + 1) if len({_folder(path, depth) for path in paths}) <= FOLDERS_MAX
    ]
    return max(fitting, default=0)


def _folder(path: str, depth: int) -> str:
    return "/".join(path.split("/")[:-1][:depth]) + "/"


def _row_length(sizes: Sequence[float], side: float) -> int:
    """Returns how many of the sizes make the row whose cells are nearest to squares."""
    worst = float("inf")
    for count, total in enumerate(accumulate(sizes), 1):
        depth = total / side
        # The first is the longest along the side, and the last the shortest.
        ratio = max(sizes[0] / depth / depth, depth * depth / sizes[count - 1])
        if ratio > worst:
            return count - 1
        worst = ratio
    return len(sizes)


def _laid(row: Sequence[float], room: Rectangle, *, is_last: bool) -> tuple[list[Rectangle], Rectangle]:
    """Lays a row of sizes along the shorter side. Returns its rectangles, and the room that is left."""
    is_column = room.width >= room.height
    side, long = (room.height, room.width) if is_column else (room.width, room.height)
    depth = long if is_last else min(sum(row) / side, long)
    ends = list(accumulate((size / sum(row) * side for size in row), initial=0.0))
    ends[-1] = side
    if is_column:
        laid = [Rectangle(room.x, room.y + start, depth, end - start) for start, end in pairwise(ends)]
        return laid, Rectangle(room.x + depth, room.y, room.width - depth, room.height)
    laid = [Rectangle(room.x + start, room.y, end - start, depth) for start, end in pairwise(ends)]
    return laid, Rectangle(room.x, room.y + depth, room.width, room.height - depth)


def _inset(place: Rectangle, by: float) -> Rectangle:
    by = min(by, place.width / 2, place.height / 2)
    return Rectangle(place.x + by, place.y + by, place.width - 2 * by, place.height - 2 * by)


def _rounded(place: Rectangle) -> Rectangle:
    """Rounds the edges, not the lengths, so that neighbours still do not overlap."""
    x, y = round(place.x, 1), round(place.y, 1)
    right, bottom = round(place.x + place.width, 1), round(place.y + place.height, 1)
    return Rectangle(x, y, max(0.0, round(right - x, 1)), max(0.0, round(bottom - y, 1)))
