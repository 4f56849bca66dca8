"""`prism scip`: uploads a SCIP index, and prints what the server stored."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.rpc.imports import StoreScipReply

BLOCK_BYTES = 1024 * 1024
GZIP_LEVEL = 3
GZIP_WINDOW = 16 + zlib.MAX_WBITS


async def send(target: ServerTarget, path: Path, repo: str, commit: str, root: str) -> StoreScipReply:
    """Upload an index, compressed while it is read."""
    async with Prism(target) as prism:
        return await prism.send_scip(gzipped(path), {"repo": repo, "commit": commit, "root": root})


async def gzipped(path: Path) -> AsyncIterator[bytes]:
    """Yield a file as gzip, block by block."""
    packer = zlib.compressobj(GZIP_LEVEL, wbits=GZIP_WINDOW)
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, BLOCK_BYTES):
            yield await asyncio.to_thread(packer.compress, block)
    yield packer.flush()


def show(reply: StoreScipReply) -> None:
    """Print what was stored, and what was left out."""
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
