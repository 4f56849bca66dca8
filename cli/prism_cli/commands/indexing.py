"""What becomes searchable: index, sync, watch, scip, secrets."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

PlaceArgument = Annotated[Path, typer.Argument(metavar="PATH", help="A folder in a git work tree.")]
NameOption = Annotated[
    str,
    typer.Option(help="owner/repo, as indexed. Default: the name of the git origin, else local/FOLDER."),
]


def index(
    source: Annotated[str, typer.Argument(metavar="PATH_OR_GIT_URL", help="A folder, or a git URL.")],
    name: Annotated[
        str, typer.Option(help="owner/repo. Default: the name of the git origin, else local/FOLDER.")
    ] = "",
    ref: Annotated[
        str,
        typer.Option(help="Index this branch, tag or commit as a layer, in addition to the default branch."),
    ] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is searchable.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Index a folder or a git repository. A second run indexes only what changed.

    A folder is uploaded with its uncommitted changes, without files that `.gitignore` excludes. A URL is
    cloned by the server. `--ref` indexes the commit of another branch of the folder; for the checked-out
    branch, the files as they are. With `--wait`, the exit code is 0 if everything is searchable, 4 if some
    files failed, 1 if the import failed.

    Examples:
    - `prism index . --wait`

    - `prism index . --ref feature/parser --wait`

    - `prism index https://github.com/psf/requests --ref v2.32.0 --wait`

    - `prism index ~/notes --name me/notes`

    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.index import command
        from prism_cli.target import find_target

        wish = command.Wish(source, name, ref, wait=wait)
        outcome = asyncio.run(command.index(find_target(), wish))
        if as_json:
            terminal.print_json(outcome.as_json())
        else:
            command.show(outcome)
        raise typer.Exit(outcome.exit_code)


def sync(
    path: PlaceArgument = Path(),
    name: NameOption = "",
    close: Annotated[bool, typer.Option("--close", help="Delete the overlay.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make uncommitted and unpushed changes searchable, and print the handle of their overlay.

    Uploads the differences between the work tree and its branch on the server, or the followed branch if the
    server does not have it. Only questions with the handle see them. The next `prism sync` updates the same
    overlay. It expires after 8 hours.

    Examples:
    - `prism sync`

    - `prism search "where are retries decided" --ref $(prism sync --json | jq -r .handle)`

    - `prism sync --close`

    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli.sync import command
        from prism_cli.target import find_target

        place = command.Place(path, name)
        if close:
            is_closed = asyncio.run(command.close(find_target(), place))
            if as_json:
                terminal.print_json({"closed": is_closed})
            return
        synced = asyncio.run(command.sync(find_target(), place))
        if as_json:
            terminal.print_json(command.as_json(synced))
        else:
            command.show(synced)
        raise typer.Exit(command.exit_code(synced))


def watch(path: PlaceArgument = Path(), name: NameOption = "") -> None:
    """Run `prism sync` after each save, until Ctrl-C, which deletes the overlay.

    Follows the checked-out branch. Ignored folders cost nothing.

    Example: `prism watch`
    """
    with told_errors():
        from prism_cli.sync.command import Place
        from prism_cli.sync.watch import watch as follow
        from prism_cli.target import find_target

        asyncio.run(follow(find_target(), Place(path, name)))


def scip(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The index.scip of an indexer.",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    *,
    repo: Annotated[str, typer.Option(help="owner/repo, as indexed.")],
    commit: Annotated[
        str, typer.Option(help="The full hash of the commit that was indexed. Needed with FILE.")
    ] = "",
    root: Annotated[str, typer.Option(help="The folder of the repository that the index covers.")] = "",
    is_list: Annotated[bool, typer.Option("--list", help="List the indexes of the repository.")] = False,
    remove: Annotated[
        str,
        typer.Option(metavar="INDEXER", help="Remove the index of this indexer, and of the folder --root."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Upload a SCIP index of an indexed commit, list the indexes of a repository, or remove one.

    The references of an index take precedence over those that Prism resolves, in files that are unchanged
    since the commit. Where an index says nothing, and once it is removed, Prism's own are returned.

    Examples:
    - `prism scip index.scip --repo acme/parcels --commit $(git rev-parse HEAD)`

    - `prism scip --list --repo acme/parcels`

    - `prism scip --remove scip-python --repo acme/parcels`

    """
    with told_errors():
        from prism_cli import scip as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        wish = command.wish(file, commit, root, is_list=is_list, remove=remove)
        reply = asyncio.run(command.run(find_target(), repo, wish))
        if as_json:
            terminal.print_json(reply.model_dump(mode="json"))
        else:
            command.show(reply)


def secrets(
    name: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="The repository; it need not be indexed yet.")
    ],
    webhook: Annotated[
        bool,
        typer.Option("--webhook", help="Generate its webhook secret, and print the settings for the forge."),
    ] = False,
    git_login: Annotated[
        str,
        typer.Option(
            metavar="USER@HOST",
            help="Store the login of its git server. Prompts for the password, or reads it or a private ssh key from stdin.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Store secrets of a repository. They are encrypted, and never shown again.

    Examples:
    - `prism secrets acme/app --webhook`

    - `prism secrets acme/private --git-login x-access-token@github.com < token.txt`

    - `prism secrets acme/private --git-login git@github.com < deploy_key`

    """
    with told_errors():
        from prism_cli import secrets as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        shown = command.keep(find_target(), name, webhook=webhook, git_login=git_login)
        if as_json:
            terminal.print_json(shown)
        else:
            command.show(shown)
