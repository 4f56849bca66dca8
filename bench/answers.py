"""Records the tools' answers about some repositories, and compares two recordings: a check for refactorings.

    python -m bench.answers record --data stack --out before.json CLONE...
    python -m bench.answers record --data stack --calls before.json --out after.json CLONE...
    python -m bench.answers compare before.json after.json

Compare runs that start on copies of one data folder: results with equal scores come in the order in which the
store has them, which its compaction may change. The first run chooses 50 calls per repository, spread over
all read-only tools, from the symbols and files that Prism lists. A run with `--calls` repeats the calls of an
earlier recording. `compare` separates facts (places, order, numbers, codes) from words (messages, notes),
ignores what depends on the clock, and exits with 1 if a fact differs.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client

from bench.graph.ask import ask_outlines, list_files
from bench.graph.compare import Defined
from bench.measure_graph import until_built
from bench.measure_index import index_folder
from bench.measure_search import mcp_client
from bench.stack import Stack, running_stack
from prism_cli.client import Prism
from prism_contracts.code import TYPE_KINDS

SEED = 15
FILES_READ = 60
FACTS_SHOWN = 20
SYMBOLS_PER_TOOL = 3
ABOUT_REPOSITORIES = (
    "get_module_map",
    "get_architecture",
    "get_codebase_conventions",
    "get_repo_context",
    "index_coverage",
)
# Keys whose values are sentences, which may be reworded.
WORDS = {
    "message",
    "next_action",
    "next_actions",
    "note",
    "notes",
    "reason",
    "reasons",
    "statement",
    "diagnostics",
}
# Keys whose values depend on the clock or on the stack.
VOLATILE = {
    "receipt",
    "cursor",
    "next_cursor",
    "job",
    "job_id",
    "took_ms",
    "timings_ms",
    "request_id",
    "snapshot",
}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

Json = dict[str, Any]


class Call(NamedTuple):
    """One call of a tool about a repository."""

    repo: str
    tool: str
    arguments: Json


class Difference(NamedTuple):
    """Where two answers to the same call differ."""

    call: Call
    path: str
    before: Any
    after: Any
    is_fact: bool


def main() -> None:
    """Record, or compare and exit with 1 if a fact differs."""
    options = _options()
    if options.command == "compare":
        sys.exit(_compare(options.before, options.after))
    with running_stack(options.data) as stack:
        recorded = asyncio.run(_record(stack, options))
    options.out.write_text(json.dumps(recorded, indent=1))
    print(f"{len(recorded['answers'])} answers about {len(options.clones)} repositories in {options.out}")


async def _record(stack: Stack, options: argparse.Namespace) -> Json:
    for clone in options.clones:
        async with Prism(stack.target) as prism:
            await index_folder(prism, clone, _repo(clone))
        await until_built(stack, _repo(clone))
    calls = _recorded_calls(options.calls) if options.calls else await _choose(stack, options.clones)
    answers = [[*call, await _answer(stack, call)] for call in calls]
    return {"revisions": {_repo(clone): _revision(clone) for clone in options.clones}, "answers": answers}


async def _answer(stack: Stack, call: Call) -> Json:
    async with mcp_client(stack.target, call.repo, "all") as client:
        answer = await client.call_tool(call.tool, call.arguments)
    text = "".join(getattr(block, "text", "") for block in answer.content)
    return {"is_error": answer.is_error, "structured": answer.structured_content, "text": text}


async def _choose(stack: Stack, clones: Sequence[Path]) -> list[Call]:
    calls: list[Call] = []
    for clone in clones:
        repo = _repo(clone)
        async with mcp_client(stack.target, repo, "all") as client:
            calls += [Call(repo, tool, arguments) for tool, arguments in await _calls(client)]
    return calls


async def _calls(client: Client) -> list[tuple[str, Json]]:
    """50 calls or a few more, the same for the same index."""
    chance = random.Random(SEED)
    files = sorted(await list_files(client))
    paths = [file.path for file in chance.sample(files, min(FILES_READ, len(files)))]
    defined = [one for one in await ask_outlines(client, paths) if one.is_asked]
    chance.shuffle(defined)
    return list(_spread_over_tools(defined, paths))


def _spread_over_tools(defined: Sequence[Defined], paths: Sequence[str]) -> Iterator[tuple[str, Json]]:
    names = itertools.cycle(dict.fromkeys(one.symbol.name for one in defined))
    types = dict.fromkeys(one.symbol.name for one in defined if one.kind in TYPE_KINDS)
    yield from _searches(names)
    yield from _file_calls(paths)
    for tool in ("get_symbol_definition", "get_call_hierarchy", "impact_of_change", "prepare_to_edit"):
        yield from ((tool, {"symbol": next(names)}) for _ in range(SYMBOLS_PER_TOOL))
    yield "get_call_hierarchy", {"symbol": next(names), "direction": "callees", "depth": 3}
    yield from (("get_function_body", {"symbol": next(names)}) for _ in range(2))
    yield from (("find_references", {"symbols": [next(names)]}) for _ in range(4))
    yield "find_references", {"symbols": [next(names) for _ in range(5)]}
    yield from (("get_type_hierarchy", {"symbol": name}) for name in list(types)[:SYMBOLS_PER_TOOL])
    yield from (("find_path", {"source": next(names), "target": next(names)}) for _ in range(2))
    yield from ((tool, {}) for tool in ABOUT_REPOSITORIES)


def _searches(names: Iterator[str]) -> Iterator[tuple[str, Json]]:
    yield from (("search_code", {"query": next(names)}) for _ in range(4))
    yield from (("search_code", {"query": f"where is {_spelled_out(next(names))}"}) for _ in range(4))
    yield "search_code", {"query": next(names), "detail": "compact", "limit": 30, "source_only": True}
    yield "search_docs", {"query": _spelled_out(next(names))}
    yield from (("check_exists", {"intent": _spelled_out(next(names))}) for _ in range(2))
    yield from (("grep_code", {"pattern": next(names), "word": True}) for _ in range(2))
    yield "grep_code", {"pattern": r"^\s*(return|raise|throw)\b.*\(", "regex": True, "limit": 50}
    yield "grep_code", {"pattern": "todo", "case_sensitive": False, "output_mode": "count"}


def _file_calls(paths: Sequence[str]) -> Iterator[tuple[str, Json]]:
    yield from (("read_file", {"file_path": path, "start_line": 5, "end_line": 60}) for path in paths[:2])
    yield from (("get_file_outline", {"file_path": path}) for path in paths[2:4])
    yield from (("get_dependencies", {"path": path}) for path in paths[4:6])
    yield "list_files", {"limit": 200}


def _spelled_out(name: str) -> str:
    return " ".join(WORD.findall(name)).lower()


def _recorded_calls(path: Path) -> list[Call]:
    return [Call(*row[:3]) for row in json.loads(path.read_text())["answers"]]


def _compare(before: Path, after: Path) -> int:
    old, new = (json.loads(path.read_text()) for path in (before, after))
    if old["revisions"] != new["revisions"]:
        print("The recordings are of different revisions.")
        return 2
    pairs = list(zip(old["answers"], new["answers"], strict=True))
    differences = [found for one, other in pairs for found in _differences(Call(*one[:3]), one[3], other[3])]
    facts = [one for one in differences if one.is_fact]
    for one in facts[:FACTS_SHOWN]:
        print(f"{one.call.repo} {one.call.tool} {json.dumps(one.call.arguments)[:100]}\n  {one.path}")
        print(f"    before: {json.dumps(one.before)[:200]}\n    after:  {json.dumps(one.after)[:200]}")
    texts = sum(one[3]["text"] != other[3]["text"] for one, other in pairs)
    reworded = {str(one.call) for one in differences} - {str(one.call) for one in facts}
    different = len({str(one.call) for one in facts})
    print(
        f"{len(pairs)} answers: {different} differ in facts, {len(reworded)} in words only; {texts} texts differ"
    )
    return int(bool(facts))


def _differences(call: Call, before: Json, after: Json) -> Iterator[Difference]:
    yield from _walk(call, "is_error", before["is_error"], after["is_error"])
    yield from _walk(call, "", before["structured"], after["structured"])


def _walk(call: Call, path: str, before: Any, after: Any, *, are_words: bool = False) -> Iterator[Difference]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after} - VOLATILE):
            inner = _walk(
                call,
                f"{path}.{key}",
                before.get(key),
                after.get(key),
                are_words=are_words or _is_worded(path, key),
            )
            yield from inner
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _walk(call, f"{path}[{number}]", one, other, are_words=are_words)
    elif before != after:
        yield Difference(call, path, before, after, is_fact=not are_words)


def _is_worded(path: str, key: str) -> bool:
    """Whether the values of a key are sentences. `text` is one in a warning, and a line of code elsewhere."""
    return key in WORDS or (key == "text" and ".warnings" in path)


def _repo(clone: Path) -> str:
    return f"answers/{clone.name}"


def _revision(clone: Path) -> str:
    command: list[str | Path] = ["git", "-C", clone, "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="answers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="ask, and write the answers")
    record.add_argument("clones", nargs="+", type=Path, help="git clones, each in a folder of its name")
    record.add_argument("--data", type=Path, required=True, help="the data folder, made by the first run")
    record.add_argument("--calls", type=Path, help="repeat the calls of this recording")
    record.add_argument("--out", type=Path, required=True, help="where the recording goes")
    compare = commands.add_parser("compare", help="compare two recordings")
    compare.add_argument("before", type=Path)
    compare.add_argument("after", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
