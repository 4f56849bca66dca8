import httpx
import pytest

from prism_cli.client import Prism, _tool_answer
from prism_cli.exits import CommandError
from prism_cli.index.command import slowest_lines
from prism_cli.target import ServerTarget
from prism_contracts.records import SlowFile

RESULT = '{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "found"}], "structuredContent": {"a": 1}}}'
REFUSED = (
    '{"jsonrpc": "2.0", "id": 1, "result": {"isError": true, "content": [], "structuredContent": '
    '{"error": {"code": "repo_not_found", "message": "m", "next_action": "n", "details": {}}}}}'
)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("application/json", RESULT), ("text/event-stream", f": ping\n\ndata: {{}}\n\ndata: {RESULT}\n\n")],
)
def test_result_is_read_from_json_and_from_a_stream(kind: str, text: str):
    answer = _tool_answer(httpx.Response(200, headers={"content-type": kind}, text=text))
    assert (answer.text, answer.data) == ("found", {"a": 1})


async def test_error_of_a_tool_keeps_its_code():
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "application/json"}, text=REFUSED)
    )
    async with Prism(ServerTarget("http://prism", "t"), transport) as prism:
        with pytest.raises(CommandError) as caught:
            await prism.call_tool("grep_code", {"pattern": "x"})
    assert (caught.value.code, caught.value.next_action) == ("repo_not_found", "n")


def test_only_files_above_two_seconds_are_slow():
    files = (SlowFile(path="a.py", milliseconds=2_001), SlowFile(path="b.py", milliseconds=2_000))
    assert slowest_lines(files) == ["  slow: a.py (2.0 s)"]
