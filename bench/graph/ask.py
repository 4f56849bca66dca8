"""A repository as a stack sees it: its files, their outlines, and the references of every
symbol, over MCP.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mcp import Client

from bench.graph.compare import Answer, Defined, Edge, Symbol
from bench.measure_search import call_tool
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, SymbolKind
from prism_contracts.rpc.files import LIST_LIMIT_MAX
from prism_contracts.rpc.symbols import REFERENCES_BATCH_MAX, REFERENCES_LIMIT_MAX

TOKENS_MAX = 100_000
AT_ONCE = 4
# Folders without code of the repository's own.
FOREIGN = frozenset({"generated", "vendored", "minified"})


class File(NamedTuple):
    """A file of code."""

    path: str
    language: str


async def list_files(agent: Client) -> list[File]:
    """Returns the files of the client's repository, without generated and vendored ones."""
    files: list[File] = []
    cursor = None
    while cursor != "":
        _, page = await call_tool(
            agent, "list_files", limit=LIST_LIMIT_MAX, max_tokens=TOKENS_MAX, cursor=cursor or ""
        )
        files += [File(file["file_path"], file["language"]) for file in page["files"] if _is_own(file)]
        cursor = page["next_cursor"]
    return files


async def ask_outlines(agent: Client, paths: Iterable[str]) -> list[Defined]:
    """Returns every definition in the files, in order."""
    limit = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_outline(agent, limit, path) for path in paths))
    return [one for file in found for one in file]


async def ask_references(agent: Client, symbols: Iterable[Symbol]) -> list[Answer]:
    """Returns all references of every symbol, in the order of files."""
    limit = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_references(agent, limit, batch) for batch in _batches(symbols)))
    return [one for batch in found for one in batch]


def _is_own(file: dict[str, Any]) -> bool:
    return not FOREIGN & set(file.get("flags", ())) and not file.get("skipped")


async def _outline(agent: Client, limit: asyncio.Semaphore, path: str) -> list[Defined]:
    async with limit:
        _, shown = await call_tool(agent, "get_file_outline", file_path=path, max_tokens=TOKENS_MAX)
    return [
        Defined(Symbol(path, one["name"]), SymbolKind(one["kind"]), one["start_line"], one["end_line"])
        for one in shown["symbols"]
    ]


def _batches(symbols: Iterable[Symbol]) -> Iterator[Sequence[Symbol]]:
    """Groups symbols by file, because a question names one file."""
    by_path: dict[str, list[Symbol]] = {}
    for symbol in dict.fromkeys(symbols):
        by_path.setdefault(symbol.path, []).append(symbol)
    for own in by_path.values():
        yield from (own[at : at + REFERENCES_BATCH_MAX] for at in range(0, len(own), REFERENCES_BATCH_MAX))


async def _references(agent: Client, limit: asyncio.Semaphore, batch: Sequence[Symbol]) -> list[Answer]:
    async with limit:
        shown = await _page(agent, batch)
        return [await _whole(agent, symbol, one) for symbol, one in zip(batch, shown, strict=True)]


async def _whole(agent: Client, symbol: Symbol, first: dict[str, Any]) -> Answer:
    """Returns an answer with the edges of its further pages."""
    edges, cursor = list(_edges(first)), first["next_cursor"]
    while cursor:
        (page,) = await _page(agent, [symbol], cursor)
        edges += _edges(page)
        cursor = page["next_cursor"]
    return Answer(symbol, tuple(edges), first["reconciliation"]["unexplained"])


async def _page(agent: Client, batch: Sequence[Symbol], cursor: str = "") -> list[dict[str, Any]]:
    _, shown = await call_tool(
        agent,
        "find_references",
        symbols=[symbol.name for symbol in batch],
        file_path=batch[0].path,
        limit=REFERENCES_LIMIT_MAX,
        max_tokens=TOKENS_MAX,
        cursor=cursor,
    )
    return list(shown["answers"])


def _edges(answer: dict[str, Any]) -> Iterator[Edge]:
    for entry in (entry for group in answer["groups"].values() for entry in group):
        yield Edge(
            entry["file_path"],
            entry["line"],
            EdgeKind(entry["edge"]),
            EdgeStatus(entry["status"]),
            Strategy(entry["strategy"]),
        )
