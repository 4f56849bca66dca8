"""Whatever happens to a repository and to Prism, in the end every ref answers as a fresh index of its
checkout does.

Random histories (truth_history.py) are played against a real stack, many at once (truth_player.py); a kill
affects all of them. When a history is settled, the store of each of its refs is compared, file by file and
chunk by chunk, with repositories into which the same contents were sent once and never changed
(truth_answers.py). For the last histories, the tools that read are compared as well.

`PRISM_TRUTH_HISTORIES` is their number, `PRISM_TRUTH_SEED` plays one alone; see `make truth`.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from nats.js.errors import NotFoundError
from running_stack import Agent, RunningStack
from truth_answers import Answers, answers, differences, stored
from truth_history import CONTENTS, PATHS, History, Tree
from truth_player import SECRET, Play, Remote, Server

HISTORIES = int(os.environ.get("PRISM_TRUTH_HISTORIES", "10"))
SEED = os.environ.get("PRISM_TRUTH_SEED", "")
# The ten histories from here kill a service and suspend one twice, which most do not.
FIRST_SEED = 21_036
AT_ONCE = 100
ASKED = 25  # the last histories, whose answers are compared too
DIFFERENCES_SHOWN = 10

SETTINGS = {
    "PRISM_CLONE_ALLOW_PRIVATE": "true",
    "PRISM_CLONE_SCHEMES": "file",
    "PRISM_WEBHOOK_SECRET": SECRET,
    # Missed webhooks are found soon, and unused variants are swept soon.
    "PRISM_POLL_INTERVAL_S": "10",
    "PRISM_SWEEP_INTERVAL_S": "5",
    "PRISM_SWEEP_PAUSE_S": "3",
    "PRISM_ACK_WAIT_S": "2",
}


@pytest.fixture(scope="module")
def truth_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """A stack of its own: services die here, and polls and sweeps run all the time."""
    stack = RunningStack(tmp_path_factory.mktemp("truth") / "data", **SETTINGS)
    stack.up()
    yield stack
    stack.down()


class Fresh:
    """The answers and the stored points of files that were indexed once."""

    def __init__(self, answered: list[Answers], stored: list[Answers]) -> None:
        """Both lists are ordered by content number."""
        self._answered, self._stored = answered, stored

    @classmethod
    async def index(cls, server: Server, root: Path, *, is_asked: bool = True) -> "Fresh":
        """Indexes one repository per content, in which all files have that content; `is_asked` collects
        answers too.
        """
        wholes = [History(number, dict.fromkeys(PATHS, number), ()) for number in range(CONTENTS)]
        played = [a_play(whole, server, root, "fresh") for whole in wholes]
        await asyncio.gather(*(one.run() for one in played))
        async with server.stack.agent() as agent:
            answered = [await answers(agent, one.name) for one in played if is_asked]
        kept = [(await stored(server.stack, server.js, one.name, [""]))[""] for one in played]
        for one in played:
            await one.forget()
        return cls(answered, kept)

    def answered(self, tree: Tree) -> Answers:
        """Returns the answers of a fresh index of a tree."""
        return {path: self._answered[number][path] for path, number in tree.items()}

    def stored(self, tree: Tree) -> Answers:
        """Returns the stored points of a fresh index of a tree."""
        return {path: self._stored[number][path] for path, number in tree.items()}


async def test_every_ref_answers_as_a_fresh_index_of_its_checkout(
    truth_stack: RunningStack, tmp_path: Path
) -> None:
    seeds = [int(SEED)] if SEED else range(FIRST_SEED, FIRST_SEED + HISTORIES)
    async with Server.of(truth_stack) as server:
        fresh = await Fresh.index(server, tmp_path)
        plays = [a_play(History.of(seed), server, tmp_path, "truth") for seed in seeds]
        slots = asyncio.Semaphore(AT_ONCE)
        asked = plays[-ASKED:]
        results = await asyncio.gather(
            *(play_and_compare(one, fresh, slots, keep=one in asked) for one in plays)
        )
        # No service dies any more: compare the answers of the last histories too.
        async with truth_stack.agent() as agent:
            for one, found in zip(asked, results[-ASKED:], strict=True):
                found.extend([] if found else await wrong_answers(agent, fresh, one))
        assert await dead_letters(server) == 0
    wrong = [
        "\n".join([*found[:DIFFERENCES_SHOWN], str(one.history)])
        for one, found in zip(plays, results, strict=True)
        if found
    ]
    assert not wrong, "\n\n".join(wrong)


async def play_and_compare(played: Play, fresh: Fresh, slots: asyncio.Semaphore, *, keep: bool) -> list[str]:
    """Plays a history until it is settled; returns how its stored refs differ from a fresh index."""
    async with slots:
        try:
            await played.run()
            found = await wrong_points(fresh, played)
        except AssertionError as error:
            found = [str(error)]
        if not keep:
            await played.forget()
    print(
        f"seed {played.history.seed}: {len(found)} differences",
        *found[:DIFFERENCES_SHOWN],
        sep="\n  ",
        flush=True,
    )
    return found


async def wrong_points(fresh: Fresh, played: Play) -> list[str]:
    """Returns where the store differs from a fresh index."""
    server, trees = played.server, played.refs()
    points = await server.patiently(lambda: stored(server.stack, server.js, played.name, trees))
    return [
        f"{ref or 'base'}: {difference}"
        for ref, tree in trees.items()
        for difference in differences(points[ref], fresh.stored(tree))
    ]


async def wrong_answers(agent: Agent, fresh: Fresh, played: Play) -> list[str]:
    """Returns where answers to agents differ from those of a fresh index."""
    return [
        f"{ref or 'base'}: {difference}"
        for ref, tree in played.refs().items()
        for difference in differences(await answers(agent, played.name, ref), fresh.answered(tree))
    ]


def a_play(history: History, server: Server, root: Path, owner: str) -> Play:
    """Returns a play of a history in a repository named after its seed."""
    name = f"{owner}/{history.seed}"
    return Play(name, history, server, Remote(root / f"{name}.git"))


async def dead_letters(server: Server) -> int:
    """Returns the number of dead letters."""
    try:
        return (await server.js.stream_info("PRISM_DEAD_LETTERS")).state.messages
    except NotFoundError:
        return 0
