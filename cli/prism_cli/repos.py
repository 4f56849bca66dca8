"""`prism repos`: lists the repositories of a Prism, and changes what it keeps of them."""

import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import typer
from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, TASK_PATIENCE_S, Prism
from prism_cli.exits import CommandError, Exit
from prism_cli.target import ServerTarget

REPOS = f"{API}/repos"


async def repos(target: ServerTarget) -> dict[str, Any]:
    """Returns the repositories that the token may see."""
    async with Prism(target) as prism:
        return await prism.manage("GET", REPOS)


async def add(target: ServerTarget, body: dict[str, Any]) -> dict[str, Any]:
    """Register a git URL. Returns the repository, and the job that imports it, if any."""
    # A repetition after a lost answer does nothing.
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    async with Prism(target) as prism:
        return await prism.manage("POST", REPOS, json=body, headers=headers, patience_s=TASK_PATIENCE_S)


def settings(
    *,
    name: str | None = None,
    ref: str | None = None,
    is_active: bool | None = None,
    prefix: str | None = None,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    tasks_on_merge: str | None = None,
) -> dict[str, Any]:
    """Returns the settings that options ask for. A list with an empty string is empty."""
    asked = {
        "name": name,
        "ref": ref,
        "is_active": is_active,
        "repo_root_prefix": prefix,
        "include": None if not include else [glob for glob in include if glob],
        "exclude": None if not exclude else [glob for glob in exclude if glob],
        "tasks_on_merge": tasks_on_merge,
    }
    return {field: value for field, value in asked.items() if value is not None}


async def update(target: ServerTarget, name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Change settings of a repository, and return it. Raises CommandError if there are no changes."""
    if not changes:
        raise CommandError(
            "Nothing to change.", "`prism repos update --help` lists the options.", code="invalid_argument"
        )
    async with Prism(target) as prism:
        return await prism.manage("PATCH", _path(name), json=changes)


async def reindex(target: ServerTarget, name: str, *, full: bool, force: bool) -> dict[str, Any]:
    """Begin an import, and return its job."""
    async with Prism(target) as prism:
        return await prism.manage("POST", f"{_path(name)}/index", json={"full": full, "force": force})


async def status(target: ServerTarget, name: str) -> dict[str, Any]:
    """Returns the status of a repository."""
    async with Prism(target) as prism:
        return await prism.manage("GET", f"{_path(name)}/status")


async def remove(target: ServerTarget, name: str) -> dict[str, Any]:
    """Remove a repository. Returns its name, and how many of its imports were cancelled."""
    async with Prism(target) as prism:
        return await prism.manage("DELETE", _path(name))


def confirm_removal(name: str) -> None:
    """Ask a person. Raises CommandError if the answer is no, or if there is no terminal to ask."""
    if not is_terminal():
        raise CommandError(
            "Nothing was removed.",
            "Confirm the removal with --yes.",
            code="confirmation_required",
            exit_code=Exit.USAGE,
        )
    question = f"Remove {terminal.printable(name)} with its index, branches, secrets and history?"
    if not typer.confirm(question, err=True):
        raise CommandError("Nothing was removed.", code="declined")


def is_terminal() -> bool:
    """Whether a person can answer a question."""
    return sys.stdin.isatty()


def _path(name: str) -> str:
    return f"{REPOS}/{quote(name)}"


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
            Text(terminal.short_commit(served.get("commit", ""))),
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


def show_added(added: dict[str, Any]) -> None:
    """Print a repository that was registered."""
    name = terminal.printable(added["repository"]["name"])
    if added["job"]:
        show_job(added["job"])
        return
    terminal.out.print(Text(f"{name} is registered: prism repos reindex {name}"), soft_wrap=True)


def show_updated(repository: dict[str, Any]) -> None:
    """Print the settings of a repository after a change."""
    name, ref = terminal.printable(repository["name"]), terminal.printable(repository["ref"])
    state = "active" if repository["is_active"] else "inactive"
    terminal.out.print(Text(f"{name} follows {ref or 'the default branch'} and is {state}."), soft_wrap=True)


def show_job(job: dict[str, Any]) -> None:
    """Print an import that was begun or joined."""
    name = terminal.printable(job["repo_name"])
    terminal.out.print(Text(f"Job {job['job']} imports {name}: prism repos show {name}"), soft_wrap=True)


def show_removed(removed: dict[str, Any]) -> None:
    """Print which repository is removed."""
    cancelled = removed["jobs_cancelled"]
    more = f" Imports cancelled: {cancelled}." if cancelled else ""
    terminal.out.print(Text(f"{terminal.printable(removed['repo'])} is removed.{more}"), soft_wrap=True)


def show_status(status: dict[str, Any]) -> None:
    """Print the status of a repository."""
    state = status["state"] if status["is_active"] else f"{status['state']}, inactive"
    terminal.out.print(Text(f"{terminal.printable(status['name'])}: {state}", style="bold"), soft_wrap=True)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in _facts(status):
        table.add_row(title, Text(terminal.printable(text)))
    terminal.out.print(table)


def _facts(status: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "source", status["source"]
    yield "ref", status["ref"] or status["served_ref"] or "the default branch"
    for title, field in (("folder", "repo_root_prefix"), ("include", "include"), ("exclude", "exclude")):
        if chosen := status[field]:
            yield title, chosen if isinstance(chosen, str) else ", ".join(chosen)
    if status["served_commit"]:
        at = terminal.ago(datetime.fromisoformat(status["indexed_at"]).astimezone(UTC))
        yield "commit", f"{terminal.short_commit(status['served_commit'])}, indexed {at}"
    if status["lag_seconds"]:
        yield "behind", f"{terminal.short_commit(status['head_commit'])} for {status['lag_seconds']:.0f} s"
    if files := status["files"]:
        yield "files", ", ".join(f"{files[one]:,} {one}" for one in ("indexed", "skipped", "failed"))
    yield "branches", f"{status['layers']:,} with a layer"
    if job := status["active_job"]:
        yield "import", f"{job['job']} {job['state']}, {job['counts']['seen']:,} files"
    if error := status["last_error"]:
        yield "error", f"{error['message']} [{error['code']}]"
        yield "", f"→ {error['next_action']}"
