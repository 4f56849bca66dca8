"""Scans files for the lines that match a pattern, until a page is full or its time is up."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from itertools import accumulate, pairwise
from typing import NamedTuple

from prism_catalog.target import Target
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.search import Only
from prism_runtime.rpc import SERVE_WORKERS
from prism_search.adapters.line_matcher import match_in_process
from prism_search.adapters.listing import place
from prism_search.adapters.texts import Texts, read_text
from prism_search.core.grep_pages import FILE_END, LinePage, Page, Totals
from prism_search.core.lines import matching_lines
from prism_search.core.match_places import MatchPlaces
from prism_search.core.patterns import Pattern
from prism_store.reader import Reader, StoredPoint

# A first page is often full after a few files; later batches grow.
FILES_AT_ONCE_FIRST = 8
FILES_AT_ONCE_GROWTH = 4
FILES_AT_ONCE_MAX = 512
BYTES_AT_ONCE_MAX = 16 * 1024 * 1024
# The most time to count the lines that do not fit the page.
COUNT_REST_S = 1.0


class Position(NamedTuple):
    """Where a page ends: behind a line of a file."""

    path: str
    scope: str
    line: int


class FileScanner:
    """Reads files in growing batches, and matches their lines in threads."""

    def __init__(self, reader: Reader, texts: Texts) -> None:
        self._reader = reader
        self._texts = texts
        # One thread per question that is answered at once: a slow line delays no other question.
        self._threads = ThreadPoolExecutor(SERVE_WORKERS, "grep")

    async def scan(self, scan: "Scan", files: Sequence[StoredPoint]) -> None:
        """Scans files until the page is full or the time is up, at least one file."""
        loop = asyncio.get_running_loop()
        async with aclosing(self._read(scan.target, _batches(files))) as batches:
            async for batch, texts in batches:
                # In a thread, so that a slow pattern does not block other questions.
                await loop.run_in_executor(self._threads, scan.take, batch, texts)
                if scan.is_over():
                    return

    async def _read(
        self, target: Target, batches: Iterable[Sequence[StoredPoint]]
    ) -> AsyncGenerator[tuple[Sequence[StoredPoint], list[str]]]:
        """Returns files with their texts. From the third batch on, reads one batch ahead."""
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
        """Returns the text of a file that was replaced since it was listed; empty if it was removed."""
        try:
            return (await read_text(self._reader, target.scope, file)).text
        except PrismError as error:
            if error.code is ErrorCode.FILE_NOT_FOUND:
                return ""
            raise


class Scan:
    """A page so far. `position` is behind the last line that was scanned for it."""

    def __init__(
        self,
        page: Page,
        pattern: Pattern,
        target: Target,
        start: Position,
        deadline: float,
        *,
        only: Only | None = None,
    ) -> None:
        self.page = page
        self.target = target
        self.files = 0
        self.position = start
        self.late = False
        # The files of the page, by repository and path.
        self.found: dict[tuple[str, str], StoredPoint] = {}
        self._pattern = pattern
        self._start = start
        self._deadline = deadline
        self._only = only
        self._count_until = time.monotonic() + COUNT_REST_S
        self._counted = True

    @property
    def complete(self) -> bool:
        """Whether there is no next page."""
        return self._counted and not (self.late or self.page.has_more)

    @property
    def has_matches(self) -> bool:
        """Whether a line or a file is on the page."""
        return bool(self.page.matches or self.page.files)

    @property
    def totals(self) -> Totals | None:
        """Totals over all pages, if they are known."""
        is_partial = self.late or not self._counted
        return None if is_partial and self.page.counts_totals else self.page.totals

    def is_over(self) -> bool:
        """Whether the page is full, or the time is up."""
        if self._is_late() or not self.page.is_full:
            return self.late
        if self.page.counts_totals and isinstance(self.page, LinePage):
            self._counted = self._counted and time.monotonic() <= self._count_until
        return not (self.page.counts_totals and self._counted)

    def take(self, files: Sequence[StoredPoint], texts: Sequence[str]) -> None:
        """Adds the matching lines of files to the page."""
        for file, text in zip(files, texts, strict=True):
            try:
                self._take_file(file, text)
            except TimeoutError:
                self._end_in_line(file)
            if self.is_over():
                return

    def _take_file(self, file: StoredPoint, text: str) -> None:
        key, page = place(file), self.page
        repo, path = self.target.name_of(file.repo), file.text("path")
        places = MatchPlaces(text, file.text("language"), self._only)
        after = self.position.line if key == self.position[:2] else 0
        self.files += 1
        parts = matching_lines(
            text,
            self._pattern,
            self._match_in_process,
            after_line=after,
            lines_max=page.lines_max,
            counts=places.count,
        )
        for part in parts:
            fits_page = page.takes(repo, path)  # else it is scanned for the totals only
            last_line = page.take(repo, path, text, part)
            if fits_page:
                self.position = Position(*key, last_line)
                if part.found:
                    self.found[repo, path] = file
            if self._is_late():
                return
        if page.takes(repo, path):
            self.position = Position(*key, FILE_END)

    def _is_late(self) -> bool:
        self.late = self.late or time.monotonic() > self._deadline
        return self.late

    def _match_in_process(self, pattern: Pattern, line: str) -> bool:
        return match_in_process(pattern, line, self._deadline)

    def _end_in_line(self, file: StoredPoint) -> None:
        """Ends the page within a line. Raises if nothing came before: the next page would end there too."""
        self.late = True
        if self.position == self._start:
            raise PrismError(
                ErrorCode.DEADLINE_EXCEEDED,
                f"{file.text('path')} has a line that is too long for this pattern within the time limit.",
                "Exclude the file with path_filter, or use a pattern with fewer repetitions.",
                file_path=file.text("path"),
            )


def _batches(files: Sequence[StoredPoint]) -> Iterator[Sequence[StoredPoint]]:
    """Returns batches of files that grow."""
    begin, step = 0, FILES_AT_ONCE_FIRST
    while begin < len(files):
        batch = _up_to_bytes(files[begin : begin + step])
        yield batch
        begin, step = begin + len(batch), min(step * FILES_AT_ONCE_GROWTH, FILES_AT_ONCE_MAX)


def _up_to_bytes(files: Sequence[StoredPoint]) -> Sequence[StoredPoint]:
    """Returns the first files up to BYTES_AT_ONCE_MAX, at least one."""
    sizes = accumulate(file.number("size") for file in files)
    return files[: max(1, sum(size <= BYTES_AT_ONCE_MAX for size in sizes))]
