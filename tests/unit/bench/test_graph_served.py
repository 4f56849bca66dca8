"""The comparison of two checkouts that serve the graph."""

from bench.graph_served import table


def test_table_has_medians_and_the_change_of_the_last_checkout() -> None:
    runs = {
        "other": [{"find_path, p95 ms": value} for value in (10.0, 40.0, 20.0)],
        "this": [{"find_path, p95 ms": value} for value in (30.0, 25.0, 10.0)],
    }
    assert list(table(runs))[-1] == "| find_path, p95 ms | 20.0 | 25.0 | +25 % |"


def test_one_checkout_alone_has_no_change() -> None:
    assert list(table({"this": [{"seconds": 3.0}]}))[-1] == "| seconds | 3.0 |  |"
