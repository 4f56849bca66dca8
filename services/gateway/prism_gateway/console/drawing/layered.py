"""Draws components and their dependencies in layers. Takes names and counts, returns boxes and curves.

A component is above what it depends on. Those that depend on each other share a layer, and their links are marked.
Links by name only move no box. Boxes never overlap; a link that passes a row has a channel between its boxes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log1p, sqrt
from typing import Final, NamedTuple

from prism_gateway.console.drawing.fitting import PADDING_PX, fitted, width_of
from prism_gateway.console.drawing.ordering import Rows, neighbours, ordered, spread
from prism_gateway.console.drawing.rows import groups_of, layers_of, rows_of

NODES_MAX: Final = 60
MARGIN: Final = 10.0
GAP: Final = 16.0
ROW_WIDTH: Final = 980.0
ROW_GAP_MIN: Final = 44.0
ROW_GAP_MAX: Final = 110.0
ROW_GAP_BY_LINE: Final = 1.6
CHANNEL_WIDTH: Final = 8.0
BOX_WIDTH_MIN: Final = 92.0
BOX_WIDTH_MAX: Final = 178.0
BOX_HEIGHT_MIN: Final = 38.0
BOX_HEIGHT_MAX: Final = 74.0
LINE_MIN: Final = 1.0
LINE_MAX: Final = 4.0
PULLS: Final = 8

Point = tuple[float, float]


class MapNode(NamedTuple):
    """A component: its name, and its number of files."""

    name: str
    files: int


class MapLink(NamedTuple):
    """One component uses another, both by position. Without references the link is by name only."""

    source: int
    target: int
    references: int
    candidates: int = 0


class MapBox(NamedTuple):
    """The place of a component, and as much of its name as fits."""

    node: int
    x: float
    y: float
    width: float
    height: float
    text: str


class MapCurve(NamedTuple):
    """A line from the edge of one box to the edge of another. `path` is in the notation of SVG."""

    link: MapLink
    begin: Point
    end: Point
    path: str
    thickness: float
    is_sure: bool
    is_cycle: bool


class MapDrawing(NamedTuple):
    """A picture with its size in pixels. Boxes are in the order of the components."""

    width: float
    height: float
    boxes: list[MapBox]
    curves: list[MapCurve]


class _Row(NamedTuple):
    """A row from above: where it begins and ends."""

    top: float
    bottom: float


class _Frame(NamedTuple):
    """What lines go by: the row of each vertex, where its space begins, and the boxes."""

    row_of: Mapping[int, _Row]
    left: Mapping[int, float]
    boxes: list[MapBox]

    def centre(self, vertex: int) -> float:
        """Returns the middle of a box or channel."""
        if vertex < len(self.boxes):
            return self.boxes[vertex].x + self.boxes[vertex].width / 2
        return round(self.left[vertex] + CHANNEL_WIDTH / 2, 1)


class _Route(NamedTuple):
    """A link as vertices: its source, the channels that it passes, its target."""

    link: MapLink
    vertices: list[int]


def draw(nodes: Sequence[MapNode], links: Sequence[MapLink]) -> MapDrawing:
    """Returns the picture of up to `NODES_MAX` components. The same input gives the same picture."""
    drawn = [link for link in links if link.source != link.target]
    sure = [(link.source, link.target) for link in drawn if link.references]
    sizes = _sizes(nodes)
    widths = [_width(node, sizes) for node in range(len(nodes))]
    layers = layers_of(len(nodes), sure)
    rows = [row for layer in layers for row in rows_of(layer, widths, ROW_WIDTH)]
    routes, rows, steps = _routes(rows, drawn, len(nodes))
    rows = ordered(rows, steps)
    left = _lefts(rows, steps, sizes)
    right = max((left[vertex] + _width(vertex, sizes) for row in rows for vertex in row), default=0.0)
    places = _places(rows, steps, sizes)
    frame = _Frame(
        {vertex: place for row, place in zip(rows, places, strict=True) for vertex in row},
        left,
        _boxes(nodes, rows, places, left, sizes),
    )
    curves = _curves(routes, frame, groups_of(len(nodes), sure))
    bottom = places[-1].bottom if places else 0.0
    lowest = set(rows[-1]) if rows else set()
    is_dipping = any({link.source, link.target} <= lowest for link in drawn)
    height = bottom + (ROW_GAP_MIN if is_dipping else MARGIN)
    return MapDrawing(round(right + MARGIN, 1), round(height, 1), frame.boxes, curves)


def _sizes(nodes: Sequence[MapNode]) -> list[tuple[float, float]]:
    """Returns the width of each box, by its name, and the height, by its files."""
    most = max((node.files for node in nodes), default=0) or 1
    return [
        (
            min(max(width_of(node.name) + 2 * PADDING_PX, BOX_WIDTH_MIN), BOX_WIDTH_MAX),
            BOX_HEIGHT_MIN + (BOX_HEIGHT_MAX - BOX_HEIGHT_MIN) * sqrt(max(0, node.files) / most),
        )
        for node in nodes
    ]


def _routes(
    rows: Rows, links: Iterable[MapLink], count: int
) -> tuple[list[_Route], Rows, list[list[tuple[int, int]]]]:
    """Returns the links as vertices, the rows with their channels, and the pairs between rows.

    Links that pass a row on their way to the same box share a channel.
    """
    rows = [list(row) for row in rows]
    row_of = {node: number for number, row in enumerate(rows) for node in row}
    channels: dict[tuple[int, bool, int], int] = {}
    steps: list[list[tuple[int, int]]] = [[] for _ in rows[1:]]
    routes = []
    for link in links:
        first, last = row_of[link.source], row_of[link.target]
        is_down = first < last
        vertices = [link.source]
        for number in range(first + 1, last) if is_down else range(first - 1, last, -1):
            key = (link.target, is_down, number)
            if key not in channels:
                channels[key] = count + len(channels)
                rows[number].append(channels[key])
            vertices.append(channels[key])
        vertices.append(link.target)
        routes.append(_Route(link, vertices))
        if first != last:
            numbers = range(first, last) if is_down else range(first - 1, last - 1, -1)
            for number, one, other in zip(numbers, vertices, vertices[1:], strict=False):
                steps[number].append((one, other) if is_down else (other, one))
    return routes, rows, [list(dict.fromkeys(step)) for step in steps]


def _width(vertex: int, sizes: Sequence[tuple[float, float]]) -> float:
    """Returns how wide a box with the space around it is, or a channel."""
    return sizes[vertex][0] + GAP if vertex < len(sizes) else CHANNEL_WIDTH


def _lefts(
    rows: Rows, steps: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[tuple[float, float]]
) -> dict[int, float]:
    """Returns where the space of each vertex begins, near the middle of its neighbours."""
    widths = [[_width(vertex, sizes) for vertex in row] for row in rows]
    room = max(map(sum, widths), default=0.0)
    above, below = neighbours(steps)
    left: dict[int, float] = {}
    for row, own in zip(rows, widths, strict=True):
        left |= dict(zip(row, spread([(room - sum(own)) / 2] * len(row), own, room), strict=True))
    for pull in range(PULLS):
        numbers = range(len(rows)) if pull % 2 == 0 else reversed(range(len(rows)))
        for number in numbers:
            wanted = [
                _middle(vertex, (*above.get(vertex, ()), *below.get(vertex, ())), left, sizes)
                for vertex in rows[number]
            ]
            left |= dict(zip(rows[number], spread(wanted, widths[number], room), strict=True))
    return {vertex: at + MARGIN for vertex, at in left.items()}


def _middle(
    vertex: int, beside: Sequence[int], left: Mapping[int, float], sizes: Sequence[tuple[float, float]]
) -> float:
    """Returns the left edge that puts a vertex at the middle of others; its own if there are none."""
    if not beside:
        return left[vertex]
    centre = sum(left[one] + _width(one, sizes) / 2 for one in beside) / len(beside)
    return centre - _width(vertex, sizes) / 2


def _places(
    rows: Rows, steps: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[tuple[float, float]]
) -> list[_Row]:
    """Returns where each row begins and ends. Rows with many lines between them are farther apart."""
    places: list[_Row] = []
    top = MARGIN
    for number, row in enumerate(rows):
        height = max(sizes[vertex][1] for vertex in row if vertex < len(sizes))
        places.append(_Row(round(top, 1), round(top + height, 1)))
        lines = len(steps[number]) if number < len(steps) else 0
        top += height + min(ROW_GAP_MIN + ROW_GAP_BY_LINE * lines, ROW_GAP_MAX)
    return places


def _boxes(
    nodes: Sequence[MapNode],
    rows: Rows,
    places: Sequence[_Row],
    left: Mapping[int, float],
    sizes: Sequence[tuple[float, float]],
) -> list[MapBox]:
    made = {}
    for row, place in zip(rows, places, strict=True):
        for vertex in row:
            if vertex < len(nodes):
                width, height = sizes[vertex]
                text = fitted(nodes[vertex].name, width - 2 * PADDING_PX)
                made[vertex] = MapBox(
                    vertex,
                    round(left[vertex] + GAP / 2, 1),
                    place.top,
                    round(width, 1),
                    round(height, 1),
                    text,
                )
    return [made[node] for node in range(len(nodes))]


def _curves(routes: Sequence[_Route], frame: _Frame, group: Sequence[int]) -> list[MapCurve]:
    ports = _ports(routes, frame)
    most = max((route.link.references for route in routes), default=0) or 1
    curves = []
    for number, route in enumerate(routes):
        link, (begin, end) = route.link, ports[number]
        is_sure = link.references > 0
        share = log1p(link.references) / log1p(most) if is_sure else 0.0
        curves.append(
            MapCurve(
                link,
                begin,
                end,
                _path_of(route, begin, end, frame),
                round(LINE_MIN + (LINE_MAX - LINE_MIN) * share, 1),
                is_sure,
                is_cycle=is_sure and group[link.source] == group[link.target],
            )
        )
    # Certain links are drawn over guesses, and cycles over all.
    return sorted(curves, key=lambda curve: (curve.is_sure, curve.is_cycle))


def _path_of(route: _Route, begin: Point, end: Point, frame: _Frame) -> str:
    first, last = frame.row_of[route.link.source], frame.row_of[route.link.target]
    if first == last:
        return _dip(begin, end, first.bottom + ROW_GAP_MIN)
    is_down = first.top < last.top
    points = [begin, (begin[0], first.bottom if is_down else first.top)]
    for vertex in route.vertices[1:-1]:
        x, row = frame.centre(vertex), frame.row_of[vertex]
        points += [(x, y) for y in ((row.top, row.bottom) if is_down else (row.bottom, row.top))]
    return _path([*points, (end[0], last.top if is_down else last.bottom), end])


def _ports(routes: Sequence[_Route], frame: _Frame) -> list[tuple[Point, Point]]:
    """Returns where each route meets its two boxes: spread along the edge, in the order of where it goes."""
    ends: dict[tuple[int, bool], list[tuple[float, int]]] = defaultdict(list)
    for number, (link, vertices) in enumerate(routes):
        first, last = frame.row_of[link.source].top, frame.row_of[link.target].top
        ends[link.source, first > last].append((frame.centre(vertices[1]), number))
        ends[link.target, first < last].append((frame.centre(vertices[-2]), number))
    ports: dict[tuple[int, int], Point] = {}
    for (node, is_top), found in ends.items():
        box = frame.boxes[node]
        for place, (_, number) in enumerate(sorted(found), 1):
            x = round(box.x + box.width * place / (len(found) + 1), 1)
            ports[number, node] = (x, round(box.y if is_top else box.y + box.height, 1))
    return [
        (ports[number, route.link.source], ports[number, route.link.target])
        for number, route in enumerate(routes)
    ]


def _path(points: Sequence[Point]) -> str:
    """Returns a path through points that leaves and meets each of them vertically."""
    parts = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        if x == to_x:
            parts.append(f"V{_number(to_y)}" if y != to_y else "")
        else:
            half = _number((y + to_y) / 2)
            parts.append(f"C{_number(x)} {half} {_number(to_x)} {half} {_number(to_x)} {_number(to_y)}")
    return "".join(parts)


def _dip(begin: Point, end: Point, low: float) -> str:
    """Returns a path between two boxes of a row that runs below them."""
    return (
        f"M{_number(begin[0])} {_number(begin[1])}"
        f"C{_number(begin[0])} {_number(low)} {_number(end[0])} {_number(low)} {_number(end[0])} {_number(end[1])}"
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
