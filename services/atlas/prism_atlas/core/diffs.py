"""Unified diffs, and which lines of the indexed files they touch.

A diff may lead from what is indexed to something newer, or from something older to what is indexed; the lines of its
hunks, held beside the indexed text, tell which.
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
# One of them begins each file of a diff.
HEADERS = ("--- ", "diff --git ", "Binary files ")
RENAMED = re.compile(r"^rename (from|to) (.+)$")


class Gap(NamedTuple):
    """A place where the other side has lines and this one has none."""

    line: int  # behind which it is
    indent: int  # of the first of those lines, in characters


class HunkSide(NamedTuple):
    """What stands at a place of a file before or after a change, and what of it is the change."""

    start: int  # number of the first line
    texts: tuple[str, ...]  # without their ends
    changed: tuple[int, ...]  # lines that the other side has not; blank ones do not count
    gaps: tuple[Gap, ...]


class DiffHunk(NamedTuple):
    """One hunk."""

    before: HunkSide
    after: HunkSide


class FileDiff(NamedTuple):
    """What a diff does with one file. A path is empty where the file is not there."""

    before: str
    after: str
    binary: bool
    changes: tuple[DiffHunk, ...]


def read_diff(text: str) -> list[FileDiff]:
    """The files of a diff. Raises INVALID_ARGUMENT if it is none, or too long, or names a place outside of a repository."""
    if len(text) > DIFF_CHARS_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff has {len(text):,} characters; the limit is {DIFF_CHARS_MAX:,}.",
            "Send it in parts.",
        )
    if not any(header in text for header in HEADERS):  # the parser looks at every line in vain
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
    """Whether a file of these lines has what a side of a hunk has, in the same place."""
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
    # Where there are no lines, the number is that of the line before.
    before = hunk.source_start + (hunk.source_length == 0)
    after = hunk.target_start + (hunk.target_length == 0)
    return DiffHunk(_side(before, runs, "-"), _side(after, runs, "+"))


def _mark(line: Line) -> str:
    return str(line.line_type)


def _side(start: int, runs: Sequence[tuple[str, list[str]]], own: str) -> HunkSide:
    """The side of which the lines with the mark `own` are."""
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
    """Git puts names with unusual characters between quotes, byte by byte."""
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
