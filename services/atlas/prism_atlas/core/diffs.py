"""Unified diffs, and the lines of indexed files that they touch.

The indexed file may be the state before a diff or the state after it. Comparing the hunks with the indexed
text shows which.
"""

import codecs
import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, Line, PatchedFile, PatchSet

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import DIFF_CHARS_MAX

NOWHERE = "/dev/null"
DIFF_LINES_MAX = 20_000
# Each file of a diff begins with one of these.
HEADERS = ("--- ", "diff --git ", "Binary files ")
RENAMED = re.compile(r"^rename (from|to) (.+)$")


class Gap(NamedTuple):
    """A place where only the other side has lines."""

    line: int  # the gap is behind this line
    indent: int  # of the first missing line, in characters


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
    # Without a header, the parser would read every line to find nothing.
    if not any(header in text for header in HEADERS):
        raise _not_a_diff("it names no file")
    if text.count("\n") > DIFF_LINES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff has more than {DIFF_LINES_MAX:,} lines.",
            "Send it in parts.",
        )
    try:
        files = [_file(patched) for patched in PatchSet(text if text.endswith("\n") else f"{text}\n")]
    except UnidiffParseError as error:
        raise _not_a_diff(str(error).strip()) from error
    if not files:
        raise _not_a_diff("it names no file")
    for file in files:
        for path in filter(None, (file.before, file.after)):
            _check(path)
    return files


def applies_to(side: HunkSide, lines: Sequence[str]) -> bool:
    """Whether a file with these lines has the lines of a hunk's side at the same place."""
    there = lines[side.start - 1 : side.start - 1 + len(side.texts)]
    return tuple(line.rstrip("\r") for line in there) == side.texts


def _file(patched: PatchedFile) -> FileDiff:
    before, after = _path(patched.source_file, "a/"), _path(patched.target_file, "b/")
    for line in patched.patch_info or ():
        if found := RENAMED.match(line.rstrip("\n")):
            before, after = (
                (_unquoted(found[2]), after) if found[1] == "from" else (before, _unquoted(found[2]))
            )
    return FileDiff(before, after, patched.is_binary_file, tuple(_diff_hunk(hunk) for hunk in patched))


def _diff_hunk(hunk: Hunk) -> DiffHunk:
    runs = [(mark, [line.value.rstrip("\r\n") for line in run]) for mark, run in groupby(hunk, _mark)]
    # For an empty range, the header has the number of the line before.
    before = hunk.source_start + (hunk.source_length == 0)
    after = hunk.target_start + (hunk.target_length == 0)
    return DiffHunk(_side(before, runs, "-"), _side(after, runs, "+"))


def _mark(line: Line) -> str:
    return str(line.line_type)


def _side(start: int, runs: Sequence[tuple[str, list[str]]], own: str) -> HunkSide:
    """Returns the side whose lines carry the mark `own`."""
    texts: list[str] = []
    changed: list[int] = []
    gaps: list[Gap] = []
    for position, (mark, run) in enumerate(runs):
        line = start + len(texts)
        if mark in (own, " "):
            changed += [line + n for n, text in enumerate(run) if mark == own and text.strip()]
            texts += run
        elif mark in ("+", "-") and own not in {
            other for other, _ in runs[max(position - 1, 0) : position + 2]
        }:
            gaps += [Gap(line - 1, len(text) - len(text.lstrip())) for text in run if text.strip()][:1]
    return HunkSide(start, tuple(texts), tuple(changed), tuple(gaps))


def _path(spelled: str, prefix: str) -> str:
    path = _unquoted(spelled)
    return "" if path == NOWHERE else path.removeprefix(prefix)


def _unquoted(path: str) -> str:
    """Remove git's quotes around paths with unusual characters, which escape them byte by byte."""
    if len(path) < 2 or not path.startswith('"') or not path.endswith('"'):  # noqa: PLR2004 - the quotes
        return path
    raw, _ = codecs.escape_decode(path[1:-1].encode())
    return bytes(raw).decode(errors="replace")


def _check(path: str) -> None:
    if path.startswith("/") or ".." in path.split("/") or "\0" in path or "\\" in path:
        raise PrismError(
            ErrorCode.INVALID_PATH,
            f"The diff contains {path!r}, which is not a path in a repository.",
            "Create the diff at the root of the repository, as git diff does.",
        )


def _not_a_diff(reason: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"This is not a unified diff: {reason}.",
        "Send the output of git diff.",
    )
