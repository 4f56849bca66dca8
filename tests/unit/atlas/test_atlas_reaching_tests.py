"""The tests that reach a symbol, through helpers, fixtures, set-up methods, base classes and objects."""

import numpy as np
import pytest
from atlas_files import graph_of
from graph_sketch import node

from prism_atlas.core.graph import Graph
from prism_atlas.core.named_tests import TitleTexts, listed_tests
from prism_atlas.core.reaching_tests import reaching_tests
from prism_source.classify import classify_path


def graph_with_flags(files: dict[str, str]) -> Graph:
    return graph_of(files, {path: classify_path(path).letters for path in files})


def reached(files: dict[str, str], symbol: str, texts: bool = False) -> list[str]:
    """Returns `path:test` of the tests that reach a symbol, the uncertain ones with a question mark."""
    graph = graph_with_flags(files)
    found = reaching_tests(graph, np.array([node(graph, symbol)], np.int32), candidates=True)
    lines = {path: text.split("\n") for path, text in files.items()} if texts else {}
    listed = listed_tests(graph, found, TitleTexts(lines))
    return sorted(
        f"{one.node.file_path}:{one.node.symbol}{'' if one.reached.resolved else '?'}" for one in listed
    )


DEPOT = (
    "def weigh(): ...\n\nclass Depot:\n    def __init__(self):\n        weigh()\n    def ship(self): ...\n"
)


def test_helpers_lead_to_their_tests_and_are_none() -> None:
    files = {
        "depot.py": DEPOT,
        "tests/helpers.py": "from depot import weigh\ndef load():\n    weigh()\n",
        "tests/test_a.py": "from helpers import load\ndef prepare():\n    load()\ndef test_one():\n    prepare()\n",
    }
    assert reached(files, "depot.py:weigh") == ["tests/test_a.py:test_one?"]


def test_test_that_makes_the_object_reaches_what_its_constructor_calls() -> None:
    files = {"depot.py": DEPOT, "tests/test_a.py": "from depot import Depot\ndef test_one():\n    Depot()\n"}
    assert reached(files, "depot.py:weigh") == ["tests/test_a.py:test_one"]


@pytest.mark.parametrize(
    ("code", "tests", "expected"),
    [
        (
            ("depot.go", "package depot\n\nfunc weigh() {}\n\ntype Depot struct{}\n\nfunc New() *Depot { weigh(); return &Depot{} }\n", "weigh"),
            ("depot_test.go", "package depot\n\nfunc load() { New() }\n\nfunc TestOne(t *testing.T) { load() }\n\nfunc TestTwo(t *testing.T) {}\n"),
            "TestOne",
        ),
        (
            ("src/lib.rs", "fn weigh() {}\npub struct Depot;\nimpl Depot { pub fn new() -> Depot { weigh(); Depot } }\n", "weigh"),
            ("src/tests.rs", "use crate::Depot;\nfn load() { Depot::new(); }\n#[test]\nfn one() { load(); }\n#[test]\nfn two() {}\n"),
            "one",
        ),
        (
            ("src/main/java/Depot.java", "class Depot {\n  Depot() { weigh(); }\n  static void weigh() {}\n}\n", "Depot.weigh"),
            ("src/test/java/ATest.java", "class ATest {\n  void load() { new Depot(); }\n  @Test void one() { load(); }\n  @Test void two() {}\n}\n"),
            "ATest.one",
        ),
        (
            ("src/main/kotlin/Depot.kt", "fun weigh() {}\nclass Depot {\n  constructor() { weigh() }\n}\n", "weigh"),
            ("src/test/kotlin/ATest.kt", "class ATest {\n  fun load() { Depot() }\n  @Test fun one() { load() }\n  @Test fun two() {}\n}\n"),
            "ATest.one",
        ),
        (
            ("src/Depot.cs", "public class Depot {\n  public Depot() { Weigh(); }\n  public static void Weigh() {}\n}\n", "Depot.Weigh"),
            ("tests/ATests.cs", "public class ATests {\n  void Load() { new Depot(); }\n  [Fact] public void One() { Load(); }\n  [Fact] public void Two() {}\n}\n"),
            "ATests.One",
        ),
        (
            ("Depot.php", "<?php\nfunction weigh() {}\nclass Depot { public function __construct() { weigh(); } }\n", "weigh"),
            ("tests/ATest.php", "<?php\nclass ATest extends TestCase {\n  private function load() { new Depot(); }\n  public function testOne() { $this->load(); }\n  public function testTwo() {}\n}\n"),
            "ATest.testOne",
        ),
        (
            ("Sources/Depot.swift", "func weigh() {}\nclass Depot {\n  init() { weigh() }\n}\n", "weigh"),
            ("Tests/ATests.swift", "class ATests: XCTestCase {\n  func load() { Depot() }\n  func testOne() { load() }\n  func testTwo() {}\n}\n"),
            "ATests.testOne",
        ),
        (
            ("depot.hpp", "inline void weigh() {}\nstruct Depot {\n  Depot(int n) { weigh(); }\n};\n", "weigh"),
            ("test/a.cpp", '#include "../depot.hpp"\nvoid load() { Depot d(1); }\nTEST(Shed, one) { load(); }\nTEST(Shed, two) {}\n'),
            "Shed.one",
        ),
        (
            ("lib/depot.rb", "class Depot\n  def initialize\n    weigh\n  end\n\n  def weigh; end\nend\n", "Depot.weigh"),
            ("test/test_a.rb", "class ATest < Minitest::Test\n  def load\n    Depot.new\n  end\n\n  def test_one\n    load\n  end\n\n  def test_two; end\nend\n"),
            "ATest.test_one",
        ),
    ],
)  # fmt: skip
def test_each_language_reaches_the_tests_that_make_an_object(code, tests, expected) -> None:
    path, text, symbol = code
    assert reached({path: text, tests[0]: tests[1]}, f"{path}:{symbol}") == [f"{tests[0]}:{expected}"]


CONFTEST = "import pytest\nfrom depot import weigh\n@pytest.fixture({}){}\ndef depot():\n    return weigh()\n"


@pytest.mark.parametrize(
    ("fixture", "tests", "expected"),
    [
        ("", "def test_one(depot): ...\ndef test_two(other): ...\n", ["test_one"]),
        ("", "def test_one(depot=None): ...\n", []),
        ("", 'import pytest\n@pytest.mark.usefixtures("depot")\nclass TestA:\n    def test_one(self): ...\n', ["TestA.test_one"]),
        ("", "import pytest\n@pytest.fixture\ndef van(depot): ...\ndef test_one(van): ...\n", ["test_one"]),
        ("", "import pytest\n@pytest.fixture\ndef depot(): ...\ndef test_one(depot): ...\n", []),
        ("", "import pytest\n@pytest.fixture\ndef depot(depot): ...\ndef test_one(depot): ...\n", ["test_one"]),
        ('name="van"', "def test_one(van): ...\ndef test_two(depot): ...\n", ["test_one"]),
        ("autouse=True", "def test_one(): ...\n", ["test_one"]),
        ("", "def test_one(request):\n    request.getfixturevalue('depot')\n", ["test_one"]),
    ],
)  # fmt: skip
def test_fixture_leads_to_the_tests_that_get_it(fixture, tests, expected) -> None:
    files = {"depot.py": DEPOT, "tests/conftest.py": CONFTEST.format(fixture, ""), "tests/a/test_a.py": tests}
    assert reached(files, "depot.py:weigh") == [f"tests/a/test_a.py:{name}" for name in expected]


def test_fixture_of_another_folder_is_not_meant() -> None:
    files = {
        "depot.py": DEPOT,
        "tests/a/conftest.py": CONFTEST.format("", ""),
        "tests/b/conftest.py": "import pytest\n@pytest.fixture\ndef depot(): ...\n",
        "tests/b/test_b.py": "def test_one(depot): ...\n",
    }
    assert reached(files, "depot.py:weigh") == []


def test_set_up_runs_for_every_test_of_its_class() -> None:
    tests = (
        "from unittest import TestCase\nfrom depot import weigh\nclass DepotTest(TestCase):\n"
        "    def setUp(self):\n        weigh()\n    def test_one(self): ...\nclass Other(TestCase):\n"
        "    def test_two(self): ...\n"
    )
    assert reached({"depot.py": DEPOT, "tests/test_a.py": tests}, "depot.py:weigh") == [
        "tests/test_a.py:DepotTest.test_one"
    ]


def test_tests_of_a_base_class_run_in_each_collected_subclass() -> None:
    tests = (
        "from unittest import TestCase\nfrom depot import weigh\nclass Cases:\n    def test_one(self):\n        weigh()\n"
        "class ATest(Cases, TestCase): ...\nclass BTest(Cases, TestCase):\n    def test_one(self): ...\n"
    )
    assert reached({"depot.py": DEPOT, "tests/test_a.py": tests}, "depot.py:weigh") == [
        "tests/test_a.py:ATest.test_one"
    ]


def test_class_that_a_test_file_imports_runs_there_too() -> None:
    files = {
        "depot.py": DEPOT,
        "tests/test_a.py": "from depot import weigh\nclass TestA:\n    def test_one(self):\n        weigh()\n",
        "tests/test_b.py": "from tests.test_a import TestA\nclass TestB(TestA): ...\n",
    }
    assert reached(files, "depot.py:weigh") == [
        "tests/test_a.py:TestA.test_one",
        "tests/test_b.py:TestA.test_one",
        "tests/test_b.py:TestB.test_one",
    ]


def test_what_decorates_a_test_belongs_to_it() -> None:
    tests = (
        "import pytest\nfrom depot import weigh\n@pytest.mark.parametrize('a', [weigh()])\ndef test_one(a): ...\n"
        "def test_two(): ...\n"
    )
    assert reached({"depot.py": DEPOT, "tests/test_a.py": tests}, "depot.py:weigh") == [
        "tests/test_a.py:test_one"
    ]


def test_operators_reach_the_tests_that_make_their_object() -> None:
    files = {
        "depot.py": "class Depot:\n    def __len__(self): ...\nclass Van:\n    def __len__(self): ...\n",
        "tests/test_a.py": "from depot import Depot, Van\ndef test_one():\n    len(Depot())\ndef test_two():\n    Van()\n",
    }
    assert reached(files, "depot.py:Depot.__len__") == ["tests/test_a.py:test_one?"]


@pytest.mark.parametrize(
    ("code", "tests", "expected"),
    [
        (
            ("depot.go", "package depot\nfunc Weigh() {}\n", "Weigh"),
            ("depot_test.go", "package depot\nfunc load() { Weigh() }\nfunc TestShip(t *testing.T) { load() }\n"),
            ["depot_test.go:TestShip"],
        ),
        (
            ("src/lib.rs", ("pub fn weigh() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    fn load() { weigh() }\n"
             "    #[test]\n    fn ships() { load() }\n}\n"), "weigh"),
            ("tests/all.rs", "#[test]\nfn other() {}\n"),
            ["src/lib.rs:tests.ships"],
        ),
        (
            ("src/main/java/Depot.java", "public class Depot {\n  public static void weigh() {}\n}\n", "Depot.weigh"),
            ("src/test/java/DepotTest.java", ("class DepotTest {\n  @BeforeEach void init() { Depot.weigh(); }\n"
             "  @Test void ships() {}\n  void helper() {}\n}\n")),
            ["src/test/java/DepotTest.java:DepotTest.ships"],
        ),
        (
            ("src/Depot.cs", "public class Depot {\n  public static void Weigh() {}\n}\n", "Depot.Weigh"),
            ("tests/DepotTests.cs", ("public class DepotTests {\n  public DepotTests() { Depot.Weigh(); }\n"
             "  [Fact] public void Ships() {}\n}\n")),
            ["tests/DepotTests.cs:DepotTests.Ships"],
        ),
        (
            ("Depot.php", "<?php\nclass Depot {\n  public static function weigh() {}\n}\n", "Depot.weigh"),
            ("tests/DepotTest.php", ("<?php\nclass DepotTest extends TestCase {\n  public function testShips() {\n"
             "    $this->load();\n  }\n  private function load() {\n    Depot::weigh();\n  }\n}\n")),
            ["tests/DepotTest.php:DepotTest.testShips"],
        ),
    ],
)  # fmt: skip
def test_each_language_has_its_tests_and_set_ups(code, tests, expected) -> None:
    path, text, symbol = code
    found = reached({path: text, tests[0]: tests[1]}, f"{path}:{symbol}")
    assert [one.removesuffix("?") for one in found] == expected


JAVA_DEPOT = {"src/main/java/Depot.java": "public class Depot {\n  public static void weigh() {}\n}\n"}
CSHARP_DEPOT = {"src/Depot.cs": "public class Depot {\n  public static void Weigh() {}\n}\n"}


@pytest.mark.parametrize(
    ("helper", "case", "expected"),
    [
        ("abstract class Base {\n  @BeforeEach void init() { Depot.weigh(); }\n}\n", "class ATest extends Base {\n  @Test void ships() {}\n}\n", ["ships"]),
        ("abstract class Base {\n  @Test void opens() { Depot.weigh(); }\n}\n", "class ATest extends Base {\n  @Test void ships() {}\n}\n", ["opens"]),
        ("class Rule extends ExternalResource {\n  @Override void before() { Depot.weigh(); }\n}\n", "class ATest {\n  @Rule Rule rule = new Rule();\n  @Test void ships() {}\n}\n", ["ships"]),
        ("class Loads implements BeforeEachCallback {\n  public void beforeEach() { Depot.weigh(); }\n}\n", "@ExtendWith(Loads.class)\nclass ATest {\n  @Test void ships() {}\n}\n", ["ships"]),
    ],
)  # fmt: skip
def test_base_classes_and_rules_of_junit_lead_to_the_tests_that_have_them(helper, case, expected) -> None:
    other = "class BTest {\n  @Test void other() {}\n}\n"
    files = {
        "src/test/java/Helper.java": helper,
        "src/test/java/ATest.java": case,
        "src/test/java/BTest.java": other,
    }
    found = reached(JAVA_DEPOT | files, "src/main/java/Depot.java:Depot.weigh")
    assert [one.removesuffix("?") for one in found] == [
        f"src/test/java/ATest.java:ATest.{name}" for name in expected
    ]


@pytest.mark.parametrize(
    "case",
    [
        "public class ATests : IClassFixture<Fix> {\n  public ATests(Fix f) {}\n  [Fact] public void Ships() {}\n}\n",
        "public class ATests {\n  readonly Fix fix = new Fix();\n  [Fact] public void Ships() {}\n}\n",
        "public class ATests {\n  [SetUp] public void Init() { new Fix(); }\n  [Test] public void Ships() {}\n}\n",
        "public class ATests {\n  [OneTimeSetUp] public void Init() { new Fix(); }\n  [Test] public void Ships() {}\n}\n",
    ],
)
def test_fixtures_of_csharp_lead_to_the_tests_of_the_class_that_has_them(case) -> None:
    files = {
        "tests/Fix.cs": "public class Fix {\n  public Fix() { Depot.Weigh(); }\n}\n",
        "tests/ATests.cs": case,
        "tests/BTests.cs": "public class BTests {\n  [Fact] public void Other() {}\n}\n",
    }
    found = reached(CSHARP_DEPOT | files, "src/Depot.cs:Depot.Weigh")
    assert [one.removesuffix("?") for one in found] == ["tests/ATests.cs:ATests.Ships"]


def test_test_that_makes_an_object_reaches_what_a_framework_calls_on_it() -> None:
    files = {
        "app.py": "class App:\n    async def __call__(self, scope): ...\n",
        "tests/test_a.py": "from app import App\ndef test_one():\n    run(App())\ndef test_two(): ...\n",
    }
    assert reached(files, "app.py:App.__call__") == ["tests/test_a.py:test_one?"]


SPEC = """\
import { weigh } from "./depot"
const load = () => weigh()
describe("depot", () => {
  it("ships", () => {
    load()
  })
  it("waits", () => {})
  describe("full", () => {
    beforeEach(() => {
      weigh()
    })
    it("refuses", () => {})
  })
})
"""


def test_tests_that_are_calls_are_named_by_their_titles() -> None:
    files = {"depot.ts": "export function weigh() {}\n", "depot.test.ts": SPEC}
    assert reached(files, "depot.ts:weigh", texts=True) == ["depot.test.ts:refuses", "depot.test.ts:ships"]


def test_without_its_text_a_file_of_calls_stands_for_its_tests() -> None:
    files = {"depot.ts": "export function weigh() {}\n", "depot.test.ts": SPEC}
    assert reached(files, "depot.ts:weigh") == ["depot.test.ts:"]


def test_file_without_tests_of_a_known_form_names_what_no_other_uses() -> None:
    tests = "from depot import weigh\ndef load():\n    weigh()\ndef check_one():\n    load()\n"
    assert reached({"depot.py": DEPOT, "tests/test_a.py": tests}, "depot.py:weigh") == [
        "tests/test_a.py:check_one"
    ]


def test_command_that_a_decorator_registers_runs_by_its_group() -> None:
    files = {
        "cli.py": "import click\n@click.group()\ndef cli(): ...\n@cli.command()\ndef send(): ...\n",
        "tests/test_a.py": "from cli import cli\ndef test_one():\n    runner.invoke(cli, ['send'])\ndef test_two(): ...\n",
    }
    assert reached(files, "cli.py:send") == ["tests/test_a.py:test_one?"]


def test_file_whose_classes_only_inherit_tests_has_them() -> None:
    files = {
        "depot.py": DEPOT,
        "tests/cases.py": "class Cases:\n    def test_one(self):\n        self.kind()\n",
        "tests/test_a.py": "from unittest import TestCase\nfrom depot import Depot\nfrom tests.cases import Cases\n"
        "class ATest(TestCase, Cases):\n    kind = Depot\n",
    }
    assert reached(files, "depot.py:weigh") == ["tests/test_a.py:ATest.test_one?"]


CHAIN = {
    "depot.py": "class Depot:\n    def weigh(self): ...\n",
    "a.py": "class A:\n    def first(self, one):\n        one.weigh()\n",
    "b.py": "class B:\n    def second(self, one):\n        one.first()\n",
}
FAR = "def made(): ...\ndef test_far():\n    made().second()\n"
NEAR = "def made(): ...\ndef test_near():\n    made().first()\n"
NEAREST = "def made(): ...\ndef test_nearest():\n    made().weigh()\n"


def test_a_way_of_many_guesses_leads_to_no_test_where_a_shorter_one_does() -> None:
    files = CHAIN | {"tests/test_a.py": FAR, "tests/test_b.py": NEAR, "tests/test_c.py": NEAREST}
    graph = graph_with_flags(files)
    found = reaching_tests(graph, np.array([node(graph, "depot.py:Depot.weigh")], np.int32), candidates=True)
    names = [one.node.symbol for one in listed_tests(graph, found, TitleTexts())]
    assert (names, [one.guesses for one in found]) == (["test_nearest", "test_near"], [1, 2])


def test_a_way_of_many_guesses_leads_to_tests_where_no_other_does() -> None:
    files = CHAIN | {"tests/test_a.py": FAR}
    assert reached(files, "depot.py:Depot.weigh") == ["tests/test_a.py:test_far?"]


def test_what_runs_for_several_tests_is_reached_by_one_guess_at_most() -> None:
    set_up = (
        "from unittest import TestCase\nclass ATest(TestCase):\n    def setUp(self):\n        self.made().first()\n"
        "    def test_set_up(self): ...\n"
    )
    files = CHAIN | {"tests/test_a.py": set_up, "tests/test_b.py": NEAR}
    assert reached(files, "depot.py:Depot.weigh") == ["tests/test_b.py:test_near?"]


def test_what_runs_for_a_folder_is_reached_without_a_guess_or_last() -> None:
    conftest = "import pytest\n@pytest.fixture(autouse=True)\ndef clean(thing):\n    thing.weigh()\n"
    files = CHAIN | {"tests/conftest.py": conftest, "tests/test_a.py": "def test_any(): ...\n"}
    assert reached(files, "depot.py:Depot.weigh") == ["tests/test_a.py:test_any?"]
    files["tests/test_b.py"] = NEAREST
    assert reached(files, "depot.py:Depot.weigh") == ["tests/test_b.py:test_nearest?"]


@pytest.mark.parametrize(
    ("path", "test", "expected"),
    [
        ("a.c", "void opens(void) { weigh(); }\nint main(void) { RUN_TEST(opens); }\n", ["opens"]),
        ("a.c", "void opens(void) { weigh(); }\nint main(void) { RUN_TEST(opens); finish(); }\n", ["opens"]),
        ("a.c", "static void test_opens(void) { weigh(); }\nint main(void) { test_opens(); }\n", ["test_opens"]),
        ("a.c", "START_TEST(opens)\n{\n  weigh();\n}\nEND_TEST\n", ["opens"]),
        ("a.c", "void load(void) { weigh(); }\nvoid test_one(void) { load(); }\n", ["test_one"]),
        ("a.c", "void setUp(void) { weigh(); }\nvoid test_one(void) {}\nvoid test_two(void) {}\n", ["test_one", "test_two"]),
        ("a.cpp", "TEST(Depot, opens) { weigh(); }\nTEST(Depot, ships) {}\n", ["Depot.opens"]),
        ("a.cpp", 'TEST_CASE("a depot opens") { weigh(); }\n', ["a depot opens"]),
        ("a.cpp", "struct Shop { void SetUp() { weigh(); } };\nTEST_F(Shop, opens) {}\n", ["Shop.opens"]),
        ("a.cpp", "BOOST_AUTO_TEST_CASE(opens) { weigh(); }\n", ["opens"]),
    ],
)  # fmt: skip
def test_tests_of_c_are_those_of_macros_and_of_runners(path: str, test: str, expected: list[str]) -> None:
    files = {
        "depot.h": "int weigh(void);\n",
        "depot.c": '#include "depot.h"\nint weigh(void) { return 1; }\n',
    }
    if path.endswith("pp"):
        files = {"depot.h": "inline int weigh() { return 1; }\n"}
    source = f'#include "../depot.h"\n{test}'
    changed = "depot.h:weigh" if path.endswith("pp") else "depot.c:weigh"
    assert reached(files | {f"test/{path}": source}, changed) == [f"test/{path}:{name}" for name in expected]


def test_a_test_behind_a_hook_names_the_hook_and_its_group() -> None:
    files = {"depot.ts": "export function weigh() {}\n", "depot.test.ts": SPEC}
    graph = graph_with_flags(files)
    found = reaching_tests(graph, np.array([node(graph, "depot.ts:weigh")], np.int32), candidates=True)
    listed = listed_tests(graph, found, TitleTexts({"depot.test.ts": SPEC.split("\n")}))
    shown = {
        one.node.symbol: (
            one.hook and (one.hook.name, one.hook.start_line),
            one.node.outer and one.node.outer.name,
        )
        for one in listed
    }
    assert shown == {
        "refuses": (("beforeEach", 9), "describe 'full'"),
        "ships": (None, "describe 'depot'"),
    }


def test_tests_reach_a_method_of_go_through_the_interface_that_it_implements() -> None:
    files = {
        "go.mod": "module acme.example/town\n",
        "stores.go": (
            "package town\n\ntype Store interface {\n\tSave(n int) error\n}\n\n"
            "type Disk struct{}\n\nfunc (d *Disk) Save(n int) error { return nil }\n\n"
            "type Session struct {\n\tstore Store\n}\n\n"
            "func (s *Session) Keep() error { return s.store.Save(1) }\n"
        ),
        "stores_test.go": (
            'package town\n\nimport "testing"\n\n'
            "func TestKeep(t *testing.T) {\n\ts := &Session{&Disk{}}\n\ts.Keep()\n}\n"
        ),
    }
    assert reached(files, "stores.go:Disk.Save") == ["stores_test.go:TestKeep"]
