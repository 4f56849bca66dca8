"""`python -m bench.changed_symbols`: whether search_code finds the function that a commit changed, not only its file.

    python -m bench.changed_symbols --clones CLONES --trees TREES [--url URL --token TOKEN]

Asks the subject of each commit of the tree some hundred commits before. Right is a symbol that holds a line that the
commit changed. Prints by repository how often the first file, the first hit and any place in the text are right.
"""

import argparse
import asyncio
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from mcp import Client

from bench.commits import changed_lines, commits_after, lay_out
from bench.measure_index import index_folder
from bench.measure_search import mcp_client
from bench.stack import running_stack
from prism_cli.client import Prism
from prism_cli.target import ServerTarget

OWNER = "changed"
PER_REPOSITORY = 60
SEED = 11
# A longer hit is a whole file or a huge class: it locates nothing.
SYMBOL_LINES_MAX = 400
CHARS_PER_TOKEN = 4
HEAD = re.compile(r"^(?:weak: )?(?P<path>[\w./@+-]+\.\w+):(?P<start>\d+)-(?P<end>\d+) ")
BESIDE = re.compile(r"(?:(?P<path>[\w./@+-]+\.\w+):)?(?<![\d.])(?P<start>\d+)-(?P<end>\d+)(?!\d)")

Lines = Mapping[str, set[int]]


class Case(NamedTuple):
    """A question, and the lines that answer it, by file."""

    repo: str
    question: str
    lines: Lines


class Found(NamedTuple):
    """What an answer had right, and its length."""

    repo: str
    file: bool
    first: bool
    shown: bool
    tokens: float


def main() -> None:
    """Ask, and print the table."""
    options = _options()
    clones = sorted(path for path in options.clones.iterdir() if (path / ".git").exists())
    cases = [case for clone in clones for case in _cases(clone, options.trees / clone.name)]
    if options.url:
        found = asyncio.run(_ask(ServerTarget(options.url, options.token), cases, options.trees))
    else:
        with running_stack(options.trees / ".stack") as stack:
            found = asyncio.run(_ask(stack.target, cases, options.trees))
    print("\n".join(table(found)))


def table(found: Sequence[Found]) -> Iterator[str]:
    """Returns the table as lines of Markdown."""
    yield "| repository | asked | first file | first hit | shown | tokens, median |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for repo in [*dict.fromkeys(one.repo for one in found), ""]:
        rows = [one for one in found if repo in ("", one.repo)]
        shares = " | ".join(
            f"{fmean(getattr(one, field) for one in rows):.1%}" for field in ("file", "first", "shown")
        )
        yield f"| {repo or 'all'} | {len(rows)} | {shares} | {median(one.tokens for one in rows):.0f} |"


def judge(case: Case, answer: Mapping[str, Any], text: str) -> Found:
    """Returns what an answer has right."""
    results = answer["results"]
    first = results[0] if results else None
    return Found(
        case.repo,
        file=bool(first and first["file_path"] in case.lines),
        first=bool(first and _holds(case.lines, first["file_path"], first["start_line"], first["end_line"])),
        shown=any(_holds(case.lines, *place) for place in places_of(text)),
        tokens=len(text) / CHARS_PER_TOKEN,
    )


def places_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Returns the ranges that a text names: of hits, and of symbols beside them."""
    path = ""
    for line in text.split("\n"):
        if head := HEAD.match(line):
            path = head["path"]
            yield path, int(head["start"]), int(head["end"])
        elif line.startswith(("  also in this file: ", "  calls, by name: ")):
            for one in BESIDE.finditer(line):
                yield one["path"] or path, int(one["start"]), int(one["end"])


def _holds(lines: Lines, path: str, start: int, end: int) -> bool:
    return end - start < SYMBOL_LINES_MAX and any(start <= line <= end for line in lines.get(path, ()))


def _cases(clone: Path, tree: Path) -> list[Case]:
    base = lay_out(clone, tree)
    commits = list(commits_after(clone, base, tree))
    random.Random(SEED).shuffle(commits)
    cases = (Case(clone.name, one.subject, changed_lines(clone, one, tree)) for one in commits)
    return [case for case in cases if case.lines][:PER_REPOSITORY]


async def _ask(target: ServerTarget, cases: Sequence[Case], trees: Path) -> list[Found]:
    found: list[Found] = []
    async with Prism(target) as prism:
        for repo in dict.fromkeys(case.repo for case in cases):
            await index_folder(prism, trees / repo, f"{OWNER}/{repo}")
            async with mcp_client(prism.target, f"{OWNER}/{repo}") as client:
                found += [await _asked(client, case) for case in cases if case.repo == repo]
    return found


async def _asked(client: Client, case: Case) -> Found:
    answer = await client.call_tool("search_code", {"query": case.question})
    if answer.structured_content is None:
        raise RuntimeError(f"{case.question}: {answer.content}")
    text = "".join(getattr(block, "text", "") for block in answer.content)
    return judge(case, answer.structured_content, text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clones", type=Path, required=True, help="folder with git clones")
    parser.add_argument("--trees", type=Path, required=True, help="folder for the files that are indexed")
    parser.add_argument("--url", default="", help="a running stack; by default one of its own")
    parser.add_argument("--token", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()
