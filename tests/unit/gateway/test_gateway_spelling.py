"""Arguments as callers write them."""

from typing import Any

import pytest
from pydantic import BaseModel

from prism_gateway.mcp.spelling import NAMES, OPPOSITES, VALUES, read_arguments
from prism_gateway.mcp.tools.code import FindReferences, GetSymbolDefinition, GrepCode, SearchCode
from prism_gateway.mcp.tools.read import ReadFile
from prism_gateway.mcp.tools.walk import FindPath, GetCallHierarchy, ImpactOfChange
from prism_gateway.mcp.toolsets import TOOLS


@pytest.mark.parametrize(
    ("model", "given", "meant"),
    [
        (FindReferences, {"symbol": "load"}, {"symbols": ["load"]}),
        (FindReferences, {"symbols": '["load", "save"]'}, {"symbols": ["load", "save"]}),
        (GetSymbolDefinition, {"symbol": ["load", "save"]}, {"symbols": ["load", "save"]}),
        (ReadFile, {"path": "a.py", "start": "3"}, {"file_path": "a.py", "start_line": 3}),
        (SearchCode, {"query": "x", "path": "src/**"}, {"query": "x", "path_filter": "src/**"}),
        (SearchCode, {"query": "x", "language": "PY"}, {"query": "x", "language": "python"}),
        (SearchCode, {"query": "x", "kind": "func"}, {"query": "x", "kind": "function"}),
        (
            GrepCode,
            {"query": "x", "output_mode": "files"},
            {"pattern": "x", "output_mode": "files_with_matches"},
        ),
        (GrepCode, {"pattern": "x", "-i": True}, {"pattern": "x", "case_sensitive": False}),
        (GrepCode, {"pattern": "x", "regex": "true"}, {"pattern": "x", "regex": True}),
        (GrepCode, {"pattern": "x", "in": "comment"}, {"pattern": "x", "only": "comments"}),
        (FindPath, {"from": "a", "to": "b"}, {"source": "a", "target": "b"}),
        (GetCallHierarchy, {"symbol": ["a", "b"]}, {"symbols": ["a", "b"]}),
        (ImpactOfChange, {"symbols": ["a"]}, {"symbol": "a"}),
        (SearchCode, {"query": "x", "language": None}, {"query": "x"}),
        (SearchCode, {"query": "x", "file_type": ".py"}, {"query": "x", "language": "python"}),
        (SearchCode, {"query": "x", "file_type": "go"}, {"query": "x", "language": "go"}),
    ],
)
def test_other_spellings_are_understood(
    model: type[BaseModel], given: dict[str, Any], meant: dict[str, Any]
) -> None:
    read = read_arguments(model, given)
    fields = {name for name in meant if name in model.model_fields}
    assert {name: read.arguments[name] for name in fields} == {name: meant[name] for name in fields}
    assert not read.notes
    model.model_validate(read.arguments)


@pytest.mark.parametrize(("depth", "used"), [(6, 5), (0, 1), (5, 5)])
def test_numbers_out_of_range_are_clamped_with_a_note(depth: int, used: int) -> None:
    read = read_arguments(GetCallHierarchy, {"symbol": "a", "depth": depth})
    assert read.arguments["depth"] == used
    assert read.notes == ((f"depth is between 1 and 5; {used} was used.",) if used != depth else ())


def test_options_without_effect_are_ignored_with_a_note() -> None:
    read = read_arguments(GrepCode, {"pattern": "x", "-n": True})
    assert read.arguments == {"pattern": "x"}
    assert read.notes == ("-n was ignored.",)


def test_unknown_arguments_stay_and_are_refused() -> None:
    read = read_arguments(SearchCode, {"query": "x", "color": "red"})
    assert read.arguments["color"] == "red"
    with pytest.raises(ValueError, match="color"):
        SearchCode.model_validate(read.arguments)


def test_a_given_argument_is_not_replaced_by_an_alias() -> None:
    read = read_arguments(SearchCode, {"query": "x", "question": "y"})
    assert read.arguments == {"query": "x", "question": "y"}


def test_tables_name_arguments_that_tools_have() -> None:
    known = {field for tool in TOOLS for field in tool.arguments.model_fields}
    assert {*NAMES, *OPPOSITES, *VALUES} - known <= {"include_bodies", "symbols"}
