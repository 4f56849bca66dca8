"""The pages of files: folders, and the lines of a file at a ref, with its outline."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from prism_contracts.code import Symbol
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import (
    LIST_FILES,
    LIST_LIMIT_MAX,
    OUTLINE,
    READ_FILE,
    FileEntry,
    ListFilesReply,
    OutlineReply,
)
from prism_gateway.console.code import lines_of
from prism_gateway.console.formats import LINES_OF_PAGE, ref_of, symbol_url
from prism_gateway.console.page import PageView, Visit, redirect

# Files that one folder page looks through; beyond it the page says so.
PAGES_MAX: Final = 10


class FolderEntry(NamedTuple):
    """A file or a folder in a folder."""

    name: str
    path: str
    files: int  # in a folder; 0 for a file
    file: FileEntry | None


async def show_folder(visit: Visit) -> Response:
    """What is in a folder, skipped files with the reason included."""
    name, ref, path = visit.part("name"), ref_of(visit.part("ref")), visit.part("path").strip("/")
    prefix = f"{path}/" if path else ""
    files, reply, is_cut = await pages_of_files(visit, name, ref, prefix)
    entries = _entries(files, prefix)
    if path and not entries:
        raise PrismError(
            ErrorCode.FILE_NOT_FOUND,
            f"The index has no files in {path} of {name}.",
            "Go to the repository's first folder, or search for the file.",
        )
    return visit.show(
        "folder.html",
        name=name,
        ref=ref,
        folder_path=path,
        entries=entries,
        total=reply.total,
        is_cut=is_cut,
        receipt=reply.receipt,
    )


async def show_file(visit: Visit) -> Response:
    """The lines of a file, with links from names to their symbols."""
    name, ref, path = visit.part("name"), ref_of(visit.part("ref")), visit.part("path")
    if symbol := visit.query.get("symbol"):
        return redirect(symbol_url(name, ref, symbol))
    start = _start_of(visit.number("line", 1))
    values: dict[str, Any] = {"name": name, "ref": ref, "file_path": path}
    try:
        reply = await visit.ask(
            READ_FILE,
            repo=name,
            ref=ref,
            path=path,
            start_line=start,
            end_line=start + LINES_OF_PAGE - 1,
        )
    except PrismError as error:
        if error.code is not ErrorCode.FILE_SKIPPED:
            raise
        return visit.show("file.html", status=404, reply=None, error=visit.noted(error), **values)
    # In a thread, so that other requests go on meanwhile: a page of 2,000 lines takes a tenth of a second.
    lines = await asyncio.to_thread(lines_of, reply.content, reply.start_line, reply.language, is_linked=True)
    if len(lines) > reply.end_line - reply.start_line + 1:
        lines.pop()  # what follows the last line end
    outline = await _outline(visit, name, ref, path)
    return visit.show(
        "file.html",
        reply=reply,
        error=None,
        lines=lines,
        outline=outline,
        depths=_depths(outline.symbols) if outline else [],
        receipt=reply.receipt,
        before=max(1, start - LINES_OF_PAGE) if start > 1 else 0,
        after=reply.end_line + 1 if reply.end_line < reply.line_count else 0,
        redacted="[REDACTED" in reply.content,
        **values,
    )


async def pages_of_files(
    visit: Visit, name: str, ref: str, prefix: str = "", *, pages_max: int = PAGES_MAX
) -> tuple[list[FileEntry], ListFilesReply, bool]:
    """Returns files in order of path, the first page of the list, and whether files were left out."""
    files: list[FileEntry] = []
    cursor, first = "", None
    for _ in range(pages_max):
        reply = await visit.ask(
            LIST_FILES,
            repo=name,
            ref=ref,
            glob=f"{_literal(prefix)}**" if prefix else "",
            include_skipped=True,
            limit=LIST_LIMIT_MAX,
            cursor=cursor,
        )
        first = first or reply
        files += [file for file in reply.files if file.file_path.startswith(prefix)]
        cursor = reply.next_cursor
        if not cursor:
            break
    assert first is not None
    return files, first, bool(cursor)


def _entries(files: Iterable[FileEntry], prefix: str) -> list[FolderEntry]:
    folders: dict[str, int] = {}
    found: list[FolderEntry] = []
    for file in files:
        rest = file.file_path.removeprefix(prefix)
        head, mark, _ = rest.partition("/")
        if mark:
            folders[head] = folders.get(head, 0) + 1
        else:
            found.append(FolderEntry(head, file.file_path, 0, file))
    shown = [FolderEntry(one, prefix + one, count, None) for one, count in folders.items()]
    return sorted(shown, key=_by_name) + sorted(found, key=_by_name)


def _by_name(entry: FolderEntry) -> str:
    return entry.name.lower()


def _literal(path: str) -> str:
    """Returns a glob that means this path alone."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in path)


async def _outline(visit: Visit, name: str, ref: str, path: str) -> OutlineReply | None:
    try:
        return await visit.ask(OUTLINE, repo=name, ref=ref, path=path)
    except PrismError:
        return None


def _depths(symbols: tuple[Symbol, ...]) -> list[int]:
    """Returns how deep each symbol is nested."""
    depths: list[int] = []
    for symbol in symbols:
        depths.append(depths[symbol.parent] + 1 if 0 <= symbol.parent < len(depths) else 0)
    return depths


def _start_of(line: int) -> int:
    """Returns the first line of the page that has a line."""
    return max(0, line - 1) // LINES_OF_PAGE * LINES_OF_PAGE + 1


VIEWS: Final = (
    PageView("/r/{name:repository}/-/blob/{ref}/{path:path}", "read_file", show_file),
    PageView("/r/{name:repository}/-/tree/{ref}", "list_files", show_folder),
    PageView("/r/{name:repository}/-/tree/{ref}/{path:path}", "list_files", show_folder),
)
