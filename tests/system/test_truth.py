"""Whatever happens to a repository and to those who tell of it: in the end every ref answers as a fresh index of its checkout.

Random histories (truth_history.py) are played against a real stack, many at once (truth_player.py). When nobody has anything left
to do, what is answered at each ref (truth_answers.py) is compared, file by file and chunk by chunk, with what is answered of
repositories into which the same contents were sent once, and never touched again.

`PRISM_TRUTH_HISTORIES` says how many, `PRISM_TRUTH_SEED` plays one alone; see `make truth`.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_server import git_server
from nats.js.errors import NotFoundError
from running_stack import Agent, RunningStack
from truth_answers import Answers, Stored, answers, differences
from truth_history import CONTENTS, PATHS, History, Tree
from truth_player import SECRET, NotQuietError, Play, Remote, Server

HISTORIES = int(os.environ.get("PRISM_TRUTH_HISTORIES", "45"))
SEED = os.environ.get("PRISM_TRUTH_SEED", "")
FIRST_SEED = 20_260
AT_ONCE = 15
DIFFERENCES_SHOWN = 10

SETTINGS = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "http",
    "PRISM_WEBHOOK_SECRET": SECRET,
    # What no webhook tells of is found soon, and what is not needed goes soon.
    "PRISM_POLL_INTERVAL_S": "2",
    "PRISM_SWEEP_INTERVAL_S": "1",
    "PRISM_SWEEP_PAUSE_S": "2",
    "PRISM_ACK_WAIT_S": "2",
}


@pytest.fixture(scope="module")
def told_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack of its own: services die here, and everything is looked for all the time."""
    stack = RunningStack(tmp_path_factory.mktemp("truth") / "data", **SETTINGS)
    stack.up()
    yield stack
    stack.down()


class Fresh:
    """What is answered of files that were indexed once."""

    def __init__(self, of_content: list[tuple[Answers, Answers]]) -> None:
        self._of_content = of_content

    @classmethod
    async def index(cls, server: Server, agent: Agent, url: str, root: Path) -> "Fresh":
        """Have a repository indexed for each content, in which all files have it."""
        made = []
        for number in range(CONTENTS):
            whole = History(number, dict.fromkeys(PATHS, number), ())
            played = a_play(whole, server, url, root, "fresh")
            await played.run()
            stored = await Stored(server.stack, played.name).files(server.js)
            made.append((await answers(agent, played.name), stored))
        return cls(made)

    def of(self, tree: Tree) -> tuple[Answers, Answers]:
        """What a fresh index of a tree answers and stores."""
        return tuple(
            {path: self._of_content[number][part][path] for path, number in tree.items()} for part in (0, 1)
        )


async def test_every_ref_answers_as_a_fresh_index_of_its_checkout(
    told_stack: RunningStack, tmp_path: Path
) -> None:
    seeds = [int(SEED)] if SEED else range(FIRST_SEED, FIRST_SEED + HISTORIES)
    wrong: list[str] = []
    with git_server(tmp_path) as url:
        async with Server.of(told_stack) as server:
            async with told_stack.agent() as agent:
                fresh = await Fresh.index(server, agent, url, tmp_path)
            for start in range(0, len(seeds), AT_ONCE):
                wrong += await play(server, fresh, url, tmp_path, seeds[start : start + AT_ONCE])
            assert await dead_letters(server) == 0
    assert not wrong, "\n\n".join(wrong)


async def play(server: Server, fresh: Fresh, url: str, root: Path, seeds: range | list[int]) -> list[str]:
    """Play some histories at once, wait until all is quiet, and compare; what is wrong, with the history that made it so."""
    plays = [a_play(History.of(seed), server, url, root, "truth") for seed in seeds]
    outcomes = await asyncio.gather(*(one.run() for one in plays), return_exceptions=True)
    await server.until(server.is_idle, lambda: "messages are waiting")
    wrong = []
    async with server.stack.agent() as agent:
        for one, outcome in zip(plays, outcomes, strict=True):
            if outcome is None:
                await one.until_served()
                found = await compared(agent, server, fresh, one)
            elif isinstance(outcome, NotQuietError | AssertionError):
                found = [str(outcome)]
            else:
                raise outcome
            if found:
                wrong.append("\n".join([*found[:DIFFERENCES_SHOWN], str(one.history)]))
            print(
                f"seed {one.history.seed}: {len(found)} differences",
                *found[:DIFFERENCES_SHOWN],
                sep="\n  ",
                flush=True,
            )
    return wrong


def a_play(history: History, server: Server, url: str, root: Path, owner: str) -> Play:
    """A history of a repository that is named after its seed."""
    name = f"{owner}/{history.seed}"
    return Play(name, history, server, f"{url}/{name}.git", Remote(root / f"{name}.git"))


async def compared(agent: Agent, server: Server, fresh: Fresh, played: Play) -> list[str]:
    """What is otherwise at the refs of a history than it would be of a fresh index."""
    stored = Stored(server.stack, played.name)
    found: list[str] = []
    for ref, tree in played.refs().items():
        expected_answers, expected_points = fresh.of(tree)
        told = [
            *differences(await answers(agent, played.name, ref), expected_answers),
            *differences(await stored.files(server.js, ref), expected_points),
        ]
        found += [f"{ref or 'base'}: {difference}" for difference in told]
    return found


async def dead_letters(server: Server) -> int:
    """How many messages were given up."""
    try:
        return (await server.js.stream_info("PRISM_DEAD_LETTERS")).state.messages
    except NotFoundError:
        return 0
