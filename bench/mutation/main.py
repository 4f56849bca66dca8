"""`python -m bench.mutation.main`: the tests that a broken function fails, and those that Prism names for it.

    python -m bench.mutation.main --work WORK --functions 25 CLONE=PYTHON…

CLONE is a clone of a Python repository, PYTHON an interpreter that has what its suite needs. The suite runs once
as it is, then once per sampled function, which raises, with the tests that run it. WORK keeps copies of the clones
and what was found: a later run asks Prism alone. The graph is built by the code of atlas, without a stack. A table
shows by repository the recall of the named tests, and how many are named per failing one.
"""

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bench.mutation.mutants import Suite, read_truth, sample, write_truth
from bench.mutation.named import Repository

SEED = 7
LIMIT_S = 600
# How many tests per failing one are worth running.
FIRST = 3
TITLES = (
    "| repository | functions | failing | named | of them failing | recall | named per failing | mean recall"
    " | recall of the first |"
)


class Outcome(NamedTuple):
    """A broken function: the tests that fail, and those that are named, nearest first."""

    function: str
    failing: frozenset[str]
    named: Sequence[str]

    @property
    def found(self) -> int:
        """The failing tests that are named."""
        return len(self.failing & set(self.named))

    @property
    def first(self) -> Sequence[str]:
        """The nearest, at most FIRST times as many as fail."""
        return self.named[: FIRST * len(self.failing)]


def main() -> None:
    """Break, ask, and print the table."""
    options = _options()
    print(TITLES)
    print("| --- |" + " --: |" * (TITLES.count("|") - 2))
    every: list[Outcome] = []
    for one in options.clones:
        clone, _, python = one.partition("=")
        outcomes = list(_outcomes(Path(clone), Path(python), options))
        if options.verbose:
            for outcome in outcomes:
                missed = sorted(outcome.failing - set(outcome.named))
                print(
                    f"{outcome.function}: {len(outcome.failing)} fail, {len(outcome.named)} named {missed[:3]}"
                )
        print(_row(Path(clone).name, outcomes), flush=True)
        every += outcomes
    print(_row("*all*", every))


def _outcomes(clone: Path, python: Path, options: argparse.Namespace) -> Iterator[Outcome]:
    truth = _truth(clone, python, options)
    repository = Repository(clone)
    for function, failing in truth.items():
        path, _, name = function.rpartition(":")
        if failing:
            yield Outcome(function, frozenset(failing), repository.tests_of(path, name))


def _truth(clone: Path, python: Path, options: argparse.Namespace) -> Mapping[str, Sequence[str]]:
    kept = options.work / f"{clone.name}.json"
    truth = read_truth(kept)
    if truth:
        return truth
    folder = options.work / clone.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(clone, folder, ignore=shutil.ignore_patterns(".git"))
    suite = Suite(folder, python, options.work, options.limit)
    whole = suite.trace()
    for mutant in sample(folder, whole, options.functions, SEED):
        failing = suite.failing(mutant, whole)
        if failing is not None:
            truth[f"{mutant.path}:{mutant.name}"] = sorted(failing)
            write_truth(kept, truth)
    return truth


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    failing = sum(len(one.failing) for one in outcomes)
    named, found = sum(len(one.named) for one in outcomes), sum(one.found for one in outcomes)
    mean = fmean(one.found / len(one.failing) for one in outcomes) if outcomes else 0.0
    first = sum(len(one.failing & set(one.first)) for one in outcomes)
    figures = f"{found / max(1, failing):.3f} | {named / max(1, failing):.2f} | {mean:.3f}"
    figures += f" | {first / max(1, failing):.3f}"
    return f"| {name} | {len(outcomes)} | {failing} | {named} | {found} | {figures} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="+", metavar="CLONE=PYTHON")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=25)
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for the tests of one function")
    parser.add_argument("--verbose", action="store_true", help="list what was missed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
