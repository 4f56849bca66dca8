"""The tools over MCP, through the SDK's client over HTTP, at both protocol eras."""

import pytest

pytest_plugins = ["gateway_stack"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_search_code_answers_with_results_and_a_receipt(stack, mode) -> None:
    async with stack.mcp(mode) as client:
        result = await client.call_tool("search_code", {"query": "where is main"})
    assert not result.is_error
    (hit,) = result.structured_content["results"]
    assert hit["file_path"] == "src/app.py"
    print(result)


async def test_lists(stack):
    import json
    async with stack.mcp() as client:
        tools = await client.list_tools()
        d = [t.model_dump(by_alias=True, exclude_none=True, mode="json") for t in tools.tools]
        for t in d: print(t["name"], len(json.dumps(t, separators=(",", ":"))), len(json.dumps(t)))
        print(len(json.dumps(d, separators=(",", ":"))), len(json.dumps(d)))
        print(json.dumps(d))
