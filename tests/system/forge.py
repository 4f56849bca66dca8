"""A forge on this machine: a git server with repositories to push to, and signed webhooks."""

import hashlib
import hmac
import json
import uuid
from pathlib import Path

import httpx2
from running_stack import FINAL, Json, RunningStack, until
from source_repos import FILES, GitRepo

DOOR = "/api/v1/ingest/webhook"
SECRET = "a long random text of the owner"
FORM = "application/x-www-form-urlencoded"
GONE = "0" * 40


class Forge:
    """A git server with repositories to push to, and its webhooks."""

    def __init__(self, root: Path, url: str, stack: RunningStack) -> None:
        self.root, self.url, self.stack = root, url, stack

    def repository(self, name: str) -> GitRepo:
        """Returns a served and indexed repository whose webhook has a secret."""
        repo = GitRepo(self.root / "work" / name, FILES)
        bare = self.root / "served" / f"{name}.git"
        repo.git("clone", "--quiet", "--bare", str(repo.folder), str(bare))
        repo.git("remote", "add", "origin", str(bare))
        with self.stack.http() as http:
            kept = http.put(f"/api/v1/repos/{name}/secrets", json={"webhook_secret": SECRET})
        assert kept.json() == {"webhook_secret": True, "git_password": False}
        self.stack.index(f"{self.url}/{name}.git")
        return repo

    def push(self, repo: GitRepo, *arguments: str) -> str:
        repo.git("push", "--quiet", *arguments, "origin", "main")
        return repo.head

    def payload(self, name: str, commit: str, ref: str = "refs/heads/main") -> Json:
        """Returns GitHub's payload of a push: the fields that Prism reads, and some that it does not."""
        return {
            "ref": ref,
            "before": "1" * 40,
            "after": commit,
            "created": False,
            "deleted": commit == GONE,
            "forced": False,
            "commits": [{"id": commit, "added": ["never/read.py"], "removed": [], "modified": []}],
            "repository": {
                "full_name": name,
                "private": True,
                "html_url": f"https://git.example.org/{name}",
                "clone_url": f"{self.url}/{name}.git",
                "ssh_url": f"git@git.example.org:{name}.git",
                "default_branch": "main",
            },
            "pusher": {"name": "ada"},
        }

    def post(
        self, payload: Json, *, event: str = "push", delivery: str = "", secret: str = SECRET
    ) -> httpx2.Response:
        body = json.dumps(payload).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return self.send(
            body,
            **{
                "Content-Type": "application/json",
                "X-GitHub-Event": event,
                "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
                "X-Hub-Signature-256": f"sha256={signature}",
            },
        )

    def send(self, body: bytes, **headers: str) -> httpx2.Response:
        """Sends without a token, as a stranger does."""
        return httpx2.post(f"{self.stack.url}{DOOR}", content=body, headers=headers, timeout=30)

    async def indexed(self, name: str, commit: str) -> None:
        await until(lambda: self.layer(name).get("commit") == commit, what=f"{name} serves {commit}")

    def layer(self, name: str) -> Json:
        return self.known(name).get("served") or {}

    def jobs_ended(self, name: str) -> int:
        jobs = self.stack.get("/api/v1/jobs?limit=200")["jobs"]
        return sum(job["repo_name"] == name and job["state"] in FINAL for job in jobs)

    def known(self, name: str) -> Json:
        """Returns the repository's record; empty while it is being written."""
        repos = self.stack.get("/api/v1/repos")["repositories"]
        return next((repo for repo in repos if repo["name"] == name), {})
