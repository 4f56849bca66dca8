"""Which levels of an impact are compared with the text, and which of their uses the answer does not list."""

from datetime import UTC, datetime

import numpy as np
import pytest
from atlas_files import graph_of

from prism_atlas.core.answering.call_hierarchy import call_hierarchy
from prism_atlas.core.answering.common import one_symbol
from prism_atlas.core.answering.impact import impact_of_symbol
from prism_atlas.core.level_checks import (
    NAMES_MAX,
    affected_listing,
    callers_listing,
    compared_levels,
    names_of,
    sought_levels,
)
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import CallHierarchyRequest, ImpactRequest
from prism_contracts.rpc.symbols import Reconciliation, TextLine

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECEIPT = GraphReceipt(
    repo="acme/parcels", indexed_commit="a" * 40, head_commit="a" * 40, lag_seconds=0, indexed_at=NOW, corpus_version=1,
    files_indexed=2, files_skipped=0, files_failed=0, graph_commit="a" * 40, graph_version=1, graph_built_at=NOW,
)  # fmt: skip
DEPOT = "def tare():\n    return 1\n\n\ndef weigh():\n    return tare()\n"
VAN = (
    "from depot import weigh\n\n\nclass Van:\n    def __init__(self):\n        weigh()\n\n"
    "    def load(self):\n        return weigh()\n"
)
TOWN = (
    "from van import Van\n\n\ndef run():\n    return Van().load()\n\n\ndef guess(one):\n    return one.load()\n\n\n"
    "class Ship:\n    def load(self):\n        return 2\n"
)


def impact(files: dict[str, str], depth: int):
    graph = graph_of(files)
    request = ImpactRequest(tenant="t", symbol="tare", depth=depth, limit=200)
    resolved_name = one_symbol(graph, "acme/parcels", "tare", "")
    ranks = np.zeros(graph.nodes, np.float32)
    return graph, impact_of_symbol(graph, ranks, resolved_name, request, RECEIPT)


@pytest.mark.parametrize(("depth", "names"), [(1, []), (2, ["weigh"]), (3, ["weigh", "Van.load", "Van"])])
def test_the_names_of_all_levels_but_the_last_are_compared(depth, names):
    _, reply = impact({"depot.py": DEPOT, "van.py": VAN, "town.py": TOWN}, depth)
    sought = sought_levels(affected_listing(reply))
    assert (sorted(names_of(sought)), sought.levels, sought.left_out) == (sorted(names), depth - 1, 0)


def test_a_level_with_too_many_names_is_left_out_with_those_after_it():
    many = "".join(f"def f{number}():\n    return weigh()\n\n\n" for number in range(NAMES_MAX))
    files = {"depot.py": DEPOT, "many.py": f"from depot import weigh\n\n\n{many}"}
    _, reply = impact(files, 3)
    sought = sought_levels(affected_listing(reply))
    assert (names_of(sought), sought.levels, sought.left_out) == (["weigh"], 1, NAMES_MAX)


def test_uses_by_name_that_are_not_followed_are_counted():
    graph, reply = impact({"depot.py": DEPOT, "van.py": VAN, "town.py": TOWN}, 3)
    assert "guess" not in [one.node.symbol for one in reply.affected]
    line = TextLine(repo="acme/parcels", file_path="cron.py", line=3, text="plan(van.load)")
    text = Reconciliation(
        name="load",
        resolved=1,
        candidates=0,
        elsewhere=0,
        text_lines=2,
        unexplained=1,
        unexplained_lines=(line,),
        files=1,
    )
    compared = compared_levels(
        graph,
        affected_listing(reply),
        sought_levels(affected_listing(reply)),
        [text, text.model_copy(update={"name": "Van", "unexplained": 0, "unexplained_lines": ()})],
    )
    assert (compared.by_name, compared.by_name_of) == (1, ("load",))
    assert [(one.file_path, one.line, one.enclosing.name) for one in compared.by_name_lines] == [
        ("town.py", 9, "guess")
    ]
    assert (compared.text_lines, compared.unexplained, compared.unexplained_lines) == (4, 1, (line,))
    assert compared.unexplained_of == ("load",)


def test_lines_that_are_not_followed_count_once_for_all_their_names():
    twice = "\n\ndef both(one):\n    return one.load(), one.load(), one.weighs()\n"
    weighs = "from depot import weigh\n\n\ndef weighs():\n    return weigh()\n"
    ship = "\n\nclass Scale:\n    def weighs(self):\n        return 3\n"
    graph, reply = impact(
        {"depot.py": DEPOT, "van.py": VAN, "town.py": TOWN + twice, "weighs.py": weighs, "ship.py": ship}, 3
    )
    listing = affected_listing(reply)
    line = TextLine(repo="acme/parcels", file_path="cron.py", line=3, text="plan(van.load, weighs)")
    texts = [
        Reconciliation(
            name=name, resolved=1, candidates=0, elsewhere=0, text_lines=2, unexplained=1, unexplained_lines=(line,), files=1
        )
        for name in ("load", "weighs")
    ]  # fmt: skip
    compared = compared_levels(graph, listing, sought_levels(listing), texts)
    assert [one.line for one in compared.by_name_lines] == [18, 9]
    assert (compared.by_name, set(compared.by_name_of)) == (2, {"load", "weighs"})
    assert (compared.unexplained, compared.unexplained_lines) == (1, (line,))


def callers(files: dict[str, str], symbol: str, depth: int):
    graph = graph_of(files)
    request = CallHierarchyRequest(tenant="t", symbol=symbol, depth=depth)
    return graph, callers_listing(call_hierarchy(graph, request, RECEIPT), depth)


def test_callers_are_compared_up_to_the_level_before_the_last():
    _, listing = callers({"depot.py": DEPOT, "van.py": VAN, "town.py": TOWN}, "tare", 3)
    sought = sought_levels(listing)
    assert (sorted(names_of(sought)), sought.levels) == (["Van", "Van.load", "weigh"], 2)


def test_uses_by_name_other_than_calls_of_the_root_are_shown():
    files = {
        "Scale.java": "class Scale { int tare() { return 1; } }\n",
        "Ship.java": "class Ship { int tare() { return 2; } }\n",
        "Van.java": "class Van {\n  void plan() { var one = made().tare; }\n  void load() { made().tare(); }\n}\n",
    }
    graph, listing = callers(files, "Scale.tare", 1)
    compared = compared_levels(graph, listing._replace(users=()), sought_levels(listing), [])
    assert [(one.file_path, one.line) for one in compared.by_name_lines] == [("Van.java", 2)]
