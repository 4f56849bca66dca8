"""`prism tasks`: lists tasks, shows one, creates and changes them."""

from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

TASKS = f"{API}/tasks"
SHORT_ID_CHARS = 8


async def listed(target: ServerTarget, **filters: Any) -> dict[str, Any]:
    """Returns a page of tasks."""
    given = {name: value for name, value in filters.items() if value or value is False}
    async with Prism(target) as prism:
        return await prism.manage("GET", TASKS, params=given)


async def task(target: ServerTarget, task_id: str) -> dict[str, Any]:
    """Returns a task with its history."""
    async with Prism(target) as prism:
        return await prism.manage("GET", f"{TASKS}/{task_id.removeprefix('#')}")


async def create(target: ServerTarget, body: dict[str, Any]) -> dict[str, Any]:
    """Create a task, and return it."""
    async with Prism(target) as prism:
        return await prism.manage("POST", TASKS, json=body)


async def update(target: ServerTarget, task_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """Change a task, and return it."""
    given = {name: value for name, value in body.items() if value not in (None, "")}
    async with Prism(target) as prism:
        return await prism.manage("PATCH", f"{TASKS}/{task_id.removeprefix('#')}", json=given)


def show(page: dict[str, Any]) -> None:
    """Print tasks as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("task", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("title", overflow="fold")
    table.add_column("branches", overflow="fold")
    table.add_column("stale", overflow="fold")
    for one in page["tasks"]:
        table.add_row(
            one["id"][:SHORT_ID_CHARS],
            Text(terminal.printable(one["status"])),
            Text(terminal.printable(one["title"])),
            Text(terminal.printable(", ".join(one["branches"]))),
            Text(terminal.printable(", ".join(place["symbol"] or place["path"] for place in one["stale"]))),
        )
    terminal.out.print(table)
    if page["next_cursor"]:
        terminal.out.print(Text(f"More of {page['total']:,}: --cursor {page['next_cursor']}"), soft_wrap=True)


def show_one(found: dict[str, Any]) -> None:
    """Print a task with its links and its history."""
    lines = [
        found["title"],
        f"{found['id']}: {found['status']}, version {found['version']}, by {found['created_by']}",
        *(text for text in (found["description"], found["notes"]) if text),
        *(f"{one['reference_type']}: {one['file_path']}" for one in found["planning_references"]),
        *(f"not found: {reference}" for reference in found["references_not_found"] or ()),
        *(
            f"stale: {one['repo']}: {one['path']} {one['symbol']} ({one['reason']}, {one['commit'][:12]})"
            for one in found["stale"]
        ),
        *(f"branch {link['branch_name']}" for link in found["branches"]),
        *(f"commit {link['commit_hash'][:12]} {link['commit_message']}" for link in found["commits"]),
        *(
            f"{one['at']} {one['by']}: {', '.join(one['changed'])} ({one['to_status']})"
            for one in found["history"]
        ),
    ]
    for line in lines:
        terminal.out.print(Text(terminal.printable(line)), soft_wrap=True)
