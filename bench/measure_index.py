"""Indexing: the first time, again with nothing to do, and after the edit of one file."""

import asyncio
import random
import string
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.corpus import Corpus
from bench.spread import Spread, spread
from bench.stack import Memory, Peak, Stack, Stopwatch, Watch, total
from prism_cli.client import Prism
from prism_cli.index.upload import UploadTarget, upload
from prism_contracts.records import FINAL_STATES, Job, JobState
from prism_source.folder import snapshot_folder

REPO = "bench/corpus"
POLL_S = 0.05
HIT_POLL_S = 0.005
HIT_SECONDS_MAX = 60.0
REST_S = 60.0  # the local store compacts half a minute after the last write
MARKER_CHARS = 14
HITS = 10


@dataclass(frozen=True)
class FirstIndex:
    """The first index of the corpus."""

    wall_s: float
    files: int
    chunks: int
    outcome: str
    cpu_s: dict[str, float]
    stack_cpu_s: float
    peak: Peak  # while files go in
    rest_before: Memory
    rest_after: Memory  # this many seconds after the end: REST_S


@dataclass(frozen=True)
class StackMemory:
    """The stack's resources during and long after its work."""

    peak: Peak  # from the start of the first index until its graph is built
    atlas_peak_bytes: int  # PSS of atlas with the process that builds
    rest: Memory  # after some idle minutes


@dataclass(frozen=True)
class NoOp:
    """The same folder again."""

    wall_s: float
    stack_cpu_s: float
    unchanged: int


@dataclass(frozen=True)
class Edits:
    """One changed file, indexed again, until a question finds the change."""

    saved_to_hit: Spread
    post_to_hit: Spread
    saved_to_done: Spread


class _Unseen:
    """Ignores the progress of an upload."""

    def opened(self, job: Job) -> None:
        pass

    def sent(self, files: int, wanted: int) -> None:
        pass


class _EditTimes(NamedTuple):
    saved_to_hit_s: float
    post_to_hit_s: float
    saved_to_done_s: float


async def index_folder(prism: Prism, folder: Path, repo: str = REPO) -> Job:
    """Does what `prism index --wait` does: snapshot the folder, upload, wait for the end."""
    with await asyncio.to_thread(snapshot_folder, folder) as snapshot:
        job = (await upload(prism, snapshot, UploadTarget(repo), _Unseen())).job
    return await until_final(prism, job)


async def first_index(stack: Stack, corpus: Corpus) -> FirstIndex:
    """Index everything, and measure memory before, during and after."""
    rest_before = total(stack.memory().values())
    async with Prism(stack.target) as prism:
        with Watch(stack) as watch, Stopwatch(stack) as watched:
            job = await index_folder(prism, corpus.folder)
    await asyncio.sleep(REST_S)
    return FirstIndex(
        wall_s=watched.wall_s,
        files=job.counts.indexed,
        chunks=job.counts.chunks,
        outcome=_outcome(job),
        cpu_s=watched.cpu_s,
        stack_cpu_s=watched.stack_cpu_s(),
        peak=watch.peak,
        rest_before=rest_before,
        rest_after=total(stack.memory().values()),
    )


async def no_op(stack: Stack, corpus: Corpus) -> NoOp:
    """Index again; nothing changed."""
    async with Prism(stack.target) as prism:
        with Stopwatch(stack) as watched:
            job = await index_folder(prism, corpus.folder)
    return NoOp(watched.wall_s, watched.stack_cpu_s(), job.counts.unchanged)


async def edits(stack: Stack, corpus: Corpus, count: int, seed: int) -> Edits:
    """Change one file after the other."""
    chosen = random.Random(seed).sample(corpus.paths(), count)
    async with Prism(stack.target) as prism:
        times = [await _edit(prism, corpus, path, number) for number, path in enumerate(chosen)]
    return Edits(*(spread(column) for column in zip(*times, strict=True)))


async def _edit(prism: Prism, corpus: Corpus, path: str, number: int) -> _EditTimes:
    name = marker(number)
    with (corpus.folder / path).open("a") as file:
        file.write(f"\n\ndef {name}():\n    return {number}\n")
    saved = time.perf_counter()
    with await asyncio.to_thread(snapshot_folder, corpus.folder) as snapshot:
        posted = time.perf_counter()
        sent = await upload(prism, snapshot, UploadTarget(REPO), _Unseen())
    await until_hit(prism, name, path)
    hit = time.perf_counter()
    await until_final(prism, sent.job)
    return _EditTimes(hit - saved, hit - posted, time.perf_counter() - saved)


def marker(number: int) -> str:
    """Returns a word that shares no part with another."""
    return "".join(random.Random(number).choices(string.ascii_lowercase, k=MARKER_CHARS))


async def until_hit(prism: Prism, name: str, path: str, ref: str = "") -> None:
    """Ask for a word until its file is found."""
    deadline = time.monotonic() + HIT_SECONDS_MAX
    while time.monotonic() < deadline:
        found = (await prism.search(name, REPO, HITS, ref=ref)).results
        if any(hit.file_path == path and name in hit.content for hit in found):
            return
        await asyncio.sleep(HIT_POLL_S)
    raise TimeoutError(f"{path} was not found by {name} within {HIT_SECONDS_MAX:g} s")


async def until_final(prism: Prism, job: Job) -> Job:
    """Wait for the end of a job. Raises RuntimeError if it failed."""
    while job.state not in FINAL_STATES:
        await asyncio.sleep(POLL_S)
        job = await prism.job(job.job)
    if job.state is not JobState.COMPLETE:
        raise RuntimeError(f"The job ended as {job.state}: {job.error or job.problems[:3]}")
    return job


def _outcome(job: Job) -> str:
    counts = job.counts
    return f"{counts.indexed} indexed, {counts.skipped} skipped, {counts.failed} failed of {counts.seen}"
