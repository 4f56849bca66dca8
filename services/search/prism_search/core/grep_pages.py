"""Collects a page of exact search: matching lines, or files that have some."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepRequest, OutputMode
from prism_contracts.types import COUNT_MAX
from prism_search.core.lines import NumberedLine, Slice, neighbours, shown
from prism_search.core.patterns import Pattern

# The position behind a file that was scanned to its end; its lines are not counted.
FILE_END = COUNT_MAX


class Totals(NamedTuple):
    """Counts over all pages: files with a match, and their matching lines."""

    files: int
    lines: int


class LinePage:
    """Matching lines with the lines around them.

    The first page keeps counting after it is full, for the totals and the files of the rest; later pages get the
    totals from the cursor.
    """

    first_line_is_enough = False
    files: tuple[FileMatches, ...] = ()

    def __init__(
        self,
        limit: int,
        context: int,
        *,
        pattern: Pattern | None = None,
        totals: Totals | None = None,
        counts_totals: bool = False,
    ) -> None:
        """Long lines are cut around the match of `pattern`."""
        self.matches: list[GrepMatch] = []
        self.counts_totals = counts_totals
        self.totals = totals
        self._pattern = pattern
        self._limit = limit
        self._context = context
        self._rest: Counter[tuple[str, str]] = Counter()
        self._newest = ("", "")

    @property
    def lines_max(self) -> int:
        """The number of further lines to find."""
        return sys.maxsize if self.counts_totals else self._room

    @property
    def is_full(self) -> bool:
        """Whether the page takes no more lines."""
        return not self._room

    @property
    def has_more(self) -> bool:
        """Whether a next page exists, or may exist."""
        return bool(self._rest) if self.counts_totals else self.is_full

    @property
    def rest(self) -> tuple[FileMatches, ...]:
        """The files with lines that were counted and are not on the page."""
        return tuple(
            FileMatches(repo=repo, file_path=path, lines=lines) for (repo, path), lines in self._rest.items()
        )

    def takes(self, *_: str) -> bool:
        """Whether further lines of a file are added to the page."""
        return not self.is_full

    def take(self, repo: str, path: str, text: str, part: Slice) -> int:
        """Adds matching lines of a file until the page is full. Returns the last line that it covers."""
        shown_lines, rest = part.found[: self._room], part.found[self._room :]
        self.matches += self._matches(repo, path, text, shown_lines)
        if rest:
            self._rest[repo, path] += len(rest)
        if part.found and self.counts_totals and self.totals is not None:
            is_new = (repo, path) != self._newest
            self.totals = Totals(self.totals.files + is_new, self.totals.lines + len(part.found))
            self._newest = (repo, path)
        return shown_lines[-1].number if rest and shown_lines else part.last_line

    @property
    def _room(self) -> int:
        return self._limit - len(self.matches)

    def _matches(self, repo: str, path: str, text: str, found: Sequence[NumberedLine]) -> Iterator[GrepMatch]:
        lines = text.split("\n") if found and self._context else []
        for number, line in found:
            before, after = neighbours(lines, number, self._context)
            yield GrepMatch(
                repo=repo,
                file_path=path,
                line=number,
                text=shown(line, self._pattern),
                before=before,
                after=after,
            )


class FilePage:
    """Files with a matching line, and their number of matching lines if all are counted.

    The first page keeps counting after it is full, for the totals; later pages get them from the cursor.
    """

    matches: tuple[GrepMatch, ...] = ()
    rest: tuple[FileMatches, ...] = ()

    def __init__(self, limit: int, totals: Totals | None, *, counts_lines: bool, counts_totals: bool) -> None:
        self.first_line_is_enough = not counts_lines
        self.lines_max = sys.maxsize if counts_lines else 1
        self.counts_totals = counts_totals
        self.totals = totals
        self._limit = limit
        self._lines: dict[tuple[str, str], int] = {}
        self._newest = ("", "")

    @property
    def is_full(self) -> bool:
        """Whether the page takes no more files."""
        return len(self._lines) >= self._limit

    @property
    def has_more(self) -> bool:
        """Whether a next page exists, or may exist."""
        is_all = self.counts_totals and self.totals is not None and self.totals.files == len(self._lines)
        return self.is_full and not is_all

    @property
    def files(self) -> tuple[FileMatches, ...]:
        """The files of the page, in order."""
        return tuple(
            FileMatches(repo=repo, file_path=path, lines=None if self.first_line_is_enough else lines)
            for (repo, path), lines in self._lines.items()
        )

    def takes(self, repo: str, path: str) -> bool:
        """Whether further lines of a file are added to the page."""
        return (repo, path) in self._lines or not self.is_full

    def take(self, repo: str, path: str, _: str, part: Slice) -> int:
        """Adds matching lines of a file, which may arrive in several parts. Returns the last line that it covers."""
        if not part.found:
            return part.last_line
        file = (repo, path)
        if self.takes(repo, path):
            self._lines[file] = self._lines.get(file, 0) + len(part.found)
        if self.counts_totals and self.totals is not None:
            is_new = file != self._newest
            self.totals = Totals(self.totals.files + is_new, self.totals.lines + len(part.found))
        self._newest = file
        return FILE_END if self.first_line_is_enough else part.last_line


Page = LinePage | FilePage


def empty_page(request: GrepRequest, pattern: Pattern, totals: Totals | None) -> Page:
    """Returns an empty page for a request. `totals` come from the cursor."""
    counts_totals = not request.cursor
    if counts_totals:
        totals = Totals(0, 0)
    if request.output_mode is OutputMode.CONTENT:
        return LinePage(
            request.limit, request.context_lines, pattern=pattern, totals=totals, counts_totals=counts_totals
        )
    counts_lines = request.output_mode is OutputMode.COUNT
    return FilePage(request.limit, totals, counts_lines=counts_lines, counts_totals=counts_totals)
