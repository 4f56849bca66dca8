"""What the server keeps: jobs and dead letters."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

JOBS_MAX = 200
JOBS_DEFAULT = 20
LETTERS_MAX = 100
LETTERS_DEFAULT = 20
LETTER_MAX = 2**53 - 1
LETTER_HELP = "The number that `prism dead-letters list` shows."

jobs = typer.Typer(name="jobs", help="List and cancel imports.", no_args_is_help=True)
dead_letters = typer.Typer(
    name="dead-letters", help="List, retry and drop messages that were given up.", no_args_is_help=True
)


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


@dead_letters.command("list")
def list_letters(
    limit: Annotated[
        int, typer.Option(min=1, max=LETTERS_MAX, help="Maximum number of letters.")
    ] = LETTERS_DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """List messages that were given up, with the reasons, the newest first.

    Example: `prism dead-letters list`
    """
    with told_errors():
        from prism_cli import dead_letters as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        listed = asyncio.run(command.dead_letters(find_target(), limit))
        if as_json:
            terminal.print_json(listed)
        else:
            command.show(listed)


@dead_letters.command("retry")
def retry_letter(
    letter: Annotated[int, typer.Argument(metavar="LETTER", min=1, max=LETTER_MAX, help=LETTER_HELP)],
    as_json: JsonOption = False,
) -> None:
    """Do again what a message was for. Files are read again, for all letters of their branch at once.

    Example: `prism dead-letters retry 12`
    """
    with told_errors():
        from prism_cli import dead_letters as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        done = asyncio.run(command.retry(find_target(), letter))
        if as_json:
            terminal.print_json(done)
        else:
            command.show_retried(done)


@dead_letters.command("drop")
def drop_letters(
    letters: Annotated[
        list[int], typer.Argument(metavar="LETTER...", min=1, max=LETTER_MAX, help=LETTER_HELP)
    ],
    as_json: JsonOption = False,
) -> None:
    """Delete letters. What their messages were for stays undone.

    Example: `prism dead-letters drop 12 13`
    """
    with told_errors():
        from prism_cli import dead_letters as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        dropped = asyncio.run(command.drop(find_target(), letters))
        if as_json:
            terminal.print_json({"dropped": dropped})
        else:
            command.show_dropped(dropped)
