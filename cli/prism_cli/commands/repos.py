"""The repositories that the server keeps."""

import asyncio

import typer

from prism_cli.commands.shared import JsonOption, told_errors

group = typer.Typer(name="repos", help="List the repositories of this Prism.", no_args_is_help=True)


@group.command("list")
def list_repos(as_json: JsonOption = False) -> None:
    """List repositories with their source, ref and commit, and when they were indexed.

    Example: `prism repos list`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        listed = asyncio.run(command.repos(find_target()))
        if as_json:
            terminal.print_json(listed)
        else:
            command.show(listed)
