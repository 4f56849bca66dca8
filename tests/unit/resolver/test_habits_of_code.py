"""Habits that many languages share, an example in each: docs/graph/habits.md lists them."""

import pytest
from graph_files import edges_between_files, edges_of, facts_of
from test_graph_overloads import lines_of

from prism_contracts.code import ReferenceKind

DEPOT = {
    "a.py": "class Depot:\n    @property\n    def size(self): ...\n    def open(self): ...\n",
    "a.ts": "class Depot {\n  get size() { return 1; }\n  open() {}\n}\n",
    "a.java": "class Depot {\n  int size;\n  void open() {}\n}\n",
    "a.cs": "class Depot {\n  public int size => 1;\n  public virtual void open() {}\n}\n",
    "a.kt": "open class Depot(\n  val size: Int) {\n  open fun open() {}\n}\n",
    "a.swift": "class Depot {\n  var size: Int { 1 }\n  func open() {}\n}\n",
    "a.rs": "struct Depot {\n  size: u8 }\nimpl Depot {\n  fn open(&self) {} }\n",
    "a.go": "package a\n\ntype Depot struct {\n\tsize int\n}\n\nfunc (d *Depot) open() {}\n",
    "a.cpp": "struct Depot {\n  int size;\n  void open() {}\n};\n",
    "a.php": "<?php\nclass Depot {\n  public int $size = 1;\n  function open() {}\n}\n",
    "a.rb": "class Depot\n  attr_reader :size\n  def open\n  end\nend\n",
}


def uses(path: str, code: str, name: str) -> set[str]:
    """Returns the edges of a name in the lines below `Depot`, each as the symbol that is reached, unsure ones with `?`."""
    first = DEPOT[path].count("\n") + 1
    found = set()
    for edge in edges_of({path: DEPOT[path] + code}):
        place, _, rest = edge.partition(" ")
        used, _, target = rest.partition(" -> ")
        if int(place.rpartition(":")[2]) >= first and used == name:
            found.add(target.partition(":")[2].partition(" ")[0] + ("?" if edge.endswith("?") else ""))
    return found


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(d: Depot):\n    if d.size: ...\n"),
        ("a.ts", "function f(d: Depot) { if (d.size) {} }\n"),
        ("a.ts", "function f(d: Depot) { while (!d.size) {} }\n"),
        ("a.ts", "function f(d: Depot) { return `${d.size}`; }\n"),
        ("a.ts", "function f(d: Depot) { for (const one of d.size) {} }\n"),
        ("a.ts", "function f(d: Depot) { return [...d.size]; }\n"),
        ("a.java", "class U { int f(Depot d) { return d.size; } }\n"),
        ("a.cs", "class U { int F(Depot d) { if (d.size > 3) {} } }\n"),
        ("a.kt", "fun f(d: Depot) = d.size\n"),
        ("a.swift", "func f(d: Depot) { if d.size > 3 {} }\n"),
        ("a.rs", "fn f(d: &Depot) { if d.size > 3 {} }\n"),
        ("a.go", "func f(d *Depot) { if d.size > 3 {} }\n"),
        ("a.cpp", "void f(Depot& d) { if (d.size) {} }\n"),
        ("a.php", "function f(Depot $d) { if ($d->size) {} }\n"),
        ("a.rb", "def f\n  depot = Depot.new\n  puts 1 if depot.size\nend\n"),
    ],
)
def test_a_property_that_is_read_is_used(path: str, code: str) -> None:
    assert uses(path, code, "size") == {"Depot.size"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class Low(Depot):\n    def open(self): super().open()\n"),
        ("a.ts", "class Low extends Depot { open() { super.open(); } }\n"),
        ("a.java", "class Low extends Depot { void open() { super.open(); } }\n"),
        ("a.cs", "class Low : Depot { public override void open() { base.open(); } }\n"),
        ("a.kt", "class Low : Depot(1) { override fun open() { super.open() } }\n"),
        ("a.swift", "class Low: Depot { override func open() { super.open() } }\n"),
        ("a.php", "class Low extends Depot { function open() { parent::open(); } }\n"),
        ("a.rb", "class Low < Depot\n  def open\n    super\n  end\nend\n"),
    ],
)
def test_super_is_the_member_of_the_base_class(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class Shed(Depot):\n    def close(self): super().close()\n"),
        ("a.py", "class Shed(Outside):\n    def close(self): super().close()\n"),
        ("a.ts", "class Shed extends Outside { close() { super.close(); } }\n"),
    ],
)
def test_super_is_no_member_of_the_class_itself(path: str, code: str) -> None:
    assert uses(path, code, "close") == set()
    below = (
        "class Low(Shed):\n    def close(self): ...\n"
        if path == "a.py"
        else "class Low extends Shed { close() {} }\n"
    )
    assert uses(path, code + below, "close") == {"Low.close?"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class U:\n    def __init__(self, d: Depot):\n        self.d = d\n    def f(self): self.d.open()\n"),
        ("a.py", "def make(): ...\ndef f(d: Depot = Depends(make)): d.open()\n"),
        ("a.py", "def make(): ...\ndef f(d: Annotated[Depot, Depends(make)]): d.open()\n"),
        ("a.ts", "class U { constructor(private d: Depot) {} f() { this.d.open(); } }\n"),
        ("a.java", "class U { private final Depot d; U(Depot d) { this.d = d; } void f() { d.open(); } }\n"),
        ("a.java", "class U { @Autowired Depot d; void f() { d.open(); } }\n"),
        ("a.cs", "class U { readonly Depot _d; U(Depot d) { _d = d; } void F() => _d.open(); }\n"),
        ("a.cs", "class U(Depot d) { void F() => d.open(); }\n"),
        ("a.kt", "class U(private val d: Depot) { fun f() { d.open() } }\n"),
    ],
)  # fmt: skip
def test_an_object_that_is_injected_has_the_declared_type(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


def test_a_dependency_of_a_route_is_used() -> None:
    code = "def make(): ...\n@app.get('/')\ndef f(d=Depends(make)): ...\n"
    assert uses("a.py", code, "make") == {"make"}


@pytest.mark.parametrize(
    ("annotation", "found"),
    [
        ("Depot | None", {"Depot.open"}),
        ("Optional[Depot]", {"Depot.open"}),
        ("'Depot'", {"Depot.open"}),
        ("Depot | Gate | None", {"Depot.open?", "Gate.open?"}),
    ],
)
def test_a_union_with_none_is_its_other_type(annotation: str, found: set[str]) -> None:
    gate = "class Gate:\n    def open(self): ...\n"
    assert uses("a.py", f"{gate}def f(x: {annotation} = None): x.open()\n", "open") == found
    assert uses("a.py", f"{gate}def f():\n    x: {annotation} = None\n    x.open()\n", "open") == found


@pytest.mark.parametrize(
    ("head", "use"),
    [
        ("import a as p", "p.Depot().open()"),
        ("from a import Depot as P", "P().open()"),
        ("from again import Store", "Store().open()"),
        ("from again import Store", "def f(d: Store): d.open()"),
        ("from again import Store", "def f():\n    d: Store = made()\n    d.open()"),
    ],
)
def test_an_import_under_another_name_is_followed(head: str, use: str) -> None:
    files = {
        "a.py": DEPOT["a.py"],
        "again.py": "from a import Depot as Store\n",
        "user.py": f"{head}\n{use}\n",
    }
    assert [one for one in edges_of(files) if one.endswith("open -> a.py:Depot.open receiver_type")]


@pytest.mark.parametrize(
    ("path", "text", "edge"),
    [
        ("a.py", "class Depot:\n    def __call__(self): ...\ndef f(d: Depot): d()\n", "a.py:3 d -> a.py:Depot.__call__"),
        ("a.cpp", "struct Depot {\n  int operator()(int n) { return n; }\n};\nvoid f() { Depot d; d(2); }\n", "a.cpp:4 d -> a.cpp:Depot.operator()"),
        ("a.kt", "class Depot {\n  operator fun invoke(n: Int) {}\n}\nfun f(d: Depot) { d(1) }\n", "a.kt:4 d -> a.kt:Depot.invoke"),
        ("a.kt", "class Depot {\n  operator fun invoke(n: Int) {}\n}\nval d = Depot()\nfun f() { d(1) }\n", "a.kt:5 d -> a.kt:Depot.invoke"),
        ("a.swift", "class Depot {\n  func callAsFunction(_ n: Int) {}\n}\nfunc f(d: Depot) { d(1) }\n", "a.swift:4 d -> a.swift:Depot.callAsFunction"),
    ],
)  # fmt: skip
def test_an_object_that_is_called_runs_a_method_of_its_class(path: str, text: str, edge: str) -> None:
    assert f"{edge} receiver_type" in edges_of({path: text})


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.py", "def work(): ...\nTABLE = {'a': work}\nTABLE['a']()\n", 3),
        ("a.py", "def work(): ...\nrun = partial(work, 1)\nrun()\n", 3),
        ("a.py", "def work(): ...\nclass T:\n    table = [work]\n    def f(self): self.table[0]()\n", 4),
        ("a.go", "package a\n\nvar table = []func(){work}\n\nfunc work() {}\nfunc f() { table[0]() }\n", 6),
        ("a.js", "function work() {}\nconst table = [work];\ntable[0]();\n", 3),
        ("a.js", "function work() {}\nconst table = { work };\ntable['work']();\n", 3),
        ("a.ts", "function work() {}\nconst run = work.bind(null, 1);\nrun();\n", 3),
        ("a.rs", "fn work() {}\nstatic TABLE: [fn(); 1] = [work];\nfn f() { TABLE[0](); }\n", 3),
        ("a.c", "void work(void) {}\nstruct gate { void (*open)(void); };\nstruct gate g = { .open = work };\nvoid f(struct gate *g) { g->open(); }\n", 4),
    ],
)  # fmt: skip
def test_a_call_of_what_is_stored_may_run_the_function(path: str, text: str, line: int) -> None:
    found = edges_of({path: text})
    assert [one for one in found if one.startswith(f"{path}:{line} ") and one.endswith(":work stored?")]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "@uses(Depot)\nclass U: ...\n"),
        ("a.ts", "@Uses(Depot)\nclass U {}\n"),
        ("a.java", "@Uses(Depot.class)\nclass U {}\n"),
        ("a.cs", "[Uses(typeof(Depot))]\nclass U {}\n"),
        ("a.kt", "@Uses(Depot::class)\nclass U\n"),
        ("a.php", "#[Uses(Depot::class)]\nclass U {}\n"),
        ("a.swift", "@Uses(Depot.self)\nclass U {}\n"),
    ],
)
def test_a_class_in_an_annotation_is_used(path: str, code: str) -> None:
    assert uses(path, code, "Depot") == {"Depot"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class D {\n  int w(S s) { return w(s, 1); }\n  int w(S s, int n) { return 1; }\n}\n"),
        ("a.cs", "class D {\n  int w(S s) => w(s, 1);\n  int w(S s, int n) => 1;\n}\n"),
        ("a.kt", "class D {\n  fun w(s: S): Int = w(s, 1)\n  fun w(s: S, n: Int): Int = 1\n}\n"),
        ("a.cpp", "class D {\n  int w(const S& s) { return w(s, 1); }\n  int w(const S& s, int n) { return 1; }\n};\n"),
        ("a.cpp", "class D {\n  int w(const char* s) { return w(s, 1); }\n  int w(const char* s, int n) { return 1; }\n};\n"),
        ("a.swift", "class D {\n  func w(s: S) { w(s: s, n: 1) }\n  func w(s: S, n: Int) {}\n}\n"),
    ],
)  # fmt: skip
def test_an_overload_that_delegates_calls_the_other_one(path: str, text: str) -> None:
    assert {one for one in lines_of({path: text}, path) if " w -> " in one} == {"2 w -> 3"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class D {\n  int w(S s) { return 0; }\n  int w(int n) { return 1; }\n  int f() { return w(other()); }\n}\n"),
        ("a.cs", "class D {\n  int w(S s) => 0;\n  int w(int n) => 1;\n  int f() => w(other());\n}\n"),
        ("a.kt", "class D {\n  fun w(s: S) = 0\n  fun w(n: Int) = 1\n  fun f() = w(other())\n}\n"),
        ("a.cpp", "class D {\n  int w(const S& s) { return 0; }\n  int w(int n) { return 1; }\n  int f() { return w(other()); }\n};\n"),
    ],
)  # fmt: skip
def test_a_call_that_does_not_choose_may_mean_each_overload(path: str, text: str) -> None:
    assert {one for one in lines_of({path: text}, path) if " w -> " in one} == {"4 w -> 2?", "4 w -> 3?"}


PY_PACKAGE = '[project]\nname = "{}"\ndependencies = [{}]\n'


@pytest.mark.parametrize(
    ("files", "edge"),
    [
        pytest.param(
            {
                "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
                "packages/rates/package.json": '{"name": "@acme/rates", "main": "src/rates.ts"}',
                "packages/rates/src/rates.ts": "export function rate() {}\n",
                "app/package.json": '{"name": "app", "dependencies": {"@acme/rates": "workspace:*"}}',
                "app/user.ts": "import { rate } from '@acme/rates';\nrate();\n",
            },
            "app/user.ts -> 0:packages/rates/src/rates.ts import",
            id="npm, pnpm, yarn",
        ),
        pytest.param(
            {
                "deno.json": '{"workspace": ["./rates", "./app"]}',
                "rates/deno.json": '{"name": "@acme/rates", "exports": "./mod.ts"}',
                "rates/mod.ts": "export function rate() {}\n",
                "app/deno.json": '{"name": "@acme/app"}',
                "app/user.ts": "import { rate } from '@acme/rates';\nrate();\n",
            },
            "app/user.ts -> 0:rates/mod.ts import",
            id="deno",
        ),
        pytest.param(
            {
                "Cargo.toml": "[workspace]\nmembers = ['rates', 'app']\n",
                "rates/Cargo.toml": "[package]\nname = 'acme-rates'\n",
                "rates/src/lib.rs": "pub fn rate() {}\n",
                "app/Cargo.toml": "[package]\nname = 'app'\n[dependencies]\nacme-rates = { path = '../rates' }\n",
                "app/src/main.rs": "fn main() { acme_rates::rate(); }\n",
            },
            "app/src/main.rs -> 0:rates/src/lib.rs module",
            id="Cargo",
        ),
        pytest.param(
            {
                "go.work": "go 1.22\nuse (\n\t./rates\n\t./app\n)\n",
                "rates/go.mod": "module go.acme.example/rates\n",
                "rates/rates.go": "package rates\n\nfunc Rate() {}\n",
                "app/go.mod": "module go.acme.example/app\nrequire go.acme.example/rates v0.0.0\n",
                "app/app.go": 'package app\n\nimport "go.acme.example/rates"\n\nfunc F() { rates.Rate() }\n',
            },
            "app/app.go -> 0:rates/rates.go module",
            id="Go work",
        ),
        pytest.param(
            {
                "pyproject.toml": PY_PACKAGE.format("town", "") + '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
                "packages/rates/pyproject.toml": PY_PACKAGE.format("acme-rates", ""),
                "packages/rates/src/acme_rates/zones.py": "def rate(): ...\n",
                "packages/app/pyproject.toml": PY_PACKAGE.format("app", '"acme-rates"'),
                "packages/app/src/app/user.py": "from acme_rates.zones import rate\nrate()\n",
            },
            "packages/app/src/app/user.py -> 0:packages/rates/src/acme_rates/zones.py import",
            id="uv",
        ),
        pytest.param(
            {
                "settings.gradle.kts": 'include(":rates", ":app")\n',
                "rates/src/main/kotlin/acme/rates/Zone.kt": "package acme.rates\nclass Zone { fun rate() {} }\n",
                "app/src/main/java/acme/app/User.java": "package acme.app;\nimport acme.rates.Zone;\nclass User { void f(Zone z) { z.rate(); } }\n",
            },
            "app/src/main/java/acme/app/User.java -> 0:rates/src/main/kotlin/acme/rates/Zone.kt receiver_type",
            id="Gradle",
        ),
        pytest.param(
            {
                "Town.sln": 'Project("{1}") = "Rates", "Rates\\Rates.csproj", "{2}"\n',
                "Rates/Rates.csproj": "<Project/>",
                "Rates/Zone.cs": "namespace Acme.Rates; public class Zone { public void Rate() {} }\n",
                "App/App.csproj": "<Project/>",
                "App/User.cs": "using Acme.Rates;\nnamespace Acme.App;\nclass User { void F(Zone z) { z.Rate(); } }\n",
            },
            "App/User.cs -> 0:Rates/Zone.cs receiver_type",
            id=".sln",
        ),
    ],
)  # fmt: skip
def test_packages_of_a_workspace_import_each_other(files: dict[str, str], edge: str) -> None:
    assert f"0:{edge}" in edges_between_files(files)


def test_a_package_of_python_that_the_manifest_lists_rules_candidates_out() -> None:
    user = "import gates\nfrom gates import Gate, open\nopen()\ngates.shut()\nGate().shut()\nclass Low(Gate): ...\n"
    own = "def open(): ...\ndef shut(): ...\nclass Depot:\n    def shut(self): ...\n"
    files = {"user.py": user, "own.py": own}
    assert edges_between_files(files)
    assert not edges_between_files(files | {"pyproject.toml": PY_PACKAGE.format("town", '"gates>=1"')})


def test_calls_among_the_arguments_of_a_macro_are_calls() -> None:
    code = 'fn f(d: &Depot) {\n  assert!(check(d));\n  println!("{}", d.open());\n}\nfn check(d: &Depot) -> bool { true }\n'
    assert uses("a.rs", code, "check") == {"check"}
    assert uses("a.rs", code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def work(x): ...\nrun = lambda x: work(x)\nrun(1)\n"),
        ("a.ts", "function work(n) {}\nconst run = (n) => work(n);\nrun(1);\n"),
        ("a.java", "class U { static void work(int n) {} Runnable run = () -> work(1); }\n"),
        ("a.cs", "class U { static void work(int n) {} Action run = () => work(1); }\n"),
        ("a.kt", "fun work(n: Int) {}\nval run = { n: Int -> work(n) }\n"),
        ("a.swift", "func work(_ n: Int) {}\nlet run = { (n: Int) in work(n) }\n"),
        ("a.rs", "fn work(n: u8) {}\nfn f() { let run = |n| work(n); run(1); }\n"),
        ("a.go", "func work(n int) {}\nvar run = func(n int) { work(n) }\n"),
        ("a.cpp", "void work(int n) {}\nauto run = [](int n) { work(n); };\n"),
        ("a.php", "function work($n) {}\n$run = fn($n) => work($n);\n"),
        ("a.rb", "def work(n)\nend\nRUN = ->(n) { work(n) }\n"),
    ],
)
def test_a_lambda_that_forwards_calls_the_function(path: str, code: str) -> None:
    assert {one.removeprefix("U.") for one in uses(path, code, "work")} == {"work"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def work(): ...\ndef f(): run(work)\n"),
        ("a.ts", "function work() {}\nfunction f() { return [1].map(work); }\n"),
        ("a.java", "class U { void work() {} void f() { run(this::work); } }\n"),
        ("a.cs", "class U { void work() {} void F() { Run(work); } }\n"),
        ("a.kt", "fun work() {}\nfun f() { run(::work) }\n"),
        ("a.swift", "func work() {}\nfunc f() { run(work) }\n"),
        ("a.rs", "fn work() {}\nfn f() { run(work); }\n"),
        ("a.go", "func work() {}\nfunc f() { run(work) }\n"),
        ("a.cpp", "void work() {}\nvoid f() { run(&work); }\n"),
        ("a.php", "function work() {}\nfunction f() { run(work(...)); }\n"),
        ("a.rb", "def work\nend\ndef f\n  run(method(:work))\nend\n"),
    ],
)
def test_a_function_passed_as_an_argument_is_used(path: str, code: str) -> None:
    assert {one.removeprefix("U.") for one in uses(path, code, "work")} == {"work"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(d: Depot): run(d.open)\n"),
        ("a.ts", "function f(d: Depot) { run(d.open); }\n"),
        ("a.java", "class U { void f(Depot d) { run(d::open); } }\n"),
        ("a.cs", "class U { void F(Depot d) { Run(d.open); } }\n"),
        ("a.kt", "fun f() { run(Depot::open) }\n"),
        ("a.swift", "func f(d: Depot) { run(d.open) }\n"),
        ("a.rs", "fn f() { run(Depot::open); }\n"),
        ("a.go", "func f(d *Depot) { run(d.open) }\n"),
        ("a.cpp", "void f() { run(&Depot::open); }\n"),
        ("a.php", "function f(Depot $d) { run([$d, 'open']); }\n"),
    ],
)
def test_a_method_passed_as_an_argument_is_used(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def work(): ...\nclass T:\n    def __init__(self): self.run = work\n"),
        ("a.ts", "function work() {}\nclass T { run: () => void; constructor() { this.run = work; } }\n"),
        ("a.java", "class U { Runnable run = this::work; void work() {} }\n"),
        ("a.cs", "class U { Action run; void work() {} U() { run = work; } }\n"),
        ("a.kt", "fun work() {}\nval run: () -> Unit = ::work\n"),
        ("a.swift", "func work() {}\nlet run: () -> Void = work\n"),
        ("a.rs", "fn work() {}\nstruct T { run: fn() }\nfn f() -> T { T { run: work } }\n"),
        ("a.go", "type T struct { run func() }\nfunc work() {}\nvar t = T{run: work}\n"),
        ("a.cpp", "void work() {}\nstruct T { void (*run)(); };\nT t = { work };\n"),
        ("a.rb", "def work\nend\nRUN = method(:work)\n"),
    ],
)
def test_a_function_that_is_stored_is_used_where_it_is_stored(path: str, code: str) -> None:
    assert {one.removeprefix("U.") for one in uses(path, code, "work")} == {"work"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.ts", "function work() {}\nclass T { run: () => void = work; f() { this.run(); } }\n"),
        ("a.ts", "function work() {}\nclass T { run = work; f() { this.run(); } }\n"),
        ("a.cpp", "void work() {}\nstruct T { void (*run)(); };\nT t = { work };\nvoid f(T& t) { t.run(); }\n"),
    ],
)  # fmt: skip
def test_a_call_of_a_field_may_run_the_function_in_it(path: str, code: str) -> None:
    assert uses(path, code, "run") == {"T.run", "work?"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "TABLE = {'a': Depot.open}\nTABLE['a']()\n"),
        ("a.rs", "static TABLE: [fn(&Depot); 1] = [Depot::open];\nfn f(d: &Depot) { TABLE[0](d); }\n"),
    ],
)
def test_a_call_through_a_table_of_methods_may_run_each(path: str, code: str) -> None:
    assert uses(path, code, "TABLE") == {"TABLE", "Depot.open?"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class W:\n    def set(self) -> 'W': ...\n    def end(self): ...\nW().set().set().end()\n"),
        ("a.py", "class W:\n    def set(self) -> Self: ...\n    def end(self): ...\ndef f():\n    w = W().set()\n    w.end()\n"),
        ("a.ts", "class W { set() { return this; } end() {} }\nnew W().set().set().end();\n"),
        ("a.ts", "class W { set(): this { return this; } end() {} }\nconst w = new W().set();\nw.end();\n"),
        ("a.java", "class W { W set() { return this; } void end() {} void f() { new W().set().set().end(); } }\n"),
        ("a.cs", "class W { W set() => this; void end() {} void F() { new W().set().set().end(); } }\n"),
        ("a.kt", "class W { fun set(): W = this\n fun end() {} }\nfun f() { W().set().set().end() }\n"),
        ("a.swift", "class W { func set() -> Self { self }\n func end() {} }\nfunc f() { W().set().set().end() }\n"),
        ("a.rs", "struct W; impl W { fn new() -> Self { W }\n fn set(self) -> Self { self }\n fn end(self) {} }\nfn f() { W::new().set().set().end(); }\n"),
        ("a.go", "type W struct{}\nfunc (w *W) set() *W { return w }\nfunc (w *W) end() {}\nfunc f() { w := &W{}; w.set().set().end() }\n"),
        ("a.cpp", "struct W { W& set() { return *this; }\n void end() {} };\nvoid f() { W w; w.set().set().end(); }\n"),
        ("a.php", "class W { function set(): static { return $this; }\n function end() {} }\nfunction f() { (new W())->set()->set()->end(); }\n"),
    ],
)  # fmt: skip
def test_a_builder_that_returns_its_object_is_followed(path: str, code: str) -> None:
    assert uses(path, code, "end") == {"W.end"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f():\n    d = Depot()\n    d.open()\n"),
        ("a.ts", "function f() { const d = new Depot(); d.open(); }\n"),
        ("a.ts", "function f() { let d: Depot | null = other(); d.open(); }\n"),
        ("a.java", "class U { void f() { var d = new Depot(); d.open(); } }\n"),
        ("a.cs", "class U { void F() { var d = new Depot(); d.open(); } }\n"),
        ("a.cs", "class U { void F() { Depot d = new(); d.open(); } }\n"),
        ("a.kt", "fun f() { val d = Depot(1)\n d.open() }\n"),
        ("a.swift", "func f() { let d = Depot()\n d.open() }\n"),
        ("a.rs", "impl Depot { fn new() -> Depot { todo!() } }\nfn f() { let d = Depot::new(); d.open(); }\n"),
        ("a.rs", "fn f() { let d = Depot { size: 1 }; d.open(); }\n"),
        ("a.go", "func f() { d := &Depot{}; d.open() }\n"),
        ("a.go", "func make() (*Depot, error) { return nil, nil }\nfunc f() { d, err := make(); d.open() }\n"),
        ("a.cpp", "void f() { auto d = new Depot(); d->open(); }\n"),
        ("a.cpp", "void f() { auto d = std::make_unique<Depot>(); d->open(); }\n"),
        ("a.php", "function f() { $d = new Depot(); $d->open(); }\n"),
        ("a.rb", "def f\n  d = Depot.new\n  d.open\nend\n"),
    ],
)  # fmt: skip
def test_a_local_has_the_type_of_its_initial_value(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.java", "class U<T extends Depot> { void f(T d) { d.open(); } }\n"),
        ("a.java", "class U { <T extends Depot> void f(T d) { d.open(); } }\n"),
        ("a.cs", "class U<T> where T : Depot { void F(T d) { d.open(); } }\n"),
        ("a.kt", "fun <T : Depot> f(d: T) { d.open() }\n"),
        ("a.swift", "func f<T: Depot>(d: T) { d.open() }\n"),
    ],
)
def test_a_type_parameter_has_the_members_of_its_bound(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def work(): ...\ndef f(work): work()\n"),
        ("a.ts", "function work() {}\nfunction f(work: any) { work(); }\n"),
        ("a.kt", "fun work() {}\nfun f(work: () -> Unit) { work() }\n"),
        ("a.swift", "func work() {}\nfunc f(work: () -> Void) { work() }\n"),
        ("a.rs", "fn work() {}\nfn f(work: fn()) { work(); }\n"),
        ("a.go", "func work() {}\nfunc f(work func()) { work() }\n"),
    ],
)
def test_a_parameter_hides_a_function_of_its_name(path: str, code: str) -> None:
    assert uses(path, code, "work") == set()


@pytest.mark.parametrize(
    ("files", "edge"),
    [
        (
            {
                "town/__init__.py": "from .depot import Depot as Store\n",
                "town/depot.py": "class Depot:\n    def open(self): ...\n",
                "user.py": "from town import Store\ndef f(d: Store): d.open()\n",
            },
            "user.py:2 open -> town/depot.py:Depot.open",
        ),
        (
            {
                "town/index.ts": "export { Depot as Store } from './depot';\n",
                "town/depot.ts": "export class Depot { open() {} }\n",
                "user.ts": "import { Store } from './town';\nfunction f(d: Store) { d.open(); }\n",
            },
            "user.ts:2 open -> town/depot.ts:Depot.open",
        ),
        (
            {
                "src/lib.rs": "mod depot;\nmod user;\npub use depot::Depot as Store;\n",
                "src/depot.rs": "pub struct Depot;\nimpl Depot { pub fn open(&self) {} }\n",
                "src/user.rs": "use crate::Store;\nfn f(d: &Store) { d.open(); }\n",
            },
            "src/user.rs:2 open -> src/depot.rs:Depot.open",
        ),
        (
            {
                "a/depot.go": "package a\n\ntype Depot struct{}\n\nfunc (d *Depot) Open() {}\n",
                "b/b.go": 'package b\n\nimport "example.org/acme/parcels/a"\n\ntype Store = a.Depot\n',
                "c/c.go": 'package c\n\nimport "example.org/acme/parcels/b"\n\nfunc f(d *b.Store) { d.Open() }\n',
            },
            "c/c.go:5 Open -> a/depot.go:Depot.Open",
        ),
        (
            {
                "a/Depot.kt": "package a\nclass Depot { fun open() {} }\ntypealias Store = Depot\n",
                "b/User.kt": "package b\nimport a.Store\nfun f(d: Store) { d.open() }\n",
            },
            "b/User.kt:3 open -> a/Depot.kt:Depot.open",
        ),
        (
            {
                "depot.hpp": "struct Depot {\n  void open() {}\n};\n",
                "all.hpp": '#include "depot.hpp"\nusing Store = Depot;\n',
                "user.cpp": '#include "all.hpp"\nvoid f(Store& d) { d.open(); }\n',
            },
            "user.cpp:2 open -> depot.hpp:Depot.open",
        ),
    ],
    ids=["Python", "TypeScript", "Rust", "Go", "Kotlin", "C++"],
)
def test_a_parameter_may_have_a_type_that_is_exported_again(files: dict[str, str], edge: str) -> None:
    assert f"{edge} receiver_type" in edges_of(files)


@pytest.mark.parametrize(
    ("files", "edge"),
    [
        (
            {"a.ts": "export class Depot { open() {} }\n", "b.ts": "import { Depot as P } from './a';\nnew P().open();\n"},
            "b.ts:2 open -> a.ts:Depot.open",
        ),
        (
            {"a.ts": "export class Depot { open() {} }\n", "b.ts": "import * as p from './a';\nnew p.Depot().open();\n"},
            "b.ts:2 open -> a.ts:Depot.open",
        ),
        (
            {"a.js": "exports.Depot = class Depot { open() {} };\n", "b.js": "const { Depot: P } = require('./a');\nnew P().open();\n"},
            "b.js:2 open -> a.js:exports.Depot.open",
        ),
        (
            {
                "a/a.go": "package a\n\ntype Depot struct{}\n\nfunc (d *Depot) Open() {}\n",
                "b/b.go": 'package b\n\nimport p "example.org/acme/parcels/a"\n\nfunc f(d *p.Depot) { d.Open() }\n',
            },
            "b/b.go:5 Open -> a/a.go:Depot.Open",
        ),
        (
            {
                "src/lib.rs": "mod a;\nmod b;\n",
                "src/a.rs": "pub struct Depot;\nimpl Depot { pub fn open(&self) {} }\n",
                "src/b.rs": "use crate::a::Depot as P;\nfn f(d: &P) { d.open(); }\n",
            },
            "src/b.rs:2 open -> src/a.rs:Depot.open",
        ),
        (
            {
                "a/A.kt": "package a\nclass Depot { fun open() {} }\n",
                "b/B.kt": "package b\nimport a.Depot as P\nfun f(d: P) { d.open() }\n",
            },
            "b/B.kt:3 open -> a/A.kt:Depot.open",
        ),
        (
            {
                "A.cs": "namespace A;\npublic class Depot { public void Open() {} }\n",
                "B.cs": "using P = A.Depot;\nclass U { void F(P d) { d.Open(); } }\n",
            },
            "B.cs:2 Open -> A.cs:A.Depot.Open",
        ),
        (
            {
                "A.php": "<?php\nnamespace A;\nclass Depot { function open() {} }\n",
                "B.php": "<?php\nuse A\\Depot as P;\nfunction f(P $d) { $d->open(); }\n",
            },
            "B.php:3 open -> A.php:Depot.open",
        ),
        (
            {"A.swift": "class Depot { func open() {} }\n", "B.swift": "typealias P = Depot\nfunc f(d: P) { d.open() }\n"},
            "B.swift:2 open -> A.swift:Depot.open",
        ),
        (
            {
                "a/A.scala": "package a\nclass Depot { def open() = 1 }\n",
                "b/B.scala": "package b\nimport a.{Depot => P}\nobject U { def f(d: P) = d.open() }\n",
            },
            "b/B.scala:3 open -> a/A.scala:Depot.open",
        ),
        (
            {
                "a.hpp": "namespace town {\nstruct Depot {\n  void open() {}\n};\n}\n",
                "b.cpp": '#include "a.hpp"\nusing P = town::Depot;\nvoid f(P& d) { d.open(); }\n',
            },
            "b.cpp:3 open -> a.hpp:town.Depot.open",
        ),
    ],
)  # fmt: skip
def test_a_type_under_another_name_is_followed(files: dict[str, str], edge: str) -> None:
    assert f"{edge} receiver_type" in edges_of(files)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class D {\n  int w(String s) { return 0; }\n  int w(int n) { return 1; }\n  int f() { return w(3); }\n}\n"),
        ("a.cs", "class D {\n  int w(string s) => 0;\n  int w(int n) => 1;\n  int f() => w(3);\n}\n"),
        ("a.kt", "class D {\n  fun w(s: String) = 0\n  fun w(n: Int) = 1\n  fun f() = w(3)\n}\n"),
        ("a.cpp", "class D {\n  int w(const char* s) { return 0; }\n  int w(int n) { return 1; }\n  int f() { return w(3); }\n};\n"),
        ("a.swift", "class D {\n  func w(s: String) {}\n  func w(n: Int) {}\n  func f() { w(n: 3) }\n}\n"),
        ("a.ts", "class D {\n  w(s: string): void;\n  w(n: number) {}\n  f() { this.w(3); }\n}\n"),
    ],
)  # fmt: skip
def test_a_call_reaches_the_overload_that_its_arguments_fit(path: str, text: str) -> None:
    assert lines_of({path: text}, path) == {"4 w -> 3"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.java", "class D {\n  D(String s) {}\n  D(int n) {}\n  Object f() { return new D(3); }\n}\n"),
        ("a.cs", "class D {\n  D(string s) {}\n  D(int n) {}\n  object f() => new D(3);\n}\n"),
        ("a.kt", "class D {\n  constructor(s: String)\n  constructor(n: Int)\n  fun f() = D(3)\n}\n"),
        ("a.cpp", "struct D {\n  D(const char* s) {}\n  D(int n) {}\n  static void f() { new D(3); }\n};\n"),
        ("a.swift", "class D {\n  init(s: String) {}\n  init(n: Int) {}\n  static func f() { D(n: 3) }\n}\n"),
    ],
)
def test_an_object_is_made_by_the_constructor_that_its_arguments_fit(path: str, text: str) -> None:
    assert lines_of({path: text}, path) == {"4 D -> 3"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def f(all: list[Depot]):\n    for d in all: d.open()\n"),
        ("a.ts", "function f(all: Depot[]) { for (const d of all) d.open(); }\n"),
        ("a.ts", "function f(all: Depot[]) { all.forEach(d => d.open()); }\n"),
        ("a.java", "class U { void f(List<Depot> all) { for (var d : all) d.open(); } }\n"),
        ("a.java", "class U { void f(List<Depot> all) { all.forEach(d -> d.open()); } }\n"),
        ("a.cs", "class U { void F(List<Depot> all) { foreach (var d in all) d.open(); } }\n"),
        ("a.kt", "fun f(all: List<Depot>) { for (d in all) d.open() }\n"),
        ("a.rs", "fn f(all: &[Depot]) { for d in all { d.open(); } }\n"),
        ("a.go", "func f(all []*Depot) { for _, d := range all { d.open() } }\n"),
    ],
)
def test_an_element_of_a_collection_has_its_declared_type(path: str, code: str) -> None:
    assert uses(path, code, "open") == {"Depot.open"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.ts", "function work<T>() {}\nwork<number>();\n"),
        ("a.java", "class U { <T> void work() {} void f() { this.<String>work(); } }\n"),
        ("a.cs", "class U { void work<T>() {} void F() { work<int>(); } }\n"),
        ("a.kt", "fun <T> work() {}\nfun f() { work<Int>() }\n"),
        ("a.rs", "fn work<T>() {}\nfn f() { work::<u8>(); }\n"),
        ("a.go", "func work[T any]() {}\nfunc f() { work[int]() }\n"),
        ("a.cpp", "template <class T> void work() {}\nvoid f() { work<int>(); }\n"),
    ],
)
def test_a_call_with_type_arguments_is_a_call(path: str, code: str) -> None:
    assert {one.removeprefix("U.") for one in uses(path, code, "work")} == {"work"}
    references = facts_of(path, DEPOT[path] + code).references
    assert ReferenceKind.CALL in {one.kind for one in references if one.name == "work"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class Crate(Generic[T]):\n    def seal(self): ...\ndef f(c: Crate[Depot]): c.seal()\n"),
        ("a.ts", "class Crate<T> { seal() {} }\nfunction f(c: Crate<Depot>) { c.seal(); }\n"),
        ("a.java", "class Crate<T> { void seal() {} }\nclass U { void f(Crate<Depot> c) { c.seal(); } }\n"),
        ("a.cs", "class Crate<T> { public void seal() {} }\nclass U { void F(Crate<Depot> c) { c.seal(); } }\n"),
        ("a.kt", "class Crate<T> { fun seal() {} }\nfun f(c: Crate<Depot>) { c.seal() }\n"),
        ("a.swift", "class Crate<T> { func seal() {} }\nfunc f(c: Crate<Depot>) { c.seal() }\n"),
        ("a.rs", "struct Crate<T> { item: T }\nimpl<T> Crate<T> { fn seal(&self) {} }\nfn f(c: Crate<Depot>) { c.seal(); }\n"),
        ("a.go", "type Crate[T any] struct{}\nfunc (c *Crate[T]) seal() {}\nfunc f(c *Crate[Depot]) { c.seal() }\n"),
        ("a.cpp", "template <class T> struct Crate { void seal() {} };\nvoid f(Crate<Depot>& c) { c.seal(); }\n"),
    ],
)  # fmt: skip
def test_a_method_of_a_generic_class_is_called(path: str, code: str) -> None:
    assert uses(path, code, "seal") == {"Crate.seal"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "class Result(Generic[T]):\n    def seal(self): ...\ndef f(r: Result[Depot]): r.seal()\n"),
        ("a.ts", "class Result<T> { seal() {} }\nfunction f(r: Result<Depot>) { r.seal(); }\n"),
        ("a.java", "class Result<T> { void seal() {} }\nclass U { void f(Result<Depot> r) { r.seal(); } }\n"),
        ("a.cs", "class Result<T> { public void seal() {} }\nclass U { void F(Result<Depot> r) { r.seal(); } }\n"),
        ("a.go", "type Result[T any] struct{}\nfunc (r *Result[T]) seal() {}\nfunc f(r *Result[Depot]) { r.seal() }\n"),
        ("a.cpp", "template <class T> struct Result { void seal() {} };\nvoid f(Result<Depot>& r) { r.seal(); }\n"),
    ],
)  # fmt: skip
def test_a_class_named_like_a_wrapper_of_another_language_has_its_methods(path: str, code: str) -> None:
    assert uses(path, code, "seal") == {"Result.seal"}


@pytest.mark.parametrize(
    ("suffix", "definition", "use"),
    [
        (".java", "package a;\nclass Unit { void seal() {} }\n", "package a;\nclass U { void f(Unit u) { u.seal(); } }\n"),
        (".go", "package a\n\ntype Character struct{}\n\nfunc (c *Character) seal() {}\n", "package a\n\nfunc f(c *Character) { c.seal() }\n"),
        (".kt", "package a\nclass Character { fun seal() {} }\n", "package a\nfun f(c: Character) { c.seal() }\n"),
        (".swift", "class Unit { func seal() {} }\n", "func f(u: Unit) { u.seal() }\n"),
    ],
)  # fmt: skip
def test_a_type_named_like_a_built_in_of_another_language_is_used(
    suffix: str, definition: str, use: str
) -> None:
    edges = edges_of({f"src/a/one{suffix}": definition, f"src/a/two{suffix}": use})
    found = {one.split(" ")[1] for one in edges if one.startswith("src/a/two") and "?" not in one}
    assert found >= {"seal"}
    assert found & {"Unit", "Character"}
