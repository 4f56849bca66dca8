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
        ("use face::core_::depot::*;\nfn main() { open(); }\n", "open -> open"),
        ("use face::mc::*;\nfn main() { start(); }\n", "start -> open"),
        ("use face::*;\nfn main() { Depot::new(); }\n", "new -> Depot.new"),
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


TOWN = {
    "src/lib.rs": (
        "pub mod depot;\npub enum Kind { Open, Shut(u8) }\npub mod env { pub const NAME: u8 = 1; }\n"
        "mod imp { use super::Kind; pub struct Gate; pub fn swing() {} }\npub use self::imp::Gate as Door;\n"
    ),
    "src/depot.rs": "pub struct Depot;\n",
}


@pytest.mark.parametrize(
    ("user", "edge"),
    [
        ("use crate::Kind;\nfn f(k: Kind) {}\n", "2 Kind -> src/lib.rs:Kind import"),
        ("use crate::Door;\nfn f(d: Door) {}\n", "2 Door -> src/lib.rs:imp.Gate import"),
        ("use crate::env::NAME;\nfn f() -> u8 { NAME }\n", "2 NAME -> src/lib.rs:env.NAME import"),
        ("use crate::Kind::{Open, Shut};\nfn f() { Shut(1); }\n", "2 Shut -> src/lib.rs:Kind.Shut import"),
        ("use crate::Kind;\nuse Kind::Shut;\nfn f() { Shut(1); }\n", "3 Shut -> src/lib.rs:Kind.Shut import"),
        ("use crate::Kind::*;\nfn f() { Shut(1); }\n", "2 Shut -> src/lib.rs:Kind.Shut wildcard_import"),
        ("use crate::imp::*;\nfn f() { swing(); }\n", "2 swing -> src/lib.rs:imp.swing wildcard_import"),
        ("fn f() { crate::imp::swing(); }\n", "1 swing -> src/lib.rs:imp.swing class_name"),
        (
            "mod inner { use super::super::imp::swing; fn f() { swing(); } }\n",
            "1 swing -> src/lib.rs:imp.swing import",
        ),
    ],
)
def test_a_path_may_go_through_a_module_in_braces_and_an_enumeration(user: str, edge: str) -> None:
    assert f"src/gate.rs:{edge}" in edges_of({**TOWN, "src/gate.rs": user})


@pytest.mark.parametrize(
    ("inside", "edge"),
    [
        ("use super::imp::Gate; fn f(g: Gate) {}", "Gate -> src/a.rs:imp.Gate import"),
        ("use super::*; fn f(k: Kind) {}", "Kind -> src/a.rs:Kind same_file"),
        ("mod deep { use super::super::imp::Gate; fn f(g: Gate) {} }", "Gate -> src/a.rs:imp.Gate import"),
        (
            "use self::deep::Lamp; mod deep { pub struct Lamp; } fn f(l: Lamp) {}",
            "Lamp -> src/a.rs:tests.deep.Lamp import",
        ),
    ],
)
def test_super_in_a_module_in_braces_is_its_file(inside: str, edge: str) -> None:
    text = f"pub enum Kind {{ Open }}\nmod imp {{ pub struct Gate; }}\nmod tests {{ {inside} }}\n"
    found = edges_of({"src/a.rs": text, "src/lib.rs": "mod a;\n"})
    assert f"src/a.rs:3 {edge}" in found
    assert not [one for one in found if one.endswith("?")]


def test_the_root_of_a_crate_is_the_file_that_declares_the_module() -> None:
    files = {
        "src/lib.rs": "pub fn open() {}\n",
        "src/main.rs": "mod shop;\nfn open() {}\n",
        "src/shop/mod.rs": "mod till;\n",
        "src/shop/till.rs": "use crate::open;\nfn f() { open(); }\n",
        "src/bin/tool.rs": "fn shut() {}\nmod inner { fn f() { crate::shut(); } }\n",
    }
    found = edges_of(files)
    assert "src/shop/till.rs:2 open -> src/main.rs:open import" in found
    assert "src/bin/tool.rs:2 shut -> src/bin/tool.rs:shut module" in found
    assert not [one for one in found if "src/lib.rs:open" in one]


@pytest.mark.parametrize("path", ["tests/it.rs", "src/bin/town/depot.rs", "src/bin/town/main.rs"])
def test_a_crate_means_itself_by_its_name_also_beside_a_sample_of_the_name(path: str) -> None:
    files = {
        "Cargo.toml": "[package]\nname = 'town'\n",
        "tests/samples/Cargo.toml": "[package]\nname = 'town'\n",
        **TOWN,
        path: "use town::depot::Depot;\nfn f(d: Depot) { g(town::env::NAME); }\n",
    }
    manifests = [manifest for name, text in files.items() if (manifest := read_manifest(name, text))]
    program = Program(packages=Packages([PackageProvider("r/base", "parcels", one) for one in manifests]))
    facts = {name: facts_of(name, text) for name, text in files.items() if name.endswith(".rs")}
    for file in facts.values():
        program.add(file)
    found = {
        (facts[path].references[one.reference].name, one.target.file, str(one.status))
        for one in edges(program, facts[path])
    }
    assert ("Depot", "r/base:src/depot.rs", "resolved") in found
    assert ("NAME", "r/base:src/lib.rs", "resolved") in found
    assert not [one for one in found if one[2] == "candidate"]


def test_a_crate_of_the_manifest_that_nobody_provides_is_foreign() -> None:
    user = "use serde::Error;\nfn f(a: Error, b: regex::Error) {}\n"
    files = {
        "Cargo.toml": "[package]\nname = 'town'\n[dependencies]\nserde = '1'\nregex = '1'\n",
        "src/e.rs": "pub struct Error;\n",
    }
    manifest = read_manifest("Cargo.toml", files["Cargo.toml"])
    assert manifest is not None
    program = Program(packages=Packages([PackageProvider("r/base", "parcels", manifest)]))
    facts = facts_of("src/a.rs", user)
    program.add(facts)
    program.add(facts_of("src/e.rs", files["src/e.rs"]))
    assert not list(edges(program, facts))


def test_imports_that_name_themselves_end() -> None:
    text = "use console::console;\nuse a::b;\nuse b::a;\nfn f() { console::open(); a::open(); }\n"
    assert edges_of({"src/a.rs": text}) == set()


CONFIG = """\
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
pub struct Config { size: u8 }
impl Config { pub fn new() -> Self { Self { size: 1 } } pub fn go(&self) {} }
pub struct Town { held: Mutex<Config>, kept: Option<Arc<Config>> }
pub trait Walk { fn walk(&self) {} }
impl<T: Send> Walk for T {}
pub trait Run: Send + Walk + Sync {}
"""


@pytest.mark.parametrize(
    "function",
    [
        "fn f(c: &Config) { let d = c.clone(); d.go(); }",
        "fn f(c: &Config) { c.clone().go(); }",
        "fn f(c: Option<Config>) { let d = c.as_ref().unwrap().clone(); d.go(); }",
        "fn f() { let d = Arc::new(Config::new()); d.go(); }",
        "fn f(m: &Mutex<Config>) { m.lock().unwrap().go(); }",
        "fn f(m: &Mutex<Config>) { let d = m.lock().unwrap(); d.go(); }",
        "fn f(g: MutexGuard<'_, Config>) { g.go(); }",
        "impl Town { fn f(&self) { self.held.lock().unwrap().go(); } }",
        "impl Town { fn f(&self) { let c = self.kept.as_ref().unwrap(); c.go(); } }",
        "fn f(c: impl IntoIterator<Item = Config>) { c.into_iter().fold(1, |n, d| { d.go(); n }); }",
    ],
)
def test_what_holds_an_object_has_its_type(function: str) -> None:
    lines = function.replace(") { ", ") {\n").replace("; ", ";\n")
    found = edges_of({"src/a.rs": f"{CONFIG}{lines}\n"})
    assert [one for one in found if one.endswith(" go -> src/a.rs:Config.go receiver_type")]


def test_a_field_of_a_copy_is_read() -> None:
    found = edges_of({"src/a.rs": f"{CONFIG}fn f(c: &Config) {{\n let d = c.clone();\n d.size + 1; }}\n"})
    assert "src/a.rs:11 size -> src/a.rs:Config.size receiver_type" in found


@pytest.mark.parametrize(
    "function",
    [
        "fn f(c: &Config) { c.walk(); }",
        "fn f(p: &Path) { p.walk(); }",
        "fn f() { Arc::new(Config::new()).walk(); }",
    ],
)
def test_a_method_that_a_type_lacks_may_be_that_of_a_trait(function: str) -> None:
    found = {one for one in edges_of({"src/a.rs": f"{CONFIG}{function}\n"}) if " walk ->" in one}
    assert len(found) == 1
    assert found.pop().startswith("src/a.rs:9 walk -> src/a.rs:Walk.walk")


def test_traits_of_the_prelude_leave_the_bases_of_a_trait_known() -> None:
    found = edges_of({"src/a.rs": f"{CONFIG}fn f(r: &dyn Run) {{ r.walk(); }}\n"})
    assert "src/a.rs:9 walk -> src/a.rs:Walk.walk receiver_type" in found


def test_fields_of_a_case_are_set_and_matched() -> None:
    text = (
        "pub enum Kind { Open { size: u8 }, Shut }\n"
        "fn f(k: Kind) -> Kind {\n    if let Kind::Open { size } = k {}\n    Kind::Open { size: 3 }\n}\n"
    )
    found = edges_of({"src/a.rs": text})
    assert "src/a.rs:3 size -> src/a.rs:Kind.Open.size class_name" in found
    assert "src/a.rs:4 size -> src/a.rs:Kind.Open.size class_name" in found


def test_a_macro_of_the_crate_is_seen_everywhere_and_at_its_root() -> None:
    files = {
        "src/lib.rs": "#[macro_use]\nmod macros;\nmod a;\n",
        "src/macros.rs": "#[macro_export]\nmacro_rules! warn_all { () => {} }\n",
        "src/a.rs": "use crate::warn_all;\nfn f() { warn_all!(); crate::warn_all!(); }\n",
        "src/b.rs": "fn f() { warn_all!(); }\n",
    }
    found = edges_of(files)
    assert "src/a.rs:1 warn_all -> src/macros.rs:warn_all import" in found
    assert "src/a.rs:2 warn_all -> src/macros.rs:warn_all import" in found
    assert "src/a.rs:2 warn_all -> src/macros.rs:warn_all module" in found
    assert "src/b.rs:1 warn_all -> src/macros.rs:warn_all same_package" in found


def test_a_path_begins_with_a_module_that_its_file_declares() -> None:
    files = {
        "src/lib.rs": "mod shop;\n",
        "src/shop.rs": "mod till;\nuse till::ring;\nfn f() { ring(); }\n",
        "src/shop/till.rs": "pub fn ring() {}\n",
        "src/till.rs": "pub fn ring() {}\n",
    }
    assert "src/shop.rs:3 ring -> src/shop/till.rs:ring import" in edges_of(files)


def test_a_trait_that_a_macro_implements_is_used() -> None:
    text = "pub trait Walk {}\nmacro_rules! walks { ($t:ty) => { impl Walk for $t {} } }\n"
    assert "a.rs:2 Walk -> a.rs:Walk same_file" in edges_of({"a.rs": text})


def test_a_variable_hides_no_module_of_its_name_in_its_own_value() -> None:
    files = {
        "src/lib.rs": "mod server;\nfn f() {\n    let server = server::start(\n        1,\n    );\n    server.stop();\n}\n",
        "src/server.rs": "pub struct Server;\nimpl Server { pub fn stop(&self) {} }\npub fn start(n: u8) -> Server { Server }\n",
    }
    found = edges_of(files)
    assert "src/lib.rs:3 start -> src/server.rs:start module" in found
    assert "src/lib.rs:6 stop -> src/server.rs:Server.stop receiver_type" in found


@pytest.mark.parametrize("path", ["crate::Kind::*", "crate::Kind::{Open, Shut}", "super::Kind::Open"])
def test_an_import_of_cases_uses_the_enumeration(path: str) -> None:
    assert "src/gate.rs:1 Kind -> src/lib.rs:Kind module" in edges_of(
        {**TOWN, "src/gate.rs": f"use {path};\n"}
    )
