"""Kills and suspends services during an import: the end equals that of an undisturbed run.

One repository alternates between two states that share no file content. Each state was indexed once without
disturbance; after each disturbed import the store is compared with that, point by point.
"""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from nats.js import JetStreamContext
from running_stack import SERVICES, RunningStack, assert_same_points, check_counts, until
from source_repos import GitRepo

from prism_contracts import topics
from prism_contracts.base import Lane

REPO = "acme/disturbed"
FILES = 200
ONLY_ONE_STATE = 20  # files that the other state lacks
STILL_S = 4.0
FOLLOW_POLL_S = 0.02
QUESTION_PAUSE_S = 0.1
COMMAND_SECONDS_MAX = 120
IMPORTS_MAX = 20
KILLS_MAX = 5
# An import only asks them, so they are killed at the same time.
READERS = ("search", "atlas", "workspace", "scribe")
# What each stage reads and publishes.
READS = {
    "ingest": topics.FILES_UPLOADED,
    "chunker": topics.FILE_CHANGED,
    "embedder": topics.FILE_CHUNKED,
    "indexer": topics.FILE_EMBEDDED,
}
PUBLISHES = {
    topics.FILES_UPLOADED: topics.FILE_CHANGED,
    topics.FILE_CHANGED: topics.FILE_CHUNKED,
    topics.FILE_CHUNKED: topics.FILE_EMBEDDED,
}
# The allowed error codes during an outage; `internal` is not among them.
OUTAGES = {"unavailable", "deadline_exceeded"}


def state_of(name: str) -> dict[str, str]:
    """Returns the files of a state; every line is marked with its name."""
    shared = {f"src/part_{number:03}.py": source(name, number) for number in range(FILES)}
    own = {f"only_{name}/part_{number:03}.py": source(name, number) for number in range(ONLY_ONE_STATE)}
    return shared | own


def source(name: str, number: int) -> str:
    return "\n\n".join(
        f'def {name}_{number}_{part}(value):\n    """Step {part} of {name} {number}."""\n'
        + "".join(f"    value = value * {number + line} + {part}  # {name}\n" for line in range(12))
        + "    return value\n"
        for part in range(3)
    )


@dataclass
class Peaceful:
    """The repository, and the points of each of its states after an undisturbed import."""

    repo: GitRepo
    id: str
    points: dict[str, dict[str, Any]]
    now: str

    def switch(self) -> str:
        """Checks out the other state."""
        self.now = "beta" if self.now == "alpha" else "alpha"
        self.repo.git("checkout", "--quiet", self.now)
        return self.now


@pytest.fixture(scope="module")
def peaceful(breakable_stack: RunningStack, tmp_path_factory) -> Peaceful:
    repo = GitRepo(tmp_path_factory.mktemp("disturbed") / "repo")
    for name in ("alpha", "beta"):
        repo.git("checkout", "--quiet", "--orphan", name)
        subprocess.run(["rm", "-rf", repo.folder / "src", *repo.folder.glob("only_*")], check=True)
        repo.write(state_of(name))
        repo.commit(name)
    points: dict[str, dict[str, Any]] = {}
    # From the third import on, every import leaves the same tombstones.
    for name in ("alpha", "beta", "alpha"):
        repo.git("checkout", "--quiet", name)
        job = breakable_stack.index(repo.folder, "--name", REPO)
        assert job["counts"]["indexed"] == FILES + ONLY_ONE_STATE
        points[name] = breakable_stack.points(job["repo"])
    return Peaceful(repo, job["repo"], points, "alpha")


class Middle:
    """Detects that a service is in the middle of an import: some of its work is done, some waits."""

    def __init__(self, js: JetStreamContext, service: str) -> None:
        self._js = js
        self._topic = READS.get(service, topics.FILE_EMBEDDED)
        self._durable = self._topic.durable(service if service in READS else "indexer", Lane.BULK)
        self._done_before = 0

    async def begin(self) -> None:
        self._done_before = await self._done()

    async def is_here(self) -> bool:
        info = await self._js.consumer_info(self._topic.stream.name, self._durable)
        waiting = (info.num_pending or 0) + (info.num_ack_pending or 0)
        return waiting > 0 and await self._done() > self._done_before

    async def _done(self) -> int:
        """Returns the messages that the stage has published, or for the last stage those that it has acked."""
        published = PUBLISHES.get(self._topic)
        if published:
            return (await self._js.stream_info(published.stream.name)).state.last_seq
        info = await self._js.consumer_info(self._topic.stream.name, self._durable)
        return info.ack_floor.consumer_seq if info.ack_floor else 0


async def start_index(
    stack: RunningStack, peaceful: Peaceful, service: str
) -> tuple[subprocess.Popen[str], str]:
    """Returns the command in the background, once the service is in the middle of the import, and the
    imported state.

    An import that ends before that is followed by the next.
    """
    async with stack.jetstream() as js:
        for _ in range(IMPORTS_MAX):
            state = peaceful.switch()
            last = stack.newest_job(REPO)["job"]
            middle = Middle(js, service)
            await middle.begin()
            command = stack.begin("index", str(peaceful.repo.folder), "--name", REPO, "--wait", "--json")
            if await is_reached(middle, command):
                await until(lambda last=last: stack.newest_job(REPO)["job"] != last, what="the import began")
                return command, state
            check_end(stack, peaceful, end_of(command), state)
    pytest.fail(f"none of {IMPORTS_MAX} imports could be disturbed")


async def is_reached(middle: Middle, command: subprocess.Popen[str]) -> bool:
    """Waits for the middle; returns False if the command ends before."""
    async with asyncio.timeout(COMMAND_SECONDS_MAX):
        while command.poll() is None:
            if await middle.is_here():
                return True
    return False


def end_of(command: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = command.communicate(timeout=COMMAND_SECONDS_MAX)
    assert command.returncode == 0, (command.returncode, output, errors)
    return json.loads(output)["job"]


def check_end(stack: RunningStack, peaceful: Peaceful, job: dict[str, Any], state: str) -> None:
    assert job["state"] == "complete", job
    check_counts(job)
    counts = job["counts"]
    assert (counts["seen"], counts["indexed"]) == (FILES + ONLY_ONE_STATE, FILES + ONLY_ONE_STATE)
    assert counts["removed"] == ONLY_ONE_STATE
    assert_same_points(stack.points(peaceful.id), peaceful.points[state])


@pytest.mark.parametrize(
    "killed", [(name,) for name in SERVICES if name not in READERS] + [READERS], ids="-".join
)
async def test_import_survives_a_kill(
    breakable_stack: RunningStack, peaceful: Peaceful, killed: tuple[str, ...]
) -> None:
    restarts = {service: breakable_stack.state()["services"][service]["restarts"] for service in killed}
    command, state = await start_index(breakable_stack, peaceful, killed[0])
    for service in killed:
        breakable_stack.kill(service)
    job = end_of(command)
    for service in killed:
        breakable_stack.wait_restarted(service, restarts[service] + 1)
    check_end(breakable_stack, peaceful, job, state)


async def ask_on(stack: RunningStack, is_over: Callable[[], bool]) -> list[str]:
    """Asks continuously; each answer is right or an error with a code. Returns the codes."""
    codes = []
    async with stack.agent(REPO) as agent:
        while not is_over():
            # A different question each time: a repeated one would come from the cache.
            question = f"step 2 of part 7, for the {len(codes)}th time"
            found, code = await agent.outcome("search_code", query=question, limit=3)
            codes.append(code)
            if found is None:
                assert code in OUTAGES, code
            else:
                assert found["results"], "an outage became an empty answer"
            matched, code = await agent.outcome("grep_code", pattern="_7_2(value)", limit=5)
            codes.append(code)
            if matched is None:
                assert code in OUTAGES, code
            else:
                check_grep(matched)
            await asyncio.sleep(QUESTION_PAUSE_S)
    return codes


def check_grep(answer: dict[str, Any]) -> None:
    """Expects one of the two versions of the file that exists in both states, or its namesake in one state."""
    texts = {match["text"] for match in answer["matches"]}
    assert texts, answer
    assert texts <= {"def alpha_7_2(value):", "def beta_7_2(value):"}


@pytest.mark.parametrize("service", ["nats", "qdrant"])
async def test_import_survives_a_suspended_engine(
    breakable_stack: RunningStack, peaceful: Peaceful, service: str
) -> None:
    command, state = await start_index(breakable_stack, peaceful, service)
    over_at = time.monotonic() + STILL_S
    with breakable_stack.stopped(service):
        asking = asyncio.create_task(ask_on(breakable_stack, lambda: command.poll() is not None))
        while time.monotonic() < over_at:
            await asyncio.sleep(FOLLOW_POLL_S)
    job = await asyncio.to_thread(end_of, command)
    codes = await asking
    assert "" in codes, "no question was answered afterwards"
    check_end(breakable_stack, peaceful, job, state)


@pytest.mark.parametrize("service", ["qdrant", "search"])
async def test_questions_during_a_kill_get_a_code_and_recover(
    breakable_stack: RunningStack, peaceful: Peaceful, service: str
) -> None:
    """Each question gets an answer or an error with a code soon, and answers come back.

    Questions wait for a store that restarts, so none has to fail.
    """
    for _ in range(KILLS_MAX):
        codes = await ask_while_killed(breakable_stack, service)
        if any(codes) or (codes and service == "qdrant"):
            break
    else:
        pytest.fail("no question was asked while the service was down")
    async with breakable_stack.agent(REPO) as agent:
        answer = await agent.ask("grep_code", pattern="_7_2(value)")
    assert len(answer["matches"]) == 2


async def test_a_service_that_hangs_is_replaced(breakable_stack: RunningStack, peaceful: Peaceful) -> None:
    facts = breakable_stack.state()["services"]["search"]
    os.kill(facts["pid"], signal.SIGSTOP)
    breakable_stack.wait_restarted("search", facts["restarts"] + 1)
    assert breakable_stack.state()["services"]["search"]["last_exit"].startswith("no answer for")
    async with breakable_stack.agent(REPO) as agent:
        assert (await agent.ask("grep_code", pattern="_7_2(value)"))["matches"]


async def ask_while_killed(stack: RunningStack, service: str) -> list[str]:
    """Returns the codes of the answers until the service is back."""
    restarts = stack.state()["services"][service]["restarts"]
    asking = asyncio.create_task(ask_on(stack, lambda: is_back(stack, service, restarts)))
    await asyncio.sleep(QUESTION_PAUSE_S)
    stack.kill(service)
    return await asking


def is_back(stack: RunningStack, service: str, restarts: int) -> bool:
    facts = stack.state()["services"][service]
    return facts["restarts"] > restarts and facts["ready"]


async def test_services_start_while_the_engines_are_suspended(
    breakable_stack: RunningStack, peaceful: Peaceful
) -> None:
    services = [name for name in SERVICES if name not in ("nats", "qdrant")]
    before = {name: breakable_stack.state()["services"][name]["restarts"] for name in services}
    with breakable_stack.stopped("nats"), breakable_stack.stopped("qdrant"):
        for service in services:
            breakable_stack.kill(service)
        await until(
            lambda: all(
                breakable_stack.state()["services"][name]["restarts"] > before[name] for name in services
            ),
            what="every service was started again",
        )
        await asyncio.sleep(STILL_S)
    for service in services:
        breakable_stack.wait_restarted(service, before[service] + 1)
    job = breakable_stack.index(peaceful.repo.folder, "--name", REPO)
    assert job["nothing_changed"]
    async with breakable_stack.agent(REPO) as agent:
        assert (await agent.ask("search_code", query="step 2 of part 7"))["results"]


async def test_import_resumes_after_down_and_up(breakable_stack: RunningStack, peaceful: Peaceful) -> None:
    command, state = await start_index(breakable_stack, peaceful, "indexer")
    job_id = breakable_stack.newest_job(REPO)["job"]
    breakable_stack.down()
    command.kill()
    command.wait()
    breakable_stack.up()
    job = breakable_stack.ended_job(job_id)
    check_end(breakable_stack, peaceful, job, state)
