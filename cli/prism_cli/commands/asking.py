"""Questions to the index: search."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

LIMIT_MAX = 100


def search(
    query: Annotated[str, typer.Argument(help="A question, a name, or a few words.")],
    repo: Annotated[str, typer.Option(help="owner/repo. Default: all repositories.")] = "",
    ref: Annotated[
        str, typer.Option(help="A branch, pull/N, or the handle of an overlay. Default: the followed branch.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=LIMIT_MAX, help="Maximum number of hits.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Search for code, as an agent does.

    Each hit shows its place, its score, and the retrieval legs that found it with their ranks. The last line
    is the receipt: the commit that answered, its age, and what is missing.

    Examples:
    - `prism search "where are retries decided"`

    - `prism search HTTPAdapter.send --repo psf/requests --limit 3`

    """
    with told_errors():
        from prism_cli import search as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        reply = asyncio.run(command.search(find_target(), query, repo, ref, limit))
        if as_json:
            terminal.print_json(reply.model_dump(mode="json"))
        else:
            command.show(reply)
