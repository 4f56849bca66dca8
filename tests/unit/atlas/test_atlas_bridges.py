"""Paths over calls without an edge: of interfaces of Go, and of names with too many definitions."""

from datetime import UTC, datetime

import pytest
from atlas_files import graph_of

from prism_atlas.core.answering.path import find_path
from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.common import GraphReceipt
from prism_contracts.rpc.graph import FindPathReply, FindPathRequest

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RECEIPT = GraphReceipt(
    repo="acme/parcels", indexed_commit="a" * 40, head_commit="a" * 40, lag_seconds=0, indexed_at=NOW, corpus_version=1,
    files_indexed=2, files_skipped=0, files_failed=0, graph_commit="a" * 40, graph_version=1, graph_built_at=NOW,
)  # fmt: skip
GO = {
    "app.go": (
        "package app\n\ntype Sorter interface {\n\tSort(n int) int\n}\n\ntype Store interface {\n\tGet(n int) int\n}\n\n"
        "type App struct {\n\tsorter Sorter\n}\n\nfunc (a *App) Serve() {\n\ta.sorter.Sort(1)\n}\n"
    ),
    "sorters.go": (
        "package app\n\ntype belt struct {\n\tstore Store\n}\n\nfunc (b *belt) Sort(n int) int {\n\treturn b.store.Get(n)\n}\n\n"
        "type hand struct{}\n\nfunc (h hand) Sort(n int) int { return n }\n\n"
        "type odd struct{}\n\nfunc (o odd) Sort(n string) int { return 1 }\n"
    ),
    "stores.go": (
        "package app\n\ntype disk struct{}\n\nfunc (d *disk) Get(n int) int { return d.read(n) }\n\n"
        "func (d *disk) read(n int) int { return n }\n"
    ),
}
COMMANDS = {
    f"src/c{number}.rs": (
        f"use crate::command::Command;\npub struct C{number};\nimpl Command for C{number} {{\n"
        f"    fn run(&self, n: u32) -> u32 {{ step{number}(n) }}\n}}\nfn step{number}(n: u32) -> u32 {{ n }}\n"
    )
    for number in range(10)
}
RUST = COMMANDS | {
    "src/command.rs": "pub trait Command {\n    fn run(&self, n: u32) -> u32;\n}\n",
    "src/main.rs": (
        "mod command;\n"
        + "".join(f"mod c{number};\n" for number in range(10))
        + "fn main() { run_all(table()); }\n"
        "fn run_all<T>(all: T) {\n    for (name, one) in all.pairs() {\n        one.run(3);\n    }\n}\n"
    ),
}


def path(files: dict[str, str], source: str, target: str, **more: bool) -> FindPathReply:
    graph = graph_of(files)
    request = FindPathRequest(tenant="t", source=source, target=target, **more)
    return find_path(graph, graph, request, RECEIPT)


def test_a_path_passes_the_interfaces_of_go_that_a_type_implements() -> None:
    (found,) = path(GO, "App.Serve", "disk.read").paths
    assert [node.symbol for node in found.nodes] == [
        "App.Serve", "Sorter.Sort", "belt.Sort", "Store.Get", "disk.Get", "disk.read",
    ]  # fmt: skip
    assert {edge.status for edge in found.edges} == {EdgeStatus.RESOLVED}
    assert [edge.edge for edge in found.edges][1::2] == [EdgeKind.OVERRIDES] * 2
    # `odd.Sort` has other parameters.
    assert found.choices == (0, 2, 0, 1, 0)


def test_a_type_that_lacks_a_method_of_the_interface_is_not_reached() -> None:
    wider = GO["app.go"].replace("\tSort(n int) int\n", "\tSort(n int) int\n\tStop()\n")
    reply = path(GO | {"app.go": wider}, "App.Serve", "disk.read")
    assert reply.paths == ()
    assert [node.symbol for node in reply.reaching] == ["disk.Get", "Store.Get", "belt.Sort"]


def test_a_call_of_a_name_with_many_definitions_leads_to_an_implementation() -> None:
    (found,) = path(RUST, "main", "step7").paths
    assert [node.symbol for node in found.nodes] == ["main", "run_all", "C7.run", "step7"]
    assert [edge.status for edge in found.edges] == [
        EdgeStatus.RESOLVED, EdgeStatus.CANDIDATE, EdgeStatus.RESOLVED,
    ]  # fmt: skip
    assert found.edges[1].lines == (15,)
    assert found.choices == (0, 10, 0)


def test_a_call_by_name_is_not_followed_without_candidates() -> None:
    assert path(RUST, "main", "step7", include_candidates=False).paths == ()


def test_a_name_that_implements_nothing_is_not_followed() -> None:
    plain = {
        name: text.replace("impl Command for", "impl").replace("use crate::command::Command;\n", "\n")
        for name, text in RUST.items()
    }
    assert path(plain, "main", "step7").paths == ()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.java", "interface Gate { void swing(); }\nclass Door implements Gate { public void swing() { turn(); }\n void turn() {} }\nclass U { void f(Gate g) { g.swing(); } }\n"),
        ("a.cs", "interface Gate { void swing(); }\nclass Door : Gate { public void swing() { turn(); }\n void turn() {} }\nclass U { void f(Gate g) { g.swing(); } }\n"),
        ("a.kt", "interface Gate { fun swing() }\nclass Door : Gate { override fun swing() { turn() }\n fun turn() {} }\nclass U { fun f(g: Gate) { g.swing() } }\n"),
        ("a.ts", "interface Gate { swing(): void }\nclass Door implements Gate { swing() { this.turn(); }\n turn() {} }\nclass U { f(g: Gate) { g.swing(); } }\n"),
        ("a.py", "class Gate:\n    def swing(self): ...\nclass Door(Gate):\n    def swing(self): self.turn()\n    def turn(self): ...\nclass U:\n    def f(self, g: Gate): g.swing()\n"),
        ("a.rs", "trait Gate { fn swing(&self); }\nstruct Door;\nimpl Gate for Door { fn swing(&self) { self.turn(); } }\nimpl Door { fn turn(&self) {} }\nstruct U;\nimpl U { fn f(g: &dyn Gate) { g.swing(); } }\n"),
        ("a.php", "<?php\ninterface Gate { function swing(); }\nclass Door implements Gate { function swing() { $this->turn(); }\n function turn() {} }\nclass U { function f(Gate $g) { $g->swing(); } }\n"),
        ("a.swift", "protocol Gate { func swing() }\nclass Door: Gate { func swing() { turn() }\n func turn() {} }\nclass U { func f(g: Gate) { g.swing() } }\n"),
        ("a.cpp", "struct Gate { virtual void swing() {} };\nstruct Door : Gate { void swing() override { turn(); }\n void turn() {} };\nstruct U { void f(Gate& g) { g.swing(); } };\n"),
        ("a.go", "package a\n\ntype Gate interface{ swing() }\n\ntype Door struct{}\n\nfunc (d *Door) swing() { d.turn() }\n\nfunc (d *Door) turn() {}\n\ntype U struct{}\n\nfunc (u *U) f(g Gate) { g.swing() }\n"),
    ],
)  # fmt: skip
def test_a_path_passes_from_a_declaration_to_its_implementation(file: str, text: str) -> None:
    (found,) = path({file: text}, "U.f", "Door.turn").paths
    assert [node.symbol for node in found.nodes] == ["U.f", "Gate.swing", "Door.swing", "Door.turn"]
    assert [edge.edge for edge in found.edges] == [EdgeKind.CALLS, EdgeKind.OVERRIDES, EdgeKind.CALLS]
    assert {edge.status for edge in found.edges} == {EdgeStatus.RESOLVED}
    assert found.choices == (0, 1, 0)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "class Depot:\n    def __init__(self): turn()\ndef turn(): ...\ndef f(): Depot()\n"),
        ("a.ts", "class Depot { constructor() { turn(); } }\nfunction turn() {}\nfunction f() { new Depot(); }\n"),
        ("a.js", "function Depot() { turn(); }\nDepot.prototype.open = function () {};\nfunction turn() {}\nfunction f() { new Depot(); }\n"),
        ("a.kt", "class Depot { constructor() { turn() } }\nfun turn() {}\nfun f() { Depot() }\n"),
        ("a.rs", "struct Depot;\nimpl Depot { fn new() -> Self { turn(); Depot } }\nfn turn() {}\nfn f() { Depot::new(); }\n"),
        ("a.php", "<?php\nclass Depot { function __construct() { turn(); } }\nfunction turn() {}\nfunction f() { new Depot(); }\n"),
        ("a.swift", "class Depot { init() { turn() } }\nfunc turn() {}\nfunc f() { Depot() }\n"),
        ("a.cpp", "void turn() {}\nstruct Depot { Depot(int n) { turn(); } };\nvoid f() { Depot d(1); }\n"),
        ("a.java", "class Depot { Depot() { U.turn(); } }\nclass U { static void turn() {}\n void f() { new Depot(); } }\n"),
        ("a.cs", "class Depot { public Depot() { U.turn(); } }\nclass U { public static void turn() {}\n void f() { new Depot(); } }\n"),
        ("a.rb", "class Depot\n  def initialize\n    turn\n  end\nend\ndef turn; end\ndef f\n  Depot.new\nend\n"),
    ],
)  # fmt: skip
def test_a_path_passes_the_constructor_of_an_object_that_is_made(file: str, text: str) -> None:
    (found,) = path({file: text}, "f", "turn", include_candidates=False).paths
    assert {edge.status for edge in found.edges} == {EdgeStatus.RESOLVED}
    assert len(found.nodes) > 2
