"""Repositories on a git server, cloned by the stack, by command and by tool."""

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from git_server import git_server
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from running_stack import FINAL, PRISM, RunningStack, until
from source_repos import FILES, SEEN, SKIPPED, GitRepo

NAME = "owner/name"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    return GitRepo(tmp_path_factory.mktemp("origin") / "work", FILES)


@pytest.fixture(scope="module")
def served(origin: GitRepo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that has `owner/name.git` and the empty `owner/empty.git`."""
    root = tmp_path_factory.mktemp("served")
    origin.git("branch", "topic")
    origin.git("clone", "--quiet", "--bare", str(origin.folder), str(root / "owner" / "name.git"))
    subprocess.run(["git", "init", "--quiet", "--bare", root / "owner" / "empty.git"], check=True)
    origin.git("remote", "add", "origin", str(root / "owner" / "name.git"))
    with git_server(root) as url:
        yield url


async def test_a_url_is_cloned_indexed_and_followed(
    shared_stack: RunningStack, served: str, origin: GitRepo
) -> None:
    url = f"{served}/{NAME}.git"
    job = shared_stack.index(url)
    assert (job["repo_name"], job["commit"], job["ref"]) == (NAME, origin.head, "main")
    assert (job["counts"]["indexed"], job["counts"]["skipped"]) == (SEEN - SKIPPED, SKIPPED)

    again = shared_stack.index(url)
    assert again["nothing_changed"]

    origin.write({"bank/fresh.py": "def pushed_later():\n    return 1\n"})
    origin.commit()
    origin.git("push", "--quiet", "origin", "main")
    async with shared_stack.agent(NAME) as agent:
        started = await agent.ask("index_repository", url=url)
        job_id = started["job"]["job"]
        await until(lambda: shared_stack.job(job_id)["state"] in FINAL)
        status = await agent.ask("index_status", job=job_id)
        answer = await agent.ask("search_code", query="pushed_later")
        repos = await agent.ask("list_repos")
    assert status["job"]["state"] == "complete"
    assert status["job"]["counts"]["indexed"] == 1
    assert answer["results"][0]["file_path"] == "bank/fresh.py"
    assert answer["receipt"]["indexed_commit"] == answer["receipt"]["head_commit"] == origin.head
    mine = next(repo for repo in repos["repositories"] if repo["name"] == NAME)
    assert mine["source"] == url


async def test_progress_of_an_import_reaches_agents(shared_stack: RunningStack, served: str) -> None:
    url = f"{served}/{NAME}.git"
    pipes = StdioServerParameters(command=PRISM, args=["mcp", "--structured"], env=shared_stack.environment())
    async with shared_stack.agent() as agent, Client(pipes, cache=None) as over_pipes:
        for number, client in enumerate((agent.client, over_pipes)):
            heard: list[tuple[float, str]] = []

            async def hear(progress: float, _: float | None, message: str | None, heard: Any = heard) -> None:
                heard.append((progress, message))

            arguments = {"url": url, "name": f"acme/progress-{number}"}
            result = await client.call_tool("index_repository", arguments, progress_callback=hear)
            assert result.structured_content["job"]["state"] == "complete", result
            await until(lambda heard=heard: heard[-1][0] == 100)
            assert heard[0][1] == f"fetching acme/progress-{number}"
            assert "100 %" in heard[-1][1]


def test_a_ref_of_a_url_is_indexed(shared_stack: RunningStack, served: str, origin: GitRepo) -> None:
    job = shared_stack.index(f"{served}/{NAME}.git", "--ref", "topic", "--name", "acme/topic")
    assert (job["repo_name"], job["ref"]) == ("acme/topic", "topic")
    assert job["commit"] == origin.git("rev-parse", "topic")


@pytest.mark.parametrize(
    ("path", "arguments", "code"),
    [
        (f"/{NAME}.git", ("--ref", "nowhere"), "ref_not_found"),
        (f"/{NAME}.git", ("--ref", "--upload-pack=touch"), "ref_not_found"),
        ("/owner/missing.git", (), "clone_failed"),
        ("/owner/empty.git", (), "source_empty"),
        ("/moved/owner/name.git", (), "clone_failed"),
    ],
)
def test_a_failed_clone_has_a_code_and_a_next_action(
    shared_stack: RunningStack, served: str, path: str, arguments: tuple[str, ...], code: str
) -> None:
    failed = shared_stack.prism_json(
        "index", served + path, "--wait", "--name", "acme/never", *arguments, exit_code=1
    )
    assert failed["job"]["state"] == "failed"
    assert failed["job"]["error"]["code"] == code
    assert failed["job"]["error"]["next_action"]


async def test_a_never_cloned_repository_is_not_answered_as_empty(
    shared_stack: RunningStack, served: str
) -> None:
    url = f"{served}/owner/missing.git"
    shared_stack.prism_json("index", url, "--wait", "--name", "acme/void", exit_code=1)
    async with shared_stack.agent("acme/void") as agent:
        for tool, asked in (("grep_code", {"pattern": "def"}), ("search_code", {"query": "funds"})):
            error = await agent.fails(tool, **asked)
            assert (error["code"], "index_status" in error["next_action"]) == ("repo_not_indexed", True)
        assert (await agent.ask("index_status", repo="acme/void"))["job"]["error"]["code"] == "clone_failed"


async def test_a_failed_clone_leaves_the_index_unchanged(
    shared_stack: RunningStack, served: str, origin: GitRepo
) -> None:
    url = f"{served}/{NAME}.git"
    first = shared_stack.index(url, "--name", "acme/steady")
    points = shared_stack.points(first["repo"])
    shared_stack.prism_json("index", url, "--name", "acme/steady", "--ref", "gone", "--wait", exit_code=1)
    assert shared_stack.points(first["repo"]) == points
    async with shared_stack.agent("acme/steady") as agent:
        answer = await agent.ask("grep_code", pattern="def transfer_funds")
    assert len(answer["matches"]) == 1
    assert answer["receipt"]["indexed_commit"] == first["commit"]
    assert shared_stack.index(url, "--name", "acme/steady")["nothing_changed"]


async def test_urls_that_must_not_be_cloned_are_refused(shared_stack: RunningStack, served: str) -> None:
    with_password = served.replace("http://", "http://ada:hunter2xyz@") + f"/{NAME}.git"
    refused = shared_stack.prism_json("index", with_password, "--wait", exit_code=1)
    assert refused["error"]["code"] == "clone_refused"
    async with shared_stack.agent() as agent:
        for url in (with_password, "file:///etc", "ext::sh -c true", "ftp://example.org/a/b", "-u", " "):
            error = await agent.fails("index_repository", url=url)
            assert error["code"] == "clone_refused", url
        repos = await agent.ask("list_repos")
    assert "hunter2xyz" not in str(refused) + str(repos)
    assert "hunter2xyz" not in shared_stack.logs(whole=True)


async def test_private_addresses_are_refused_unless_allowed(
    breakable_stack: RunningStack, served: str
) -> None:
    port = served.rpartition(":")[2]
    async with breakable_stack.agent() as agent:
        for url in (
            f"{served}/{NAME}.git",
            f"https://127.0.0.1:{port}/{NAME}.git",
            f"https://localhost:{port}/{NAME}.git",
            "https://10.0.0.1/owner/name.git",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/owner/name.git",
            "https://2130706433/owner/name.git",
            "git://192.168.1.1/owner/name",
        ):
            assert (await agent.fails("index_repository", url=url))["code"] == "clone_refused", url
