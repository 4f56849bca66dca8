"""Answers `grep`: every line that matches, in order of path and line, page by page."""

import time
from bisect import bisect_right
from collections.abc import Callable

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.rpc.search import GrepMatch, GrepReply, GrepRequest
from prism_runtime.cursors import read_cursor, write_cursor
from prism_search.adapters.filters import nothing_passes, refuse_unknown_language
from prism_search.adapters.listing import Listing, place
from prism_search.adapters.texts import Texts
from prism_search.core.grep_pages import Totals, empty_page
from prism_search.core.patterns import compile_pattern
from prism_search.operations.enclosing import EnclosingSymbols, IndexedLine
from prism_search.operations.file_scan import FILE_END, FileScanner, Position, Scan
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

        Raises DEADLINE_EXCEEDED if a single line takes all the time.
        """
        deadline = time.monotonic() + self._settings.grep_deadline_s
        pattern = compile_pattern(
            request.pattern, regex=request.regex, case_sensitive=request.case_sensitive, word=request.word
        )
        question = request.model_dump_json(exclude={"cursor", "limit", "context_lines"})
        start, totals = _start(question, request.cursor)
        target = await self._repositories.target(request)
        await refuse_unknown_language(self._reader, self._repositories, target, request.language)
        scan = Scan(empty_page(request, totals), pattern, target, start, deadline)
        listed = await self._listing.files(target)
        passes = _filter(request)
        files = list(filter(passes, listed.that_may_hold(pattern.clauses)))
        await self._scanner.scan(scan, files[bisect_right(files, start, key=_end) :])
        excludes_all = bool(listed.points) and not files and not any(map(passes, listed.points))
        return GrepReply(
            matches=await self._with_symbols(target, scan),
            files=scan.page.files,
            total_files=scan.totals.files if scan.totals else None,
            total_lines=scan.totals.lines if scan.totals and not scan.page.first_line_is_enough else None,
            next_cursor=""
            if scan.complete
            else write_cursor(question, *scan.position, *(scan.totals or (0, 0))),
            complete=scan.complete,
            note=nothing_passes(request.path_filter, request.language) if excludes_all else _note(scan),
            files_scanned=scan.files,
            receipt=await self._repositories.receipt(target),
        )

    async def _with_symbols(self, target: Target, scan: Scan) -> tuple[GrepMatch, ...]:
        lines = [
            IndexedLine.of(scan.found[match.repo, match.file_path], match.line) for match in scan.page.matches
        ]
        symbols = await self._enclosing.find(target, lines)
        return tuple(
            match.model_copy(update={"enclosing": symbols.get(line)})
            for match, line in zip(scan.page.matches, lines, strict=True)
        )


def _filter(request: GrepRequest) -> Callable[[StoredPoint], bool]:
    """Returns whether a file passes the filters by language and path."""
    language = request.language.lower()
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda file: (
        (not language or file.text("language") == language)
        and (glob is None or glob.fullmatch(file.text("path")) is not None)
    )


def _end(file: StoredPoint) -> Position:
    return Position(*place(file), FILE_END)


def _start(question: str, cursor: str) -> tuple[Position, Totals | None]:
    """Returns where a page begins, and the totals if an earlier page counted them."""
    if not cursor:
        return Position("", "", 0), None
    path, scope, line, files, lines = read_cursor(question, cursor, (str, str, int, int, int))
    totals = Totals(int(files), int(lines)) if files else None
    return Position(str(path), str(scope), int(line)), totals


def _note(scan: Scan) -> str:
    if scan.late:
        return "time limit reached: continue with next_cursor"
    return "" if scan.complete else "more matches: continue with next_cursor"
