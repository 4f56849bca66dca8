"""Calls in C's macros are references of the macro."""

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import Budget, chunk_file
from prism_contracts.code import ReferenceKind

SECONDS_MAX = 4.0


def called(text: str) -> list[str]:
    """Returns the names that macros call, with their qualifiers."""
    references = [one for one in chunk_file("a.c", text).references if one.kind is ReferenceKind.CALL]
    return [f"{one.qualifier}.{one.name}" if one.qualifier else one.name for one in references]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("#define ADD(a) add_item(a)\n", ["add_item"]),
        ("#define RUN run_all(1)\n", ["run_all"]),
        ("#define ADD(a) do { if (ok(a)) add (a); } while (0)\n", ["ok", "add"]),
        ("#define ADD(a) \\\n  (a)->list->push(1); \\\n  list.push(a)\n", ["(a)->list.push", "list.push"]),
        ("#define ADD(a) return add(a)\n", ["add"]),
        ("#define GET(a) ((int (*)(int)) find(a))\n", ["find"]),
        ("#define TRY(f) f(1); TRY(2)\n", []),
        ("#define GET(name) shop_##name(1) + ns ## _get(2)\n", []),
        ("#define SIZE(a) (sizeof(a) + defined(A) + (int (a)))\n", []),
        ("#define SAY(a) say(\"no(1)\", '(') /* no(2) */ // no(3)\n", ["say"]),
        ("#define MAKE(name) static int make(int a) { return 1; }\n", []),
        ("#define MANY(a) get(a)->push(1)\n", ["get"]),
        ("#define NONE\n#define EMPTY(a)\nint a;\n", []),
    ],
)
def test_calls_of_a_macro(text: str, calls: list[str]) -> None:
    assert called(text) == calls


def test_a_call_has_its_line_and_its_macro() -> None:
    parsed = chunk_file("a.cpp", "int a;\n#define ADD(a) \\\n  do { \\\n    add(a); \\\n  } while (0)\n")
    assert [(one.name, one.line, one.symbol) for one in parsed.references] == [("add", 4, 1)]
    assert parsed.symbols[1].name == "ADD"


def test_calls_of_macros_are_capped_with_the_others() -> None:
    text = "void f(void) { g(); }\n" + "#define A(a) one(a), two(a)\n" * 10
    assert len(chunk_file("a.c", text, budget=Budget(references_max=4)).references) == 4


@pytest.mark.parametrize("shape", ["a ", "a.", "a->", "a(", "(a)->", '"', "/*", "'\\", "##"])
def test_long_macros_take_linear_time(shape: str) -> None:
    text = "#define A(x) " + f"{shape * 50} b(1) \\\n" * 4_000 + "\n"
    within_cpu_s(SECONDS_MAX, chunk_file, "a.c", text)
