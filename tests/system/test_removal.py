"""A removed repository answers as one that never existed, nothing is left of it, and its name is free at once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
from nats.js import JetStreamContext
from nats.js.errors import KeyNotFoundError, NotFoundError
from running_stack import POLL_S, WAIT_SECONDS_MAX, RunningStack
from source_repos import GitRepo
from test_visibility import (
    CREATING_TOOLS,
    HIDDEN,
    HIDDEN_FILES,
    OPEN,
    OPEN_FILES,
    Walk,
    agent,
    calls_of,
    said,
    sent,
)
from visibility_cases import ABSENT, WORD, Names, requests_to, route_cases

from prism_contracts import names
from prism_contracts.base import next_repo_id

TENANT = "removing"
# They report what was done, removals and these calls included.
ACCOUNTS = {"GET /usage", "GET /audit", "GET /feedback"}
# Records that may name the id of a removed repository: of its name, and ids of cancelled jobs, for a while.
KEPT = {names.KV_REPOSITORY_NAMES, names.KV_CANCELLED_JOBS}


class Removed(NamedTuple):
    """A stack with a tenant that has removed a repository, and what named it."""

    walk: Walk
    folder: GitRepo


@pytest.fixture(scope="module")
def removed(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Removed:
    folder = tmp_path_factory.mktemp("removal")
    gone, stays = GitRepo(folder / "gone", HIDDEN_FILES), GitRepo(folder / "stays", OPEN_FILES)
    tenant = asyncio.run(shared_stack.of_tenant(TENANT))
    tenant.index(stays.folder, "--name", OPEN)
    job = tenant.index(gone.folder, "--name", HIDDEN)
    gone.git("switch", "-q", "-c", f"{WORD}-branch")
    gone.write({"zephyr/branch.py": "zephyr_on_branch = 1\n"})
    gone.commit("zephyr on a branch")
    tenant.index(gone.folder, "--name", HIDDEN, "--ref", f"{WORD}-branch")
    with tenant.http() as http:
        body = {"repo": HIDDEN, "files": [{"path": "zephyr/new.py", "content": "zephyr = 1\n"}]}
        overlay = http.post("/api/v1/overlays", json=body).json()
        assert http.post("/api/v1/search", json={"query": "zephyr", "repo": HIDDEN}).json()["results"]
    known = {known["name"]: known["repo"] for known in tenant.get("/api/v1/repos")["repositories"]}
    with shared_stack.http() as http:
        body = {"label": "one", "scopes": ["read", "write", "admin"], "tenant": TENANT}
        token = http.post("/api/v1/developer-tokens", json=body).json()
    of = Names(WORD, "no-such", known[HIDDEN], job["job"], job["commit"], overlay["handle"], "5b7e91a3c0d1")
    walk = Walk(shared_stack, of, token["secret"], "", "", tenant.token)
    with walk.http(walk.limited) as http:
        answer = http.delete(f"/api/v1/repos/{HIDDEN}")
    assert (answer.status_code, answer.json()["repo"]) == (200, HIDDEN)
    return Removed(walk, gone)


def test_no_route_tells_a_removed_repository_from_one_that_never_existed(removed: Removed) -> None:
    walk = removed.walk
    with walk.http(walk.limited) as http:
        for route, case in route_cases(ABSENT).items():
            if case.creates or route in ACCOUNTS:
                continue
            for call, about_none in zip(
                requests_to(route, walk.hidden), requests_to(route, ABSENT), strict=True
            ):
                walk.check(call, sent(http, call), walk.as_hidden(sent(http, about_none)))


async def test_no_tool_tells_a_removed_repository_from_one_that_never_existed(removed: Removed) -> None:
    walk = removed.walk
    async with agent(walk, walk.limited) as client:
        for tool in (await client.list_tools()).tools:
            if tool.name in CREATING_TOOLS:
                continue
            is_reading = tool.annotations.read_only_hint
            gone, absent = (
                calls_of(tool.input_schema, of, OPEN, is_reading=is_reading) for of in (walk.hidden, ABSENT)
            )
            for arguments, about_none in zip(gone, absent, strict=True):
                call = {"tool": tool.name, **arguments}
                expected = walk.as_hidden(await said(client, tool, about_none))
                walk.check(call, await said(client, tool, arguments), expected)


async def test_nothing_is_left_and_the_name_is_free(removed: Removed) -> None:
    """The name is indexed again before or while the old data is deleted."""
    stack, repo = removed.walk.stack, removed.walk.hidden.repo
    tenant = RunningStack(stack.data, PRISM_TOKEN=removed.walk.whole)
    tenant.url, tenant.token = stack.url, removed.walk.whole
    removed.folder.git("rm", "-q", "zephyr/vault.py")
    removed.folder.write({"zephyr/new.py": "zephyr_again = 1\n"})
    removed.folder.commit("zephyr again")
    tenant.index(removed.folder.folder, "--name", HIDDEN)
    [known] = [one for one in tenant.get("/api/v1/repos")["repositories"] if one["name"] == HIDDEN]
    assert known["repo"] == next_repo_id(repo)
    with tenant.http() as http:
        found = http.post("/api/v1/grep", json={"pattern": "zephyr", "repo": HIDDEN}).json()["matches"]
        files = http.get(f"/api/v1/repos/{HIDDEN}/files").json()["files"]
    assert {one["file_path"] for one in found} <= {one["file_path"] for one in files}
    assert "zephyr/vault.py" not in {one["file_path"] for one in files}
    await until_nothing_is_left(stack, TENANT, repo)
    with tenant.http() as http:
        again = http.post("/api/v1/grep", json={"pattern": "zephyr", "repo": HIDDEN}).json()["matches"]
    assert again == found


async def until_nothing_is_left(stack: RunningStack, tenant: str, repo: str) -> None:
    left: list[str] = []
    try:
        async with asyncio.timeout(WAIT_SECONDS_MAX), stack.jetstream() as js:
            while left := points(stack, tenant, repo) + [one async for one in records(js, repo)]:
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise AssertionError(f"still there: {left[:10]}") from None


def points(stack: RunningStack, tenant: str, repo: str) -> list[str]:
    body = {"limit": 10, "filter": {"must": [{"key": "scope", "match": {"prefix": f"{repo}/"}}]}}
    with stack.qdrant() as http:
        answer = http.post(f"/collections/prism_{tenant}/points/scroll", json=body)
    assert answer.status_code == 200, answer.text
    return [f"point {point['id']}" for point in answer.json()["result"]["points"]]


async def records(js: JetStreamContext, repo: str) -> AsyncIterator[str]:
    """Yields the records and objects that have the id of a repository in their name."""
    for stream in await js.streams_info():
        kind, _, bucket = stream.config.name.partition("_")
        if kind == "KV" and bucket not in KEPT:
            info = await js.stream_info(stream.config.name, subjects_filter=f"$KV.{bucket}.*.{repo}.>")
            more = await js.stream_info(stream.config.name, subjects_filter=f"$KV.{bucket}.*.{repo}")
            kv = await js.key_value(bucket)
            for subject in {**(info.state.subjects or {}), **(more.state.subjects or {})}:
                with contextlib.suppress(KeyNotFoundError):
                    await kv.get(subject.removeprefix(f"$KV.{bucket}."))
                    yield subject
        elif kind == "OBJ":
            with contextlib.suppress(NotFoundError):
                for info in await (await js.object_store(bucket)).list(ignore_deletes=True):
                    if repo in (info.name or ""):
                        yield f"{bucket} {info.name}"


@pytest.mark.parametrize("killed", ["ingest", "indexer"])
async def test_a_removal_is_finished_after_a_kill(breakable_stack: RunningStack, killed: str) -> None:
    stack, name = breakable_stack, f"acme/killed-{killed}"
    stack.send(name, {f"src/{number}.py": f"zephyr_{number} = 1\n".encode() for number in range(200)})
    [known] = [one for one in stack.get("/api/v1/repos")["repositories"] if one["name"] == name]
    restarts = stack.state()["services"][killed]["restarts"]
    with stack.http() as http:
        with stack.stopped("indexer"):
            assert http.delete(f"/api/v1/repos/{name}").status_code == 200
            if killed == "ingest":
                stack.kill("ingest")
        if killed == "indexer":
            stack.kill("indexer")
        stack.wait_restarted(killed, restarts + 1)
        await until_nothing_is_left(stack, "default", known["repo"])
        assert http.delete(f"/api/v1/repos/{name}").json()["error"]["code"] == "repo_not_found"
