"""The table of tools, and the part of it that a request sees."""

import pytest
from starlette.requests import HTTPConnection

from prism_contracts.errors import PrismError
from prism_gateway.mcp.arguments import Arguments, BudgetedArguments, ScopedArguments
from prism_gateway.mcp.schema import input_schema
from prism_gateway.mcp.tool import Effect, Toolset
from prism_gateway.mcp.toolsets import DEFAULT, TOOLS, tools_of, toolsets_of


def request(query: str = "", *headers: str) -> HTTPConnection:
    return HTTPConnection(
        {
            "type": "http",
            "query_string": query.encode(),
            "headers": [(b"x-prism-toolsets", header.encode()) for header in headers],
        }
    )


def test_names_are_unique_and_every_toolset_has_tools() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(names) == len(set(names))
    assert {tool.toolset for tool in TOOLS} == set(Toolset)


def test_the_default_is_code() -> None:
    assert toolsets_of(request()) == DEFAULT == {Toolset.CODE}


def test_toolsets_of_url_and_header_add_up() -> None:
    chosen = toolsets_of(request("toolsets=code&toolsets=Docs", "graph"))
    assert chosen == {Toolset.CODE, Toolset.DOCS, Toolset.GRAPH}
    assert toolsets_of(request("", "ALL")) == set(Toolset)
    assert tools_of(Toolset) == list(TOOLS)


def test_an_unknown_name_is_an_error_with_the_names() -> None:
    with pytest.raises(PrismError) as caught:
        toolsets_of(request("toolsets=code,cods"))
    assert caught.value.body.details == {
        "toolsets": [
            "code",
            "graph",
            "docs",
            "context",
            "wiki",
            "documents",
            "admin",
            "feedback",
            "tasks",
            "all",
        ]
    }


def test_every_scoped_tool_takes_a_repository_and_a_budget() -> None:
    for tool in TOOLS:
        assert issubclass(tool.arguments, Arguments)
        is_read = tool.effect is Effect.READS and tool.name != "index_status"
        if issubclass(tool.arguments, ScopedArguments) and is_read:
            assert issubclass(tool.arguments, BudgetedArguments), tool.name


def test_schemas_contain_nothing_redundant() -> None:
    for tool in TOOLS:
        schema = input_schema(tool.arguments)
        assert not {"title", "description"} & set(schema)
        for field in schema["properties"].values():
            assert "title" not in field
            assert field.get("default", "something")
