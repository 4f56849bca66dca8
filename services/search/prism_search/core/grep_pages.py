"""A page of exact search, by what is asked for: matching lines, or the files that have some."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.rpc.search import FileMatches, GrepMatch, GrepRequest, OutputMode
from prism_search.core.lines import NumberedLine, neighbours, shown


class Totals(NamedTuple):
    """Files with a match, and their matching lines, of all pages."""

    files: int
    lines: int


class LinePage:
    """Matching lines with their neighbours."""

    first_line_is_enough = False
    counts_on = False
    totals: Totals | None = None
    files: tuple[FileMatches, ...] = ()

    def __init__(self, limit: int, context: int, literal: str = "") -> None:
        """`literal` is the text that matches, if the pattern is no regex: long lines are cut around it."""
        self.matches: list[GrepMatch] = []
        self._literal = literal
        self._limit = limit
        self._context = context

    @property
    def lines_max(self) -> int:
        """How many lines of a file are wanted."""
        return self._limit - len(self.matches)

    @property
    def is_full(self) -> bool:
        """No more goes onto it."""
        return not self.lines_max

    @property
    def has_more(self) -> bool:
        """There is, or may be, a page behind it."""
        return self.is_full

    def take(self, repo: str, path: str, text: str, found: Sequence[NumberedLine]) -> None:
        """Matching lines of a file, no more than are wanted."""
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
    """Files that have a matching line, and how many they have where all are counted.

    The first page counts on behind its end, for the totals; the others are told by its cursor.
    """

    matches: tuple[GrepMatch, ...] = ()

    def __init__(self, limit: int, totals: Totals | None, *, counts_lines: bool, counts_on: bool) -> None:
        self.first_line_is_enough = not counts_lines
        self.lines_max = sys.maxsize if counts_lines else 1
        self.counts_on = counts_on
        self.totals = totals
        self._limit = limit
        self._lines: dict[tuple[str, str], int] = {}
        self._newest = ("", "")

    @property
    def is_full(self) -> bool:
        """No further file goes onto it."""
        return len(self._lines) >= self._limit

    @property
    def has_more(self) -> bool:
        """There is, or may be, a page behind it."""
        is_all = self.counts_on and self.totals is not None and self.totals.files == len(self._lines)
        return self.is_full and not is_all

    @property
    def files(self) -> tuple[FileMatches, ...]:
        """In order."""
        return tuple(
            FileMatches(repo=repo, file_path=path, lines=None if self.first_line_is_enough else lines)
            for (repo, path), lines in self._lines.items()
        )

    def take(self, repo: str, path: str, _: str, found: Sequence[NumberedLine]) -> None:
        """Matching lines of a file, which may come in several parts."""
        if not found:
            return
        file = (repo, path)
        if file in self._lines or not self.is_full:
            self._lines[file] = self._lines.get(file, 0) + len(found)
        if self.counts_on and self.totals is not None:
            is_new = file != self._newest
            self.totals = Totals(self.totals.files + is_new, self.totals.lines + len(found))
        self._newest = file


Page = LinePage | FilePage


def empty_page(request: GrepRequest, totals: Totals | None) -> Page:
    """The page that a request asks for. `totals` are those that its cursor knows."""
    if request.output_mode is OutputMode.CONTENT:
        return LinePage(request.limit, request.context_lines, "" if request.regex else request.pattern)
    counts_on = not request.cursor
    counts_lines = request.output_mode is OutputMode.COUNT
    return FilePage(
        request.limit, Totals(0, 0) if counts_on else totals, counts_lines=counts_lines, counts_on=counts_on
    )
