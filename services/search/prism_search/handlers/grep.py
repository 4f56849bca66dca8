"""Answers `grep`: every line that matches, in order of path and line, page by page."""

import time
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import Flag
from prism_contracts.errors import PrismError
from prism_contracts.rpc.search import GrepMatch, GrepReply, GrepRequest, Only
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.adapters.filters import nothing_passes, refuse_unknown_language
from prism_search.adapters.listing import Files, Listing, place
from prism_search.adapters.texts import Texts
from prism_search.core.grep_pages import FILE_END, Totals, empty_page
from prism_search.core.match_places import PARTS
from prism_search.core.patterns import compile_pattern, regex_meant
from prism_search.operations.enclosing import EnclosingSymbols, IndexedLine
from prism_search.operations.file_scan import FileScanner, Position, Scan
from prism_search.settings import SearchSettings
from prism_store.globs import compile_glob
from prism_store.reader import Reader, StoredPoint


class GrepHandler:
    """Answers `grep`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        *,
        listing: Listing,
        texts: Texts,
        enclosing: EnclosingSymbols,
        settings: SearchSettings,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._settings = settings
        self._listing = listing
        self._scanner = FileScanner(reader, texts)
        self._enclosing = enclosing

    async def grep(self, request: GrepRequest) -> GrepReply:
        """Returns matching lines, or files with matches. `complete` is true if the whole scope was scanned.

        A literal pattern without any match is tried as the regex that it looks like. Raises DEADLINE_EXCEEDED if
        a single line takes all the time.
        """
        deadline = time.monotonic() + self._settings.grep_deadline_s
        question = request.model_dump_json(exclude={"cursor", "limit", "context_lines"})
        start = _start(question, request.cursor)
        likely = "" if request.regex else regex_meant(request.pattern)
        target = await self._repositories.target(request)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        listed = await self._listing.files(target)
        passes = file_filter(request)
        scan = await self._scan(
            _read_as(request, likely if start.as_regex else ""), target, listed, start, deadline
        )
        as_regex = start.as_regex
        hint = ""
        if scan.complete and not scan.has_matches and not request.cursor:
            regex = (
                await self._try(_read_as(request, likely), target, listed, start, deadline)
                if likely
                else None
            )
            if regex:
                scan, as_regex = regex, True
            elif request.case_sensitive:
                folded = request.model_copy(update={"case_sensitive": False, "limit": 1})
                found = await self._try(folded, target, listed, start, deadline)
                hint = _ignoring_case(found) if found else ""
        excludes_all = bool(listed.points) and not scan.files and not any(map(passes, listed.points))
        totals = scan.totals
        return GrepReply(
            matches=await self._with_symbols(target, scan),
            files=scan.page.files,
            total_files=totals.files if totals else None,
            total_lines=totals.lines if totals and not scan.page.first_line_is_enough else None,
            rest=scan.page.rest if totals else (),
            next_cursor=""
            if scan.complete
            else write_cursor(question, *scan.position, *(totals or (0, 0)), int(as_regex)),
            complete=scan.complete,
            note=_nothing_passes(request)
            if excludes_all
            else hint or _note(scan, likely if as_regex else ""),
            files_scanned=scan.files,
            receipt=await self._repositories.receipt(target),
        )

    async def _try(
        self, request: GrepRequest, target: Target, listed: Files, start: "_Start", deadline: float
    ) -> Scan | None:
        """Returns another reading of a question without matches; None if it has none either, or takes too long."""
        try:
            scan = await self._scan(request, target, listed, start, deadline)
        except PrismError:
            return None
        return scan if scan.has_matches else None

    async def _scan(
        self, request: GrepRequest, target: Target, listed: Files, start: "_Start", deadline: float
    ) -> Scan:
        pattern = compile_pattern(
            request.pattern, regex=request.regex, case_sensitive=request.case_sensitive, word=request.word
        )
        page = empty_page(request, pattern, start.totals)
        scan = Scan(page, pattern, target, start.position, deadline, only=request.only)
        files = list(filter(file_filter(request), listed.that_may_hold(pattern.clauses)))
        await self._scanner.scan(scan, files[bisect_right(files, start.position, key=_end) :])
        return scan

    async def _with_symbols(self, target: Target, scan: Scan) -> tuple[GrepMatch, ...]:
        lines = [
            IndexedLine.of(scan.found[match.repo, match.file_path], match.line) for match in scan.page.matches
        ]
        symbols = await self._enclosing.find(target, lines)
        return tuple(
            match.model_copy(update={"enclosing": symbols.get(line)})
            for match, line in zip(scan.page.matches, lines, strict=True)
        )


class _Start(NamedTuple):
    """Where a page begins, the totals if an earlier page counted them, and whether that page read a regex."""

    position: Position
    totals: Totals | None = None
    as_regex: bool = False


def file_filter(request: GrepRequest) -> Callable[[StoredPoint], bool]:
    """Returns whether a file passes the filters by language, path and role."""
    language = request.language.lower()
    glob, exclude = (compile_glob(one) if one else None for one in (request.path_filter, request.exclude))
    sources = request.source_only or request.only is Only.SOURCES
    return lambda file: (
        (not language or file.text("language") == language)
        and (glob is None or glob.fullmatch(file.text("path")) is not None)
        and (exclude is None or exclude.fullmatch(file.text("path")) is None)
        and not (sources and (file.text("flags") or file.payload.get("prose")))
        and not (request.only in PARTS and file.payload.get("prose"))
        and not (request.only is Only.TESTS and Flag.TEST not in file.text("flags"))
    )


def _read_as(request: GrepRequest, regex: str) -> GrepRequest:
    """Returns the request with this regex as its pattern, if there is one."""
    return request.model_copy(update={"pattern": regex, "regex": True}) if regex else request


def _end(file: StoredPoint) -> Position:
    return Position(*place(file), FILE_END)


def _start(question: str, cursor: str) -> _Start:
    if not cursor:
        return _Start(Position("", "", 0))
    path, scope, line, files, lines, as_regex = read_cursor(question, cursor, (str, str, int, int, int, int))
    totals = Totals(int(files), int(lines)) if files else None
    return _Start(Position(str(path), str(scope), int(line)), totals, bool(as_regex))


def _nothing_passes(request: GrepRequest) -> str:
    sources = Only.SOURCES.value if request.source_only else ""
    files = request.only.value if request.only in {Only.TESTS, Only.SOURCES} and request.only else sources
    return nothing_passes(request.path_filter, request.language, exclude=request.exclude, only=files)


def _ignoring_case(scan: Scan) -> str:
    """Returns how many lines or files match with any case."""
    totals = scan.totals
    if totals is None:
        return "there are matches with case_sensitive=false"
    count = f"{totals.files} files" if scan.page.first_line_is_enough else f"{totals.lines} lines"
    return f"with case_sensitive=false: {count}"


def _note(scan: Scan, regex: str) -> str:
    notes = [f"nothing has the pattern as literal text; read as the regex {regex}"] if regex else []
    if scan.late:
        notes.append("time limit reached: continue with next_cursor")
    elif not scan.complete:
        notes.append("more matches: continue with next_cursor")
    return "; ".join(notes)
