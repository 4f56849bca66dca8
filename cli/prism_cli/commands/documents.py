"""Documents."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from prism_cli.commands.document_remote import remote
from prism_cli.commands.shared import JsonOption, told_errors

DOCUMENTS_DEFAULT = 50
DOCUMENTS_MAX = 500
HITS_DEFAULT = 10
HITS_MAX = 100

documents = typer.Typer(
    name="documents",
    help="List, read, search, write, commit, import and export documents.",
    no_args_is_help=True,
)
documents.add_typer(remote)

DocumentArgument = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Path or id of a document.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", help="A tag; several are all needed.")]
CategoryOption = Annotated[str, typer.Option(help="A category.")]


@documents.command("list")
def list_documents(
    *,
    title: Annotated[str, typer.Option(help="A part of the title.")] = "",
    tag: TagOption = None,
    category: CategoryOption = "",
    generated: Annotated[
        bool | None, typer.Option("--generated/--captured", help="Only generated, or only captured ones.")
    ] = None,
    modified_after: Annotated[str, typer.Option(metavar="TIME", help="ISO date or time.")] = "",
    modified_before: Annotated[str, typer.Option(metavar="TIME", help="ISO date or time.")] = "",
    limit: Annotated[
        int, typer.Option(min=1, max=DOCUMENTS_MAX, help="Documents of a page.")
    ] = DOCUMENTS_DEFAULT,
    offset: Annotated[int, typer.Option(min=0, help="Documents to skip.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """List documents, the last created first.

    Example: `prism documents list --tag delivery --modified-after 2026-03-01`
    """
    with told_errors():
        from prism_cli import documents as command
        from prism_cli.target import find_target

        found = command.listed(
            find_target(),
            search_title=title,
            tag=tag or [],
            category=category,
            is_generated=generated,
            modified_after=modified_after,
            modified_before=modified_before,
            limit=limit,
            offset=offset,
        )
        _print(asyncio.run(found), command.show_list, as_json=as_json)


@documents.command("show")
def show_document(
    document: DocumentArgument,
    *,
    version: Annotated[str, typer.Option(help="A commit, or the number of a draft.")] = "",
    versions: Annotated[bool, typer.Option("--versions", help="List its versions.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Compare its last commit with the newest draft.")
    ] = False,
    related: Annotated[
        bool, typer.Option("--related", help="List documents on the same subject, and why.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a document, its versions, what is not committed, or related documents.

    Example: `prism documents show generated/2026/03/2026-03-14-retries.md`
    """
    with told_errors():
        from prism_cli import documents as command
        from prism_cli.target import find_target

        target = find_target()
        if versions:
            _print(asyncio.run(command.versions(target, document)), command.show_versions, as_json=as_json)
        elif diff:
            _print(asyncio.run(command.diff(target, document)), command.show_diff, as_json=as_json)
        elif related:
            _print(asyncio.run(command.related(target, document)), command.show_related, as_json=as_json)
        else:
            _print(asyncio.run(command.document(target, document, version)), command.show, as_json=as_json)


@documents.command("search")
def search_documents(
    query: Annotated[str, typer.Argument(help="A question or words.")],
    *,
    tag: TagOption = None,
    limit: Annotated[int, typer.Option(min=1, max=HITS_MAX, help="Documents to show.")] = HITS_DEFAULT,
    as_json: JsonOption = False,
) -> None:
    """Search the text of documents.

    Example: `prism documents search "how often are deliveries retried"`
    """
    with told_errors():
        from prism_cli import documents as command
        from prism_cli.target import find_target

        found = command.search(find_target(), query, tag or [], limit)
        _print(asyncio.run(found), command.show_hits, as_json=as_json)


@documents.command("write")
def write_document(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A Markdown file; - for standard input.")],
    *,
    title: Annotated[str, typer.Option(help="Its title. A new document needs one.")] = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag, or several.")] = None,
    category: CategoryOption = "",
    update: Annotated[
        str, typer.Option(metavar="DOCUMENT", help="Path or id of the document to change.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Write a new document, or the text of an existing one, as a draft.

    Example: `prism documents write notes.md --title "Retries of deliveries"`
    """
    with told_errors():
        from prism_cli import documents as command
        from prism_cli.target import find_target

        fields = {"title": title, "tags": tag or [], "category": category}
        text = command.read_source(source)
        _print(
            asyncio.run(command.write(find_target(), text, fields, update)),
            command.show_written,
            as_json=as_json,
        )


@documents.command("commit")
def commit_documents(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Paths of drafts; default: all.")
    ] = None,
    *,
    message: Annotated[str, typer.Option("--message", "-m", help="What changed, and why.")],
    as_json: JsonOption = False,
) -> None:
    """Commit drafts to the git repository of documents.

    Example: `prism documents commit -m "Describe the retries"`
    """
    with told_errors():
        from prism_cli import documents as command
        from prism_cli.target import find_target

        found = command.commit(find_target(), message, paths or [])
        _print(asyncio.run(found), command.show_commit, as_json=as_json)


@documents.command("import")
def import_documents(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A folder of Markdown files.")],
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="FOLDER",
            help="Where the files go: below `documents`, read-only, or below `generated`. Files of the folder that "
            "are below one of both already stay there.",
        ),
    ] = "documents",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace documents that were written in Prism since.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import the Markdown files of a folder as drafts. A second run changes nothing.

    Example: `prism documents import handbook --to documents/handbook`
    """
    with told_errors():
        from prism_cli import document_folders as command
        from prism_cli import terminal
        from prism_cli.exits import CommandError
        from prism_cli.target import find_target

        found = asyncio.run(command.import_folder(find_target(), folder, to, replace=replace))
        if as_json:
            terminal.print_json(found)
        else:
            command.show_import(found)
        if found["refused"]:
            raise CommandError(
                f"{found['refused']} of {len(found['files'])} files were refused.",
                "The other files are imported. Mend these, and run the command again.",
                code="files_refused",
            )


@documents.command("export")
def export_documents(
    target: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder, or a file that ends in .tar.")],
    *,
    below: Annotated[str, typer.Option(metavar="FOLDER", help="Only documents below it.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Write documents as Markdown files with front matter. Other files of the folder stay.

    Example: `prism documents export backup.tar`
    """
    with told_errors():
        from prism_cli import document_folders as command
        from prism_cli.target import find_target

        found = command.export(find_target(), target, below)
        _print(asyncio.run(found), command.show_export, as_json=as_json)


def _print(result: dict[str, Any], show: Any, *, as_json: bool) -> None:
    from prism_cli import terminal

    if as_json:
        terminal.print_json(result)
    else:
        show(result)
