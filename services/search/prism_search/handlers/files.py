"""Answers requests about files as indexed: their lines, their list, their outline.

Lines and lists are also read at commits that are not indexed, if a mirror holds them.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from qdrant_client import models

from prism_catalog.descriptions import Descriptions, IndexedVersion
from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.code import FileFlags, FileStatus, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc.common import EnclosingSymbol, Receipt, ReceiptRequest
from prism_contracts.rpc.files import (
    READ_LINES_MAX,
    FileEntry,
    ListFilesReply,
    ListFilesRequest,
    OutlineReply,
    OutlineRequest,
    ReadFileReply,
    ReadFileRequest,
)
from prism_contracts.rpc.imports import SnapshotFile
from prism_runtime.cursors import read_cursor, write_cursor
from prism_runtime.packing import unpack_symbols
from prism_search.adapters.commits import Commits
from prism_search.adapters.filters import refuse_unknown_language
from prism_search.adapters.indexed_file import cleaned, indexed_file
from prism_search.adapters.texts import read_text
from prism_search.core.lines import lines_of
from prism_search.operations.enclosing import EnclosingSymbols, IndexedLine
from prism_store.globs import compile_glob, literal_prefix
from prism_store.reader import Reader, StoredPoint, has, starts_with, with_status

# A symbol of at most so many lines is shown whole around a line; else the lines before and after.
SYMBOL_LINES_MAX = 80
LINES_AROUND = 10

ENTRY_FIELDS = ("path", "blob", "language", "size", "lines", "flags", "status", "reason")

File = TypeVar("File")


class FileHandlers:
    """Answers `read_file`, `list_files`, `outline` and `receipt`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        commits: Commits,
        enclosing: EnclosingSymbols,
        descriptions: Descriptions,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._commits = commits
        self._enclosing = enclosing
        self._descriptions = descriptions

    async def read_file(self, request: ReadFileRequest) -> ReadFileReply:
        """Returns lines of a file, exactly as indexed."""
        fetched = self._repositories.repository_of_unindexed_commit(request)
        if fetched:
            return await self._read_at_commit(request, fetched)
        target = await self._repositories.target(request, single=True)
        point, text = await read_text(
            self._reader, target.scope, await indexed_file(self._reader, target, request.path)
        )
        line = IndexedLine.of(point, request.start_line)
        symbol = (await self._enclosing.find(target, [line])).get(line) if request.around else None
        lines = _lines(_with_range(request, symbol, text), text)
        around = await self._enclosing.around(target, point, lines.start_line, lines.end_line)
        return ReadFileReply(
            **lines._asdict(),
            enclosing=around.enclosing if around else None,
            touched=around.touched if around else (),
            repo=target.repositories[0].name,
            file_path=point.text("path"),
            language=point.text("language"),
            blob=point.text("blob"),
            receipt=await self._repositories.receipt(target),
        )

    async def _read_at_commit(self, request: ReadFileRequest, repository: Repository) -> ReadFileReply:
        file = await self._commits.file(repository, request.ref, cleaned(request.path))
        return ReadFileReply(
            **_lines(_with_range(request, None, file.text), file.text)._asdict(),
            repo=repository.name,
            file_path=cleaned(request.path),
            language="",
            blob=file.blob,
            receipt=_receipt_of_mirror(repository, file.commit),
        )

    async def list_files(self, request: ListFilesRequest) -> ListFilesReply:
        """Returns a page of the files that match a glob, in order of path."""
        fetched = self._repositories.repository_of_unindexed_commit(request)
        if fetched:
            return await self._list_at_commit(request, fetched)
        target = await self._repositories.target(request, single=True)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        statuses = (FileStatus.INDEXED, *((FileStatus.SKIPPED,) if request.include_skipped else ()))
        conditions: list[models.Condition] = [with_status(*statuses)]
        if request.language:
            conditions.append(has("language", request.language.lower()))
        prefix = literal_prefix(request.glob)
        if prefix:
            conditions.append(starts_with("path", prefix))
        scan = self._reader.scan(target.scope, conditions, ENTRY_FIELDS)
        files = {point.text("path"): point async for point in scan}
        return ListFilesReply(
            **_page(request, files, _entry),
            repo=target.repositories[0].name,
            receipt=await self._repositories.receipt(target),
        )

    async def _list_at_commit(self, request: ListFilesRequest, repository: Repository) -> ListFilesReply:
        if request.language:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"{request.ref} is not indexed: the languages of its files are unknown.",
                "Use a glob.",
            )
        known = await self._commits.files(repository, request.ref)
        files = {file.path: file for file in known.files if request.include_skipped or not file.skipped}
        return ListFilesReply(
            **_page(request, files, _entry_at_commit),
            repo=repository.name,
            receipt=_receipt_of_mirror(repository, known.commit),
        )

    async def outline(self, request: OutlineRequest) -> OutlineReply:
        """Returns the symbols of a file, in order."""
        target = await self._repositories.target(request, single=True)
        point = await indexed_file(self._reader, target, request.path, "symbols")
        version = IndexedVersion(point.id, point.text("generation"))
        descriptions = await self._descriptions.of(target.scope, [version])
        return OutlineReply(
            repo=target.repositories[0].name,
            file_path=point.text("path"),
            language=point.text("language"),
            line_count=point.number("lines"),
            description=descriptions[point.id],
            symbols=unpack_symbols(point.text("symbols")),
            parse=point.text("parse"),
            receipt=await self._repositories.receipt(target),
        )

    async def receipt(self, request: ReceiptRequest) -> Receipt:
        """Returns how fresh and how complete answers are."""
        return await self._repositories.receipt(await self._repositories.target(request, single=True))


class _Lines(NamedTuple):
    start_line: int
    end_line: int
    line_count: int
    content: str
    truncated: bool
    note: str


def _with_range(request: ReadFileRequest, symbol: EnclosingSymbol | None, text: str) -> ReadFileRequest:
    """Returns the request with the lines to show around its line, if it asks for these."""
    line, lines = request.start_line, len(lines_of(text))
    if not request.around or line > lines:
        return request
    if symbol and symbol.name and symbol.end_line - symbol.start_line < SYMBOL_LINES_MAX:
        first, last = symbol.start_line, symbol.end_line
    else:
        first, last = max(1, line - LINES_AROUND), min(lines, line + LINES_AROUND)
    return request.model_copy(update={"start_line": first, "end_line": last})


def _lines(request: ReadFileRequest, text: str) -> _Lines:
    """Returns the requested lines. Raises INVALID_ARGUMENT."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    start, end, cut = _line_range(request, len(lines))
    content = "\n".join(lines[start - 1 : end])
    if end < len(lines) or text.endswith("\n"):
        content += "\n"
    return _Lines(start, end, len(lines), content, cut, _note(request, len(lines)))


def _note(request: ReadFileRequest, lines: int) -> str:
    """Returns a note if the requested lines go beyond the end of the file."""
    if request.end_line <= lines:
        return ""
    return (
        f"Lines {request.start_line} to {request.end_line} were requested; the file ends with line {lines}."
    )


def _line_range(request: ReadFileRequest, lines: int) -> tuple[int, int, bool]:
    """Returns the first and last line to return, and whether a limit cut them. Raises INVALID_ARGUMENT."""
    if lines == 0:
        return 1, 0, False
    end = min(request.end_line or lines, lines)
    if request.start_line > lines or (request.end_line and request.end_line < request.start_line):
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"The file has {lines} lines; lines {request.start_line} to {request.end_line or 'the end'} do not exist.",
            f"Give lines between 1 and {lines}.",
            line_count=lines,
        )
    cut = end - request.start_line + 1 > READ_LINES_MAX
    return request.start_line, min(end, request.start_line + READ_LINES_MAX - 1), cut


def _page(
    request: ListFilesRequest, files: Mapping[str, File], entry: Callable[[File], FileEntry]
) -> dict[str, Any]:
    """Returns the page of matching files after the last one, in order of path."""
    question = request.model_dump_json(exclude={"cursor", "limit"})
    after = str(read_cursor(question, request.cursor, (str,))[0]) if request.cursor else ""
    glob = compile_glob(request.glob) if request.glob else None
    paths = sorted(path for path in files if glob is None or glob.fullmatch(path))
    page = [path for path in paths if path > after][: request.limit]
    more = bool(page) and page[-1] != paths[-1]
    return {
        "files": tuple(entry(files[path]) for path in page),
        "next_cursor": write_cursor(question, page[-1]) if more else "",
        "total": len(paths),
    }


def _receipt_of_mirror(repository: Repository, commit: str) -> Receipt:
    """Returns the receipt of an answer from an unindexed commit, which is never stale."""
    return Receipt(
        repo=repository.name,
        ref=commit,
        indexed_commit=commit,
        head_commit=commit,
        lag_seconds=0.0,
        indexed_at=None,
        corpus_version=0,
        files_indexed=0,
        files_skipped=0,
        files_failed=0,
    )


def _entry_at_commit(file: SnapshotFile) -> FileEntry:
    return FileEntry(
        file_path=file.path,
        blob=file.blob,
        size_bytes=file.size_bytes,
        flags=file.flags,
        skipped=file.skipped,
    )


def _entry(point: StoredPoint) -> FileEntry:
    skipped = point.text("status") == FileStatus.SKIPPED
    return FileEntry(
        file_path=point.text("path"),
        blob=point.text("blob"),
        language=point.text("language"),
        size_bytes=point.number("size"),
        lines=point.number("lines"),
        flags=FileFlags.of_letters(point.text("flags")),
        skipped=SkipReason(point.text("reason")) if skipped else None,
    )
