"""`prism documents`: lists, shows, searches, writes and commits documents."""

import sys
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.exits import CommandError
from prism_cli.target import ServerTarget

DOCUMENTS = f"{API}/documents"
STANDARD_INPUT = "-"
COMMIT_CHARS = 12


async def listed(target: ServerTarget, **filters: Any) -> dict[str, Any]:
    """Returns a page of documents."""
    given = {name: value for name, value in filters.items() if value not in ("", [], None)}
    async with Prism(target) as prism:
        return await prism.manage("GET", DOCUMENTS, params=given)


async def document(target: ServerTarget, name: str, version: str = "") -> dict[str, Any]:
    """Returns a document by path or id, with its text."""
    async with Prism(target) as prism:
        return await _document(prism, name, version)


async def versions(target: ServerTarget, name: str) -> dict[str, Any]:
    """Returns the newest versions of a document."""
    async with Prism(target) as prism:
        found = await _document(prism, name)
        return await prism.manage("GET", f"{DOCUMENTS}/{found['document_id']}/versions")


async def diff(target: ServerTarget, name: str) -> dict[str, Any]:
    """Returns what differs between the last commit of a document and its newest draft."""
    async with Prism(target) as prism:
        found = await _document(prism, name)
        return await prism.manage("GET", f"{DOCUMENTS}/{found['document_id']}/diff")


async def related(target: ServerTarget, name: str) -> dict[str, Any]:
    """Returns the documents that are related to a document."""
    async with Prism(target) as prism:
        found = await _document(prism, name)
        return await prism.manage("GET", f"{DOCUMENTS}/{found['document_id']}/related")


async def search(target: ServerTarget, query: str, tags: list[str], limit: int) -> dict[str, Any]:
    """Returns the documents that match a question, the best first."""
    body = {"query": query, "filter_tags": tags, "max_results": limit}
    async with Prism(target) as prism:
        return await prism.manage("POST", f"{DOCUMENTS}/search", json=body)


def read_source(source: Path) -> str:
    """Returns the text of a file, or of standard input. Raises CommandError if it is not UTF-8, or not there."""
    try:
        data = sys.stdin.buffer.read() if str(source) == STANDARD_INPUT else source.read_bytes()
        return data.decode()
    except UnicodeDecodeError:
        raise CommandError(f"{source} is not UTF-8.", "Convert it first.", code="not_utf8") from None
    except OSError as error:
        raise CommandError(f"{source} cannot be read: {error.strerror}.", code="unreadable") from None


async def write(target: ServerTarget, text: str, fields: dict[str, Any], update: str) -> dict[str, Any]:
    """Create a document, or change the one with the path or id `update`. Returns the reply."""
    given = {name: value for name, value in fields.items() if value} | {"content": text}
    async with Prism(target) as prism:
        if not update:
            if not fields["title"]:
                raise CommandError("A new document needs a title.", "Give --title, or --update DOCUMENT.")
            return await prism.manage("POST", DOCUMENTS, json=given)
        found = await _document(prism, update)
        body = {"updates": given, "version": found["metadata"]["version"]}
        return await prism.manage("PATCH", f"{DOCUMENTS}/{found['document_id']}", json=body)


async def commit(target: ServerTarget, message: str, paths: list[str]) -> dict[str, Any]:
    """Commit drafts, and return the commit."""
    async with Prism(target) as prism:
        return await prism.manage("POST", f"{DOCUMENTS}/commit", json={"message": message, "paths": paths})


async def _document(prism: Prism, name: str, version: str = "") -> dict[str, Any]:
    wanted = {"version": version} if version else {}
    if "/" in name:
        return await prism.manage("GET", f"{DOCUMENTS}/by-path", params=wanted | {"path": name})
    return await prism.manage("GET", f"{DOCUMENTS}/{name}", params=wanted)


def show_list(page: dict[str, Any]) -> None:
    """Print documents as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("modified", "path", "title", "tags"):
        table.add_column(column, overflow="fold")
    for one in page["documents"]:
        draft = " (draft)" if one["is_draft"] else ""
        cells = (one["modified_at"][:10], one["path"] + draft, one["title"], ", ".join(one["tags"]))
        table.add_row(*(Text(terminal.printable(cell)) for cell in cells))
    terminal.out.print(table)
    shown = page["offset"] + len(page["documents"])
    if shown < page["total"]:
        _line(f"More of {page['total']:,}: --offset {shown}")


def show(found: dict[str, Any]) -> None:
    """Print a document as Markdown with its front matter."""
    if found["frontmatter"]:
        _line(f"---\n{found['frontmatter'].rstrip()}\n---\n")
    _line(found["content"].rstrip("\n"))


def show_versions(found: dict[str, Any]) -> None:
    """Print the versions of a document, the newest first."""
    for one in found["versions"]:
        what = "draft" if one["is_draft"] else one["message"]
        _line(f"{one['version'][:COMMIT_CHARS]:<{COMMIT_CHARS}} {one['at']} {one['author']}: {what}")


def show_diff(found: dict[str, Any]) -> None:
    """Print a unified diff."""
    _line(found["diff"].rstrip("\n") or "Nothing differs from the last commit.")


def show_related(found: dict[str, Any]) -> None:
    """Print the related documents, and why they are listed."""
    for one in found["related"]:
        why = [f"text {one['score']:.2f}"] if one["score"] else []
        why += [f"both name {', '.join(one['shared_places'])}"] if one["shared_places"] else []
        why += [f"tags {', '.join(one['shared_tags'])}"] if one["shared_tags"] else []
        _line(f"{one['path']}  {one['title']}: {'; '.join(why)}")
    if not found["related"]:
        _line("No related documents.")


def show_hits(found: dict[str, Any]) -> None:
    """Print the excerpts that match."""
    for hit in found["results"]:
        _line(f"{hit['path']}:{hit['start_line']}-{hit['end_line']}  {hit['title']}")
        _line(hit["snippet"].rstrip("\n") + "\n")
    if not found["results"]:
        _line("No document matches.")


def show_written(found: dict[str, Any]) -> None:
    """Print what was written."""
    _line(f"{found['path']} ({found['document_id']}), version {found['version']}, a draft")
    tags = found.get("tags_generated") or found.get("processing_results", {}).get("tags_generated", [])
    if tags:
        _line(f"suggested tags: {', '.join(tags)}")


def show_commit(found: dict[str, Any]) -> None:
    """Print a commit and its files."""
    for line in (found["commit_hash"], *found["files_committed"]):
        _line(line)


def _line(text: str) -> None:
    terminal.out.print(Text(terminal.printable(text)), soft_wrap=True)
