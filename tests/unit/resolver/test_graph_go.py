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
