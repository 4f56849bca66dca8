"""The remote of the documents."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any

import typer

from prism_cli.commands.shared import JsonOption, told_errors

remote = typer.Typer(
    name="remote", help="Show and set the git repository that documents are pushed to.", no_args_is_help=True
)


@remote.command("show")
def show_remote(*, as_json: JsonOption = False) -> None:
    """Show the remote, and whether commits wait to be pushed."""
    with told_errors():
        from prism_cli import document_remote as command
        from prism_cli.target import find_target

        _print(command.shown(find_target()), as_json=as_json)


@remote.command("set")
def set_remote(
    url: Annotated[str, typer.Argument(help="An https or ssh URL, without a login.")],
    *,
    branch: Annotated[str, typer.Option(help="The branch there.")] = "main",
    as_json: JsonOption = False,
) -> None:
    """Set the remote. The token needs the scope `admin`.

    Store its login first: `prism secrets prism/documents --git-login USER@HOST`

    Example: `prism documents remote set https://github.com/acme/documents`
    """
    with told_errors():
        from prism_cli import document_remote as command
        from prism_cli.target import find_target

        _print(command.set_url(find_target(), url, branch), as_json=as_json)


@remote.command("push")
def push_documents(*, as_json: JsonOption = False) -> None:
    """Fetch what the remote has, and push what is committed. Nothing is ever forced."""
    with told_errors():
        from prism_cli import document_remote as command
        from prism_cli.target import find_target

        _print(command.push(find_target()), as_json=as_json)


@remote.command("remove")
def remove_remote(*, as_json: JsonOption = False) -> None:
    """Forget the remote. The documents and the remote itself stay as they are."""
    with told_errors():
        from prism_cli import document_remote as command
        from prism_cli.target import find_target

        _print(command.remove(find_target()), as_json=as_json)


def _print(asked: Coroutine[Any, Any, dict[str, Any]], *, as_json: bool) -> None:
    from prism_cli import document_remote as command
    from prism_cli import terminal

    found = asyncio.run(asked)
    if as_json:
        terminal.print_json(found)
    else:
        command.show(found)
