"""A token that is limited to one repository learns nothing of another, through any tool or route.

Each call is made twice: by the limited token, and by a tenant that has only the one repository. The answers are
equal but for scores, ids and times, and none has a word of the hidden repository that the call did not have.
"""

import asyncio
import difflib
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Tool
from running_stack import CALL_SECONDS_MAX, Json, RunningStack
from source_repos import GitRepo

OPEN, HIDDEN = "acme/ledgers", "acme/zephyrvault"
# A word of the hidden repository only.
WORD = "zephyr"
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
    r'(?<="messages": )\d+|(?<="bytes": )\d+|(?<="milliseconds": )[\d.]+|(?<="cached": )(?:true|false)|'
    r'(?<="slowest": )\[[^\]]*\]|'
    r'(?<="id": ")[0-9a-f]{12}|\b[\d.]+ (?:s|min)\b|'
    r"overlay:[0-9a-f]{20}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"
)


class Limited(NamedTuple):
    """The hidden repository's names, a token that does not see it, and one of a tenant without it."""

    stack: RunningStack
    hidden: dict[str, str]
    limited: str
    alone: str
    whole: str

    def headers(self, token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}"}

    def http(self, token: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.stack.url, headers=self.headers(token), timeout=CALL_SECONDS_MAX)

    def check(self, call: Json, limited: str, alone: str) -> None:
        asked = json.dumps(call).lower()
        said = [word for word in self.hidden.values() if word in limited.lower() and word not in asked]
        assert not said, (call, said, limited)
        assert plain(limited) == plain(alone), (call, differences(plain(limited), plain(alone)))


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
def limited(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Limited:
    folder = tmp_path_factory.mktemp("visibility")
    hidden = GitRepo(folder / "hidden", HIDDEN_FILES)
    opened = GitRepo(folder / "open", OPEN_FILES)
    both = asyncio.run(shared_stack.of_tenant("visible"))
    alone = asyncio.run(shared_stack.of_tenant("lonely"))
    both.index(opened.folder, "--name", OPEN)
    alone.index(opened.folder, "--name", OPEN)
    job = both.index(hidden.folder, "--name", HIDDEN)
    hidden.git("switch", "-q", "-c", "zephyr-branch")
    hidden.write({"zephyr/branch.py": "zephyr_on_branch = 1\n"})
    hidden.commit("zephyr on a branch")
    both.index(hidden.folder, "--name", HIDDEN, "--ref", "zephyr-branch")
    with both.http() as http:
        overlay = http.post(
            "/api/v1/overlays",
            json={"repo": HIDDEN, "files": [{"path": "zephyr/new.py", "content": "zephyr = 1\n"}]},
        ).json()
    known = {known["name"]: known["repo"] for known in both.get("/api/v1/repos")["repositories"]}
    words = {
        "name": WORD,
        "repo": known[HIDDEN],
        "job": job["job"],
        "commit": job["commit"],
        "handle": overlay["handle"],
    }
    with shared_stack.http() as http:
        body = {"label": "one", "scopes": ["read", "write", "admin"]}
        limited, lone = (
            http.post("/api/v1/developer-tokens", json=body | more).json()["secret"]
            for more in ({"tenant": "visible", "repos": [OPEN]}, {"tenant": "lonely", "repos": [OPEN]})
        )
    return Limited(shared_stack, words, limited, lone, both.token)


def values(tool: Tool, names: dict[str, str]) -> Iterator[Json]:
    """Yields arguments for a tool: every place where a name of the hidden repository fits, in turn."""
    schema, is_reading = tool.input_schema, tool.annotations.read_only_hint
    properties = schema.get("properties", {})
    given = {
        "query": "where is the zephyr kept", "intent": "add a zephyr", "pattern": WORD, "symbol": "zephyr_key",
        "symbols": ["zephyr_key"], "file_path": "zephyr/vault.py", "paths": ["zephyr/vault.py"],
        "source": "zephyr_use", "target": "zephyr_key", "url": "https://example.invalid/acme/zephyrvault",
        "name": HIDDEN, "handle": names["handle"], "job": names["job"], "component": WORD, "line": 1,
        "start_line": 1, "diff": "--- a/zephyr/vault.py\n+++ b/zephyr/vault.py\n@@ -1 +1 @@\n-a\n+b\n",
        "files": [{"path": "zephyr/x.py", "content": "zephyr = 1\n"}], "direction": "callers",
        "language": "zephyrlang", "path_filter": "zephyr/**",
    }  # fmt: skip
    required = set(schema.get("required", ()))
    basic = {name: given[name] for name in properties if name in given and name in required}
    repos = (
        [HIDDEN, "zephyrvault", names["repo"], *(["", OPEN] if is_reading else [])]
        if "repo" in properties
        else [None]
    )
    for repo in repos:
        scope = {} if repo is None else {"repo": repo}
        yield basic | scope
        for name in properties:
            if name in given and name not in basic:
                yield basic | scope | {name: given[name]}
        if "ref" in properties:
            for ref in ("zephyr-branch", names["commit"], names["handle"]):
                yield basic | scope | {"ref": ref}


async def test_no_tool_says_a_byte_of_a_hidden_repository(limited: Limited) -> None:
    calls = 0
    async with agent(limited, limited.limited) as client, agent(limited, limited.alone) as other:
        tools = (await client.list_tools()).tools
        for tool in tools:
            for arguments in values(tool, limited.hidden):
                answers = [said(await one.call_tool(tool.name, arguments)) for one in (client, other)]
                limited.check({"tool": tool.name, **arguments}, *answers)
                calls += 1
    assert len(tools) >= 25
    assert calls > 300


@asynccontextmanager
async def agent(limited: Limited, token: str) -> AsyncIterator[Client]:
    url = f"{limited.stack.url}/mcp?toolsets=all&structured=true"
    async with (
        httpx2.AsyncClient(headers=limited.headers(token), timeout=CALL_SECONDS_MAX) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def said(result: Any) -> str:
    return json.dumps([result.is_error, [part.text for part in result.content], result.structured_content])


def test_no_route_says_a_byte_of_a_hidden_repository(limited: Limited) -> None:
    with limited.http(limited.limited) as http, limited.http(limited.alone) as other:
        paths = http.get("/openapi.json").json()["paths"]
        for path, methods in paths.items():
            for method in methods:
                for call in requests_to(method.upper(), path, limited.hidden):
                    limited.check(call, sent(http, call), sent(other, call))
    assert len(paths) >= 20


def sent(http: httpx2.Client, call: Json) -> str:
    request = {key: call[key] for key in ("params", "json", "headers") if key in call}
    answer = http.request(call["method"], call["path"], **request)
    assert answer.status_code < 500, (call, answer.text)
    return f"{answer.status_code} {json.dumps(answer.json())}"


BODIES: dict[str, Json] = {
    "/search": {"query": "zephyr vault"},
    "/grep": {"pattern": WORD},
    "/repos": {"url": "https://example.invalid/acme/zephyrvault", "name": HIDDEN},
    "/secrets": {"webhook_secret": "zephyr" * 6},
    "/ingest/file": {"path": "zephyr/x.py", "content": "1\n"},
    "/ingest/diff": {"base_commit": "0" * 40, "files": [{"path": "zephyr/x.py", "content": "1\n"}]},
    "/layers": {"ref": "zephyr-branch"},
    "/overlays": {"files": [{"path": "zephyr/x.py", "content": "1\n"}]},
    "/ingest/snapshots": {"repo_name": HIDDEN, "snapshot": "s", "commit": "0" * 40, "files": []},
}


def requests_to(method: str, path: str, names: dict[str, str]) -> Iterator[Json]:
    """Yields requests to a route about the hidden repository: by name, by id, and by the header."""
    body = next((body for end, body in BODIES.items() if path.endswith(end)), None)
    for repo in (HIDDEN, names["repo"]):
        filled = (
            path.replace("{name}", repo).replace("{job}", names["job"]).replace("{handle}", names["handle"])
        )
        filled = filled.replace("{token}", "0" * 12)
        call: Json = {"method": method, "path": filled, "headers": {"X-Prism-Pack": "0" * 64}}
        params = {"ref": "zephyr-branch", "commit": names["commit"]}
        if method == "GET":
            yield call
        if body is not None and method != "GET":
            repo_key = {} if path.endswith(("/repos", "/secrets", "/snapshots")) else {"repo": repo}
            yield call | {"json": body | repo_key}
            yield call | {"json": body, "headers": {"X-Prism-Repo": repo}}
        else:
            yield call | {"params": params | {"repo": repo}}
            yield call | {"params": params, "headers": {**call["headers"], "X-Prism-Repo": repo}}


def test_the_hidden_repository_exists_for_others(limited: Limited) -> None:
    """Otherwise the tests above compare nothing with nothing."""
    with limited.http(limited.whole) as http:
        found = http.post("/api/v1/grep", json={"pattern": WORD, "repo": HIDDEN}).json()
    assert found["matches"]
    with limited.http(limited.limited) as http:
        names = [known["name"] for known in http.get("/api/v1/repos").json()["repositories"]]
        found = http.post("/api/v1/grep", json={"pattern": "shared_by_both"}).json()
    assert names == [OPEN]
    assert {match["repo"] for match in found["matches"]} == {OPEN}
