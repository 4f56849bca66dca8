"""The graph of the corpus: how soon it follows the index, and how soon each tool answers from it over MCP."""

import ast
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from mcp import Client

from bench.corpus import Corpus
from bench.measure_index import REPO, index_folder, marker
from bench.measure_search import mcp_client
from bench.questions import make_names
from bench.spread import Spread, spread
from bench.stack import Stack
from prism_cli.client import Prism
from prism_contracts.errors import ErrorCode

BUILD_SECONDS_MAX = 600.0
POLL_S = 0.05
# Questions about the whole repository: their answers differ in length only.
WHOLE_QUESTIONS = 20
FIRST_EDIT = 100_000  # markers of other edits are below


@dataclass(frozen=True)
class ToolFigures:
    """Times of one tool. The answer to an ambiguous name lists the places of all candidates."""

    times: Spread
    ambiguous: int


@dataclass(frozen=True)
class GraphFigures:
    """Times over MCP by tool, one client; how long the graph takes to follow."""

    built_s: float  # from the end of the first index
    tools: Mapping[str, ToolFigures]
    edit: Spread  # from the end of the index of one changed file


async def graph(stack: Stack, corpus: Corpus, count: int, *, edits: int, seed: int) -> GraphFigures:
    """Wait for the graph, ask each tool, change one file after the other."""
    async with mcp_client(stack.target, toolsets="all") as client:
        receipt = await built_graph(client, 1)
        built_s = _at(receipt["graph_built_at"]) - _at(receipt["indexed_at"])
        questions = _questions(corpus, count, seed)
        tools = {tool: await _asked(client, tool, asked) for tool, asked in questions.items()}
        paths = corpus.paths()[:edits]
        times = [
            await _edit(stack, client, corpus, path, FIRST_EDIT + number) for number, path in enumerate(paths)
        ]
    return GraphFigures(built_s, tools, spread(times))


async def until_built(stack: Stack, repo: str = REPO) -> None:
    """Wait until the graph of a repository's first index is built."""
    async with mcp_client(stack.target, repo, "all") as client:
        await built_graph(client, 1)


def _questions(corpus: Corpus, count: int, seed: int) -> dict[str, Sequence[dict[str, Any]]]:
    names = make_names(corpus, count + 1, seed)
    types = make_names(corpus, count, seed, (ast.ClassDef,))
    symbols = [{"symbol": name} for name in names[:count]]
    whole = [{"limit": 10 + number} for number in range(WHOLE_QUESTIONS)]
    return {
        "find_references": [{"symbols": [name]} for name in names[:count]],
        "get_call_hierarchy": symbols,
        "get_type_hierarchy": [{"symbol": name} for name in types],
        "impact_of_change": symbols,
        "prepare_to_edit": symbols,
        "get_dependencies": [{"path": path} for path in corpus.paths()[:count]],
        "find_path": [{"source": one, "target": other} for one, other in pairwise(names)],
        "get_module_map": whole,
        "get_architecture": whole,
    }


async def _asked(client: Client, tool: str, questions: Sequence[dict[str, Any]]) -> ToolFigures:
    shown = [await _ask(client, tool, question) for question in questions]
    return ToolFigures(
        spread([seconds for seconds, _ in shown]), sum(is_ambiguous for _, is_ambiguous in shown)
    )


async def _ask(client: Client, tool: str, question: dict[str, Any]) -> tuple[float, bool]:
    """Returns seconds, and whether the name is ambiguous. Raises RuntimeError for other errors."""
    started = time.perf_counter()
    answer = await client.call_tool(tool, question)
    seconds = time.perf_counter() - started
    code = (answer.structured_content or {}).get("error", {}).get("code")
    if answer.is_error and code != ErrorCode.SYMBOL_AMBIGUOUS:
        raise RuntimeError(f"{tool} {question} failed: {answer.content}")
    return seconds, answer.is_error


async def _edit(stack: Stack, client: Client, corpus: Corpus, path: str, number: int) -> float:
    """Returns seconds from the end of the job until the graph has its version."""
    with (corpus.folder / path).open("a") as file:
        file.write(f"\n\ndef {marker(number)}():\n    return {number}\n")
    async with Prism(stack.target) as prism:
        job = await index_folder(prism, corpus.folder, REPO)
    started = time.perf_counter()
    await built_graph(client, job.version)
    return time.perf_counter() - started


async def built_graph(client: Client, version: int) -> dict[str, Any]:
    """Returns the receipt of an answer once the graph of the client's repository has the version.

    Raises TimeoutError.
    """
    async with asyncio.timeout(BUILD_SECONDS_MAX):
        while True:
            answer = await client.call_tool("get_module_map", {"limit": 1})
            receipt = (answer.structured_content or {}).get("receipt", {})
            if not answer.is_error and receipt["graph_version"] >= version:
                return dict(receipt)
            await asyncio.sleep(POLL_S)


def _at(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
