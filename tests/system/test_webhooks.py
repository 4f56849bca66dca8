"""Pushes announced by a forge: signed as GitHub, GitLab and Gitea sign, for repositories of a local git
server.
"""

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from forge import FORM, GONE, SECRET, Forge
from git_server import LOGIN, git_server
from running_stack import RunningStack, until


@pytest.fixture(scope="module")
def forge(shared_stack: RunningStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    root = tmp_path_factory.mktemp("forge")
    (root / "served").mkdir()
    with git_server(root / "served") as url:
        yield Forge(root, url, shared_stack)


async def test_a_push_is_searchable_and_reads_only_changes(forge: Forge) -> None:
    repo = forge.repository("forge/whole")
    repo.write({"bank/pushed.py": "def pushed_by_webhook():\n    return 1\n"})
    repo.git("mv", "docs/guide.md", "docs/manual.md")
    repo.commit()
    commit = forge.push(repo)
    answer = forge.post(forge.payload("forge/whole", commit))
    assert answer.status_code == 202
    assert answer.json() == {
        "outcome": "queued", "event": "push", "reason": "", "repositories": ["forge/whole"],
    }  # fmt: skip
    await forge.indexed("forge/whole", commit)
    job = forge.stack.newest_job("forge/whole")
    assert (job["state"], job["lane"], job["ref"]) == ("complete", "live", "main")
    # A rename is one added and one removed file.
    assert {key: job["counts"][key] for key in ("seen", "indexed", "removed")} == {
        "seen": 2, "indexed": 2, "removed": 1,
    }  # fmt: skip
    assert job["pushed_at"] <= job["fetched_at"] <= job["planned_at"] <= job["finished_at"]
    async with forge.stack.agent("forge/whole") as agent:
        found = await agent.ask("search_code", query="pushed_by_webhook")
        files = await agent.ask("list_files", glob="docs/*")
        before_an_edit = await agent.ask("prepare_to_edit", symbol="pushed_by_webhook")
    assert found["results"][0]["file_path"] == "bank/pushed.py"
    assert commit.startswith(before_an_edit["changes"]["last"]["commit"])
    assert found["receipt"]["indexed_commit"] == found["receipt"]["head_commit"] == commit
    assert [file["file_path"] for file in files["files"]] == ["docs/manual.md"]


async def test_pushes_add_up_to_a_full_import(forge: Forge) -> None:
    repo = forge.repository("forge/same")
    for step in range(3):
        repo.write(
            {f"step_{step}.py": f"STEP = {step}\n", "bank/account.py": f"def step():\n    return {step}\n"}
        )
        repo.commit()
        forge.post(forge.payload("forge/same", forge.push(repo)))
        await forge.indexed("forge/same", repo.head)
    assert forge.stack.index(f"{forge.url}/forge/same.git")["nothing_changed"]


async def test_a_push_without_changes_ends_at_once(forge: Forge) -> None:
    repo = forge.repository("forge/nothing")
    repo.commit("Empty")
    forge.post(forge.payload("forge/nothing", forge.push(repo)))
    await forge.indexed("forge/nothing", repo.head)
    assert forge.stack.newest_job("forge/nothing")["expected"] == 0


async def test_a_delivery_is_accepted_once(forge: Forge) -> None:
    repo = forge.repository("forge/replay")
    repo.write({"a.py": "A = 1\n"})
    repo.commit()
    payload, delivery = forge.payload("forge/replay", forge.push(repo)), str(uuid.uuid4())
    assert forge.post(payload, delivery=delivery).json()["outcome"] == "queued"
    await forge.indexed("forge/replay", repo.head)
    job = forge.stack.newest_job("forge/replay")
    again = forge.post(payload, delivery=delivery)
    assert (again.status_code, again.json()["outcome"]) == (202, "duplicate")
    assert forge.stack.newest_job("forge/replay")["job"] == job["job"]


async def test_a_failed_delivery_may_be_repeated(forge: Forge) -> None:
    repo = forge.repository("forge/failing")
    repo.write({"a.py": "A = 1\n"})
    repo.commit()
    payload, delivery = forge.payload("forge/failing", forge.push(repo)), str(uuid.uuid4())
    served, away = (forge.root / "served" / f"{name}.git" for name in ("forge/failing", "forge/away"))
    served.rename(away)
    forge.post(payload, delivery=delivery)
    await until(lambda: forge.stack.newest_job("forge/failing")["state"] == "failed")
    assert forge.known("forge/failing")["head_commit"] == repo.head
    assert forge.layer("forge/failing")["commit"] != repo.head
    away.rename(served)
    assert forge.post(payload, delivery=delivery).json()["outcome"] == "queued"
    await forge.indexed("forge/failing", repo.head)


async def test_an_older_push_that_arrives_late_is_ignored(forge: Forge) -> None:
    repo = forge.repository("forge/order")
    repo.write({"a.py": "A = 1\n"})
    older = repo.commit()
    repo.write({"a.py": "A = 2\n"})
    repo.commit()
    newer = forge.push(repo)
    for number, commit in enumerate((newer, older)):
        assert forge.post(forge.payload("forge/order", commit)).json()["outcome"] == "queued"
        await until(lambda at=number: forge.jobs_ended("forge/order") == at + 2)
    assert forge.layer("forge/order")["commit"] == forge.known("forge/order")["head_commit"] == newer


async def test_a_forced_push_replaces_the_history(forge: Forge) -> None:
    repo = forge.repository("forge/forced")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.git("rm", "--quiet", "-r", "--cached", ".")
    (repo.folder / "bank/account.py").unlink()
    repo.commit("Begin again")
    repo.git("branch", "--force", "main", "other")
    repo.git("checkout", "--quiet", "main")
    commit = forge.push(repo, "--force")
    forge.post(forge.payload("forge/forced", commit))
    await forge.indexed("forge/forced", commit)
    async with forge.stack.agent("forge/forced") as agent:
        files = await agent.ask("list_files", glob="bank/*")
    assert not files["files"]
    assert forge.stack.index(f"{forge.url}/forge/forced.git")["nothing_changed"]


async def test_pushes_during_an_import_cause_one_more_import(forge: Forge) -> None:
    repo = forge.repository("forge/busy")
    with forge.stack.stopped("indexer"):
        for step in range(4):
            repo.write({"a.py": f"A = {step}\n"})
            repo.commit()
            assert forge.post(forge.payload("forge/busy", forge.push(repo))).json()["outcome"] == "queued"
            await until(lambda commit=repo.head: forge.known("forge/busy").get("head_commit") == commit)
            await until(lambda: forge.known("forge/busy").get("active_job"))
        await until(lambda: forge.known("forge/busy").get("is_pushed"))
    await forge.indexed("forge/busy", repo.head)
    # The initial import, that of the first push, and one for all pushes during it.
    assert forge.jobs_ended("forge/busy") == 3
    assert not forge.known("forge/busy")["is_pushed"]


@pytest.fixture(scope="module")
def quiet(forge: Forge) -> str:
    """A repository without pushes."""
    forge.repository("forge/quiet")
    return "forge/quiet"


@pytest.mark.parametrize(
    ("event", "ref", "commit", "reason"),
    [
        ("ping", "", "", "the webhook works"),
        ("create", "", "", "Prism handles pushes and pull requests only"),
        ("star", "", "", "Prism handles pushes and pull requests only"),
        ("push", "refs/tags/v1", "a" * 40, "tags are not followed"),
        ("push", "refs/notes/x", "a" * 40, "only branches are followed"),
        ("push", "refs/heads/main", GONE, "the branch was deleted; its index is kept"),
    ],
)
def test_ignored_events_get_a_reason(
    forge: Forge, quiet: str, event: str, ref: str, commit: str, reason: str
) -> None:
    answer = forge.post(forge.payload(quiet, commit, ref), event=event)
    assert answer.status_code == 202
    assert (answer.json()["outcome"], answer.json()["reason"]) == ("ignored", reason)


async def test_a_private_repository_uses_its_login_secretly(forge: Forge) -> None:
    repo = forge.repository("forge/hidden")
    url, name = f"{forge.url}/private/forge/hidden.git", "forge/private"
    failed = forge.stack.prism_json("index", url, "--name", name, "--wait", exit_code=1)
    assert failed["job"]["error"]["code"] == "clone_failed"
    username, password = LOGIN.split(":")
    login = {
        "git_host": forge.url.removeprefix("http://"),
        "git_username": username,
        "git_password": password,
    }
    with forge.stack.http() as http:
        assert http.put(f"/api/v1/repos/{name}/secrets", json={"git_host": "evil.test"}).status_code == 400
        kept = http.put(f"/api/v1/repos/{name}/secrets", json=login)
        assert kept.json() == {"webhook_secret": False, "git_password": True}
    assert forge.stack.index(url, "--name", name)["commit"] == repo.head
    shown = str(forge.stack.get("/api/v1/repos")) + str(forge.stack.get("/api/v1/status")) + kept.text
    assert password not in shown + forge.stack.logs(whole=True)


def test_an_uploaded_repository_is_not_fetched(forge: Forge) -> None:
    forge.stack.send("forge/sent", {"a.py": b"A = 1\n"})
    with forge.stack.http() as http:
        http.put("/api/v1/repos/forge/sent/secrets", json={"webhook_secret": SECRET})
    answer = forge.post(forge.payload("forge/sent", "a" * 40))
    assert (answer.status_code, answer.json()["outcome"]) == (202, "ignored")
    assert "prism index" in answer.json()["reason"]


def test_an_unknown_branch_changes_nothing(forge: Forge, quiet: str) -> None:
    before = forge.known(quiet)
    answer = forge.post(forge.payload(quiet, "a" * 40, "refs/heads/topic"))
    assert answer.json()["outcome"] == "queued"
    # Messages behind it on the same queue have been processed.
    repo = forge.repository("forge/behind")
    forge.post(forge.payload("forge/behind", forge.push(repo)))
    assert forge.known(quiet) == before


def test_without_the_secret_every_answer_is_the_same(forge: Forge, quiet: str) -> None:
    unsigned = forge.payload(quiet, "a" * 40)
    body = json.dumps(unsigned).encode()
    github = {"Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": "1"}
    right = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    answers = [
        forge.post(unsigned, secret="wrong"),
        forge.post(unsigned, secret=""),
        forge.post(forge.payload("no/such", "a" * 40)),
        forge.send(body, **github),
        forge.send(body, **github, **{"X-Hub-Signature-256": ""}),
        forge.send(body, **github, **{"X-Hub-Signature-256": right}),
        forge.send(body + b" ", **github, **{"X-Hub-Signature-256": f"sha256={right}"}),
        forge.send(body, **{**github, "X-Hub-Signature": f"sha256={right}"}),
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    assert SECRET not in answers[0].text + forge.stack.logs(whole=True)


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{}", {"Content-Type": "application/json"}, 400, "invalid_argument"),
        (b"{}", {"Content-Type": "text/plain", "X-GitHub-Event": "push"}, 415, "unsupported_media_type"),
        (b"{}", {"X-GitHub-Event": "push"}, 415, "unsupported_media_type"),
        (b"{", {"Content-Type": "application/json", "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"[]", {"Content-Type": "application/json", "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"{}", {"Content-Type": "application/json", "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"{}", {"Content-Type": "application/json", "X-Gitlab-Event": "Push Hook"}, 401, "unauthenticated"),
        (b"a=b", {"Content-Type": FORM, "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"payload={", {"Content-Type": FORM, "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"\xff", {"Content-Type": FORM, "X-GitHub-Event": "push"}, 401, "unauthenticated"),
        (b"x" * (25 * 1024 * 1024 + 1), {"X-GitHub-Event": "push"}, 413, "payload_too_large"),
    ],
)  # fmt: skip
def test_malformed_webhooks_are_refused(
    forge: Forge, body: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    answer = forge.send(body, **headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    "body", ['{"full_name": "%s"', '["full_name", {"full_name": "%s"}]', '{"full_name": "%s"}']
)
def test_signed_bodies_with_invalid_fields_are_refused(forge: Forge, quiet: str, body: str) -> None:
    content = (body % quiet).encode()
    signature = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-GitHub-Event": "push"}
    answer = forge.send(content, **headers, **{"X-Hub-Signature-256": f"sha256={signature}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_argument")


async def test_a_form_of_github_is_accepted(forge: Forge) -> None:
    repo = forge.repository("forge/form")
    repo.commit("Empty")
    body = urlencode({"payload": json.dumps(forge.payload("forge/form", forge.push(repo)))}).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    answer = forge.send(
        body,
        **{
            "Content-Type": FORM,
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        },
    )
    assert answer.json()["outcome"] == "queued"
    await forge.indexed("forge/form", repo.head)


async def test_pushes_of_gitlab_and_gitea_are_accepted(forge: Forge) -> None:
    repo = forge.repository("forge/others")
    repo.commit("For GitLab")
    payload = forge.payload("forge/others", forge.push(repo))
    gitlab = {
        "object_kind": "push",
        "ref": payload["ref"],
        "after": payload["after"],
        "project": {
            "path_with_namespace": "somewhere/else",
            "git_http_url": payload["repository"]["clone_url"],
            "default_branch": "main",
        },
    }
    headers = {"Content-Type": "application/json", "X-Gitlab-Event": "Push Hook", "X-Gitlab-Event-UUID": "1"}
    body = json.dumps(gitlab).encode()
    assert forge.send(body, **headers, **{"X-Gitlab-Token": "wrong"}).status_code == 401
    assert forge.send(body, **headers, **{"X-Gitlab-Token": SECRET}).json()["outcome"] == "queued"
    await forge.indexed("forge/others", repo.head)

    repo.commit("For Gitea")
    body = json.dumps(forge.payload("forge/others", forge.push(repo))).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Gitea-Event": "push",
        "X-GitHub-Event": "push",
        "X-Gitea-Delivery": "1",
    }
    assert forge.send(body, **headers, **{"X-Gitea-Signature": "0" * 64}).status_code == 401
    assert forge.send(body, **headers, **{"X-Gitea-Signature": signature}).json()["outcome"] == "queued"
    await forge.indexed("forge/others", repo.head)


async def test_a_damaged_mirror_is_cloned_again(forge: Forge) -> None:
    repo = forge.repository("forge/damaged")
    for pack in (forge.stack.data / "cache").rglob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"not a pack any more")
    repo.write({"a.py": "A = 1\n"})
    repo.commit()
    forge.post(forge.payload("forge/damaged", forge.push(repo)))
    await forge.indexed("forge/damaged", repo.head)
    assert forge.stack.newest_job("forge/damaged")["state"] == "complete"


def test_a_new_secret_replaces_the_old_one_at_once(forge: Forge, quiet: str) -> None:
    with forge.stack.http() as http:
        assert (
            http.put(f"/api/v1/repos/{quiet}/secrets", json={"webhook_secret": "another"}).status_code == 200
        )
    try:
        assert forge.post(forge.payload(quiet, ""), event="ping").status_code == 401
        assert forge.post(forge.payload(quiet, ""), event="ping", secret="another").status_code == 202
    finally:
        with forge.stack.http() as http:
            http.put(f"/api/v1/repos/{quiet}/secrets", json={"webhook_secret": SECRET})
