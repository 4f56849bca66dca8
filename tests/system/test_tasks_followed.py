"""A task follows its branch to done: signed webhooks for a local git server, and a workspace that dies meanwhile."""

import os
import signal
from collections.abc import Iterator

import pytest
from forge import GONE, Forge
from git_server import git_server
from running_stack import Json, RunningStack, until
from source_repos import GitRepo

BRANCH_FILE = {"bank/retry.py": "def retry():\n    return 3\n"}


@pytest.fixture(scope="module")
def forge(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    root = tmp_path_factory.mktemp("task-pushes")
    (root / "served").mkdir()
    with git_server(root / "served") as url:
        yield Forge(root, url, shared_stack)


def create(stack: RunningStack, title: str) -> str:
    with stack.http() as http:
        answer = http.post("/api/v1/tasks", json={"title": title})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def task(stack: RunningStack, task_id: str) -> Json:
    return stack.get(f"/api/v1/tasks/{task_id}")


def push(forge: Forge, repo: GitRepo, name: str, branch: str, message: str) -> str:
    """Commits on a new branch, pushes it, and announces it as GitHub does."""
    repo.git("checkout", "--quiet", "-B", branch)
    repo.write(BRANCH_FILE)
    commit = repo.commit(message)
    repo.git("push", "--quiet", "origin", branch)
    assert forge.post(forge.payload(name, commit, f"refs/heads/{branch}")).json()["outcome"] == "queued"
    return commit


def closed(forge: Forge, name: str, branch: str, commit: str, *, merged: bool) -> Json:
    """Returns GitHub's payload of a closed pull request."""
    pull = {
        "head": {"sha": commit, "ref": branch, "repo": {"full_name": name}},
        "base": {"ref": "main", "repo": {"full_name": name}},
        "merged": merged,
        "html_url": f"https://git.example.org/{name}/pull/7",
        "title": "Retry",
        "body": None,
    }
    return forge.payload(name, commit) | {"action": "closed", "number": 7, "pull_request": pull}


async def test_a_push_links_a_task_and_a_merge_completes_it(forge: Forge) -> None:
    name, stack = "forge/followed", forge.stack
    repo = forge.repository(name)
    followed, mentioned = create(stack, "Retry"), create(stack, "Weigh")
    branch = f"feature/{followed[:8]}-retry"
    commit = push(forge, repo, name, branch, f"Retry three times\n\nTask: {mentioned[:8]}")
    await until(lambda: task(stack, followed)["branches"] and task(stack, mentioned)["commits"])
    (branch_link,), (commit_link,) = task(stack, followed)["branches"], task(stack, mentioned)["commits"]
    assert (branch_link["branch_name"], branch_link["repo"]) == (branch, name)
    assert (commit_link["commit_hash"], commit_link["commit_message"]) == (commit, "Retry three times")

    # Closed without a merge, and then merged. The answers come in order, because they are of one queue.
    assert forge.post(closed(forge, name, branch, commit, merged=False), event="pull_request").is_success
    payload = closed(forge, name, branch, commit, merged=True)
    assert forge.post(payload, event="pull_request").json()["outcome"] == "queued"
    await until(lambda: task(stack, followed)["status"] == "complete")
    last = task(stack, followed)["history"][-1]
    assert (last["by"], last["pull_request"], last["url"]) == (
        "pull request", "pull/7", payload["pull_request"]["html_url"],
    )  # fmt: skip
    assert task(stack, mentioned)["status"] == "need to be done"

    repo.git("push", "--quiet", "origin", "--delete", branch)
    assert forge.post(forge.payload(name, GONE, f"refs/heads/{branch}")).json()["outcome"] == "queued"
    before = task(stack, followed)
    repo.git("checkout", "--quiet", "main")
    repo.commit("Go on")
    forge.post(forge.payload(name, forge.push(repo)))
    await forge.indexed(name, repo.head)
    assert task(stack, followed) == before


async def test_a_push_that_workspace_died_over_is_linked_once(forge: Forge) -> None:
    name, stack = "forge/killed", forge.stack
    repo = forge.repository(name)
    named = create(stack, "Retry")
    restarts = stack.state()["services"]["workspace"]["restarts"]
    os.kill(stack.pid("workspace"), signal.SIGSTOP)  # it may have the event by now, and does nothing with it
    repo.write(BRANCH_FILE)
    commit = repo.commit(f"Retry (#{named[:8]})")
    forge.post(forge.payload(name, forge.push(repo)))
    await forge.indexed(name, commit)  # the push is reported before its files are
    stack.kill("workspace")
    stack.wait_restarted("workspace", restarts + 1)
    await until(lambda: task(stack, named)["commits"])
    found = task(stack, named)
    assert [link["commit_hash"] for link in found["commits"]] == [commit]
    assert found["version"] == 2
