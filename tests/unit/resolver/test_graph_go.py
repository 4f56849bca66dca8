"""Edges of small programs in Go."""

import pytest
from graph_files import edges_of

SERVER = """\
package srv

type Server struct{ gate *Gate }
type Gate struct{}

func (g *Gate) Open() {}
func (s *Server) serve() {}
"""
PARCELS = """\
package gen

type Set[T any] struct{}
type Base struct{}
type Deep struct{ Base }

func Make[T any]() T { panic(1) }
func New[T any]() *Set[T] { return &Set[T]{} }
func (s *Set[T]) Add(item T) {}
func (b *Base) Hello() {}
"""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("handle(s.serve)", "serve -> srv/srv.go:Server.serve receiver_type"),
        ("f := s.gate.Open; f()", "Open -> srv/srv.go:Gate.Open receiver_type"),
        ("go s.serve()", "serve -> srv/srv.go:Server.serve receiver_type"),
        ("t := []func(){s.serve}; _ = t", "serve -> srv/srv.go:Server.serve receiver_type"),
        ('t := map[string]func(){"a": s.serve}; _ = t', "serve -> srv/srv.go:Server.serve receiver_type"),
        ("f := Gate.Open; _ = f", "Open -> srv/srv.go:Gate.Open class_name"),
    ],
)
def test_a_method_that_is_handed_on_is_used(statement: str, found: str) -> None:
    user = f"package srv\n\nfunc (s *Server) run() {{ {statement} }}\n"
    assert f"srv/run.go:3 {found}" in edges_of({"srv/srv.go": SERVER, "srv/run.go": user})


def test_a_member_of_a_variable_of_unknown_type_is_no_guess() -> None:
    user = "package srv\n\nfunc run(x Outside) { handle(x.serve) }\n"
    assert not [edge for edge in edges_of({"srv/srv.go": SERVER, "srv/run.go": user}) if " serve " in edge]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("gen.Make[int]()", "Make -> gen/gen.go:Make module"),
        ("local[int]()", "local -> cmd/main.go:local same_file"),
        ("s := gen.New[int](); s.Add(1)", "Add -> gen/gen.go:Set.Add receiver_type"),
        ("s := gen.Set[int]{}; s.Add(1)", "Add -> gen/gen.go:Set.Add receiver_type"),
        ("d := gen.Deep{}; d.Hello()", "Hello -> gen/gen.go:Base.Hello receiver_type"),
        ("d := gen.Deep{}; d.Base.Hello()", "Hello -> gen/gen.go:Base.Hello receiver_type"),
    ],
)
def test_type_arguments_and_embedded_types_are_followed(statement: str, found: str) -> None:
    main = (
        'package main\n\nimport "example.org/acme/parcels/gen"\n\n'
        f"func main() {{ {statement} }}\nfunc local[T any]() {{}}\n"
    )
    assert f"cmd/main.go:5 {found}" in edges_of({"gen/gen.go": PARCELS, "cmd/main.go": main})


def test_a_type_parameter_has_the_members_of_its_constraint() -> None:
    text = "package a\n\ntype Walker interface{ Walk() }\ntype Dog struct{}\nfunc (d *Dog) Walk() {}\n\n"
    text += "func run[T Walker](walker T) { walker.Walk() }\n"
    assert "a.go:7 Walk -> a.go:Walker.Walk receiver_type" in edges_of({"a.go": text})


def test_a_type_with_the_name_of_its_package_hides_nothing() -> None:
    found = edges_of(
        {
            "lib/lib.go": "package lib\n\nfunc Run() {}\n",
            "lib/lib_test.go": "package lib\n\ntype lib struct{}\n",
            "cmd/main.go": 'package main\n\nimport "example.org/acme/parcels/lib"\n\nfunc main() { lib.Run() }\n',
        }
    )
    assert "cmd/main.go:5 Run -> lib/lib.go:Run module" in found


def test_a_call_through_a_table_may_run_what_it_holds() -> None:
    text = 'package a\n\nvar table = map[string]func(){"a": open}\n\nfunc open() {}\nfunc run() { table["a"]() }\n'
    found = edges_of({"a.go": text})
    assert {"a.go:6 table -> a.go:table same_file", "a.go:6 table -> a.go:open stored?"} <= found


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("example.org/acme/parcels/v3", "parcels"),  # the path ends with a version
        ("example.org/acme/parcels", "post"),  # the files of the folder declare another name
        ("example.org/acme/parcels/go-gen", "gen"),
    ],
)
def test_an_import_binds_the_name_that_the_package_declares(module: str, name: str) -> None:
    folder = "go-gen/" if module.endswith("gen") else ""
    main = f'package main\n\nimport "{module}"\n\nfunc main() {{ b := {name}.New(); b.Open() }}\n'
    box = f"package {name}\n\ntype Box struct{{}}\n\nfunc New() *Box {{ return nil }}\nfunc (b *Box) Open() {{}}\n"
    found = edges_of({f"{folder}box.go": box, "cmd/main.go": main})
    assert f"cmd/main.go:5 New -> {folder}box.go:New module" in found
    assert f"cmd/main.go:5 Open -> {folder}box.go:Box.Open receiver_type" in found


def test_a_receiver_uses_its_type() -> None:
    found = edges_of(
        {
            "a/box.go": "package a\n\ntype Box struct{}\n",
            "a/open.go": "package a\n\nfunc (b *Box) Open() {}\n",
        }
    )
    assert "a/open.go:3 Box -> a/box.go:Box same_package" in found


def test_a_type_parameter_of_a_receiver_is_no_type_of_the_package() -> None:
    text = "package a\n\ntype T struct{}\ntype Set[T any] struct{}\n\nfunc (s *Set[T]) Add(item T) T { return item }\n"
    assert not [edge for edge in edges_of({"a.go": text}) if " T -> " in edge]
    elsewhere = {"b.go": "package a\n\ntype T struct{}\n", "a.go": text.replace("type T struct{}\n", "")}
    assert not [edge for edge in edges_of(elsewhere) if " T -> " in edge]


def test_a_method_may_have_the_name_of_its_type() -> None:
    text = "package a\n\ntype Error struct{}\n\nfunc (e *Error) Error() string { return e.text() }\n"
    text += 'func (e *Error) text() string { return "" }\nfunc run(e *Error) { e.Error() }\n'
    assert "a.go:7 Error -> a.go:Error.Error receiver_type" in edges_of({"a.go": text})


def test_a_call_with_several_type_arguments_makes_an_object() -> None:
    text = "package a\n\ntype Map[K comparable, V any] struct{}\n\nfunc (m *Map[K, V]) Add(k K) {}\n"
    text += "func New[K comparable, V any](size int) (*Map[K, V], error) { return nil, nil }\n"
    text += "func run() {\n\tm, _ := New[int, string](1)\n\tm.Add(1)\n}\n"
    found = edges_of({"a.go": text})
    assert {"a.go:8 New -> a.go:New same_file", "a.go:9 Add -> a.go:Map.Add receiver_type"} <= found


def test_a_constraint_with_type_arguments_has_members() -> None:
    text = (
        "package a\n\ntype Maker[T any] interface{ Make() T }\ntype Flag[M Maker[int]] struct{ maker M }\n\n"
    )
    text += "func (f *Flag[M]) Set() { f.maker.Make() }\n"
    assert "a.go:6 Make -> a.go:Maker.Make receiver_type" in edges_of({"a.go": text})


def test_a_field_of_a_type_without_a_name_hides_nothing() -> None:
    text = "package a\n\nfunc one() {\n\ttype Gate struct{}\n\tuse(Gate{})\n}\n"
    text += 'func two() {\n\ttests := []struct{ Gate string }{{"a"}}\n\tuse(tests)\n}\n'
    assert "a.go:5 Gate -> a.go:one.Gate same_file" in edges_of({"a.go": text})


def test_a_method_named_like_a_type_does_not_hide_the_type() -> None:
    store = "package srv\n\ntype Store interface{ Save() }\n"
    session = """\
package srv

type Session struct{ store Store }

func (s *Session) Store() Store { return s.store }
func (s *Session) Save() { s.store.Save(); s.Store().Save() }
"""
    found = edges_of({"srv/store.go": store, "srv/session.go": session})
    assert {edge for edge in found if " Save " in edge} == {
        "srv/session.go:6 Save -> srv/store.go:Store.Save receiver_type"
    }
