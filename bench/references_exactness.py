"""`python -m bench.references_exactness REPOS`: does `find_references` account for each line that contains a name?

Writes the second part of docs/exactness.md.

Indexes each folder as a repository on a stack of its own, takes symbols from the outlines of its files at random,
and asks for their references over MCP to the last page, then for `page=other`. `rg -n -w -F NAME` finds the lines of
the same files. For each symbol,

- the lines of code that ripgrep finds are as many as the answer says, and so are those of prose,
- the parts that the last sentence names add up to them,
- each line is listed: as a definition, a reference, an unresolved line, a mention or another symbol of the name; only
  mentions and unresolved lines beyond those shown, and definitions beyond the first five, are just counted,
- nothing else is listed but the lines that use the symbol under an alias, as many as the answer says.

Lines that differ between index and disk are left out with their symbols. Exits with 1 if any of this fails.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client

from bench.exactness import (
    PAGE,
    TOKENS_MAX,
    Corpus,
    Line,
    copy_files,
    index_corpus,
    ripgrep_lines,
    write_part,
)
from bench.measure_peers import ripgrep_binary
from bench.measure_search import call_tool, mcp_client
from bench.patterns import Asked
from bench.spread import spread
from bench.stack import Stack, running_stack
from prism_contracts.rpc.symbols import REFERENCES_LIMIT_MAX
from prism_indexer.core.points import PROSE_LANGUAGES

SHOWN_MAX = 5
# The fields of an answer that add up to its lines of code, with `lines_by_group`.
PARTS = ("definition_lines", "candidate_lines", "other_lines", "mentions", "unexplained")
# Those that list only the first of their lines.
CUT = {"unexplained": "unexplained_lines", "mentions": "mention_lines"}

Json = dict[str, Any]


class Named(NamedTuple):
    """A symbol of a file."""

    path: str
    qualified_name: str


class Answered(NamedTuple):
    """All pages of an answer, and the seconds of the first."""

    pages: Sequence[Json]
    others: Sequence[Json]
    first_s: float

    @property
    def account(self) -> Json:
        """What the answer says about the lines."""
        account: Json = self.pages[0]["reconciliation"]
        return account

    @property
    def name(self) -> str:
        """The name whose lines the answer compares."""
        return str(self.account["name"])

    def listed(self) -> set[Line]:
        """Returns the places that the answer lists, without definitions."""
        account = self.account
        entries = (entry for page in self.pages for group in page["groups"].values() for entry in group)
        others = (line for page in self.others for line in page["reconciliation"]["other"])
        lines = [*entries, *others, *account["unexplained_lines"], *account["mention_lines"]]
        return {(line["file_path"], line["line"]) for line in lines}

    def definitions(self) -> set[Line]:
        """Returns the lines of definitions that name the symbol: a `typedef` names it in its first or last."""
        return {
            (one["file_path"], one[line])
            for one in self.pages[0]["definitions"]
            for line in ("start_line", "name_line", "end_line")
        }

    def counted_only(self) -> int:
        """Returns how many lines the answer counts and does not list."""
        return sum(self.account[what] - len(self.account[lines]) for what, lines in CUT.items())

    def definitions_left_out(self) -> int:
        """Returns how many definitions of the symbol the answer does not list."""
        return int(self.pages[0]["total_definitions"]) - len(self.pages[0]["definitions"])


class Outcome(NamedTuple):
    """A symbol and how its answer differs from the lines."""

    corpus: str
    language: str
    named: Named
    lines: int
    is_complete: bool
    differences: Sequence[str]
    first_s: float


def main() -> None:
    """Compare, and write the result."""
    options = _options()
    ripgrep = ripgrep_binary()
    if ripgrep is None:
        sys.exit("ripgrep is not installed: `make exactness` installs it, or put `rg` on the path")
    with (
        tempfile.TemporaryDirectory(prefix="prism-references-") as folder,
        running_stack(Path(folder, "data")) as stack,
    ):
        outcomes = asyncio.run(_compare(stack, options, ripgrep, Path(folder, "corpora")))
    for outcome in outcomes:
        if outcome.differences:
            print(outcome)
    text = _section(outcomes)
    print(text)
    write_part(options.out, text, 1)
    sys.exit(any(outcome.differences for outcome in outcomes))


async def _compare(stack: Stack, options: argparse.Namespace, ripgrep: str, copies: Path) -> list[Outcome]:
    chance = random.Random(options.seed)
    outcomes: list[Outcome] = []
    for folder in options.repos:
        corpus = await index_corpus(stack, copy_files(folder, copies))
        async with mcp_client(stack.target, corpus.name) as agent:
            for language, symbols in (await _symbols(agent, corpus)).items():
                asked = chance.sample(symbols, min(options.symbols, len(symbols)))
                found = [await _outcome(agent, corpus, language, named, ripgrep) for named in asked]
                outcomes += [one for one in found if one]
        print(f"{corpus.folder.name}: {len(outcomes)} symbols so far", file=sys.stderr, flush=True)
    return outcomes


async def _symbols(agent: Client, corpus: Corpus) -> dict[str, list[Named]]:
    """Returns the symbols of the corpus by language."""
    found: dict[str, list[Named]] = {}
    for path, language in corpus.languages.items():
        if language in PROSE_LANGUAGES:
            continue
        _, shown = await call_tool(agent, "get_file_outline", file_path=path, max_tokens=TOKENS_MAX)
        found.setdefault(language, []).extend(Named(path, one["name"]) for one in shown["symbols"])
    return {language: list(dict.fromkeys(symbols)) for language, symbols in found.items() if symbols}


async def _outcome(
    agent: Client, corpus: Corpus, language: str, named: Named, ripgrep: str
) -> Outcome | None:
    """Returns None if lines of the name differ on disk."""
    answered = await _ask(agent, named)
    found, _ = ripgrep_lines(ripgrep, corpus, Asked("name", answered.name, regex=False, word=True))
    if any(answered.name in corpus.texts[path].split("\n")[line - 1] for path, line in corpus.altered):
        return None
    is_complete = not any(
        answered.account[one] for one in ("unexplained", "candidate_lines", "files_left_out")
    )
    differences = list(_differences(answered, found, corpus.languages))
    return Outcome(corpus.name, language, named, len(found), is_complete, differences, answered.first_s)


async def _ask(agent: Client, named: Named) -> Answered:
    pages, first_s = await _pages(agent, named, "main")
    others, _ = await _pages(agent, named, "other")
    return Answered(pages, others, first_s)


async def _pages(agent: Client, named: Named, page: str) -> tuple[list[Json], float]:
    """Returns all pages, and the seconds of the first."""
    pages: list[Json] = []
    first_s, cursor = 0.0, ""
    while cursor or not pages:
        seconds, shown = await call_tool(
            agent,
            "find_references",
            symbols=[named.qualified_name],
            file_path=named.path,
            page=page,
            limit=REFERENCES_LIMIT_MAX,
            max_tokens=TOKENS_MAX,
            cursor=cursor,
        )
        first_s = first_s or seconds
        pages += shown["answers"]
        cursor = pages[-1]["next_cursor"]
    return pages, first_s


def _differences(answered: Answered, found: set[Line], languages: Mapping[str, str]) -> Iterator[str]:
    """Returns how an answer differs from the lines that ripgrep found."""
    code = {line for line in found if languages[line[0]] not in PROSE_LANGUAGES}
    account, listed = answered.account, answered.listed() | answered.definitions() & code
    if account["text_lines"] != len(code):
        yield f"{account['text_lines']} lines of code instead of {len(code)}"
    if account["prose_lines"] != len(found - code):
        yield f"{account['prose_lines']} lines of prose instead of {len(found - code)}"
    parts = sum(account["lines_by_group"].values()) + sum(account[part] for part in PARTS)
    if parts != account["text_lines"]:
        yield f"the parts add up to {parts} instead of {account['text_lines']}"
    missing, counted = sorted(code - listed), answered.counted_only()
    if not counted <= len(missing) <= counted + answered.definitions_left_out():
        yield f"not listed: {missing[:SHOWN_MAX]} of {len(missing)}, {counted} are only counted"
    extra = sorted(listed - code)
    if len(extra) != account["alias_lines"]:
        yield f"without the name: {extra[:SHOWN_MAX]} of {len(extra)} instead of {account['alias_lines']}"


def _section(outcomes: Sequence[Outcome]) -> str:
    """Returns the second part of docs/exactness.md."""
    differ = sum(bool(outcome.differences) for outcome in outcomes)
    corpora = len({outcome.corpus for outcome in outcomes})
    lines = [
        "",
        "Written by `make references-exactness REPOS=…`",
        "([bench/references_exactness.py](../bench/references_exactness.py)). It takes symbols of clones at random, asks",
        "`find_references` over MCP to the last page and then for `page=other`, and compares the lines with those of",
        "`rg -n -w -F NAME` in the indexed files. Each line must be listed or counted once: as a definition, a",
        "reference, an unresolved line, a mention or another symbol of the name; lines of prose are counted. An answer",
        "is complete if it has neither unresolved lines nor lines by name only. Times are for the first page.",
        "",
        f"**{len(outcomes):,} symbols of {corpora} repositories, {sum(one.lines for one in outcomes):,} lines: {differ} differ.**",
        "",
        "| language | symbols | lines | differ | complete | p50 | p95 |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    languages = Counter(outcome.language for outcome in outcomes)
    lines += [
        _row(one, [each for each in outcomes if each.language == one]) for one, _ in languages.most_common()
    ]
    return "\n".join([*lines, _row("**all**", outcomes)]) + "\n"


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    times = spread([outcome.first_s for outcome in outcomes])
    complete = sum(outcome.is_complete for outcome in outcomes) / max(len(outcomes), 1)
    return (
        f"| {name} | {len(outcomes):,} | {sum(outcome.lines for outcome in outcomes):,} "
        f"| {sum(bool(outcome.differences) for outcome in outcomes)} | {complete:.0%} "
        f"| {times.p50:.1f} ms | {times.p95:.1f} ms |"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="references_exactness", description=__doc__)
    parser.add_argument("repos", nargs="+", type=Path, help="folders of code")
    parser.add_argument(
        "--symbols", type=int, default=500, help="symbols per language and folder (default 500)"
    )
    parser.add_argument("--seed", type=int, default=20_260, help="decides the symbols")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
