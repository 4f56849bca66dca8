"""Calls of macros at top level, with their lines."""

import pytest

from prism_resolver.macro_calls import MacroCall, call_around

RUST = [
    "use crate::gate;",
    "",
    "gate!(Barrier, {",
    '    let one = ")";',
    "    open(3)",
    "});",
    "",
    "depot::gate! {",
    "    Boom,",
    "    close()",
    "}",
    "",
    "fn open(n: u32) {}",
    "vec![1,",
    "     2];",
    "",
]
C = ["TABLE(rows, 3,", "      open)", "static int open(int n) { return n; }", "DEFINE_GATE(a)", ""]


@pytest.mark.parametrize(
    ("lines", "language", "number", "expected"),
    [
        (RUST, "rust", 3, MacroCall("gate!", 3, 6, "Barrier")),
        (RUST, "rust", 5, MacroCall("gate!", 3, 6, "Barrier")),
        (RUST, "rust", 10, MacroCall("gate!", 8, 11, "Boom")),
        (RUST, "rust", 1, None),
        (RUST, "rust", 13, None),
        (RUST, "rust", 99, None),
        (C, "c", 2, MacroCall("TABLE", 1, 2, "rows")),
        (C, "c", 3, None),
        (C, "cpp", 4, MacroCall("DEFINE_GATE", 4, 4, "a")),
        (C, "python", 2, None),
        (["gate!(", "  one"], "rust", 2, None),
    ],
)
def test_the_call_around_a_line_is_found(lines, language, number, expected) -> None:
    assert call_around(lines, number, language) == expected
