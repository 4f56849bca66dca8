"""The wiki of a repository."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from prism_cli.commands.shared import JsonOption, told_errors

group = typer.Typer(
    name="wiki", help="Generate, read and export the wiki of a repository.", no_args_is_help=True
)

RepoArgument = Annotated[str, typer.Argument(metavar="REPO", help="owner/name.")]


@group.command("generate")
def generate_wiki(
    repo: RepoArgument,
    *,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until all pages are written.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Write the pages that are missing, failed or older than the index.

    Repeat it to resume: pages that are written stay. Example: `prism wiki generate acme/depot`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import wiki as command
        from prism_cli.exits import CommandError
        from prism_cli.target import find_target

        found = asyncio.run(command.generate(find_target(), repo, wait=wait))
        if as_json:
            terminal.print_json(found)
        else:
            command.show(found)
        if found["error"] or (found["failed_pages"] and wait):
            raise CommandError(
                "Some pages are missing.", f"Try them again: prism wiki generate {repo}", code=found["state"]
            )


@group.command("list")
def list_pages(repo: RepoArgument, *, as_json: JsonOption = False) -> None:
    """List the pages, and show the state of the generation."""
    with told_errors():
        from prism_cli import terminal
        from prism_cli import wiki as command
        from prism_cli.target import find_target

        found = asyncio.run(command.contents(find_target(), repo))
        if as_json:
            terminal.print_json(found)
        else:
            command.show(found)


@group.command("search")
def search_pages(
    repo: RepoArgument,
    query: Annotated[str, typer.Argument(help="Words, or a question.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Sections.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Find the sections of the pages that match best.

    Example: `prism wiki search acme/depot "how do I run the tests"`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import wiki as command
        from prism_cli.target import find_target

        found = asyncio.run(command.search(find_target(), repo, query, limit))
        if as_json:
            terminal.print_json(found)
        else:
            command.show_hits(found)


@group.command("show")
def show_page(
    repo: RepoArgument,
    page: Annotated[str, typer.Argument(help="Key of a page, as `prism wiki list` shows it.")] = "overview",
    *,
    commit: Annotated[str, typer.Option(help="Commit of an older text, as --json lists them.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show a page. A pipe or file gets its Markdown.

    Example: `prism wiki show acme/depot run-and-test`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import wiki as command
        from prism_cli.target import find_target

        found = asyncio.run(command.page(find_target(), repo, page, commit))
        if as_json:
            terminal.print_json(found)
        else:
            command.show_page(found)


@group.command("export")
def export_wiki(
    repo: RepoArgument,
    folder: Annotated[Path, typer.Argument(file_okay=False, help="Folder for the files.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Write the pages to a folder as Markdown, with links between the files and a README.md.

    Pages that a former export wrote are replaced, or removed if the wiki has them no longer.
    Example: `prism wiki export acme/depot docs/wiki`
    """
    with told_errors():
        from prism_cli import terminal
        from prism_cli import wiki as command
        from prism_cli.target import find_target

        exported = asyncio.run(command.export(find_target(), repo, folder))
        if as_json:
            terminal.print_json(exported)
        else:
            command.show_exported(exported)
