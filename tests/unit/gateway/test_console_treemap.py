"""The picture of files by rank: cells within folders."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prism_gateway.console.drawing.fitting import width_of
from prism_gateway.console.drawing.treemap import (
    CELLS_MAX,
    FOLDERS_MAX,
    SHARE_MIN,
    Rectangle,
    TreeDrawing,
    TreeFile,
    draw_tree,
    squarified,
)

SLACK = 1e-6
PATHS = st.from_regex(r"[a-e]{1,2}(/[a-d]{1,3}){0,4}\.py", fullmatch=True) | st.text(max_size=30)
FILES = st.lists(
    st.builds(TreeFile, PATHS, st.floats(0, 1)), max_size=CELLS_MAX, unique_by=lambda file: file.path
)


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one.x < other.x + other.width - SLACK
        and other.x < one.x + one.width - SLACK
        and one.y < other.y + other.height - SLACK
        and other.y < one.y + one.height - SLACK
    )


def holds(outer: Rectangle, inner: Rectangle) -> bool:
    return (
        outer.x - SLACK <= inner.x
        and outer.y - SLACK <= inner.y
        and inner.x + inner.width <= outer.x + outer.width + SLACK
        and inner.y + inner.height <= outer.y + outer.height + SLACK
    )


def drawn(*paths: str) -> TreeDrawing:
    return draw_tree([TreeFile(path, 1.0) for path in paths])


@given(FILES)
def test_each_file_is_a_cell_of_its_folder_and_none_overlap(files: list[TreeFile]) -> None:
    drawing = draw_tree(files)
    cells = [cell for folder in drawing.folders for cell in folder.cells]
    assert sorted(cell.file for cell in cells) == list(range(len(files)))
    for folder in drawing.folders:
        assert holds(Rectangle(0, 0, drawing.width, drawing.height), folder.place)
        for cell in folder.cells:
            assert holds(folder.place, cell.place)
            assert files[cell.file].path.startswith(folder.path.removesuffix("/"))
    for number, cell in enumerate(cells):
        assert not any(overlap(cell.place, other.place) for other in cells[:number])


@given(FILES)
def test_a_name_is_shown_where_it_fits(files: list[TreeFile]) -> None:
    for folder in draw_tree(files).folders:
        assert width_of(folder.text) <= folder.place.width
        for cell in folder.cells:
            assert cell.text in ("", files[cell.file].path.rpartition("/")[2])
            assert width_of(cell.text) <= cell.place.width


@given(FILES)
@example([TreeFile("a", 2.2250738585072014e-308), TreeFile("b", 0.0)])
def test_the_same_files_give_the_same_picture(files: list[TreeFile]) -> None:
    assert draw_tree(files) == draw_tree(list(files))


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=60))
def test_areas_are_in_proportion(areas: list[float]) -> None:
    areas = sorted(areas, reverse=True)
    places = squarified(areas, Rectangle(10, 20, 400, 300))
    scale = 400 * 300 / sum(areas)
    for area, place in zip(areas, places, strict=True):
        assert place.width * place.height == pytest.approx(area * scale, rel=1e-6)


def test_equal_areas_are_near_squares() -> None:
    for place in squarified([1.0] * 12, Rectangle(0, 0, 400, 300)):
        assert 0.7 < place.width / place.height < 1.5


def test_a_file_without_rank_can_be_clicked() -> None:
    drawing = draw_tree([TreeFile("a/core.py", 1.0), TreeFile("a/rest.py", 0.0)])
    smallest = min(cell.place.width * cell.place.height for cell in drawing.folders[0].cells)
    assert smallest > SHARE_MIN * drawing.width * drawing.height / 2


def test_folders_are_as_deep_as_their_number_allows() -> None:
    assert {folder.path for folder in drawn("a/b/x.py", "a/c/y.py", "z.py").folders} == {"a/b/", "a/c/", "/"}
    many = drawn(*(f"src/part{number}/x.py" for number in range(FOLDERS_MAX + 1)))
    assert [folder.path for folder in many.folders] == ["src/"]
