"""Applies unified diffs to texts. A hunk applies only at the line it names, without fuzz.

In: a diff as `git diff` prints it. Out: per file the old and the new path, and the new text.
"""

import io
import re
from collections.abc import Iterable
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import EDIT_FILES_MAX

NOWHERE = "/dev/null"
NO_NEWLINE = "\\"
CONTEXT, REMOVED, ADDED = " ", "-", "+"
# Each file of a diff begins with one of these.
_HEADERS = ("--- ", "diff --git ")
_QUOTED = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Patch(NamedTuple):
    """The part of a diff for one file. An empty path means that the file does not exist on that side."""

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]


def read_diff(diff: str) -> list[Patch]:
    """Returns the patches of a diff, without files of which only the mode changes.

    Raises INVALID_ARGUMENT, PAYLOAD_TOO_LARGE.
    """
    if not any(header in diff for header in _HEADERS):  # the parser would read every line for nothing
        raise _invalid("it names no file")
    try:
        files = PatchSet(diff)
    except UnidiffParseError as error:
        raise _invalid(str(error)) from error
    if not files:
        raise _invalid("it names no file")
    if len(files) > EDIT_FILES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff changes {len(files)} files, more than {EDIT_FILES_MAX}.",
            "Send it in parts, or have the whole repository indexed again.",
            files_max=EDIT_FILES_MAX,
        )
    patches = [_patch(file) for file in files]
    return [patch for patch in patches if patch.hunks or patch.old_path != patch.new_path]


def apply(patch: Patch, old: str) -> str:
    """Returns the new text. Raises DIFF_NOT_APPLICABLE, which names the hunk."""
    lines = list(io.StringIO(old, newline="\n"))
    made: list[str] = []
    position = 0
    for number, hunk in enumerate(patch.hunks, start=1):
        # For a hunk that only adds, the header names the line before it.
        start = hunk.source_start - 1 if hunk.source_length else hunk.source_start
        before, after = _side(hunk, REMOVED), _side(hunk, ADDED)
        if start < position or lines[start : start + len(before)] != before:
            raise _does_not_apply(patch, number, hunk)
        made += [*lines[position:start], *after]
        position = start + len(before)
    return "".join(made + lines[position:])


def _patch(file: PatchedFile) -> Patch:
    if file.is_binary_file:
        raise _invalid(f"{file.path} is binary; send the file itself")
    is_known = len(file) or file.is_rename or file.is_added_file or file.is_removed_file
    if not is_known and "mode" not in str(file.patch_info):
        raise _invalid(f"{file.path} has no hunk")
    return Patch(_path(file.source_file, "a/"), _path(file.target_file, "b/"), tuple(file))


def _path(header: str, prefix: str) -> str:
    if header == NOWHERE:
        return ""
    if header.startswith('"') and header.endswith('"'):
        header = _unquoted(header[1:-1])
    return header.removeprefix(prefix)


def _unquoted(name: str) -> str:
    r"""Returns a name that git quoted in C style: `caf\303\251`."""
    try:
        return _QUOTED.sub(_unquoted_byte, name.encode()).decode()
    except UnicodeError as error:
        raise _invalid(f"the name {name[:200]!a} is not UTF-8") from error


def _unquoted_byte(found: re.Match[bytes]) -> bytes:
    octal, letter = found.groups()
    return bytes([int(octal, 8)]) if octal else _LETTERS.get(letter, letter)


def _side(hunk: Iterable[object], kept: str) -> list[str]:
    """Returns the lines of one side of a hunk."""
    lines: list[str] = []
    last = ""
    for line in hunk:
        kind, value = line.line_type, line.value  # type: ignore[attr-defined]
        if kind == NO_NEWLINE:
            if last in (CONTEXT, kept):
                lines[-1] = lines[-1].removesuffix("\n")
        elif kind in (CONTEXT, kept):
            lines.append(value)
        last = kind
    return lines


def _does_not_apply(patch: Patch, number: int, hunk: Hunk) -> PrismError:
    path = patch.old_path or patch.new_path
    return PrismError(
        ErrorCode.DIFF_NOT_APPLICABLE,
        f"Hunk {number} of {path} does not apply: its lines are not at line {hunk.source_start}.",
        "Create the diff against the indexed commit, or send the file itself.",
        path=path,
        hunk=number,
        line=hunk.source_start,
    )


def _invalid(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"The unified diff cannot be applied: {problem}.",
        "Send the output of `git diff`.",
    )
