"""Live before bulk: edits of one file while another tenant imports many."""

import asyncio
import hashlib
import random
import time
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import nats

from bench.corpus import Corpus
from bench.measure_index import REPO, index_folder, marker, until_hit
from bench.spread import Spread, spread
from bench.stack import Stack
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.stack.layout import read_json
from prism_cli.target import ServerTarget
from prism_contracts.names import KV_TOKENS
from prism_contracts.records import Job, Token

NEIGHBOUR = "neighbour"
FILES_BEFORE = 200  # of the import are settled before the first edit
POLL_S = 0.05


@dataclass(frozen=True)
class Lanes:
    """Edits during another tenant's import."""

    alone: Spread  # from the POST of an overlay until a question finds the change, on an idle stack
    beside_import: Spread
    files_imported: int


class _Editor:
    """A tenant that edits one file at a time, in one overlay."""

    def __init__(self, prism: Prism, corpus: Corpus, handle: str) -> None:
        self._prism = prism
        self._corpus = corpus
        self._handle = handle

    async def edit(self, seed: int) -> float:
        """Returns seconds until a file is found by a unique word."""
        path, word = random.Random(seed).choice(self._corpus.paths()), marker(seed)
        text = (self._corpus.folder / path).read_text(errors="replace")
        content = f"{text}\n\ndef {word}():\n    return {seed}\n"
        posted = time.perf_counter()
        body = {"repo": REPO, "handle": self._handle, "files": [{"path": path, "content": content}]}
        await self._prism.open_overlay(body)
        await until_hit(self._prism, word, path, ref=self._handle)
        return time.perf_counter() - posted


async def lanes(stack: Stack, edited: Corpus, imported: Corpus, *, edits: int, seed: int) -> Lanes:
    """Edit files of one tenant, first alone, then during another one's import."""
    second = await neighbour(stack)
    async with Prism(stack.target) as prism, Prism(second) as other:
        await index_folder(prism, edited.folder)
        handle = (await prism.open_overlay({"repo": REPO, "files": []})).handle
        editor = _Editor(prism, edited, handle)
        alone = [await editor.edit(seed + number) for number in range(edits)]
        task = asyncio.create_task(index_folder(other, imported.folder, "bench/imported"))
        beside = await _edits_beside(editor, other, task, seed + edits)
        job = await task
    return Lanes(spread(alone), spread(beside), job.counts.indexed)


async def _edits_beside(
    editor: "_Editor", other: Prism, imported: asyncio.Task[Job], seed: int
) -> list[float]:
    while not imported.done():
        if await _settled(other) >= FILES_BEFORE:
            break
        await asyncio.sleep(POLL_S)
    times: list[float] = []
    while not imported.done():
        times.append(await editor.edit(seed + len(times)))
    return times


async def _settled(other: Prism) -> int:
    """Returns the import's files that are searchable by now."""
    jobs = (await other.status())["jobs"]
    return max((job["counts"]["indexed"] for job in jobs), default=0)


async def neighbour(stack: Stack) -> ServerTarget:
    """A second tenant of the stack."""
    token = f"prism_{uuid.uuid4().hex}"
    record = Token(tenant=NEIGHBOUR, label="bench", created_at=datetime.now(UTC))
    data = stack.target.local
    assert data is not None
    port = (read_json(data.supervisor_file) or {})["services"]["nats"]["port"]
    secret = (data.root / "secrets" / "nats").read_text().strip()
    connection = await nats.connect(f"nats://127.0.0.1:{port}", token=secret)
    try:
        bucket = await connection.jetstream().key_value(KV_TOKENS)
        await bucket.put(hashlib.sha256(token.encode()).hexdigest(), record.model_dump_json().encode())
    finally:
        await connection.close()
    target = replace(stack.target, token=token)
    await _until_known(target)
    return target


async def _until_known(target: ServerTarget) -> None:
    """A gateway learns of a token within a moment."""
    async with asyncio.timeout(60), Prism(target) as prism:
        while True:
            try:
                await prism.status()
            except CommandError:
                await asyncio.sleep(POLL_S)
            else:
                return
