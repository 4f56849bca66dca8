"""Forms in which a name cannot mean the symbol: keywords of accessors, variables, fields."""

import pytest

from prism_contracts.code import SymbolKind
from prism_search.core.references.other_forms import KEY, MEMBER, other_form

FUNCTION = {SymbolKind.FUNCTION}


def other(text: str, name: str, language: str, kinds=FUNCTION) -> list[bool]:
    """Returns by occurrence of the name whether it cannot mean the symbol."""
    form = other_form(name, language, kinds)
    starts = [at for at in range(len(text)) if text.startswith(name, at)]
    return [form is not None and bool(form(text, at, at + len(name))) for at in starts]


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
    form = other_form("open", "ruby", ())
    assert form is not None
    start = line.index("open")
    assert bool(form(line, start, start + len("open"))) is is_longer
    assert other_form("open!", "ruby", ()) is None


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


CAST = """\
const unsub = (
  gate as unknown as {
    shut: () => void
    // Not declared by the library.
    open: (
      listener: Listener,
    ) => void
  }
).open((one) => one)
"""
MOCK = "const gate = {\n  shut: vi.fn(),\n  open: vi.fn((one) => one),\n}\nit(() => gate.open.mockClear())\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CAST, [KEY, MEMBER]),
        ("type Gate = {\n  shut: Call\n  open: Call\n}", [KEY]),
        ("const one = late ?\n  open : shut", [""]),
        ("const one = late ? await\n  open : shut", [""]),
        ("const one = late\n  ? two\n  : open", [""]),
        (MOCK, [KEY, MEMBER]),
        ("const gate = { open: open }\ngate.open.mockClear()", [KEY, "", ""]),
        ("const gate = { open }\ngate.open.mockClear()", ["", ""]),
        ("let gate = { open: 1 }\ngate.open.mockClear()", [KEY, ""]),
        ("const gate = { open: 1 }\nrun((gate) => gate.open.name)", [KEY, ""]),
        ("import * as gate from './gate'\ngate.open.mockClear()", [""]),
    ],
)
def test_forms_beside_a_function_say_what_they_are(text, expected):
    form = other_form("open", "typescript", FUNCTION)
    starts = [at for at in range(len(text)) if text.startswith("open", at)]
    assert [form(text, at, at + len("open")) for at in starts] == expected


PYTHON = """\
class Depot:
    def weigh(self, size: int = 1):
        return size

    def size(self): ...

    tall = size
    if late:
        wide = size

    def pick(
        self,
        size: int,
    ) -> int:
        run(size=2)
        return self.size


size = 3
"""


def test_name_without_a_dot_is_no_method_of_python():
    """Only the body of the class itself has the method under its bare name."""
    found = other(PYTHON, "size", "python", {SymbolKind.METHOD})
    assert found == [True, True, False, False, False, True, True, False, True]
    given = f"size = _depot.size\n{PYTHON}"
    assert not any(other(given, "size", "python", {SymbolKind.METHOD}))
    assert not any(
        other(f"from depot import (\n    size,\n)\n{PYTHON}", "size", "python", {SymbolKind.METHOD})
    )
    assert not any(other(PYTHON, "size", "python", {SymbolKind.METHOD, SymbolKind.FUNCTION}))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("final char open = getOpen();", "java", True),
        ("this.open = open", "java", True),
        ("import java.util.open.Gates;", "java", True),
        ("depot.open (1)", "java", False),
        ("gates.map(Depot::open)", "java", False),
        ("import static town.Depot.open;", "java", False),
        ("@Rate(open = 2)", "java", False),
        ("Depot{open: 1}", "go", True),
        ("func run(open string) {}", "go", True),
        ("depot.open", "go", False),
        ("interface{ open() }", "go", False),
        ("depot.Select(open)", "csharp", False),
    ],
)
def test_variable_is_no_method_where_methods_have_a_form_of_their_own(text, language, expected):
    assert all(one is expected for one in other(text, "open", language, {SymbolKind.METHOD}))
