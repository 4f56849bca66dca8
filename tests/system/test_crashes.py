"""A service ends right before one of its durable writes, and the next process finishes its work.

One short history (crash_play.py) is played repeatedly against a real stack, each time with one service ending
at one write. Afterwards the store of each ref must equal that of a fresh index, and no job may be left.

`PRISM_CRASH_POINTS` is the number of points to try, `all`, or a range of writes (`1-100`);
`PRISM_CRASH_SERVICES` names the services, and `PRISM_CRASH_NAMED` is a part of the names of writes (`git `);
see `make crash-points`.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from crash_play import HISTORY, SENT, CrashPlay
from running_stack import FINAL, RunningStack
from test_truth import Fresh, wrong_points
from truth_answers import differences, stored
from truth_player import SECRET, Remote, Server

pytestmark = pytest.mark.long

POINTS = os.environ.get("PRISM_CRASH_POINTS", "2")
SEED = int(os.environ.get("PRISM_CRASH_SEED", "20260"))
SERVICES = os.environ.get(
    "PRISM_CRASH_SERVICES", "ingest,indexer,gateway,chunker,embedder,atlas,search"
).split(",")
NAMED = os.environ.get("PRISM_CRASH_NAMED", "")
REQUEST_SECONDS_MAX = 5.0
LOOK_S = 0.1

SETTINGS = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "file",
    "PRISM_WEBHOOK_SECRET": SECRET,
    # Each push is published once, and must arrive without a poll.
    "PRISM_POLL_INTERVAL_S": "0",
    "PRISM_SWEEP_INTERVAL_S": "5",
    "PRISM_SWEEP_PAUSE_S": "3",
    "PRISM_ACK_WAIT_S": "1",
    "PRISM_HEALTHY_AFTER_S": "0",
}


class Point(NamedTuple):
    """A service and the number of its write in the history, from 1."""

    service: str
    write: int


class Crashes:
    """The files that make the services of a stack end at a write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def written(self, service: str) -> list[str]:
        """Returns all writes of a service so far."""
        log = self.folder / f"{service}.writes"
        return log.read_text().splitlines() if log.exists() else []

    def order(self, point: Point) -> None:
        """Makes a service end at a write from now on."""
        (self.folder / f"{point.service}.ended").unlink(missing_ok=True)
        order = self.folder / f"{point.service}.order"
        order.write_text(str(point.write))
        order.rename(self.folder / f"{point.service}.at")

    def ended_at(self, point: Point) -> str:
        """Returns the write at which the service ended; empty if it made fewer."""
        ended = self.folder / f"{point.service}.ended"
        return ended.read_text() if ended.exists() else ""


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningStack, Crashes]]:
    """A stack of its own, whose services end on demand."""
    folder = tmp_path_factory.mktemp("crashes")
    crashes = Crashes(folder / "orders")
    stack = RunningStack(folder / "data", PRISM_CRASH_DIR=str(crashes.folder), **SETTINGS)
    stack.up()
    yield stack, crashes
    stack.down()


async def test_next_process_finishes_what_a_crash_left(
    crashing: tuple[RunningStack, Crashes], tmp_path: Path
) -> None:
    stack, crashes = crashing
    async with Server.of(stack, request_seconds_max=REQUEST_SECONDS_MAX, look_s=LOOK_S) as server:
        fresh = await Fresh.index(server, tmp_path, is_asked=False)
        writes = await writes_of(server, fresh, crashes, tmp_path)
        wrong: dict[Point, str] = {}
        tried = points(writes)
        for point in tried:
            crashes.order(point)
            began = time.monotonic()
            problem = await problem_of(a_play(server, tmp_path, f"{point.service}-{point.write}"), fresh)
            write = crashes.ended_at(point)
            if problem:
                wrong[point] = f"{write}: {problem}"
            outcome = f"{point.service} {point.write}: {write or 'not reached'}: {problem or 'ok'}"
            print(f"{outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    print(table(writes, tried, wrong))
    assert not wrong, "\n".join(f"{point}: {problem}" for point, problem in wrong.items())


async def writes_of(server: Server, fresh: Fresh, crashes: Crashes, root: Path) -> dict[str, list[str]]:
    """Returns the writes of each service in a history without a crash."""
    before = {service: len(crashes.written(service)) for service in SERVICES}
    problem = await problem_of(a_play(server, root, "calm"), fresh)
    assert not problem, problem
    return {service: crashes.written(service)[count:] for service, count in before.items()}


def points(writes: dict[str, list[str]]) -> list[Point]:
    """Returns the points to try: all, or some that a seed picks."""
    all_ = [
        Point(service, number)
        for service, names in writes.items()
        for number, name in enumerate(names, 1)
        if NAMED in name
    ]
    if POINTS == "all":
        return all_
    first, is_range, last = POINTS.partition("-")
    if is_range:
        return [point for point in all_ if int(first) <= point.write <= int(last)]
    return random.Random(SEED).sample(all_, min(int(POINTS), len(all_)))


def a_play(server: Server, root: Path, name: str) -> CrashPlay:
    return CrashPlay(f"crash/{name}", HISTORY, server, Remote(root / f"{name}.git"))


async def problem_of(played: CrashPlay, fresh: Fresh) -> str:
    """Plays, and compares the store with a fresh index; returns the problem, empty if none."""
    try:
        await played.run()
        await played.until_quiet()
        wrong = await wrong_points(fresh, played)
        await until_ended(played)
        wrong += await wrong_upload(played, fresh)
    except AssertionError as error:
        wrong = [str(error)]
    return "; ".join(wrong[:3])


async def wrong_upload(played: CrashPlay, fresh: Fresh) -> list[str]:
    server, name = played.server, f"{played.name}-sent"
    found = (await server.patiently(lambda: stored(server.stack, server.js, name, [""])))[""]
    return [f"upload: {one}" for one in differences(found, fresh.stored(SENT))]


async def until_ended(played: CrashPlay) -> None:
    """Waits until no job of the play is running. An overlay whose reply was lost ends when it expires."""
    left: list[str] = []

    async def have_ended() -> bool:
        answer = await played.server.request("GET", "/api/v1/jobs", params={"limit": 100})
        left[:] = [
            f"{job['state']} {job['layer']} {job['job']}"
            for job in answer.json()["jobs"]
            if job["repo_name"].startswith(played.name)
            and job["state"] not in FINAL
            and job["version"]
            and not job["ref"].startswith("overlay:")
        ]
        return not left

    await played.server.until(have_ended, lambda: f"jobs are left: {left}")


def table(writes: dict[str, list[str]], tried: list[Point], wrong: dict[Point, str]) -> str:
    """Returns a table by service: its writes, how many were tried, and how many left a wrong index."""
    ended, failed = (Counter(point.service for point in points) for points in (tried, wrong))
    rows = [
        f"{service:10} {len(names):7} {ended[service]:7} {failed[service]:7}"
        for service, names in writes.items()
    ]
    return "\n".join(["", f"{'service':10} {'writes':>7} {'tried':>7} {'wrong':>7}", *rows])
