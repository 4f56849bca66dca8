"""Edges of small programs."""

import random
import re

import pytest
from graph_files import edges_of, facts_of
from hypothesis import example, given
from hypothesis import strategies as st

from prism_resolver.program import Program
from prism_resolver.resolution import edges

DEPOT = """\
class Depot:
    def weigh(self): ...
    def next(self) -> "Depot": ...
"""


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("def f(d: Depot):\n    d.next().weigh()\n", "user.py:3 weigh -> depot.py:Depot.weigh receiver_type"),
        ("def f():\n    d = make()\n    d.weigh()\ndef make() -> Depot: ...\n", "user.py:4 weigh -> depot.py:Depot.weigh receiver_type"),
        ("class A:\n    d: Depot\nclass B:\n    a: A\n    def f(self):\n        self.a.d.weigh()\n", "user.py:7 weigh -> depot.py:Depot.weigh receiver_type"),
        ("class A:\n    def __init__(self, d: Depot):\n        self.d = Depot()\nclass B(A):\n    def f(self):\n        self.d.weigh()\n", "user.py:7 weigh -> depot.py:Depot.weigh receiver_type"),
        ("depot = Depot()\ndef f():\n    depot.weigh()\n", "user.py:4 weigh -> depot.py:Depot.weigh receiver_type"),
        ("class Other:\n    def weigh(self): ...\ndef f():\n    d = Depot()\n    d = Other()\n    d.weigh()\n", "user.py:7 weigh -> user.py:Other.weigh receiver_type"),
        ("def f(xs):\n    for d in xs:\n        d.weigh()\n", "user.py:4 weigh -> depot.py:Depot.weigh only_definition?"),
        ("class A:\n    def f(self):\n        self.hook()\nclass B(A):\n    def hook(self): ...\n", "user.py:4 hook -> user.py:B.hook only_definition?"),
    ],
)  # fmt: skip
def test_members_are_resolved_by_types_of_variables(user: str, found: str) -> None:
    assert found in edges_of({"depot.py": DEPOT, "user.py": f"from depot import Depot\n{user}"})


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ("def f(d: Depot):\n    d.open()\n", "open"),  # a depot is known to have no `open`
        ("def f(weigh):\n    weigh()\n", "weigh"),
        ("def f(d: str):\n    d.weigh()\n", "weigh"),
        ("import json\ndef f():\n    json.weigh()\n", "weigh"),
        ("def f():\n    weigh = len\n    weigh()\n", "weigh"),
        ("len([])\n", "len"),
    ],
)
def test_a_reference_that_leads_elsewhere_is_no_edge(user: str, name: str) -> None:
    files = {
        "depot.py": DEPOT,
        "gate.py": "class Gate:\n    def open(self): ...\ndef len(x): ...\n",
        "user.py": f"from depot import Depot\n{user}",
    }
    assert not [edge for edge in edges_of(files) if edge.startswith("user.py") and f" {name} ->" in edge]


@pytest.mark.parametrize(
    ("module", "user"),
    [
        ("export default class Depot { weigh() {} }\n", "import Store from './depot';\nnew Store().weigh();\n"),
        ("class Depot { weigh() {} }\nexport default Depot;\n", "import Store from './depot';\nnew Store().weigh();\n"),
        ("export class Depot { weigh() {} }\n", "import * as depots from './depot';\nnew depots.Depot().weigh();\n"),
        ("export class Depot { weigh() {} }\n", "import { Depot } from './depot';\nfunction f(d: Depot) { d.weigh(); }\n"),
        ("export class Depot { weigh() {} }\n", "import { Depot } from './depot';\nclass A { private d: Depot; f() { this.d.weigh(); } }\n"),
        ("export class Depot { weigh() {} }\n", "import { Depot } from './depot';\nclass A { constructor(private d: Depot) {} f() { this.d.weigh(); } }\n"),
    ],
)  # fmt: skip
def test_members_of_typescript_classes_are_resolved(module: str, user: str) -> None:
    found = edges_of({"src/depot.ts": module, "src/user.ts": user})
    assert "src/user.ts:2 weigh -> src/depot.ts:Depot.weigh receiver_type" in found


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("Store = Depot\nStore().weigh()\n", "user.py:3 weigh -> depot.py:Depot.weigh receiver_type"),
        ("Store = Depot\nBarn = Store\ndef f(b: Barn):\n    b.weigh()\n", "user.py:5 weigh -> depot.py:Depot.weigh receiver_type"),
        ("Store = Depot\nclass Low(Store):\n    def f(self):\n        self.weigh()\n", "user.py:5 weigh -> depot.py:Depot.weigh inherited"),
        ("class Low:\n    def f(self): ...\n    g = f\n", "user.py:4 f -> user.py:Low.f receiver"),
        ("Store = Depot\nStore()\n", "user.py:3 Store -> user.py:Store same_file"),
        ("if tall:\n    Store = Depot\nelse:\n    Store = None\nStore().weigh()\n", "user.py:6 weigh -> depot.py:Depot.weigh only_definition?"),
    ],
)  # fmt: skip
def test_an_alias_is_followed_to_its_target(user: str, found: str) -> None:
    assert found in edges_of({"depot.py": DEPOT, "user.py": f"from depot import Depot\n{user}"})


def test_a_name_in_a_method_is_no_member_of_its_class() -> None:
    user = "class Low:\n    def rate(self): ...\n    def f(self):\n        def own(): return rate\n        return own(rate)\n"
    assert edges_of({"user.py": user}) == {"user.py:5 own -> user.py:Low.f.own same_file"}


def test_a_bare_name_is_no_member_where_an_object_is_required() -> None:
    user = "import { open } from './depot';\nclass Gate { open() {} start = open; }\n"
    found = edges_of({"depot.ts": "export function open() {}\n", "user.ts": user})
    assert "user.ts:2 open -> depot.ts:open import" in found


def test_an_export_under_another_name_is_resolved() -> None:
    depot = "class Depot { weigh() {} }\nfunction open() {}\nexport { open as start, Depot as default };\n"
    user = "import Store, { start } from './depot';\nstart(new Store().weigh());\n"
    found = edges_of({"depot.ts": depot, "user.ts": user})
    assert "depot.ts:3 open -> depot.ts:open same_file" in found
    assert "user.ts:2 start -> depot.ts:open import" in found
    assert "user.ts:2 weigh -> depot.ts:Depot.weigh receiver_type" in found


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.ts", "function f(x: string): void;\nfunction f(x: number): void;\nfunction f(x: unknown) {}\nf(1);\n", 3),
        ("a.py", "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): return x\nf(1)\n", 5),
    ],
)  # fmt: skip
def test_a_call_of_an_overload_means_the_one_with_a_body(path: str, text: str, line: int) -> None:
    program, file = Program(), facts_of(path, text)
    program.add(file)
    called = [edge.target for edge in edges(program, file) if file.references[edge.reference].kind == "call"]
    assert [file.symbols[target.symbol].name_line for target in called if target.symbol >= 0] == [line]


def test_circular_aliases_end() -> None:
    text = (
        "class A(A.T):\n    T = B\n    U = T.U.T\nB = A.T\nC = B.U\nC().weigh()\nX = X.X.X.X.X.X\nX.weigh()\n"
    )
    found = edges_of({"a.py": text, "depot.py": DEPOT})
    assert "a.py:5 B -> a.py:B same_file" in found
    assert "a.py:6 weigh -> depot.py:Depot.weigh only_definition?" in found


def test_an_unindexed_package_hides_files_of_the_folder() -> None:
    files = {
        "a/Depot.java": "package a;\nclass Depot { void weigh() {} }\n",
        "a/User.java": "package a;\nimport far.Depot;\nclass User { void f(Depot d) { d.weigh(); } }\n",
    }
    assert not [edge for edge in edges_of(files) if "User.java" in edge and not edge.endswith("?")]


def test_circular_imports_are_resolved() -> None:
    files = {
        "a.py": "from b import x\nfrom b import *\n",
        "b.py": "from a import x\nfrom c import *\n",
        "c.py": "from a import *\ndef x(): ...\n",
        "user.py": "from a import x\nx()\n",
    }
    assert "user.py:2 x -> c.py:x import" in edges_of(files)


def test_the_entry_into_a_circle_does_not_matter() -> None:
    files = {
        "a.py": "from c import c\n",
        "b.py": "def c(): ...\n",
        "c.py": "from a import c\nfrom b import c\n",
    }
    assert edges_of(files) == edges_of(dict(reversed(files.items())))
    assert {"a.py:1 c -> b.py:c import", "c.py:1 c -> b.py:c import"} <= edges_of(files)


def test_a_class_is_not_its_constructor() -> None:
    files = {
        "p/Base.java": "package p;\npublic class Base {\n  public Base() {}\n}\n",
        "p/Low.java": "package p;\npublic class Low extends Base {\n  Low() { super(); }\n}\n",
        "q/Lower.java": "package q;\nimport p.Low;\nclass Lower extends Low {\n}\n",
    }
    assert {
        "p/Low.java:2 Base -> p/Base.java:Base same_package",
        "q/Lower.java:3 Low -> p/Low.java:Low import",
    } <= edges_of(files)


def test_an_undefined_name_in_circular_wildcards_ends() -> None:
    names = [f"m{n}" for n in range(60)]
    text = "".join(f"from {name} import x\nfrom {name} import *\n" for name in names)
    files = {f"{name}.py": text for name in names} | {"user.py": "from m0 import x\nx()\n"}
    assert not [edge for edge in edges_of(files) if edge.startswith("user.py:2")]


def test_a_class_may_inherit_from_its_own_member() -> None:
    text = "class A(A.Base):\n    class Base(B):\n        def weigh(self): ...\nclass B(A):\n    def f(self):\n        self.weigh()\n"
    assert "a.py:6 weigh -> a.py:A.Base.weigh inherited" in edges_of({"a.py": text})


def test_a_long_chain_of_names_ends() -> None:
    chain = {f"m{n}.py": f"from m{n + 1} import x\n" for n in range(600)}
    calls = "def f(d):\n    d = d.next()\n" + "    d = d.next()\n" * 600 + "    d.weigh()\n"
    edges_of(chain | {"m600.py": "def x(): ...\n", "user.py": "from m0 import x\nx()\n" + calls})


def test_a_class_that_inherits_from_itself_ends() -> None:
    files = {"a.py": "from b import B\nclass A(B):\n    def f(self):\n        self.g()\n", "b.py": "from a import A\nclass B(A): ...\n"}  # fmt: skip
    assert not [edge for edge in edges_of(files) if " g ->" in edge]


def test_names_of_two_repositories_are_kept_apart() -> None:
    files = [
        facts_of("lib/rates.py", "def rate(): ...\n"),
        facts_of("lib/a.py", "from .rates import rate\nrate()\n"),
        facts_of("lib/b.py", "from .rates import rate\nrate()\n", scope="other/base"),
    ]
    found = edges_of(files)
    assert "lib/a.py:2 rate -> lib/rates.py:rate import" in found
    assert "lib/b.py:2 rate -> lib/rates.py:rate name?" in found


PIECES = [
    "from {m} import {n}\n", "from {m} import *\n", "import {m}\n", "def {n}(): ...\n", "{n}()\n", "{m}.{n}()\n",
    "class {n}({o}):\n    def {o}(self):\n        self.{n}()\n", "{n} = {o}()\n",
]  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> dict[str, str]:
    names = st.sampled_from(["a", "b", "c"])
    pieces = st.builds(
        lambda piece, m, n, o: piece.format(m=m, n=n, o=o), st.sampled_from(PIECES), names, names, names
    )
    return {f"{name}.py": "".join(draw(st.lists(pieces, max_size=6))) for name in "abc"}


TWO_WILDCARDS = {
    "c.py": "class a(c):\n    def c(self):\n        self.a()\n",
    "b.py": "from a import *\nfrom c import *\na.c()\n",
    "a.py": "def a(): ...\n",
}

# In some orders, `a` was asked for `b` while `b` was, and its import from itself made the name one of outside.
FROM_ITSELF = {
    "a.py": "from b import b\nfrom a import b\n",
    "b.py": "from a import b\nfrom c import b\n",
    "c.py": "def b(): ...\n",
}


@given(programs(), st.randoms(use_true_random=False))
@example(FROM_ITSELF, random.Random(0))
@example(FROM_ITSELF, random.Random(1))
@example(TWO_WILDCARDS, random.Random(0))
@example(TWO_WILDCARDS, random.Random(1))
def test_the_order_of_files_does_not_matter(files: dict[str, str], chance: random.Random) -> None:
    shuffled = list(files.items())
    chance.shuffle(shuffled)
    assert edges_of(files) == edges_of(dict(shuffled))


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("from a import *\nfrom b import *\nf()\n", ["b.py:f"]),
        ("from b import *\nfrom a import *\nf()\n", ["a.py:f"]),
        ("from passes import *\nf()\n", ["b.py:f"]),
        ("from a import *\nfrom hides import *\nf()\n", ["hides.py:f"]),
        ("from hides import *\nfrom a import *\nf()\n", ["a.py:f"]),
    ],
)
def test_the_later_wildcard_import_binds_a_name(user: str, found: list[str]) -> None:
    files = {
        "a.py": "def f(): ...\n",
        "b.py": "def f(): ...\n",
        "passes.py": "from a import *\nfrom b import *\n",
        "hides.py": "from b import *\ndef f(): ...\n",
        "user.py": user,
    }
    edges_of_f = [edge for edge in edges_of(files) if edge.startswith("user.py") and " f -> " in edge]
    assert [edge.split()[3] for edge in edges_of_f] == found


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("@acme/depot", "packages/depot/src/index.ts"),
        ("@acme/depot", "packages/depot/index.ts"),
        ("@acme/depot/rates", "packages/depot/src/rates.ts"),
        ("@acme/depot/rates.js", "packages/depot/rates.ts"),
        ("@acme/depot/rates", "packages/depot/src/rates/index.ts"),
    ],
)
def test_a_package_is_found_by_the_name_in_its_manifest(module: str, path: str) -> None:
    files = {
        "packages/depot/package.json": '{\n  "name": "@acme/depot",\n  "version": "1.0.0"\n}\n',
        path: "export function rate() {}\n",
        "apps/shop/src/user.ts": f"import {{ rate }} from '{module}';\nrate();\n",
    }
    assert f"apps/shop/src/user.ts:2 rate -> {path}:rate import" in edges_of(files)


@pytest.mark.parametrize(
    "manifest", ['{"version": "1"}', '{"name": "depots"}', '{"author": {"name": "depot"}}', "{"]
)
def test_a_package_without_a_manifest_is_a_candidate(manifest: str) -> None:
    files = {
        "packages/depot/package.json": manifest,
        "packages/depot/src/index.ts": "export function rate() {}\n",
        "user.ts": "import { rate } from 'depot';\nrate();\n",
    }
    assert "user.ts:2 rate -> packages/depot/src/index.ts:rate only_definition?" in edges_of(files)


def test_a_package_name_of_another_repository_is_ignored() -> None:
    manifest = facts_of("package.json", '{"name": "depot"}', scope="other/base")
    home = facts_of("src/index.ts", "export function rate() {}\n")
    user = facts_of("apps/user.ts", "import { rate } from 'depot';\nrate();\n")
    assert "apps/user.ts:2 rate -> src/index.ts:rate only_definition?" in edges_of([manifest, home, user])


def test_a_name_inside_a_namespace_belongs_to_it() -> None:
    text = "declare namespace depots {\n  interface Depot {}\n  interface Big extends Depot { next(): Depot }\n}\n"
    found = edges_of({"depots.d.ts": text})
    assert "depots.d.ts:3 Depot -> depots.d.ts:depots.Depot same_file" in found
    assert not [edge for edge in found if edge.endswith("?")]


def test_a_name_re_exported_under_another_is_followed() -> None:
    files = {
        "src/depot.ts": "export function weigh() {}\n",
        "src/index.ts": "export { weigh as weighDepot } from './depot';\n",
        "src/user.ts": "import { weighDepot } from './index';\nweighDepot();\n",
    }
    assert "src/user.ts:2 weighDepot -> src/depot.ts:weigh import" in edges_of(files)


def test_a_name_both_imported_and_defined_may_be_either() -> None:
    files = {
        "depot.py": "def weigh(): ...\n",
        "user.py": "try:\n    from depot import weigh\nexcept ImportError:\n    def weigh(): ...\nweigh()\n",
    }
    found = edges_of(files)
    assert "user.py:5 weigh -> depot.py:weigh name?" in found
    assert "user.py:5 weigh -> user.py:weigh name?" in found


def test_an_inner_function_may_be_a_member_of_the_result() -> None:
    files = {
        "src/depot.ts": "export function depot() { function weigh() {}  return { weigh }; }\n",
        "src/user.ts": "export function f(d) { d.weigh(); weigh(); }\n",
    }
    found = edges_of(files)
    assert [edge for edge in found if edge.startswith("src/user.ts")] == [
        "src/user.ts:1 weigh -> src/depot.ts:depot.weigh only_definition?"
    ]


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("from depot import Depot\nDepot.open()\n", "user.py:2 Depot -> depot.py:Depot import"),
        ("from depot import Depot\nprint(Depot.RED)\n", "user.py:2 Depot -> depot.py:Depot import"),
        ("import depot\ndepot.Depot.open()\n", "user.py:2 Depot -> depot.py:Depot module"),
        ("from depot import Depot\ndef f(d: Depot):\n    d.next.open()\n", "user.py:3 next -> depot.py:Depot.next receiver_type"),
    ],
)  # fmt: skip
def test_the_expression_before_a_dot_is_a_use(user: str, found: str) -> None:
    depot = "class Depot:\n    RED = 1\n    @property\n    def next(self): ...\n    @classmethod\n    def open(cls): ...\n"
    assert found in edges_of({"depot.py": depot, "user.py": user})


def test_a_call_before_a_dot_is_returned_once() -> None:
    files = {
        "depot.py": "class Depot:\n    def open(self): ...\n",
        "user.py": "from depot import Depot\nDepot().open()\n",
    }
    edges = [edge for edge in edges_of(files) if edge.startswith("user.py:2 Depot")]
    assert edges == ["user.py:2 Depot -> depot.py:Depot import"]
    uses = [one for one in facts_of("user.py", files["user.py"]).references if one.name == "Depot"]
    assert [one.kind for one in uses] == ["import", "call"]


def test_unknown_variables_before_a_dot_are_no_uses() -> None:
    assert [one.name for one in facts_of("user.py", "def f(d):\n    d.next.open()\n").references] == ["open"]


RUBY = {
    "lib/parcels/depot.rb": "module Parcels\n  class Depot\n    def self.open; end\n    def weigh; end\n  end\nend\n",
    "lib/parcels/rates.rb": "module Parcels\n  module Rates\n    def self.tax; end\n  end\nend\n",
    "lib/far/depot.rb": "module Far\n  class Depot\n    def self.open; end\n  end\nend\n",
}


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("module Parcels\n  class Day\n    def run\n      Depot.open\n    end\n  end\nend\n", "4 open -> lib/parcels/depot.rb:Parcels.Depot.open class_name"),
        ("def run\n  Parcels::Rates.tax\nend\n", "2 tax -> lib/parcels/rates.rb:Parcels.Rates.tax class_name"),
        ("module Parcels\n  class Hub < Depot\n    def run\n      weigh\n    end\n  end\nend\n", "4 weigh -> lib/parcels/depot.rb:Parcels.Depot.weigh inherited"),
        ("def run\n  Depot.open\nend\n", "2 open -> lib/far/depot.rb:Far.Depot.open name?"),
    ],
)  # fmt: skip
def test_a_ruby_type_is_that_of_the_innermost_scope(user: str, found: str) -> None:
    assert f"user.rb:{found}" in edges_of({**RUBY, "user.rb": user})


def test_top_level_types_of_one_name_are_candidates() -> None:
    files = {
        "Sources/A/Depot.swift": "struct Depot {\n  static func open() {}\n}\n",
        "Sources/B/Depot.swift": "struct Depot {\n  static func open() {}\n}\n",
        "Sources/A/Rates.swift": "enum Rates {\n  static func tax() {}\n}\n",
        "Sources/A/Day.swift": "func run() {\n  Depot.open()\n  Rates.tax()\n}\n",
    }
    edges = {edge for edge in edges_of(files) if "Day.swift" in edge}
    assert "Sources/A/Day.swift:3 tax -> Sources/A/Rates.swift:Rates.tax class_name" in edges
    assert {edge for edge in edges if " open ->" in edge} == {
        f"Sources/A/Day.swift:2 open -> Sources/{module}/Depot.swift:Depot.open name?" for module in "AB"
    }


def test_csharp_names_of_other_namespaces_are_resolved() -> None:
    files = {
        "Depot.cs": "namespace Parcels.Places { public class Depot { public void Open() {} public static int Count() => 1; } }\n",
        "Far.cs": "namespace Far { public class Depot { public static int Count() => 2; } }\n",
        "Tour.cs": "using Parcels.Places;\nnamespace Parcels.Tours {\n  class Tour { void Run(Depot depot) {\n depot.Open(); Depot.Count(); } }\n}\n",
        "Alias.cs": "using Store = Far.Depot;\nclass Alias { int Run() {\n return Store.Count(); } }\n",
    }
    edges = edges_of(files)
    assert "Tour.cs:4 Open -> Depot.cs:Parcels.Places.Depot.Open receiver_type" in edges
    assert "Tour.cs:4 Count -> Depot.cs:Parcels.Places.Depot.Count class_name" in edges
    assert "Alias.cs:3 Count -> Far.cs:Far.Depot.Count class_name" in edges


def test_elixir_calls_of_other_modules_are_resolved() -> None:
    files = {
        "lib/depot.ex": "defmodule Parcels.Depot do\n  def open(), do: 1\nend\n",
        "lib/far.ex": "defmodule Far.Depot do\n  def open(), do: 2\nend\n",
        "lib/tour.ex": "defmodule Tour do\n  alias Parcels.Depot\n  def run() do\n    Depot.open()\n    Far.Depot.open()\n  end\nend\n",
        "lib/far/day.ex": "defmodule Far.Day do\n  alias Far.Hub\n  def run(), do: Depot.open()\nend\n",
    }
    edges = edges_of(files)
    assert not [
        edge for edge in edges if "day.ex" in edge and "class_name" in edge
    ]  # it names another module
    assert "lib/tour.ex:4 open -> lib/depot.ex:Parcels.Depot.open class_name" in edges
    assert "lib/tour.ex:5 open -> lib/far.ex:Far.Depot.open class_name" in edges


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {
                "src/main.zig": 'const depot = @import("parts/depot.zig");\nfn go() void {\n    depot.weigh();\n}\n',
                "src/parts/depot.zig": "pub fn weigh() void {}\n",
                "src/dock.zig": "pub fn weigh() void {}\n",
            },
            "src/main.zig:3 weigh -> src/parts/depot.zig:weigh module",
        ),
        (
            {
                "src/parts/depot.zig": 'const Scale = @import("../Scale.zig");\nfn go() void {\n    Scale.read();\n}\n',
                "src/Scale.zig": "pub fn read() void {}\n",
                "other/Scale.zig": "pub fn read() void {}\n",
            },
            "src/parts/depot.zig:3 read -> src/Scale.zig:read module",
        ),
        (
            {
                "lua/town/init.lua": 'local Depot = require("town.depot")\nDepot.weigh()\n',
                "lua/town/depot.lua": "local M = {}\nfunction M.weigh() end\nreturn M\n",
                "lua/town/dock.lua": "local M = {}\nfunction M.weigh() end\nreturn M\n",
            },
            "lua/town/init.lua:2 weigh -> lua/town/depot.lua:M.weigh module",
        ),
        (
            {
                "lua/town/init.lua": 'local Depot = require("town.depot")\nDepot.new()\n',
                "lua/town/depot.lua": "local Scale = {}\nfunction Scale.new() end\nlocal M = {}\nfunction M.new() end\nreturn M\n",
            },
            "lua/town/init.lua:2 new -> lua/town/depot.lua:M.new name?",
        ),
        (
            {
                "main.js": 'const depot = require("./depot");\ndepot.weigh();\n',
                "depot.js": "exports.weigh = function weigh() {};\n",
                "dock.js": "exports.weigh = function weigh() {};\n",
            },
            "main.js:2 weigh -> depot.js:exports.weigh module",
        ),
        (
            {
                "main.js": 'import * as depot from "./depot";\ndepot.weigh();\n',
                "depot.js": "const cache = {};\ncache.weigh = function weigh() {};\nexport function size() {}\n",
            },
            "main.js:2 weigh -> depot.js:cache.weigh name?",
        ),
        (
            {
                "lua/town/init.lua": 'local Depot = require("town.depot")\nDepot.weigh()\n',
                "lua/town/depot.lua": "local cache = {}\nfunction cache.weigh() end\nlocal M = {}\nfunction M.size() end\nreturn M\n",
            },
            "lua/town/init.lua:2 weigh -> lua/town/depot.lua:cache.weigh name?",
        ),
        (
            {
                "main.js": 'const depot = require("./depot");\ndepot.weigh();\n',
                "depot.js": "var depot = make();\nmodule.exports = depot;\n",
                "dock.js": "class Dock {\n  weigh() {}\n}\n",
            },
            "main.js:2 weigh -> dock.js:Dock.weigh only_definition?",
        ),
    ],
)
def test_a_variable_holding_a_module_leads_to_its_members(files: dict[str, str], found: str) -> None:
    assert found in edges_of(files)


def test_local_variable_of_java_does_not_hide_the_method_of_its_name() -> None:
    code = "class A {\n  Reader reader(int a) { return null; }\n  void t() { Reader reader = wrap(reader(1)); reader.go(); }\n}\nclass Reader { void go() {} }\n"
    edges = edges_of({"A.java": code})
    assert "A.java:3 reader -> A.java:A.reader receiver" in edges
    assert "A.java:3 go -> A.java:Reader.go receiver_type" in edges


def test_attribute_made_by_a_method_of_a_typed_parameter_has_the_type_that_it_returns() -> None:
    files = {
        "town/parser.py": (
            'from .town import Town\nclass Parser:\n    def __init__(self, town: "Town"):\n'
            "        self.stream = town.open(1)\n    def go(self):\n        self.stream.expect()\n"
        ),
        "town/town.py": "from .streams import Stream\nclass Town:\n    def open(self, n) -> Stream: ...\n",
        "town/streams.py": "class Stream:\n    def expect(self): ...\nclass Other:\n    def expect(self): ...\n",
    }
    assert {edge for edge in edges_of(files) if ":6 expect" in edge} == {
        "town/parser.py:6 expect -> town/streams.py:Stream.expect receiver_type"
    }


def test_own_class_of_a_metaclass_has_its_members() -> None:
    code = "class M(type):\n    def __new__(mcs, a):\n        return mcs.declared(a)\n    def declared(mcs, a): ...\n"
    assert "a.py:3 declared -> a.py:M.declared receiver" in edges_of({"a.py": code})


def test_variable_called_cls_is_no_own_class_in_java() -> None:
    code = "class A {\n  String name() { return null; }\n  String t(Class<?> cls) { return cls.name(); }\n}\n"
    assert "A.java:3 name -> A.java:A.name receiver" not in edges_of({"A.java": code})


RUST_TREE = {
    "src/main.rs": (
        "mod walk;\nmod exec;\nfn run() {\n    walk::scan(1);\n    exec::job(2);\n    self::walk::scan(3);\n"
        "    walk::deep::dig(4);\n}\nmod inline { pub fn f() {} }\nfn g() { inline::f(); }\n"
    ),
    "src/walk.rs": (
        "pub mod deep;\nuse crate::exec;\npub fn scan(n: u8) {\n    exec::job(n);\n    deep::dig(1);\n}\n"
    ),
    "src/walk/deep.rs": (
        "pub fn dig(n: u8) {\n    super::scan(n);\n}\nstruct S;\n"
        "impl S { fn go(&self) { super::scan(7); self.go(); } }\n"
        "mod tests { use super::*; fn t() { super::dig(1); } }\n"
    ),
    "src/exec/mod.rs": "mod job;\npub use self::job::job;\nfn again() { job(1); job::inner(2); }\n",
    "src/exec/job.rs": "pub fn job(n: u8) {}\npub fn inner(n: u8) {}\n",
    "src/other.rs": "pub fn scan(n: u8) {}\npub fn dig(n: u8) {}\npub fn job(n: u8) {}\n",
}


@pytest.mark.parametrize(
    "edge",
    [
        "src/main.rs:1 walk -> src/walk.rs:* import",
        "src/main.rs:4 scan -> src/walk.rs:scan module",
        "src/main.rs:5 job -> src/exec/job.rs:job module",
        "src/main.rs:6 scan -> src/walk.rs:scan module",
        "src/main.rs:7 dig -> src/walk/deep.rs:dig module",
        "src/main.rs:10 f -> src/main.rs:inline.f class_name",
        "src/walk.rs:2 exec -> src/exec/mod.rs:* import",
        "src/walk.rs:4 job -> src/exec/job.rs:job module",
        "src/walk.rs:5 dig -> src/walk/deep.rs:dig module",
        "src/walk/deep.rs:2 scan -> src/walk.rs:scan module",
        "src/walk/deep.rs:5 scan -> src/walk.rs:scan module",
        "src/walk/deep.rs:5 go -> src/walk/deep.rs:S.go receiver",
        "src/walk/deep.rs:6 dig -> src/walk/deep.rs:dig module",
        "src/exec/mod.rs:3 job -> src/exec/job.rs:job import",
        "src/exec/mod.rs:3 inner -> src/exec/job.rs:inner module",
    ],
)
def test_rust_paths_follow_declared_modules(edge: str) -> None:
    assert edge in edges_of(RUST_TREE)


def test_parameter_of_a_closure_does_not_hide_the_module_of_a_rust_path() -> None:
    user = "use crate::gate;\nfn run() {\n    gate::with(|gate| gate.open());\n}\n"
    files = {
        "src/lib.rs": "mod gate;\nmod user;\n",
        "src/gate.rs": "pub fn with<F>(f: F) {}\n",
        "src/user.rs": user,
    }
    assert "src/user.rs:3 with -> src/gate.rs:with module" in edges_of(files)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.rs", "fn weigh() {}\nfn f(d: &Depot) {\n    d.scale().weigh();\n}\n"),
        ("a.go", "package a\n\nfunc weigh() {}\n\nfunc f() {\n\tscale().weigh()\n}\n"),
        ("a.py", "def weigh(): ...\ndef f(d):\n    d.scale().weigh()\n"),
    ],
)
def test_result_of_a_call_has_no_function_as_a_member(path: str, code: str) -> None:
    assert not [edge for edge in edges_of({path: code}) if f" weigh -> {path}:weigh" in edge]


def test_tests_of_a_java_package_see_its_types_without_an_import() -> None:
    depot = "package parcels;\npublic class Depot {\n    public void weigh() {}\n}\n"
    test = "package parcels;\nclass DepotTest {\n    void weighs() {\n        Depot depot = new Depot();\n        depot.weigh();\n    }\n}\n"
    path, of_test = "app/src/main/java/parcels/Depot.java", "app/src/test/java/parcels/DepotTest.java"
    edges = edges_of({path: depot, of_test: test})
    assert f"{of_test}:5 weigh -> {path}:Depot.weigh receiver_type" in edges
    # Without an import it compiles only if a module of the package that it depends on has the type.
    elsewhere = of_test.replace("app/", "other/")
    found = f"{elsewhere}:5 weigh -> {path}:Depot.weigh receiver_type"
    assert found in edges_of({path: depot, elsewhere: test})
    assert found not in edges_of({path: depot, elsewhere: test, path.replace("app/", "third/"): depot})


@pytest.mark.parametrize(
    ("exporting", "symbol"),
    [
        ("module.exports = function (gate) {};", "depot"),
        ("exports = module.exports = function (gate) {};", "depot"),
        ("module.exports = exports = (gate) => gate;", "depot"),
        ("module.exports = function create(gate) {};", "create"),
        ("const make = module.exports = function (gate) {};", "make"),
        ("module.exports = make;\nfunction make() {}", "make"),
    ],
)
def test_required_module_is_what_it_exports_as_a_whole(exporting: str, symbol: str) -> None:
    user = 'const d = require("./lib/depot");\nd(1);\nnew d();\nd.open();\n'
    exported = f"{exporting}\nmodule.exports.open = function () {{}};\n"
    files = {"main.js": user, "lib/depot.js": exported, "lib/dock.js": exported}
    found = {re.sub(r" \w+$", "", edge) for edge in edges_of(files)}
    assert {f"main.js:2 d -> lib/depot.js:{symbol}", f"main.js:3 d -> lib/depot.js:{symbol}"} <= found
    assert "main.js:4 open -> lib/depot.js:exports.open" in found
    assert not {edge for edge in found if edge.startswith("main.js") and "dock" in edge}


def test_module_that_exports_another_one_leads_to_it() -> None:
    files = {
        "main.js": 'const Town = require("./town");\nclass City extends Town {}\nnew City().weigh();\n',
        "town/index.js": "module.exports = require('./lib/town');\n",
        "town/lib/town.js": "module.exports = class {\n  weigh() {}\n};\n",
        "dock.js": "class Dock {\n  weigh() {}\n}\n",
    }
    found = edges_of(files)
    assert "main.js:2 Town -> town/lib/town.js:town module" in found
    assert "main.js:3 weigh -> town/lib/town.js:town.weigh receiver_type" in found


def test_anonymous_default_export_has_the_name_of_its_file() -> None:
    files = {
        "main.ts": 'import Depot from "./depot";\nnew Depot().weigh();\n',
        "depot.ts": "export default class {\n  weigh() {}\n}\n",
    }
    assert "main.ts:2 weigh -> depot.ts:depot.weigh receiver_type" in edges_of(files)


def test_field_of_rust_is_no_use_of_a_method_or_function_of_its_name() -> None:
    user = "fn f(d: Depot, x: Vec<u8>) {\n    log(d.weigh);\n    d.weigh();\n    log(x.weigh);\n}\n"
    home = "pub struct Depot { weigh: u8 }\nimpl Depot {\n    pub fn weigh(&self) {}\n}\n"
    found = edges_of({"src/lib.rs": f"{home}{user}", "src/other.rs": "pub fn weigh() {}\n"})
    assert "src/lib.rs:7 weigh -> src/lib.rs:Depot.weigh receiver_type" in found
    assert not any(edge.startswith("src/lib.rs") and "src/other.rs" in edge for edge in found)


def test_call_of_a_field_of_c_may_run_what_is_stored_in_it() -> None:
    files = {
        "net.h": "struct ops {\n    int (*open)(int);\n    int (*read)(int);\n};\nstruct cmd { char *name; int (*proc)(int); };\n",
        "net.c": '#include "net.h"\nint sock_read(int a) { return 0; }\nint get(int a) { return 0; }\nint late(int a) { return 0; }\n'
        "struct ops SOCK = { .read = sock_read };\n"
        'struct cmd ALL[] = { { "get", get }, { "late", &get } };\n'
        "void set(struct ops *o) { o->open = &late; }\n",
        "use.c": '#include "net.h"\nint read(int a) { return 0; }\n'
        "int run(struct ops *o) {\n    o->read(1);\n    o->open(1);\n    ALL[0].proc(2);\n}\n",
    }
    found = {edge for edge in edges_of(files) if edge.startswith("use.c") and edge.endswith("stored?")}
    assert found == {
        "use.c:4 read -> net.c:sock_read stored?",
        "use.c:5 open -> net.c:late stored?",
        "use.c:6 proc -> net.c:get stored?",
    }
    assert "use.c:4 read -> use.c:read name?" not in edges_of(files)
