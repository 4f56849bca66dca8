"""Edges of small programs in Rust."""

import pytest
from graph_files import edges_of, facts_of

from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_resolver.program import Program
from prism_resolver.resolution import edges

DEPOT = """\
pub struct Depot { n: u8 }
impl Depot {
    pub fn new() -> Self { Depot { n: 1 } }
    pub fn try_new() -> Result<Self, ()> { Ok(Self { n: 1 }) }
    pub fn with(self, n: u8) -> Self { self }
    pub fn go(&self) {}
}
pub fn open() {}
"""
WORKSPACE = {
    "Cargo.toml": "[workspace]\nmembers = ['crates/*']\n",
    "crates/my-core/Cargo.toml": "[package]\nname = 'my-core'\n",
    "crates/my-core/src/lib.rs": "pub mod depot;\npub use depot::Depot;\npub use self::depot::open as start;\n",
    "crates/my-core/src/depot.rs": DEPOT,
    "crates/facade/Cargo.toml": (
        "[package]\nname = 'facade'\n[lib]\nname = 'face'\n[dependencies]\nmy-core = { path = '../my-core' }\n"
    ),
    "crates/facade/src/lib.rs": (
        "pub extern crate my_core as core_;\npub use my_core as mc;\npub use my_core::depot;\npub use my_core::Depot;\n"
    ),
    "app/Cargo.toml": (
        "[package]\nname = 'app'\n[dependencies]\nfacade = { path = '../crates/facade' }\n"
        "base = { package = 'my-core', path = '../crates/my-core' }\n"
    ),
}


def targets(user: str) -> set[str]:
    """Returns the surely resolved edges of a file beside the workspace, as `name -> symbol`."""
    files = {**WORKSPACE, "app/src/main.rs": user}
    manifests = {path: manifest for path, text in files.items() if (manifest := read_manifest(path, text))}
    facts = [facts_of(path, text) for path, text in files.items() if path not in manifests]
    program = Program(
        packages=Packages([PackageProvider("r/base", "parcels", one) for one in manifests.values()])
    )
    for file in facts:
        program.add(file)
    by_id = {file.id: file for file in facts}
    return {
        f"{facts[-1].references[edge.reference].name} -> {by_id[edge.target.file].symbols[edge.target.symbol].qualified_name}"
        for edge in edges(program, facts[-1])
        if edge.status == "resolved" and edge.target.symbol >= 0
    }


@pytest.mark.parametrize(
    ("user", "found"),
    [
        ("fn main() { face::Depot::new(); }\n", "new -> Depot.new"),  # the name of the library
        ("fn main() { base::Depot::new(); }\n", "new -> Depot.new"),  # a dependency with another name
        ("use face::mc::start;\nfn main() { start(); }\n", "start -> open"),
        ("use face::depot::open;\nfn main() { open(); }\n", "open -> open"),
        ("use face::core_::depot::open;\nfn main() { open(); }\n", "open -> open"),
        ("use face::core_;\nfn main() { core_::depot::open(); }\n", "open -> open"),
    ],
)
def test_reexports_are_followed_across_crates(user: str, found: str) -> None:
    assert found in targets(user)


@pytest.mark.parametrize(
    "statement",
    [
        "let d = Depot::new().with(2); d.go();",
        "let d = Depot::try_new().unwrap().with(2); d.go();",
        "let d = Depot::try_new()?.with(2); d.go();",
        "if let Ok(d) = Depot::try_new() { d.go(); }",
        "let Ok(d) = Depot::try_new() else { return };\nd.go();",
        "match Depot::try_new() { Ok(d) => d.go(), Err(_) => {} }",
    ],
)
def test_builders_and_results_give_their_locals_a_type(statement: str) -> None:
    user = f"use depot::Depot;\nmod depot;\nfn f() {{\n{statement}\n}}\n"
    found = edges_of({"src/lib.rs": user, "src/depot.rs": DEPOT})
    assert [edge for edge in found if edge.endswith(" go -> src/depot.rs:Depot.go receiver_type")]


@pytest.mark.parametrize(
    "function",
    [
        "fn run<W: Walk>(w: W) { w.step(); }",
        "fn run<W>(w: &W) where W: Walk { w.step(); }",
        "fn run<W: Walk + Send>(w: W) { w.step(); }",
    ],
)
def test_a_type_parameter_has_the_members_of_its_bound(function: str) -> None:
    text = f"pub trait Walk {{ fn step(&self); }}\npub struct A;\nimpl Walk for A {{ fn step(&self) {{}} }}\n{function}\n"
    assert "a.rs:4 step -> a.rs:Walk.step receiver_type" in edges_of({"a.rs": text})


def test_a_qualified_path_means_the_member_of_its_type() -> None:
    text = "pub trait Walk { fn make(); }\npub struct A;\nimpl Walk for A { fn make() {} }\nfn f() { <A as Walk>::make(); }\n"
    assert "a.rs:4 make -> a.rs:A.make class_name" in edges_of({"a.rs": text})


def test_a_function_that_a_macro_defines_is_called() -> None:
    text = "macro_rules! make { ($name:ident) => { fn $name() {} }; }\nmake!(made);\nfn f() { made(); }\n"
    assert "a.rs:3 made -> a.rs:made same_file" in edges_of({"a.rs": text})
