"""`prism dead-letters`: lists messages that were given up, retries them, and drops them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

LETTERS = f"{API}/dead-letters"


async def dead_letters(target: ServerTarget, limit: int) -> dict[str, Any]:
    """Returns the newest dead letters."""
    async with Prism(target) as prism:
        return await prism.manage("GET", LETTERS, params={"limit": limit})


async def retry(target: ServerTarget, letter: int) -> dict[str, Any]:
    """Retry a letter. Returns what became of it."""
    async with Prism(target) as prism:
        return await prism.manage("POST", f"{LETTERS}/{letter}/retry")


async def drop(target: ServerTarget, letters: Iterable[int]) -> list[dict[str, Any]]:
    """Drop letters, and return them."""
    async with Prism(target) as prism:
        return [await prism.manage("DELETE", f"{LETTERS}/{letter}") for letter in letters]


def show(listed: dict[str, Any]) -> None:
    """Print letters as a table, the newest first."""
    if not listed["newest"]:
        terminal.out.print("No dead letters.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("letter", justify="right", no_wrap=True)
    for title in ("when (UTC)", "repository", "file or message", "stage", "why"):
        table.add_column(title, overflow="fold")
    for letter in listed["newest"]:
        cells = (
            str(letter["letter"]),
            f"{datetime.fromisoformat(letter['at']).astimezone(UTC):%Y-%m-%d %H:%M}" if letter["at"] else "",
            letter["repo"],
            letter["path"] or letter["subject"],
            letter["consumer"],
            f"{letter['code']}: {letter['reason']}",
        )
        table.add_row(*(Text(terminal.printable(cell)) for cell in cells))
    terminal.out.print(table)
    left_out = listed["messages"] - len(listed["newest"])
    if left_out > 0:
        terminal.out.print(Text(f"{left_out:,} more are older."))


def show_retried(done: dict[str, Any]) -> None:
    """Print what a retry began."""
    job = done["job"]
    if job:
        text = f"Job {job['job']} reads {done['repo']} again. `prism jobs list` shows it."
    else:
        text = f"{done['event']} of {done['repo'] or 'no repository'} is on its way again."
    more = f" It replaces {done['dropped']} dead letters." if done["dropped"] > 1 else ""
    terminal.out.print(Text(terminal.printable(text + more)), soft_wrap=True)


def show_dropped(dropped: list[dict[str, Any]]) -> None:
    """Print which letters were dropped."""
    for one in dropped:
        what = one["file_path"] or one["event"]
        terminal.out.print(Text(terminal.printable(f"Dropped {one['letter']}: {what}")), soft_wrap=True)
