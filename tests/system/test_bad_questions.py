"""Odd questions over MCP and REST: each gets an answer, or an error with a code and a next step. Never a 500,
never a hang.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from running_stack import RunningStack

LEDGER, SEVERAL = "acme/ledger", "acme/withdrawals"
SEARCHES = ("search_code", "search_docs")
TOOLS = (*SEARCHES, "grep_code")
ROUTES: dict[str, tuple[str, dict[str, str]]] = {
    "search_code": ("search", {}),
    "search_docs": ("search", {"corpus": "docs"}),
    "grep_code": ("grep", {}),
}
LARGE = 10**30


class Case(NamedTuple):
    """Arguments beside the question, the tools to call, and the expected error code (empty for an answer)."""

    name: str
    tools: Iterable[str]
    arguments: dict[str, Any]
    code: str = ""
    is_brought_into_range: bool = False  # over MCP, which then answers


def asked(text: str, name: str, code: str = "", grep_code: str | None = None, **more: Any) -> list[Case]:
    """The same text as a question and as a pattern."""
    return [
        Case(name, SEARCHES, {"query": text}, code),
        Case(name, ("grep_code",), {"pattern": text, **more}, code if grep_code is None else grep_code),
    ]


CASES = [
    *asked("a", "one letter"),
    *asked("ß", "one letter that is not ASCII"),
    *asked("7", "one digit"),
    *asked("!@#$%^&*()[]{};:'\"\\|,.<>/?`~", "punctuation"),
    *asked("the of and is it", "stop words"),
    *asked("提款 転送 출금", "CJK"),
    *asked("снять деньги", "Cyrillic"),
    *asked("سحب المال", "Arabic"),
    *asked("\u202eyenom wardhtiw", "right to left"),
    *asked("🦀🔥 👩‍👩‍👧", "emoji"),
    *asked("\x01\x02\x1b[31m\x7f", "control characters"),
    *asked("\ufffd\ufffe\U0010ffff", "no characters"),
    *asked("with\0draw", "NUL", grep_code="invalid_regex"),
    *asked('{"must": [{"key": "scope"}]} OR 1=1 --', "looks like a filter"),
    *asked("w" * 1_000, "a long word"),
    *asked("withdraw " * 444, "3,996 characters", grep_code="query_too_long"),
    *asked("x" * 100_000, "100,000 characters", "query_too_long"),
    *asked("", "nothing", "empty_query"),
    Case("blanks", SEARCHES, {"query": " \n\t "}, "empty_query"),
    Case("blanks", ("grep_code",), {"pattern": " \t "}),
    # Regular expressions
    *(
        Case(f"regex {pattern[:12]}", ("grep_code",), {"pattern": pattern, "regex": True}, "invalid_regex")
        for pattern in ("(", "[", "*", "a{2,1}", r"(a)\1", "(?<=x)y", r"\w{1000}", "((a{100}){100}){100}", r"a\nb", "(" * 300)
    ),
    *(
        Case(f"regex {pattern[:12]}", ("grep_code",), {"pattern": pattern, "regex": True, "output_mode": mode})
        for pattern in ("^", "x*", "|", "()", r"\b|", "(a+)+$" * 20, "(?:(?:a?){30}){30}zq", r"(\w+\s+\w*){100}[?]")
        for mode in ("content", "files_with_matches", "count")
    ),
    # Filters
    *(
        Case(f"filter {arguments}", TOOLS, arguments)
        for arguments in ({"path_filter": "none/**"}, {"path_filter": "["}, {"path_filter": "\0"}, {"path_filter": "../**"})
    ),
    Case("glob too long", TOOLS, {"path_filter": "x" * 2_000}, "invalid_argument"),
    Case("glob of brackets", TOOLS, {"path_filter": "{" * 30}, "invalid_argument"),
    Case("a language without files", ("search_code", "grep_code"), {"language": "Kotlin"}),
    Case("no language", ("search_code", "grep_code"), {"language": "klingon"}, "invalid_argument"),
    Case("no language", ("search_code", "grep_code"), {"language": "\0" * 99}, "invalid_argument"),
    Case("a kind without symbols", ("search_code",), {"kind": "trait"}),
    Case("no kind", ("search_code",), {"kind": "klass"}, "invalid_argument"),
    Case("no repository", TOOLS, {"repo": "no/such"}, "repo_not_found"),
    Case("no repository", TOOLS, {"repo": "\0" * 200}, "repo_not_found"),
    Case("a long name", TOOLS, {"repo": "\0" * 5_000}, "invalid_argument"),
    # Bounds
    *(
        Case(f"limit {limit}", TOOLS, {"limit": limit}, "invalid_argument", is_brought_into_range=isinstance(limit, int))
        for limit in (0, -1, 1_000_000, LARGE, 1.5, "ten", [], {})
    ),
    *(Case(f"context {lines}", ("grep_code",), {"context_lines": lines}, "invalid_argument", is_brought_into_range=True) for lines in (-1, 21, LARGE)),
    *(Case(f"budget {tokens}", SEARCHES, {"max_tokens": tokens}, "invalid_argument", is_brought_into_range=True) for tokens in (0, -1, LARGE)),
    Case("no detail", ("search_code",), {"detail": "huge"}, "invalid_argument"),
    Case("no mode", ("grep_code",), {"output_mode": "words"}, "invalid_argument"),
    Case("no argument", TOOLS, {"surprise": 1}, "invalid_argument"),
    Case("a tenant", TOOLS, {"tenant": "other"}, "invalid_argument"),
    *(
        Case(f"cursor {cursor[:8]!r}", TOOLS, {"cursor": cursor}, "invalid_cursor")
        for cursor in ("forged", "\0", "é", "bm90IGEgY3Vyc29y", "eyJhIjoxfQ==", "W10", "x" * 10_000)
    ),
]  # fmt: skip


def complete(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments with a default question."""
    return {"pattern" if tool == "grep_code" else "query": "withdraw", **arguments}


async def outcome(
    stack: RunningStack, way: str, tool: str, **arguments: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the answer and the error, one of which is empty."""
    arguments = complete(tool, arguments)
    if way == "MCP":
        async with stack.agent(LEDGER) as agent:
            result = await agent.client.call_tool(tool, arguments)
        content = result.structured_content
        return ({}, content["error"]) if result.is_error else (content, {})
    route, more = ROUTES[tool]
    with stack.http(**{"X-Prism-Repo": LEDGER}) as http:
        reply = http.post(f"/api/v1/{route}", json=arguments | more)
    assert reply.status_code < 500, (arguments, reply.text)
    body = reply.json()
    assert (reply.status_code == 200) is ("error" not in body)
    return ({}, body["error"]) if "error" in body else (body, {})


@pytest.mark.parametrize("way", ["MCP", "REST"])
@pytest.mark.usefixtures("ledger")
async def test_each_question_gets_an_answer_or_a_next_action(shared_stack: RunningStack, way: str) -> None:
    for case in CASES:
        for tool in case.tools:
            what = (tool, case.name)
            answer, error = await outcome(shared_stack, way, tool, **case.arguments)
            is_answered = case.is_brought_into_range and way == "MCP"
            assert error.get("code", "") == ("" if is_answered else case.code), (what, error)
            if error:
                assert error["message"], what
                assert error["next_action"], what
                continue
            assert answer["receipt"]["files_indexed"], what
            if tool == "grep_code":
                assert answer["complete"] or answer["next_cursor"], what
            else:
                assert answer["results"] or answer["diagnostics"]["reason"], what


@pytest.fixture(scope="module")
def several(shared_stack: RunningStack) -> str:
    """A repository in which several files match, in code and in prose."""
    files = {
        f"docs/{name}.md": f"# {name}\n\nHow to withdraw {name}.\n".encode()
        for name in ("coins", "notes", "bonds")
    }
    files |= {
        f"src/{name}.py": f"def withdraw_{name}():\n    pass\n".encode()
        for name in ("coins", "notes", "bonds")
    }
    shared_stack.send(SEVERAL, files)
    return SEVERAL


@pytest.mark.parametrize("way", ["MCP", "REST"])
async def test_cursor_is_bound_to_question_tool_and_tenant(
    shared_stack: RunningStack, several: str, way: str
) -> None:
    cursors = {}
    for tool in TOOLS:
        answer, _ = await outcome(shared_stack, way, tool, repo=several, limit=1)
        cursors[tool] = answer["next_cursor"]
        assert cursors[tool], tool
    other = await shared_stack.of_tenant(f"cursors-{way.lower()}")
    other.send(several, {"bank/account.py": b"def withdraw(): ...\n" * 9, "docs/guide.md": b"withdraw\n" * 9})
    for tool in TOOLS:
        for stack, changes in (
            (other, {}),
            (shared_stack, {"pattern" if tool == "grep_code" else "query": "transfer"}),
            (shared_stack, {"path_filter": "**"}),
            (shared_stack, {"cursor": cursors["grep_code" if tool == "search_code" else "search_code"]}),
        ):
            asked = {"repo": several, "limit": 1, "cursor": cursors[tool], **changes}
            _, error = await outcome(stack, way, tool, **asked)
            assert error.get("code") == "invalid_cursor", (tool, changes)


@pytest.mark.parametrize("way", ["MCP", "REST"])
async def test_ranked_cursor_of_an_older_index_is_refused(shared_stack: RunningStack, way: str) -> None:
    stack = await shared_stack.of_tenant(f"stale-{way.lower()}")
    files = {f"{name}.md": b"# Withdraw\n\nwithdraw\n" for name in "abcd"}
    stack.send(LEDGER, files)
    first = {tool: (await outcome(stack, way, tool, limit=2))[0] for tool in TOOLS}
    stack.send(LEDGER, files | {"a.md": b"withdraw\n" * 3})
    for tool in SEARCHES:
        _, error = await outcome(stack, way, tool, limit=2, cursor=first[tool]["next_cursor"])
        assert error["code"] == "invalid_cursor"
        assert "changed" in error["message"]
    # A cursor of path and line is valid in any index.
    last = first["grep_code"]["matches"][-1]
    rest, _ = await outcome(stack, way, "grep_code", limit=99, cursor=first["grep_code"]["next_cursor"])
    places = [(match["file_path"], match["line"]) for match in rest["matches"]]
    assert places[0] > (last["file_path"], last["line"])
    assert places[-1][0] == "d.md"


@pytest.mark.parametrize("way", ["MCP", "REST"])
async def test_pages_of_hits_add_up_to_the_whole(shared_stack: RunningStack, several: str, way: str) -> None:
    for tool in SEARCHES:
        whole, _ = await outcome(shared_stack, way, tool, repo=several, limit=20)
        pages, cursor = [], ""
        while not pages or cursor:
            page, _ = await outcome(shared_stack, way, tool, repo=several, limit=2, cursor=cursor)
            pages += page["results"]
            cursor = page["next_cursor"]
        assert [place(hit) for hit in pages] == [place(hit) for hit in whole["results"]]
        assert len({place(hit) for hit in pages}) == len(pages) > 2


def place(hit: dict[str, Any]) -> tuple[str, int]:
    return hit["file_path"], hit["start_line"]


@pytest.mark.parametrize("way", ["MCP", "REST"])
@pytest.mark.usefixtures("ledger")
async def test_an_empty_answer_names_the_filter(shared_stack: RunningStack, way: str) -> None:
    for arguments, reason in (
        ({"language": "kotlin"}, "no indexed file passes language 'kotlin'"),
        ({"path_filter": "none/**"}, "no indexed file passes path_filter 'none/**'"),
        ({"kind": "trait"}, "no leg found anything that passes kind 'trait'"),
        ({"source_only": True, "path_filter": "docs/*"}, "filters dropped every candidate (source_only 1)"),
    ):
        answer, _ = await outcome(shared_stack, way, "search_code", query="withdrew money", **arguments)
        diagnostics = answer["diagnostics"]
        assert (answer["results"], answer["confidence"]) == ([], "none")
        assert diagnostics["reason"].startswith(reason)
        assert diagnostics["words"] == ["withdrew", "money"]
        assert diagnostics["nothing_because"]["exact"] == "the question contains no symbol name"


@pytest.mark.parametrize("way", ["MCP", "REST"])
@pytest.mark.usefixtures("ledger")
async def test_hits_are_shown_short_or_with_their_file(shared_stack: RunningStack, way: str) -> None:
    full, _ = await outcome(
        shared_stack, way, "search_code", query="withdraw", detail="full", include_file_context=True
    )
    compact, _ = await outcome(shared_stack, way, "search_code", query="withdraw", detail="compact")
    assert [place(hit) for hit in compact["results"]] == [place(hit) for hit in full["results"]]
    assert not any(hit["content"] for hit in compact["results"])
    best = full["results"][0]
    assert best["content"]
    assert any("withdraw" in line for line in best["file_context"]["definitions"])
    cut, _ = await outcome(shared_stack, way, "search_code", query="withdraw", limit=20, max_tokens=200)
    assert cut["truncated"]
    assert cut["next_cursor"]
    assert sum(len(hit["content"]) for hit in cut["results"]) < 200 * 4 + 100
