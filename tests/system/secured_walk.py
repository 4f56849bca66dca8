"""Everything that callers and forges can make a stack do, in one walk of a few seconds."""

import hashlib
import hmac
import json
import random
import string
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx2
from nats.js import JetStreamContext
from running_stack import FINAL, Json, until, wait_until
from scip_files import FILES, index, parcels
from secured_stack import SecuredStack
from source_repos import GitRepo
from visibility_cases import WORD, Names, calls_of, requests_to, route_cases

from prism_contracts.access import SERVICES
from prism_contracts.base import Lane
from prism_contracts.events import DeepModelStarted
from prism_contracts.names import DEAD_LETTERS, KV_MODEL_VERSIONS
from prism_contracts.records import DEEP_MODEL_KEY, ModelVersion
from prism_contracts.topics import DEEP_STARTED, REPO_INDEXED

REPO = f"acme/{WORD}vault"
BRANCH = f"{WORD}-branch"
SECRET = "a secret of the forge"
# A secret that was committed. Put together, so that no scanner finds it here.
COMMITTED = "AKIA" + "IOSFODNN7EXAMPLX"
# Larger than a message may be, although compressed.
LARGE_BYTES, LINE_CHARS = 1_040_000, 99
# Answers of a stack that misses a part of itself.
BROKEN = frozenset({"unavailable", "deadline_exceeded", "internal"})
# They end what the others need.
LAST_ROUTES = (
    "DELETE /overlays/{handle}", "DELETE /layers", "DELETE /jobs/{job}", "DELETE /search-history",
    "DELETE /developer-tokens/{token}", "DELETE /tenants/{tenant}", "DELETE /repos/{name:path}",
)  # fmt: skip
LAST_TOOLS = ("close_overlay", "delete_branch_index", "cancel_job", "remove_repository")
SOURCES = {
    f"{WORD}/vault.py": f"from {WORD}.keys import {WORD}_key\n\n\ndef {WORD}_use():\n    return {WORD}_key(1)\n",
    f"{WORD}/keys.py": f"def {WORD}_key(number: int) -> int:\n    return number\n",
    f"{WORD}/image.png": b"\x89PNG\0",
    f"{WORD}/login.py": f'{WORD}_login = "{COMMITTED}"\n',
    "README.md": f"# {WORD}\n",
}


async def walk(stack: SecuredStack, folder: Path, git_url: str) -> list[str]:
    """Index, push, edit, ask every tool and route, bury a message of each consumer, and delete everything.

    Returns the calls that a part of Prism did not answer.
    """
    names = _prepare(stack, folder, git_url)
    _open_console(stack)
    _write_document(stack)
    _push_documents(stack, folder, git_url)
    _make_a_document_stale(stack)
    broken = await _tools(stack, names, are_last=False)
    broken += _routes(stack, names, are_last=False)
    await _start_deep_model(stack)
    await _poison(stack)
    await _drop_a_letter(stack)
    broken += await _tools(stack, names, are_last=True)
    broken += _routes(stack, names, are_last=True)
    wait_until(lambda: not _served_commit(stack), what="the repository is deleted")
    await until(lambda: _is_removed(stack, names.tenant), what="the tenant is removed")
    return broken


def _open_console(stack: SecuredStack) -> None:
    """Signs in to the console by a one-time code, opens a page, and signs out."""
    with stack.http() as http:
        code = http.post("/api/v1/sign-in-codes").raise_for_status().json()["code"]
        signed_in = http.get("/login", params={"code": code}, headers={"Sec-Fetch-Site": "none"})
        assert signed_in.headers["location"] == "/repos", signed_in.text
        http.get("/repos").raise_for_status()
        http.post("/logout", headers={"Sec-Fetch-Site": "same-origin"})
        assert http.get("/repos").headers["location"] == "/login?next=/repos"


def _write_document(stack: SecuredStack) -> None:
    """Writes a document that names code, commits it and finds it."""
    content = f"`{WORD}_key` is in `{REPO}: {WORD}/keys.py:1`.\n"
    with stack.http() as http:
        for path, body in (
            ("documents", {"title": "Keys", "content": content}),
            ("documents/commit", {"message": "Keep it"}),
            ("documents/search", {"query": "keys"}),
        ):
            http.post(f"/api/v1/{path}", json=body).raise_for_status()


def _push_documents(stack: SecuredStack, folder: Path, git_url: str) -> None:
    """Pushes the documents to a repository of the team."""
    bare = folder / "served" / "documents.git"
    for command in (
        ("init", "--quiet", "--bare", str(bare)),
        ("-C", str(bare), "config", "http.receivepack", "true"),
    ):
        subprocess.run(["git", *command], check=True)
    with stack.http() as http:
        remote = {"url": f"{git_url}/documents.git"}
        http.put("/api/v1/documents/remote", json=remote).raise_for_status()
        pushed = http.post("/api/v1/documents/push").raise_for_status().json()
        assert not pushed["pending_push"], pushed
        http.delete("/api/v1/documents/remote").raise_for_status()


def _make_a_document_stale(stack: SecuredStack) -> None:
    """Writes a document that names a line of few characters, and edits, then removes it without a commit."""
    with stack.http() as http:
        body = {"title": "Sent", "content": "See `acme/sent: a.py:1`.\n"}
        document = http.post("/api/v1/documents", json=body).raise_for_status().json()["document_id"]

        def stale() -> list[tuple[str, str]]:
            found = http.get(f"/api/v1/documents/{document}/metadata").raise_for_status().json()
            return [(one["reason"], one["commit"]) for one in found["metadata"]["stale"]]

        for edit, reason in (({"content": "a = 2\n"}, "text_changed"), ({"removed": True}, "file_gone")):
            file = {"repo": "acme/sent", "path": "a.py"} | edit
            http.post("/api/v1/ingest/file", json=file).raise_for_status()
            wait_until(lambda now=reason: stale() == [(now, "uncommitted")], what=f"a document is {reason}")


async def _start_deep_model(stack: SecuredStack) -> None:
    """Records a deep model, as its embedder does, so that the indexer asks for vectors."""
    async with stack.logged_in("operator") as (connection, _):
        js = connection.jetstream()
        model = ModelVersion(version="deep", dimension=4)
        bucket = await js.key_value(KV_MODEL_VERSIONS)
        await bucket.put(DEEP_MODEL_KEY, model.model_dump_json().encode())
        started = DeepModelStarted(model=model.version, start="1").model_dump_json().encode()
        await js.publish(DEEP_STARTED.subject(Lane.BULK), started)


def _prepare(stack: SecuredStack, folder: Path, git_url: str) -> Names:
    large = "\n".join(
        "".join(random.Random(line).choices(string.printable[:95], k=LINE_CHARS))
        for line in range(LARGE_BYTES // (LINE_CHARS + 1))
    )
    repo = GitRepo(folder / "work", {**FILES, **SOURCES, f"{WORD}/large.txt": large})
    old = repo.head
    repo.commit()
    bare = folder / "served" / f"{REPO}.git"
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(bare))
    repo.git("remote", "add", "origin", str(bare))
    _tenant(stack, "strangers")
    with stack.http() as http:
        http.put(f"/api/v1/repos/{REPO}/secrets", json={"webhook_secret": SECRET}).raise_for_status()
    job = stack.index(f"{git_url}/{REPO}.git")
    repo.write({f"{WORD}/pushed.py": "def pushed():\n    return 1\n"})
    (repo.folder / "README.md").unlink()
    pushed = repo.commit()
    repo.git("push", "--quiet", "origin", "main")
    _push(stack, git_url, pushed)
    wait_until(lambda: _served_commit(stack) == pushed, what="the push is indexed")
    repo.git("switch", "-q", "-c", BRANCH)
    repo.write({f"{WORD}/branch.py": "from parcels.depot import Depot\n"})
    repo.commit()
    repo.git("push", "--quiet", "origin", BRANCH)
    with stack.http() as http:
        layer = http.post("/api/v1/layers", json={"repo": REPO, "ref": BRANCH}).json()
    stack.ended_job(layer["job"]["job"])
    stack.send("acme/sent", {"a.py": b"a = 1\n"})
    scip = folder / "index.scip"
    scip.write_bytes(index(*parcels()))
    upload = ("scip", str(scip), "--repo", REPO, "--commit", pushed)
    assert stack.prism_json(*upload)["stored"]
    [listed] = stack.prism_json("scip", "--list", "--repo", REPO)["indexes"]
    removed = stack.prism_json("scip", "--remove", listed["indexer"], "--repo", REPO)["removed"]
    assert removed == listed
    assert stack.prism_json(*upload)["stored"]
    files = [{"path": f"{WORD}/x.py", "content": "1\n"}]
    with stack.http() as http:
        # A job that waits for its files can be cancelled.
        waiting, _ = stack.open_snapshot("acme/waiting", {"a.py": b"a = 1\n"})
        assert http.delete(f"/api/v1/jobs/{waiting['job']}").status_code == 200
        overlay = http.post("/api/v1/overlays", json={"repo": REPO, "files": files}).json()
        body = {"label": "one", "scopes": ["read"], "tenant": "strangers"}
        token = http.post("/api/v1/developer-tokens", json=body).json()["token"]["id"]
    stack.ended_job(overlay["job"]["job"] if "job" in overlay else job["job"])
    # Answers are cached while no import runs.
    wait_until(lambda: _is_quiet(stack), what="all imports have ended")
    return Names(WORD, "strangers", job["repo"], job["job"], old, overlay["handle"], token)


def _tenant(stack: SecuredStack, tenant: str) -> None:
    with stack.http() as http:
        http.put("/api/v1/search-history", json={"is_on": True}).raise_for_status()
        made = http.post("/api/v1/tenants", json={"id": tenant, "plan": "team"})
    assert made.status_code in (200, 201), made.text
    # Its plan has limits, which are counted.
    own = {"Authorization": f"Bearer {made.json()['secret']}", "Idempotency-Key": str(uuid.uuid4())}
    with httpx2.Client(base_url=stack.url, headers=own) as http:
        for body in ({"repo": "acme/theirs", "path": "a.py", "content": "a = 1\n"},) * 2:
            http.post("/api/v1/ingest/file", json=body)


def _is_quiet(stack: SecuredStack) -> bool:
    ended = FINAL | {"cancelled"}
    return all(job["state"] in ended for job in stack.get("/api/v1/jobs")["jobs"])


def _push(stack: SecuredStack, git_url: str, commit: str) -> None:
    body = json.dumps(
        {
            "ref": "refs/heads/main",
            "before": "1" * 40,
            "after": commit,
            "repository": {
                "full_name": REPO,
                "clone_url": f"{git_url}/{REPO}.git",
                "default_branch": "main",
            },
        }
    ).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "1",
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    }
    with stack.http() as http:
        answer = http.post("/api/v1/ingest/webhook", content=body, headers=headers)
    assert answer.status_code == 202, answer.text


def _served_commit(stack: SecuredStack) -> str:
    with stack.http() as http:
        answer = http.get(f"/api/v1/repos/{REPO}/status")
    return answer.json()["served_commit"] if answer.status_code == 200 else ""


async def _tools(stack: SecuredStack, names: Names, *, are_last: bool) -> list[str]:
    broken = []
    async with stack.agent(REPO) as agent:
        known = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        for name in LAST_TOOLS if are_last else sorted(known.keys() - set(LAST_TOOLS)):
            calls = calls_of(known[name].input_schema, names, REPO, is_reading=False)
            by_name = [one for one in calls if one.get("repo", REPO) == REPO]
            for arguments in (*by_name, *_further_calls(names).get(name, ())):
                _, code = await agent.outcome(name, **arguments)
                if code in BROKEN:
                    broken.append(f"{name} {arguments}: {code}")
    return broken


def _further_calls(names: Names) -> Mapping[str, Sequence[Json]]:
    """Arguments that matter together."""
    file = f"{WORD}/keys.py"
    return {
        "create_task": [{"title": "Change the keys", "repo": REPO}],
        "get_context": [{"question": f"Who calls {WORD}_key in {file}?", "mode": "deep"}],
        "find_references": [{"symbols": [f"{WORD}_key"], "include_bodies": True}],
        "read_file": [{"file_path": file, "ref": names.commit}, {"file_path": file, "ref": BRANCH}],
    }


def _routes(stack: SecuredStack, names: Names, *, are_last: bool) -> list[str]:
    broken = []
    cases = route_cases(names)
    with stack.http() as http:
        for route in LAST_ROUTES if are_last else [one for one in cases if one not in LAST_ROUTES]:
            call = next(iter(requests_to(route, names)))
            request = {key: call[key] for key in ("params", "json", "headers") if key in call}
            answer = http.request(call["method"], call["path"], **request)
            if answer.status_code == 504:  # a graph is being built: the same call finds it
                answer = http.request(call["method"], call["path"], **request)
            if answer.status_code >= 500 and answer.json()["error"]["code"] in BROKEN:
                broken.append(f"{route}: {answer.text}")
    return broken


async def _poison(stack: SecuredStack) -> None:
    """Publishes a message that no consumer can read, to each."""
    async with stack.logged_in("operator") as (connection, _):
        js = connection.jetstream()
        published = 0
        for service, access in SERVICES.items():
            if service == "embedder-deep":
                continue
            for topic in access.consumes:
                for lane in Lane:
                    await js.publish(topic.subject(lane), b"{", stream=topic.stream.name)
                    published += 1
        await _until_buried(js, published)


async def _drop_a_letter(stack: SecuredStack) -> None:
    """Buries a message of the tenant, and drops its letters."""
    tenant = stack.get("/api/v1/whoami")["tenant"]
    async with stack.logged_in("operator") as (connection, _):
        broken = json.dumps({"tenant": tenant, "repo": "unknown", "complete": "no"}).encode()
        topic = REPO_INDEXED
        await connection.jetstream().publish(topic.subject(Lane.LIVE), broken, stream=topic.stream.name)

    def letters() -> list[Json]:
        return stack.get("/api/v1/dead-letters")["newest"]

    wait_until(letters, what="a message of the tenant is buried")
    with stack.http() as http:
        http.delete(f"/api/v1/dead-letters/{letters()[0]['letter']}").raise_for_status()


async def _until_buried(js: JetStreamContext, least: int) -> None:
    """Waits until there are so many dead letters."""
    found = 0
    while found < least:
        found = (await js.stream_info(DEAD_LETTERS)).state.messages


def _is_removed(stack: SecuredStack, tenant: str) -> bool:
    answer: Mapping[str, Json] = stack.get(f"/api/v1/tenants/{tenant}")
    return bool((answer["removal"] or {}).get("deleted_at"))
