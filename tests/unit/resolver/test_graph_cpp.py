"""Fields of C and C++ that are read through an object, and type parameters that hide a name of the file."""

import pytest
from graph_files import edges_of, facts_of

C_HEADER = "struct gate { int width; };\nstruct depot { int size; struct depot *next; struct gate gate; };\n"
CPP_HEADER = "struct Gate { int width; };\nstruct Depot { int size; Depot* next; Gate gate; };\n"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("int f(struct depot *e) { return e->size; }", "size"),
        ("int f(struct depot e) { if (e.size > 3) { return 1; } return 0; }", "size"),
        ("void f(struct depot *e) { use(e->next->size); }", "size"),
        ("void f(struct depot *e) { e->size++; }", "size"),
        ("int f(void) { struct depot e; return e.gate.width; }", "width"),
    ],
)
def test_a_field_of_c_is_read_through_a_variable_of_known_type(code: str, found: str) -> None:
    owner = "gate" if found == "width" else "depot"
    edges = edges_of({"d.h": C_HEADER, "a.c": f'#include "d.h"\n{code}\n'})
    assert f"a.c:2 {found} -> d.h:{owner}.{found} receiver_type" in edges


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("int f(const Depot& d) { return d.size; }", "Depot.size"),
        ("int f(Depot* d) { return d->next->size ? 1 : 2; }", "Depot.size"),
        ("auto f() { Depot d; return d.gate.width; }", "Gate.width"),
        ("void f(Depot d) { open(d.size); }", "Depot.size"),
    ],
)
def test_a_field_of_cpp_is_read_through_a_variable_of_known_type(code: str, found: str) -> None:
    edges = edges_of({"d.hpp": CPP_HEADER, "a.cpp": f'#include "d.hpp"\n{code}\n'})
    assert f"a.cpp:2 {found.rpartition('.')[2]} -> d.hpp:{found} receiver_type" in edges


@pytest.mark.parametrize(
    "code",
    [
        "template <typename T> T open(T t) { T u; return T(3); }",
        "template <class... T> struct Box { T held; T get(); };",
        "template <class T = int> struct Box : T { void put(T t); };",
    ],
)
def test_a_template_parameter_hides_what_using_names(code: str) -> None:
    edges = edges_of(
        {"a.cpp": f"struct Depot {{}};\nusing T = Depot;\n{code}\nT after() {{ return T(); }}\n"}
    )
    assert {one.partition(" -> ")[0] for one in edges if " T -> " in one} == {"a.cpp:4 T"}


def test_a_type_parameter_hides_an_import_of_java() -> None:
    code = "package b;\nimport a.Depot;\nclass Box<Depot> { Depot held; }\nclass Shop { Depot depot; }\n"
    edges = edges_of({"a/Depot.java": "package a;\npublic class Depot {}\n", "b/Box.java": code})
    assert {one.partition(" -> ")[0] for one in edges if one.startswith("b/Box.java")} == {
        "b/Box.java:2 Depot",
        "b/Box.java:4 Depot",
    }


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("typedef struct gate {\n int width;\n} gate;\n", {"gate", "gate.width"}),
        (
            "typedef struct gate_s { int width; } gate, *gate_p;\n",
            {"gate_s", "gate_s.width", "gate", "gate_p"},
        ),
        ("typedef enum side { LEFT } side;\n", {"side", "side.LEFT"}),
        (
            "struct lock { struct gate { int width; } upper; };\n",
            {"lock", "lock.upper", "lock.gate", "lock.gate.width"},
        ),
    ],
)
def test_a_type_is_beside_the_name_that_it_is_declared_with(header: str, names: set[str]) -> None:
    assert {one.qualified_name for one in facts_of("d.h", header).symbols} == names


@pytest.mark.parametrize(
    "code",
    [
        "int f(struct gate gate) { return gate.width; }",
        "int f(void *gate) { return ((struct gate *)gate)->width; }",
        "int f(void) { return sizeof(span); }",
        "int f(int n) { return (span)(n + 1); }",
    ],
)
def test_a_type_of_c_is_seen_beside_a_variable_of_its_name_and_in_expressions(code: str) -> None:
    name = "gate" if "gate" in code else "span"
    edges = edges_of({"d.h": f"{C_HEADER}typedef int span;\n", "a.c": f'#include "d.h"\n{code}\n'})
    assert f"a.c:2 {name} -> d.h:{name} wildcard_import" in edges


def test_a_friend_function_is_no_member() -> None:
    header = "void paint(int n);\nclass Pen { friend void paint(int n); void draw(); };\n"
    edges = edges_of({"d.hpp": header, "a.cpp": '#include "d.hpp"\nvoid Pen::draw() { paint(1); }\n'})
    assert "a.cpp:2 paint -> d.hpp:paint wildcard_import" in edges


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("void Depot::open() {}", "Depot -> d.hpp:shop.Depot"),
        ("Depot::~Depot() = default;", "Depot -> d.hpp:shop.Depot"),
        ("Depot::operator bool() const { return true; }", "Depot -> d.hpp:shop.Depot"),
        ('void f(Depot& d) { d["a"].weigh(); }', "weigh -> d.hpp:shop.Gate.weigh"),
        ("void f(Depot* d) { d[1].open(); }", "open -> d.hpp:shop.Depot.open"),
        ("void f(std::vector<Gate>& all) { for (auto& one : all) { one.weigh(); } }", "weigh -> d.hpp:shop.Gate.weigh"),
        ("void f(std::unique_ptr<Gate> held) { auto& one = *held; one.weigh(); }", "weigh -> d.hpp:shop.Gate.weigh"),
        ("void f(GatePtr held) { held->weigh(); }", "weigh -> d.hpp:shop.Gate.weigh"),
        ("int f() { return Crates::make(); }", "make -> d.hpp:shop.Box.make"),
        ("struct Shed : base { Shed() : base(3) {} };", "base -> d.hpp:shop.base"),
        ("void f(bool a) { Side side = a ? Side::Left : Side::Right; }", "Left -> d.hpp:shop.Side.Left"),
        ("void f() { delete Depot::first; }", "first -> d.hpp:shop.Depot.first"),
        ("Depot* Depot::first = nullptr;", "Depot -> d.hpp:shop.Depot"),
        ("void f() { use(Side::Left); }", "Side -> d.hpp:shop.Side"),
    ],
)  # fmt: skip
def test_what_cpp_uses_is_found_through_its_types(code: str, found: str) -> None:
    header = """namespace shop {
struct Gate { int weigh(); };
template <class T> struct Box { static int make(); };
struct Depot { void open(); ~Depot(); operator bool() const; static Depot* first; };
struct base { base(int n); };
enum class Side { Left, Right };
using GatePtr = std::unique_ptr<Gate>;
using Crates = Box<int>;
}
"""
    if '["a"]' in code:
        header = header.replace("void open();", "void open(); Gate& operator[](const char* name);")
    edges = edges_of({"d.hpp": header, "a.cpp": f'#include "d.hpp"\nnamespace shop {{\n{code}\n}}\n'})
    assert f"a.cpp:3 {found}" in {one.rpartition(" ")[0] for one in edges if not one.endswith("?")}


def test_using_is_looked_up_in_the_namespaces_around_it() -> None:
    header = "namespace shop { namespace parts { struct Gate {}; } using parts::Gate; }\n"
    code = '#include "d.hpp"\nnamespace shop {\nGate open();\n}\n'
    edges = edges_of({"d.hpp": header, "a.cpp": code})
    assert "a.cpp:3 Gate -> d.hpp:shop.parts.Gate wildcard_import" in edges


def test_what_a_repository_adds_to_the_standard_library_is_unsure() -> None:
    code = "namespace std { int begin(int n) { return n; } }\nint f(Depot d) { return std::begin(d); }\n"
    assert "a.cpp:2 begin -> a.cpp:std.begin name?" in edges_of({"a.cpp": code})


def test_a_test_of_cpp_uses_the_members_of_its_fixture() -> None:
    code = "struct Shop { void open(); };\nTEST_F(Shop, opens) {\n  open();\n}\n"
    edges = edges_of({"a.cpp": code})
    assert {"a.cpp:2 Shop -> a.cpp:Shop same_file", "a.cpp:3 open -> a.cpp:Shop.open receiver"} <= edges


def test_a_class_that_is_only_declared_is_the_one_of_its_namespace() -> None:
    header = "namespace shop { struct Depot { void open(); }; }\n"
    code = "namespace shop {\nclass Depot;\nvoid f(Depot& depot) { depot.open(); }\n}\n"
    edges = edges_of({"d.hpp": header, "a.cpp": code})
    assert "a.cpp:3 Depot -> d.hpp:shop.Depot same_package" in edges
    again = edges_of({"d.hpp": header, "e.hpp": header, "a.cpp": code})
    assert not [one for one in again if one.startswith("a.cpp:3 Depot") and not one.endswith("?")]


def test_a_call_sees_the_overloads_of_header_and_source() -> None:
    header = "struct Pen { void write(int n); void write(const char* text) { write(1); } void draw(); };\n"
    code = '#include "d.hpp"\nvoid Pen::write(int n) {}\nvoid Pen::draw() { write("a"); }\n'
    edges = edges_of({"d.hpp": header, "a.cpp": code})
    assert "a.cpp:3 write -> d.hpp:Pen.write receiver" in edges


def test_an_alias_that_is_given_again_is_one() -> None:
    header = "struct Depot { void open(); };\nusing DepotPtr = std::shared_ptr<Depot>;\n"
    code = '#include "d.hpp"\nusing DepotPtr = std::shared_ptr<Depot>;\nvoid f(DepotPtr p) { p->open(); }\n'
    edges = edges_of({"d.hpp": f"{header}using DepotPtr = std::shared_ptr<Depot>;\n", "a.cpp": code})
    assert "a.cpp:3 open -> d.hpp:Depot.open receiver_type" in edges
