"""The picture of components in layers: where boxes and lines are."""

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from prism_gateway.console.drawing.fitting import PADDING_PX, fitted, width_of
from prism_gateway.console.drawing.layered import NODES_MAX, MapBox, MapDrawing, MapLink, MapNode, draw
from prism_gateway.console.drawing.ordering import crossings, ordered, spread


@st.composite
def graphs(pick: st.DrawFn) -> tuple[list[MapNode], list[MapLink]]:
    """Any components with any links, cycles and links by name only included."""
    count = pick(st.integers(0, NODES_MAX))
    names = st.text(max_size=40) | st.from_regex(r"[a-z]{1,9}(/[a-z]{1,12}){0,4}", fullmatch=True)
    nodes = [MapNode(pick(names), pick(st.integers(0, 5_000))) for _ in range(count)]
    if not count:
        return nodes, []
    node = st.integers(0, count - 1)
    links = st.builds(MapLink, node, node, st.integers(0, 900), st.integers(0, 90))
    return nodes, pick(st.lists(links, max_size=pick(st.sampled_from([3, 40, 200]))))


def overlap(one: MapBox, other: MapBox) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def drawn(pairs: list[tuple[int, int]], count: int = 4) -> MapDrawing:
    nodes = [MapNode(f"part{number}", 1) for number in range(count)]
    return draw(nodes, [MapLink(source, target, 5) for source, target in pairs])


@given(graphs())
def test_no_two_boxes_overlap(graph: tuple[list[MapNode], list[MapLink]]) -> None:
    drawing = draw(*graph)
    for number, box in enumerate(drawing.boxes):
        assert box.node == number
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= drawing.width
        assert box.y + box.height <= drawing.height
        assert not any(overlap(box, other) for other in drawing.boxes[:number])


@given(graphs())
def test_a_line_begins_and_ends_at_its_boxes(graph: tuple[list[MapNode], list[MapLink]]) -> None:
    drawing = draw(*graph)
    assert len(drawing.curves) == sum(link.source != link.target for link in graph[1])
    for curve in drawing.curves:
        for node, (x, y) in ((curve.link.source, curve.begin), (curve.link.target, curve.end)):
            box = drawing.boxes[node]
            assert box.x < x < box.x + box.width
            assert min(abs(y - box.y), abs(y - box.y - box.height)) < 0.2
        numbers = [float(found) for found in re.findall(r"\d+(?:\.\d+)?", curve.path)]
        assert (numbers[0], numbers[1]) == curve.begin
        assert numbers[-1] == curve.end[1]
        assert max(numbers) <= max(drawing.width, drawing.height)


@given(graphs(), st.randoms(use_true_random=False))
def test_the_same_graph_gives_the_same_picture(
    graph: tuple[list[MapNode], list[MapLink]], dice: random.Random
) -> None:
    nodes, links = graph
    assert draw(nodes, links) == draw(list(nodes), list(links))
    mixed = dice.sample(links, len(links))  # the order of the links decides about no layer
    assert [box.y for box in draw(nodes, mixed).boxes] == [box.y for box in draw(nodes, links).boxes]


@given(graphs())
def test_a_component_is_above_what_it_needs(graph: tuple[list[MapNode], list[MapLink]]) -> None:
    drawing = draw(*graph)
    for curve in drawing.curves:
        if curve.is_sure and not curve.is_cycle:
            assert drawing.boxes[curve.link.source].y < drawing.boxes[curve.link.target].y


def test_members_of_a_cycle_share_a_layer_and_its_lines_are_marked() -> None:
    drawing = drawn([(0, 1), (1, 2), (2, 1), (2, 3)])
    top, one, other, bottom = (box.y for box in drawing.boxes)
    assert top < one == other < bottom
    assert {(curve.link.source, curve.link.target) for curve in drawing.curves if curve.is_cycle} == {
        (1, 2),
        (2, 1),
    }


def test_a_link_by_name_only_moves_no_box_and_closes_no_cycle() -> None:
    nodes = [MapNode("a", 1), MapNode("b", 1)]
    certain = draw(nodes, [MapLink(0, 1, 5)])
    guessed = draw(nodes, [MapLink(0, 1, 5), MapLink(1, 0, 0, candidates=9)])
    assert guessed.boxes == certain.boxes
    assert [(curve.is_sure, curve.is_cycle) for curve in guessed.curves] == [(False, False), (True, False)]


def test_a_line_passes_beside_the_boxes_of_a_row() -> None:
    drawing = drawn([(0, 1), (1, 2), (0, 2)], count=3)
    (long,) = (curve for curve in drawing.curves if (curve.link.source, curve.link.target) == (0, 2))
    box = drawing.boxes[1]
    (channel,) = re.findall(rf"([\d.]+) {box.y:g}V", long.path)
    assert not box.x <= float(channel) <= box.x + box.width


def test_lines_are_thicker_with_more_references() -> None:
    nodes = [MapNode(name, 1) for name in "abc"]
    drawing = draw(nodes, [MapLink(0, 1, 1), MapLink(0, 2, 400)])
    thin, thick = sorted(curve.thickness for curve in drawing.curves)
    assert thin < thick / 2


def test_an_order_without_crossings_is_found() -> None:
    rows, steps = [[0, 1, 2], [3, 4, 5]], [[(0, 5), (1, 4), (2, 3)]]
    assert crossings(rows, steps) == 3
    assert crossings(ordered(rows, steps), steps) == 0


@given(st.lists(st.tuples(st.floats(-500, 500), st.floats(1, 90)), max_size=20), st.floats(0, 2_000))
def test_spread_boxes_keep_their_order_and_their_space(
    boxes: list[tuple[float, float]], slack: float
) -> None:
    wanted, widths = [left for left, _ in boxes], [width for _, width in boxes]
    left = spread(wanted, widths, sum(widths) + slack)
    assert all(at >= 0 for at in left)
    for number in range(1, len(left)):
        assert left[number] >= left[number - 1] + widths[number - 1] - 1e-6
    if left:
        assert left[-1] + widths[-1] <= sum(widths) + slack + 1e-6


@given(st.text(max_size=60), st.floats(0, 300))
def test_a_name_is_cut_to_its_box(name: str, width: float) -> None:
    text = fitted(name, width)
    assert width_of(text) <= max(width, 0)
    assert text == name or width_of(name) > width


def test_a_path_keeps_its_end() -> None:
    assert fitted("services/gateway/console", 100 - PADDING_PX) == "…/console"
    assert fitted("services/gateway_console", 100 - PADDING_PX) == "…eway_console"
    assert fitted("ConnectionPoolSettings", 100 - PADDING_PX) == "ConnectionPo…"
    assert not fitted("anything", 5)
