"""`python -m bench.exactness`: search the same patterns with Prism and ripgrep, compare every line.

Writes the first part of docs/exactness.md; `bench.references_exactness` writes the second.

Starts a stack on an empty folder, and indexes each corpus, a folder of code, as a repository. Patterns are cut from
the indexed text. ripgrep searches the files on disk; Prism is asked over REST, to the last page, and once more for
counts, which are compared with `rg --count`. Lines that differ on disk are left out: secrets are redacted, and
invalid UTF-8 is replaced; a corpus with such lines is not compared by counts. Exits with 1 if only one of the two
finds any other line, or if a count differs.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import httpx
from mcp import Client

from bench.machine import machine_facts
from bench.measure_index import index_folder
from bench.measure_peers import ripgrep_binary
from bench.measure_search import call_tool, mcp_client
from bench.patterns import Asked, make_patterns
from bench.spread import spread
from bench.stack import Stack, running_stack
from prism_cli.client import Prism
from prism_contracts.rpc.files import LIST_LIMIT_MAX
from prism_contracts.rpc.search import GREP_LIMIT_MAX, GrepReply, OutputMode

PAGE = Path("docs/exactness.md")
# Installed with Prism, so that they are available everywhere.
PACKAGES = (
    "aiohttp", "fastapi", "faststream", "httpx", "mcp", "numpy", "opentelemetry", "pydantic", "qdrant_client", "rich",
)  # fmt: skip
TOKENS_MAX = 100_000
FIRST_PAGE = 100
TIMEOUT_S = 60.0
SHOWN_MAX = 5
MARK = b"\xef\xbb\xbf"
FAILED = 2
# Begins the part of the page about references.
SECOND_PART = "## References\n"
# The default, and a run with no text cached in memory, so that the index must select the files.
ROUNDS: dict[str, dict[str, str]] = {
    "texts in memory": {},
    "texts in the store": {"PRISM_TEXTS_KEPT_BYTES_MAX": "0"},
}

Line = tuple[str, int]


@dataclass(frozen=True)
class Corpus:
    """A folder as it is indexed: the texts by path, and the lines that differ on disk."""

    name: str
    folder: Path
    texts: dict[str, str]
    altered: frozenset[Line]
    languages: Mapping[str, str]  # by path


class Outcome(NamedTuple):
    """A pattern and both answers. Prism's seconds are those of its first page, ripgrep's those of the whole
    run.
    """

    round: str
    corpus: str
    asked: Asked
    lines: int
    missing: list[Line]
    extra: list[Line]
    refused: str
    counts: str  # how they differ
    prism_s: float
    ripgrep_s: float

    @property
    def is_exact(self) -> bool:
        """Whether both found and counted the same."""
        return not (self.missing or self.extra or self.refused or self.counts)


def main() -> None:
    """Compare, and print the result."""
    options = _options()
    ripgrep = ripgrep_binary()
    if ripgrep is None:
        sys.exit("ripgrep is not installed: `make exactness` installs it, or put `rg` on the path")
    corpora: dict[str, Corpus] = {}
    outcomes: list[Outcome] = []
    for number, (name, settings) in enumerate(ROUNDS.items()):
        with tempfile.TemporaryDirectory(prefix="prism-exactness-") as folder:
            os.environ.update(settings)
            with running_stack(Path(folder, "data")) as stack:
                round_ = _Round(name, stack, options, ripgrep, Path(folder, "corpora"), options.seed + number)
                outcomes += asyncio.run(round_.run(corpora))
    page = _page(list(corpora.values()), outcomes, ripgrep)
    print(page)
    for outcome in [outcome for outcome in outcomes if not outcome.is_exact]:
        print(outcome._replace(missing=outcome.missing[:SHOWN_MAX], extra=outcome.extra[:SHOWN_MAX]))
    write_part(options.out, page, 0)
    sys.exit(any(not outcome.is_exact for outcome in outcomes))


@dataclass(frozen=True)
class _Round:
    """All corpora on one stack."""

    name: str
    stack: Stack
    options: argparse.Namespace
    ripgrep: str
    copies: Path
    seed: int

    async def run(self, corpora: dict[str, Corpus]) -> list[Outcome]:
        """Returns the outcome of each pattern; adds the searched folders to `corpora`."""
        outcomes: list[Outcome] = []
        each = -(-self.options.patterns // len(self.options.corpora) // len(ROUNDS))
        headers = {"Authorization": f"Bearer {self.stack.target.token}"}
        async with httpx.AsyncClient(
            base_url=self.stack.target.url, headers=headers, timeout=TIMEOUT_S
        ) as http:
            for number, folder in enumerate(self.options.corpora):
                corpus = await index_corpus(self.stack, copy_files(folder, self.copies))
                corpora[corpus.name] = corpus
                _say(f"{corpus.name}: {len(corpus.texts)} files, {len(corpus.altered)} lines differ on disk")
                patterns = make_patterns(list(corpus.texts.values()), each, self.seed + len(ROUNDS) * number)
                outcomes += [await _compare(http, corpus, asked, self) for asked in patterns]
        return outcomes


def copy_files(folder: Path, copies: Path) -> Path:
    """Copy the files only: a folder inside a work tree is indexed by the rules of that work tree."""
    ignored = shutil.ignore_patterns(".git", "__pycache__")
    return Path(shutil.copytree(folder, copies / folder.resolve().name, symlinks=True, ignore=ignored))


async def index_corpus(stack: Stack, folder: Path) -> Corpus:
    """Index a folder, and read back the indexed texts."""
    repo = f"exactness/{folder.name}"
    async with Prism(stack.target) as prism:
        await index_folder(prism, folder, repo)
    async with mcp_client(stack.target, repo) as agent:
        languages = await _languages(agent)
        texts = {path: await _read(agent, path) for path in languages}
    differing = (_differing(folder / path, text) for path, text in texts.items())
    altered = {(path, line) for path, lines in zip(texts, differing, strict=True) for line in lines}
    return Corpus(repo, folder, texts, frozenset(altered), languages)


async def _languages(agent: Client) -> dict[str, str]:
    """Returns the language of each indexed file."""
    languages: dict[str, str] = {}
    cursor = None
    while cursor != "":
        _, page = await call_tool(
            agent, "list_files", limit=LIST_LIMIT_MAX, max_tokens=TOKENS_MAX, cursor=cursor or ""
        )
        languages |= {file["file_path"]: file["language"] for file in page["files"]}
        cursor = page["next_cursor"]
    return languages


async def _read(agent: Client, path: str) -> str:
    content, line, line_count = "", 1, 1
    while line <= line_count:
        _, page = await call_tool(agent, "read_file", file_path=path, start_line=line, max_tokens=TOKENS_MAX)
        content += page["content"]
        line, line_count = page["end_line"] + 1, page["line_count"]
    return content


def _differing(file: Path, text: str) -> list[int]:
    """Returns the lines that differ on disk."""
    on_disk = file.read_bytes().removeprefix(MARK).split(b"\n")
    indexed = text.encode().split(b"\n")
    return [n for n, (a, b) in enumerate(zip_longest(on_disk, indexed), 1) if a != b]


async def _compare(http: httpx.AsyncClient, corpus: Corpus, asked: Asked, round_: _Round) -> Outcome:
    started = time.perf_counter()
    wanted, refused = ripgrep_lines(round_.ripgrep, corpus, asked)
    ripgrep_s = time.perf_counter() - started
    found, error, prism_s = await _prism(http, corpus, asked)
    return Outcome(
        round_.name,
        corpus.name,
        asked,
        len(wanted),
        missing=sorted(wanted - found),
        extra=sorted(found - wanted),
        refused=error or refused if bool(error) != bool(refused) else "",
        counts=""
        if error or corpus.altered
        else await _differing_counts(http, corpus, asked, round_.ripgrep),
        prism_s=prism_s,
        ripgrep_s=ripgrep_s,
    )


def ripgrep_lines(ripgrep: str, corpus: Corpus, asked: Asked) -> tuple[set[Line], str]:
    """Returns the lines, or the reason of a refusal."""
    rows, refused = _run_ripgrep(ripgrep, corpus, asked, "-n")
    return {row for row in rows if row[0] in corpus.texts} - corpus.altered, refused


def _run_ripgrep(ripgrep: str, corpus: Corpus, asked: Asked, option: str) -> tuple[list[Line], str]:
    """Returns path and number of each row, or the reason of a refusal. Everything is searched as text."""
    flags = {"-F": not asked.regex, "-i": not asked.case_sensitive, "-w": asked.word}
    command = [
        ripgrep, "--no-config", "-uuu", "--text", option, "-H", "--null", "--no-heading", "--color=never",
        *(flag for flag, is_set in flags.items() if is_set), "-e", asked.pattern, ".",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=corpus.folder, capture_output=True, check=False)
    if done.returncode >= FAILED:
        return [], done.stderr.decode(errors="replace")
    return [_row_of(row) for row in done.stdout.split(b"\n") if row], ""


def _row_of(row: bytes) -> Line:
    path, _, rest = row.partition(b"\0")
    return os.fsdecode(path).removeprefix("./"), int(rest.partition(b":")[0])


async def _differing_counts(http: httpx.AsyncClient, corpus: Corpus, asked: Asked, ripgrep: str) -> str:
    """Returns how the counts of matching lines and their totals differ; empty if they are equal."""
    rows, _ = _run_ripgrep(ripgrep, corpus, asked, "--count")
    wanted = Counter({path: count for path, count in rows if path in corpus.texts})
    found: Counter[str] = Counter()
    totals = set()
    for page in (await _pages(http, corpus, asked, OutputMode.COUNT))[0]:
        found.update({file.file_path: file.lines or 0 for file in page.files})
        totals.add((page.total_files, page.total_lines))
    if found == wanted and totals == {(len(wanted), wanted.total())}:
        return ""
    return f"only counted by ripgrep {wanted - found}, by Prism {found - wanted}; totals {totals}"


async def _prism(http: httpx.AsyncClient, corpus: Corpus, asked: Asked) -> tuple[set[Line], str, float]:
    """Returns the lines of all pages, or the reason of a refusal, and the seconds of the first page."""
    pages, refused, seconds = await _pages(http, corpus, asked, OutputMode.CONTENT)
    found = {(match.file_path, match.line) for page in pages for match in page.matches}
    return found - corpus.altered, refused, seconds


async def _pages(
    http: httpx.AsyncClient, corpus: Corpus, asked: Asked, output_mode: OutputMode
) -> tuple[list[GrepReply], str, float]:
    """Returns all pages, or the reason of a refusal, and the seconds of the first page."""
    body = {"repo": corpus.name, "limit": FIRST_PAGE, "output_mode": output_mode.value} | {
        name: getattr(asked, name) for name in ("pattern", "regex", "case_sensitive", "word")
    }
    started = time.perf_counter()
    answer = await http.post("/api/v1/grep", json=body)
    seconds = time.perf_counter() - started
    pages: list[GrepReply] = []
    while answer.is_success:
        pages.append(GrepReply.model_validate_json(answer.content))
        if pages[-1].complete:
            return pages, "", seconds
        following = {"limit": GREP_LIMIT_MAX, "cursor": pages[-1].next_cursor}
        answer = await http.post("/api/v1/grep", json=body | following)
    return [], answer.text, seconds


def write_part(page: Path, text: str, number: int) -> None:
    """Write one of the two parts of the page, and keep the other."""
    parts = page.read_text().partition(SECOND_PART) if page.exists() else ("", "", "")
    first, second = (text, parts[2]) if number == 0 else (parts[0], text)
    page.write_text(f"{first.rstrip()}\n" + (f"\n{SECOND_PART}{second}" if second else ""))


def _page(corpora: Sequence[Corpus], outcomes: Sequence[Outcome], ripgrep: str) -> str:
    """Returns the text of docs/exactness.md."""
    machine = machine_facts()
    version = subprocess.run([ripgrep, "--version"], capture_output=True, text=True, check=True).stdout
    files = sum(len(corpus.texts) for corpus in corpora)
    wrong = sum(not outcome.is_exact for outcome in outcomes)
    lines = [
        "# Exactness of grep_code",
        "",
        "Written by `make exactness` ([bench/exactness.py](../bench/exactness.py)), which searches the same patterns",
        "with Prism and ripgrep, and compares the lines, the counts per file and the totals (`rg --count`). Patterns",
        "are cut from the corpora at random; `grep_code` is called over REST until the last page. Half of the",
        "patterns run on a search service that keeps no texts in memory, so the index selects the files to read.",
        "Lines that differ between index and disk are left out: redacted secrets, and text that is not UTF-8. A",
        "corpus with such lines is not compared by counts.",
        "",
        f"**{len(outcomes):,} patterns over {len(corpora)} corpora of {files:,} files: {wrong} differ.**",
        "",
        ", ".join(
            (
                version.splitlines()[0],
                machine["cpu"],
                f"{machine['cores']} cores",
                f"Python {machine['python']}",
            )
        ),
        "",
        "Times are for Prism's first page of at most 100 lines, over HTTP, and for the whole run of `rg` with its",
        "start. The ratio compares the two times per pattern; below 1 Prism is faster than ripgrep.",
        "",
        "| patterns | asked | lines | differ | Prism p50 | p95 | rg p50 | p95 | ratio p50 | p95 |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    kinds = dict.fromkeys(outcome.asked.kind for outcome in outcomes)
    lines += [_row(kind, [one for one in outcomes if one.asked.kind == kind]) for kind in kinds]
    lines += [
        *(_row(f"*all, {name}*", [one for one in outcomes if one.round == name]) for name in ROUNDS),
        _row("**all**", outcomes),
        "",
        "| corpus | files | lines left out | patterns | differ |",
        "|---|--:|--:|--:|--:|",
    ]
    for corpus in corpora:
        own = [outcome for outcome in outcomes if outcome.corpus == corpus.name]
        differ = sum(not outcome.is_exact for outcome in own)
        lines.append(
            f"| {corpus.folder.name} | {len(corpus.texts):,} | {len(corpus.altered)} | {len(own)} | {differ} |"
        )
    return "\n".join(lines) + "\n"


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    prism = spread([outcome.prism_s for outcome in outcomes])
    ripgrep = spread([outcome.ripgrep_s for outcome in outcomes])
    ratio = spread([outcome.prism_s / outcome.ripgrep_s / 1000 for outcome in outcomes])
    figures = (prism.p50, prism.p95, ripgrep.p50, ripgrep.p95)
    return (
        f"| {name} | {len(outcomes):,} | {sum(outcome.lines for outcome in outcomes):,} "
        f"| {sum(not outcome.is_exact for outcome in outcomes)} | "
        + " | ".join(f"{figure:.1f} ms" for figure in figures)
        + f" | {ratio.p50:.2f} | {ratio.p95:.2f} |"
    )


def _options() -> argparse.Namespace:
    installed = Path(sysconfig.get_path("purelib"))
    parser = argparse.ArgumentParser(prog="exactness", description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path, help="folders (default: some installed packages)")
    parser.add_argument("--patterns", type=int, default=1_400, help="patterns in all (default 1,400)")
    parser.add_argument("--seed", type=int, default=20_260, help="decides the patterns")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page goes")
    options = parser.parse_args()
    options.corpora = options.corpora or [installed / package for package in PACKAGES]
    return options


def _say(step: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
