"""What contexts find and how long they take, beside a search of the same size.

    python -m bench.contexts --repos CLONES [--tokens 1000,2000,4000] [--out FILE]

CLONES has a folder per repository. Those that the questions of bench.agents are about are asked these, at their revision;
the right places are those of the questions. All are asked the subjects of their commits, at a tree some hundred commits
before; the right places are the lines that the commit changed. Each budget is asked of an index without cached answers.

Times are those over REST of one client. A question is asked fast and deep, and the second time of either has the
searches of the first cached, so every other question begins with deep, and only the first time of each counts. The
services have just been started: the first question about a repository loads what the next ones use, and has a row of its
own.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from bench.agents.questions import Place, load
from bench.commits import changed_lines, commits_after, lay_out, lay_out_commit
from bench.measure_graph import until_built
from bench.measure_index import index_folder
from bench.spread import Spread, spread
from bench.stack import Stack, restarted, running_stack
from prism_cli.client import Prism

TOKENS = (1_000, 2_000, 4_000)
COMMITS = 25  # per repository
SEED = 11
ANSWER_SECONDS_MAX = 60.0
BARS_MS = {"fast": 150, "cached": 15, "deep": 1_500}
FIRST = ", the first of a repository after a start"
COMMIT, SYMBOLS = "commits", "questions"


class Case(NamedTuple):
    """A question with its right places."""

    family: str
    repo: str
    text: str
    places: tuple[Place, ...]

    @property
    def files(self) -> set[str]:
        """The files of the right places."""
        return {place.path for place in self.places}


class Arm(NamedTuple):
    """A way to ask: the path of a route, and a part of its body."""

    name: str
    path: str
    body: Mapping[str, Any]
    question: str  # the field of the body
    items: str  # the field of the answer


class Shares(NamedTuple):
    """Shares of the right files, and of the right places of which a line is shown."""

    files: float
    places: float


FAST = Arm("get_context, fast", "context", {"mode": "fast"}, "question", "items")
DEEP = Arm("get_context, deep", "context", {"mode": "deep"}, "question", "items")
CODE = Arm(
    "get_context, deep, code only", "context", {"mode": "deep", "domains": ["code"]}, "question", "items"
)
SEARCHES = tuple(
    Arm(f"search, {limit} hits", "search", {"limit": limit}, "query", "results") for limit in (10, 100)
)


def main() -> None:
    """Run what the options say."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="prism-contexts-") as folder:
        cases = list(_cases(options.repos, Path(folder), options.commits))
        with running_stack(Path(folder) / "stack") as stack:
            result = asyncio.run(_measure(stack, Path(folder), cases, options.tokens))
    print(report(result, options.tokens))
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _cases(clones: Path, folder: Path, commits_max: int) -> Iterator[Case]:
    """Lays out the trees in the folder, and yields the questions about them."""
    asked = defaultdict(list)
    for question in load():
        if question.truth:
            asked[question.repo].append(question)
    for clone in sorted(path for path in clones.iterdir() if path.is_dir()):
        for question in asked[clone.name]:
            repo = f"{SYMBOLS}/{clone.name}"
            lay_out_commit(clone, question.revision, folder / repo)
            yield Case(SYMBOLS, repo, question.question, question.truth)
        repo = f"{COMMIT}/{clone.name}"
        base = lay_out(clone, folder / repo)
        commits = list(commits_after(clone, base, folder / repo))
        random.Random(SEED).shuffle(commits)
        for commit in commits[:commits_max]:
            lines = changed_lines(clone, commit, folder / repo)
            places = tuple(place for path in sorted(lines) for place in runs(path, lines[path]))
            if places:
                yield Case(COMMIT, repo, commit.subject, places)


def runs(path: str, lines: Iterable[int]) -> list[Place]:
    """Returns lines of a file as places of consecutive lines."""
    found: list[Place] = []
    for line in sorted(lines):
        if found and found[-1].end == line - 1:
            found[-1] = found[-1].model_copy(update={"end": line})
        else:
            found.append(Place(path=path, start=line, end=line))
    return found


async def _measure(
    stack: Stack, folder: Path, cases: Sequence[Case], budgets: Sequence[int]
) -> dict[str, Any]:
    async with Prism(stack.target) as prism:
        for repo in dict.fromkeys(case.repo for case in cases):
            await index_folder(prism, folder / repo, repo)
            await until_built(stack, repo)
    asked = Asked()
    for budget in budgets:
        stack = await asyncio.to_thread(restarted, stack)
        asked.warm.clear()
        headers = {"Authorization": f"Bearer {stack.target.token}"}
        async with httpx2.AsyncClient(
            base_url=f"{stack.target.url}/api/v1/", headers=headers, timeout=ANSWER_SECONDS_MAX
        ) as http:
            for number, case in enumerate(cases):
                await asked.ask_each(http, case, budget, DEEP if number % 2 else FAST)
    return {
        "asked": {family: sum(case.family == family for case in cases) for family in (SYMBOLS, COMMIT)},
        "ms": {name: spread(found)._asdict() for name, found in asked.times.items()},
        "shares": {name: _mean(found)._asdict() for name, found in asked.shares.items()},
    }


class Asked:
    """Seconds by kind of context, and what was found by group of answers."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.warm: set[str] = set()  # repositories that were asked since the start
        self.shares: dict[str, list[Shares]] = defaultdict(list)

    async def ask_each(self, http: httpx2.AsyncClient, case: Case, budget: int, first: Arm) -> None:
        """Ask in every way, in this one first."""
        for arm in (first, DEEP if first is FAST else FAST, CODE, *SEARCHES):
            seconds, items = await _ask(http, arm, case, budget)
            self.shares[key_of(case.family, budget, arm.name)].append(shares_of(case, items))
            if arm is first:
                name = "fast" if arm is FAST else "deep"
                self.times[name if case.repo in self.warm else name + FIRST].append(seconds)
                self.warm.add(case.repo)
        seconds, _ = await _ask(http, FAST, case, budget)
        self.times["cached"].append(seconds)


async def _ask(
    http: httpx2.AsyncClient, arm: Arm, case: Case, budget: int
) -> tuple[float, list[dict[str, Any]]]:
    body = {"repo": case.repo, arm.question: case.text, "max_tokens": budget, **arm.body}
    began = time.perf_counter()
    answer = await http.post(arm.path, json=body)
    seconds = time.perf_counter() - began
    answer.raise_for_status()
    return seconds, answer.json()[arm.items]


def shares_of(case: Case, items: Sequence[Mapping[str, Any]]) -> Shares:
    """Returns what an answer shows of the right files and places."""
    shown = [
        Place(
            path=one["file_path"], start=one["start_line"], end=one["start_line"] + one["content"].count("\n")
        )
        for one in items
    ]
    files = case.files & {place.path for place in shown}
    places = [right for right in case.places if any(right.covers(place) for place in shown)]
    return Shares(len(files) / len(case.files), len(places) / len(case.places))


def key_of(family: str, budget: int, arm: str) -> str:
    """Returns the name of a group of answers."""
    return f"{family}, {budget} tokens, {arm}"


def report(result: Mapping[str, Any], budgets: Sequence[int]) -> str:
    """Returns the tables of a result."""
    lines = ["| context | p50 | p95 | bar for p95 |", "|---|---:|---:|---:|"]
    for name, found in sorted(result["ms"].items()):
        figures = Spread(**found)
        bar = f"{BARS_MS[name]:,} ms" if name in BARS_MS else ""
        lines.append(f"| {name} | {figures.p50:.0f} ms | {figures.p95:.0f} ms | {bar} |")
    for family, asked in result["asked"].items():
        heads = [f"files in {budget:,} tokens | places" for budget in budgets]
        lines += ["", f"| {asked} {family} | {' | '.join(heads)} |", f"|---|{'---:|' * 2 * len(budgets)}"]
        for arm in (FAST, DEEP, CODE, *SEARCHES):
            found = [Shares(**result["shares"][key_of(family, budget, arm.name)]) for budget in budgets]
            cells = [f"{share:.1%}" for one in found for share in one]
            lines.append(f"| {arm.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(found: Sequence[Shares]) -> Shares:
    return Shares(*(round(sum(part) / len(found), 4) for part in zip(*found, strict=True)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True, help="folder with the clones")
    parser.add_argument("--commits", type=int, default=COMMITS, help="commits per repository")
    parser.add_argument("--tokens", type=lambda text: [int(one) for one in text.split(",")], default=TOKENS)
    parser.add_argument("--out", type=Path, help="file for the figures as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
