"""The repositories that the server keeps."""

import asyncio
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

group = typer.Typer(
    name="repos", help="List and manage the repositories of this Prism.", no_args_is_help=True
)


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="owner/repo.")]


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


PrefixOption = Annotated[
    str | None,
    typer.Option("--prefix", help="Import only this folder; an empty string is the whole repository."),
]
IncludeOption = Annotated[
    list[str] | None, typer.Option(help="Glob of files to import; repeatable. An empty string: all files.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(help="Glob of files not to import; repeatable. An empty string: none.")
]


@group.command("add")
def add_repo(
    url: Annotated[str, typer.Argument(metavar="GIT_URL", help="The URL that the server clones.")],
    *,
    name: Annotated[str, typer.Option(help="owner/repo. Default: from the URL.")] = "",
    ref: Annotated[str, typer.Option(help="Branch or tag to follow. Default: the default branch.")] = "",
    prefix: PrefixOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    inactive: Annotated[
        bool, typer.Option("--inactive", help="Neither poll it nor take its webhooks.")
    ] = False,
    no_index: Annotated[
        bool, typer.Option("--no-index", help="Import nothing until the first push or `prism repos reindex`.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Register a git URL, and index it.

    Example: `prism repos add https://git.example.com/acme/app.git --no-index`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        body = {"url": url, "name": name, "ref": ref, "index": not no_index}
        body |= command.settings(prefix=prefix, include=include, exclude=exclude)
        added = asyncio.run(command.add(find_target(), body | ({"is_active": False} if inactive else {})))
        if as_json:
            terminal.print_json(added)
        else:
            command.show_added(added)


@group.command("update")
def update_repo(
    name: NameArgument,
    *,
    new_name: Annotated[
        str | None,
        typer.Option("--name", help="Rename it. Tokens and groups that list its old name lose it."),
    ] = None,
    ref: Annotated[
        str | None, typer.Option(help="Branch or tag to follow; an empty string is the default branch.")
    ] = None,
    prefix: PrefixOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    active: Annotated[
        bool | None,
        typer.Option("--activate/--deactivate", help="Poll it and take its webhooks, or neither."),
    ] = None,
    tasks_on_merge: Annotated[
        str | None,
        typer.Option(
            help="What a merged pull request does to the tasks that it names: `complete`, `keep`, or what the "
            "`installation` says."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Change the settings of a repository. The next import applies them.

    Example: `prism repos update acme/app --ref release/2`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        changes = command.settings(
            name=new_name,
            ref=ref,
            is_active=active,
            prefix=prefix,
            include=include,
            exclude=exclude,
            tasks_on_merge=tasks_on_merge,
        )
        updated = asyncio.run(command.update(find_target(), name, changes))
        if as_json:
            terminal.print_json(updated)
        else:
            command.show_updated(updated["repository"])


@group.command("reindex")
def reindex_repo(
    name: NameArgument,
    *,
    full: Annotated[bool, typer.Option("--full", help="Compare every file with the index.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Index every file again, also unchanged ones.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch a repository, and index what changed.

    Example: `prism repos reindex acme/app --force`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        begun = asyncio.run(command.reindex(find_target(), name, full=full, force=force))
        if as_json:
            terminal.print_json(begun)
        else:
            command.show_job(begun["job"])


@group.command("show")
def show_repo(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show the state of a repository: its commit, files, running import and last error.

    Example: `prism repos show acme/app`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        status = asyncio.run(command.status(find_target(), name))
        if as_json:
            terminal.print_json(status)
        else:
            command.show_status(status)


@group.command("remove")
def remove_repo(
    name: NameArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a repository with everything that is stored of it, and cancel its imports.

    Its name can be indexed again at once.

    Example: `prism repos remove acme/app --yes`
    """
    with told_errors():
        from prism_cli import repos as command
        from prism_cli import terminal
        from prism_cli.target import find_target

        found = find_target()
        if not yes:
            command.confirm_removal(name)
        removed = asyncio.run(command.remove(found, name))
        if as_json:
            terminal.print_json(removed)
        else:
            command.show_removed(removed)
