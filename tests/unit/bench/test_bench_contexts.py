"""What the benchmark of contexts counts as found."""

from bench.agents.questions import Place
from bench.contexts import Case, Shares, key_of, report, runs, shares_of

CASE = Case(
    "commits",
    "commits/app",
    "Retry later",
    (Place(path="a.py", start=3, end=5), Place(path="b.py", start=9, end=9)),
)


def item(path: str, start: int, content: str) -> dict[str, object]:
    return {"file_path": path, "start_line": start, "end_line": start + 40, "content": content}


def test_changed_lines_are_places_of_consecutive_lines() -> None:
    found = [(place.start, place.end) for place in runs("a.py", {7, 3, 4, 9, 5})]
    assert found == [(3, 5), (7, 7), (9, 9)]


def test_only_lines_that_are_shown_are_found() -> None:
    assert shares_of(CASE, [item("a.py", 1, "1\n2")]) == Shares(0.5, 0.0)
    assert shares_of(CASE, [item("a.py", 1, "1\n2\n3"), item("b.py", 9, "9")]) == Shares(1.0, 1.0)
    assert shares_of(CASE, []) == Shares(0.0, 0.0)


def test_each_way_to_ask_has_a_line_with_the_shares_of_each_budget() -> None:
    arms = (
        "get_context, fast",
        "get_context, deep",
        "get_context, deep, code only",
        "search, 10 hits",
        "search, 100 hits",
    )
    found = {
        key_of("commits", budget, arm): Shares(share, share / 2)._asdict()
        for arm in arms
        for budget, share in ((1_000, 0.5), (2_000, 1.0))
    }
    times = {"asked": 1, "p50": 5.0, "p95": 12.0, "p99": 12.0, "max": 12.0}
    shown = report(
        {"asked": {"commits": 1}, "ms": dict.fromkeys(("fast", "cached", "deep"), times), "shares": found},
        [1_000, 2_000],
    )
    assert "| cached | 5 ms | 12 ms | 15 ms |" in shown
    assert "| get_context, deep | 50.0% | 25.0% | 100.0% | 50.0% |" in shown
