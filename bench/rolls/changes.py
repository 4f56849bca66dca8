"""A writer: commits that a forge announces, and edits that an editor sends, each with a word that must be found in the end.

The series is the same in every scenario, so that the indexes can be compared. A refused change is sent again, as a forge
redelivers; a change that was accepted must become searchable.
"""

import asyncio
import hashlib
import hmac
import json
import os
import random
import string
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from pathlib import Path

import httpx2

from bench.rolls.copies import WEBHOOK_SECRET
from prism_cli.target import ServerTarget

# Pushes in a scenario, and as many live edits.
CHANGES = 20
# GitHub waits this long for an answer.
FORGE_S_MAX = 10.0
EDITOR_S_MAX = 40.0
REDELIVERED_AFTER_S = 1.0
REFUSED_S_MAX = 300.0
POLL_S = 0.2
HITS = 5
WORD_CHARS = 14
REASON_CHARS = 80
Send = Callable[[], Awaitable[httpx2.Response]]
# Fixed times: a commit has the same hash in every scenario.
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Bench"),
        ("EMAIL", "bench@example.org"),
        ("DATE", "2026-01-01T00:00:00Z"),
    )
}


@dataclass
class Change:
    """A file with its word, and what became of it."""

    repo: str
    path: str
    word: str
    refusals: list[str] = field(default_factory=list)
    # How often the answer was that the job of the last change still runs, which is no failure.
    conflicts: int = 0
    accepted_at: float | None = None  # monotonic

    @property
    def text(self) -> str:
        """The content of the file."""
        return f'def {self.word}() -> str:\n    """Return the word of {self.path}."""\n    return "{self.word}"\n'


@dataclass
class Changes:
    """All changes of a scenario."""

    sent: list[Change]
    lost: list[Change] = field(default_factory=list)
    searchable_s: float = 0.0  # from the last acceptance until all of them were found

    @property
    def accepted(self) -> list[Change]:
        """Those that Prism said it has."""
        return [change for change in self.sent if change.accepted_at is not None]

    def refusals(self) -> dict[str, int]:
        """How many attempts were refused, by reason."""
        return dict(Counter(reason for change in self.sent for reason in change.refusals))


class Origin:
    """A bare repository, and the work tree that pushes to it."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self._work, self._bare = folder / "work", folder / "bare.git"
        self._work.mkdir(parents=True, exist_ok=True)
        self._git("init", "--quiet", "--initial-branch=main")
        self.commit(files)
        self._git("clone", "--quiet", "--bare", str(self._work), str(self._bare))

    @property
    def url(self) -> str:
        """What is cloned."""
        return f"file://{self._bare}"

    def push(self, files: Mapping[str, str]) -> str:
        """Push a commit. Returns its hash."""
        self.commit(files)
        self._git("push", "--quiet", str(self._bare), "main")
        return self._git("rev-parse", "HEAD")

    def commit(self, files: Mapping[str, str]) -> None:
        """Commit changed files."""
        for path, text in files.items():
            (self._work / path).parent.mkdir(parents=True, exist_ok=True)
            (self._work / path).write_text(text)
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--message", "Go on")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self._work,
            env=os.environ | GIT,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()


class Writer:
    """Sends the series to two repositories: pushes to one, edits to the other."""

    def __init__(self, target: ServerTarget, pushed: tuple[str, Origin], edited: str, pause_s: float) -> None:
        """`pause_s` is the time between two changes of a kind."""
        self._target = target
        self._pushed, self._origin = pushed
        self._edited = edited
        self._pause_s = pause_s

    async def write(self) -> Changes:
        """Send everything; each change until it is accepted."""
        pushes = [_change(self._pushed, "pushed", number) for number in range(CHANGES)]
        edits = [_change(self._edited, "edited", number) for number in range(CHANGES)]
        headers = {"Authorization": f"Bearer {self._target.token}"}
        async with httpx2.AsyncClient(base_url=self._target.url, headers=headers) as http:
            await asyncio.gather(self._push_all(http, pushes), self._edit_all(http, edits))
        return Changes(pushes + edits)

    async def _push_all(self, http: httpx2.AsyncClient, changes: Sequence[Change]) -> None:
        for change in changes:
            commit = await asyncio.to_thread(self._origin.push, {change.path: change.text})
            await _until_accepted(change, partial(self._announce, http, commit))
            await asyncio.sleep(self._pause_s)

    async def _edit_all(self, http: httpx2.AsyncClient, changes: Sequence[Change]) -> None:
        for change in changes:
            body = {"repo": self._edited, "path": change.path, "content": change.text}
            send = partial(http.post, "/api/v1/ingest/file", json=body, timeout=EDITOR_S_MAX)
            await _until_accepted(change, send)
            await asyncio.sleep(self._pause_s)

    async def _announce(self, http: httpx2.AsyncClient, commit: str) -> httpx2.Response:
        """Announce a commit as GitHub does, which sends no token."""
        repository = {"full_name": self._pushed, "default_branch": "main"}
        body = json.dumps({"ref": "refs/heads/main", "after": commit, "repository": repository}).encode()
        signature = hmac.new(WEBHOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        return await http.post("/api/v1/ingest/webhook", content=body, headers=headers, timeout=FORGE_S_MAX)


async def until_found(target: ServerTarget, changes: Changes, seconds: float) -> None:
    """Ask for the word of each accepted change until it is found; the others are lost after these seconds."""
    missing = changes.accepted
    last = max((change.accepted_at or 0.0 for change in missing), default=time.monotonic())
    deadline = time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {target.token}"}
    async with httpx2.AsyncClient(base_url=target.url, headers=headers, timeout=EDITOR_S_MAX) as http:
        while missing and time.monotonic() < deadline:
            missing = [change for change in missing if not await _is_found(http, change)]
            await asyncio.sleep(POLL_S if missing else 0.0)
    changes.lost = missing
    changes.searchable_s = time.monotonic() - last


async def _is_found(http: httpx2.AsyncClient, change: Change) -> bool:
    body = {"query": change.word, "repo": change.repo, "limit": HITS}
    try:
        answer = await http.post("/api/v1/search", json=body)
    except httpx2.TransportError:
        return False
    if answer.status_code != HTTPStatus.OK:
        return False
    return any(change.word in hit["content"] for hit in answer.json()["results"])


async def _until_accepted(change: Change, send: Send) -> None:
    deadline = time.monotonic() + REFUSED_S_MAX
    while time.monotonic() < deadline:
        try:
            answer = await send()
        except httpx2.TransportError as error:
            change.refusals.append(type(error).__name__)
        else:
            if answer.is_success:
                change.accepted_at = time.monotonic()
                return
            if answer.status_code == HTTPStatus.CONFLICT:
                change.conflicts += 1
            else:
                change.refusals.append(f"{answer.status_code} {answer.text[:REASON_CHARS]}")
        await asyncio.sleep(REDELIVERED_AFTER_S)


def _change(repo: str, folder: str, number: int) -> Change:
    word = "".join(random.Random(f"{folder} {number}").choices(string.ascii_lowercase, k=WORD_CHARS))
    return Change(repo, f"{folder}/{number:03}.py", word)
