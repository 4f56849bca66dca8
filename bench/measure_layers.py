"""Layers: time from a save to search, time and cost of a branch, and questions over hundreds of branches."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console

from bench.corpus import Corpus
from bench.measure_index import REPO, marker, until_final, until_hit
from bench.measure_push import Remote, tell
from bench.measure_search import call_tool, mcp_client
from bench.questions import make_questions
from bench.spread import Spread, spread
from bench.stack import Stack
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.sync.command import Place, overlay_of
from prism_cli.sync.display import StatusLine
from prism_cli.sync.saves import Saves
from prism_cli.sync.watch import TTL_S, Watch
from prism_contracts.errors import ErrorCode

FILES_A_BRANCH = 3
CHANGED_SHARE = 0.01
CHANGED_BRANCHES = 5
POLL_S = 0.05
SECONDS_MAX = 280.0
WARM_UP = 20


@dataclass(frozen=True)
class ChangedBranch:
    """Branches with a hundredth of the files changed, pushed in sequence."""

    files: int
    searchable: Spread  # from the webhook until it is served: every file of it is settled
    points_added: float  # by each, in hundredths of those of the base


@dataclass(frozen=True)
class ManyLayers:
    """Branches with some changed files each, over one base."""

    layers: int
    base_files: int
    points_ratio: float  # of all together to those of the base
    pushed_to_served_s: float  # all of them
    base_alone: Spread  # questions before there was any layer
    base: Spread
    layer: Spread


@dataclass(frozen=True)
class Layers:
    """What was measured of layers."""

    saved: Spread  # from the save until a question at the overlay finds what is new
    branch: ChangedBranch
    many: ManyLayers


class _Grown(NamedTuple):
    """By how many points, and in how many seconds from the first webhook on."""

    points: int
    served_s: float


async def layers(
    stack: Stack, corpus: Corpus, *, branches: int, edits: int, questions: int, seed: int
) -> Layers:
    """Import the corpus from git, then look at it in all these ways."""
    remote = await asyncio.to_thread(Remote, corpus)
    async with Prism(stack.target) as prism:
        await until_final(prism, await prism.clone(f"file://{remote.bare}", REPO, ""))
        points = await _points(prism)
        alone = await _questions(stack, corpus, questions, seed)
        saved = await _saves(stack, prism, corpus, edits, seed)
        remote.reset()
        branch = await _changed_branches(stack, prism, remote, seed + 100)
        refs = [f"many/{number}" for number in range(branches)]
        many = await _many(stack, prism, remote, refs, seed + 200)
        base = await _questions(stack, corpus, questions, seed + 1)
        layer = await _questions(stack, corpus, questions, seed + 2, refs)
    ratio = round(1 + many.points / points, 3)
    return Layers(saved, branch, ManyLayers(branches, corpus.files, ratio, many.served_s, alone, base, layer))


async def _saves(stack: Stack, prism: Prism, corpus: Corpus, count: int, seed: int) -> Spread:
    """Runs like `prism watch`, with a client that asks continuously."""
    chosen = random.Random(seed).sample(corpus.paths(), count)
    async with _watched(stack, corpus) as handle:
        times = [
            await _save(prism, corpus, handle, path, seed + number) for number, path in enumerate(chosen)
        ]
    return spread(times)


@asynccontextmanager
async def _watched(stack: Stack, corpus: Corpus) -> AsyncIterator[str]:
    """A watch over the corpus; the handle of its overlay."""
    async with overlay_of(stack.target, Place(corpus.folder, REPO), TTL_S) as (overlay, checkout):
        handle = (await overlay.sync(look_below=True)).handle
        with Saves(checkout) as saves, StatusLine(Console(quiet=True)) as line:
            task = asyncio.create_task(Watch(overlay, saves, line, checkout.root).run())
            try:
                yield handle
            finally:
                saves.end()
                task.cancel()
        await overlay.close()


async def _save(prism: Prism, corpus: Corpus, handle: str, path: str, seed: int) -> float:
    word = marker(seed)
    with (corpus.folder / path).open("a") as file:
        file.write(f"\n\ndef {word}():\n    return {seed}\n")
    saved = time.perf_counter()
    await until_hit(prism, word, path, ref=handle)
    return time.perf_counter() - saved


async def _changed_branches(stack: Stack, prism: Prism, remote: Remote, seed: int) -> ChangedBranch:
    count = max(1, int(remote.corpus.files * CHANGED_SHARE))
    before = await _points(prism)
    times = []
    for number in range(CHANGED_BRANCHES):
        branch = f"changed/{number}"
        commit = remote.branch(branch, _changed(remote.corpus, count, seed + number))
        posted = time.perf_counter()
        await tell(stack, commit, branch)
        await _until_served(prism, branch, commit)
        times.append(time.perf_counter() - posted)
    added = await _points(prism) - before
    return ChangedBranch(count, spread(times), round(100 * added / before / CHANGED_BRANCHES, 2))


async def _many(stack: Stack, prism: Prism, remote: Remote, refs: Sequence[str], seed: int) -> _Grown:
    """Push all branches, then wait."""
    commits = {
        ref: remote.branch(ref, _changed(remote.corpus, FILES_A_BRANCH, seed + number))
        for number, ref in enumerate(refs)
    }
    before = await _points(prism)
    posted = time.perf_counter()
    for ref, commit in commits.items():
        await tell(stack, commit, ref)
    for ref, commit in commits.items():
        await _until_served(prism, ref, commit)
    served_s = round(time.perf_counter() - posted, 1)
    return _Grown(await _points(prism) - before, served_s)


def _changed(corpus: Corpus, count: int, seed: int) -> dict[str, bytes]:
    """Some files with a function more than they have."""
    chosen = random.Random(seed).sample(corpus.paths(), count)
    addition = f"\n\ndef {marker(seed)}():\n    return {seed}\n".encode()
    return {path: (corpus.folder / path).read_bytes() + addition for path in chosen}


async def _until_served(prism: Prism, branch: str, commit: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            if (await prism.receipt(REPO, branch)).indexed_commit == commit:
                return
        except CommandError as error:
            if error.code != ErrorCode.REF_NOT_FOUND:
                raise
        await asyncio.sleep(POLL_S)
    raise TimeoutError(f"{branch} was not served within {SECONDS_MAX:g} s")


async def _points(prism: Prism) -> int:
    points: int = (await prism.status())["points"]["total"]
    return points


async def _questions(
    stack: Stack, corpus: Corpus, count: int, seed: int, refs: Sequence[str] = ("",)
) -> Spread:
    """Ask fresh questions, at one ref at a time."""
    questions = make_questions(corpus, count + WARM_UP, seed)
    async with mcp_client(stack.target) as client:
        answers = [
            await call_tool(client, "search_code", query=question, ref=refs[number % len(refs)])
            for number, question in enumerate(questions)
        ]
    return spread([seconds for seconds, _ in answers][WARM_UP:])
