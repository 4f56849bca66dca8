"""Plays a history: a bare repository that is fetched from, webhooks as a forge sends them, overlays, and services that die."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import random
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, KeyNotFoundError
from nats.js.kv import KeyValue
from running_stack import Json, RunningStack
from source_repos import GIT_ENVIRONMENT
from truth_history import (
    MAIN,
    Close,
    Delete,
    History,
    Hold,
    Kill,
    Overlay,
    Push,
    State,
    Told,
    Tree,
    Wait,
    content,
)

from prism_contracts.base import layer_id, repo_id
from prism_contracts.names import KV_LAYERS, KV_LEASES, KV_REPOSITORIES
from prism_contracts.records import Layer, Repository, layer_key, repository_key

TENANT = "default"
SECRET = "of histories"
GONE = "0" * 40
LOOK_S = 0.1
# As long as a service that was killed may take to come back on a slow machine, and a poll to look again after a failure.
QUIET_SECONDS_MAX = 120.0
HOLD_S = 2.0
BUSY = frozenset({429, 500, 502, 503, 504})

Record = TypeVar("Record", Repository, Layer)


class NotQuietError(AssertionError):
    """What was waited for did not come."""


class Remote:
    """A bare repository whose branches are moved without a work tree: one process a commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._commits = 0
        self._git("init", "--quiet", "--bare", f"--initial-branch={MAIN}", str(folder))

    def commit(self, branch: str, tree: Tree, parents: Iterable[str]) -> str:
        """Have a branch at a new commit with this tree; the commit."""
        self._commits += 1
        message = f"Go on {self._commits}".encode()
        lines = [
            f"commit refs/heads/{branch}\nmark :1\ncommitter Ada <ada@example.org> {1_700_000_000 + self._commits} +0000\n".encode(),
            b"data %d\n%s\n" % (len(message), message),
            *(f"{'merge' if place else 'from'} {parent}\n".encode() for place, parent in enumerate(parents)),
            b"deleteall\n",
        ]
        for path, number in tree.items():
            data = content(path, number)
            lines.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        stream = b"".join([f"reset refs/heads/{branch}\n".encode(), *lines, b"get-mark :1\ndone\n"])
        told = self._git("-C", str(self.folder), "fast-import", "--quiet", "--force", "--done", sent=stream)
        return told.decode().split()[0]

    def delete(self, branch: str) -> None:
        """Have a branch no more."""
        self._git("-C", str(self.folder), "update-ref", "-d", f"refs/heads/{branch}")

    def _git(self, *arguments: str, sent: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", *arguments],
            input=sent,
            env=os.environ | GIT_ENVIRONMENT,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout


class Server:
    """The stack, as those who play histories at the same time share it."""

    def __init__(self, stack: RunningStack, http: httpx2.AsyncClient, js: JetStreamContext) -> None:
        self.stack = stack
        self._http = http
        self.js = js
        self._buckets: dict[str, KeyValue] = {}

    @classmethod
    @asynccontextmanager
    async def of(cls, stack: RunningStack) -> AsyncIterator["Server"]:
        limits = httpx2.Limits(max_connections=100)
        async with (
            httpx2.AsyncClient(
                base_url=stack.url, headers=stack.headers(), timeout=20, limits=limits
            ) as http,
            stack.jetstream() as js,
        ):
            yield cls(stack, http, js)

    async def request(self, method: str, path: str, **arguments: Any) -> httpx2.Response:
        """Ask until the stack is there to answer, as every client does."""
        async with asyncio.timeout(QUIET_SECONDS_MAX):
            while True:
                try:
                    answer = await self._http.request(method, path, **arguments)
                except httpx2.TransportError:
                    pass
                else:
                    if answer.status_code not in BUSY:
                        return answer
                await asyncio.sleep(LOOK_S)

    async def record(self, bucket: str, key: str, model: type[Record]) -> Record | None:
        """A record as it is stored; None if there is none."""
        try:
            entry = await (await self._bucket(bucket)).get(key)
        except KeyNotFoundError:
            return None
        return model.model_validate_json(entry.value or b"")

    async def _bucket(self, name: str) -> KeyValue:
        if name not in self._buckets:
            self._buckets[name] = await self.js.key_value(name)
        return self._buckets[name]

    async def is_idle(self) -> bool:
        """Whether no message waits for anybody, and nobody works on one."""
        for stream in await self.js.streams_info():
            name = stream.config.name or ""
            if not name.startswith("PRISM_"):
                continue
            for consumer in await self.js.consumers_info(name):
                if consumer.num_pending or consumer.num_ack_pending:
                    return False
        return True

    async def until(self, is_true: Callable[[], Any], what: Callable[[], str]) -> None:
        """Wait for a state. NATS may be away in between."""
        try:
            async with asyncio.timeout(QUIET_SECONDS_MAX):
                while not await self._look(is_true):
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise NotQuietError(what()) from None

    async def _look(self, is_true: Callable[[], Any]) -> bool:
        try:
            return bool(await is_true())
        except (NatsError, APIError, OSError):
            return False

    async def kill(self, service: str) -> None:
        """Unless it is dead already. What only one copy at a time may do is free for the next one, as if two minutes had passed."""
        pid = self.stack.state()["services"][service]["pid"]
        if pid:
            os.kill(pid, signal.SIGKILL)
        if service == "ingest":
            for thing in ("poll", "sweep"):
                await (await self._bucket(KV_LEASES)).purge(thing)


@dataclass
class Play:
    """A history that is being played."""

    name: str  # of the repository
    history: History
    server: Server
    url: str
    remote: Remote
    state: State = field(default_factory=State)
    heads: dict[str, str] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)  # of overlays, by name
    unserved: str = ""  # what was waited for last

    def __post_init__(self) -> None:
        self._repo = repo_id(self.name)
        self._late: list[Json] = []
        self._late_told: set[str] = set()
        self._seen: set[str] = {MAIN}
        self._dice = random.Random(self.history.seed)

    async def run(self) -> None:
        """Play all of it, and wait until every ref is served as it is."""
        await self._begin()
        steps = list(self.history.steps)
        while steps:
            step = steps.pop(0)
            if isinstance(step, Hold) and steps:
                await self._held(step.service, self._do(steps.pop(0)))
            else:
                await self._do(step)
        await self._reconcile()
        await self.until_served()

    async def until_served(self) -> None:
        """Wait until every ref that Prism knows is served as it is at the remote."""
        await self.server.until(self._is_served, lambda: f"{self.name}: {self.unserved}")

    def refs(self) -> dict[str, Tree]:
        """What is to be seen at each ref that can be asked at."""
        branches = {"" if branch == MAIN else branch: tree for branch, tree in self.state.trees.items()}
        overlays = {self.handles[name]: self.state.overlaid(one) for name, one in self.state.overlays.items()}
        return branches | overlays

    async def _begin(self) -> None:
        self.state.trees, self.state.told = {MAIN: self.history.first}, {MAIN}
        self.heads[MAIN] = await asyncio.to_thread(self.remote.commit, MAIN, self.history.first, ())
        begun = await self.server.request("POST", "/api/v1/repos", json={"url": self.url, "name": self.name})
        assert begun.status_code == 202, begun.text
        await self.until_served()

    async def _do(self, step: Any) -> None:
        match step:
            case Push():
                await self._push(step)
            case Delete():
                await self._delete(step)
            case Overlay():
                await self._open(step)
            case Close():
                handle = self.handles.pop(step.name)
                await self.server.request("DELETE", f"/api/v1/overlays/{handle}", params={"repo": self.name})
            case Kill():
                await self.server.kill(step.service)
            case Wait():
                await self.until_served()
        self.state.apply(step)

    async def _held(self, service: str, doing: Any) -> None:
        """Do something while a service stands still, or has stood still for some time."""
        with self.server.stack.stopped(service):
            task = asyncio.ensure_future(doing)
            await asyncio.wait([task], timeout=HOLD_S)
        await task

    async def _push(self, step: Push) -> None:
        parents = [self.heads[parent] for parent in step.parents]
        self.heads[step.branch] = await asyncio.to_thread(self.remote.commit, step.branch, step.tree, parents)
        self._seen.add(step.branch)
        if step.told is Told.LATE:
            self._late_told.add(step.branch)
        await self._tell(step.branch, self.heads[step.branch], step.told)

    async def _delete(self, step: Delete) -> None:
        await asyncio.to_thread(self.remote.delete, step.branch)
        del self.heads[step.branch]
        self._late_told.discard(step.branch)
        await self._tell(step.branch, GONE, step.told)

    async def _open(self, step: Overlay) -> None:
        body: Json = {
            "repo": self.name,
            "base_ref": "" if step.below == MAIN else step.below,
            "handle": self.handles.get(step.name, ""),
            "files": [_edit(path, number) for path, number in step.edits.items()],
        }
        answers: list[httpx2.Response] = []

        async def is_answered() -> bool:
            answers.append(await self.server.request("POST", "/api/v1/overlays", json=body))
            return answers[-1].status_code != 404  # as long as the branch is being indexed for the first time

        await self.server.until(is_answered, lambda: f"{step}: {answers[-1].text}")
        assert answers[-1].status_code == 202, (step, answers[-1].text)
        self.handles[step.name] = answers[-1].json()["handle"]

    async def _tell(self, branch: str, commit: str, told: Told) -> None:
        said = {
            "ref": f"refs/heads/{branch}",
            "after": commit,
            "deleted": commit == GONE,
            "repository": {"full_name": self.name, "clone_url": self.url, "default_branch": MAIN},
        }
        if told is Told.LATE:
            self._late.append(said)
        elif told is not Told.LOST:
            delivery = str(uuid.uuid4())
            await self._post(said, delivery)
            if told is Told.TWICE:
                await self._post(said, self._dice.choice([delivery, str(uuid.uuid4())]))

    async def _post(self, said: Json, delivery: str) -> None:
        body = json.dumps(said).encode()
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": delivery,
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        answer = await self.server.request("POST", "/api/v1/ingest/webhook", content=body, headers=headers)
        assert answer.status_code in (200, 202), answer.text

    async def _reconcile(self) -> None:
        """Tell what was held back, in another order, and ask for branches that nothing was ever told of."""
        self._dice.shuffle(self._late)
        for said in self._late:
            await self._post(said, str(uuid.uuid4()))
        for branch in self.state.trees.keys() - self.state.told - self._late_told:
            body = {"repo": self.name, "ref": branch}
            made = await self.server.request("POST", "/api/v1/layers", json=body)
            assert made.status_code == 202, made.text
        self.state.told = set(self.state.trees)

    async def _is_served(self) -> bool:
        self.unserved = await self._unserved()
        return not self.unserved

    async def _unserved(self) -> str:
        """What is not as it is at the remote yet; empty if all is."""
        repository = await self.server.record(KV_REPOSITORIES, repository_key(TENANT, self._repo), Repository)
        if repository is None or not _is_at(repository, self.heads[MAIN]) or repository.served is None:
            return f"{MAIN} is to be at {self.heads[MAIN]}: {repository}"
        for branch in sorted(self._seen - {MAIN}):
            layer = await self._layer(branch)
            head = self.heads.get(branch, "")
            if branch in self.state.told:
                if (
                    layer is None
                    or not _is_at(layer, head)
                    or layer.base_version != repository.served.version
                ):
                    return f"{branch} is to be at {head} over {repository.served.version}: {layer}"
            elif layer is not None and not head:
                return f"{branch} is gone: {layer}"
        for name, handle in self.handles.items():
            layer = await self._layer(handle)
            if layer is None or layer.active_job or not layer.files:
                return f"{name} is to be served: {layer}"
        return ""

    async def _layer(self, ref: str) -> Layer | None:
        return await self.server.record(KV_LAYERS, layer_key(TENANT, self._repo, layer_id(ref)), Layer)


def _is_at(indexed: Repository | Layer, commit: str) -> bool:
    """Whether a commit is served and nobody works on another one."""
    return (
        indexed.served is not None
        and indexed.served.commit == commit
        and not indexed.active_job
        and not indexed.is_pushed
    )


def _edit(path: str, number: int | None) -> Mapping[str, Any]:
    if number is None:
        return {"path": path}
    return {"path": path, "content_base64": base64.b64encode(content(path, number)).decode()}
