"""Pushes: from the webhook of a commit until the commit is served.

The repository is the corpus under git, fetched over the file protocol, which packs as any other does. It gets the name that
the corpus was indexed by, so that its first import finds everything there.
"""

import asyncio
import hashlib
import hmac
import json
import os
import random
import subprocess
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from bench.corpus import Corpus
from bench.measure_index import REPO, marker, until_final, until_hit
from bench.spread import Spread, median, spread
from bench.stack import Stack, Stopwatch
from prism_cli.client import Prism

SECRET = "benchmark-webhook-secret"
# Environment of a stack that fetches from a folder.
SETTINGS = {
    "PRISM_CLONE_SCHEMES": "file",
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_WEBHOOK_SECRET": SECRET,
}
FILES_PUSHED = 100
FILES_ASKED = 10  # of them, afterwards
POLL_S = 0.01
SECONDS_MAX = 120.0
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
GIT |= {
    f"GIT_{who}_{what}": "bench@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@dataclass(frozen=True)
class Pushes:
    """Times from the webhook."""

    files: int
    searchable: Spread  # until the commit is served: every file of it is settled
    stack_cpu_s: float  # of a push in the middle
    no_op: Spread
    no_op_stack_cpu_s: float


class Remote:
    """A bare repository, and a work tree that pushes to it."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.bare = corpus.folder.with_name(f"{corpus.folder.name}.git")
        self._git("init", "--quiet", "--initial-branch=main")
        self._commit()
        self._git("clone", "--quiet", "--bare", str(corpus.folder), str(self.bare))

    def push(self) -> str:
        """Push the work tree. Returns the commit."""
        self._commit()
        self._git("push", "--quiet", str(self.bare), "main")
        return self._git("rev-parse", "HEAD")

    def reset(self) -> None:
        """Reset the work tree to its last commit."""
        self._git("checkout", "--quiet", "--force", "HEAD")

    def branch(self, name: str, files: Mapping[str, bytes]) -> str:
        """Push a branch of the last commit with some changed files, without a work tree.
        Returns the commit.
        """
        changes = (
            f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"
            for path, data in files.items()
        )
        head = f"commit refs/heads/{name}\ncommitter Bench <bench@example.org> 0 +0000\ndata 0\nfrom refs/heads/main^0\n"
        stream = b"".join([head.encode(), *changes])
        fast_import = ["git", "-C", str(self.bare), "fast-import", "--quiet", "--force"]
        subprocess.run(fast_import, input=stream, check=True, capture_output=True)
        return self._git("--git-dir", str(self.bare), "rev-parse", f"refs/heads/{name}")

    def _commit(self) -> None:
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--allow-empty", "--message", "Go on")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.corpus.folder,
            env=os.environ | GIT,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()


async def pushes(stack: Stack, corpus: Corpus, count: int, seed: int) -> Pushes:
    """Import the corpus from git, then push repeatedly: some files, then none."""
    remote = await asyncio.to_thread(Remote, corpus)
    async with Prism(stack.target) as prism:
        await until_final(prism, await prism.clone(f"file://{remote.bare}", REPO, ""))
        changed = [await _changed_push(stack, prism, remote, seed + number) for number in range(count)]
    empty = [await _push(stack, remote) for _ in range(count)]
    wall_s, cpu_s = zip(*changed, strict=True)
    empty_wall_s, empty_cpu_s = zip(*empty, strict=True)
    return Pushes(
        files=FILES_PUSHED,
        searchable=spread(wall_s),
        stack_cpu_s=median(cpu_s),
        no_op=spread(empty_wall_s),
        no_op_stack_cpu_s=median(empty_cpu_s),
    )


async def _changed_push(stack: Stack, prism: Prism, remote: Remote, seed: int) -> tuple[float, float]:
    """A push of changed files. Raises TimeoutError if a changed file is not found afterwards."""
    chosen = random.Random(seed).sample(remote.corpus.paths(), FILES_PUSHED)
    words = [marker(seed * FILES_PUSHED + position) for position in range(FILES_PUSHED)]
    for path, word in zip(chosen, words, strict=True):
        with (remote.corpus.folder / path).open("a") as file:
            file.write(f"\n\ndef {word}():\n    return {seed}\n")
    measured = await _push(stack, remote)
    # Only now, because a hundred questions take longer than the push.
    for path, word in list(zip(chosen, words, strict=True))[:: FILES_PUSHED // FILES_ASKED]:
        await until_hit(prism, word, path)
    return measured


async def _push(stack: Stack, remote: Remote) -> tuple[float, float]:
    """Push. Returns seconds from the webhook until the commit is served, and CPU seconds of the stack."""
    commit = remote.push()
    with Stopwatch(stack) as watched:
        posted = time.perf_counter()
        await tell(stack, commit)
        await _until_served(stack, commit)
        wall_s = time.perf_counter() - posted
    return wall_s, watched.stack_cpu_s()


async def tell(stack: Stack, commit: str, branch: str = "main") -> None:
    """Announce a branch's commit as a forge does."""
    body = json.dumps(
        {
            "ref": f"refs/heads/{branch}",
            "after": commit,
            "repository": {"full_name": REPO, "default_branch": "main"},
        }
    ).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": str(uuid.uuid4()),
        "X-Hub-Signature-256": f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}",
    }
    async with httpx.AsyncClient(base_url=stack.target.url) as forge:
        answer = await forge.post("/api/v1/ingest/webhook", content=body, headers=headers)
    answer.raise_for_status()


async def _until_served(stack: Stack, commit: str) -> None:
    headers = {"Authorization": f"Bearer {stack.target.token}"}
    deadline = time.monotonic() + SECONDS_MAX
    async with httpx.AsyncClient(base_url=stack.target.url, headers=headers) as http:
        while time.monotonic() < deadline:
            known = (await http.get("/api/v1/repos")).raise_for_status().json()["repositories"]
            if any((repo["served"] or {}).get("commit") == commit for repo in known):
                return
            await asyncio.sleep(POLL_S)
    raise TimeoutError(f"{commit} was not served within {SECONDS_MAX:g} s")
