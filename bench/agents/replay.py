"""Whether the first answer alone names every place: asks the first call of each question again.

    python -m bench.agents.replay STATE LOG... [--arms prism,rg] [--missing FILE]

STATE is the file of a kept set-up (`bench.agents.main --keep`), LOG a log of agents that answered its questions. An
agent may call again although its first answer holds everything, to be sure of it; this leaves the agent out. A place
is named if the answer has a line or a range that begins in it, under its path. Questions without a place are left out.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from bench.agents.arms import State, run
from bench.agents.ask import Call, read_log
from bench.agents.questions import Place, Question, load
from bench.agents.report import CHARS_PER_TOKEN, LISTS

# A path at the start of a line, as in `src/a.py:12-30 Shop.sell`, or anywhere if a line number follows.
HEADING = re.compile(r"^[\s./]*(?P<path>(?:[\w@.+-]+/)*[\w@+.-]*\.?\w+)(?=:\d|:?\s*$|:?\s[^=])")
PLACED = re.compile(
    r"(?<![\w/])(?:\./)?(?P<path>(?:[\w@.+-]+/)*[\w@.+-]+\.\w+):(?P<start>\d+)(?:-(?P<end>\d+))?"
)
# `(12-30)`, `12-30 name`, `12: code`.
LINES = re.compile(r"(?<![\w.:-])(?P<start>\d+)(?:-(?P<end>\d+)(?![\w-])|(?=: ))")
# A tool may count decorators, attributes and comments to a definition: up to so many lines in any range, and in one
# that ends where the place does.
ABOVE = 5
ABOVE_SAME_END = 40


class First(NamedTuple):
    """What the first answer to a question named."""

    question: Question
    missing: tuple[Place, ...]
    tokens: float


class Range(NamedTuple):
    """Lines of a file that an answer gives."""

    path: str
    start: int
    end: int

    def names(self, place: Place) -> bool:
        """Whether a reader of this range knows the place."""
        if self.path != place.path or self.start > place.end:
            return False
        above = place.start - self.start
        return above <= ABOVE or (self.end == place.end and above <= ABOVE_SAME_END)


def named(text: str, places: Iterable[Place]) -> set[Place]:
    """Returns the places that a text names."""
    wanted = list(places)
    ranges = set(_ranges(text, {one.path for one in wanted}))
    return {one for one in wanted if any(given.names(one) for given in ranges)}


def _ranges(text: str, paths: set[str]) -> Iterator[Range]:
    """Returns the ranges that a text gives, those in `paths` and in others."""
    path = ""
    for line in text.splitlines():
        placed = [_range(one["path"], one) for one in PLACED.finditer(line)]
        yield from placed
        heading = HEADING.match(line)
        if heading and (heading["path"] in paths or "/" in heading["path"]):
            path = heading["path"]
        elif placed:
            path = placed[0].path
        yield from (_range(path, one) for one in LINES.finditer(line))


def _range(path: str, match: re.Match[str]) -> Range:
    start = int(match["start"])
    return Range(path, start, int(match["end"] or start))


def firsts(state: State, questions: Sequence[Question], log: Iterable[Call], arm: str) -> list[First]:
    """Returns what the first answers of an arm name now."""
    calls: dict[str, Call] = {}
    for call in log:
        if call.arm == arm and call.verb not in LISTS:
            calls.setdefault(call.question, call)
    return [_first(state, one, calls[one.id]) for one in questions if one.truth and one.id in calls]


def _first(state: State, question: Question, call: Call) -> First:
    text = run(state, call.arm, question.repo, call.verb, call.words)
    # `read FILE FIRST LAST` prints numbers without the path.
    found = named(f"{call.words[0]}\n{text}" if call.verb == "read" else text, question.truth)
    missing = tuple(one for one in question.truth if one not in found)
    return First(question, missing, len(text) / CHARS_PER_TOKEN)


def table(arms: Mapping[str, Sequence[First]]) -> str:
    """Returns a row per arm, as Markdown."""
    rows = [
        "| arm | questions | first answer names all places | places named | tokens, mean | median |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for arm, found in arms.items():
        whole = sum(not one.missing for one in found)
        places = sum(len(one.question.truth) for one in found)
        share = 1 - sum(len(one.missing) for one in found) / places
        tokens = [one.tokens for one in found]
        rows.append(
            f"| {arm} | {len(found)} | {whole} ({whole / len(found):.0%}) | {share:.3f} | "
            f"{fmean(tokens):,.0f} | {median(tokens):,.0f} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Ask the first calls again, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("state", type=Path)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--arms", type=lambda text: text.split(","), default=["prism", "rg"])
    parser.add_argument("--missing", type=Path, help="a file for each place that a first answer lacks")
    options = parser.parse_args()
    state = State.model_validate_json(options.state.read_text(encoding="utf-8"))
    questions = load(Path(state.questions))
    log = [call for file in options.logs for call in read_log(file)]
    found = {arm: firsts(state, questions, log, arm) for arm in options.arms}
    print(table({arm: one for arm, one in found.items() if one}))
    if options.missing:
        options.missing.write_text("".join(_missing(found)), encoding="utf-8")


def _missing(found: Mapping[str, Sequence[First]]) -> Iterator[str]:
    for arm, several in found.items():
        for one in several:
            for place in one.missing:
                yield f"{arm}\t{one.question.id}\t{place.path}:{place.start}-{place.end}\t{place.symbol}\n"


if __name__ == "__main__":
    main()
