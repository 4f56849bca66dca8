"""Implicit interfaces: method sets, over all files of a package and through embedded types."""

import pytest
from atlas_files import graph_of
from graph_sketch import node, spelled

from prism_atlas.core.go_methods import fits, method_contract
from prism_atlas.core.structural import embedded_outside, implemented, implementing, implied_overrides

FILES = {
    "depot/store.go": """package depot
import "io"
type Key string
type Store interface {
	Load(ctx context.Context, key Key) (int, error)
	Ship()
}
type Empty interface{}
type Shipper interface { Ship() }
type Whole interface {
	Shipper
	io.Closer
}
type Far interface {
	Shipper
	far.Thing
}
""",
    "depot/dock.go": """package depot
type Dock struct{}
func (d *Dock) Load(c context.Context, k Key) (n int, err error) { return 1, nil }
""",
    "depot/dock_ship.go": "package depot\nfunc (d *Dock) Ship() {}\n",
    "depot/van.go": "package depot\ntype Van struct{}\nfunc (v Van) Ship() {}\nfunc (v Van) Load() int { return 1 }\n",
    "other/dock.go": """package other
import "acme.example/depot/depot"
type Dock struct{}
func (d *Dock) Load(context.Context, depot.Key) (int, error) { return 1, nil }
func (d *Dock) Ship() {}
type Key int
type Wrong struct{}
func (w Wrong) Load(context.Context, Key) (int, error) { return 1, nil }
func (w Wrong) Ship() {}
type Hub struct {
	*depot.Dock
}
type Shadow struct {
	*depot.Dock
}
func (s Shadow) Ship(n int) {}
type Held struct {
	depot.Store
}
type Body struct {
	io.ReadCloser
	depot.Van
}
""",
}


@pytest.fixture(scope="module")
def graph():
    return graph_of(FILES)


def names(graph, found):
    return [spelled(graph, one) for one in found]


def test_type_with_all_methods_implements_an_interface(graph):
    found = implementing(graph, node(graph, "depot/store.go:Store"))
    every = ["depot/dock.go:Dock", "other/dock.go:Dock", "other/dock.go:Hub", "other/dock.go:Held"]
    assert names(graph, found) == every


def test_empty_interface_has_no_implementations(graph):
    assert implementing(graph, node(graph, "depot/store.go:Empty")).size == 0


def test_interface_needs_the_methods_that_it_embeds(graph):
    assert names(graph, implementing(graph, node(graph, "depot/store.go:Whole"))) == ["other/dock.go:Body"]


def test_embedded_types_outside_of_the_index_are_named(graph):
    assert embedded_outside(graph, node(graph, "depot/store.go:Far")) == ("far.Thing",)
    assert embedded_outside(graph, node(graph, "depot/store.go:Whole")) == ()


def test_type_implements_interfaces_whose_methods_it_has(graph):
    assert names(graph, implemented(graph, node(graph, "depot/dock.go:Dock"))) == [
        "depot/store.go:Store",
        "depot/store.go:Shipper",
        "depot/store.go:Far",
    ]
    assert names(graph, implemented(graph, node(graph, "depot/van.go:Van"))) == [
        "depot/store.go:Shipper",
        "depot/store.go:Far",
    ]
    assert implemented(graph, node(graph, "other/dock.go:Shadow")).size == 0


@pytest.mark.parametrize(
    ("signature", "contract"),
    [
        (
            "func (d *Dock) Load(ctx context.Context, a, b int) (n int, err error)",
            "context.Context;int;int|int;error",
        ),
        ("Load(int, ...string) error", "int;...string|error"),
        ("Ship()", "|"),
        ("Each(f func(k Key, v []byte) bool) interface{}", "func(~Key,[]uint8)bool|any"),
        ("Do(map[string]chan int, x.Key) <-chan struct{}", "map[string]chan int;x.Key|<-chan struct{}"),
        ("Load(a int, b …", ""),
    ],
)
def test_contract_has_the_types_without_the_names(signature, contract):
    assert method_contract(signature) == contract


@pytest.mark.parametrize(
    ("one", "other", "same_package", "fit"),
    [
        ("~Key|", "~Key|", True, True),
        ("~Key|", "~Key|", False, False),
        ("~Key|", "depot.Key|", False, True),
        ("a.Key|", "b.Key|", False, False),
        ("*~Key|", "~Key|", True, False),
        ("[]$T|", "[]*a.Key|", False, True),
        ("[]$T|", "int|", False, False),
        ("int|", "int;int|", False, False),
        ("", "int|", False, True),
    ],
)
def test_methods_fit_by_parameters_and_results(one, other, same_package, fit):
    assert fits(one, other, same_package=same_package) is fit
    assert fits(other, one, same_package=same_package) is fit


def test_receivers_with_type_parameters_fit():
    graph = graph_of(
        {
            "a.go": "package a\ntype Adder[T any] interface {\n\tAdd(v T) bool\n}\ntype Set[K comparable] struct{}\n"
            "func (s *Set[K]) Add(k K) bool { return true }\ntype Bag struct{}\nfunc (b Bag) Add(n int) bool { return true }\n"
        }
    )
    assert names(graph, implementing(graph, node(graph, "a.go:Adder"))) == ["a.go:Set", "a.go:Bag"]


def test_named_slice_with_methods_is_no_generic_type():
    sorted_by_name = "package depot\ntype ByName []Parcel\nfunc (b ByName) Len() int { return len(b) }\n"
    sizes = "package depot\ntype Sized interface { Len() int }\n"
    graph = graph_of({"sort.go": sorted_by_name, "sized.go": sizes})
    assert names(graph, implementing(graph, node(graph, "sized.go:Sized"))) == ["sort.go:ByName"]


def test_methods_override_those_of_the_interfaces_that_their_types_implement() -> None:
    graph = graph_of(FILES)
    names = [graph.strings[graph.symbols.qualified_name[one]] for one in range(len(graph.symbols))]
    paths = [graph.path(int(graph.symbols.file[one])) for one in range(len(graph.symbols))]
    found = {(paths[below], names[below], names[above]) for below, above in implied_overrides(graph).tolist()}
    assert found == {
        ("depot/dock.go", "Dock.Load", "Store.Load"),
        ("other/dock.go", "Dock.Load", "Store.Load"),
        *(
            (path, f"{owner}.Ship", f"{interface}.Ship")
            for path, owner, interfaces in [
                ("depot/dock_ship.go", "Dock", "Store Shipper"),
                ("depot/van.go", "Van", "Shipper"),
                ("other/dock.go", "Dock", "Store Shipper"),
                ("other/dock.go", "Wrong", "Shipper"),
            ]
            for interface in interfaces.split()
        ),
    }
