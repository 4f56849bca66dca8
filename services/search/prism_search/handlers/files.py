"""Files as they are indexed: their lines, their list, their outline."""

from qdrant_client import models

from prism_contracts.code import FileFlags, FileStatus, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc import (
    READ_LINES_MAX,
    FileEntry,
    ListFilesReply,
    ListFilesRequest,
    OutlineReply,
    OutlineRequest,
    ReadFileReply,
    ReadFileRequest,
    Receipt,
    ReceiptRequest,
)
from prism_runtime.cursors import read_cursor, write_cursor
from prism_runtime.packing import unpack_symbols
from prism_search.adapters.filters import refuse_unknown_language
from prism_search.adapters.indexed_file import indexed_file
from prism_search.adapters.texts import read_text
from prism_store.globs import compile_glob, literal_prefix
from prism_store.reader import Reader, StoredPoint, has, starts_with, with_status
from prism_store.repositories import Repositories

ENTRY_FIELDS = ("path", "blob", "language", "size", "lines", "flags", "status", "reason")


class FileHandlers:
    """Answers `read_file`, `list_files`, `outline` and `receipt`."""

    def __init__(self, reader: Reader, repositories: Repositories) -> None:
        self._reader = reader
        self._repositories = repositories

    async def read_file(self, request: ReadFileRequest) -> ReadFileReply:
        """Lines of a file, exactly as indexed."""
        target = await self._repositories.target(request, single=True)
        point, text = await read_text(
            self._reader, target.scope, await indexed_file(self._reader, target, request.path)
        )
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        start, end, cut = _line_range(request, len(lines))
        content = "\n".join(lines[start - 1 : end])
        return ReadFileReply(
            repo=target.repositories[0].name,
            file_path=point.text("path"),
            start_line=start,
            end_line=end,
            line_count=len(lines),
            content=content + "\n" if end < len(lines) or text.endswith("\n") else content,
            language=point.text("language"),
            blob=point.text("blob"),
            truncated=cut,
            receipt=await self._repositories.receipt(target),
        )

    async def list_files(self, request: ListFilesRequest) -> ListFilesReply:
        """Files by glob, in order of path."""
        target = await self._repositories.target(request, single=True)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        question = request.model_dump_json(exclude={"cursor", "limit"})
        after = str(read_cursor(question, request.cursor, (str,))[0]) if request.cursor else ""
        statuses = (FileStatus.INDEXED, *((FileStatus.SKIPPED,) if request.include_skipped else ()))
        conditions: list[models.Condition] = [with_status(*statuses)]
        if request.language:
            conditions.append(has("language", request.language.lower()))
        prefix = literal_prefix(request.glob)
        if prefix:
            conditions.append(starts_with("path", prefix))
        glob = compile_glob(request.glob) if request.glob else None
        scan = self._reader.scan(target.scope, conditions, ENTRY_FIELDS)
        files = sorted(
            [point async for point in scan if glob is None or glob.fullmatch(point.text("path"))],
            key=lambda point: point.text("path"),
        )
        page = [point for point in files if point.text("path") > after][: request.limit]
        more = bool(page) and page[-1] is not files[-1]
        return ListFilesReply(
            repo=target.repositories[0].name,
            files=tuple(map(_entry, page)),
            next_cursor=write_cursor(question, page[-1].text("path")) if more else "",
            total=len(files),
            receipt=await self._repositories.receipt(target),
        )

    async def outline(self, request: OutlineRequest) -> OutlineReply:
        """The symbols of a file, in order."""
        target = await self._repositories.target(request, single=True)
        point = await indexed_file(self._reader, target, request.path, "symbols")
        return OutlineReply(
            repo=target.repositories[0].name,
            file_path=point.text("path"),
            language=point.text("language"),
            line_count=point.number("lines"),
            symbols=unpack_symbols(point.text("symbols")),
            parse=point.text("parse"),
            receipt=await self._repositories.receipt(target),
        )

    async def receipt(self, request: ReceiptRequest) -> Receipt:
        """How fresh and how complete the others are."""
        return await self._repositories.receipt(await self._repositories.target(request, single=True))


def _line_range(request: ReadFileRequest, lines: int) -> tuple[int, int, bool]:
    """First and last line to give, and whether a limit cut them. Raises INVALID_ARGUMENT."""
    if lines == 0:
        return 1, 0, False
    end = min(request.end_line or lines, lines)
    if request.start_line > lines or (request.end_line and request.end_line < request.start_line):
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"Lines {request.start_line} to {request.end_line or 'the end'} are not in a file of {lines} lines.",
            f"Ask for lines between 1 and {lines}.",
            line_count=lines,
        )
    cut = end - request.start_line + 1 > READ_LINES_MAX
    return request.start_line, min(end, request.start_line + READ_LINES_MAX - 1), cut


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
