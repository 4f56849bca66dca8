"""One scenario: clients ask, a writer pushes and edits, an import runs, and meanwhile something is disturbed."""

import asyncio
import time
from dataclasses import dataclass, field

from bench.corpus import Corpus, make_corpus
from bench.measure_index import until_final
from bench.questions import make_questions
from bench.rolls.changes import CHANGES, Changes, Origin, Writer, until_found
from bench.rolls.copies import Exit
from bench.rolls.faults import Scenario
from bench.rolls.points import Difference, Points, compared, points_of
from bench.rolls.questions import Answers, Askers
from bench.rolls.site import Site
from prism_cli.client import Prism
from prism_cli.exits import CommandError

# Files in each repository that receives changes.
BASE_FILES = 20
LEAD_S = 3.0
CHANGE_PAUSE_S_MIN = 0.5
FOUND_S_MAX = 180.0
IMPORT_S_MAX = 300.0
EQUAL_S_MAX = 30.0
READY_S_MAX = 120.0
QUESTIONS = 500
ASKED = "rolls/asked"
KINDS = ("pushed", "edited", "imported")
Reference = dict[str, Points]


@dataclass
class Outcome:
    """What clients noticed, and what is in the index afterwards."""

    scenario: Scenario
    answers: Answers
    changes: Changes
    began: float  # when the fault began, by the monotonic clock
    fault_s: float
    imported: str
    exits: list[Exit]
    indexes: Reference
    differences: dict[str, Difference] = field(default_factory=dict)
    not_ready: list[str] = field(default_factory=list)


class Player:
    """Plays scenarios on a site, each in repositories of its own."""

    def __init__(self, site: Site, files: int) -> None:
        self._site = site
        folder = site.folder / "corpus"
        self._corpus: Corpus = make_corpus(folder / "work", files)
        self._large = Origin(folder, {})
        self._questions = make_questions(self._corpus, QUESTIONS, 1)
        self._reference: Reference = {}

    async def prepare(self) -> None:
        """Index the repository that is asked about."""
        async with Prism(self._site.target) as prism:
            await until_final(prism, await prism.clone(self._large.url, ASKED, ""))

    async def play(self, scenario: Scenario) -> Outcome:
        """Play a scenario. The first one is what the indexes of the others are compared with."""
        site, name = self._site, f"rolls/{scenario.name}"
        writer = await self._writer(scenario, name)
        known_exits = len(site.copies.exits)
        asking = Askers(site.target, ASKED, self._questions).start()
        importing = asyncio.create_task(self._import(f"{name}-imported"))
        writing = asyncio.create_task(writer.write())
        await asyncio.sleep(LEAD_S)
        began = time.monotonic()
        await asyncio.to_thread(scenario.disturb, site)
        fault_s = time.monotonic() - began
        changes = await writing
        imported = await importing
        await until_found(site.target, changes, FOUND_S_MAX)
        answers = await asking.stop()
        outcome = Outcome(
            scenario, answers, changes, began, fault_s, imported, site.copies.exits[known_exits:], {}
        )
        await self._compare(name, outcome)
        outcome.not_ready = await asyncio.to_thread(self._mend)
        return outcome

    async def _writer(self, scenario: Scenario, name: str) -> Writer:
        folder = self._site.folder / scenario.name
        base = {
            path: (self._corpus.folder / path).read_text(errors="replace")
            for path in self._corpus.paths()[:BASE_FILES]
        }
        pushed, edited = [await asyncio.to_thread(Origin, folder / kind, base) for kind in KINDS[:2]]
        async with Prism(self._site.target) as prism:
            for kind, origin in (("pushed", pushed), ("edited", edited)):
                await until_final(prism, await prism.clone(origin.url, f"{name}-{kind}", ""))
        pause_s = max(CHANGE_PAUSE_S_MIN, scenario.seconds / CHANGES)
        return Writer(self._site.target, (f"{name}-pushed", pushed), f"{name}-edited", pause_s)

    async def _import(self, repo: str) -> str:
        """Have a repository cloned, and wait for the end of its job. Returns the state, or what failed."""
        try:
            async with Prism(self._site.target) as prism, asyncio.timeout(IMPORT_S_MAX):
                job = await until_final(prism, await prism.clone(self._large.url, repo, ""))
        except TimeoutError:
            return f"not done after {IMPORT_S_MAX:g} s"
        except (CommandError, RuntimeError) as error:
            return str(error)
        return job.state.value

    async def _compare(self, name: str, outcome: Outcome) -> None:
        deadline = time.monotonic() + EQUAL_S_MAX
        while True:
            outcome.indexes = {
                kind: await asyncio.to_thread(points_of, self._site.copies.store_url, f"{name}-{kind}")
                for kind in KINDS
            }
            self._reference = self._reference or outcome.indexes
            outcome.differences = {
                kind: compared(outcome.indexes[kind], self._reference[kind]) for kind in KINDS
            }
            is_equal = not any(one.missing or one.unexpected for one in outcome.differences.values())
            if is_equal or time.monotonic() > deadline:
                return
            await asyncio.sleep(1)

    def _mend(self) -> list[str]:
        """Replace copies that do not recover by themselves. Returns their names and why they are not ready."""
        site, bad = self._site, []
        for copy in site.copies.all:
            try:
                site.copies.wait_ready(copy, seconds=READY_S_MAX)
            except TimeoutError:
                bad.append(f"{copy}: {site.copies.readiness(copy)}")
                site.copies.kill(copy)
                site.copies.start(copy)
        site.copies.wait_ready()
        return bad
