"""Find every line that matches, in order of path and line, a page at a time."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from itertools import accumulate, pairwise
from typing import NamedTuple

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import GrepReply, GrepRequest
from prism_contracts.types import COUNT_MAX
from prism_runtime.cursors import read_cursor, write_cursor
from prism_runtime.rpc import SERVE_WORKERS
from prism_search.adapters.filters import nothing_passes, refuse_unknown_language
from prism_search.adapters.line_matcher import match_elsewhere
from prism_search.adapters.listing import Listing, place
from prism_search.adapters.texts import Texts, read_text
from prism_search.core.grep_pages import Page, Totals, empty_page
from prism_search.core.lines import matching_lines
from prism_search.core.patterns import Pattern, compile_pattern
from prism_search.settings import SearchSettings
from prism_store.globs import compile_glob
from prism_store.reader import Reader, StoredPoint

# A first page is often full after a few files; who looks on looks at many.
FILES_AT_ONCE_FIRST = 8
FILES_AT_ONCE_GROWTH = 4
FILES_AT_ONCE_MAX = 512
BYTES_AT_ONCE_MAX = 16 * 1024 * 1024
# Stands for the last line of a file that has been looked at, of which nobody counted the lines.
FILE_END = COUNT_MAX


class Position(NamedTuple):
    """Where a page ends: behind a line of a file."""

    path: str
    scope: str
    line: int


class GrepHandler:
    """Answers `grep`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        listing: Listing,
        texts: Texts,
        settings: SearchSettings,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._settings = settings
        self._listing = listing
        self._texts = texts
        # One for each question that is answered at once: one that waits for a slow line holds up no other.
        self._threads = ThreadPoolExecutor(SERVE_WORKERS, "grep")

    async def grep(self, request: GrepRequest) -> GrepReply:
        """Matching lines, or files that have some; `complete` says whether all of the scope has been looked at.

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
        scan = _Scan(empty_page(request, totals), pattern, target, start, deadline)
        listed = await self._listing.files(target)
        passes = _filter(request)
        files = list(filter(passes, listed.that_may_hold(pattern.clauses)))
        await self._look(scan, files[bisect_right(files, start, key=_end) :])
        excludes_all = bool(listed.points) and not files and not any(map(passes, listed.points))
        return GrepReply(
            matches=tuple(scan.page.matches),
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

    async def _look(self, scan: "_Scan", files: Sequence[StoredPoint]) -> None:
        """Look at the files until the page is done or the time is up, and at one at least."""
        loop = asyncio.get_running_loop()
        async with aclosing(self._read(scan.target, _batches(files))) as batches:
            async for batch, texts in batches:
                # In a thread: a slow pattern must not keep other questions from being taken.
                await loop.run_in_executor(self._threads, scan.take, batch, texts)
                if scan.is_over():
                    return

    async def _read(
        self, target: Target, batches: Iterable[Sequence[StoredPoint]]
    ) -> AsyncGenerator[tuple[Sequence[StoredPoint], list[str]]]:
        """Files with their texts. Behind the first two batches the next one is read while one is looked at."""
        ahead: asyncio.Task[list[str]] | None = None
        try:
            for number, (batch, following) in enumerate(pairwise((*batches, ()))):
                texts = await (ahead or self._texts_of(target, batch))
                ahead = None
                if number and following:
                    ahead = asyncio.create_task(self._texts_of(target, following))
                yield batch, texts
        finally:
            if ahead:
                ahead.cancel()
                await asyncio.wait([ahead])

    async def _texts_of(self, target: Target, files: Sequence[StoredPoint]) -> list[str]:
        texts = await self._texts.read(target.scope, files)
        return [
            text if text is not None else await self._newer_text(target, file)
            for file, text in zip(files, texts, strict=True)
        ]

    async def _newer_text(self, target: Target, file: StoredPoint) -> str:
        """The text of a file that was replaced since it was listed; nothing if it was removed."""
        try:
            return (await read_text(self._reader, target.scope, file)).text
        except PrismError as error:
            if error.code is ErrorCode.FILE_NOT_FOUND:
                return ""
            raise


class _Scan:
    """A page so far, and where it ends: `position` is behind the last line that was looked at for it."""

    def __init__(
        self, page: Page, pattern: Pattern, target: Target, start: Position, deadline: float
    ) -> None:
        self.page = page
        self.target = target
        self.files = 0
        self.position = start
        self.late = False
        self._pattern = pattern
        self._start = start
        self._deadline = deadline

    @property
    def complete(self) -> bool:
        """There is no next page."""
        return not (self.late or self.page.has_more)

    @property
    def totals(self) -> Totals | None:
        """Of all pages, if they are known."""
        return None if self.late and self.page.counts_on else self.page.totals

    def is_over(self) -> bool:
        """Whether to look no further: the page is done, or the time is up."""
        return self._is_late() or (self.page.is_full and not self.page.counts_on)

    def take(self, files: Sequence[StoredPoint], texts: Sequence[str]) -> None:
        for file, text in zip(files, texts, strict=True):
            try:
                self._take_file(file, text)
            except TimeoutError:
                self._give_up(file)
            if self.is_over():
                return

    def _take_file(self, file: StoredPoint, text: str) -> None:
        key, page = place(file), self.page
        goes_on_page = not page.is_full  # else it is looked at for the totals
        after = self.position.line if key == self.position[:2] else 0
        self.files += 1
        for part in matching_lines(
            text, self._pattern, self._match_elsewhere, after_line=after, lines_max=page.lines_max
        ):
            page.take(self.target.name_of(file.repo), file.text("path"), text, part.found)
            if goes_on_page:
                is_done = page.first_line_is_enough and part.found
                self.position = Position(*key, FILE_END if is_done else part.last_line)
            if self._is_late():
                return
        if goes_on_page and page.lines_max:
            self.position = Position(*key, FILE_END)

    def _is_late(self) -> bool:
        self.late = self.late or time.monotonic() > self._deadline
        return self.late

    def _match_elsewhere(self, pattern: Pattern, line: str) -> bool:
        return match_elsewhere(pattern, line, self._deadline)

    def _give_up(self, file: StoredPoint) -> None:
        """The time was up in the middle of a line. If nothing was done before it, the next page would end there as well."""
        self.late = True
        if self.position == self._start:
            raise PrismError(
                ErrorCode.DEADLINE_EXCEEDED,
                f"{file.text('path')} has a line that is too long for this pattern within the time limit.",
                "Exclude the file with path_filter, or use a pattern with fewer repetitions.",
                file_path=file.text("path"),
            )


def _filter(request: GrepRequest) -> Callable[[StoredPoint], bool]:
    """Whether a file passes the filters by language and path."""
    language = request.language.lower()
    glob = compile_glob(request.path_filter) if request.path_filter else None
    return lambda file: (
        (not language or file.text("language") == language)
        and (glob is None or glob.fullmatch(file.text("path")) is not None)
    )


def _batches(files: Sequence[StoredPoint]) -> Iterator[Sequence[StoredPoint]]:
    """A few files, then more and more at once."""
    begin, step = 0, FILES_AT_ONCE_FIRST
    while begin < len(files):
        batch = _at_once(files[begin : begin + step])
        yield batch
        begin, step = begin + len(batch), min(step * FILES_AT_ONCE_GROWTH, FILES_AT_ONCE_MAX)


def _at_once(files: Sequence[StoredPoint]) -> Sequence[StoredPoint]:
    """The first of the files, as many as have BYTES_AT_ONCE_MAX, and one at least."""
    sizes = accumulate(file.number("size") for file in files)
    return files[: max(1, sum(size <= BYTES_AT_ONCE_MAX for size in sizes))]


def _end(file: StoredPoint) -> Position:
    return Position(*place(file), FILE_END)


def _start(question: str, cursor: str) -> tuple[Position, Totals | None]:
    """Where a page begins, and the totals if an earlier page knew them: without a match there is no later page."""
    if not cursor:
        return Position("", "", 0), None
    path, scope, line, files, lines = read_cursor(question, cursor, (str, str, int, int, int))
    totals = Totals(int(files), int(lines)) if files else None
    return Position(str(path), str(scope), int(line)), totals


def _note(scan: _Scan) -> str:
    if scan.late:
        return "time limit reached: continue with next_cursor"
    return "" if scan.complete else "more matches: continue with next_cursor"
