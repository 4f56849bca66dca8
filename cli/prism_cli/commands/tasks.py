"""Tasks."""

import asyncio
from typing import Annotated, Any

import typer

from prism_cli.commands.shared import JsonOption, told_errors

TASKS_DEFAULT = 50
TASKS_MAX = 100

tasks = typer.Typer(name="tasks", help="List, create and change tasks.", no_args_is_help=True)

TaskArgument = Annotated[str, typer.Argument(help="Id of the task, or its first 8 digits.")]
TitleOption = Annotated[str, typer.Option(help="Another title.")]
StatusOption = Annotated[str, typer.Option(help="need to be done, in-progress, complete.")]
BranchOption = Annotated[str, typer.Option(help="A branch of the task.")]
RepoOption = Annotated[str, typer.Option(help="owner/name.")]
DescriptionOption = Annotated[str, typer.Option(help="What is to be done, and why.")]
NotesOption = Annotated[str, typer.Option(help="Anything else.")]


@tasks.command("list")
def list_tasks(
    *,
    query: Annotated[str, typer.Argument(help="Words of the task.")] = "",
    status: StatusOption = "",
    branch: BranchOption = "",
    commit: Annotated[str, typer.Option(help="A commit, or its beginning.")] = "",
    repo: RepoOption = "",
    stale: Annotated[
        bool | None, typer.Option("--stale/--not-stale", help="Tasks that name code that has changed.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=TASKS_MAX, help="Tasks of a page.")] = TASKS_DEFAULT,
    cursor: Annotated[str, typer.Option(help="Cursor of the page before.")] = "",
    as_json: JsonOption = False,
) -> None:
    """List tasks, the last updated first; with words, the best first.

    Example: `prism tasks list --status in-progress`
    """
    with told_errors():
        from prism_cli import tasks as command
        from prism_cli.target import find_target

        found = command.listed(
            find_target(),
            query=query,
            status=status,
            branch=branch,
            commit=commit,
            repo=repo,
            stale=stale,
            limit=limit,
            cursor=cursor,
        )
        _print(asyncio.run(found), command.show, as_json=as_json)


@tasks.command("show")
def show_task(task: TaskArgument, *, as_json: JsonOption = False) -> None:
    """Show a task with its links and its history."""
    with told_errors():
        from prism_cli import tasks as command
        from prism_cli.target import find_target

        _print(asyncio.run(command.task(find_target(), task)), command.show_one, as_json=as_json)


@tasks.command("create")
def create_task(
    title: Annotated[str, typer.Argument(help="Title of the task, up to 200 characters.")],
    *,
    description: DescriptionOption = "",
    notes: NotesOption = "",
    reference: Annotated[
        list[str] | None, typer.Option(help="Path, symbol, document or address that plans it.")
    ] = None,
    repo: RepoOption = "",
    as_json: JsonOption = False,
) -> None:
    """Create a task.

    Example: `prism tasks create "Retry deliveries" --repo acme/parcel-tracker`
    """
    with told_errors():
        from prism_cli import tasks as command
        from prism_cli.target import find_target

        body = {
            "title": title,
            "description": description,
            "notes": notes,
            "planning_references": reference or [],
            "repo": repo,
        }
        _print(asyncio.run(command.create(find_target(), body)), command.show_one, as_json=as_json)


@tasks.command("update")
def update_task(
    task: TaskArgument,
    *,
    title: TitleOption = "",
    description: DescriptionOption = "",
    notes: NotesOption = "",
    status: StatusOption = "",
    branch: BranchOption = "",
    commit: Annotated[str, typer.Option(help="A commit of the task: 40 hex digits.")] = "",
    repo: RepoOption = "",
    expected_version: Annotated[
        int | None, typer.Option(min=1, help="Fail if the task has another version by now.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Change a task, or link a branch or a commit.

    Example: `prism tasks update 7c0d5a54 --status complete`
    """
    with told_errors():
        from prism_cli import tasks as command
        from prism_cli.target import find_target

        body = {
            "title": title,
            "description": description,
            "notes": notes,
            "status": status,
            "branch": branch,
            "commit": commit,
            "repo": repo,
            "expected_version": expected_version,
        }
        _print(asyncio.run(command.update(find_target(), task, body)), command.show_one, as_json=as_json)


def _print(result: dict[str, Any], show: Any, *, as_json: bool) -> None:
    from prism_cli import terminal

    if as_json:
        terminal.print_json(result)
    else:
        show(result)
