"""What the graph resolves in PHP: namespaces, documentation comments, promoted properties, names in strings."""

import pytest
from graph_files import edges_of

DEPOT = r"""<?php
namespace Town\Shop;
class Depot implements Store {
    public ?Gate $gate;
    public const LIMIT = 3;
    public static function make(): self {}
    public function weigh(): int {}
}
function helper() {}
const TOP = 3;
interface Store {}
"""
GATE = r"""<?php
namespace Town\Shop;
class Gate { protected $width; public function __construct(private Depot $depot, private int $size = TOP) {}
    public function open(): Depot {} }
#[\Attribute]
class Mark {}
"""
# Of another namespace, in the folder of the user.
OTHER = r"""<?php
namespace Sea;
class Depot { public function weigh() {} public static function make() {} }
class Gate { public function open() {} }
class Mark {}
function helper() {}
const TOP = 4;
"""
GLOBAL = "<?php\nfunction everywhere() {}\nclass Plain { public function weigh() {} }\n"


def targets(code: str, namespace: str = "Town\\Tests") -> set[str]:
    """Returns the sure edges of a file of code as `name -> file:symbol`."""
    user = f"<?php\nnamespace {namespace};\n{code}\n"
    files = {
        "a/1.php": DEPOT,
        "b/2.php": GATE,
        "tests/Other.php": OTHER,
        "c/3.php": GLOBAL,
        "tests/User.php": user,
    }
    found = (one.split(" ") for one in edges_of(files) if one.startswith("tests/User.php:"))
    return {f"{name} -> {target}" for _, name, _, target, strategy in found if not strategy.endswith("?")}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("use Town\\Shop\\Depot;", "Depot -> a/1.php:Depot"),
        ("use Town\\Shop\\Depot;\nfunction f(Depot $d) { $d->weigh(); }", "weigh -> a/1.php:Depot.weigh"),
        ("use Town\\Shop\\{Gate as Door, Depot};\nfunction f(Door $d) { $d->open()->weigh(); }", "weigh -> a/1.php:Depot.weigh"),
        ("use Town\\Shop as S;\nnew S\\Depot();", "Depot -> a/1.php:Depot"),
        ("use Town\\Shop as S;\nS\\Depot::make()->weigh();", "weigh -> a/1.php:Depot.weigh"),
        ("use Town\\Shop as S;\nS\\helper();", "helper -> a/1.php:helper"),
        ("new \\Town\\Shop\\Depot();", "Depot -> a/1.php:Depot"),
        ("\\Town\\Shop\\Depot::make();", "make -> a/1.php:Depot.make"),
        ("\\Town\\Shop\\helper();", "helper -> a/1.php:helper"),
        ("function f(?\\Town\\Shop\\Depot $d) { return $d->weigh(...); }", "weigh -> a/1.php:Depot.weigh"),
        ("use function Town\\Shop\\helper;\nhelper();", "helper -> a/1.php:helper"),
        ("use const Town\\Shop\\TOP;\necho $a ? TOP : 3;", "TOP -> a/1.php:TOP"),
        ("use const Town\\Shop\\TOP;\n$a = match($b) { 1 => TOP };", "TOP -> a/1.php:TOP"),
        ("use Town\\Shop\\Mark;\n#[Mark]\nclass A {}", "Mark -> b/2.php:Mark"),
        ("class A extends \\Town\\Shop\\Gate { function f() { return $this->width; } }", "width -> b/2.php:Gate.width"),
        ("use Town\\Shop\\Gate;\nfunction f($g) { return $g instanceof Gate; }", "Gate -> b/2.php:Gate"),
        ("everywhere();", "everywhere -> c/3.php:everywhere"),
        ("\\everywhere();", "everywhere -> c/3.php:everywhere"),
        ("use Plain;\nfunction f(Plain $p) { $p->weigh(); }", "weigh -> c/3.php:Plain.weigh"),
        ("new \\Plain();", "Plain -> c/3.php:Plain"),
        ("\\Plain::weigh();", "Plain -> c/3.php:Plain"),
    ],
)  # fmt: skip
def test_a_name_is_looked_up_in_its_namespace(code: str, found: str) -> None:
    assert found in targets(code)


def test_files_of_a_namespace_see_each_other_in_any_folder() -> None:
    assert targets("class User { function f(Gate $g) { $g->open()->weigh(); helper(); } }", "Town\\Shop") >= {
        "Gate -> b/2.php:Gate",
        "open -> b/2.php:Gate.open",
        "weigh -> a/1.php:Depot.weigh",
        "helper -> a/1.php:helper",
    }


@pytest.mark.parametrize(
    "code",
    [
        "use Other\\Depot;\nnew Depot();",
        "use Other\\Depot;\nDepot::make();",
        "new \\Depot();",
        "\\helper();",
        "use function Other\\helper;\nhelper();",
    ],
)
def test_a_name_of_another_namespace_has_no_edge(code: str) -> None:
    assert not targets(code)


def test_a_file_may_have_several_namespaces() -> None:
    stubs = "<?php\nnamespace Sky { function fly() {} }\nnamespace Town\\Tests { function weigh_all() {} }\n"
    user = "<?php\nnamespace Town\\Tests;\nweigh_all();\n"
    assert "u/User.php:3 weigh_all -> s/stubs.php:Town\\Tests.weigh_all same_package" in edges_of(
        {"s/stubs.php": stubs, "u/User.php": user}
    )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("class A { /** @var Gate|null */ private $g; function f() { $this->g->open(); } }", "open -> b/2.php:Gate.open"),
        ("class A { /** @var Gate */ private $g; }", "Gate -> b/2.php:Gate"),
        ("/**\n * @param Gate $g\n */\nfunction f($g) { $g->open(); }", "open -> b/2.php:Gate.open"),
        ("/** @return \\Town\\Shop\\Gate */\nfunction f() {}\nf()->open();", "open -> b/2.php:Gate.open"),
        ("/** @return array<string, Gate> */\nfunction f() {}", "Gate -> b/2.php:Gate"),
        ("function f() {\n /** @var Gate $g */\n $g = made();\n $g->open(); }", "open -> b/2.php:Gate.open"),
        ("/** @property-read Gate $g */\nclass A { function f() { $this->g->open(); } }", "open -> b/2.php:Gate.open"),
        ("/** @method Gate open(Depot $d) */\nclass A {}", "Gate -> b/2.php:Gate"),
        ("/** @method Gate open(Depot $d) */\nclass A {}", "Depot -> a/1.php:Depot"),
        ("/** @var Depot::LIMIT */\nconst A = 3;", "LIMIT -> a/1.php:Depot.LIMIT"),
        ("class A extends Gate { /** @return $this */ function f() {}\n function g() { $this->f()->open(); } }", "open -> b/2.php:Gate.open"),
        ("/** @covers \\Town\\Shop\\Gate::open */\nclass A {}", "open -> b/2.php:Gate.open"),
        ("/** @covers Gate */\nclass A {}", "Gate -> b/2.php:Gate"),
        ("class A { /** @dataProvider rows */ function f() {}\n static function rows() {} }", "rows -> tests/User.php:A.rows"),
        ("class A { #[DataProvider('rows')] function f() {}\n static function rows() {} }", "rows -> tests/User.php:A.rows"),
    ],
)  # fmt: skip
def test_documentation_comments_declare_types_and_name_members(code: str, found: str) -> None:
    assert found in targets(code, "Town\\Shop")


def test_prose_and_longer_comments_are_no_use() -> None:
    assert not targets(
        "/** A Gate, see Depot.\n * @see Gate */\nfunction f() {}\n/* @var Gate $g */", "Town\\Shop"
    )


def test_a_type_in_the_code_comes_before_that_of_the_comment() -> None:
    found = targets("/** @param Gate $g */\nfunction f(Depot $g) { $g->weigh(); $g->open(); }", "Town\\Shop")
    assert "weigh -> a/1.php:Depot.weigh" in found
    assert "open -> b/2.php:Gate.open" not in found


def test_a_promoted_property_is_a_member_of_its_class() -> None:
    code = "class Big { public function __construct(private Gate $gate) { $gate->open(); }\n function f() { return $this->gate->open(); } }"
    found = edges_of({"b/2.php": GATE, "c.php": f"<?php\nnamespace Town\\Shop;\n{code}\n"})
    assert {one for one in found if one.startswith("c.php:")} >= {
        "c.php:3 open -> b/2.php:Gate.open receiver_type",
        "c.php:4 gate -> c.php:Big.gate receiver",
        "c.php:4 open -> b/2.php:Gate.open receiver_type",
    }


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("class A { function f() { map([$this, 'g']); }\n function g() {} }", "g -> tests/User.php:A.g"),
        ("map([Gate::class, 'open']);", "open -> b/2.php:Gate.open"),
        ("function f(Gate $g) { map(array($g, 'open')); }", "open -> b/2.php:Gate.open"),
        ("map('Town\\Shop\\Gate::open');", "open -> b/2.php:Gate.open"),
        ("map('Town\\Shop\\Gate');", "Gate -> b/2.php:Gate"),
        ("function f(Depot $d) { return $d::LIMIT; }", "LIMIT -> a/1.php:Depot.LIMIT"),
        ("\\Town\\Shop\\Depot::make();", "Depot -> a/1.php:Depot"),
    ],
)
def test_callables_and_classes_in_strings_are_uses(code: str, found: str) -> None:
    assert found in targets(code, "Town\\Shop")


def test_a_member_that_a_type_lacks_may_be_of_another_type() -> None:
    code = "<?php\nnamespace A;\ninterface Store {}\nclass Depot { function weigh() {} }\nfunction f(Store $s) { if ($s instanceof Depot) { $s->weigh(); } }\n"
    assert "a.php:5 weigh -> a.php:Depot.weigh only_definition?" in edges_of({"a.php": code})


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("use Town\\Port;\nnew Port\\Ship();", "Ship -> p/2.php:Ship"),
        ("use Town\\Port;\nPort\\Ship::sail();", "sail -> p/2.php:Ship.sail"),
        ("use Town\\Port;\necho Port\\Ship::class;", "Ship -> p/2.php:Ship"),
        ("use Town\\Port;\nfunction f(Port $p) { $p->moor(); }", "moor -> p/1.php:Port.moor"),
        ("use Town\\Port;\nfunction f(Port\\Ship $s) { $s->sail(); }", "sail -> p/2.php:Ship.sail"),
    ],
)
def test_a_class_and_a_namespace_may_have_one_name(code: str, found: str) -> None:
    port = "<?php\nnamespace Town;\ninterface Port { function moor(); }\n"
    ship = "<?php\nnamespace Town\\Port;\nclass Ship { static function sail() {} }\n"
    files = {"p/1.php": port, "p/2.php": ship, "u.php": f"<?php\nnamespace App;\n{code}\n"}
    edges = (one.split(" ") for one in edges_of(files) if one.startswith("u.php:"))
    assert found in {
        f"{name} -> {target}" for _, name, _, target, strategy in edges if not strategy.endswith("?")
    }


def test_a_property_of_an_unknown_object_is_a_guess() -> None:
    files = {
        "b/2.php": GATE,
        "u.php": "<?php\nfunction f($all) { foreach ($all as $one) { go($one->width); } }\n",
    }
    assert "u.php:2 width -> b/2.php:Gate.width only_definition?" in edges_of(files)


def test_a_class_may_have_a_name_that_is_built_in_elsewhere() -> None:
    code = "<?php\nnamespace A;\nclass Unit {}\nfunction f(Unit $u) {}\n"
    assert "a.php:4 Unit -> a.php:Unit same_file" in edges_of({"a.php": code})


def test_a_class_may_have_the_name_of_its_namespace() -> None:
    depot = "<?php\nnamespace Depot;\nclass Depot { static function make(): self {} function weigh() {} }\n"
    user = "<?php\nnamespace App;\nuse Depot\\Depot;\nDepot::make()->weigh();\n"
    found = edges_of({"a.php": depot, "u.php": user})
    assert "u.php:3 Depot -> a.php:Depot import" in found
    assert "u.php:4 weigh -> a.php:Depot.weigh receiver_type" in found
