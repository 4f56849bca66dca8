"""A token that is limited to one repository, and a token of another tenant, learn nothing of a hidden repository,
through any tool or route.

Each call names the hidden repository, and then one that exists nowhere. The answers are equal but for scores, ids
and times, and none has a name of the hidden repository that the call did not have. A tenant that has only the other
repository answers like a token that is limited to it.
"""

import asyncio
import difflib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Tool
from running_stack import CALL_SECONDS_MAX, NO_TLS, Json, RunningStack
from source_repos import GitRepo
from visibility_cases import ABSENT, CREATING_TOOLS, WORD, Names, calls_of, requests_to, route_cases

from prism_gateway.mcp.toolsets import TOOLS

OPEN, HIDDEN = "acme/ledgers", f"acme/{WORD}vault"
FOREIGN = "unseens"  # a tenant of none of the callers
HIDDEN_FILES = {
    "zephyr/vault.py": '"""The zephyr vault."""\n\n\nclass ZephyrVault:\n    def zephyr_open(self) -> int:\n'
    "        return zephyr_key(1)\n\n\ndef zephyr_key(number: int) -> int:\n    return number\n",
    "zephyr/user.py": "from zephyr.vault import zephyr_key\n\n\ndef zephyr_use():\n    return zephyr_key(2)\n",
    "shared.py": "def shared_by_both():\n    return 'zephyr'\n",
    "README.md": "# Zephyr\n\nKeeps every zephyr.\n",
    "zephyr/asset.zephyrlang": "zephyr\n",
}
OPEN_FILES = {
    "bank/account.py": "class Account:\n    def deposit(self):\n        return shared_by_both()\n",
    "shared.py": "def shared_by_both():\n    return 1\n",
    "README.md": "# Ledgers\n\nKeeps accounts.\n",
}
# Scores weigh words by all files of the tenant; ids and times differ anyway.
VOLATILE = re.compile(
    r'(?<="score": )[\d.e+-]+|(?<="raw_score": )[\d.e+-]+|(?<=seconds": )[\d.e+-]+|(?<=version": )\d+|'
    r'(?<="milliseconds": )[\d.]+|(?<="cached": )(?:true|false|\d+)|(?<="calls": )\d+|'
    r'(?<="code": )"[\w-]{43}"|'  # a sign-in code, which is random
    r'(?<="timings_ms": ){[^}]*}|(?<="slowest": )\[[^\]]*\]|'
    r'(?<="id": ")[0-9a-f]{12}|\b[\d.]+ (?:s|min)\b|'
    r"overlay:[0-9a-f]{20}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"
)


class Walk(NamedTuple):
    """The hidden repository's names, and tokens of callers that may not see it."""

    stack: RunningStack
    hidden: Names
    limited: str  # the same tenant's token, limited to the other repository
    alone: str  # limited to the only repository of its tenant, the other one
    stranger: str  # that tenant's token for all of its repositories
    whole: str  # sees the hidden repository

    def headers(self, token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}"}

    def http(self, token: str) -> httpx2.Client:
        headers = self.headers(token)
        return httpx2.Client(
            base_url=self.stack.url, headers=headers, timeout=CALL_SECONDS_MAX, verify=NO_TLS
        )

    def check(self, call: Json, answer: str, expected: str) -> None:
        """Fails if an answer has a name that the call did not have, or differs from what is expected."""
        asked = json.dumps(call).lower()
        said = [name for name in self.hidden if name in answer.lower() and name not in asked]
        assert not said, (call, said, answer)
        assert plain(answer) == plain(expected), (call, differences(plain(answer), plain(expected)))

    def as_hidden(self, answer: str) -> str:
        """Returns an answer about the repository that exists nowhere, as if it were about the hidden one."""
        return ABSENT.renamed(answer, self.hidden)


def plain(answer: str) -> str:
    return VOLATILE.sub("0", answer).replace("lonely", "visible")


def differences(one: str, other: str) -> list[tuple[str, str]]:
    same = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [
        (one[max(a - 60, 0) : b + 20], other[max(c - 60, 0) : d + 20])
        for t, a, b, c, d in same
        if t != "equal"
    ]


@pytest.fixture(scope="module")
def walk(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    folder = tmp_path_factory.mktemp("visibility")
    hidden = GitRepo(folder / "hidden", HIDDEN_FILES)
    opened = GitRepo(folder / "open", OPEN_FILES)
    both = asyncio.run(shared_stack.of_tenant("visible"))
    alone = asyncio.run(shared_stack.of_tenant("lonely"))
    asyncio.run(shared_stack.of_tenant(FOREIGN))
    both.index(opened.folder, "--name", OPEN)
    alone.index(opened.folder, "--name", OPEN)
    job = both.index(hidden.folder, "--name", HIDDEN)
    hidden.git("switch", "-q", "-c", f"{WORD}-branch")
    hidden.write({"zephyr/branch.py": "zephyr_on_branch = 1\n"})
    hidden.commit("zephyr on a branch")
    both.index(hidden.folder, "--name", HIDDEN, "--ref", f"{WORD}-branch")
    with both.http() as http:
        overlay = http.post(
            "/api/v1/overlays",
            json={"repo": HIDDEN, "files": [{"path": "zephyr/new.py", "content": "zephyr = 1\n"}]},
        ).json()
    known = {known["name"]: known["repo"] for known in both.get("/api/v1/repos")["repositories"]}

    def token(tenant: str, *scopes: str, repo: str = "") -> Json:
        body = {"label": "one", "scopes": scopes, "repos": [repo] if repo else [], "tenant": tenant}
        with shared_stack.http() as http:
            return http.post("/api/v1/developer-tokens", json=body).json()

    names = Names(
        word=WORD,
        tenant=FOREIGN,
        repo=known[HIDDEN],
        job=job["job"],
        commit=job["commit"],
        handle=overlay["handle"],
        token=token("visible", "read", repo=HIDDEN)["token"]["id"],
    )
    assert [len(name) for name in names] == [len(name) for name in ABSENT]
    limited, lone = (
        token(tenant, "read", "write", "admin", repo=OPEN)["secret"] for tenant in ("visible", "lonely")
    )
    return Walk(shared_stack, names, limited, lone, token("lonely", "read", "write")["secret"], both.token)


async def test_no_tool_says_a_byte_of_a_hidden_repository(walk: Walk) -> None:
    calls = 0
    async with (
        agent(walk, walk.limited) as limited,
        agent(walk, walk.alone) as alone,
        agent(walk, walk.stranger) as stranger,
    ):
        tools = (await limited.list_tools()).tools
        for tool in tools:
            is_reading = tool.annotations.read_only_hint
            hidden, absent = (
                calls_of(tool.input_schema, names, OPEN, is_reading=is_reading)
                for names in (walk.hidden, ABSENT)
            )
            for arguments, about_none in zip(hidden, absent, strict=True):
                call = {"tool": tool.name, **arguments}
                answer = await said(limited, tool, arguments)
                walk.check(call, answer, await said(alone, tool, arguments))
                walk.check(call, answer, walk.as_hidden(await said(limited, tool, about_none)))
                if tool.name not in CREATING_TOOLS:
                    foreign = await said(stranger, tool, arguments)
                    walk.check(call, foreign, walk.as_hidden(await said(stranger, tool, about_none)))
                calls += 1
    assert {tool.name for tool in tools} == {tool.name for tool in TOOLS}
    assert calls > 300


@asynccontextmanager
async def agent(walk: Walk, token: str) -> AsyncIterator[Client]:
    url = f"{walk.stack.url}/mcp?toolsets=all&structured=true"
    async with (
        httpx2.AsyncClient(headers=walk.headers(token), timeout=CALL_SECONDS_MAX, verify=NO_TLS) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def said(client: Client, tool: Tool, arguments: Json) -> str:
    result = await client.call_tool(tool.name, arguments)
    return json.dumps([result.is_error, [part.text for part in result.content], result.structured_content])


def test_no_route_says_a_byte_of_a_hidden_repository(walk: Walk) -> None:
    with (
        walk.http(walk.limited) as limited,
        walk.http(walk.alone) as alone,
        walk.http(walk.stranger) as stranger,
    ):
        for route, case in route_cases(ABSENT).items():
            for call, about_none in zip(
                requests_to(route, walk.hidden), requests_to(route, ABSENT), strict=True
            ):
                answer = sent(limited, call)
                walk.check(call, answer, sent(alone, call))
                walk.check(call, answer, walk.as_hidden(sent(limited, about_none)))
                if not case.creates:
                    foreign = sent(stranger, call)
                    walk.check(call, foreign, walk.as_hidden(sent(stranger, about_none)))


def sent(http: httpx2.Client, call: Json) -> str:
    request = {key: call[key] for key in ("params", "json", "headers") if key in call}
    answer = http.request(call["method"], call["path"], **request)
    assert answer.status_code < 500, (call, answer.text)
    return f"{answer.status_code} {json.dumps(answer.json())}"


def test_the_hidden_repository_exists_for_others(walk: Walk) -> None:
    """Otherwise the tests above compare nothing with nothing."""
    with walk.http(walk.whole) as http:
        found = http.post("/api/v1/grep", json={"pattern": WORD, "repo": HIDDEN}).json()
    assert found["matches"]
    with walk.http(walk.limited) as http:
        names = [known["name"] for known in http.get("/api/v1/repos").json()["repositories"]]
        found = http.post("/api/v1/grep", json={"pattern": "shared_by_both"}).json()
    assert names == [OPEN]
    assert {match["repo"] for match in found["matches"]} == {OPEN}
