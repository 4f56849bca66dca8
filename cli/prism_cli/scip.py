"""`prism scip`: uploads a SCIP index, lists those of a repository, and removes one."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.exits import CommandError, Exit
from prism_cli.target import ServerTarget
from prism_contracts.rpc.imports import ListScipReply, RemoveScipReply, StoreScipReply

SCIP = f"{API}/ingest/scip"

BLOCK_BYTES = 1024 * 1024
GZIP_LEVEL = 3
GZIP_WINDOW = 16 + zlib.MAX_WBITS


class ScipUpload(NamedTuple):
    """An index to upload."""

    file: Path
    commit: str
    root: str


class ScipRemoval(NamedTuple):
    """An index to remove."""

    indexer: str
    root: str


class ScipListing(NamedTuple):
    """All indexes, to be listed."""


Wish = ScipUpload | ScipRemoval | ScipListing
Reply = StoreScipReply | RemoveScipReply | ListScipReply


def wish(file: Path | None, commit: str, root: str, *, is_list: bool, remove: str) -> Wish:
    """Returns what the options ask for. Raises CommandError unless it is exactly one thing."""
    if [file is not None, is_list, bool(remove)].count(True) != 1:
        raise CommandError(
            "Give one of FILE, --list and --remove.", "See prism scip --help.", exit_code=Exit.USAGE
        )
    if is_list:
        return ScipListing()
    if file is None:
        return ScipRemoval(remove, root)
    if not commit:
        raise CommandError(
            "An upload needs the commit that was indexed.",
            "Add --commit $(git rev-parse HEAD).",
            exit_code=Exit.USAGE,
        )
    return ScipUpload(file, commit, root)


async def run(target: ServerTarget, repo: str, wish: Wish) -> Reply:
    """Do it, and return the answer of the server."""
    async with Prism(target) as prism:
        return await ask(prism, repo, wish)


async def ask(prism: Prism, repo: str, wish: Wish) -> Reply:
    """Do it on a server."""
    match wish:
        case ScipUpload(file, commit, root):
            return await prism.send_scip(gzipped(file), {"repo": repo, "commit": commit, "root": root})
        case ScipRemoval(indexer, root):
            query = {"repo": repo, "indexer": indexer, "root": root}
            return RemoveScipReply(**await prism.manage("DELETE", SCIP, params=query))
        case ScipListing():
            return ListScipReply(**await prism.manage("GET", SCIP, params={"repo": repo}))


async def gzipped(path: Path) -> AsyncIterator[bytes]:
    """Yield a file as gzip, block by block."""
    packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_WINDOW)
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, BLOCK_BYTES):
            yield await asyncio.to_thread(packer.compress, block)
    yield packer.flush()


def show(reply: Reply) -> None:
    """Print the answer of the server."""
    match reply:
        case StoreScipReply():
            _show_stored(reply)
        case RemoveScipReply():
            _show_removed(reply)
        case ListScipReply():
            _show_listed(reply)


def _show_listed(reply: ListScipReply) -> None:
    if not reply.indexes:
        terminal.out.print(Text(terminal.printable(f"{reply.repo} has no SCIP index.")))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("indexer", "folder", "commit", "files", "stored (UTC)"):
        table.add_column(title, overflow="fold", justify="right" if title == "files" else "left")
    for one in reply.indexes:
        cells = (one.indexer, one.root or ".", terminal.short_commit(one.commit), f"{one.files:,}")
        at = f"{one.stored_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        table.add_row(*(Text(terminal.printable(cell)) for cell in (*cells, at)))
    terminal.out.print(table)


def _show_removed(reply: RemoveScipReply) -> None:
    removed = reply.removed
    folder = f" for {removed.root}" if removed.root else ""
    line = f"{reply.repo}: the index of {terminal.short_commit(removed.commit)} by {removed.indexer}{folder} is removed"
    terminal.out.print(Text(terminal.printable(line)), soft_wrap=True)


def _show_stored(reply: StoreScipReply) -> None:
    kept = "kept" if reply.stored else "not stored: an index of a newer commit exists"
    shown = (
        f"{reply.uses:,} uses, {reply.definitions:,} definitions, {reply.implementations:,} implementations"
    )
    line = f"{reply.repo} @ {reply.commit} by {reply.indexer}: {kept}; {reply.files:,} files, {shown}"
    terminal.out.print(Text(terminal.printable(line)), soft_wrap=True)
    for reason, count in sorted(reply.left_out.items()):
        named = ", ".join(one.path for one in reply.examples if one.reason == reason)
        line = f"{count:,} documents left out, {reason}: {named}"
        terminal.out.print(Text(terminal.printable(line), style="yellow"), soft_wrap=True)
    if reply.unreadable:
        line = f"{reply.unreadable:,} occurrences outside the text of their file"
        terminal.out.print(Text(line, style="yellow"), soft_wrap=True)
