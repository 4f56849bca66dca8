"""`prism jobs`: lists jobs, and cancels them."""

from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

JOBS = f"{API}/jobs"


async def jobs(target: ServerTarget, limit: int) -> dict[str, Any]:
    """Returns the newest jobs."""
    async with Prism(target) as prism:
        return await prism.manage("GET", JOBS, params={"limit": limit})


async def cancel(target: ServerTarget, job: str) -> dict[str, Any]:
    """Cancel a job, and return it. A job that has ended does not change."""
    async with Prism(target) as prism:
        return await prism.manage("DELETE", f"{JOBS}/{job}")


def show(listed: dict[str, Any]) -> None:
    """Print jobs as a table, the newest first."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("job", no_wrap=True)
    table.add_column("repository", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("files", justify="right")
    for job in listed["jobs"]:
        name = Text(terminal.printable(job["repo_name"]))
        table.add_row(job["job"], name, job["state"], f"{job['counts']['seen']:,}")
    terminal.out.print(table)


def show_cancelled(job: dict[str, Any]) -> None:
    """Print the state of a job after its cancellation."""
    name, state = terminal.printable(job["repo_name"]), job["state"]
    ended = "is cancelled" if state == "cancelled" else f"had ended: {state}"
    terminal.out.print(Text(f"Job {job['job']} of {name} {ended}."), soft_wrap=True)
