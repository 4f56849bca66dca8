"""Resolves references in small repositories of several languages, parsed by the chunker."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_files import source

from prism_contracts.code import EdgeStatus, SymbolKind
from prism_contracts.rpc.symbols import ReferenceGroup
from prism_resolver.modules import Certainty, File, imports
from prism_search.core.references import edges as edges_module
from prism_search.core.references import text as text_module
from prism_search.core.references.edges import DefinedSymbol, SourceFile

REPO = "parcels"


def sources(files: dict[str, str]) -> list[SourceFile]:
    return [source(path, text) for path, text in files.items()]


def edges(files: list[SourceFile], name: str, path: str = ""):
    homes = [
        DefinedSymbol(file, symbol)
        for file in files
        for symbol in file.symbols
        if symbol.qualified_name == name and path in ("", file.path)
    ]
    return edges_module.Uses(homes, files).edges()


def described(files: dict[str, str], name: str, path: str = "") -> set[str]:
    """Returns edges as `path:line strategy`, candidates with a question mark."""
    found = edges(sources(files), name, path)
    return {
        f"{edge.file.path}:{edge.reference.line} {edge.strategy}{'?' if edge.status == 'candidate' else ''}"
        for edge in found
    }


DEPOT = "class Depot:\n    def route(self):\n        return self.weigh()\n\n    def weigh(self):\n        return 1\n"


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("from depot import Depot\nDepot().weigh()\n", {"user.py:2 receiver_type"}),
        ("from depot import Depot\nd = Depot()\nd.weigh()\n", {"user.py:3 receiver_type"}),
        ("from depot import Depot\ndef f(d: Depot):\n    d.weigh()\n", {"user.py:3 receiver_type"}),
        ("from depot import Depot as D\nD.weigh(x)\n", {"user.py:2 class_name"}),
        ("import depot\ndepot.Depot.weigh(x)\n", {"user.py:2 class_name"}),
        ("def f(d):\n    d.weigh()\n", {"user.py:2 only_definition?"}),
        ("from depot import Depot\nd = Depot().open()\nd.weigh()\n", {"user.py:3 only_definition?"}),
        ("from depot import Depot\nd = Depot()\nd = other()\nd.weigh()\n", {"user.py:4 only_definition?"}),
        ("from depot import Depot\n# d: Depot\nd.weigh()\n", {"user.py:3 only_definition?"}),
        ("from depot import Depot\ndef f(d: Depot.Status):\n    d.weigh()\n", {"user.py:3 only_definition?"}),
        ("from depot import helper\nfrom far import Depot\nDepot.weigh(1)\n", {"user.py:3 only_definition?"}),
        ("from depot import Depot\nimport far\nfar.Depot.weigh(1)\n", {"user.py:3 only_definition?"}),
        ("from depot import Depot\nwith Depot() as d:\n    d.weigh()\n", {"user.py:3 receiver_type"}),
        ("from depot import Depot\nclass A:\n    def __init__(self):\n        self.d = Depot()\n    def f(self):\n        self.d.weigh()\n", {"user.py:6 receiver_type"}),
        ("import os\nos.weigh()\n", set()),
        ("import os\nos.scales.weigh()\n", set()),
        ("class Other:\n    def weigh(self): ...\n    def g(self):\n        self.weigh()\n", set()),
        ("from depot import Depot\nclass Sub(Depot):\n    def g(self):\n        self.weigh()\n", {"user.py:4 inherited"}),
        ("from depot import Depot\nclass Sub(Depot):\n    def weigh(self):\n        super().weigh()\n", {"user.py:4 inherited"}),
        ("from depot import Depot\nclass A(Depot): ...\nclass B(A):\n    def g(self):\n        self.weigh()\n", {"user.py:5 inherited"}),
        ("from far import Base\nclass Sub(Base):\n    def g(self):\n        self.weigh()\n", {"user.py:4 name?"}),
        ("weigh()\n", set()),
    ],
)  # fmt: skip
def test_method_is_resolved_by_its_receiver(user, found):
    others = {edge.replace("name?", "only_definition?") if "Base" in user else edge for edge in found}
    assert described({"depot.py": DEPOT, "user.py": user}, "Depot.weigh") - {"depot.py:3 receiver"} == others


def test_self_calls_resolve_to_the_own_class():
    assert described({"depot.py": DEPOT}, "Depot.weigh") == {"depot.py:3 receiver"}


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("from lib.rates import rate\nrate(1)\n", {"user.py:1 import", "user.py:2 import"}),
        ("from lib.rates import rate as r\nr(1)\n", {"user.py:1 import", "user.py:2 import"}),
        ("from lib import rates\nrates.rate(1)\n", {"user.py:2 module"}),
        ("import lib.rates\nlib.rates.rate(1)\n", {"user.py:2 module"}),
        ("from lib.rates import *\nrate(1)\n", {"user.py:2 wildcard_import"}),
        ("from lib import rate\nrate(1)\n", {"user.py:1 import", "user.py:2 import"}),
        ("from lib import price\nprice(1)\n", {"user.py:1 import", "user.py:2 import"}),
        ("from elsewhere import rate\nrate(1)\n", {"user.py:1 name?", "user.py:2 name?"}),
        ("from other import rate\nrate(1)\n", set()),
        ("from math import rate\nrate(1)\n", set()),
        ("from lib.rates import rate\ndef f(rate):\n    rate(1)\n", {"user.py:1 import"}),
        ("from lib.rates import rate\nrate = 3\nrate()\n", {"user.py:1 import", "user.py:3 name?"}),
        ("def f():\n    from lib.rates import rate\n    rate()\ndef g():\n    from lib.rates import rate\n    rate()\n", {"user.py:2 import", "user.py:3 import", "user.py:5 import", "user.py:6 import"}),
        ("def rate(x): ...\nrate(1)\n", set()),
        ("def f():\n    from lib.rates import rate as r\n    r(1)\ndef g(r):\n    r(2)\n", {"user.py:2 import", "user.py:3 import"}),
        ("rate(1)\n", {"user.py:1 name?"}),
    ],
)  # fmt: skip
def test_a_function_is_followed_through_imports(user, found):
    files = {
        "lib/rates.py": "def rate(zone):\n    return 1\n",
        "lib/__init__.py": "from .rates import rate\nfrom .rates import rate as price\n",
        "other.py": "def rate(): ...\n",
        "user.py": user,
    }
    passed_on = {"lib/__init__.py:1 import", "lib/__init__.py:2 import"}
    assert described(files, "rate", "lib/rates.py") - passed_on == found


def test_package_does_not_shadow_the_standard_library():
    files = {"app/json/__init__.py": "def dumps(x): ...\n", "app/views.py": "import json\njson.dumps(1)\n"}
    assert described(files, "dumps") == set()


def test_nested_function_is_visible_in_its_function_only():
    text = "def f():\n    def inner(): ...\n    inner()\ndef g():\n    inner()\n"
    assert described({"a.py": text, "b.py": "inner()\n"}, "f.inner") == {"a.py:3 same_file"}


@pytest.mark.parametrize(
    ("files", "name", "found"),
    [
        pytest.param(
            {
                "src/rates.ts": "export function rate(z: number) { return z }\n",
                "src/index.ts": "export { rate } from './rates';\n",
                "src/a/user.ts": "import { rate as r } from '../rates';\nr(1);\n",
                "src/b.ts": "import * as rates from './rates.js';\nrates.rate(1);\n",
                "src/c.ts": "import { rate } from './index';\nrate(1);\n",
            },
            "rate",
            {
                "src/index.ts:1 import",
                "src/a/user.ts:1 import",
                "src/a/user.ts:2 import",
                "src/b.ts:2 module",
                "src/c.ts:1 import",
                "src/c.ts:2 import",
            },
            id="typescript",
        ),
        pytest.param(
            {
                "depot/depot.go": "package depot\ntype Depot struct{}\nfunc (d *Depot) Weigh() int { return d.load() }\nfunc (d *Depot) load() int { return 1 }\n",
                "depot/other.go": "package depot\nfunc f(d *Depot) { d.Weigh() }\n",
                "main.go": 'package main\nimport "example.org/acme/parcels/depot"\nfunc g(d *depot.Depot) { d.Weigh() }\n',
            },
            "Depot.Weigh",
            {"depot/other.go:2 receiver_type", "main.go:3 receiver_type"},
            id="go",
        ),
        pytest.param(
            {
                "src/acme/Depot.java": "package acme;\nclass Depot { int weigh() { return load(); } int load() { return 1; } }\n",
                "src/acme/Sub.java": "package acme;\nclass Sub extends Depot { int f() { return load(); } }\n",
                "src/other/User.java": "package other;\nimport acme.Depot;\nclass User { void f(Depot d) { d.load(); } }\n",
            },
            "Depot.load",
            {
                "src/acme/Depot.java:2 receiver",
                "src/acme/Sub.java:2 inherited",
                "src/other/User.java:3 receiver_type",
            },
            id="java",
        ),
        pytest.param(
            {
                "src/rates.rs": "pub fn rate(z: u32) -> u32 { z }\n",
                "src/user.rs": "use crate::rates::rate;\nfn f() { rate(1); }\n",
                "src/b.rs": "use crate::rates;\nfn f() { rates::rate(1); }\n",
            },
            "rate",
            {"src/user.rs:1 import", "src/user.rs:2 import", "src/b.rs:2 module"},
            id="rust",
        ),
        pytest.param(
            {
                "inc/rates.h": "int rate(int zone);\n",
                "src/rates.c": '#include "rates.h"\nint rate(int zone) { return zone; }\n',
                "src/user.c": '#include "rates.h"\nint f(void) { return rate(1); }\n',
                "src/far.c": "int g(void) { return rate(2); }\n",
            },
            "rate",
            {"src/user.c:2 wildcard_import", "src/far.c:1 only_definition?"},
            id="c",
        ),
    ],
)
def test_references_resolve_in_other_languages(files, name, found):
    assert described(files, name) == found


def test_folder_files_re_export_names():
    files = {
        "src/rates.ts": "export function rate(z: number) { return z }\n",
        "src/index.ts": "export * from './rates';\n",
        "src/c.ts": "import { rate } from './index';\nrate(1);\n",
        "src/user.model.ts": "export class User { static run() {} }\n",
        "src/d.ts": "import { User } from './user.model';\nUser.run();\n",
    }
    assert {"src/c.ts:1 import", "src/c.ts:2 import"} <= described(files, "rate")
    assert described(files, "User.run") == {"src/d.ts:2 module"}


def test_the_same_path_in_another_repository_is_another_file():
    files = sources({"lib/rates.py": "def rate(): ...\n", "lib/a.py": "from .rates import rate\nrate()\n"})
    far = source("lib/b.py", "from .rates import rate\nrate()\n", scope="other/base")
    found = {(edge.file.path, str(edge.status)) for edge in edges([*files, far], "rate")}
    assert found == {("lib/a.py", "resolved"), ("lib/b.py", "candidate")}


def test_nearest_of_two_packages_of_one_name_is_meant():
    files = {
        "services/a/app/models.py": "def rate(): ...\n",
        "services/b/app/models.py": "def rate(): ...\n",
        "services/b/app/views.py": "from app.models import rate\nrate()\n",
    }
    assert described(files, "rate", "services/a/app/models.py") == set()
    assert described(files, "rate", "services/b/app/models.py") == {
        "services/b/app/views.py:1 import",
        "services/b/app/views.py:2 import",
    }


def test_work_is_linear_in_the_files():
    many = {
        f"pkg/m{n}.py": "".join(f"from pkg.x{k} import rate\n" for k in range(16)) + "rate()\n"
        for n in range(300)
    }
    assert not any("import" in edge for edge in described({"rates.py": "def rate(): ...\n"} | many, "rate"))


def test_overloads_in_a_file_are_one_symbol():
    text = "def f(x: int): ...\ndef f(x: str): ...\nf(1)\n"
    assert described({"a.py": text}, "f") == {"a.py:3 same_file"}


def test_each_line_with_the_name_is_explained_or_listed():
    user = "from rates import rate\n# rate is a word here\ntable = ['rate']\nrate(1)\nother.rate()\n"
    files = [
        source("rates.py", "def rate(z):\n    return z\n"),
        source("user.py", user),
        source("README.md", "rate\n", "p"),
    ]
    found = edges(files, "rate")
    defined = {(files[0].facts.scope, files[0].path): {1}}
    text = text_module.read_text("rate", text_module.as_texts("rate", files, found, defined))
    elsewhere = edges_module.count_elsewhere("rate", files, found)
    assert not text.unexplained
    assert [line.number for line in text.mentions] == [2, 3]
    assert text.lines == 6
    assert text.files == 2
    assert (text.prose_lines, text.prose_files) == (1, 1)
    assert len(found) + elsewhere + len(text.mentions) + 1 == text.lines
    assert_lines_add_up(text)
    assert text.groups == {ReferenceGroup.CALLERS: 1, ReferenceGroup.IMPORTS: 1}
    assert (text.definitions, text.candidates, text.aliased) == (1, 1, 0)
    assert not text.others


def test_variables_and_fields_of_a_name_mean_another_symbol():
    user = "use crate::gate;\nfn f(d: D) {\n    let with = d.with;\n    log!(with);\n    gate::with(1);\n}\n"
    files = sources({"src/gate.rs": "pub fn with(n: u8) {}\n", "src/user.rs": user})
    found = edges(files, "with")
    defined = {(files[0].facts.scope, files[0].path): {1}}
    texts = text_module.as_texts("with", files, found, defined)
    text = text_module.read_text("with", texts, {SymbolKind.FUNCTION})
    assert [line.number for line in text.others] == [3, 4]
    assert [line.number for line in text.unexplained] == []
    assert_lines_add_up(text)


def assert_lines_add_up(text):
    parts = (text.others, text.unexplained, text.mentions)
    counted = text.definitions + sum(text.groups.values()) + text.candidates + sum(map(len, parts))
    assert counted == text.lines


def test_lines_under_an_alias_are_counted_apart():
    files = sources(
        {"rates.py": "def rate(z):\n    return z\n", "a.py": "from rates import rate as r\nr(1)\nr(2)\n"}
    )
    found = edges(files, "rate")
    defined = {(files[0].facts.scope, files[0].path): {1}}
    text = text_module.read_text("rate", text_module.as_texts("rate", files, found, defined))
    assert_lines_add_up(text)
    assert (text.lines, text.aliased) == (2, 2)


def test_a_line_stands_in_one_group():
    sure, unsure = EdgeStatus.RESOLVED, EdgeStatus.CANDIDATE
    call, read = ReferenceGroup.CALLERS, ReferenceGroup.VALUES
    use = text_module.LineUse
    uses = [(3, use(read, sure)), (3, use(call, sure)), (3, use(call, unsure)), (4, use(call, unsure))]
    assert text_module.line_uses(uses) == {3: use(call, sure), 4: use(call, unsure)}


@pytest.mark.parametrize(
    "importing",
    [
        pytest.param("import rate from './rates';", id="default"),
        pytest.param("import { toll as rate } from './tolls';", id="of something else"),
        pytest.param("import price from './rates'; // rate", id="under another name"),
    ],
)
def test_import_and_alias_lines_are_explained(importing):
    texts = {
        "rates.ts": "export default function rate() {}\n",
        "tolls.ts": "export function toll() {}\n",
        "shop.ts": f"{importing}\nlet fair = 'rate';\n",
    }
    files = sources(texts)
    found = edges(files, "rate")
    defined = {(files[0].facts.scope, files[0].path): {1}}
    text = text_module.read_text("rate", text_module.as_texts("rate", files, found, defined))
    assert [(line.file.path, line.number) for line in text.mentions] == [("shop.ts", 2)]
    described = {(edge.file.path, edge.reference.line) for edge in found}
    assert len(described) + edges_module.count_elsewhere("rate", files, found) == 1


@given(st.text("ab_. \n", max_size=30), st.sampled_from(["a", "ab", "a.b", "_a"]))
def test_lines_with_a_name_hold_it_as_a_whole_word(text, name):
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if word.search(line)]
    assert text_module.lines_with(name, text) == lines


def test_callers_come_first_and_tests_last():
    files = [
        source("rates.py", "def rate(z):\n    return z\n"),
        source("user.py", "from rates import rate\nrate(1)\n"),
        source("test_user.py", "from rates import rate\nrate(1)\n", "t"),
    ]
    found = edges(files, "rate")
    assert [edges_module.group_of(edge) for edge in found] == [
        ReferenceGroup.CALLERS,
        ReferenceGroup.IMPORTS,
        ReferenceGroup.TESTS,
        ReferenceGroup.TESTS,
    ]
    assert edges_module.count_groups(found) == {
        ReferenceGroup.CALLERS: 1,
        ReferenceGroup.IMPORTS: 1,
        ReferenceGroup.TESTS: 2,
    }


@pytest.mark.parametrize(
    ("importer", "language", "module", "target", "sure"),
    [
        ("a/b/c.py", "python", ".d", "a/b/d.py", Certainty.YES),
        ("a/b/c.py", "python", "..d", "a/d/__init__.py", Certainty.YES),
        ("a/b/c.py", "python", ".d", "a/d.py", Certainty.NO),
        ("a/c.py", "python", "x.y", "src/x/y.py", Certainty.YES),
        ("a/c.py", "python", "y", "deep/in/y.py", Certainty.MAYBE),
        ("a/c.ts", "typescript", "./d", "a/d/index.ts", Certainty.YES),
        ("a/c.ts", "typescript", "@/lib/d", "src/lib/d.tsx", Certainty.YES),
        ("a/c.ts", "typescript", "d", "b/e.ts", Certainty.NO),
        ("c.go", "go", "example.org/acme/parcels/x", "x/y.go", Certainty.YES),
        ("c.go", "go", "example.org/acme/parcels", "y.go", Certainty.YES),
        ("c.go", "go", "encoding/json", "json/y.go", Certainty.NO),
        ("src/a/mod.rs", "rust", "super::b", "src/b.rs", Certainty.YES),
        ("src/a/c.rs", "rust", "crate::a::d", "src/a/d.rs", Certainty.YES),
        ("src/c.c", "c", "x/y.h", "include/x/y.h", Certainty.YES),
        ("src/c.c", "c", "y.h", "include/x/y.hpp", Certainty.NO),
        ("lib/c.rb", "ruby", "x/y", "lib/x/y.rb", Certainty.YES),
        ("A.java", "java", "x.y", "src/main/java/x/y/Z.java", Certainty.YES),
        ("a.py", "python", "", "b.py", Certainty.NO),
    ],
)
def test_import_resolves_to_a_file(importer, language, module, target, sure):
    file, other = File(importer, language, REPO), File(target, language, REPO)
    assert imports(file, module, other) is sure


def test_unresolved_lines_of_tests_come_last():
    files = [source("tests/test_it.py", "go(\n    rate)\n", "t"), source("zone.py", "go(\n    rate)\n")]
    text = text_module.read_text("rate", text_module.as_texts("rate", files, (), {}))
    assert [(line.file.path, line.file.is_test) for line in text.unexplained] == [
        ("zone.py", False),
        ("tests/test_it.py", True),
    ]


@pytest.mark.parametrize(
    ("path", "text", "is_code"),
    [
        ("keep.pro", "-keep class rate\n", False),
        ("notes.unknown", "rate it\n", False),
        ("Makefile", "all: rate\n", False),
        ("CMakeLists.txt", "set(all\n    rate)\n", False),
        ("page.hbs", "{{rate}}\n", True),
        ("user.py", "go(\n    rate)\n", True),
    ],
)
def test_lines_that_are_no_code_do_not_count_as_unresolved(path, text, is_code):
    files = [source("rates.py", "def rate(z):\n    return z\n"), source(path, text)]
    defined = {(files[0].facts.scope, files[0].path): {1}}
    found = text_module.read_text("rate", text_module.as_texts("rate", files, (), defined))
    assert [line.file.path for line in (found.unexplained if is_code else found.mentions)] == [path]


def test_lines_in_the_language_of_the_definition_are_code():
    files = [source("a.pl", "x\n"), source("rules.pro", "rate\n"), source("more.pro", "rate\n")]
    defined = {(files[1].facts.scope, files[1].path): {1}}
    found = text_module.read_text("rate", text_module.as_texts("rate", files, (), defined))
    assert "more.pro" in [line.file.path for line in found.unexplained]


GATES = """\
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

    def shut(self):
        self._gate.shut()


class Guarded(Gate):
    def __init__(self, gate: Gate):
        self._gate = gate

    def shut(self):
        self._gate.shut()
"""


def test_calls_of_an_overridden_member_may_run_the_override_without_a_graph_too():
    files = {"gates.py": GATES}
    assert described(files, "IronGate.shut") == {
        "gates.py:5 overridden?",
        "gates.py:18 overridden?",
        "gates.py:26 overridden?",
    }
    assert described(files, "Gate.shut") == {
        "gates.py:5 receiver",
        "gates.py:10 inherited",
        "gates.py:18 receiver_type",
        "gates.py:26 receiver_type",
    }


def test_an_override_has_as_many_parameters_where_names_are_overloaded():
    text = """\
class Gate {
    void shut() {}
    void shut(int force) {}
}
class IronGate extends Gate {
    void shut(int force) {}
}
class Yard {
    void close(Gate gate) {
        gate.shut();
        gate.shut(1);
    }
}
"""
    assert described({"Gate.java": text}, "IronGate.shut") == {"Gate.java:11 overridden?"}


def test_edges_are_unsettled_while_a_base_class_is_not_read():
    files = sources({
        "iron.py": "from mid import Mid\nclass IronGate(Mid):\n    def shut(self): ...\n",
        "gate.py": "class Gate:\n    def shut(self): ...\ndef slam(gate: Gate):\n    gate.shut()\n",
    })  # fmt: skip
    homes = [DefinedSymbol(files[0], next(one for one in files[0].symbols if one.name == "shut"))]
    uses = edges_module.Uses(homes, files)
    assert (uses.edges(), uses.is_settled) == ([], False)
    uses.learn(sources({"mid.py": "from gate import Gate\nclass Mid(Gate): ...\n"}))
    assert [(one.reference.line, one.strategy) for one in uses.edges()] == [(4, "overridden")]
    assert uses.is_settled
