"""Edges of small programs in Swift."""

import pytest
from graph_files import edges_of

GATE = """\
enum Gate { case open, shut(Int); static let usual = 1 }
enum Lamp { case open }
struct Town { var gate: Gate }
"""


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("extension Gate { func f() { switch self { case .shut(let n): break; default: break } } }", "shut"),
        ("extension Gate { var f: Int { switch self { case .open: return 1; default: return 2 } } }", "open"),
        ("extension Town { func f() { switch gate { case .open: break; default: break } } }", "open"),
        ("extension Town { func f() { switch self.gate { case .open: break; default: break } } }", "open"),
        ("func f(gate: Gate) { if case .open = gate {} }", "open"),
        ("func f(gate: Gate) { guard case .open = gate else { return } }", "open"),
        ("func f(gate: Gate) -> Bool { return gate == .open }", "open"),
        ("func f(gate: Gate = .open) {}", "open"),
        ("func f() -> Gate { return .open }", "open"),
        ("func f() -> Gate? { .shut(1) }", "shut"),
        ("var usual: Gate { .open }", "open"),
        ("let usual: Gate = .shut(2)", "shut"),
    ],
)
def test_a_member_without_its_type_is_that_of_the_type_around(code: str, name: str) -> None:
    found = {
        one
        for one in edges_of({"Sources/a.swift": f"{GATE}{code}\n"})
        if one.startswith(f"Sources/a.swift:4 {name} ")
    }
    assert len(found) == 1
    assert f"-> Sources/a.swift:Gate.{name} " in (edge := found.pop())
    assert not edge.endswith("?")


def test_a_member_without_its_type_is_a_candidate_where_nothing_says_the_type() -> None:
    found = edges_of({"Sources/a.swift": f"{GATE}func f() {{ g(.open, open: 1) }}\n"})
    assert {one for one in found if one.startswith("Sources/a.swift:4 open ")} == {
        "Sources/a.swift:4 open -> Sources/a.swift:Gate.open name?",
        "Sources/a.swift:4 open -> Sources/a.swift:Lamp.open name?",
    }


def test_a_key_path_uses_the_property() -> None:
    found = edges_of(
        {"Sources/a.swift": f"{GATE}func f(t: [Town]) {{ t.map(\\.gate); t.map(\\Town.gate) }}\n"}
    )
    assert "Sources/a.swift:4 gate -> Sources/a.swift:Town.gate only_definition?" in found
    assert "Sources/a.swift:4 gate -> Sources/a.swift:Town.gate class_name" in found


def test_protocols_of_the_library_leave_the_bases_of_a_class_known() -> None:
    text = "protocol P {}\nextension P { var size: Int { 1 } }\nfinal class A: Sendable, P { func f() { g(self.size) } }\n"
    assert "Sources/a.swift:3 size -> Sources/a.swift:P.size inherited" in edges_of({"Sources/a.swift": text})


def test_a_property_of_an_extension_gives_no_other_one_its_type() -> None:
    text = (
        "struct Gates {\n    var gates: [Gate] = []\n    var count: Int { gates.count }\n}\n"
        "extension Town { var gates: Gates { Gates() } }\nfunc f(t: Town) { g(t.gates.count) }\n"
    )
    found = edges_of({"Sources/a.swift": text, "Sources/b.swift": "struct Town {}\n"})
    assert "Sources/a.swift:6 count -> Sources/a.swift:Gates.count receiver_type" in found
    assert not [one for one in found if one.startswith("Sources/a.swift:3 count ") and not one.endswith("?")]
