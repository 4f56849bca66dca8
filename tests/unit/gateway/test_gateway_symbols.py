"""Outlines, definitions and bodies within a budget."""

from gateway_receipts import RECEIPT

from prism_contracts.code import Symbol, SymbolKind
from prism_contracts.rpc.files import OutlineReply
from prism_contracts.rpc.symbols import Definition, DefinitionsReply, SymbolAnswer
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
        repo="acme/app", file_path=f"{name}.py", language="python", symbol=symbol(name), body=body
    )


def test_an_outline_nests_and_drops_docstrings_first() -> None:
    reply = OutlineReply(
        repo="acme/app",
        file_path="a.py",
        language="python",
        line_count=9,
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
    assert "\n  1-9 method get: def get()" in answer.text
    assert "truncated" not in answer.structured


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
        "self.a: found by the name a; the qualifier did not match, so this may be another symbol.\nacme/app a.py:1-9"
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
