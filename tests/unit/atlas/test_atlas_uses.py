"""References from the graph equal references from the files, if all of them are read."""

import pytest
from atlas_files import blob_of, graph_of, source_file
from scip_files import At, columns_of, define, document, own

from prism_atlas.core.answering.helped_tests import HELPERS_MAX
from prism_atlas.core.answering.uses import uses
from prism_atlas.core.graph import Graph
from prism_contracts.code import EDGE_KINDS, EdgeKind, EdgeStatus, Strategy
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import DefinitionPlace, ReferenceGroup, UsesReply, UsesRequest
from prism_resolver.facts import with_qualifier_uses
from prism_resolver.occurrences import OccurrenceIndex, Occurrences
from prism_resolver.program import Program
from prism_resolver.unit import read_unit
from prism_runtime.packing import unpack_lines
from prism_search.core.references import edges as edges_module
from prism_search.core.references import text as text_module

PYTHON = {
    "depot/__init__.py": "from .base import Depot as Store\n",
    "depot/base.py": "class Depot:\n    def close(self): ...\n    def open(self):\n        self.close()\n",
    "door.py": "class Door:\n    def close(self): ...\n",
    "tests/test_depot.py": "from depot import Store\n\ndef test_it():\n    Store().close()\n",
    "make.py": "from depot import Store\n\ndef make() -> Store:\n    return Store()\n",
    "barn.py": "from depot import Store\n\nBarn = Store\n\ndef fill(barn: Barn):\n    barn.close()\n",
    "run.py": "from make import make\n\ndef run(x):\n    make().close()\n    x.close()\n    close()\n    Store.close(x)\n",
}
ECMASCRIPT = {
    "depot.ts": "export default class Depot {\n  open() { return this.weigh(); }\n  weigh() { return 1; }\n}\n",
    "shop.ts": "import Store from './depot';\nexport function shop(s: Store) { return s.weigh() + Store.name; }\n",
    "far.js": "import { shop as buy } from './shop';\nbuy(book.weigh());\n",
    "gate.ts": "import { shop } from './shop';\nfunction lock() {}\nexport { shop as trade, lock as shut };\n",
    "main.ts": "import { trade, shut } from './gate';\nshut(trade(1));\n",
    "yard.ts": "import Depot from './depot';\nimport { merge as shop } from 'far';\nimport lock from 'near';\nlock(shop(Depot));\n",
}
# `get` cannot be resolved: what `pick` returns is not known.
COMMONJS = {
    "check.js": "function check() {}\nfunction own() {}\nmodule.exports = { exist: check, get: check, own };\n",
    "main.js": "const one = require('./check');\none.exist();\nnext(one.exist);\npick(one).get();\n",
    "far.js": "other.get();\n",
}
C = {
    "depot.h": "int weigh(int parcel);\nstatic int own(int parcel);\n",
    "depot.c": '#include "depot.h"\nint weigh(int parcel) { return own(parcel); }\nstatic int own(int parcel) { return 1; }\n',
    "main.c": '#include "depot.h"\nstatic int own(int x) { return 2; }\nint main() { return weigh(own(1)); }\n',
}
C_PROGRAMS = {
    "gate.h": "void open(int n);\nstatic int width(int n);\n",
    "gate.c": '#include "gate.h"\nvoid open(int n) {}\nstatic int width(int n) { return n; }\nint f(void) { return width(1); }\n',
    "day.c": '#include "gate.h"\nvoid report(void) {}\nint main() { report(); open(1); return 0; }\n',
    "night.c": '#include "gate.h"\nvoid report(void) {}\nint main() { report(); return 0; }\n',
}
GO = {
    "depot.go": "package depot\n\ntype Depot struct{}\n\nfunc (d *Depot) Weigh() int { return 1 }\n",
    "shop.go": "package depot\n\nfunc shop(d *Depot, x any) int { return d.Weigh() + x.Weigh() }\n",
}
WEIGHERS = {
    "weigher.go": "package depot\n\ntype Weigher interface {\n\tWeigh() int\n}\n",
    "depot.go": GO["depot.go"],
    "shop.go": GO["shop.go"],
}
OVERLOADS = {
    "Depot.java": """\
class Depot {
  Depot(int size) {}
  Depot(String name) { }
  int weigh(String name) { return weigh(name, 1); }
  int weigh(String name, int deep) { return 1; }
  int weigh(Parcel parcel) { return weigh("far"); }
}
class Parcel { String name; }
class Gate { Gate(int width) {} }
""",
    "Shop.java": """\
class Shop {
  Depot depot = new Depot(4);
  int sum(Parcel one, Unknown other) { return depot.weigh(one) + depot.weigh("a", 2); }
  int rest(Unknown other) { return depot.weigh(other.any()); }
  Depot named() { return new Depot("far"); }
  Depot made(Unknown other) { return new Depot(other.any()); }
  Gate gate() { return new Gate(1); }
  java.util.function.Function<Parcel, Integer> scale() { return depot::weigh; }
}
""",
}
WEIGHER, WEIGHER_WEIGH = own("Weigher#"), own("Weigher#Weigh().")
DEPOT, DEPOT_WEIGH = own("Depot#"), own("Depot#Weigh().")
WEIGHED = [
    document("weigher.go", [define(WEIGHER, 2, 5, 12), define(WEIGHER_WEIGH, 3, 1, 6)]),
    document(
        "depot.go",
        [define(DEPOT, 2, 5, 10), define(DEPOT_WEIGH, 4, 16, 21)],
        [(DEPOT, WEIGHER), (DEPOT_WEIGH, WEIGHER_WEIGH)],
    ),
    document("shop.go", [At(DEPOT, 2, 13, 18)]),
]


def flags_of(path: str) -> str:
    return "t" if path.startswith("tests/") else ""


def source(path: str, text: str) -> edges_module.SourceFile:
    facts = with_qualifier_uses(source_file(path, text, flags_of(path)).facts)
    return edges_module.SourceFile(facts, read_unit(facts), text.split("\n"))


def by_graph(graph: Graph, path: str, qualified_name: str, name_line: int, **fields: object):
    place = DefinitionPlace(file_path=path, qualified_name=qualified_name, name_line=name_line)
    request = UsesRequest(
        tenant="t",
        name=qualified_name.rpartition(".")[2],
        definitions=(place,),
        **{"limit": 500, **fields},
    )
    return uses(graph, "acme/depot", request)


@pytest.mark.parametrize(
    ("texts", "documents"),
    [
        (PYTHON, ()),
        (ECMASCRIPT, ()),
        (COMMONJS, ()),
        (C, ()),
        (C_PROGRAMS, ()),
        (GO, ()),
        (WEIGHERS, WEIGHED),
    ],
    ids=["python", "ecmascript", "commonjs", "c", "programs of c", "go", "with an index"],
)
def test_graph_and_files_give_the_same_references(texts, documents):
    columns = columns_of(documents, {path: blob_of(text) for path, text in texts.items()})
    occurrences = Occurrences([OccurrenceIndex(columns, lambda path: f"id of {path}")])
    graph = graph_of(texts, {path: flags_of(path) for path in texts}, occurrences)
    files = [source(path, texts[path]) for path in sorted(texts)]
    for file in files:
        for symbol in file.symbols:
            definition = edges_module.DefinedSymbol(file, symbol)
            every = edges_module.Uses([definition], files, Program(occurrences)).edges()
            found = by_graph(graph, file.path, symbol.qualified_name, symbol.name_line)
            assert [(one.file_path, one.line, one.group, one.edge, one.status, one.strategy) for one in found.entries] == [
                (
                    edge.file.path, edge.reference.line, edges_module.group_of(edge), EDGE_KINDS[edge.reference.kind],
                    edge.status, edge.strategy,
                )
                for edge in every
            ]  # fmt: skip
            assert found.counts == edges_module.count_groups(every)
            assert found.elsewhere == edges_module.count_elsewhere(symbol.name, files, every)
            texts = text_module.as_texts(symbol.name, files, every, {})
            explained = {one.path: sorted(one.explained) for one in texts if one.explained}
            assert unpack_lines(found.explained) == explained
            assert used_by_path(found) == {one.path: one.used for one in texts if one.used}


def test_unresolved_use_under_an_exported_name_is_a_candidate_where_the_module_is_imported():
    graph = graph_of(COMMONJS)
    entries = by_graph(graph, "check.js", "check", 1).entries
    sure = {f"{one.file_path}:{one.line}" for one in entries if one.status is EdgeStatus.RESOLVED}
    possible = {f"{one.file_path}:{one.line}" for one in entries if one.status is EdgeStatus.CANDIDATE}
    assert (sure, possible) == ({"check.js:3", "main.js:2", "main.js:3"}, {"main.js:4"})


@pytest.mark.parametrize(
    ("name", "line", "one_overload", "found"),
    [
        ("Depot.weigh", 4, True, {"Depot.java:6": "", "Shop.java:4": "?", "Shop.java:8": "?"}),
        ("Depot.weigh", 5, True, {"Depot.java:4": "", "Shop.java:3": "", "Shop.java:8": "?"}),
        ("Depot.weigh", 6, True, {"Shop.java:3": "", "Shop.java:4": "?", "Shop.java:8": "?"}),
        ("Depot.weigh", 4, False, {"Depot.java:4": "#5", "Depot.java:6": "#4", "Shop.java:3": "#5#6", "Shop.java:4": "", "Shop.java:8": ""}),
        ("Depot.Depot", 2, True, {"Shop.java:2": "", "Shop.java:6": "?"}),
        ("Depot.Depot", 3, True, {"Shop.java:5": "", "Shop.java:6": "?"}),
        ("Depot.Depot", 2, False, {"Shop.java:2": "#2", "Shop.java:5": "#3", "Shop.java:6": ""}),
        ("Gate.Gate", 9, False, {"Shop.java:7": ""}),
    ],
)  # fmt: skip
def test_uses_of_one_overload_are_those_that_call_it_and_those_that_may(name, line, one_overload, found):
    graph = graph_of(OVERLOADS)
    entries = by_graph(graph, "Depot.java", name, line, one_overload=one_overload).entries
    shown: dict[str, str] = {}
    for one in entries:
        mark = "?" if one.status is EdgeStatus.CANDIDATE else "".join(reached(one.reaches))
        shown[f"{one.file_path}:{one.line}"] = mark
    assert shown == found
    assert all((one.strategy is Strategy.OVERLOAD) == (one.status is EdgeStatus.CANDIDATE) for one in entries)
    files = [source(path, OVERLOADS[path]) for path in sorted(OVERLOADS)]
    symbol = next(one for one in files[0].symbols if (one.qualified_name, one.name_line) == (name, line))
    definition = edges_module.DefinedSymbol(files[0], symbol)
    edges = edges_module.Uses([definition], files, one_overload=one_overload).edges()
    by_files: dict[str, set[str]] = {}
    for edge in edges:
        mark = "?" if edge.status is EdgeStatus.CANDIDATE else "".join(reached(edge.reaches))
        by_files.setdefault(f"{edge.file.path}:{edge.reference.line}", set()).add(mark)
    assert by_files.keys() == found.keys()
    assert {place: "".join(sorted(marks)) for place, marks in by_files.items()} == found


def test_call_of_an_object_uses_its_call_method():
    text = "class Depot:\n    def __call__(self): ...\n\ndef run(depot: Depot):\n    depot()\n"
    entries = by_graph(graph_of({"depot.py": text}), "depot.py", "Depot.__call__", 2).entries
    assert [(one.line, one.status) for one in entries] == [(5, EdgeStatus.RESOLVED)]


def reached(places: tuple[str, ...]) -> list[str]:
    return [f"#{place.rpartition(':')[2]}" for place in places]


@pytest.mark.parametrize(
    ("path", "text", "name", "line"),
    [
        ("depot.py", "class Depot:\n    def __init__(self): ...\n\nDepot()\n", "Depot.__init__", 2),
        ("depot.js", "class Depot {\n  constructor() {}\n}\nnew Depot();\n", "Depot.constructor", 2),
        ("depot.php", "<?php\nclass Depot { function __construct() {} }\n\nnew Depot();\n", "Depot.__construct", 2),
        ("depot.ts", "class Depot {\n  constructor(n: number) {}\n}\nnew Depot(1);\n", "Depot.constructor", 2),
        ("Depot.java", "class Depot {\n  Depot(int n) {}\n}\nclass U { Depot d = new Depot(1); }\n", "Depot.Depot", 2),
        ("depot.cs", "class Depot {\n  public Depot(int n) {}\n}\nclass U { object d = new Depot(1); }\n", "Depot.Depot", 2),
        ("depot.cpp", "struct Depot {\n  Depot(int n) {}\n};\nvoid f() { new Depot(1); }\n", "Depot.Depot", 2),
        ("depot.kt", "class Depot {\n  constructor(n: Int)\n}\nval d = Depot(1)\n", "Depot.constructor", 2),
        ("depot.swift", "class Depot {\n  init(n: Int) {}\n}\nfunc f() { Depot(n: 1) }\n", "Depot.init", 2),
        ("depot.rs", "struct Depot; impl Depot {\n  fn new() -> Self { Depot }\n}\nfn f() { Depot::new(); }\n", "Depot.new", 2),
        ("depot.rb", "class Depot\n  def initialize(n); end\nend\nDepot.new(1)\n", "Depot.initialize", 2),
    ],
)  # fmt: skip
def test_what_makes_an_object_uses_the_constructor(path, text, name, line):
    entries = by_graph(graph_of({path: text}), path, name, line).entries
    assert [(one.line, one.status) for one in entries] == [(4, EdgeStatus.RESOLVED)]


@pytest.mark.parametrize(
    ("path", "name", "line", "found"),
    [
        ("day.c", "report", 2, ["day.c:3"]),  # another program defines it again
        ("night.c", "report", 2, ["night.c:3"]),
        ("gate.h", "open", 1, ["day.c:3"]),
        ("gate.c", "open", 2, ["day.c:3"]),
        ("gate.h", "width", 2, ["gate.c:4"]),  # the only body, in another file
        ("gate.c", "width", 3, ["gate.c:4"]),
    ],
)
def test_function_of_c_is_one_symbol_with_its_declaration_and_not_with_another_body(path, name, line, found):
    graph = graph_of(C_PROGRAMS, dict.fromkeys(C_PROGRAMS, ""))
    entries = by_graph(graph, path, name, line).entries
    assert [f"{one.file_path}:{one.line}" for one in entries] == found


def used_by_path(found: UsesReply) -> dict[str, dict[int, text_module.LineUse]]:
    by_path: dict[str, list[tuple[int, text_module.LineUse]]] = {}
    for label, lines in unpack_lines(found.used).items():
        group, status, path = label.split("\t")
        use = text_module.LineUse(ReferenceGroup(group), EdgeStatus(status))
        by_path.setdefault(path, []).extend((line, use) for line in lines)
    return {path: text_module.line_uses(uses) for path, uses in by_path.items()}


def test_filter_omits_references_but_keeps_the_totals():
    graph = graph_of(PYTHON, {path: flags_of(path) for path in PYTHON})
    every = by_graph(graph, "depot/base.py", "Depot.close", 2)
    assert ReferenceGroup.TESTS in every.counts
    for fields in (
        {"source_only": True},
        {"path_filter": "run.py"},
        {"reference_type": EdgeKind.CALLS},
        {"include_candidates": False},
    ):
        kept = by_graph(graph, "depot/base.py", "Depot.close", 2, **fields)
        assert (kept.resolved, kept.candidates, kept.elsewhere) == (
            every.resolved, every.candidates, every.elsewhere,
        )  # fmt: skip
    assert {one.file_path for one in by_graph(graph, "depot/base.py", "Depot.close", 2, path_filter="run.py").entries} == {"run.py"}  # fmt: skip
    assert by_graph(graph, "depot/base.py", "Depot.close", 2, source_only=True).counts == {
        group: count for group, count in every.counts.items() if group is not ReferenceGroup.TESTS
    }
    sure = by_graph(graph, "depot/base.py", "Depot.close", 2, include_candidates=False)
    assert every.candidates
    assert sum(sure.counts.values()) == len(sure.entries) == every.resolved
    assert {one.status for one in sure.entries} == {EdgeStatus.RESOLVED}


def test_pages_add_up_to_the_whole():
    texts = {"rates.py": "def rate(): ...\n"} | {
        f"user{number}.py": "from rates import rate\n" + "rate()\n" * 40 for number in range(5)
    }
    graph = graph_of(texts)
    every = by_graph(graph, "rates.py", "rate", 1).entries
    pages = [by_graph(graph, "rates.py", "rate", 1, limit=50, start=start) for start in range(0, 250, 50)]
    assert [len(page.entries) for page in pages] == [50, 50, 50, 50, 5]
    assert tuple(entry for page in pages for entry in page.entries) == every
    assert all(page.counts == {ReferenceGroup.CALLERS: 200, ReferenceGroup.IMPORTS: 5} for page in pages)


def test_unknown_definition_is_an_error():
    with pytest.raises(PrismError) as caught:
        by_graph(graph_of(PYTHON), "door.py", "Door.close", 3)
    assert caught.value.code is ErrorCode.SYMBOL_NOT_FOUND


def test_tests_that_use_a_symbol_through_fixtures_and_helpers_are_listed():
    texts = {
        "depot.py": "def weigh(): ...\n",
        "tests/conftest.py": (
            "import pytest\nfrom depot import weigh\n\n"
            "@pytest.fixture\ndef scale():\n    weigh()\n\n"
            "@pytest.fixture\ndef ready(scale): ...\n"
        ),
        "tests/test_a.py": (
            "from depot import weigh\n\n"
            "def check():\n    def inner():\n        weigh()\n    inner()\n\n"
            "def test_scale(scale): ...\n\n"
            "def test_ready(ready):\n    check()\n\n"
            "def test_own():\n    weigh()\n"
        ),
    }
    graph = graph_of(texts, {path: flags_of(path) for path in texts})
    found = by_graph(graph, "depot.py", "weigh", 1).helped
    assert {one.helper.symbol.name: [test.symbol.name for test in one.tests] for one in found} == {
        "scale": ["test_scale", "test_ready"],
        "check": ["test_ready"],
    }
    assert {one.helper.file_path for one in found} == {"tests/conftest.py", "tests/test_a.py"}
    assert not by_graph(graph, "depot.py", "weigh", 1, start=1).helped
    assert not by_graph(graph, "depot.py", "weigh", 1, source_only=True).helped


def test_what_runs_before_each_test_names_the_tests_of_its_class():
    texts = {
        "depot.py": "def weigh():\n    return 1\n",
        "tests/test_a.py": "import unittest\nfrom depot import weigh\n\n\n"
        "class DepotTest(unittest.TestCase):\n    def setUp(self):\n        weigh()\n\n"
        "    def test_ships(self): ...\n\n    def test_loads(self): ...\n\n\n"
        "class OtherTest(unittest.TestCase):\n    def test_else(self): ...\n",
    }
    graph = graph_of(texts, {path: flags_of(path) for path in texts})
    (found,) = by_graph(graph, "depot.py", "weigh", 1).helped
    assert found.helper.symbol.name == "DepotTest.setUp"
    assert [one.symbol.name for one in found.tests] == ["DepotTest.test_ships", "DepotTest.test_loads"]


def test_helpers_are_those_that_lead_to_tests():
    """Helpers that no test runs take none of the places; those beyond the bound are counted."""
    idle = "".join(f"def a_idle{n}():\n    weigh()\n\n\n" for n in range(HELPERS_MAX))
    busy = "".join(f"def busy{n}():\n    weigh()\n\n\n" for n in range(HELPERS_MAX + 2))
    tests = "".join(f"def test_{n}():\n    busy{n}()\n\n\n" for n in range(HELPERS_MAX + 2))
    texts = {
        "depot.py": "def weigh():\n    return 1\n",
        "tests/test_a.py": f"from depot import weigh\n\n\n{idle}{busy}{tests}",
    }
    graph = graph_of(texts, {path: flags_of(path) for path in texts})
    reply = by_graph(graph, "depot.py", "weigh", 1)
    assert [one.helper.symbol.name for one in reply.helped] == [f"busy{n}" for n in range(HELPERS_MAX)]
    assert reply.helped_left_out == 2


def test_overriding_members_of_one_overload_are_listed():
    text = """\
abstract class Scale {
  abstract int weigh(String name);
  abstract int weigh(int size);
}
class Deep extends Scale {
  int weigh(String name) { return 1; }
  int weigh(int size) { return 2; }
}
class Deeper extends Deep { int weigh(String name) { return 3; } }
"""
    texts = {
        "Scale.java": text,
        "tests/Fake.java": "class Fake extends Scale { int weigh(int size) { return 0; } }\n",
    }
    graph = graph_of(texts, {path: flags_of(path) for path in texts})

    def lines(**fields: object) -> list[str]:
        asked = {"reference_type": EdgeKind.OVERRIDES, **fields}
        reply = by_graph(graph, "Scale.java", "Scale.weigh", 2, **asked)
        assert unpack_lines(reply.explained)["Scale.java"] == [2, 3, 6, 7, 9]
        entries = reply.entries
        return [f"{one.symbol} {one.line} {one.group.value}" for one in entries]

    assert lines(one_overload=True) == ["Deep.weigh 6 overrides", "Deeper.weigh 9 overrides"]
    assert lines() == [
        "Deep.weigh 6 overrides", "Deep.weigh 7 overrides", "Deeper.weigh 9 overrides", "Fake.weigh 1 tests",
    ]  # fmt: skip
    assert lines(source_only=True, path_filter="Scale.java", start=1, limit=1) == ["Deep.weigh 7 overrides"]


GATES = {
    "gates.py": """\
class Gate:
    def shut(self): ...

    def slam(self):
        self.shut()


class IronGate(Gate):
    def shut(self):
        super().shut()


class Yard:
    def __init__(self):
        self._gate: Gate = IronGate()

    def close(self):
        self._gate.shut()


class Guarded(Gate):
    def __init__(self, gate: Gate):
        self._gate = gate

    def shut(self):
        self._gate.shut()
""",
}


def test_calls_of_an_overridden_member_may_run_the_overriding_one():
    graph = graph_of(GATES)
    found = by_graph(graph, "gates.py", "IronGate.shut", 9)
    assert [(one.line, one.status, one.strategy) for one in found.entries] == [
        (5, EdgeStatus.CANDIDATE, Strategy.OVERRIDDEN),
        (18, EdgeStatus.CANDIDATE, Strategy.OVERRIDDEN),
        (26, EdgeStatus.CANDIDATE, Strategy.OVERRIDDEN),
    ]
    assert not by_graph(graph, "gates.py", "IronGate.shut", 9, include_candidates=False).entries
    base = by_graph(graph, "gates.py", "Gate.shut", 2)
    assert [(one.line, one.status) for one in base.entries] == [
        (5, EdgeStatus.RESOLVED),
        (10, EdgeStatus.RESOLVED),
        (18, EdgeStatus.RESOLVED),
        (26, EdgeStatus.RESOLVED),
    ]


STORES = {
    "stores.go": (
        "package town\n\ntype Store interface {\n\tSave(n int) error\n}\n\n"
        "type Disk struct{}\n\nfunc (d *Disk) Save(n int) error { return nil }\n\n"
        "type Odd struct{}\n\nfunc (o *Odd) Save(name string) error { return nil }\n"
    ),
    "sessions.go": (
        "package town\n\ntype Session struct {\n\tstore Store\n}\n\n"
        "func (s *Session) Save() error { return s.store.Save(1) }\n"
    ),
}


def test_a_call_of_an_interface_of_go_may_run_each_method_that_implements_it():
    graph = graph_of(STORES)
    found = by_graph(graph, "stores.go", "Disk.Save", 9)
    assert [(one.file_path, one.line, one.strategy) for one in found.entries] == [
        ("sessions.go", 7, Strategy.OVERRIDDEN)
    ]
    assert not by_graph(graph, "stores.go", "Odd.Save", 13).entries


DECORATED = {
    "a.py": "def cached(f): ...\n\n@cached\ndef index(): ...\n\nclass Shop:\n    @cached\n    def sell(self): ...\n",
    "a.java": "@interface cached {}\nclass Gate {\n  @cached\n  void swing() {}\n}\n@cached\nclass Hub {}\n",
    "a.ts": "export function cached(f: unknown) {}\nclass Shop {\n  @cached\n  sell() {}\n}\n",
}


@pytest.mark.parametrize(
    ("path", "users"),
    [("a.py", {"index", "Shop.sell"}), ("a.java", {"Gate.swing", "Hub"}), ("a.ts", {"Shop.sell"})],
)
def test_a_decorator_is_used_by_what_it_decorates(path: str, users: set[str]) -> None:
    graph = graph_of({path: DECORATED[path]})
    (target,) = graph.named("cached").tolist()
    names = graph.symbols.qualified_name
    sources = graph.edges.source[graph.edges_in(target)].tolist()
    assert {graph.strings[names[one]] for one in sources if not graph.is_file(one)} == users
    assert not any(map(graph.is_file, sources))
