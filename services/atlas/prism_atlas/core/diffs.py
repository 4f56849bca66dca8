"""Unified diffs, and the lines of indexed files that they touch.

The indexed file may be the state before a diff or the state after it. Comparing the hunks with the indexed
text shows which.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import DIFF_CHARS_MAX
from prism_source.unified_diff import ADDED, CONTEXT, REMOVED, FilePatch, PatchHunk, parse_diff

DIFF_LINES_MAX = 20_000


class Gap(NamedTuple):
    """A place where only the other side has lines."""

    line: int  # the gap is behind this line
    indent: int  # indentation of the first missing line, in characters


class HunkSide(NamedTuple):
    """One side of a hunk: its lines before or after the change, and which of them changed."""

    start: int  # number of the first line
    texts: tuple[str, ...]  # without line ends
    changed: tuple[int, ...]  # lines that the other side lacks, without blank ones
    gaps: tuple[Gap, ...]


class DiffHunk(NamedTuple):
    """One hunk."""

    before: HunkSide
    after: HunkSide


class FileDiff(NamedTuple):
    """What a diff does to one file. A path is empty where the file does not exist."""

    before: str
    after: str
    binary: bool
    changes: tuple[DiffHunk, ...]


def read_diff(text: str) -> list[FileDiff]:
    """Parse a diff.

    Raises INVALID_ARGUMENT if it is not a diff, PAYLOAD_TOO_LARGE, and INVALID_PATH if a path leaves the
    repository.
    """
    if len(text) > DIFF_CHARS_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff has {len(text):,} characters; the limit is {DIFF_CHARS_MAX:,}.",
            "Send it in parts.",
        )
    if text.count("\n") > DIFF_LINES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff has more than {DIFF_LINES_MAX:,} lines.",
            "Send it in parts.",
        )
    try:
        patches = parse_diff(text if text.endswith("\n") else f"{text}\n", path_errors="replace")
    except ValueError as error:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"This is not a unified diff: {error}.",
            "Send the output of git diff.",
        ) from error
    files = [_file(patch) for patch in patches]
    for file in files:
        for path in filter(None, (file.before, file.after)):
            _check(path)
    return files


def applies_to(side: HunkSide, lines: Sequence[str]) -> bool:
    """Whether a file with these lines has the lines of a hunk's side at the same place."""
    there = lines[side.start - 1 : side.start - 1 + len(side.texts)]
    return tuple(line.rstrip("\r") for line in there) == side.texts


def _file(patch: FilePatch) -> FileDiff:
    return FileDiff(patch.old_path, patch.new_path, patch.is_binary, tuple(map(_diff_hunk, patch.hunks)))


def _diff_hunk(hunk: PatchHunk) -> DiffHunk:
    marked = groupby(hunk.lines, attrgetter("mark"))
    runs = [(mark, [line.text.rstrip("\r\n") for line in run]) for mark, run in marked]
    # For an empty range, the header has the number of the line before.
    before = hunk.old_start + (hunk.old_count == 0)
    after = hunk.new_start + (hunk.new_count == 0)
    return DiffHunk(_side(before, runs, REMOVED), _side(after, runs, ADDED))


def _side(start: int, runs: Sequence[tuple[str, list[str]]], own: str) -> HunkSide:
    """Returns the side whose lines carry the mark `own`."""
    texts: list[str] = []
    changed: list[int] = []
    gaps: list[Gap] = []
    for position, (mark, run) in enumerate(runs):
        line = start + len(texts)
        if mark in (own, CONTEXT):
            changed += [line + n for n, text in enumerate(run) if mark == own and text.strip()]
            texts += run
        elif mark in (ADDED, REMOVED) and own not in {
            other for other, _ in runs[max(position - 1, 0) : position + 2]
        }:
            gaps += [Gap(line - 1, len(text) - len(text.lstrip())) for text in run if text.strip()][:1]
    return HunkSide(start, tuple(texts), tuple(changed), tuple(gaps))


def _check(path: str) -> None:
    if path.startswith("/") or ".." in path.split("/") or "\0" in path or "\\" in path:
        raise PrismError(
            ErrorCode.INVALID_PATH,
            f"The diff contains {path!r}, which is not a path in a repository.",
            "Create the diff at the root of the repository, as git diff does.",
        )
