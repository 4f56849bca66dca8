"""10,000 documents: searches, lists, how soon a written one is found, and 20 writes a second. Over REST.

What the documents say, and which tags and categories they have, follows from a seed.
"""

import asyncio
import itertools
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import httpx2

from bench.knowledge.figures import Fact, Figure, Figures, mib, timed
from bench.spread import spread
from bench.stack import Stack

API = "/api/v1/documents"
COVERAGE = "/api/v1/repos/prism/documents/coverage"
SEARCH_BAR_MS, LIST_BAR_MS, FOUND_BAR_MS = 100.0, 100.0, 1_000.0
BATCH = 100
WORDS = 4_000
TEXT_WORDS = 250
TAGS, CATEGORIES = 200, 10
WARM_UP = 20
INDEXED_S_MAX = 1_800.0
REST_LOOK_S, REST_CPU_SHARE = 3.0, 0.1
WRITES_PER_S, WRITES_S = 20, 60
LAG_BAR_MS = 5_000.0
CLIENTS_MAX = 200

Call = Callable[[], Awaitable[object]]


class Documents:
    """Documents over REST."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def take(self, files: list[dict[str, str]]) -> None:
        """Import files."""
        reply = self._read(await self._http.put(f"{API}/files", json={"files": files}))
        refused = [one for one in reply["files"] if one["outcome"] == "refused"]
        assert not refused, refused[0]

    async def commit(self) -> dict[str, Any]:
        """Commit all drafts."""
        return self._read(await self._http.post(f"{API}/commit", json={"message": "Fill"}))

    async def indexed(self) -> int:
        """Returns how many files of the repository are searchable."""
        answer = await self._http.get(COVERAGE, params={"limit": 1})
        return 0 if answer.status_code == httpx2.codes.NOT_FOUND else int(self._read(answer)["indexed"])

    async def search(self, query: str, **fields: object) -> list[dict[str, Any]]:
        """Returns the documents that match."""
        body = {"query": query, **fields}
        found: list[dict[str, Any]] = self._read(await self._http.post(f"{API}/search", json=body))["results"]
        return found

    async def list(self, **filters: str | int) -> dict[str, Any]:
        """Returns a page."""
        return self._read(await self._http.get(API, params=filters))

    async def create(self, word: str, *, wait: bool) -> str:
        """Returns the id of a new document that has a word, once it is indexed with `wait`."""
        text = f"# Notes\n\nThe courier weighs the {word} parcel twice.\n"
        body = {"title": f"Weigh {word}", "content": text, "auto_process": wait}
        return str(self._read(await self._http.post(API, json=body))["document_id"])

    async def is_indexed(self, document: str) -> bool:
        """Returns whether the index holds the newest content."""
        found = self._read(await self._http.get(f"{API}/{document}/metadata"))
        return bool(found["metadata"]["is_indexed"])

    @staticmethod
    def _read(answer: httpx2.Response) -> dict[str, Any]:
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body


async def measure(stack: Stack, *, size: int, asked: int, seed: int, writes_s: int = WRITES_S) -> Figures:
    """Fill the stack with `size` documents, ask each question `asked` times, then write for `writes_s` seconds."""
    rng = random.Random(seed)
    words = [f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{number:x}" for number in range(WORDS)]
    before = stack.memory()["workspace"].pss
    headers = {"Authorization": f"Bearer {stack.target.token}"}
    limits = httpx2.Limits(max_connections=CLIENTS_MAX)
    async with httpx2.AsyncClient(
        base_url=stack.target.url, headers=headers, timeout=60, limits=limits
    ) as http:
        documents = Documents(http)
        figures = [*await _fill(documents, size, rng, words), await _at_rest(stack)]
        for name, (calls, bar_ms) in _questions(documents, rng, words).items():
            for call in itertools.islice(calls, WARM_UP):
                await call()
            figures.append(await timed(stack, name, itertools.islice(calls, asked), bar_ms))
        figures += await _found(documents, asked)
        figures += await _written(documents, writes_s)
    after = stack.memory()["workspace"].pss
    each = f"{(after - before) / size / 1024:.1f} KiB a document"
    return [*figures, Fact("memory of workspace, PSS", f"{mib(before)} before, {mib(after)} after: {each}")]


async def _at_rest(stack: Stack) -> Fact:
    """Wait until workspace has linked the documents to what they name, which it does in the background."""
    began = time.perf_counter()
    async with asyncio.timeout(INDEXED_S_MAX):
        busy = True
        while busy:
            before = stack.cpu_s()["workspace"]
            await asyncio.sleep(REST_LOOK_S)
            busy = stack.cpu_s()["workspace"] - before > REST_CPU_SHARE * REST_LOOK_S
    return Fact("then linked to the code, in the background", f"{time.perf_counter() - began:.0f} s")


async def _fill(documents: Documents, size: int, rng: random.Random, words: list[str]) -> Figures:
    began = time.perf_counter()
    files = (_file(number, rng, words) for number in range(size))
    while batch := list(itertools.islice(files, BATCH)):
        await documents.take(batch)
    stored_s = time.perf_counter() - began
    async with asyncio.timeout(INDEXED_S_MAX):
        while await documents.indexed() < size:  # noqa: ASYNC110 - another process indexes them
            await asyncio.sleep(0.5)
    indexed_s = time.perf_counter() - began
    began = time.perf_counter()
    await documents.commit()
    return [
        Fact(f"{size:,} documents imported", f"{stored_s:.0f} s; searchable after {indexed_s:.0f} s"),
        Fact(f"commit of {size:,} drafts", f"{time.perf_counter() - began:.1f} s"),
    ]


def _questions(
    documents: Documents, rng: random.Random, words: list[str]
) -> dict[str, tuple[Iterator[Call], float]]:
    def forever(make: Callable[[], Call]) -> Iterator[Call]:
        while True:
            yield make()

    def some(count: int) -> str:
        return " ".join(rng.sample(words, count))

    def searches(make: Callable[[], Call]) -> tuple[Iterator[Call], float]:
        return forever(make), SEARCH_BAR_MS

    def lists(make: Callable[[], dict[str, str | int]]) -> tuple[Iterator[Call], float]:
        return forever(lambda: partial(documents.list, **make())), LIST_BAR_MS

    return {
        "search three words": searches(lambda: partial(documents.search, some(3))),
        "search a sentence": searches(
            lambda: partial(documents.search, f"how often are deliveries of {some(1)} weighed")
        ),
        "search, one tag of 200": searches(
            lambda: partial(documents.search, some(2), filter_tags=[f"tag-{rng.randrange(TAGS)}"])
        ),
        "list, newest": lists(dict),
        "list by tag": lists(lambda: {"tag": f"tag-{rng.randrange(TAGS)}"}),
        "list by category and time": lists(
            lambda: {"category": f"category-{rng.randrange(CATEGORIES)}", "modified_after": "2026-01-01"}
        ),
        "list by title": lists(lambda: {"search_title": rng.choice(words), "sort_by": "title"}),
    }


async def _found(documents: Documents, asked: int) -> Figures:
    """Measures how soon a document is found whose writer waits for it."""
    created, found = [], []
    for _ in range(asked):
        word = f"w{uuid.uuid4().hex}"
        began = time.perf_counter()
        document = await documents.create(word, wait=True)
        created.append(time.perf_counter() - began)
        while document not in {hit["document_id"] for hit in await documents.search(word, max_results=3)}:
            pass
        found.append(time.perf_counter() - began)
    return [
        Figure("create a document and wait until it is indexed", spread(created)),
        Figure("a document written, then found", spread(found), FOUND_BAR_MS),
    ]


async def _written(documents: Documents, writes_s: int) -> Figures:
    """Writes at a fixed rate, whatever the answers take, and follows each document until it is indexed."""
    answered: list[float] = []
    made: asyncio.Queue[tuple[float, str] | None] = asyncio.Queue()
    lags: list[float] = []

    async def write() -> None:
        began = time.perf_counter()
        document = await documents.create(f"w{uuid.uuid4().hex}", wait=False)
        answered.append(time.perf_counter() - began)
        made.put_nowait((began, document))

    async def follow() -> None:
        while (one := await made.get()) is not None:
            while not await documents.is_indexed(one[1]):  # noqa: ASYNC110 - another process indexes it
                await asyncio.sleep(0.05)
            lags.append(time.perf_counter() - one[0])

    total = WRITES_PER_S * writes_s
    before = int((await documents.list(limit=1))["total"])
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        group.create_task(follow())
        writes = []
        for number in range(total):
            await asyncio.sleep(max(0.0, began + number / WRITES_PER_S - time.perf_counter()))
            writes.append(group.create_task(write()))
        await asyncio.gather(*writes)
        made.put_nowait(None)
    kept = int((await documents.list(limit=1))["total"]) - before
    return [
        Fact(
            f"{WRITES_PER_S} writes a second for {writes_s} s", f"{kept:,} of {total:,} documents are there"
        ),
        Figure("a write of these", spread(answered)),
        Figure("a document of these until it is indexed", spread(lags), LAG_BAR_MS),
    ]


def _file(number: int, rng: random.Random, words: list[str]) -> dict[str, str]:
    """Returns a file of some 1.5 kB with front matter, in one of a hundred folders."""
    tags = ", ".join(f"tag-{rng.randrange(TAGS)}" for _ in range(3))
    sections = "\n\n".join(
        f"## {' '.join(rng.sample(words, 3))}\n\n{' '.join(rng.choices(words, k=TEXT_WORDS // 3))}."
        for _ in range(3)
    )
    head = f"---\ntags: [{tags}]\ncategory: category-{rng.randrange(CATEGORIES)}\n---\n"
    return {
        "path": f"documents/{number % 100:02}/{number:05}.md",
        "text": f"{head}# {' '.join(rng.sample(words, 4))}\n\n{sections}\n",
    }
