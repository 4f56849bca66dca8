"""Collects a page of exact search: matching lines, or files that have some."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepRequest, OutputMode
from prism_search.core.lines import NumberedLine, neighbours, shown


class Totals(NamedTuple):
    """Counts over all pages: files with a match, and their matching lines."""

    files: int
    lines: int


class LinePage:
    """Matching lines with the lines around them."""

    first_line_is_enough = False
    counts_totals = False
    totals: Totals | None = None
    files: tuple[FileMatches, ...] = ()

    def __init__(self, limit: int, context: int, literal: str = "") -> None:
        """`literal` is the pattern, unless it is a regex: long lines are cut around it."""
        self.matches: list[GrepMatch] = []
        self._literal = literal
        self._limit = limit
        self._context = context

    @property
    def lines_max(self) -> int:
        """The number of further lines that fit the page."""
        return self._limit - len(self.matches)

    @property
    def is_full(self) -> bool:
        """Whether the page takes no more lines."""
        return not self.lines_max

    @property
    def has_more(self) -> bool:
        """Whether a next page exists, or may exist."""
        return self.is_full

    def take(self, repo: str, path: str, text: str, found: Sequence[NumberedLine]) -> None:
        """Adds matching lines of a file, at most `lines_max`."""
        lines = text.split("\n") if found and self._context else []
        for number, line in found:
            before, after = neighbours(lines, number, self._context)
            match = GrepMatch(
                repo=repo,
                file_path=path,
                line=number,
                text=shown(line, self._literal),
                before=before,
                after=after,
            )
            self.matches.append(match)


class FilePage:
    """Files with a matching line, and their number of matching lines if all are counted.

    The first page keeps counting after it is full, for the totals; later pages get them from the cursor.
    """

    matches: tuple[GrepMatch, ...] = ()

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

    def take(self, repo: str, path: str, _: str, found: Sequence[NumberedLine]) -> None:
        """Adds matching lines of a file, which may arrive in several parts."""
        if not found:
            return
        file = (repo, path)
        if file in self._lines or not self.is_full:
            self._lines[file] = self._lines.get(file, 0) + len(found)
        if self.counts_totals and self.totals is not None:
            is_new = file != self._newest
            self.totals = Totals(self.totals.files + is_new, self.totals.lines + len(found))
        self._newest = file


Page = LinePage | FilePage


def empty_page(request: GrepRequest, totals: Totals | None) -> Page:
    """Returns an empty page for a request. `totals` come from the cursor."""
    if request.output_mode is OutputMode.CONTENT:
        return LinePage(request.limit, request.context_lines, "" if request.regex else request.pattern)
    counts_totals = not request.cursor
    counts_lines = request.output_mode is OutputMode.COUNT
    return FilePage(
        request.limit,
        Totals(0, 0) if counts_totals else totals,
        counts_lines=counts_lines,
        counts_totals=counts_totals,
    )
