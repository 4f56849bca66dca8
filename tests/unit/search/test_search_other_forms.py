"""Forms in which a name cannot mean the symbol: keywords of accessors, variables, fields."""

import pytest

from prism_contracts.code import SymbolKind
from prism_search.core.references.other_forms import is_other

FUNCTION = {SymbolKind.FUNCTION}


def other(text: str, name: str, language: str, kinds=FUNCTION) -> list[bool]:
    """Returns by occurrence of the name whether it cannot mean the symbol."""
    form = is_other(name, language, kinds)
    starts = [at for at in range(len(text)) if text.startswith(name, at)]
    return [form is not None and form(text, at, at + len(name)) for at in starts]


@pytest.mark.parametrize(
    ("text", "name", "language", "expected"),
    [
        ("  get size() {", "get", "javascript", [True]),
        ("  static get [key]() {", "get", "typescript", [True]),
        ("  static get size() {", "static", "javascript", [True]),
        ("  get() {", "get", "javascript", [False]),
        ("  app.get(size)", "get", "javascript", [False]),
        ("  const { get } = app;", "get", "javascript", [False]),
        ("  get size() {", "get", "python", [False]),
        ("  int Size { get; set; }", "get", "csharp", [True]),
        ("  depot.get(1);", "get", "csharp", [False]),
    ],
)
def test_keyword_of_an_accessor_is_no_use(text, name, language, expected):
    assert other(text, name, language) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let gate = 1;", [True]),
        ("let mut gate = 1;", [True]),
        ("self.gate = 2;", [True]),
        ("open(self.gate)", [True]),
        ("struct Depot { gate: u8 }", [True]),
        ("fn open(gate: u8) {\n    log!(gate);\n}", [True, True]),
        ('let (gate, other) = pair;\nprintln!("{}", gate);', [True, True]),
        ("|gate| gate + 1", [True, True]),
        ("let gate = gate(2);", [True, False]),
        ("town::gate", [False]),
        ("self.gate()", [False]),
        ("gate::<u8>()", [False]),
        ("fn open(gate: u8) {}\nfn close() {\n    log!(gate);\n}", [True, False]),
    ],
)  # fmt: skip
def test_variable_or_field_of_rust_is_no_use_of_a_function(text, expected):
    assert other(text, "gate", "rust") == expected


def test_field_of_rust_may_be_meant_by_any_form():
    assert other("self.gate = 2;", "gate", "rust", {SymbolKind.FIELD}) == [False]


@pytest.mark.parametrize(
    ("line", "is_longer"),
    [
        ("depot.open!(1)", True),
        ("return 1 if depot.open?", True),
        ("depot.open(1)", False),
        ("depot.open ? 1 : 2", False),
        ("depot.open != 3", False),
        ("depot.open!=3", False),
    ],
)
def test_a_mark_at_the_end_makes_another_name_in_ruby(line: str, is_longer: bool) -> None:
    form = is_other("open", "ruby", ())
    assert form is not None
    start = line.index("open")
    assert form(line, start, start + len("open")) is is_longer
    assert is_other("open!", "ruby", ()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const one = { open: vi.fn(), shut }", [True]),
        ("(gate as {\n  open: () => void\n}).open(", [True, True]),
        ("(gate as { readonly open?: Call }).open()", [True, True]),
        ("run((gate as Gate).open)", [True]),
        ("function shut(open: Gate) {", [True]),
        ("const { open: shut } = await import('./gate')", [False]),
        ("(await import('./gate') as Gates).open()", [False]),
        ("(await load()).open()", [False]),
        ("const one = { shut: open }", [False]),
        ("const one = { open }", [False]),
        ("one ? open : shut", [False]),
        ("one ? (two, open) : shut", [False]),
        ("open(gate)", [False]),
    ],
)  # fmt: skip
def test_key_or_member_of_a_cast_is_no_use_of_a_function(text, expected):
    assert other(text, "open", "typescript") == expected


def test_key_may_be_a_method():
    assert other("const one = { open: 1 }", "open", "typescript", {SymbolKind.METHOD}) == [False]
