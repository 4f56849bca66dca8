"""Two copies of each service on three NATS nodes, rolled while agents ask and a forge pushes: no question fails."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from forked_processes import Fork, start
from small_proxy import small_proxy
from source_repos import FILES

from bench.measure_index import until_final
from bench.rolls.changes import Change, Changes, Origin, Writer, until_found
from bench.rolls.copies import TOKEN, Copies
from bench.rolls.points import compared, points_of
from bench.rolls.questions import Askers
from prism_cli.client import Prism
from prism_cli.stack.probes import HOST
from prism_cli.target import ServerTarget

pytestmark = pytest.mark.long

ASKED, PUSHED, EDITED = "copies/asked", "copies/pushed", "copies/edited"
QUESTIONS = ("withdraw money from an account", "retry with a longer pause", "insufficient funds")
TEXTS = {path: text for path, text in FILES.items() if isinstance(text, str)}
ROLLED = ("gateway", "search")
FOUND_SECONDS_MAX = 180
CHANGE_EVERY_S = 0.5
DRAIN_S = "1"  # ten looks of the proxy


class ForkedCopies(Copies):
    """Copies that are forked: a fresh Python for each would spend minutes on loading the same modules."""

    def run(self, module: str, environment: Mapping[str, str], log: Path) -> Fork:
        return Fork(start(module, environment, log))


@pytest.fixture
def copies(nats_cluster, tmp_path: Path):
    settings = {"PRISM_NATS_REPLICAS": "3", "PRISM_DRAIN_S": DRAIN_S}
    with ForkedCopies(tmp_path / "copies", nats_cluster.url, "", Path(sys.executable), settings) as running:
        yield running


async def test_a_roll_fails_no_question_and_loses_no_push(copies: Copies, tmp_path: Path) -> None:
    pushed, edited = Origin(tmp_path / "pushed", TEXTS), Origin(tmp_path / "edited", TEXTS)
    async with small_proxy([f"http://{HOST}:{copies.port(copy)}" for copy in copies.of("gateway")]) as url:
        target = ServerTarget(url, TOKEN)
        await _clone(target, pushed, ASKED, PUSHED)
        await _clone(target, edited, EDITED)
        asking = Askers(target, ASKED, QUESTIONS).start()
        writing = asyncio.create_task(Writer(target, (PUSHED, pushed), EDITED, CHANGE_EVERY_S).write())
        for service in ROLLED:
            for copy in copies.of(service):
                await asyncio.to_thread(copies.restart, copy)
        changes = await writing
        await until_found(target, changes, FOUND_SECONDS_MAX)
        answers = await asking.stop()
        edited.push({change.path: change.text for change in _of(EDITED, changes)})
        await _clone(target, pushed, f"{PUSHED}-fresh")
        await _clone(target, edited, f"{EDITED}-fresh")
    assert answers.failures() == {}
    assert changes.refusals() == {}
    assert changes.lost == []
    for repo in (PUSHED, EDITED):
        difference = compared(points_of(copies.store_url, repo), points_of(copies.store_url, f"{repo}-fresh"))
        assert (difference.missing, difference.unexpected) == (0, 0), difference.examples
    assert copies.exits == []


def _of(repo: str, changes: Changes) -> list[Change]:
    return [change for change in changes.sent if change.repo == repo]


async def _clone(target: ServerTarget, origin: Origin, *repos: str) -> None:
    async with Prism(target) as prism:
        for repo in repos:
            await until_final(prism, await prism.clone(origin.url, repo, ""))
