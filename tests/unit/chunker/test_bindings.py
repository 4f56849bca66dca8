"""Bindings that the parser finds: a small shop in every language that has bindings."""

import pytest

from prism_chunker.core import Budget, chunk_file
from prism_chunker.core.parse import QUERY_DEPTH_MAX
from prism_chunker.core.type_names import type_name

# By file name, a text and its bindings: a type, a callee with brackets, or `?` for a name that only shadows.
SHOPS = {
    "shop.py": (
        """\
from shop import Depot, models, open_depot, rate
app = open_depot()
class Shop:
    depot: "Depot | None" = None
    def __init__(self, parent: models.Depot, spare=None):
        self.parent = parent
        self.spare = spare or Depot()
        self.nothing = None
    async def run(self, a: Optional[Depot], b: Depot | int, unused: Depot, *rate) -> "Depot":
        x = await open_depot()
        with Depot() as w: pass
        a.go(b.go(), w.go(), x.go())
""",
        "app:open_depot() self.depot:Depot self.parent:models.Depot self.spare:Depot() a:Depot rate:? returns:Depot x:open_depot() w:Depot().__enter__()",
    ),
    "shop.ts": (
        """\
import { Depot, open } from './shop';
import * as models from './models';
export const app: models.App | null = null;
class Shop<T> {
  private spare?: Depot = open();
  #old = new models.Depot<T>();
  constructor(private readonly depot: Depot, other: T) { this.other = depot; other.go(); }
  async run(a: Depot[], { open }: Options): Promise<Depot> {
    const x = await open();
    const v = x as models.Depot;
    x.go(a.go(), v.go());
  }
}
""",
        "app:models.App this.spare:Depot this.#old:models.Depot() this.other:Depot this.depot:Depot open:Options.open returns:Depot x:open() v:models.Depot",
    ),
    "shop.js": (
        """\
const { Depot } = require('./shop');
const shop = require('./all');
class Shop {
  depot = new Depot();
  run(Depot, n = shop.open()) { this.last = new shop.Depot(); n.go(); }
}
""",
        "this.depot:Depot() Depot:? this.last:shop.Depot() n:shop.open()",
    ),
    "shop.go": (
        """\
package shop
type Shop[T any] struct { depot *Depot; other pkg.Depot }
func (s *Shop[T]) Open(a, b *pkg.Depot, t T) (*Depot, error) {
	x, err := NewDepot(b)
	y := &pkg.Depot{A: 1}
	z := new(Depot)
	d := x.(*Depot)
	s.Run(a.Run(), x.Run(), y.Run(), z.Run(), d.Run(), t.Run(), err.Run())
}
""",
        "package:shop this.depot:Depot this.other:pkg.Depot s:Shop a:pkg.Depot returns:Depot x:NewDepot() y:pkg.Depot() z:Depot d:Depot",
    ),
    "Shop.java": (
        """\
class Shop<T> {
  private final Depot depot = new Depot();
  Shop(Depot d, T t) { this.depot = d; this.old = d; t.go(d.go()); }
  Optional<Depot> open(List<Depot> all, Depot... more) {
    var x = Depot.open(all); var c = new Car<>(); var k = (Depot) x;
    for (Parcel q : all) { q.go(more.go()); }
    try (Res r = make()) { r.go(); } catch (Gone e) { e.go(x.go(), c.go(), k.go()); }
  }
}
record Pair(Depot left, int n) {}
""",
        "this.depot:Depot d:Depot this.depot:Depot this.old:Depot returns:Depot x:Depot.open() c:Car() k:Depot q:Parcel r:Res e:Gone this.left:Depot this.n:int",
    ),
    "shop.kt": (
        """\
class Shop<T>(private val depot: Depot, p: Foo<Bar>?) {
  val x: Depot? = open()
  lateinit var y: a.Depot
  val v = Depot(3)
  fun run(d: Depot, t: T): Depot {
    val z = Depot.open(x)
    this.last = d
    val c = d as Car
    for (i in all) {}
    z.go(d.go(), p.go(), c.go(), i.go(), t.go())
  }
}
""",
        "p:Foo this.depot:Depot this.x:Depot this.y:a.Depot this.v:Depot() d:Depot returns:Depot z:Depot.open() this.last:Depot c:Car",
    ),
    "Shop.cs": (
        """\
class Shop<T> {
  private readonly Depot depot = new Depot();
  public Depot? Other { get; set; }
  async Task<Depot> Open(in Depot d, T t, Models.Car q) {
    var x = await Depot.OpenAsync(d);
    var s = x as Car;
    this.last = d;
    foreach (Parcel p in all) { p.Go(x.Go(), s.Go(), t.Go(), d.Go(), q.Go()); }
  }
}
record Pair(Depot Left, int N);
""",
        "this.depot:Depot this.Other:Depot d:Depot q:Models.Car returns:Depot x:Depot.OpenAsync() s:Car this.last:Depot p:Parcel this.Left:Depot this.N:int",
    ),
    "shop.rs": (
        """\
struct Shop<'a, T> { depot: Arc<Depot>, other: &'a m::Car }
impl<T> Shop<T> {
    fn open(&mut self, d: &mut Depot, o: Option<Box<dyn Store>>, t: T) -> Result<Depot, Gone> {
        let x = Depot::new(d)?;
        let mut y: m::Depot = x.all().await?;
        let q = Car { wheels: 4 };
        let w = Depot::open(d).unwrap();
        self.last = d;
        q.go(x.go(), y.go(), w.go(), o.go(), d.go(), t.go());
    }
}
""",
        "self.depot:Depot self.other:m::Car d:Depot o:Store returns:Depot x:Depot::new() y:m::Depot q:Car() w:Depot::open() self.last:Depot",
    ),
    "shop.c": (
        """\
struct shop { struct depot *depot; car_t *car; };
static struct depot *open_shop(struct depot *d, int n) {
	struct depot *x = open_depot(n); car_t y;
	x->go(d->go(), y.go());
}
""",
        "this.depot:depot this.car:car_t d:depot returns:depot y:car_t x:depot",
    ),
    "shop.cpp": (
        """\
class Shop {
  Depot depot_; std::unique_ptr<Car> car_; m::Car& ref_;
  Shop(const Depot& d) : depot_(d) { this->last = d; }
};
Depot* open(std::vector<Depot> all) {
  auto x = new m::Depot(1); Depot y(3); auto n = m::make(3); Car* w = open(all);
  for (auto& i : all) { i.go(); }
  x->go(y.go(), n.go(), w->go(), all.go());
}
template <typename T> T twice(T t) { t.go(); }
""",
        "this.depot_:Depot this.car_:Car this.ref_:m::Car this.last:Depot all:std::vector returns:Depot x:m::Depot() y:Depot n:m::make() w:Car i:Depot",
    ),
    "shop.php": (
        """\
<?php
class Shop {
  private ?Depot $depot = null;
  function __construct(private readonly Car $car, M\\Car $m, $n) { $this->last = new Depot($m->go($n->go())); }
  function open(Depot|Car $both): ?Depot {
    $x = $this->get(); $y = Depot::make(); $z = open_depot();
    try { $x->go($y->go(), $z->go(), $both->go()); } catch (Gone $e) { $e->go(); }
  }
}
""",
        r"this.depot:Depot $m:M\Car this.last:Depot() this.car:Car returns:Depot $x:$this->get() $y:Depot::make() $z:open_depot() $e:Gone",
    ),
    "shop.rb": (
        """\
class Shop
  def initialize(depot)
    @depot = Depot.new(depot)
    x = Models::Car.open(3)
    x.go(@depot.go)
  rescue Gone => e
    e.go
  end
end
""",
        "self.depot:Depot.new() x:Models::Car.open() e:Gone",
    ),
    "shop.swift": (
        """\
class Shop<T> {
  let depot: Depot
  var other: M.Car? = nil
  let car = Car(3)
  func open(_ d: Depot, by c: [Car], t: T) async throws -> Depot? {
    let x = try await Depot.open(d)
    let k = x as! Car
    self.last = d
    x.go(d.go(), k.go(), c.go(), t.go())
  }
}
""",
        "self.depot:Depot self.other:M.Car self.car:Car() d:Depot returns:Depot x:Depot.open() k:Car self.last:Depot",
    ),
    "shop.scala": (
        """\
class Shop[T](val depot: Depot, t: T) {
  val x: Option[Depot] = open(1)
  var y = new Car(1)
  def run(d: M.Depot): Depot = { val q = Depot.open(d); q.go(d.go()); x match { case k: Car => k.go() } }
}
""",
        "this.depot:Depot this.x:Depot this.y:Car() q:Depot.open() d:M.Depot k:Car returns:Depot",
    ),
    "shop.dart": (
        """\
class Shop<T> {
  final Depot depot; Car? car = Car(); static final main = Shop();
  Future<Depot> open(M d, [T? t]) async {
    var x = await Depot.open(d); Car w = make(); var v = make();
    x.go(d.go(), w.go(), v.go(), t.go());
  }
}
""",
        "this.depot:Depot this.car:Car this.main:Shop() d:M returns:Depot w:Car x:Depot.open() v:make()",
    ),
}


def bindings_of(path: str, text: str) -> str:
    bindings = chunk_file(path, text).bindings
    return " ".join(
        f"{b.name or 'returns'}:{b.type or (f'{b.made_by}()' if b.made_by else '?')}" for b in bindings
    )


@pytest.mark.parametrize("path", SHOPS)
def test_bindings_of(path: str) -> None:
    text, expected = SHOPS[path]
    assert chunk_file(path, text).parse == "ok"
    assert bindings_of(path, text) == expected


def test_a_binding_belongs_to_the_enclosing_symbol() -> None:
    parsed = chunk_file("shop.py", SHOPS["shop.py"][0])
    places = {
        b.name: parsed.symbols[b.symbol].qualified_name if b.symbol >= 0 else "" for b in parsed.bindings
    }
    assert (places["app"], places["self.depot"], places["self.parent"]) == ("", "Shop", "Shop.__init__")
    assert (places["a"], places[""]) == ("Shop.run", "Shop.run")


def test_a_passed_variable_keeps_its_type_once() -> None:
    text = "class Shop:\n    def f(self, depot: Depot):\n        near = depot\n        self.depot = {}\n"
    assert bindings_of("a.py", text.format("depot")) == "self.depot:Depot"
    assert bindings_of("a.py", text.format("near")) == ""


def test_untyped_name_is_bound_where_it_shadows_another() -> None:
    assert bindings_of("a.py", "def f():\n    depot = near[0]\n    depot.open()\n") == ""
    assert (
        bindings_of("a.py", "def f(a, depot: Depot):\n    depot.open()\n    depot = near[0]\n")
        == "depot:Depot depot:?"
    )
    assert bindings_of("a.py", "from shop import depot\ndef f(depot): ...\n") == "depot:?"


def test_an_assignment_of_none_hides_no_type() -> None:
    assert bindings_of(
        "a.py", "class A:\n    def f(self):\n        self.d = None\n        self.d = Depot()\n"
    ) == ("self.d:Depot()")


def test_import_by_a_call_is_not_a_variable() -> None:
    assert (
        bindings_of(
            "a.js", "const fs = require('fs');\nconst { open } = require('fs');\nfs.read(open.x());\n"
        )
        == ""
    )


def test_bindings_are_capped() -> None:
    text = "".join(f"v{n}: Depot = None\n" for n in range(10))
    assert len(chunk_file("a.py", text, budget=Budget(bindings_max=3)).bindings) == 3


def test_a_long_chain_of_wrappers_ends() -> None:
    text = f"depot = {'(' * QUERY_DEPTH_MAX}Depot(){')' * QUERY_DEPTH_MAX}\n"
    assert chunk_file("a.py", text).parse == "ok"


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("Depot", "Depot"),
        ("models.Depot", "models.Depot"),
        ("m::Depot<T>", "m::Depot"),
        ("Optional[Depot]", "Depot"),
        ("Union[Depot, None]", "Depot"),
        ("Union[Depot, Car]", ""),
        ("None | 'Depot'", "Depot"),
        ("Depot | Car", ""),
        ("Depot?", "Depot"),
        ("&'a mut Depot", "Depot"),
        ("Option<Box<dyn Depot + Send>>", ""),
        ("Arc<Depot>", "Depot"),
        ("const Depot *", "Depot"),
        ("std::unique_ptr<m::Depot>", "m::Depot"),
        ("Promise<Depot | null>", "Depot"),
        ("Annotated[Depot, Field(gt=0)]", "Depot"),
        ("dict[str, Depot]", "dict"),
        ("Depot[]", ""),
        ("[]Depot", ""),
        ("map[string]Depot", ""),
        ("(Depot) => Car", ""),
        ("func(int) error", ""),
        ("None", ""),
        ("void", ""),
        ("", ""),
        ("<" * 300, ""),
    ],
)
def test_a_type_comes_down_to_a_name(spelled: str, name: str) -> None:
    assert type_name(spelled) == name


@pytest.mark.parametrize(
    ("path", "text", "bindings"),
    [
        (
            "shop.rs",
            "fn one<W: Walk>(a: W) { a.go(); }\nfn two<W>(b: W) { b.go(); }\nfn three<W>(c: W) where W: Run { c.go(); }\n",
            "a:Walk c:Run",
        ),
        (
            "Shop.java",
            "class Shop<T extends Depot> {\n  void one(T a) { a.go(); }\n  <T> void two(T b) { b.go(); }\n}\n",
            "a:Depot",
        ),
        (
            "Shop.cs",
            "class Near<T> where T : Depot { void One(T a) { a.Go(); } }\nclass Far<T> { void Two(T b) { b.Go(); } }\n",
            "a:Depot",
        ),
        ("shop.go", "type Shop[T Walk] struct{}\nfunc (s *Shop[T]) one(a T) { a.Go() }\n", "a:Walk"),
    ],
)
def test_a_type_parameter_is_what_the_innermost_declaration_says(path, text, bindings) -> None:
    assert bindings_of(path, text) == bindings
