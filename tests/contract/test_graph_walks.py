"""Traversals of the graph: the real atlas and the real search, on real NATS and the real local store."""

from functools import partial

import pytest

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import LINES, FileRange, LinesRequest
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    TYPE_HIERARCHY,
    CallDirection,
    CallHierarchyRequest,
    DependenciesRequest,
    DiffState,
    FindPathRequest,
    ImpactRequest,
    TypeHierarchyRequest,
)
from prism_contracts.rpc.symbols import REFERENCES, ReferencesRequest

pytest_plugins = ["graph_town"]

FILES = {
    "parcels/rates.py": "import decimal\n\n\ndef rate(zone):\n    return decimal.Decimal(zone)\n\n\ndef tax(zone):\n    return 1\n",
    "parcels/depot.py": (
        "from .rates import rate\n\n\n"
        "class Depot:\n    def close(self):\n        rate(1)\n\n    def ship(self):\n        self.close()\n"
    ),
    "parcels/hub.py": "from .depot import Depot\n\n\nclass Hub(Depot):\n    def close(self):\n        pass\n",
    "parcels/plans.py": 'STEPS = ["tax"]\n\n\ndef run(steps):\n    return [globals()[step] for step in steps if step(1)]\n'
    "\n\ndef guess(van):\n    return van.weigh()\n",
    "tests/test_scales.py": "def test_it_weighs(scale):\n    assert scale.weigh()\n",
    "gates/open.rs": "pub trait OpensGates {\n    fn open(&self);\n}\n",
    "gates/all.rs": (
        "use crate::open::OpensGates;\n\nmacro_rules! opener {\n    ($name:ident, $body:block) => {\n"
        "        pub struct $name;\n        impl OpensGates for $name {\n            fn open(&self) $body\n        }\n"
        "    };\n}\n\nopener!(Barrier, {\n    lift()\n});\n\nopener!(Boom, {});\n\nfn lift() {}\n"
    ),
    "parcels/scales.py": (
        "def tare():\n    return 1\n\n\nclass Scale:\n    def weigh(self):\n        return tare()\n\n\n"
        "class Bridge:\n    def weigh(self):\n        return 2\n"
    ),
    "tests/test_depot.py": "from parcels.depot import Depot\n\n\ndef test_it_ships():\n    Depot().ship()\n",
}
DIFF = """\
--- a/parcels/rates.py
+++ b/parcels/rates.py
@@ -4,2 +4,2 @@
 def rate(zone):
-    return decimal.Decimal(zone)
+    return decimal.Decimal(zone) + 1
"""


@pytest.fixture
async def ask(town):
    await town.import_(1, FILES)
    async with town.atlas(), town.search():
        await town.built(1)

        async def ask(rpc, request):
            return await town.answer(partial(town.ask, rpc, request))

        yield ask


def calls(symbol, **more):
    return CALL_HIERARCHY, CallHierarchyRequest(tenant="any", symbol=symbol, **more)


def impact(**asked):
    return IMPACT, ImpactRequest(tenant="any", **asked)


async def test_every_traversal_names_the_commit_of_the_graph(ask):
    callers = await ask(*calls("rate"))
    assert [(branch.node.symbol, branch.depth) for branch in callers.branches] == [
        ("Depot.close", 1),
        ("Depot.ship", 2),
    ]
    callees = await ask(*calls("Depot.ship", direction=CallDirection.CALLEES))
    assert [branch.node.symbol for branch in callees.branches] == ["Depot.close", "rate", "Hub.close"]
    request = TypeHierarchyRequest(tenant="any", symbol="Depot", include_members=True)
    types = await ask(TYPE_HIERARCHY, request)
    assert [(branch.node.symbol, branch.overrides[0].symbol) for branch in types.subtypes] == [
        ("Hub", "Hub.close")
    ]
    request = DependenciesRequest(tenant="any", path="parcels.rates")
    files = await ask(DEPENDENCIES, request)
    assert [one.file_path for one in files.used_by] == ["parcels/depot.py"]
    assert [module.module for module in files.externals] == ["decimal"]
    request = FindPathRequest(tenant="any", source="Depot.ship", target="rate")
    path = await ask(FIND_PATH, request)
    assert [node.symbol for node in path.paths[0].nodes] == ["Depot.ship", "Depot.close", "rate"]
    assert {reply.receipt.graph_commit for reply in (callers, callees, types, files, path)} == {"c1"}


async def test_callers_are_compared_with_the_text(ask):
    reply = await ask(*calls("tax", with_text=True))
    assert reply.total == 0
    assert reply.in_text.mentions == 1  # in a string, and called by that
    assert [line.file_path for line in reply.in_text.mention_lines] == ["parcels/plans.py"]
    assert (await ask(*calls("rate"))).in_text is None
    reply = await ask(*calls("rate", with_text=True))
    assert [(line.file_path, line.line, line.text) for line in reply.source_lines] == [
        ("parcels/depot.py", 6, "rate(1)"),
        ("parcels/depot.py", 9, "self.close()"),
    ]
    assert (reply.in_text.resolved, reply.in_text.unexplained) == (2, 0)


async def test_callers_of_callers_are_compared_with_the_text(ask):
    levels = (await ask(*calls("rate", with_text=True))).levels_in_text
    assert (levels.levels, levels.names, levels.text_lines, levels.by_name) == (1, 1, 3, 0)
    callees = await ask(*calls("run", direction=CallDirection.CALLEES, with_text=True))
    assert callees.levels_in_text is None


async def test_uses_by_name_of_affected_symbols_are_shown_with_their_text(ask):
    levels = (await ask(*impact(symbol="tare", with_text=True))).levels_in_text
    assert [(line.file_path, line.line, line.text) for line in levels.by_name_lines] == [
        ("parcels/plans.py", 9, "return van.weigh()")
    ]


async def test_lines_of_tests_by_name_only_are_read(ask):
    reply = await ask(*impact(symbol="Scale.weigh", with_text=True))
    lines = {(line.file_path, line.line): line.text for line in reply.source_lines}
    assert lines["tests/test_scales.py", 2] == "assert scale.weigh()"


async def test_the_lines_of_a_path_and_of_subtypes_are_read(ask):
    request = FindPathRequest(tenant="any", source="Depot.ship", target="rate", with_text=True)
    path = await ask(FIND_PATH, request)
    assert [(line.line, line.text) for line in path.source_lines] == [(6, "rate(1)"), (9, "self.close()")]
    types = await ask(TYPE_HIERARCHY, TypeHierarchyRequest(tenant="any", symbol="Depot", with_text=True))
    assert [line.text for line in types.source_lines] == ["class Hub(Depot):"]
    assert types.in_text.unexplained == 0
    reply = await ask(*impact(symbol="rate", with_text=True))
    assert [line.text for line in reply.source_lines] == ["rate(1)", "self.close()"]
    levels = reply.levels_in_text
    assert (levels.levels, levels.names, levels.unexplained, levels.by_name) == (2, 2, 0, 0)
    assert (await ask(*impact(symbol="rate"))).levels_in_text is None


async def test_calls_of_a_macro_that_implements_a_trait_are_subtypes(ask):
    reply = await ask(TYPE_HIERARCHY, TypeHierarchyRequest(tenant="any", symbol="OpensGates", with_text=True))
    (found,) = reply.by_macros
    assert (found.macro.symbol, found.line, found.text) == ("opener", 6, "impl OpensGates for $name")
    assert [(call.name, call.start_line, call.end_line) for call in found.calls] == [
        ("Barrier", 12, 14),
        ("Boom", 16, 16),
    ]
    other = TypeHierarchyRequest(tenant="any", symbol="Depot", with_text=True)
    assert (await ask(TYPE_HIERARCHY, other)).by_macros == ()


async def test_a_use_in_a_call_of_a_macro_shows_the_call(ask):
    reply = await ask(REFERENCES, ReferencesRequest(tenant="any", symbols=("lift",)))
    (entry,) = reply.answers[0].entries
    assert (entry.line, entry.symbol) == (13, "")
    around = entry.enclosing
    assert (around.name, around.kind, around.start_line, around.end_line) == ("opener!", "macro call", 12, 14)


async def test_callees_list_calls_without_an_edge(ask):
    reply = await ask(*calls("run", direction=CallDirection.CALLEES, with_text=True))
    stored, outside = (stop for stop in reply.stops)
    assert [line.text for line in stored.lines] == ["return [globals()[step] for step in steps if step(1)]"]
    assert [line.text for line in outside.lines] == ["globals"]


async def test_lines_of_another_version_are_not_read(ask):
    ranges = (
        FileRange(file_path="parcels/hub.py", start_line=4, end_line=5),
        FileRange(file_path="parcels/hub.py", start_line=4, end_line=4, generation="other"),
        FileRange(file_path="parcels/none.py", start_line=1, end_line=1),
    )
    reply = await ask(LINES, LinesRequest(tenant="any", ranges=ranges))
    assert reply.texts == ("class Hub(Depot):\n    def close(self):", None, None)


async def test_an_unknown_symbol_gets_similar_names(ask):
    error = await ask(*calls("depot_close"))
    assert isinstance(error, PrismError)
    assert error.code is ErrorCode.SYMBOL_NOT_FOUND
    assert any(one.startswith("Depot.close ") for one in error.body.details["suggestions"])
    error = await ask(*calls("close"))
    assert error.code is ErrorCode.SYMBOL_AMBIGUOUS
    assert error.body.details["total"] == 2


async def test_the_nearest_name_answers_for_a_misspelt_one(ask):
    reply = await ask(*calls("raet"))
    assert [node.symbol for node in reply.roots] == ["rate"]
    assert reply.receipt.corrected == {"raet": "rate"}
    error = await ask(*calls("closee"))
    assert error.code is ErrorCode.SYMBOL_AMBIGUOUS
    assert str(error).startswith("No 'closee'; the nearest name is 'close'.")


async def test_a_diff_is_compared_with_the_indexed_text(ask):
    reply = await ask(*impact(diff=DIFF))
    assert (reply.depth, reply.test_depth) == (3, 20)
    assert [(file.state, file.applied) for file in reply.files] == [(DiffState.MODIFIED, False)]
    assert [one.node.symbol for one in reply.changed] == ["rate"]
    assert [one.node.symbol for one in reply.affected] == ["Depot.close", "Depot.ship"]
    assert [one.node.symbol for one in reply.tests] == ["test_it_ships"]
    reply = await ask(*impact(diff=DIFF.replace("-    return decimal", "-    return fractions")))
    assert [file.state for file in reply.files] == [DiffState.DOES_NOT_APPLY]
    assert reply.total_changed == reply.total_affected == 0


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"diff": "ship the parcels"}, ErrorCode.INVALID_ARGUMENT),
        ({"diff": DIFF.replace("a/parcels", "a/../parcels")}, ErrorCode.INVALID_PATH),
        ({"diff": DIFF, "symbol": "rate"}, ErrorCode.INVALID_ARGUMENT),
        ({}, ErrorCode.INVALID_ARGUMENT),
        ({"symbol": "rate", "cursor": "abc"}, ErrorCode.INVALID_CURSOR),
    ],
)
async def test_unanswerable_requests_are_errors(ask, asked, code):
    error = await ask(*impact(**asked))
    assert isinstance(error, PrismError)
    assert error.code is code


async def test_without_search_the_answer_marks_the_text_unchecked(town):
    await town.import_(1, FILES)
    async with town.atlas():
        await town.built(1)
        reply = await town.answer(partial(town.ask, *calls("tax", with_text=True)))
    assert reply.total == 0
    assert reply.in_text is None
    assert reply.receipt.missing_legs == ("text",)
