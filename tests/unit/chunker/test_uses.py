"""Uses of types and values, forms of import, and exports, language by language."""

import pytest

from prism_chunker.core import Budget, chunk_file
from prism_contracts.code import ReferenceKind


def used(path: str, text: str, *kinds: ReferenceKind) -> set[str]:
    """Returns the names that a file refers to by one kind, with their qualifiers."""
    references = [one for one in chunk_file(path, text).references if one.kind in kinds]
    return {f"{one.qualifier}.{one.name}" if one.qualifier else one.name for one in references}


@pytest.mark.parametrize(
    ("code", "called"),
    [
        ("const a = await fetch<Money<string>>(b);", {"fetch"}),
        ("const a = await bank.fetch<Money>(b);", {"bank.fetch"}),
        ("const a = (await fetch<Money>(b)).c;", {"fetch"}),
        ("const a = fetch<Money>(b);", {"fetch"}),
        ("const a = fetch!(b);", {"fetch"}),
        ("const a = bank.fetch!<Money>(b);", {"bank.fetch"}),
        ("const a = bank?.fetch?.(b);", {"bank.fetch"}),
    ],
)
def test_generic_and_asserted_calls_of_typescript_are_calls(code, called):
    assert used("a.ts", f"async function f() {{ {code} }}\n", ReferenceKind.CALL) == called


def test_calls_among_the_arguments_of_a_rust_macro_are_calls():
    code = (
        "#[cfg(any(unix, not(test)))]\nfn t() {\n    assert_eq!(depot::open(1), te.find(2).go(3));\n"
        "    assert!(matches!(self.parse(x), Some(_)), crate::a::b());\n    vec![S { a: make() }, *take()];\n}\n"
        "items! { #[derive(Debug)] struct A; }\nmacro_rules! m { ($x:expr) => { fn made() {} } }\n"
    )
    called = {"depot.open", "te.find", "te.find(2).go", "self.parse", "make", "crate::a.b", "take", "Some"}
    found = used("a.rs", code, ReferenceKind.CALL)
    assert {one.replace("depot::", "depot.") for one in found} >= called
    assert not found & {"any", "not", "derive", "made"}


# By file name: a text that passes `rate` on as a value and keeps `local` private, with the expected values
# and types.
USES = {
    "a.py": (
        (
            "from rates import rate, Money\nTABLE = {'a': rate}\n"
            "def f(a: Money, local):\n    return map(rate, [local, TABLE]), isinstance(a, Money), len(local)\n"
        ),
        {"rate", "TABLE", "Money"},
        {"Money"},
    ),
    "a.ts": (
        (
            "import { rate, Money } from './rates';\nconst table = { rate };\n"
            "function f(a: Money, local: number[]): Map<string, Money> { return g(rate, local, table, (a as Money).b); }\n"
        ),
        {"rate", "table"},
        {"Money"},
    ),
    "a.js": (
        "const { rate } = require('./rates');\nfunction f(local) { return local.map(rate) ? rate : local; }\n",
        {"rate"},
        set(),
    ),
    "a.jsx": (
        "import { rate, Price } from './rates';\nexport const F = (local) => <Price by={rate} of={local}/>;\n",
        {"rate"},
        set(),
    ),
    "a.go": (
        "package a\nfunc f(a *Money, local int) []pkg.Money {\n\treturn g(rate, local, http.StatusOK)\n}\n",
        {"rate", "http.StatusOK"},
        {"Money", "pkg.Money"},
    ),
    "A.java": (
        "class A { List<Money> f(Money a, int local) throws Gone { return g(RATE, local, Color.RED, this.total); } int total; }\n",
        {"RATE", "Color.RED", "this.total"},
        {"List", "Money", "Gone"},
    ),
    "a.kt": (
        "class A {\n  fun f(a: Money, local: Coin): List<Money> {\n    return g(::rate, local, Color.RED)\n  }\n}\n",
        {"rate", "Color.RED"},
        {"Money", "Coin", "List"},
    ),
    "A.cs": (
        "class A { List<Money> F(Money a, int local) { return G(Rate, local, Color.Red, typeof(Coin)); } }\n",
        {"Rate", "Color.Red"},
        {"List", "Money", "Coin"},
    ),
    "a.rs": (
        "use rates::{rate, Money};\nfn f(a: &Money, local: u32) -> Vec<Money> { g(rate, &local, Money::ZERO) }\n",
        {"rate", "Money.ZERO"},
        {"Money"},
    ),
    "a.c": (
        "static int rate(void) { return 1; }\nint f(money_t *a, int local) { return sort(a, local, rate, compare); }\n",
        {"rate", "compare"},
        {"money_t"},
    ),
    "a.cpp": (
        "int f(const m::Money& a, int local) { return sort(rate, local, Color::Red); }\n",
        {"rate", "Color.Red"},
        {"m.Money"},
    ),
    "a.php": (
        "<?php\nfunction f(Money $a, $local) { return g($local, RATE, Color::RED, Coin::class); }\n",
        {"RATE", "Color.RED", "Coin"},
        {"Money"},
    ),
    "a.rb": (
        "def f(local)\n  g(RATE, local, Color::RED)\nrescue Gone\n  rate\nend\n",
        {"RATE", "Color.RED", "Gone", "rate"},
        set(),
    ),
    "a.swift": (
        "class A { func f(a: Money, local: Coin) -> [Money] { return g(rate, local, Color.red) } }\n",
        {"rate", "Color.red"},
        {"Money", "Coin"},
    ),
    "a.scala": (
        "class A { def f(a: Money, local: Coin): List[Money] = g(rate, local, Color.Red) }\n",
        {"rate", "Color.Red"},
        {"Money", "Coin", "List"},
    ),
    "a.dart": (
        "class A { List<Money> f(Money a, Coin local) { return g(rate, local, Color.red); } }\n",
        {"rate", "Color.red"},
        {"Money", "Coin", "List"},
    ),
}


@pytest.mark.parametrize("path", USES)
def test_uses_of(path: str) -> None:
    text, values, types = USES[path]
    assert chunk_file(path, text).parse == "ok"
    assert used(path, text, ReferenceKind.VALUE) == values
    assert used(path, text, ReferenceKind.TYPE) == types


def aliases(path: str, text: str) -> str:
    parsed = chunk_file(path, text)
    found = [one for one in parsed.references if one.kind is ReferenceKind.ALIAS]
    return " ".join(
        f"{one.alias or parsed.symbols[one.symbol].qualified_name}="
        + (f"{one.qualifier}.{one.name}" if one.qualifier else one.name)
        for one in found
    )


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "from m import A, n\ntype B = A\ntype C[T] = A\nD = n.A\nE: TypeAlias = A\nF, G = A, A\n", "B=A D=n.A E=A"),
        ("a.py", "from m import A\nB: int = A\nC = A()\nD = [A]\nE = A.b(A)\nF = A or B\n", ""),
        ("a.py", "from m import A\ntry:\n    B = A\nexcept E:\n    B = None\ndef f():\n    C = A\n", "B=A"),
        ("a.py", "class A:\n    def f(self): ...\n    g = f\n    h: int = f\n    def k(self):\n        l = f\n", "A.g=f"),
        ("a.ts", "import { A, n } from './m';\ntype B = A;\ntype C<T> = A;\ntype D = A<string>;\ntype E = A | n.F;\nexport type G = n.A;", "B=A G=n.A"),
        ("a.ts", "import { a } from './m';\nconst b = a;\nexport const c = a.d;\nlet e = a;\nconst { f } = a;\nfunction g() { const h = a; }", "b=a c=a.d"),
        ("a.ts", "import { a } from './m';\nexport { a as b, c as default, d };\nexport { e as f } from './m';\nfunction c() {}\nfunction d() {}", "b=a default=c"),
        ("a.js", "const { a } = require('./m');\nvar b = a, c = a.d;\nclass E { f = a; }", "b=a c=a.d"),
        ("a.go", "package a\ntype A = B\ntype C B\ntype D = []B\ntype E = p.B\nvar F = p.G\nconst H int = I\nconst J, K = I, I\nconst L = p.I\n", "A=B E=p.B L=p.I"),
        ("a.rs", "use m::{A, n};\npub type B = A;\ntype C<T> = A;\ntype D = Vec<A>;\ntype E = n::A;\npub use m::x as y;", "B=A E=n.A"),
        ("a.kt", "typealias A = B\ntypealias C = List<B>\ntypealias D = m.B\ntypealias E = B?\n", "A=B D=m.B"),
        ("a.swift", "typealias A = B\ntypealias C = [B]\npublic typealias D = M.B\ntypealias E = G<B>\n", "A=B D=M.B"),
        ("a.scala", "object o { type A = B; type C[T] = B; type D = List[B]; type E = m.B; type F <: B }", "o.A=B o.E=m.B"),
        ("a.c", "typedef a_t b_t;\ntypedef a_t *c_t;\ntypedef struct d e_t;\ntypedef struct d d;\ntypedef struct f { int g; } h_t;\n", "b_t=a_t e_t=d"),
        ("a.cpp", "using A = B;\nusing C = n::B;\nusing D = B*;\nusing E = std::vector<B>;\ntypedef n::B F;\nusing n::g;\n", "A=B C=n.B E=std.vector F=n.B"),
        ("a.dart", "typedef A = B;\ntypedef C = List<B>;\ntypedef D = void Function(B);\n", "A=B"),
        ("a.rb", "class A\n  def f; end\n  alias g f\n  alias :h :f\n  alias_method :k, :f\n  B = C::D\nend\n", "A.g=f A.h=f A.k=f A.B=C.D"),
    ],
)  # fmt: skip
def test_aliases_are_extracted(path: str, text: str, expected: str) -> None:
    assert aliases(path, text) == expected


def test_one_position_has_one_reference() -> None:
    text = "from a import A, f\nclass B(A):\n    x: A = A(f)\n@f\ndef g(b=f): return f(b)\n"
    places = [(one.line, one.name) for one in chunk_file("a.py", text).references]
    assert places.count((2, "A")) == 1
    assert places.count((3, "A")) == 2  # the type and the call
    assert places.count((4, "f")) == 1


def test_a_name_shadowed_by_an_outer_function_is_no_use() -> None:
    text = "from a import rate\ndef f(rate):\n    def g():\n        h(rate)\n    h(rate)\nh(rate)\n"
    values = [one.line for one in chunk_file("a.py", text).references if one.kind is ReferenceKind.VALUE]
    assert values == [6]


def test_own_members_passed_as_values_are_uses() -> None:
    text = "class A:\n    def run(self): ...\n    def start(self): go(self.run, self.other)\n"
    assert used("a.py", text, ReferenceKind.VALUE) == {"self.run"}


def test_members_passed_in_the_body_of_their_class_are_uses() -> None:
    text = "class A:\n    def f(self): ...\n    g = property(f)\n    def h(self): go(f)\n"
    values = [one.line for one in chunk_file("a.py", text).references if one.kind is ReferenceKind.VALUE]
    assert values == [3]


def test_a_wildcard_import_may_define_any_name() -> None:
    text = "def f(local): go(rate, local)\n"
    assert used("a.py", text, ReferenceKind.VALUE) == set()
    assert used("a.py", f"from rates import *\n{text}", ReferenceKind.VALUE) == {"rate"}


def test_generic_arguments_are_uses_outside_type_positions() -> None:
    text = "from rates import Money, Table\nclass Rates(Table[Money]): ...\nget(model=list[Money])\n"
    found = [(one.line, one.name, one.kind) for one in chunk_file("a.py", text).references]
    assert (3, "Money", ReferenceKind.VALUE) in found
    assert (2, "Table", ReferenceKind.EXTENDS) in found
    dotted = "import rates\nclass Rates(rates.Table[int]): ...\n"
    assert used("a.py", dotted, ReferenceKind.EXTENDS) == {"rates.Table"}


def test_names_in_an_export_list_are_exported() -> None:
    assert used(
        "a.py", "__all__ = ['f']\n__all__ += ('g',)\ndef f(): ...\ndef g(): ...\n", ReferenceKind.VALUE
    ) == {"f", "g"}


def test_references_and_uses_share_a_limit() -> None:
    text = "import a\n" + "f(a)\n" * 10
    assert len(chunk_file("a.py", text, budget=Budget(references_max=15)).references) == 15


def imports(path: str, text: str) -> str:
    found = [one for one in chunk_file(path, text).references if one.kind is ReferenceKind.IMPORT]
    return " ".join(f"{one.qualifier}>{one.name}" + (f"={one.alias}" if one.alias else "") for one in found)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "import a.b, c as d", "a.b>b c>c=d"),
        ("a.py", "from .m import x as y, z\nfrom n import *", ".m>x=y .m>z n>*"),
        ("a.ts", "import d, { a, b as c } from './m'", "./m>default=d ./m>a ./m>b=c"),
        ("a.ts", "import type { A } from './m'; import { type B } from './n'", "./m>A ./n>B"),
        ("a.ts", "import * as m from './m'; import './side'; import f = require('f')", "./m>*=m ./side>*=./side f>*=f"),
        ("a.ts", "export { a, b as c } from './m'; export * from './n'; export * as k from './k'", "./m>a ./m>b=c ./n>* ./k>*=k"),
        ("a.js", "const { a, b: c } = require('./m'); const n = require('n')", "./m>a ./m>b=c n>*=n"),
        ("a.js", "const x = require('m').y; require('./side')", "m>y=x ./side>*=./side"),
        ("a.js", "const m = await import('./m'); const { a } = await import('./n'); l(() => import('./k'))", "./m>*=m ./n>a ./k>*=./k"),
        ("a.go", 'package p\nimport (\n"fmt"\nh "net/http"\n. "a/b"\n_ "c"\n)\n', "fmt>fmt net/http>http=h a/b>* c>c=_"),
        ("A.java", "import a.B; import static a.B.c; import d.*;", "a>B a.B>c d>*"),
        ("a.kt", "import a.B as C\nimport d.E\nimport f.*\n", "a>B=C d>E f>*"),
        ("A.cs", "using A.B; using X = C.D; using static E.F;", "A.B>B C.D>D=X E.F>F"),
        ("a.rs", "use a::{b, c::d as e, f::{self, g}, h::*}; pub use k::L; use m;", "a>b a::c>d=e a>f a::f>g a::h>* k>L m>m"),
        ("a.php", "<?php use A\\B; use C\\D as E; use F\\{G, H as I}; use function J\\k;", "A>B C>D=E F>G F>H=I J>k"),
        ("a.scala", "import a.b.{C, D => E}\nimport f.G\n", "a.b>C a.b>D=E f>G"),
        ("a.dart", "import 'a.dart' as a; import 'b.dart' show B;", "a.dart>a.dart=a b.dart>B"),
    ],
)  # fmt: skip
def test_imports(path: str, text: str, expected: str) -> None:
    assert imports(path, text) == expected


def exported(path: str, text: str) -> str:
    return " ".join(symbol.qualified_name for symbol in chunk_file(path, text).symbols if symbol.exported)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def f(): ...\ndef _g(): ...\nclass A:\n    def __init__(self): ...\n    def _h(self): ...\n", "f A A.__init__"),
        ("a.py", "__all__ = ['_g']\ndef f(): ...\ndef _g(): ...\n", "_g"),
        ("a.go", "package a\nfunc F() {}\nfunc g() {}\n", "F"),
        ("a.rs", "pub fn f() {}\nfn g() {}\n", "f"),
        ("A.java", "public class A { private int x; int y; private A(int z) {} }", "A A.y"),
        ("A.cs", "class A { int x; public int Y; private int z; protected int W; }\ninterface I { void F(); }", "A A.Y A.W I I.F"),
        ("a.kt", "class A(private val x: Int, val y: Int)\nprivate fun f() {}\n", "A A.y"),
        ("a.swift", "class A { private let x: Int; private(set) var y: Int }\nfileprivate func f() {}\n", "A A.y"),
        ("a.scala", "class A(private val x: Int) { private def f = 1; def g = 2 }", "A A.g"),
        ("a.php", "<?php class A { private $x; function __construct(private $y) {} }", "A A.__construct"),
        ("a.ts", "class A { private x = 1; y = 2; #z = 3 }\nfunction f() {}\nexport { A };\n", "A A.y"),
        ("a.ts", "function f() {}\nfunction g() {}\nexport default f;\n", "f"),
        ("a.js", "function f() {}\nfunction g() {}\nmodule.exports = { f, h: k };\nfunction k() {}\n", "f k"),
        ("a.js", "function f() {}\nexports.g = function () {};\nexports.f = f;\nfunction h() {}\n", "f exports.g"),
        ("lib/depot.js", "module.exports = function () {};\nmodule.exports.open = () => 1;\n", "depot exports.open"),
        ("depot/index.js", "exports = module.exports = class {\n  open() {}\n};\n", "depot depot.open"),
        ("lib/depot.js", "module.exports = function make() {};\n", "make"),
        ("lib/depot.ts", "export default (gate) => gate;\n", "depot"),
        ("a.js", "class A {\n  get size() {}\n  static set get(v) {}\n  set() {}\n}\n", "A A.size A.get A.set"),
    ],
)  # fmt: skip
def test_exports(path: str, text: str, expected: str) -> None:
    assert exported(path, text) == expected


RGTEST = """\
macro_rules! rgtest {
    ($name:ident, $fun:expr) => {
        #[test]
        fn $name() { $fun }
    };
}
macro_rules! count { ($name:ident, $number:expr) => { const COUNT: u8 = $number; }; }
"""


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ("rgtest!(skips_hidden, |x| { check(x) });", {"rgtest", "count", "skips_hidden"}),
        ("mod low { rgtest!(skips_hidden, 1); }", {"rgtest", "count", "low", "skips_hidden"}),
        ("count!(skips_hidden, 1);", {"rgtest", "count"}),
        ("parser_test!(skips_hidden, 1);", {"rgtest", "count", "skips_hidden"}),  # of another file
        ("parser_test!(skips_hidden);", {"rgtest", "count"}),
        ("implement!(skips_hidden, 1);", {"rgtest", "count"}),
        ("rgtest!(Hidden, 1);", {"rgtest", "count"}),
    ],
)
def test_a_macro_makes_a_function_of_the_name_that_it_is_given(item, names):
    assert {symbol.name for symbol in chunk_file("a.rs", f"{RGTEST}{item}\n").symbols} == names


def test_calls_in_a_test_made_by_a_macro_are_calls_of_that_test():
    parsed = chunk_file("a.rs", f"{RGTEST}rgtest!(skips_hidden, |x| {{ check(x) }});\n")
    calls = {one.name: parsed.symbols[one.symbol].name for one in parsed.references if one.name == "check"}
    assert calls == {"check": "skips_hidden"}


def test_a_call_with_type_arguments_in_a_rust_macro_is_a_call():
    code = "fn f() {\n    assert_eq!(open::<u8, _>(1), m::close::<u8>(2));\n    assert!(a < b);\n}\n"
    assert used("a.rs", code, ReferenceKind.CALL) == {"assert_eq", "open", "m.close", "assert"}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("assert_eq!(d.kind, Kind::Open);", {"d.kind", "Kind.Open"}),
        ("assert!(matches!(d.kind, Kind::Open | Kind::Shut));", {"d.kind", "Kind.Open", "Kind.Shut"}),
        ("vec![LIMIT, 2 * LIMIT];", {"LIMIT"}),
        ('format!("{size}", size = LIMIT);', {"LIMIT"}),
        ("matches!(k, Some(x) if x > LIMIT);", {"LIMIT"}),  # not an expression
        ("println!(LIMIT => d.kind);", {"LIMIT", "d.kind"}),
    ],
)
def test_values_among_the_arguments_of_a_rust_macro_are_used(statement, found):
    code = f"use kinds::Kind;\nconst LIMIT: u8 = 1;\nfn size() {{}}\nfn f(d: D) {{ {statement} }}\nstruct D {{ kind: Kind }}\n"
    assert used("a.rs", code, ReferenceKind.VALUE) == found


@pytest.mark.parametrize("macro", ["vec![Depot { size: 3 }];", "made!(Depot { size: 3 }; 2);"])
def test_fields_that_a_rust_macro_is_given_are_set(macro):
    code = f"struct Depot {{ size: u8 }}\nfn f() {{ {macro} }}\n"
    assert used("a.rs", code, ReferenceKind.ASSIGN) == {"Depot.size"}


def test_names_in_the_body_of_a_rust_macro_are_used():
    code = (
        "struct Depot { size: u8 }\nconst LIMIT: u8 = 1;\nfn open() {}\n"
        "macro_rules! m { ($n:ident) => { impl Depot { fn $n(&self) { open(); Depot { size: LIMIT } } } } }\n"
    )
    assert used("a.rs", code, ReferenceKind.CALL) == {"open"}
    assert used("a.rs", code, ReferenceKind.VALUE) == {"Depot", "LIMIT"}
    assert used("a.rs", code, ReferenceKind.ASSIGN) == {"Depot.size"}


@pytest.mark.parametrize(
    "pattern",
    [
        "(_, Some(Kind::Open))",
        "k @ Kind::Open",
        "[Kind::Open, ..]",
        "Gate { kind: Kind::Open }",
        "&Kind::Open",
    ],
)
def test_paths_inside_patterns_of_rust_are_used(pattern):
    code = f"use k::{{Gate, Kind}};\nfn f(x: X) {{ match x {{ {pattern} => 1, _ => 2 }} }}\n"
    assert "Kind.Open" in used("a.rs", code, ReferenceKind.VALUE)


def test_a_constant_in_a_pattern_of_rust_is_no_variable():
    code = "const LIMIT: u8 = 1;\nfn f(x: X) { match x { Some(LIMIT) => 1, (_, limit) => 2 } }\n"
    assert used("a.rs", code, ReferenceKind.VALUE) == {"LIMIT"}
    assert [one.name for one in chunk_file("a.rs", code).bindings] == ["LIMIT"]


def test_a_path_through_a_crate_of_rust_needs_no_import():
    code = 'fn f() { g(town::env::NAME, std::env::consts::OS); }\nfn h(d: town::Depot) { println!("{}", town::env::NAME); }\n'
    assert used("a.rs", code, ReferenceKind.VALUE) == {"town::env.NAME"}
    assert used("a.rs", code, ReferenceKind.TYPE) == {"town.Depot"}


def test_a_call_on_what_a_rust_macro_is_given_has_a_receiver():
    code = "macro_rules! m { ($d:expr) => { $d.open(); (**self).shut(); d[0].ring(); lift() } }\n"
    assert used("a.rs", code, ReferenceKind.CALL) == {"().open", "().shut", "d[0].ring", "lift"}


@pytest.mark.parametrize(
    "statement",
    [
        "for (x in SIZES) {}",
        "for ((a, b) in SIZES) {}",
        "while (SIZES) {}",
        "do {} while (SIZES)",
        "if (k in SIZES) {}",
        "val r = 1..SIZES",
        "list[SIZES]",
        "g(*SIZES)",
        "SIZES as List<Int>",
        "run { SIZES }",
        'g("${SIZES}")',
    ],
)
def test_a_variable_of_kotlin_is_used_wherever_it_is_a_value(statement):
    code = f"val SIZES = listOf(1)\nfun f(k: Int, list: List<Int>) {{\n    {statement}\n}}\n"
    assert used("a.kt", code, ReferenceKind.VALUE) == {"SIZES"}


def test_a_long_chain_of_calls_keeps_its_receiver():
    text = "x" * 90
    code = f'package a\n\nfunc f(b *B) {{ b.Open("{text}", 1).Close("{text}") }}\n'
    assert used("a.go", code, ReferenceKind.CALL) == {"b.Open", "b.Open().Close"}
    chain = "".join(f".step{number}(1)" for number in range(20))
    assert "().step19" in used("a.py", f"def f(b): b{chain}\n", ReferenceKind.CALL)
