"""Outlines, definitions and bodies within a budget."""

import pytest
from gateway_receipts import RECEIPT

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.files import FileRange, OutlineReply
from prism_contracts.rpc.symbols import (
    Definition,
    DefinitionsReply,
    ReferenceGroup,
    SymbolAnswer,
    UseCounts,
)
from prism_gateway.mcp.answers import symbols


def symbol(name: str, kind: SymbolKind = SymbolKind.METHOD, parent: int = -1, docstring: str = "") -> Symbol:
    return Symbol(
        name=name,
        qualified_name=name,
        kind=kind,
        start_line=1,
        end_line=9,
        name_line=1,
        signature=f"def {name}()",
        docstring=docstring,
        parent=parent,
    )


def definition(name: str, body: str = "") -> Definition:
    return Definition(
        repo="acme/app",
        file_path=f"{name}.py",
        language="python",
        symbol=_of_length(symbol(name), body),
        body=body,
    )


def _of_length(one: Symbol, body: str) -> Symbol:
    return one.model_copy(update={"end_line": body.rstrip("\n").count("\n") + 1}) if body else one


def source(
    name: str, text: str, first: int, kind: SymbolKind = SymbolKind.CLASS, name_line: int = 0
) -> Definition:
    """Returns a definition whose source begins at a line."""
    last = first + text.rstrip("\n").count("\n")
    update = {"start_line": first, "end_line": last, "name_line": name_line or first}
    return definition(name, text).model_copy(update={"symbol": symbol(name, kind).model_copy(update=update)})


def test_an_outline_nests_and_drops_docstrings_first() -> None:
    reply = OutlineReply(
        repo="acme/app",
        file_path="a.py",
        language="python",
        line_count=9,
        description="Where sessions begin.",
        symbols=(
            symbol("Session", SymbolKind.CLASS, docstring="d" * 5_000),
            symbol("get", parent=0),
        ),
        parse="ok",
        receipt=RECEIPT,
    )
    answer = symbols.outline(reply, 100)
    assert [entry["name"] for entry in answer.structured["symbols"]] == ["Session", "get"]
    assert len(answer.structured["symbols"][0]["docstring"]) < 400
    assert answer.structured["description"] == "Where sessions begin."
    assert "\nWhere sessions begin.\n1-9 def Session()\n  1-9 def get()\n" in answer.text
    assert "truncated" not in answer.structured


@pytest.mark.parametrize(
    ("kind", "signature", "expected"),
    [
        (SymbolKind.METHOD, "def get(\n    self,\n)", "def get( self, )"),
        (SymbolKind.CLASS, "class get:", "class get:"),
        (SymbolKind.FIELD, "get: int", "field get: int"),
        (SymbolKind.FIELD, "", "field get"),
        (SymbolKind.CONSTANT, "const get = 1", "const get = 1"),
        (SymbolKind.CONSTANT, "get = 1", "constant get = 1"),
        (SymbolKind.CONSTRUCTOR, "def __init__()", "constructor get def __init__()"),
    ],
)
def test_an_outline_says_kind_and_name_once(kind, signature, expected) -> None:
    one = symbol("get", kind).model_copy(update={"signature": signature})
    reply = OutlineReply(
        repo="acme/app", file_path="a.py", language="python", line_count=9, symbols=(one,), parse="ok", receipt=RECEIPT
    )  # fmt: skip
    assert f"\n1-9 {expected}\n" in symbols.outline(reply, 1_000).text


def of_kind(kind: SymbolKind, line: int) -> Definition:
    one = symbol("Kiln", kind).model_copy(update={"start_line": line, "end_line": line + 2})
    return definition("Kiln").model_copy(update={"symbol": one})


def test_fields_and_constructors_of_a_name_are_one_line() -> None:
    found = (
        of_kind(SymbolKind.CLASS, 1), of_kind(SymbolKind.CONSTRUCTOR, 2), of_kind(SymbolKind.CONSTRUCTOR, 3),
        *(of_kind(SymbolKind.FIELD, line) for line in range(5, 9)),
    )  # fmt: skip
    text = definitions_text(SymbolAnswer(symbol="Kiln", definitions=found, total=7))
    assert text.count("def Kiln()") == 1
    also = "also: 2 constructors (Kiln.py:2-4, Kiln.py:3-5), 4 fields"
    assert f"\n{also}\n" in text


def test_fields_are_shown_if_there_is_nothing_else() -> None:
    found = (of_kind(SymbolKind.FIELD, 5), of_kind(SymbolKind.CONSTRUCTOR, 9))
    text = definitions_text(SymbolAnswer(symbol="Kiln", definitions=found[:1], total=1))
    assert "Kiln.py:5-7 field Kiln" in text
    text = definitions_text(SymbolAnswer(symbol="Kiln", definitions=found, total=2))
    assert "Kiln.py:9-11 constructor Kiln" in text
    assert "also: 1 field (Kiln.py:5-7)" in text


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        (UseCounts(groups={ReferenceGroup.CALLERS: 2, ReferenceGroup.TESTS: 1}), "callers 2, tests 1\n"),
        (UseCounts(groups={ReferenceGroup.CALLERS: 2}, by_name=1), "callers 2, 1 of them by name only\n"),
        (UseCounts(groups={}), "none found; find_references compares this with the text\n"),
    ],
)
def test_uses_are_counted_under_a_definition(uses, expected) -> None:
    found = SymbolAnswer(symbol="a", definitions=(definition("a"),), total=1, uses=uses)
    assert f"\nuses: {expected}" in definitions_text(found)
    reply = DefinitionsReply(answers=(found,), receipt=RECEIPT)
    shown = symbols.definitions(reply, 1_000).structured["answers"][0]["uses"]
    assert shown == uses.model_dump(mode="json")


def test_definitions_in_several_repositories_name_them() -> None:
    other = definition("a").model_copy(update={"repo": "acme/other"})
    text = definitions_text(SymbolAnswer(symbol="a", definitions=(definition("a"), other), total=2))
    assert "acme/app a.py:1-9" in text
    assert "acme/other a.py:1-9" in text


def test_a_signature_that_says_kind_and_name_is_shown_once() -> None:
    one = symbol("Kiln", SymbolKind.CLASS).model_copy(update={"signature": "class Kiln"})
    found = definition("a").model_copy(update={"symbol": one})
    assert definitions_text(SymbolAnswer(symbol="a", definitions=(found,), total=1)).count("class Kiln") == 1


def test_a_doc_comment_is_shown_up_to_its_first_paragraph() -> None:
    one = definition("a").model_copy(update={"symbol": symbol("a", docstring="Fires.\n\nLong.")})
    text = definitions_text(SymbolAnswer(symbol="a", definitions=(one,), total=1))
    assert "Fires.\n\nindex" in text


def test_a_batch_of_definitions_keeps_an_answer_for_each_symbol() -> None:
    reply = DefinitionsReply(
        answers=(
            SymbolAnswer(symbol="a", definitions=(definition("a", "x\n" * 2_000),), total=1),
            SymbolAnswer(symbol="b", definitions=(), total=0, suggestions=("bee",)),
        ),
        receipt=RECEIPT,
    )
    answer = symbols.definitions(reply, 300)
    first, second = answer.structured["answers"]
    assert "more lines" in first["definitions"][0]["body"]
    assert second["suggestions"] == ["bee"]
    assert answer.structured["truncated"] is True
    assert "b: no definition. Similar names: bee." in answer.text


def definitions_text(*answers: SymbolAnswer) -> str:
    return symbols.definitions(DefinitionsReply(answers=answers, receipt=RECEIPT), 1_000).text


def test_definitions_report_partial_names_and_totals() -> None:
    text = definitions_text(
        SymbolAnswer(symbol="self.a", definitions=(definition("a"),), total=3, matched="a")
    )
    assert text.startswith(
        "self.a: found by the name a; the qualifier did not match, so this may be another symbol.\na.py:1-9"
    )
    assert "\n\nself.a: 2 more definitions.\n" in text


def test_a_miss_names_files_that_may_define_it() -> None:
    text = definitions_text(SymbolAnswer(symbol="a", definitions=(), total=0, unparsed=("big.py",)))
    assert "a: no definition. It may be defined in big.py" in text


def test_a_function_body_lists_other_definitions() -> None:
    answer = symbols.function_body(definition("a", "one\ntwo\n"), [definition("b")], RECEIPT, 1_000)
    assert answer.structured["body"] == "one\ntwo\n"
    assert answer.structured["others"] == [{"repo": "acme/app", "file_path": "b.py", "start_line": 1}]
    assert "also defined at b.py:1" in answer.text


def test_a_cut_function_body_names_the_next_line() -> None:
    body = "".join(f"line {number}\n" for number in range(9))
    answer = symbols.function_body(definition("a", body * 100), [], RECEIPT, 100)
    assert answer.structured["truncated"] is True
    assert "read_file(file_path='a.py'" in answer.structured["next_actions"][0]


def test_a_body_has_the_line_numbers_of_its_file() -> None:
    found = source("Kiln", "class Kiln:\n    def fire(self): ...\n", 41)
    shown = "Kiln.py:41-42 class Kiln\n41\tclass Kiln:\n42\t    def fire(self): ..."
    assert shown in definitions_text(SymbolAnswer(symbol="Kiln", definitions=(found,), total=1))
    assert shown in symbols.function_body(found, [], RECEIPT, 1_000).text


def test_a_cut_class_lists_the_members_that_are_not_shown() -> None:
    text = "".join(f"    line {number}\n" for number in range(10, 410))
    members = tuple(
        EnclosingSymbol(name=name, start_line=first, end_line=first + 9)
        for name, first in (("fire", 11), ("cool", 300), ("empty", 390))
    )
    found = source("Kiln", text, 10).model_copy(update={"members": members})
    reply = DefinitionsReply(
        answers=(SymbolAnswer(symbol="Kiln", definitions=(found,), total=1),), receipt=RECEIPT
    )
    whole, cut = (symbols.definitions(reply, tokens).text for tokens in (10_000, 500))
    assert "not shown" not in whole
    assert "\nnot shown: cool 300-309, empty 390-399\n" in cut
    assert "not shown: cool 300-309, empty 390-399" in symbols.function_body(found, [], RECEIPT, 500).text


def test_a_long_comment_is_cut_before_the_code() -> None:
    comment = ["/**", " * Fires the kiln.", *[" * More about it."] * 90, " */"]
    code = ["class Kiln {", "  void fire() {}", "}"]
    found = source("Kiln", "\n".join([*comment, *code]), 7, name_line=100)
    reply = DefinitionsReply(
        answers=(SymbolAnswer(symbol="Kiln", definitions=(found,), total=1),), receipt=RECEIPT
    )
    cut = symbols.definitions(reply, 120).text
    assert "  7\t/**\n  8\t * Fires the kiln.\n…\n100\tclass Kiln {\n101\t  void fire() {}\n102\t}\n" in cut
    assert "More about it" in symbols.definitions(reply, 2_000).text


def test_a_prototype_is_named_beside_the_definition() -> None:
    declared = FileRange(file_path="kiln.h", start_line=12, end_line=14)
    found = definition("fire").model_copy(update={"declared": (declared,)})
    reply = DefinitionsReply(
        answers=(SymbolAnswer(symbol="fire", definitions=(found,), total=1),), receipt=RECEIPT
    )
    answer = symbols.definitions(reply, 1_000)
    assert answer.text.startswith("fire.py:1-9 method fire, declared in kiln.h:12\n")
    (shown,) = answer.structured["answers"][0]["definitions"]
    assert shown["declared"] == [{"file_path": "kiln.h", "start_line": 12, "end_line": 14}]
