"""What the server keeps: jobs."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

JOBS_MAX = 200
JOBS_DEFAULT = 20

jobs = typer.Typer(name="jobs", help="List and cancel imports.", no_args_is_help=True)


@jobs.command("list")
def list_jobs(
    limit: Annotated[int, typer.Option(min=1, max=JOBS_MAX, help="Maximum number of jobs.")] = JOBS_DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """List the newest jobs.

    Example: `prism jobs list --limit 5`
    """
    with told_errors():
        from prism_cli import jobs as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        listed = asyncio.run(command.jobs(find_target(), limit))
        if as_json:
            terminal.print_json(listed)
        else:
            command.show(listed)


@jobs.command("cancel")
def cancel_job(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The id that `prism jobs list` shows.")],
    as_json: JsonOption = False,
) -> None:
    """Cancel a job. Its queued files are skipped, and the index keeps what it serves.

    A job that has ended does not change.

    Example: `prism jobs cancel 4be1e2d5-07a9-4c93-a6ae-1a2d8c9f0b77`
    """
    with told_errors():
        from prism_cli import jobs as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        reply = asyncio.run(command.cancel(find_target(), job))
        if as_json:
            terminal.print_json(reply)
        else:
            command.show_cancelled(reply["job"])
