"""What a name alone may say: nothing about importance, components or ways. Aliases, and tests of Rust."""

import numpy as np
import pytest
from atlas_files import graph_of
from graph_sketch import Sketch, node, spelled

from prism_atlas.core import hierarchy, paths
from prism_atlas.core.analysis import Analysis
from prism_atlas.core.architecture import Architecture
from prism_atlas.core.graph import NONE
from prism_contracts.code import Flag


def order(analysis: Analysis) -> list[str]:
    graph = analysis.graph
    return [graph.path(file) for file in analysis.modules.tolist()]


def test_uses_by_name_alone_earn_no_rank_and_no_component():
    sketch = Sketch().file("a.py", "f").file("b.py", "g").file("c.py", "h").file("sink.py", "write")
    for user in ("a.py:f", "b.py:g", "c.py:h"):
        sketch.edge(user, "sink.py:write", sure=False)
    sketch.edge("a.py:f", "b.py:g")
    analysis = Analysis.of(sketch.graph())
    sink = analysis.graph.find_file("sink.py")
    assert analysis.ranks.file[sink] == 0
    assert analysis.communities.component[sink] == NONE
    assert order(analysis)[0] == "b.py"


def test_a_file_that_most_others_use_comes_before_the_helper_of_one():
    """A helper with a single user receives the whole rank of that user, and a pair hands its rank to and fro."""
    sketch = Sketch().file("core.py", "Core").file("helper.py", "help").file("twin.py", "twin")
    sketch.edge("helper.py:help", "twin.py:twin").edge("twin.py:twin", "helper.py:help")
    sketch.edge("core.py:Core", "helper.py:help")
    for name in "abcdef":
        sketch.file(f"{name}.py", name).edge(f"{name}.py:{name}", "core.py:Core")
    assert order(Analysis.of(sketch.graph()))[:2] == ["core.py", "helper.py"]


def test_tests_and_examples_are_components_of_their_own():
    files = {
        "shop/depot.py": "def open(): ...\n",
        "shop/gate.py": "from shop.depot import open\ndef go(): open()\n",
        **{f"tests/test_{n}.py": f"from shop.gate import go\ndef test_{n}(): go()\n" for n in range(6)},
        **{f"examples/e{n}.py": f"from shop.depot import open\ndef main_{n}(): open()\n" for n in range(4)},
    }
    flags = {path: Flag.TEST.value for path in files if path.startswith("tests/")}
    architecture = Architecture(Analysis.of(graph_of(files, flags)))
    members = {
        name: {architecture._graph.path(file).partition("/")[0] for file in group}
        for name, group in zip(architecture.names, architecture.files, strict=True)
    }
    assert members == {"shop": {"shop"}, "tests": {"tests"}, "examples": {"examples"}}
    assert architecture.names == ["shop", "tests", "examples"]


def test_ways_from_sources_never_lead_through_examples():
    files = {
        "shop/depot.py": "def open(): ...\n",
        "examples/town.py": "from shop.depot import open\ndef town(): open()\n",
        "shop/gate.py": "from examples.town import town\ndef go(): town()\n",
    }
    graph = graph_of(files)
    ends = [np.array([node(graph, one)]) for one in ("shop/gate.py:go", "shop/depot.py:open")]
    assert not paths.find_paths(graph, *ends, paths.calls(candidates=True), 12).paths


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.go", "package a\n\ntype Key int\ntype Id = Key\n"),
        ("a.rs", "struct Key;\ntype Id = Key;\n"),
    ],
)
def test_an_alias_is_in_the_hierarchy_of_its_type(path, text):
    graph = graph_of({path: text})

    def names(root, expansion):
        tree = hierarchy.grow(graph, np.array([node(graph, f"{path}:{root}")]), expansion, 3, width=9)
        return [spelled(graph, branch.link.node) for branch in tree.branches]

    assert names("Key", hierarchy.subtypes(candidates=True)) == [f"{path}:Id"]
    assert names("Id", hierarchy.supertypes(candidates=True)) == [f"{path}:Key"]


def test_a_file_that_exports_a_type_under_another_name_is_no_subtype():
    graph = graph_of({"a.ts": "class Key {}\nexport { Key as Id };\n"})
    tree = hierarchy.grow(
        graph, np.array([node(graph, "a.ts:Key")]), hierarchy.subtypes(candidates=True), 3, width=9
    )
    assert not tree.branches


def test_an_implementation_for_a_reference_is_a_subtype_by_its_file():
    text = (
        "trait Opens<T> { fn open(&self); }\nstruct Depot;\nimpl<T> Opens<T> for Depot { fn open(&self) {} }\n"
        "impl<'a, T, F> Opens<F> for &'a T where T: Opens<F> { fn open(&self) {} }\npub trait Closes<T>: Opens<T> {}\n"
    )
    graph = graph_of({"a.rs": text})
    root = np.array([node(graph, "a.rs:Opens")])
    tree = hierarchy.grow(graph, root, hierarchy.subtypes(candidates=True), 1, width=9)
    lines = {spelled(graph, branch.link.node): branch.link.lines for branch in tree.branches}
    assert lines == {"a.rs:Depot": (3,), "a.rs:Closes": (5,), "a.rs": (4,)}


def test_a_module_of_unit_tests_is_in_tests():
    text = "pub fn open() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn opens() { super::open(); }\n}\n"
    graph = graph_of({"src/lib.rs": text, "src/tests.py": "def tests(): ...\n"})
    inside = graph.in_tests()
    assert [spelled(graph, one) for one in np.flatnonzero(inside)] == [
        "src/lib.rs:tests",
        "src/lib.rs:tests.opens",
    ]
    assert [graph.is_in_test(one) for one in range(graph.nodes)] == inside.tolist()


def test_making_a_dataclass_runs_what_follows_its_construction():
    text = (
        "from dataclasses import dataclass\ndef check(): ...\n@dataclass\nclass Parcel:\n    weight: int\n"
        "    def __post_init__(self): check()\ndef send(): Parcel(1)\n"
    )
    graph = graph_of({"a.py": text})
    (path,) = paths.find_paths(
        graph,
        np.array([node(graph, "a.py:send")]),
        np.array([node(graph, "a.py:check")]),
        paths.calls(candidates=False),
        12,
    ).paths
    assert [spelled(graph, one) for one in path.nodes] == ["a.py:send", "a.py:Parcel", "a.py:check"]
