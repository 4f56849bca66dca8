"""The web console: open."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import told_errors


def open(  # noqa: A001 - the name of the command
    *,
    is_printed: Annotated[
        bool, typer.Option("--print", help="Print the link instead of opening a browser.")
    ] = False,
) -> None:
    """Open the web console in a browser, signed in with your token.

    The link works once, within a minute.

    Examples:
    - `prism open`

    - `prism open --print` for a browser that is not on this machine's screen

    """
    with told_errors():
        from prism_cli import console as command
        from prism_cli.target import find_target

        asyncio.run(command.open_console(find_target(), is_printed=is_printed))
