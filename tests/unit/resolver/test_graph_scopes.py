"""Variables of closures and blocks: what their names mean in them, and behind them."""

import re

import pytest
from graph_files import edges_of

# In each program, `shut` is called on a Gate and `open` on a Depot, and both variables have one name.
PROGRAMS = {
    "a.go": """\
package a

type Gate struct{}
type Depot struct{}

func (g *Gate) shut() {}
func (d *Depot) open() {}
func (d *Depot) each(run func(*Gate)) *Depot { return d }
func (d *Depot) gate() *Gate { return nil }

func run(others []any) {
	box := &Depot{}
	box.each(func(box *Gate) {
		box.shut()
	})
	box.open()
	if box := box.gate(); box != nil {
		box.shut()
	}
	box.open()
	for _, box := range others {
		box.stop()
	}
	box.open()
	switch box := others[0].(type) {
	case *Gate:
		box.shut()
	case *Depot:
		box.open()
	}
	box.each(func(box *Gate) {
		box.shut()
	}).open()
	{
		box := box.gate()
		box.shut()
	}
	box.open()
}
""",
    "a.ts": """\
class Gate { shut() {} }
class Depot { open() {} each(run: (gate: Gate) => void) {} }

function run(others: Gate[]) {
  const box = new Depot();
  box.each((box: Gate) => {
    box.shut();
  });
  box.open();
  {
    let box = new Gate();
    box.shut();
  }
  box.open();
  for (const box of others) {
    box.shut();
  }
  box.open();
}
""",
    "a.js": """\
class Gate { shut() {} }
class Depot { open() {} each(run) {} }

function run() {
  const box = new Depot();
  if (box) {
    const box = new Gate();
    box.shut();
  }
  box.open();
  box.each(function (box) {
    box.stop();
  });
  box.open();
}
describe("boxes", () => {
  it("is a gate", () => {
    const box = new Gate();
    box.shut();
  });
  it("is a depot", () => {
    const box = new Depot();
    box.open();
  });
});
""",
    "a.rs": """\
struct Gate;
struct Depot;
impl Gate { fn shut(&self) {} }
impl Depot {
    fn open(&self) {}
    fn gate(&self) -> Gate { Gate }
}
fn run(depot: Depot) {
    let keep = |depot: Gate| {
        depot.shut();
    };
    depot.open();
    if let Some(depot) = other() {
        depot.stop();
    } else {
        depot.open();
    }
    depot.open();
    let depot = depot.gate();
    depot.shut();
}
""",
    "a.kt": """\
class Gate { fun shut() {} }
class Depot {
    fun open() {}
    fun each(run: (Gate) -> Unit) {}
}
class Town {
    val keep = { box: Gate ->
        box.shut()
    }
}
fun run(box: Depot) {
    box.each { box: Gate ->
        box.shut()
    }
    box.open()
    if (true) {
        val box = Gate()
        box.shut()
    }
    box.open()
}
""",
    "a.swift": """\
class Gate { func shut() {} }
class Depot {
    func open() {}
    func each(_ run: (Gate) -> Void) {}
}
func run(box: Depot) {
    box.each { (box: Gate) in
        box.shut()
    }
    box.open()
    if true {
        let box = Gate()
        box.shut()
    }
    box.open()
}
""",
    "A.java": """\
class Gate { void shut() {} }
class Depot { void open() {} void each(Run run) {} }
class A {
  Depot box;
  void run() {
    box.each((Gate box) -> {
      box.shut();
    });
    box.open();
    for (int i = 0; i < 2; i++) {
      Gate box = make();
      box.shut();
    }
    box.open();
  }
}
""",
    "A.cs": """\
class Gate { public void shut() {} }
class Depot { public void open() {} public void each(Run run) {} }
class A {
  Depot box;
  void Run() {
    box.each((Gate box) => {
      box.shut();
    });
    box.open();
    foreach (Gate box in Make()) {
      box.shut();
    }
    box.open();
  }
}
""",
    "a.rb": """\
class Gate
  def shut; end
end
class Depot
  def open; end
end
def run
  box = Depot.new
  box.each do |box|
    box.stop
  end
  box.open
  3.times do
    box = Gate.new
    box.shut
  end
  box.shut
end
""",
    "a.php": """\
<?php
class Gate { function shut() {} }
class Depot { function open() {} function each($run) {} }
function run() {
    $box = new Depot();
    $box->each(function (Gate $box) {
        $box->shut();
    });
    $box->open();
    $keep = fn(Gate $box) => $box->shut();
    $box->open();
}
""",
    "a.py": """\
class Gate:
    def shut(self): ...
class Depot:
    def open(self): ...
def run(gates: list[Gate]):
    box = Depot()
    keep = sorted(gates, key=lambda box: box.stop())
    box.open()
    shut = [box.shut() for box in gates]
    box.open()
""",
    "a.cpp": """\
struct Gate { void shut(); };
struct Depot { void open(); };
void run(Depot box) {
  auto keep = [](Gate box) {
    box.shut();
  };
  box.open();
  {
    Gate box;
    box.shut();
  }
  box.open();
}
""",
}


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_variable_of_a_closure_or_a_block_ends_with_it(path: str) -> None:
    owners = {"shut": "Gate", "open": "Depot"}
    wanted = {
        f"{path}:{number} {call[1]} -> {path}:{owners[call[1]]}.{call[1]}"
        for number, line in enumerate(PROGRAMS[path].splitlines(), 1)
        if (call := re.search(r"(?:\.|->)(shut|open)\b", line))
    }
    found = {
        edge.rpartition(" ")[0]
        for edge in edges_of({path: PROGRAMS[path]})
        if edge.endswith(("receiver_type", "receiver")) and (" shut " in edge or " open " in edge)
    }
    assert len(wanted) >= 3
    assert found == wanted


def test_a_name_that_means_two_variables_on_a_line_is_a_candidate() -> None:
    text = "package a\n\ntype Gate struct{}\ntype Depot struct{}\n\n"
    text += (
        "func (g *Gate) open() {}\nfunc (d *Depot) open() {}\nfunc (d *Depot) each(run func(*Gate)) {}\n\n"
    )
    text += "func run(box *Depot) { box.each(func(box *Gate) { box.open() }) }\n"
    found = {edge for edge in edges_of({"a.go": text}) if edge.startswith("a.go:10 ") and ".each" in edge}
    assert found == {"a.go:10 each -> a.go:Depot.each only_definition?"}


def test_variables_of_one_type_on_a_line_are_that_type() -> None:
    text = "class Gate { shut() {} }\n"
    text += "function run(gates: Gate[]) {\n"
    text += "  gates.map((gate: Gate) => gate.shut()).concat(gates.map((gate: Gate) => gate.shut()));\n}\n"
    assert "a.ts:3 shut -> a.ts:Gate.shut receiver_type" in edges_of({"a.ts": text})


def test_an_assignment_in_go_changes_no_type() -> None:
    text = (
        "package a\n\ntype Opener interface{ open() }\ntype Depot struct{}\n\nfunc (d *Depot) open() {}\n\n"
    )
    text += "func run() {\n\tvar box Opener\n\tbox = &Depot{}\n\tbox.open()\n}\n"
    assert "a.go:11 open -> a.go:Opener.open receiver_type" in edges_of({"a.go": text})


def test_a_name_before_its_variable_means_the_function() -> None:
    files = {
        "a/key.go": "package a\n\ntype key struct{}\n\nfunc gate() {}\nfunc hand(any) {}\n",
        "a/run.go": "package a\n\nfunc run() {\n\thand(gate)\n\tkey := key{}\n\tgate := key\n\thand(gate)\n}\n",
    }
    found = edges_of(files)
    assert {
        "a/run.go:4 gate -> a/key.go:gate same_package",
        "a/run.go:5 key -> a/key.go:key same_package",
    } <= found
    assert not [edge for edge in found if edge.startswith("a/run.go:7 gate ")]


def test_a_local_function_whose_variable_has_a_type_is_that_function() -> None:
    code = (
        "import { Scale } from './scales';\n"
        "export function plan() {\n"
        "  const weigh: Scale<number> = (one) => one;\n"
        "  return [1].map(weigh).concat(weigh(2));\n"
        "}\n"
    )
    assert edges_of({"a.ts": code}) >= {"a.ts:4 weigh -> a.ts:plan.weigh same_file"}


def test_an_import_in_a_function_gives_its_name_a_meaning_in_that_function_only() -> None:
    files = {
        "town/__init__.py": "from .desk import weigh\n",
        "town/desk.py": "def weigh():\n    from .scales import weigh\n\n    return weigh()\n\n\ndef ship():\n    weigh()\n",
        "town/scales.py": "def weigh(): ...\n",
        "a.py": "import town\ntown.weigh()\n",
    }
    edges = {one for one in edges_of(files) if " weigh ->" in one and ":* " not in one}
    assert edges == {
        "town/__init__.py:1 weigh -> town/desk.py:weigh import",
        "town/desk.py:2 weigh -> town/scales.py:weigh import",
        "town/desk.py:4 weigh -> town/scales.py:weigh import",
        "town/desk.py:8 weigh -> town/desk.py:weigh same_file",
        "a.py:2 weigh -> town/desk.py:weigh module",
    }


@pytest.mark.parametrize("path", ["a.c", "a.cpp"])
def test_a_pointer_to_a_function_is_not_the_function_of_its_name(path: str) -> None:
    code = (
        "void work(int n) {}\n"
        "void f(void (*work)(int)) { work(1); }\n"
        "void g(void) {\n  void (*work)(int) = 0;\n  work(2);\n}\n"
        "void h(void) { work(3); }\n"
    )
    sure = {one for one in edges_of({path: code}) if " work ->" in one and "?" not in one}
    assert {one.split(" ")[0] for one in sure} == {f"{path}:7"}


def test_the_parameters_of_a_function_mean_what_is_outside_of_its_imports() -> None:
    files = {
        "town.py": "class Depot:\n    def open(self): ...\n",
        "a.py": "class Depot:\n    def open(self): ...\n\n\ndef f(d: Depot):\n    from town import Depot\n\n    d.open()\n",
    }
    sure = {one for one in edges_of(files) if "?" not in one}
    assert "a.py:8 open -> a.py:Depot.open receiver_type" in sure
    assert "a.py:8 open -> town.py:Depot.open receiver_type" not in sure
