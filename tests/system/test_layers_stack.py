"""Branches pushed to a local git server and announced by signed webhooks: each layer has the content of its
branch.
"""

import asyncio
import zlib
from collections.abc import Iterator

import pytest
from git_server import git_server
from nats.js.errors import KeyNotFoundError
from running_stack import WAIT_SECONDS_MAX, Json, RunningStack
from source_repos import GitRepo
from test_webhooks import GONE, Forge

from prism_contracts.base import file_id, layer_id, repo_id
from prism_contracts.names import KV_LAYERS, OBJECTS_LAYERS
from prism_contracts.records import Layer, LayerFiles, layer_key

TENANT = "default"


@pytest.fixture(scope="module")
def branches(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    root = tmp_path_factory.mktemp("branches")
    (root / "served").mkdir()
    with git_server(root / "served") as url:
        yield Forge(root, url, shared_stack)


async def layer_of(stack: RunningStack, name: str, ref: str) -> tuple[Layer | None, LayerFiles]:
    """Returns the record of a layer, and its files."""
    async with stack.jetstream() as js:
        records = await js.key_value(KV_LAYERS)
        key = layer_key(TENANT, repo_id(name), layer_id(ref))
        try:
            layer = Layer.model_validate_json((await records.get(key)).value)
        except KeyNotFoundError:
            return None, LayerFiles()
        if not layer.files:
            return layer, LayerFiles()
        stored = await (await js.object_store(OBJECTS_LAYERS)).get(layer.files)
        return layer, LayerFiles.model_validate_json(zlib.decompress(stored.data))


async def shown(stack: RunningStack, name: str, ref: str) -> dict[str, str]:
    """Returns the visible content of a layer: blob by path, according to the points."""
    _, files = await layer_of(stack, name, ref)
    points, repo = stack.points(repo_id(name)), repo_id(name)
    base = {
        point["payload"]["path"]: point["payload"]["blob"]
        for point in points.values()
        if point["payload"]["scope"] == f"{repo}/base"
        and point["payload"].get("status") in {"indexed", "skipped"}
    }
    own = {
        path: points[file_id(TENANT, repo, variant, path)]["payload"]
        for path, variant in files.variants.items()
    }
    return {
        **{path: blob for path, blob in base.items() if path not in files.hidden},
        **{path: payload["blob"] for path, payload in own.items()},
    }


def tree(repo: GitRepo, ref: str) -> dict[str, str]:
    lines = repo.git("ls-tree", "-r", ref).splitlines()
    return {line.partition("\t")[2]: line.split()[2] for line in lines}


async def serves(stack: RunningStack, name: str, ref: str, commit: str) -> Layer:
    """Waits until a layer serves a commit over the served base."""
    layer: Layer | None = None
    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while True:
            layer, _ = await layer_of(stack, name, ref)
            base = next(r for r in stack.get("/api/v1/repos")["repositories"] if r["name"] == name)
            is_over_base = layer is not None and layer.base_version == base["served"]["version"]
            if is_over_base and layer.served and layer.served.commit == commit:
                return layer
            await asyncio.sleep(0.05)


def push(
    branches: Forge, repo: GitRepo, name: str, branch: str, files: dict[str, str], *arguments: str
) -> str:
    """Commits on a branch, pushes it, and announces it as GitHub does."""
    repo.git("checkout", "--quiet", "-B", branch)
    repo.write(files)
    commit = repo.commit()
    repo.git("push", "--quiet", *arguments, "origin", branch)
    answer = branches.post(branches.payload(name, commit, f"refs/heads/{branch}"))
    assert answer.json()["outcome"] == "queued", answer.text
    return commit


async def test_a_branch_is_served_rebased_forced_and_deleted(branches: Forge) -> None:
    name, stack = "branch/life", branches.stack
    repo = branches.repository(name)
    points_before = len(stack.points(repo_id(name)))

    commit = push(branches, repo, name, "topic", {"bank/topic.py": "def only_here():\n    return 1\n"})
    layer = await serves(stack, name, "topic", commit)
    assert await shown(stack, name, "topic") == tree(repo, "topic")
    assert layer.files_changed == 1
    assert len(stack.points(repo_id(name))) == points_before + 2  # a file and its chunk

    # The base moves: the content of the branch does not change.
    repo.git("checkout", "--quiet", "main")
    base = push(
        branches, repo, name, "main", {"bank/account.py": "BALANCE = 0\n", "bank/new.py": "NEW = 1\n"}
    )
    await branches.indexed(name, base)
    await serves(stack, name, "topic", commit)
    assert await shown(stack, name, "topic") == tree(repo, "topic")

    # A forced push to another history.
    repo.git("checkout", "--quiet", "main")
    commit = push(branches, repo, name, "topic", {"bank/forced.py": "FORCED = 1\n"}, "--force")
    await serves(stack, name, "topic", commit)
    assert await shown(stack, name, "topic") == tree(repo, "topic")

    repo.git("push", "--quiet", "origin", "--delete", "topic")
    answer = branches.post(branches.payload(name, GONE, "refs/heads/topic"))
    assert answer.json()["outcome"] == "queued"

    async def is_gone() -> bool:
        return (await layer_of(stack, name, "topic"))[0] is None

    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while not await is_gone():
            await asyncio.sleep(0.05)
    assert branches.layer(name)["commit"] == base


async def test_a_pull_request_is_served_until_it_closes(branches: Forge) -> None:
    name, stack = "branch/pull", branches.stack
    repo = branches.repository(name)
    repo.git("checkout", "--quiet", "-B", "fork")
    repo.write({"bank/pulled.py": "PULLED = 1\n"})
    commit = repo.commit()
    repo.git("push", "--quiet", "origin", "fork:refs/pull/3/head")
    payload: Json = branches.payload(name, commit) | {"number": 3, "pull_request": {"head": {"sha": commit}}}
    assert branches.post(payload | {"action": "opened"}, event="pull_request").json()["outcome"] == "queued"
    await serves(stack, name, "pull/3", commit)
    assert await shown(stack, name, "pull/3") == tree(repo, "fork")
    branches.post(payload | {"action": "closed"}, event="pull_request")
    async with asyncio.timeout(WAIT_SECONDS_MAX):
        while (await layer_of(stack, name, "pull/3"))[0]:
            await asyncio.sleep(0.05)


async def test_layers_and_overlays_over_rest_and_mcp(branches: Forge) -> None:
    name, stack = "branch/doors", branches.stack
    repo = branches.repository(name)
    repo.git("checkout", "--quiet", "-B", "asked")
    repo.write({"bank/asked.py": "ASKED = 1\n"})
    commit = repo.commit()
    repo.git("push", "--quiet", "origin", "asked")
    with stack.http() as http:
        made = http.post("/api/v1/layers", json={"repo": name, "ref": "asked"})
        assert made.status_code == 202, made.text
        assert stack.ended_job(made.json()["job"]["job"])["state"] == "complete"
        await serves(stack, name, "asked", commit)
        unknown = http.post("/api/v1/layers", json={"repo": name, "ref": "nowhere"})
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "ref_not_found")
        body = {
            "repo": name,
            "files": [
                {"path": "bank/mine.py", "content": "MINE = 1\n"},
                {"path": "bank/account.py", "content": None},
            ],
        }
        opened = http.post("/api/v1/overlays", json=body)
        assert opened.status_code == 202, opened.text
        handle = opened.json()["handle"]
        stack.ended_job(opened.json()["job"]["job"])
        seen = await shown(stack, name, handle)
        assert "bank/mine.py" in seen
        assert "bank/account.py" not in seen
        assert http.delete(f"/api/v1/overlays/{handle}", params={"repo": name}).status_code == 200
        assert http.delete(f"/api/v1/overlays/{handle}", params={"repo": name}).status_code == 404
        assert http.delete("/api/v1/layers", params={"repo": name, "ref": "asked"}).status_code == 200
    async with stack.agent(name) as agent:
        made = await agent.ask("create_branch_index", ref="asked")
        assert made["layer"]["ref"] == "asked"
        opened = await agent.ask("open_overlay", files=[{"path": "bank/mine.py", "content": "MINE = 2\n"}])
        stack.ended_job(opened["job"]["job"])
        assert (await agent.ask("close_overlay", handle=opened["handle"]))["deleted"] == opened["handle"]
        assert (await agent.fails("close_overlay", handle=opened["handle"]))["code"] == "ref_not_found"
        assert (await agent.ask("delete_branch_index", ref="asked"))["deleted"] == "asked"
        refused = await agent.fails("open_overlay", files=[{"path": "../x", "content": ""}])
        assert refused["code"] == "invalid_path"


async def test_status_lists_layers(branches: Forge) -> None:
    name, stack = "branch/status", branches.stack
    repo = branches.repository(name)
    commit = push(branches, repo, name, "told", {"bank/told.py": "TOLD = 1\n", "bank/more.py": "MORE = 1\n"})
    await serves(stack, name, "told", commit)
    body = {"repo": name, "base_ref": "told", "files": [{"path": "bank/told.py", "content": "TOLD = 2\n"}]}
    with stack.http() as http:
        opened = http.post("/api/v1/overlays", json=body).json()
    stack.ended_job(opened["job"]["job"])
    status = stack.prism_json("status")
    known = next(one for one in status["repositories"] if one["name"] == name)
    base, branch, overlay = sorted(
        known["layers"], key=lambda layer: ("base", "branch", "overlay").index(layer["kind"])
    )
    assert (base["layer"], base["ref"], base["lag_seconds"]) == ("base", "main", 0)
    assert (branch["ref"], branch["commit"], branch["files"], branch["points"]) == ("told", commit, 2, 4)
    assert branch["expires_at"]
    # Files that an overlay inherits from its branch count as its own too.
    assert (overlay["ref"], overlay["lag_seconds"], overlay["files"]) == (opened["handle"], 0, 2)
    assert known["points"] == base["points"] + 6
    with stack.http() as http:
        http.delete(f"/api/v1/overlays/{opened['handle']}", params={"repo": name})
    status = stack.prism_json("status")
    assert "overlay" not in {
        layer["kind"] for one in status["repositories"] if one["name"] == name for layer in one["layers"]
    }


async def test_any_fetched_commit_can_be_read(branches: Forge) -> None:
    name, stack = "branch/commits", branches.stack
    repo = branches.repository(name)
    old = repo.git("rev-parse", "main")
    text = (repo.folder / "bank/account.py").read_text()
    new = push(
        branches, repo, name, "main", {"bank/account.py": "BALANCE = 0\n", "bank/later.py": "LATER = 1\n"}
    )
    await branches.indexed(name, new)
    async with stack.agent(name) as agent:
        read = await agent.ask("read_file", file_path="bank/account.py", ref=old[:10])
        assert read["content"] == text
        assert (read["receipt"]["ref"], read["receipt"]["indexed_commit"]) == (old, old)
        assert read["receipt"]["indexed_at"] is None
        assert (await agent.ask("read_file", file_path="bank/account.py", ref=new))[
            "content"
        ] == "BALANCE = 0\n"
        listed = await agent.ask("list_files", ref=old, glob="bank/**")
        paths = {file["file_path"] for file in listed["files"]}
        assert paths == {path for path in tree(repo, old) if path.startswith("bank/")}
        first = await agent.ask("list_files", ref=old, limit=1)
        second = await agent.ask("list_files", ref=old, limit=1, cursor=first["next_cursor"])
        assert first["files"][0]["file_path"] < second["files"][0]["file_path"]
        assert (await agent.fails("read_file", file_path="bank/later.py", ref=old))[
            "code"
        ] == "file_not_found"
        assert (await agent.fails("list_files", ref=old, language="python"))["code"] == "invalid_argument"
        unknown = await agent.fails("read_file", file_path="bank/account.py", ref="f" * 40)
        assert unknown["code"] == "ref_not_found"
        assert "create_branch_index" in unknown["next_action"]
