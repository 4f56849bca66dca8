"""Definitions without a use: what the graph reaches, what the text and the surroundings say against it."""

import asyncio

import pytest
from atlas_files import graph_of

from prism_atlas.core.unused.page import render
from prism_atlas.core.unused.rules import pieces_of
from prism_atlas.core.unused.surroundings import bases_of
from prism_atlas.operations.unused_code import UnusedCodeFinder
from prism_chunker.core import chunk_file
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.unused import DoubtReason, NameLinesReply, UnusedGroup
from prism_runtime.packing import pack_lines
from prism_search.core.references.name_lines import SoughtNames

LIBRARY = '[project]\nname = "depot"\n'
PROSE = "md"


class TextOfFiles:
    """Answers as search does, from texts by path."""

    def __init__(self, files, *, is_down=False):
        self._files = files
        self._is_down = is_down

    async def name_lines(self, _, names):
        if self._is_down:
            raise PrismError(ErrorCode.UNAVAILABLE, "Down.", "Retry.")
        found = {}
        for path, text in self._files.items():
            language = chunk_file(path, text).language
            for one in SoughtNames(names).lines(text, language, is_prose=path.endswith(PROSE)):
                found.setdefault(f"{one.name}\t{one.place.value}\t{path}", []).append(one.line)
        return NameLinesReply(lines=pack_lines(found))

    async def texts(self, _, ranges):
        return [self._files[one.file_path] for one in ranges]

    async def first_match(self, *_):
        return None


def found_in(files, *, is_down=False):
    """Returns what nothing uses in the files, by qualified name."""
    flags = {path: "t" for path in files if "test" in path}
    graph = graph_of(files, flags)
    finder = UnusedCodeFinder(TextOfFiles(files, is_down=is_down))
    found = asyncio.run(finder.find(ScopedRequest(tenant="t", repo="acme/depot"), graph))
    return {one.node.symbol: one for one in render(graph, found.rows)}


def groups(files):
    return {symbol: one.group.value for symbol, one in found_in(files).items()}


def reasons(files, symbol):
    return [doubt.reason for doubt in found_in(files)[symbol].doubts]


def test_what_top_level_code_reaches_is_used():
    code = "def rate():\n    return base()\n\ndef base():\n    return 1\n\ndef _lost():\n    return 2\n\nrate()\n"
    assert groups({"depot.py": code}) == {"_lost": "unused"}


@pytest.mark.parametrize(
    "code",
    [
        "payload.addRate = () => { return 1; };\nship(payload);\n",
        "ship(new Proxy({}, { addRate(target) { return 1; } }));\n",
        "ship({ addRate: () => 1 });\n",
        "ship({ addRate: function () { return 1; } });\n",
    ],
)
def test_a_function_in_an_object_of_javascript_may_be_called_by_others(code):
    assert "unused" not in groups({"src/depot.ts": code, "package.json": "{}"}).values()


def test_a_private_method_of_a_class_of_javascript_is_unused():
    code = "class Depot {\n  #rate() { return 1; }\n  private lost() { return 2; }\n}\nnew Depot();\n"
    assert "Depot.lost" in groups({"src/depot.ts": code, "package.json": "{}"})


def test_a_cluster_is_unused_as_a_whole_outermost_first():
    code = "def _inner():\n    return 1\n\ndef _outer():\n    return _inner()\n\ndef _outermost():\n    return _outer()\n"
    found = found_in({"depot.py": code})
    assert list(found) == ["_outermost", "_outer", "_inner"]
    assert [one.below for one in found.values()] == [-1, 0, 0]
    assert found["_inner"].users[0].symbol == "_outer"


def test_functions_that_call_each_other_are_unused():
    code = "def _ping():\n    return _pong()\n\ndef _pong():\n    return _ping()\n"
    assert groups({"depot.py": code}) == {"_ping": "unused", "_pong": "unused"}


def test_recursion_is_no_use():
    assert groups({"depot.py": "def _again(n):\n    return _again(n - 1)\n"}) == {"_again": "unused"}


def test_used_by_tests_only_is_a_group_of_its_own():
    files = {
        "depot.py": "def _seal():\n    return _wax()\n\ndef _wax():\n    return 1\n",
        "test_depot.py": "from depot import _seal\n\ndef test_seal():\n    assert _seal()\n",
    }
    found = found_in(files)
    assert {symbol: one.group for symbol, one in found.items()} == {
        "_seal": UnusedGroup.TESTS_ONLY,
        "_wax": UnusedGroup.TESTS_ONLY,
    }
    assert "test_seal" in {user.symbol for user in found["_seal"].users}


def test_exported_names_of_a_library_are_apart():
    code = "def rate():\n    return _base()\n\ndef _base():\n    return 1\n\ndef _lost():\n    return 2\n"
    library = {"pyproject.toml": LIBRARY, "depot/__init__.py": "", "depot/rates.py": code}
    assert groups(library) == {"rate": "exported", "_lost": "unused"}
    assert groups({"depot/__init__.py": "", "depot/rates.py": code}) == dict.fromkeys(
        ["rate", "_base", "_lost"], "unused"
    )


def test_an_import_alone_is_an_export():
    files = {
        "depot/__init__.py": "from depot.rates import rate\n",
        "depot/rates.py": "def rate():\n    return 1\n",
    }
    assert groups(files) == {"rate": "exported"}


def test_an_exported_name_that_another_uses_is_used():
    code = "def rate():\n    return base()\n\ndef base():\n    return 1\n"
    files = {"pyproject.toml": LIBRARY, "depot/__init__.py": "", "depot/rates.py": code}
    assert groups(files) == {"rate": "exported"}


def test_members_of_an_unused_type_are_part_of_it():
    code = "class _Depot:\n    def open(self):\n        return 1\n\n    def close(self):\n        return 2\n"
    found = found_in({"depot.py": code})
    assert [(symbol, one.members) for symbol, one in found.items()] == [("_Depot", 2)]


def test_a_used_type_runs_its_special_members():
    code = "def _size():\n    return 1\n\nclass Depot:\n    def __len__(self):\n        return _size()\n\nDepot()\n"
    assert groups({"depot.py": code}) == {}


def test_an_override_is_reached_through_the_base():
    code = (
        "class Depot:\n    def _ship(self):\n        return 1\n\n    def run(self):\n        return self._ship()\n\n"
        "class Hub(Depot):\n    def _ship(self):\n        return 2\n\nHub().run()\n"
    )
    assert groups({"depot.py": code}) == {}


def test_a_call_on_an_unknown_object_may_mean_any_member():
    code = "class Depot:\n    def ship(self):\n        return 1\n\nDepot()\n\ndef run(thing):\n    thing.ship()\n\nrun(1)\n"
    assert groups({"depot.py": code}) == {}


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ("config.yaml", "job: _weigh\n"),
        ("page.html", "<p>{{ _weigh() }}</p>\n"),
        ("jobs.py", 'JOBS = ["_weigh"]\nprint(JOBS)\n'),
    ],
)
def test_a_name_anywhere_else_in_the_text_is_no_zero(other, line):
    found = found_in({"depot.py": "def _weigh():\n    return 1\n", other: line})
    assert found["_weigh"].group is UnusedGroup.UNCLEAR
    assert found["_weigh"].doubts[0].file_path == other


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.ts", "class Depot { open() {} }\nfunction f(d: Depot) { d['open'](); }\nf(new Depot());\n"),
        ("a.php", "<?php\nfunction work() {}\ncall_user_func('work');\n"),
        ("a.go", "package main\n\ntype T struct{ run func() }\n\nfunc work() {}\n\nfunc main() { t := T{run: work}; t.run() }\n"),
    ],
)  # fmt: skip
def test_a_use_that_the_graph_does_not_see_is_no_zero(path, code):
    assert "unused" not in groups({path: code}).values()


def test_comments_and_prose_are_mentions():
    files = {
        "depot.py": 'def _weigh():\n    return 1\n\n\n# _weigh is old\ndef go():\n    """\n    Not _weigh.\n    """\n\n\ngo()\n',
        "README.md": "`_weigh` weighs.\n",
    }
    found = found_in(files)
    assert (found["_weigh"].group, found["_weigh"].mentions) == (UnusedGroup.UNUSED, 3)


def test_what_a_doubted_definition_uses_counts_as_used():
    files = {
        "depot.py": "def _weigh():\n    return _scale()\n\ndef _scale():\n    return 1\n",
        "a.yaml": "job: _weigh\n",
    }
    assert groups(files) == {"_weigh": "unclear"}


def test_a_string_may_compose_a_name():
    code = 'def _do_ship():\n    return 1\n\nname = "ship"\nprint(globals()["_do_" + name])\n'
    assert reasons({"depot.py": code}, "_do_ship") == [DoubtReason.COMPUTED_NAME]
    assert pieces_of("_do_ship") == ["_do_", "_ship"]


def test_a_list_of_exports_is_no_use():
    code = '__all__ = ["rate"]\n\ndef rate():\n    return 1\n'
    files = {"pyproject.toml": LIBRARY, "depot/__init__.py": "", "depot/rates.py": code}
    assert groups(files) == {"rate": "exported"}


def test_a_decorator_may_register():
    code = "import jobs\n\n@jobs.task\ndef _weigh():\n    return 1\n"
    assert reasons({"depot.py": code}, "_weigh") == [DoubtReason.REGISTERED]
    inert = "import functools\n\n@functools.cache\ndef _weigh():\n    return 1\n"
    assert groups({"depot.py": inert}) == {"_weigh": "unused"}


@pytest.mark.parametrize(
    "mark",
    ['@app.get("/")', '@app.route("/depots")', "@click.command()", "@cli.command()", "@receiver(saved)", "@bus.on('weigh')"],
)  # fmt: skip
def test_what_a_decorator_registers_is_no_zero(mark):
    code = f"from depots import *\n\n{mark}\ndef _weigh():\n    return 1\n"
    assert groups({"depot.py": code}).get("_weigh") != "unused"
    bare = code.replace(f"{mark}\n", "")
    assert groups({"depot.py": bare}) == {"_weigh": "unused"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("api.py", '@app.get("/")\ndef index():\n    return _used()\n\ndef _used():\n    return 1\n'),
        ("cli.py", "@click.command()\ndef send():\n    return _used()\n\ndef _used():\n    return 1\n"),
        ("App.java", 'class App {\n  @GetMapping("/")\n  String home() { return used(); }\n  private String used() { return ""; }\n}\n'),
    ],
)  # fmt: skip
def test_what_an_entry_point_reaches_is_used(path, code):
    assert groups({path: code}) == {}


def test_a_member_may_override_one_of_a_supertype_outside():
    code = "import ast\n\nclass Walk(ast.NodeVisitor):\n    def visit_Call(self, node):\n        return 1\n\nWalk()\n"
    assert DoubtReason.INHERITED in reasons({"depot.py": code}, "Walk.visit_Call")


def test_a_supertype_outside_may_have_the_name_of_a_type_inside():
    code = (
        "import urllib.request\n\nclass Request:\n    pass\n\n"
        "class Adapted(urllib.request.Request):\n    def add_header(self, key):\n        return key\n\n"
        "class Own(Request):\n    def lost(self):\n        return 1\n\nAdapted()\nOwn()\n"
    )
    assert DoubtReason.INHERITED in reasons({"depot.py": code}, "Adapted.add_header")
    assert DoubtReason.INHERITED not in reasons({"depot.py": code}, "Own.lost")


def test_without_text_nothing_is_called_unused():
    found = found_in({"depot.py": "def _weigh():\n    return 1\n"}, is_down=True)
    assert found["_weigh"].group is UnusedGroup.UNCLEAR
    assert found["_weigh"].doubts[0].reason is DoubtReason.NOT_READ


def test_go_names_of_a_program_and_of_a_package():
    program = {"main.go": "package main\n\nfunc main() { run() }\n\nfunc run() {}\n\nfunc Lost() {}\n"}
    assert groups(program) == {"Lost": "unused"}
    package = {"depot/depot.go": "package depot\n\nfunc Open() {}\n\nfunc lost() {}\n"}
    assert groups(package) == {"Open": "exported", "lost": "unused"}


def test_go_methods_may_satisfy_an_interface():
    code = (
        "package main\n\ntype Gate struct{}\n\nfunc (g Gate) Open() {}\n\nfunc (g Gate) lost() {}\n\n"
        "func main() { print(Gate{}) }\n"
    )
    found = found_in({"main.go": code})
    assert {symbol: one.group.value for symbol, one in found.items()} == {
        "Gate.Open": "unclear",
        "Gate.lost": "unused",
    }
    assert found["Gate.lost"].certain


def test_go_versions_for_platforms_are_one_symbol():
    files = {
        "main.go": "package main\n\nfunc main() { start() }\n",
        "start_unix.go": "package main\n\nfunc start() {}\n",
        "start_windows.go": "package main\n\nfunc start() {}\n",
    }
    assert groups(files) == {}


def test_rust_tests_and_traits():
    code = (
        "pub struct Gate;\n\nimpl Drop for Gate {\n    fn drop(&mut self) {}\n}\n\n"
        "impl shut::Shut for Gate {\n    fn shut_it(&self) {}\n}\n\nimpl Gate {\n    fn lost(&self) {}\n}\n\n"
        "fn main() { let _gate = Gate; }\n\n"
        "#[cfg(test)]\nmod checks {\n    fn helper() {}\n\n    #[test]\n    fn opens() {}\n}\n"
    )
    assert groups({"src/main.rs": code}) == {"Gate.shut_it": "unclear", "Gate.lost": "unused"}


def test_java_members_and_annotations():
    code = (
        "class Depot {\n  private void lost() {}\n\n  @Scheduled\n  private void nightly() {}\n\n"
        "  public static void main(String[] args) { new Depot(); }\n}\n"
    )
    assert groups({"src/main/java/Depot.java": code}) == {"Depot.lost": "unused", "Depot.nightly": "unclear"}


def test_typescript_exports_of_a_library():
    code = "export function rate() { return base(); }\n\nfunction base() { return 1; }\n\nfunction lost() { return 2; }\n"
    library = {"package.json": '{"name": "depot", "main": "src/rates.ts"}\n', "src/rates.ts": code}
    assert groups(library) == {"rate": "exported", "lost": "unused"}
    application = {"package.json": '{"name": "depot", "private": true}\n', "src/rates.ts": code}
    assert groups(application) == dict.fromkeys(["rate", "base", "lost"], "unused")


@pytest.mark.parametrize(
    ("text", "language", "bases"),
    [
        ("class Depot(base.Hub, Generic[T], metaclass=ABCMeta):", "python", ["Hub", "Generic", "ABCMeta"]),
        ("class Depot:", "python", []),
        (
            "class Depot<T> extends Hub<T, string> implements Gate, Lock {",
            "typescript",
            ["Hub", "Gate", "Lock"],
        ),
        ("public class Depot extends pkg.Hub implements Gate {", "java", ["Hub", "Gate"]),
        ("class Depot(val a: Int) : Hub(a), Gate {", "kotlin", ["Hub", "Gate"]),
        ("public class Depot : Hub, IGate\n{", "csharp", ["Hub", "IGate"]),
        ("class Depot : public ns::Hub {", "cpp", ["Hub"]),
        ("class Depot < Hub\n  def open", "ruby", ["Hub"]),
        ("class Depot\n  def open", "ruby", []),
        ("class Depot {\n  a: string;", "typescript", []),
    ],
)
def test_supertypes_are_read_from_the_header(text, language, bases):
    assert bases_of(text, "Depot", language) == bases


@pytest.mark.parametrize(
    ("path", "text", "symbol"),
    [
        (
            "docs/app/parcels/page.tsx",
            "export function generateMetadata() { return {}; }\n",
            "generateMetadata",
        ),
        ("vite.config.ts", "export const depot = { a: 1 };\n", "depot"),
        ("deploy/conf.py", "depot_name = 1\n", "depot_name"),
        ("hooks/hook-depot.py", "def hook(api):\n    return 1\n", "hook"),
    ],
)
def test_files_that_a_tool_loads_by_name_are_unclear(path, text, symbol):
    found = found_in({path: text})
    assert found[symbol].group is UnusedGroup.UNCLEAR
    assert DoubtReason.IMPLICIT in [doubt.reason for doubt in found[symbol].doubts]
