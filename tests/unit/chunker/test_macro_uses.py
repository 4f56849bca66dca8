"""Uses of C's macros that no grammar sees: in conditions of the preprocessor, and before declarations."""

import pytest
from cpu_time import within_cpu_s

from prism_chunker.core import chunk_file
from prism_contracts.code import ReferenceKind

SECONDS_MAX = 4.0


def used(text: str, path: str = "shop.h") -> list[str]:
    """Returns the uses in a text as `line name`, in order; calls end with a bracket."""
    return [
        f"{one.line} {one.name}{'(' if one.kind is ReferenceKind.CALL else ''}"
        for one in chunk_file(path, text).references
        if one.kind is not ReferenceKind.IMPORT
    ]


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("#if SHOP\n#endif\n", ["1 SHOP"]),
        ("#ifdef SHOP\n#elif defined(DEPOT)\n#endif\n", ["1 SHOP", "2 DEPOT"]),
        ("#ifndef SHOP\n#  define SHOP 1\n#endif\n#undef SHOP\n", ["1 SHOP", "4 SHOP"]),
        ("#pragma once\n#include <a.h>\n#ifndef SHOP\n#define SHOP\n#endif\n", ["3 SHOP"]),
        ("# if !SHOP && !defined DEPOT || GATE > 3\n#endif\n", ["1 SHOP", "1 DEPOT", "1 GATE"]),
        ("#if SHOP || \\\n  DEPOT(1, 2)\n#endif\n", ["1 SHOP", "2 DEPOT("]),
        ("#if SHOP /* NO */ && 'N' // NO\n#endif\n", ["1 SHOP"]),
        ("class Depot {\n#if SHOP\n  int a;\n#endif\n};\n", ["2 SHOP"]),
        ("int a =\n#ifdef SHOP\n 1\n#elif DEPOT\n 2\n#endif\n;\n", ["2 SHOP", "4 DEPOT"]),
        ("#if defined(SHOP) && __has_include(<shop/depot.h>)\nint a;\n#endif\n", ["1 SHOP"]),
        ("SHOP_API int open(int a) SHOP_PURE;\n", ["1 SHOP_API", "1 SHOP_PURE"]),
        ("class SHOP_EXPORT(1) Depot {\n};\n", ["1 SHOP_EXPORT("]),
        ("#define SHOP_ALL SHOP_ONE\n#define SHOP_ONE 1\n", ["1 SHOP_ONE"]),
        ('#define SHOP_ALL(SHOP_A) a.SHOP_B SHOP_A #SHOP_C "SHOP_D" SHOP_E\n', ["1 SHOP_E"]),
    ],
)
def test_uses_of_macros(text: str, uses: list[str]) -> None:
    assert used(text) == uses


@pytest.mark.parametrize(
    "text",
    [
        "#ifndef SHOP_H // once\n\n#define SHOP_H\nint a;\n#endif\n",
        "/*\n#if SHOP\n*/\nint a;\n",
        "#ifdef __cplusplus\n#endif\n",
        "#if 1 /* SHOP */\n#endif\n",
        "// SHOP_API int open(int a);\nint a;\n",
    ],
)
def test_what_uses_no_macro(text: str) -> None:
    assert used(text) == []


def test_a_condition_with_a_question_hides_no_declaration() -> None:
    text = "#if SHOP && __has_include(<shop/depot.h>)\nint open(int a);\n#endif\n"
    parsed = chunk_file("shop.h", text)
    assert [one.name for one in parsed.symbols] == ["open"]
    assert parsed.parse == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "#if A\n" * 100_000,
        "#if A \\\n" * 100_000,
        "#if " + "__has_a( " * 1_000 + "\n" + "#if __has_a(1)\n" * 20_000,
        "#ifndef A\n" + "\n" * 300_000 + "#ifndef A\n" * 1_000,
        ("#ifndef A\n" + "// a\n" * 50) * 500,
    ],
)
def test_long_conditions_take_linear_time(text: str) -> None:
    within_cpu_s(SECONDS_MAX, chunk_file, "shop.h", text)
