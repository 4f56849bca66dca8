"""`prism repos`: lists the repositories of a Prism, and changes what it keeps of them."""

from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

REPOS = f"{API}/repos"
COMMIT_CHARS = 10


async def repos(target: ServerTarget) -> dict[str, Any]:
    """Returns the repositories that the token may see."""
    async with Prism(target) as prism:
        return await prism.manage("GET", REPOS)


def show(listed: dict[str, Any]) -> None:
    """Print repositories as a table."""
    if not listed["repositories"]:
        terminal.out.print(Text("No repositories yet: prism index PATH_OR_GIT_URL", style="yellow"))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("repository", overflow="fold")
    table.add_column("source", overflow="fold")
    for title in ("ref", "commit"):
        table.add_column(title, overflow="fold")
    table.add_column("state", no_wrap=True)
    for repository in listed["repositories"]:
        served = repository["served"] or {}
        table.add_row(
            Text(terminal.printable(repository["name"])),
            Text(terminal.printable(repository["source"])),
            Text(terminal.printable(repository["ref"] or served.get("ref", ""))),
            Text(terminal.printable(served.get("commit", "").removeprefix("tree:")[:COMMIT_CHARS])),
            state(repository),
        )
    terminal.out.print(table)


def state(repository: dict[str, Any]) -> str:
    """Returns whether a repository is being indexed, or when it last was."""
    if repository["active_job"]:
        return "indexing"
    if not repository["served"]:
        return "not indexed"
    return terminal.ago(datetime.fromisoformat(repository["served"]["indexed_at"]).astimezone(UTC))
