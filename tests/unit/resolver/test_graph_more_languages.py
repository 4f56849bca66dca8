"""Members that Rust, PHP, Ruby, Scala, Swift and C read: fields, class constants, types before a dot, conditions."""

import pytest
from graph_files import edges_of

RUST = """pub struct Gate { pub width: u8 }
pub struct Depot { pub size: u8, pub gate: Gate }
pub struct Town { depot: Depot }
"""
PHP = """<?php
namespace Shop;
class Base { const LOW = 1; public static $made = 0; }
class Depot extends Base { const FULL = 2; public $size; public ?Depot $next; }
"""
RUBY = "module Shop\n  class Depot\n    LIMIT = 3\n    def weigh\n    end\n  end\nend\n"
SCALA = "package shop\nobject Depot { val size = 1 }\nclass Gate { val width = 2 }\n"
SWIFT = "struct Depot { var isOpen: Bool { true } }\n"
C_ENUMS = "typedef enum state { CLOSED, OPENED } state_t;\nenum weight { LIGHT };\n"


def targets(files: dict[str, str], path: str) -> set[str]:
    """Returns the resolved edges of a file as `line name -> symbol`."""
    found = (one.split(" ") for one in edges_of(files) if one.startswith(f"{path}:") and ":*" not in one)
    return {
        f"{place.rpartition(':')[2]} {name} -> {target.rpartition(':')[2]}"
        for place, name, _, target, strategy in found
        if not strategy.endswith("?")
    }


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("fn f(d: &Depot) -> bool { (d.size + 1) * 2 > 3 }", "Depot.size"),
        ("fn f(d: &Depot) -> u8 { if d.gate.width > 1 { 1 } else { 2 } }", "Gate.width"),
        ("fn f(gate: Gate) -> Depot { Depot { size: 1, gate } }", "Depot.size"),
        ("fn f(gate: Gate) -> Depot { Depot { size: 1, gate } }", "Depot.gate"),
        ("fn f(d: Depot) { let Depot { size, .. } = d; }", "Depot.size"),
        ("impl Town { fn f(&self) -> u8 { max(self.depot.size, 1) } }", "Depot.size"),
    ],
)
def test_a_field_of_rust_is_used_where_it_is_read_set_and_matched(code: str, found: str) -> None:
    edges = targets({"src/lib.rs": f"{RUST}{code}\n"}, "src/lib.rs")
    assert f"4 {found.rpartition('.')[2]} -> {found}" in edges


def test_a_field_of_rust_is_read_through_a_field_of_another_file() -> None:
    code = "use crate::depot::Depot;\npub struct Town { depot: Depot }\nimpl Town { fn f(&self) -> u8 { go(self.depot.size) } }\n"
    files = {"src/depot.rs": "pub struct Depot { pub size: u8 }\n", "src/town.rs": code}
    assert "3 size -> Depot.size" in targets(files, "src/town.rs")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return self::FULL;", "FULL -> Depot.FULL"),
        ("switch ($a) { case static::FULL: return 1; }", "FULL -> Depot.FULL"),
        ("return parent::LOW + self::LOW;", "LOW -> Base.LOW"),
        ("if ($this->size > 3) { return 1; }", "size -> Depot.size"),
        ("return strlen($this->next->size);", "size -> Depot.size"),
        ("return self::$made + 1;", "made -> Base.made"),
    ],
)
def test_php_reads_constants_and_properties_of_its_own_class(body: str, found: str) -> None:
    code = PHP.replace("public ?Depot $next;", f"public ?Depot $next;\n function f($a) {{ {body} }}")
    assert f"5 {found}" in targets({"src/Depot.php": code}, "src/Depot.php")


def test_php_reads_a_property_through_a_typed_variable_and_property() -> None:
    user = "<?php\nnamespace Shop;\nclass User {\n private Depot $depot;\n function f(Depot $d) { return $d->size + $this->depot->size; }\n}\n"
    assert "5 size -> Depot.size" in targets({"src/Depot.php": PHP, "src/User.php": user}, "src/User.php")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("d = Shop::Depot.new(3)", "Depot -> Shop.Depot"),
        ("def f\n  Shop::Depot\nend", "Depot -> Shop.Depot"),
        ("Shop::Depot.new.weigh", "weigh -> Shop.Depot.weigh"),
        ("def f\n  d = Shop::Depot.new\n  d.weigh\nend", "weigh -> Shop.Depot.weigh"),
        (
            "class User\n  def initialize\n    @d = Shop::Depot.new\n  end\n  def f\n    @d.weigh\n  end\nend",
            "weigh -> Shop.Depot.weigh",
        ),
        ("def stop\nend\ndef f\n  stop\n  3\nend", "stop -> stop"),
        ("Shop::Depot.new.send(:weigh, 1)", "weigh -> Shop.Depot.weigh"),
        ("def f\n  d = Shop::Depot.new\n  d&.public_send('weigh')\nend", "weigh -> Shop.Depot.weigh"),
        ("def f\n  d = Shop::Depot.new\n  [1].each(&d.method(:weigh))\nend", "weigh -> Shop.Depot.weigh"),
        ("def stop\nend\ndef f\n  __send__ :stop\nend", "stop -> stop"),
        ("class Big < Shop::Depot\n  def weigh\n    super\n  end\nend", "weigh -> Shop.Depot.weigh"),
        (
            "class Big < Shop::Depot\n  def weigh(n)\n    n.each { |one| super(one) }\n  end\nend",
            "weigh -> Shop.Depot.weigh",
        ),
    ],
)
def test_ruby_uses_types_before_a_dot_and_calls_without_arguments(code: str, found: str) -> None:
    other = "class Other\n  def weigh\n  end\nend\n"
    edges = targets({"lib/depot.rb": RUBY, "lib/other.rb": other, "lib/user.rb": f"{code}\n"}, "lib/user.rb")
    assert any(one.partition(" ")[2] == found for one in edges)


@pytest.mark.parametrize(
    "code",
    [
        "class Own\n  def weigh\n    super\n  end\nend",
        "class Own < Gem::Own\n  def weigh\n    super\n  end\nend",
        "def f\n  d = Shop::Depot.new\n  d.send(weigh)\nend",
    ],
)
def test_ruby_without_a_known_base_or_name_calls_no_method(code: str) -> None:
    other = "class Other\n  def weigh\n  end\nend\n"
    edges = targets({"lib/depot.rb": RUBY, "lib/other.rb": other, "lib/user.rb": f"{code}\n"}, "lib/user.rb")
    assert not [one for one in edges if "Depot.weigh" in one or "Other.weigh" in one]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f = go(Depot.size)", "Depot -> Depot"),
        ('def f = s"${Depot.size}"', "Depot -> Depot"),
        ("def f(g: Gate) = { if (g.width == 1) 2 else 3 }", "width -> Gate.width"),
        ("val isOpen = true; def f = { if (isOpen) 1 else 2 }", "isOpen -> User.isOpen"),
        ("val isOpen = true; def f = go(!isOpen)", "isOpen -> User.isOpen"),
    ],
)
def test_scala_reads_objects_members_and_conditions(code: str, found: str) -> None:
    files = {"src/Depot.scala": SCALA, "src/User.scala": f"package shop\nclass User {{ {code} }}\n"}
    assert f"2 {found}" in targets(files, "src/User.scala")


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("struct User { let done = true\n func f() { if done { go() } } }", "done -> User.done"),
        ("struct User { let done = true\n func f() { if a() && !done { go() } } }", "done -> User.done"),
        (
            "struct User { static let cases = [1]\n @Test(arguments: cases) func f() {} }",
            "cases -> User.cases",
        ),
        ("func f(d: Depot) {\n #expect(!d.isOpen) }", "isOpen -> Depot.isOpen"),
    ],
)
def test_swift_reads_conditions_arguments_of_attributes_and_negations(code: str, found: str) -> None:
    assert f"2 {found}" in targets({"Depot.swift": SWIFT, "User.swift": f"{code}\n"}, "User.swift")


@pytest.mark.parametrize(("name", "found"), [("OPENED", "state.OPENED"), ("LIGHT", "weight.LIGHT")])
def test_constants_of_an_enumeration_of_c_are_seen_without_its_name(name: str, found: str) -> None:
    user = (
        f'#include "state.h"\nint f(int s) {{ switch (s) {{ case {name}: return 1; }} return go({name}); }}\n'
    )
    assert f"2 {name} -> {found}" in targets({"state.h": C_ENUMS, "user.c": user}, "user.c")


def test_constants_of_a_scoped_enumeration_of_cpp_need_its_name() -> None:
    files = {"a.cpp": "enum class State { OPENED };\nint f() { return go(OPENED); }\n"}
    assert not any(" OPENED " in one for one in targets(files, "a.cpp"))


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ("Depot(size = 1)", "Depot.size"),
        ("d.copy(size = 1)", "Depot.size"),
        ("Town.Gate(size = 1)", "Town.Gate.size"),
    ],
)
def test_a_named_argument_of_a_constructor_in_kotlin_is_the_property(call: str, target: str) -> None:
    text = (
        "package m\ndata class Depot(val size: Int)\nclass Town { class Gate(val size: Int) }\n"
        f"fun other(size: Int) {{}}\nfun f(d: Depot) {{\n    {call}\n    other(size = 2)\n}}\n"
    )
    found = edges_of({"src/m.kt": text})
    assert [
        one for one in found if one.startswith(f"src/m.kt:6 size -> src/m.kt:{target} ") and "?" not in one
    ]
    assert not [one for one in found if one.startswith("src/m.kt:7 size ")]


@pytest.mark.parametrize("receiver", ["t.kind()", "d", "t"])
def test_an_extension_of_kotlin_may_be_called_on_a_type_that_lacks_it(receiver: str) -> None:
    text = (
        "package m\nimport java.town.Town\nclass Depot\nfun <T> T.isOneOf(a: Int): Boolean = true\n"
        f"fun f(t: Town, d: Depot) {{\n    {receiver}.isOneOf(1)\n}}\n"
    )
    found = {one for one in edges_of({"src/m.kt": text}) if one.startswith("src/m.kt:6 isOneOf ")}
    assert [one.split(" -> ")[1].split(" ")[0] for one in found] == ["src/m.kt:T.isOneOf"]


def test_a_bound_reference_is_that_of_the_type_of_its_variable() -> None:
    code = "class Depot { fun open() {} }\nfun run(f: () -> Unit) {}\nfun f(d: Depot) { run(d::open) }\n"
    assert "a.kt:3 open -> a.kt:Depot.open receiver_type" in edges_of({"a.kt": code})
