"""What of a context fits into a budget."""

from prism_contracts.rpc.context import Domain
from prism_scribe.core.bundle import CHARS_PER_TOKEN, beginning, best_lines, bundle
from prism_scribe.core.places import ContextPlace, ContextPlaces


def place(path: str, line: int = 1, score: float = 0.5, **fields: object) -> ContextPlace:
    values = {
        "domain": Domain.CODE,
        "repo": "acme/app",
        "file_path": path,
        "start_line": line,
        "end_line": line + 9,
        "content": "x = 1\n" * 10,
        "score": score,
        "round": 1,
        "why": ("matches the question in code",),
    }
    return ContextPlace(**(values | fields))


def test_items_fit_the_budget_and_keep_their_order() -> None:
    places = [place(f"src/{number:02}.py", score=1 - number / 100) for number in range(50)]
    for max_tokens in (100, 400, 1_000):
        found = bundle(places, (), max_tokens)
        shown = sum(len(item.content) + len(item.file_path) + len(item.why) for item in found.items)
        assert shown <= max_tokens * CHARS_PER_TOKEN
        assert [item.file_path for item in found.items] == [f"src/{n:02}.py" for n in range(len(found.items))]
        assert found.truncated


def test_one_place_is_shown_however_small_the_budget() -> None:
    (item,) = bundle([place("a.py", content="y" * 10_000)], (), 100).items
    assert 0 < len(item.content) < 1_000


def test_a_small_context_is_whole() -> None:
    found = bundle([place("a.py"), place("b.py")], (), 4_000)
    assert [item.content for item in found.items] == ["x = 1\n" * 10] * 2
    assert not found.truncated


def test_a_further_place_of_a_file_comes_after_a_slightly_worse_one_of_another() -> None:
    places = [place("a.py", 1, 0.9), place("a.py", 50, 0.89), place("b.py", 1, 0.8)]
    assert [item.file_path for item in bundle(places, (), 4_000).items] == ["a.py", "b.py", "a.py"]


def test_a_text_is_cut_between_lines() -> None:
    assert beginning("one\ntwo\nthree\n", 9) == "one\ntwo"
    assert beginning("abcdef", 3) == "abc"


def test_the_lines_in_a_row_with_most_words_are_chosen() -> None:
    text = "def weigh(depot):\n    lock()\n    crane = depot.crane\n    return crane.weigh(depot)\n"
    assert best_lines(text, {"crane"}, 30) == (2, "    crane = depot.crane")
    assert best_lines(text, {"crane", "weig"}, 30) == (3, "    return crane.weigh(depot)\n")
    # The beginning, if no line has a word, or as many; everything, if it fits.
    assert (
        best_lines(text, {"parcel"}, 30)
        == best_lines(text, {"depot"}, 30)
        == (0, "def weigh(depot):\n    lock()")
    )
    assert best_lines(text, {"crane"}, len(text)) == (0, text)


def test_a_place_after_the_first_ones_begins_at_the_line_that_is_shown() -> None:
    places = [
        place(f"src/{number}.py", line=11, score=1 - number / 100, content="x = 1\n" * 80 + "crane = 2\n")
        for number in range(9)
    ]
    items = bundle(places, ("crane",), 1_000).items
    assert [items[0].start_line, items[-1].start_line] == [11, 11 + 69]
    assert "crane" in items[-1].content


def test_of_two_places_that_overlap_the_better_one_stays_with_both_reasons() -> None:
    places = ContextPlaces([place("a.py", 1, 0.4), place("a.py", 30, 0.3)])
    assert not places.add(place("a.py", 5, 0.6, round=2, why=("calls Depot.weigh",), is_named=True))
    best = places.best()
    assert [(one.start_line, one.round, one.is_named) for one in best] == [(5, 1, True), (30, 1, False)]
    assert best[0].why == ("calls Depot.weigh", "matches the question in code")


def test_the_same_lines_of_another_repository_are_another_place() -> None:
    places = ContextPlaces([place("a.py")])
    assert places.add(place("a.py", repo="acme/other"))
