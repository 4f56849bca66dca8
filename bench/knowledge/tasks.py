"""100,000 tasks: lists by filter, pages, words, and how soon a written task is found. Over REST, one client.

The tasks are put into their bucket directly, because only questions about them are measured. What they say, when
they were made and how many have a status, a branch or a repository follows from a seed.
"""

import asyncio
import hashlib
import itertools
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2
import nats

from bench.knowledge.figures import Fact, Figure, Figures, mib, timed
from bench.spread import spread
from bench.stack import Stack
from prism_cli.stack.layout import read_json
from prism_contracts.base import DEFAULT_TENANT
from prism_contracts.names import KV_TASKS
from prism_contracts.records import BranchLink, CommitLink, TaskChange, TaskRecord
from prism_contracts.rpc.tasks import TaskStatus

API = "/api/v1/tasks"
LIST_BAR_MS, FOUND_BAR_MS = 60.0, 1_000.0
BATCH = 500
REPOSITORIES = 40
WORDS = 4_000
# Branches, and commits: each of some tasks.
PLANS = 20_000
DESCRIPTION_WORDS = 90
PAGE = 100
PAGES = 100
WARM_UP = 20
FILL_S_MAX = 900.0
# A list waits until its copy of workspace has every written task, and not for long.
BEHIND = (503, 504)
START = datetime(2026, 1, 1, tzinfo=UTC)
STATUSES = (TaskStatus.COMPLETE, TaskStatus.TO_DO, TaskStatus.IN_PROGRESS)
SHARES = (70, 22, 8)

Call = Callable[[], Awaitable[object]]


class Tasks:
    """Tasks over REST."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def list(self, **filters: str | int) -> dict[str, Any]:
        """Returns a page."""
        return self._read(await self._http.get(API, params={"limit": 50, **filters}))

    async def create(self, **fields: object) -> dict[str, Any]:
        """Returns a new task."""
        return self._read(await self._http.post(API, json=fields))

    async def update(self, task: str, **fields: object) -> dict[str, Any]:
        """Returns a changed task."""
        return self._read(await self._http.patch(f"{API}/{task}", json=fields))

    @staticmethod
    def _read(answer: httpx2.Response) -> dict[str, Any]:
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body


async def measure(stack: Stack, *, size: int, asked: int, seed: int) -> Figures:
    """Fill the stack with `size` tasks, and ask each question `asked` times."""
    rng = random.Random(seed)
    words = [f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{number:x}" for number in range(WORDS)]
    before = stack.memory()["workspace"].pss
    headers = {"Authorization": f"Bearer {stack.target.token}"}
    async with httpx2.AsyncClient(base_url=stack.target.url, headers=headers, timeout=60) as http:
        tasks = Tasks(http)
        began = time.perf_counter()
        await _fill(stack, (_task(rng, words) for _ in range(size)))
        await _until_all(tasks, size)
        filled_s = time.perf_counter() - began
        figures: Figures = [Fact(f"{size:,} tasks put into the bucket and followed", f"{filled_s:.0f} s")]
        for name, calls in _questions(tasks, rng, words).items():
            for call in itertools.islice(calls, WARM_UP):
                await call()
            figures.append(await timed(stack, name, itertools.islice(calls, asked), LIST_BAR_MS))
        figures.append(await _pages(stack, tasks))
        figures += await _writes(tasks, asked)
    after = stack.memory()["workspace"].pss
    each = f"{(after - before) / size / 1024:.1f} KiB a task"
    return [*figures, Fact("memory of workspace, PSS", f"{mib(before)} before, {mib(after)} after: {each}")]


def _questions(tasks: Tasks, rng: random.Random, words: list[str]) -> dict[str, Iterator[Call]]:
    def forever(make: Callable[[], dict[str, str | int]]) -> Iterator[Call]:
        while True:
            yield partial(tasks.list, **make())

    def repo() -> str:
        return f"bench/repo-{rng.randrange(REPOSITORIES)}"

    return {
        "list, newest": forever(dict),
        "list by status": forever(lambda: {"status": rng.choice(STATUSES).value}),
        "list by repository": forever(lambda: {"repo": repo()}),
        "list by status and repository": forever(
            lambda: {"status": rng.choice(STATUSES).value, "repo": repo()}
        ),
        "list by branch": forever(lambda: {"branch": f"feature/{rng.randrange(PLANS)}"}),
        "list by the beginning of a commit": forever(lambda: {"commit": _commit(rng.randrange(PLANS))[:10]}),
        "search a word that 2 % of the tasks have": forever(lambda: {"query": rng.choice(words)}),
        "search two words": forever(lambda: {"query": " ".join(rng.sample(words, 2))}),
        "search a word with a status": forever(
            lambda: {"query": rng.choice(words), "status": rng.choice(STATUSES).value}
        ),
        "search a word that all have": forever(lambda: {"query": "deliveries"}),
    }


async def _pages(stack: Stack, tasks: Tasks) -> Figure:
    cursor = ""

    async def following() -> None:
        nonlocal cursor
        page = await tasks.list(status=TaskStatus.COMPLETE.value, limit=PAGE, cursor=cursor)
        cursor = page["next_cursor"]

    name = f"page of {PAGE}, following the cursor"
    return await timed(stack, name, itertools.repeat(following, PAGES), LIST_BAR_MS)


async def _writes(tasks: Tasks, asked: int) -> Figures:
    created, updated, found = [], [], []
    for _ in range(asked):
        word = f"w{uuid.uuid4().hex}"
        began = time.perf_counter()
        task = await tasks.create(title=f"Weigh parcels {word}")
        created.append(time.perf_counter() - began)
        while not (await tasks.list(query=word))["tasks"]:
            pass
        found.append(time.perf_counter() - began)
        began = time.perf_counter()
        await tasks.update(task["id"], status=TaskStatus.IN_PROGRESS.value, branch=f"feature/{word}")
        updated.append(time.perf_counter() - began)
    return [
        Figure("create a task", spread(created)),
        Figure("a task written, then found by a word", spread(found), FOUND_BAR_MS),
        Figure("update a task", spread(updated)),
    ]


async def _fill(stack: Stack, records: Iterator[TaskRecord]) -> None:
    data = stack.target.local
    assert data is not None
    port = (read_json(data.supervisor_file) or {})["services"]["nats"]["port"]
    secret = (data.root / "secrets" / "nats").read_text().strip()
    connection = await nats.connect(f"nats://127.0.0.1:{port}", token=secret)
    try:
        bucket = await connection.jetstream(timeout=60).key_value(KV_TASKS)
        while batch := list(itertools.islice(records, BATCH)):
            await asyncio.gather(*(bucket.put(one.key, one.model_dump_json().encode()) for one in batch))
    finally:
        await connection.close()


async def _until_all(tasks: Tasks, size: int) -> None:
    async with asyncio.timeout(FILL_S_MAX):
        while not await _has_all(tasks, size):  # noqa: ASYNC110 - another process follows them
            await asyncio.sleep(0.2)


async def _has_all(tasks: Tasks, size: int) -> bool:
    try:
        return int((await tasks.list(limit=1))["total"]) >= size
    except httpx2.HTTPStatusError as error:
        if error.response.status_code not in BEHIND:
            raise
        return False


def _commit(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:40]


def _task(rng: random.Random, words: list[str]) -> TaskRecord:
    """Returns a task of some 1.3 kB: half of them have a branch, a third a commit, nine in ten a repository."""
    at = START + timedelta(seconds=rng.randrange(300 * 24 * 3600))
    status = rng.choices(STATUSES, SHARES)[0]
    number = rng.randrange(PLANS)
    branch = BranchLink(branch_name=f"feature/{number}", linked_at=at)
    commit = CommitLink(commit_hash=_commit(number), commit_message="Weigh", linked_at=at)
    return TaskRecord(
        tenant=DEFAULT_TENANT,
        task=str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        title=f"Retry deliveries of {' '.join(rng.sample(words, 4))}",
        description=" ".join(rng.choices(words, k=DESCRIPTION_WORDS)),
        status=status,
        repo=f"bench/repo-{rng.randrange(REPOSITORIES)}" if rng.random() < 0.9 else "",
        created_at=at,
        updated_at=at + timedelta(hours=1),
        created_by="bench",
        branches=(branch,) if rng.random() < 0.5 else (),
        commits=(commit,) if rng.random() < 0.33 else (),
        history=(TaskChange(version=1, at=at, by="bench", changed=("status",), to_status=TaskStatus.TO_DO),),
    )
