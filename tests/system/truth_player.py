"""Plays a history: with a bare repository to fetch from, webhooks as a forge sends them, overlays, and kills."""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import random
import signal
import time
import uuid
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar

import httpx2
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo
from nats.js.errors import APIError, KeyNotFoundError
from nats.js.kv import KeyValue
from running_stack import Json, RunningStack
from truth_history import (
    MAIN,
    Close,
    Delete,
    Delivery,
    History,
    Hold,
    Kill,
    Overlay,
    Push,
    State,
    Tree,
    Wait,
    content,
)

from prism_contracts.base import Message, layer_id, repo_id
from prism_contracts.names import KV_LAYERS, KV_LEASES, KV_REPOSITORIES
from prism_contracts.records import Layer, Repository, layer_key, repository_key
from prism_runtime.records import WatchedRecords

TENANT = "default"
SECRET = "of histories"
GONE = "0" * 40
LOOK_S = 0.5
# As long as a killed service may take to restart on a slow machine, and a poll to retry after a failure.
QUIET_SECONDS_MAX = 300.0
# The time within which a history must settle.
LOOKS_SECONDS_MAX = 600.0
HOLD_S = 2.0
BUSY = frozenset({429, 500, 502, 503, 504})

BUCKETS: dict[type[Message], str] = {Repository: KV_REPOSITORIES, Layer: KV_LAYERS}

Record = TypeVar("Record", Repository, Layer)
Answer = TypeVar("Answer")


class Remote:
    """A bare repository whose branches are moved without a git process: it writes the files that git would."""

    def __init__(self, folder: Path) -> None:
        self.url = f"file://{folder}"
        self._folder = folder
        self._commits = 0
        (folder / "objects").mkdir(parents=True)
        (folder / "HEAD").write_text(f"ref: refs/heads/{MAIN}\n")
        (folder / "refs/heads").mkdir(parents=True)

    def commit(self, branch: str, tree: Tree, parents: Iterable[str]) -> str:
        """Points a branch at a new commit with this tree; returns the commit."""
        self._commits += 1
        who = f"Ada <ada@example.org> {1_700_000_000 + self._commits} +0000"
        lines = [
            f"tree {self._tree({path: content(path, number) for path, number in tree.items()})}",
            *(f"parent {parent}" for parent in parents),
            f"author {who}",
            f"committer {who}",
            f"\nGo on {self._commits}\n",
        ]
        commit = self._object("commit", "\n".join(lines).encode())
        ref = self._folder / "refs/heads" / branch
        ref.parent.mkdir(exist_ok=True)
        written = ref.with_suffix(".lock")
        written.write_text(f"{commit}\n")
        written.rename(ref)
        return commit

    def delete(self, branch: str) -> None:
        """Deletes a branch."""
        (self._folder / "refs/heads" / branch).unlink()

    def _tree(self, files: Mapping[str, bytes]) -> str:
        """Writes the tree of a folder, given its files by path; returns its hash."""
        folders: dict[str, dict[str, bytes]] = defaultdict(dict)
        entries = {}
        for path, data in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders[name][rest] = data
            else:
                entries[name] = ("100644", self._object("blob", data))
        # Git sorts a folder as if its name ended with a slash.
        entries |= {f"{name}/": ("40000", self._tree(inner)) for name, inner in folders.items()}
        in_order = sorted((name.encode(), mode, object_) for name, (mode, object_) in entries.items())
        return self._object(
            "tree",
            b"".join(
                mode.encode() + b" " + name.rstrip(b"/") + b"\0" + bytes.fromhex(object_)
                for name, mode, object_ in in_order
            ),
        )

    def _object(self, kind: str, data: bytes) -> str:
        """Writes an object; returns its hash (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects)."""
        whole = f"{kind} {len(data)}\0".encode() + data
        name = hashlib.sha1(whole).hexdigest()
        path = self._folder / "objects" / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(zlib.compress(whole, 1))
        return name


class Together(Generic[Answer]):
    """A request that is sent once for all callers within a moment, after the last of them called."""

    def __init__(self, ask: Callable[[], Awaitable[Answer]], look_s: float) -> None:
        self._ask = ask
        self._look_s = look_s
        self._next: asyncio.Task[Answer] | None = None

    async def __call__(self) -> Answer:
        if self._next is None or self._next.done():
            self._next = asyncio.create_task(self._asked())
        return await asyncio.shield(self._next)

    async def _asked(self) -> Answer:
        await asyncio.sleep(self._look_s)
        self._next = None  # later callers need a new request
        return await self._ask()


class Server:
    """The stack, shared by the histories that are played at the same time."""

    def __init__(
        self,
        stack: RunningStack,
        http: httpx2.AsyncClient,
        js: JetStreamContext,
        watched: Sequence[WatchedRecords[Any]],
        look_s: float,
    ) -> None:
        self.stack = stack
        self._look_s = look_s
        self._http = http
        self.js = js
        self._watched = watched
        self._buckets: dict[str, KeyValue] = {}
        self._streams = Together(self._ask_streams, look_s)
        self._floors = Together(self._ask_floors, look_s)

    @classmethod
    @asynccontextmanager
    async def of(
        cls, stack: RunningStack, *, request_seconds_max: float = 20.0, look_s: float = LOOK_S
    ) -> AsyncIterator["Server"]:
        limits = httpx2.Limits(max_connections=100)
        async with (
            httpx2.AsyncClient(
                base_url=stack.url, headers=stack.headers(), timeout=request_seconds_max, limits=limits
            ) as http,
            stack.connection() as connection,
        ):
            js = connection.jetstream()
            watched: list[WatchedRecords[Any]] = []
            try:
                for kind, bucket in BUCKETS.items():
                    kv = await js.key_value(bucket)
                    watched.append(WatchedRecords(kv, kind, lambda: int(connection.stats["reconnects"])))
                async with asyncio.timeout(QUIET_SECONDS_MAX):
                    for records in watched:
                        await records.ready()
                yield cls(stack, http, js, watched, look_s)
            finally:
                for records in watched:
                    await records.close()

    async def request(self, method: str, path: str, **arguments: Any) -> httpx2.Response:
        """Repeats a request until the stack answers, as every client does."""
        async with asyncio.timeout(QUIET_SECONDS_MAX):
            while True:
                try:
                    answer = await self._http.request(method, path, **arguments)
                except httpx2.TransportError:
                    pass
                else:
                    if answer.status_code not in BUSY:
                        return answer
                await asyncio.sleep(self._look_s)

    def watched_record(self, key: str) -> Any:
        """Returns a repository or a layer as watched a moment ago; None if there is none. Good enough to wait
        by; the final check uses `record`.
        """
        return next(filter(None, (records.get(key) for records in self._watched)), None)

    async def record(self, key: str, model: type[Record]) -> Record | None:
        """Returns a record as stored; None if there is none."""
        try:
            entry = await (await self._bucket(BUCKETS[model])).get(key)
        except KeyNotFoundError:
            return None
        return model.model_validate_json(entry.value or b"")

    async def _bucket(self, name: str) -> KeyValue:
        if name not in self._buckets:
            self._buckets[name] = await self.js.key_value(name)
        return self._buckets[name]

    async def purge(self, bucket: str, *keys: str) -> None:
        """Deletes records."""
        for key in keys:
            await (await self._bucket(bucket)).purge(key)

    async def passed(self) -> None:
        """Waits until all current messages have been processed."""
        ends = await self.patiently(self._streams)

        async def are_worked_off() -> bool:
            floors = await self._floors()
            return all(floors.get(stream, -1) >= end for stream, end in ends.items())

        await self.until(are_worked_off, lambda: "messages are waiting")

    async def _ask_streams(self) -> dict[str, int]:
        """Returns the last message of each stream."""
        infos = {info.config.name or "": info.state.last_seq for info in await self.js.streams_info()}
        return {name: last for name, last in infos.items() if name.startswith("PRISM_")}

    async def _ask_floors(self) -> dict[str, float]:
        """Returns up to which message each stream is processed; infinite for a stream without pending
        messages.
        """
        floors = {}
        for stream in await self._ask_streams():
            behind = filter(_is_behind, await self.js.consumers_info(stream))
            floors[stream] = min(map(_floor, behind), default=inf)
        return floors

    async def patiently(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Returns the answer of a request that may fail for a while."""
        answers: list[Answer] = []

        async def is_answered() -> bool:
            answers.append(await ask())
            return True

        await self.until(is_answered, lambda: "there is no answer")
        return answers[-1]

    async def until(self, is_true: Callable[[], Any], what: Callable[[], str]) -> None:
        """Waits for a condition, or fails. NATS and the store may be down in between."""
        try:
            async with asyncio.timeout(QUIET_SECONDS_MAX):
                while not await self._look(is_true):
                    await asyncio.sleep(self._look_s)
        except TimeoutError:
            raise AssertionError(what()) from None

    async def _look(self, is_true: Callable[[], Any]) -> bool:
        try:
            return bool(await is_true())
        except (NatsError, APIError, OSError, httpx2.TransportError):
            return False

    async def kill(self, service: str) -> None:
        """Kills a service unless it is dead already. Frees the leases of ingest, as if two minutes had
        passed.
        """
        pid = self.stack.state()["services"][service]["pid"]
        if pid:
            os.kill(pid, signal.SIGKILL)
        if service == "ingest":
            await self.purge(KV_LEASES, "poll", "sweep")


@dataclass
class Play:
    """A history that is being played."""

    name: str  # of the repository
    history: History
    server: Server
    remote: Remote
    state: State = field(default_factory=State)
    heads: dict[str, str] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)  # of overlays, by name
    unserved: str = ""  # the condition that is not met yet

    def __post_init__(self) -> None:
        self._repo = repo_id(self.name)
        self._late: list[Json] = []
        self._late_announced: set[str] = set()
        self._seen: set[str] = {MAIN}
        self.dice = random.Random(self.history.seed)

    async def run(self) -> None:
        """Plays all steps, and waits until every ref is served and no running work changes that."""
        await self._begin()
        steps = list(self.history.steps)
        while steps:
            step = steps.pop(0)
            if isinstance(step, Hold) and steps:
                await self._held(step.service, self._do(steps.pop(0)))
            else:
                await self._do(step)
        await self._reconcile()
        await self.until_quiet()

    async def until_quiet(self) -> None:
        """Waits until every ref is served as it is at the remote, and no running work changes that."""
        before: dict[str, Repository | Layer | None] = {}
        ends = time.monotonic() + LOOKS_SECONDS_MAX
        while True:
            await self.until_served()
            found = await self.server.patiently(self._records)
            self.unserved = self._unserved(found.get)
            if found == before and not self.unserved:
                return
            assert time.monotonic() < ends, f"{self.name}: {self.unserved or 'records keep changing'}"
            before = found
            await self.server.passed()

    async def until_served(self) -> None:
        """Waits until every announced ref is served as it is at the remote."""
        await self.server.until(self._is_served, lambda: f"{self.name}: {self.unserved}")

    def refs(self) -> dict[str, Tree]:
        """Returns the expected files of each ref that can be queried."""
        branches = {"" if branch == MAIN else branch: tree for branch, tree in self.state.trees.items()}
        overlays = {self.handles[name]: self.state.overlaid(one) for name, one in self.state.overlays.items()}
        return branches | overlays

    async def forget(self) -> None:
        """Deletes Prism's records of the repository, so that no service works on it again."""
        await self.server.purge(KV_REPOSITORIES, repository_key(TENANT, self._repo))
        await self.server.purge(KV_LAYERS, *map(self._key, self._refs()))

    def _refs(self) -> list[str]:
        """Returns every ref that may have a layer now."""
        return sorted({*self._seen, *self.handles.values()})

    async def _begin(self) -> None:
        self.state.trees, self.state.announced = {MAIN: self.history.first}, {MAIN}
        self.heads[MAIN] = self.remote.commit(MAIN, self.history.first, ())
        begun = await self.server.request(
            "POST", "/api/v1/repos", json={"url": self.remote.url, "name": self.name}
        )
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
        """Runs a step while a service is suspended, for a limited time."""
        with self.server.stack.stopped(service):
            task = asyncio.ensure_future(doing)
            await asyncio.wait([task], timeout=HOLD_S)
        await task

    async def _push(self, step: Push) -> None:
        parents = [self.heads[parent] for parent in step.parents]
        self.heads[step.branch] = self.remote.commit(step.branch, step.tree, parents)
        self._seen.add(step.branch)
        if step.delivery is Delivery.LATE:
            self._late_announced.add(step.branch)
        await self._notify(step.branch, self.heads[step.branch], step.delivery)

    async def _delete(self, step: Delete) -> None:
        self.remote.delete(step.branch)
        del self.heads[step.branch]
        self._late_announced.discard(step.branch)
        await self._notify(step.branch, GONE, step.delivery)

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
            return answers[-1].status_code != 404  # while the branch is indexed for the first time

        await self.server.until(is_answered, lambda: f"{step}: {answers[-1].text}")
        assert answers[-1].status_code == 202, (step, answers[-1].text)
        self.handles[step.name] = answers[-1].json()["handle"]

    async def _notify(self, branch: str, commit: str, delivery: Delivery) -> None:
        payload = {
            "ref": f"refs/heads/{branch}",
            "after": commit,
            "deleted": commit == GONE,
            "repository": {"full_name": self.name, "clone_url": self.remote.url, "default_branch": MAIN},
        }
        if delivery is Delivery.LATE:
            self._late.append(payload)
        elif delivery is not Delivery.LOST:
            delivery_id = str(uuid.uuid4())
            await self._post(payload, delivery_id)
            if delivery is Delivery.TWICE:
                await self._post(payload, self.dice.choice([delivery_id, str(uuid.uuid4())]))

    async def _post(self, payload: Json, delivery_id: str) -> None:
        body = json.dumps(payload).encode()
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": "push",
            "X-GitHub-Delivery": delivery_id,
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        answer = await self.server.request("POST", "/api/v1/ingest/webhook", content=body, headers=headers)
        assert answer.status_code in (200, 202), answer.text

    async def _reconcile(self) -> None:
        """Sends the delayed webhooks in random order, and requests branches that were never announced."""
        self.dice.shuffle(self._late)
        for payload in self._late:
            await self._post(payload, str(uuid.uuid4()))
        for branch in self.state.trees.keys() - self.state.announced - self._late_announced:
            body = {"repo": self.name, "ref": branch}
            made = await self.server.request("POST", "/api/v1/layers", json=body)
            assert made.status_code == 202, made.text
        self.state.announced = set(self.state.trees)

    async def _is_served(self) -> bool:
        self.unserved = self._unserved(self.server.watched_record)
        return not self.unserved

    def _unserved(self, record: Callable[[str], Any]) -> str:
        """Returns what is not yet served as at the remote, according to the records; empty if everything is."""
        repository = record(repository_key(TENANT, self._repo))
        if repository is None or not _is_at(repository, self.heads[MAIN]) or repository.served is None:
            return f"{MAIN} is to be at {self.heads[MAIN]}: {repository}"
        for branch in sorted(self._seen - {MAIN}):
            layer = record(self._key(branch))
            head = self.heads.get(branch, "")
            if branch in self.state.announced:
                if (
                    layer is None
                    or not _is_at(layer, head)
                    or layer.base_version != repository.served.version
                ):
                    return f"{branch} is to be at {head} over {repository.served.version}: {layer}"
            elif layer is not None and not head:
                return f"{branch} is gone: {layer}"
        for name, handle in self.handles.items():
            layer = record(self._key(handle))
            if layer is None or layer.active_job or not layer.files:
                return f"{name} is to be served: {layer}"
        return ""

    async def _records(self) -> dict[str, Repository | Layer | None]:
        repository = repository_key(TENANT, self._repo)
        layers = [self._key(ref) for ref in self._refs()]
        return {
            repository: await self.server.record(repository, Repository),
            **{layer: await self.server.record(layer, Layer) for layer in layers},
        }

    def _key(self, ref: str) -> str:
        return layer_key(TENANT, self._repo, layer_id(ref))


def _is_behind(consumer: ConsumerInfo) -> bool:
    return bool(consumer.num_pending or consumer.num_ack_pending)


def _floor(consumer: ConsumerInfo) -> int:
    """Returns up to which message a consumer has processed everything."""
    return (consumer.ack_floor.stream_seq or 0) if consumer.ack_floor else 0


def _is_at(indexed: Repository | Layer, commit: str) -> bool:
    """Returns whether a commit is served and no job is running."""
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
