"""Elements of collections: a loop or a function that is called with each gets their type from the declared one."""

import pytest
from graph_files import edges_of

RUST = """\
pub struct Depot {}
impl Depot { pub fn open(&self, n: u8) {} }
pub struct Other {}
impl Other { pub fn open(&self, n: u8) {} }
pub struct Town { depots: Vec<Depot>, one: Option<Depot>, all: HashMap<u8, Depot> }
impl Town {
    fn f(&self, some: &[Depot], few: [Depot; 3], held: Arc<Vec<Box<Depot>>>) {
        BODY
    }
}
"""
SURE = {"8 open -> Depot.open"}
GUESSED = {"8 open -> Depot.open?", "8 open -> Other.open?"}


def opened(path: str, text: str, other: dict[str, str] | None = None) -> set[str]:
    """Returns the edges of calls of `open` in the file, without the strategy."""
    found = set()
    for edge in edges_of({**(other or {}), path: text}):
        place, _, rest = edge.partition(" ")
        name, _, target = rest.partition(" -> ")
        if name.lower() == "open" and place.startswith(f"{path}:"):
            symbol, _, strategy = target.partition(":")[2].partition(" ")
            found.add(f"{place.rpartition(':')[2]} open -> {symbol}{'?' * strategy.endswith('?')}")
    return found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for d in &self.depots { d.open(1); }", SURE),
        ("for d in self.depots.iter_mut().rev() { d.open(1); }", SURE),
        ("self.depots.iter().map(|d| d.open(1));", SURE),
        ("for d in &self.depots[1..] { d.open(1); }", SURE),
        ("let town: &Town = x(); for d in &town.depots { d.open(1); }", SURE),
        ("for d in x.depots { d.open(1); }", GUESSED),
        ("for d in self.depots() { d.open(1); }", GUESSED),
        ("self.depots.iter().filter(|d| d.size() > f(1)).for_each(|d| { d.open(1); });", SURE),
        ("self.one.as_ref().map(|d| d.open(1));", SURE),
        ("for d in some { d.open(1); }", SURE),
        ("for d in few.iter() { d.open(1); }", SURE),
        ("for d in held.iter() { d.open(1); }", SURE),
        ("for d in self.all.values() { d.open(1); }", SURE),
        ("let more: VecDeque<Depot> = make(); for d in more { d.open(1); }", SURE),
        ("self.depots.iter().map(|d| d.other()).for_each(|e| e.open(1));", GUESSED),
        ("for d in self.depots.iter().enumerate() { d.open(1); }", GUESSED),
        ("for d in self.all.iter() { d.open(1); }", GUESSED),
        ("for d in other() { d.open(1); }", GUESSED),
        ("let few = other(); for d in few { d.open(1); }", GUESSED),
        ("for d in &self.depots { } let d = other(); d.open(1);", GUESSED),
        ("for d in other() { } for d in &self.depots { d.open(1); }", GUESSED),
    ],
)
def test_rust_elements_have_the_type_argument_of_their_collection(body: str, found: set[str]) -> None:
    assert opened("lib.rs", RUST.replace("BODY", body)) == found


JAVA = """\
package p;
class Depot { void open() {} }
class Other { void open() {} }
class Town {
  List<Depot> depots; Map<String, Depot> all; Depot[] some; Optional<Depot> one;

  void f(Collection<? extends Depot> given) {
    BODY
  }
}
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for (var d : depots) d.open();", SURE),
        ("for (var d : this.some) d.open();", SURE),
        ("for (var d : all.values()) d.open();", SURE),
        ("depots.forEach(d -> d.open());", SURE),
        ("given.stream().filter(x -> x.y()).map((d) -> { return d.open(); });", SURE),
        ("one.ifPresent(d -> d.open());", SURE),
        ("List<Other> depots = x(); for (var d : depots) d.open();", {"8 open -> Other.open"}),
        ("depots.stream().map(x -> x.y()).forEach(d -> d.open());", GUESSED),
        ("var depots = x(); for (var d : depots) d.open();", GUESSED),
        ("for (var d : all.entrySet()) d.open();", GUESSED),
    ],
)
def test_java_elements_have_the_type_argument_of_their_collection(body: str, found: set[str]) -> None:
    assert opened("p/Town.java", JAVA.replace("BODY", body)) == found


CSHARP = """\
namespace A {
public class Depot { public void Open() {} }
public class Other { public void Open() {} }
public class Town {
  private readonly List<Depot> _depots; IReadOnlyList<Depot> Named { get; }

  void F(IEnumerable<Depot> given, Depot[] some) {
    BODY
  }
} }
"""


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ("foreach (var d in _depots) d.Open();", True),
        ("Named.Where(x => x.Y).ToList().ForEach(d => d.Open());", True),
        ("given.Select(d => d.Open());", True),
        ("foreach (var d in some) d.Open();", True),
        ("given.Select(x => x.Y).Select(d => d.Open());", False),
    ],
)
def test_csharp_elements_have_the_type_argument_of_their_collection(body: str, sure: bool) -> None:
    found = opened("Town.cs", CSHARP.replace("BODY", body))
    assert found == (
        {"8 open -> A.Depot.Open"} if sure else {"8 open -> A.Depot.Open?", "8 open -> A.Other.Open?"}
    )


KOTLIN = """\
class Depot { fun open() {} }
class Other { fun open() {} }
class Town(val named: List<Depot>) {
  private val depots: MutableSet<Depot> = make()


  fun f(given: Sequence<Depot>) {
    BODY
  }
}
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for (d in depots) d.open()", SURE),
        ("named.filter { x -> x.y }.forEach { d -> d.open() }", SURE),
        ("given.map { d -> d.open() }", SURE),
        ("given.map { x -> x.y }.map { d -> d.open() }", GUESSED),
    ],
)
def test_kotlin_elements_have_the_type_argument_of_their_collection(body: str, found: set[str]) -> None:
    assert opened("Town.kt", KOTLIN.replace("BODY", body)) == found


TYPESCRIPT = """\
class Depot { open() {} }
class Other { open() {} }
const all: Depot[] = []
class Town {
  private depots: Array<Depot> = []
  constructor(private readonly named: ReadonlyArray<Depot>) {}
  f(given: readonly Depot[] | undefined, set: Set<Depot>) {
    BODY
  }
}
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for (const d of this.depots) d.open()", SURE),
        ("this.named.filter((x) => x.y).forEach((d) => { d.open() })", SURE),
        ("given?.map(function (d) { return d.open() })", SURE),
        ("set.forEach(d => d.open())", SURE),
        ("all.map(d => d.open())", SURE),
        ("for (const d in this.depots) d.open()", GUESSED),
        ("depots.map(d => d.open())", GUESSED),
    ],
)
def test_typescript_elements_have_the_type_of_their_array(body: str, found: set[str]) -> None:
    assert opened("town.ts", TYPESCRIPT.replace("BODY", body)) == found


PYTHON = """\
class Depot:
    def open(self): pass
class Other:
    def open(self): pass
class Town:
    all: dict[str, "Depot"]; depots: list[Depot]
    def f(self, given: "Sequence[Depot] | None", one: Optional[list[Depot]], some: tuple[Depot, ...]):
        BODY
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for d in self.depots: d.open()", SURE),
        ("return [d.open() for d in self.all.values()]", SURE),
        ("for d in given: d.open()", SURE),
        ("for d in one: d.open()", SURE),
        ("for d in self.all: d.open()", GUESSED),
        ("for d in zip(given, some): d.open()", GUESSED),
    ],
)
def test_python_elements_have_the_type_argument_of_their_annotation(body: str, found: set[str]) -> None:
    assert opened("town.py", PYTHON.replace("BODY", body)) == found


def test_a_chain_over_several_lines_has_the_elements_of_its_variable() -> None:
    body = "self\n.depots\n.iter()\n.map(|d| d.open(1));"
    assert opened("lib.rs", RUST.replace("BODY", body)) == {"11 open -> Depot.open"}


@pytest.mark.parametrize(
    ("body", "is_sure"),
    [
        ("for _, d := range t.depots { d.open() }", True),
        ("for _, d := range t.all { d.open() }", True),
        ("for _, d := range few[1:] { d.open() }", True),
        ("some := []*Depot{{}}; for _, d := range some { d.open() }", True),
        ("some := make([]Depot, 3); for _, d := range some { d.open() }", True),
        ("for _, d := range few { d.open() }; for _, d := range other() { d.shut() }", False),
        ("for _, d := range other() { d.open() }", False),
        ("for d := range few { d.open() }", False),
    ],
)
def test_go_elements_are_what_range_yields_last(body: str, is_sure: bool) -> None:
    text = "package a\n\ntype Depot struct{}\ntype Other struct{}\ntype Town struct{ depots []*Depot; all map[string]Depot }\n\n"
    text += f"func (d *Depot) open() {{}}\nfunc (o *Other) open() {{}}\n\nfunc (t *Town) run(few []Depot) {{ {body} }}\n"
    found = opened("a.go", text)
    assert found == (
        {"10 open -> Depot.open"} if is_sure else {"10 open -> Depot.open?", "10 open -> Other.open?"}
    )
