"""Arguments made from the schema of each tool."""

import itertools
import string
import time
from typing import Any

import httpx2
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from running_stack import Json
from two_tenants import CALLS, FOREIGN, OWN, VICTIM, Field

SECONDS_MAX = 10.0
PROTOCOL = "2025-06-18"
BROKEN = frozenset({"internal", "deadline_exceeded"})
WORDS = [
    *("withdraw", "Account", "Account.withdraw", "limit", "src/accounts.py", "README.md", "src/**", "*", ">"),
    *(
        "acme.>",
        "default.*",
        "../..",
        ".git/config",
        "main",
        "HEAD",
        "\x00",
        "\u202e",
        "🦀",
        "(",
        "[a-",
        "a|b",
    ),
]
# Tools that would remove the caller's own repository get any name but that.
REMOVING = frozenset({"remove_repository"})


def values_of(schema: Json, words: list[str]) -> st.SearchStrategy[Any]:
    """Returns values of a schema, and some that it does not allow."""
    if "anyOf" in schema:
        return st.one_of([values_of(one, words) for one in schema["anyOf"]])
    words_of = st.sampled_from([*schema.get("enum", ()), *words])
    by_type = {
        "boolean": st.booleans(),
        "integer": st.integers(-3, 2_000) | st.sampled_from([2**31, 2**63, -(2**63)]),
        "object": st.dictionaries(words_of, words_of, max_size=3),
    }
    if schema.get("type") == "array":
        return st.lists(values_of(schema.get("items", {}), words), max_size=4)
    return by_type.get(
        schema.get("type"), words_of | st.text(max_size=40) | st.text(string.printable, max_size=400)
    )


def calls_of(tool: Json, known: tuple[str, ...]) -> st.SearchStrategy[tuple[str, Json]]:
    """Returns calls of a tool: about the caller's repository, about the other tenant's, or about any text."""
    own = [] if tool["name"] in REMOVING else [OWN]
    words = [*WORDS, *known]
    schema = tool["inputSchema"]
    fields = {name: values_of(one, words) for name, one in schema.get("properties", {}).items()}
    if "repo" in fields:
        fields["repo"] = st.sampled_from([*own, *own, VICTIM, "", "*"]) | fields["repo"].filter(
            lambda repo: own or repo != OWN
        )
    required = {name: fields.pop(name) for name in (*schema.get("required", ()), "repo") if name in fields}
    arguments = st.fixed_dictionaries(required, optional=fields)
    return st.tuples(st.just(tool["name"]), arguments)


def rpc(http: httpx2.Client, method: str, params: Json) -> httpx2.Response:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return http.post("/mcp?toolsets=all&structured=true", json=body, headers=headers)


def test_no_tool_breaks_leaks_or_hangs(hostile: Field, flat_memory: None) -> None:
    with hostile.stack.http() as http:
        listing = rpc(http, "tools/list", {}).text
        tools = httpx2.Response(200, text=listing.rpartition("data: ")[2] or listing).json()["result"][
            "tools"
        ]
        turns = itertools.count()

        @settings(
            max_examples=CALLS // 2,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.sampled_from(tools).flatmap(lambda tool: calls_of(tool, hostile.known)))
        def check(call: tuple[str, Json]) -> None:
            next(turns)
            name, arguments = call
            started = time.perf_counter()
            answer = rpc(http, "tools/call", {"name": name, "arguments": arguments})
            seconds = time.perf_counter() - started
            assert answer.status_code in {200, 400, 429}, answer.text
            assert FOREIGN not in answer.text.lower(), answer.text
            assert not any(
                f'"code": "{code}"' in answer.text or f'"code":"{code}"' in answer.text for code in BROKEN
            )
            assert seconds < SECONDS_MAX, seconds

        check()
    assert next(turns) >= CALLS // 2
