"""Applies unified diffs to texts. A hunk applies only at the line it names, without fuzz.

In: a diff as `git diff` prints it. Out: per file the old and the new path, and the new text.
"""

import io

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import EDIT_FILES_MAX
from prism_source.unified_diff import ADDED, CONTEXT, NO_NEWLINE, REMOVED, FilePatch, PatchHunk, parse_diff


def read_diff(diff: str) -> list[FilePatch]:
    """Returns the patches of a diff, without files of which only the mode changes.

    Raises INVALID_ARGUMENT, PAYLOAD_TOO_LARGE.
    """
    try:
        files = parse_diff(diff)
    except ValueError as error:
        raise _invalid(str(error)) from error
    if len(files) > EDIT_FILES_MAX:
        raise PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The diff changes {len(files)} files, more than {EDIT_FILES_MAX}.",
            "Send it in parts, or have the whole repository indexed again.",
            files_max=EDIT_FILES_MAX,
        )
    for file in files:
        _check(file)
    return [file for file in files if _changes_more_than_the_mode(file)]


def apply(patch: FilePatch, old: str) -> str:
    """Returns the new text. Raises DIFF_NOT_APPLICABLE, which names the hunk."""
    lines = list(io.StringIO(old, newline="\n"))
    made: list[str] = []
    position = 0
    for number, hunk in enumerate(patch.hunks, start=1):
        # For a hunk that only adds, the header names the line before it.
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        before, after = _side(hunk, REMOVED), _side(hunk, ADDED)
        if start < position or lines[start : start + len(before)] != before:
            raise _does_not_apply(patch, number, hunk)
        made += [*lines[position:start], *after]
        position = start + len(before)
    return "".join(made + lines[position:])


def _check(file: FilePatch) -> None:
    path = file.new_path or file.old_path
    if file.is_binary:
        raise _invalid(f"{path} is binary; send the file itself")
    if not _changes_more_than_the_mode(file) and "mode" not in file.info:
        raise _invalid(f"{path} has no hunk")


def _changes_more_than_the_mode(file: FilePatch) -> bool:
    return bool(file.hunks) or file.old_path != file.new_path


def _side(hunk: PatchHunk, kept: str) -> list[str]:
    """Returns the lines of one side of a hunk."""
    lines: list[str] = []
    last = ""
    for mark, text in hunk.lines:
        if mark == NO_NEWLINE:
            if last in (CONTEXT, kept):
                lines[-1] = lines[-1].removesuffix("\n")
        elif mark in (CONTEXT, kept):
            lines.append(text)
        last = mark
    return lines


def _does_not_apply(patch: FilePatch, number: int, hunk: PatchHunk) -> PrismError:
    path = patch.old_path or patch.new_path
    return PrismError(
        ErrorCode.DIFF_NOT_APPLICABLE,
        f"Hunk {number} of {path} does not apply: its lines are not at line {hunk.old_start}.",
        "Create the diff against the indexed commit, or send the file itself.",
        path=path,
        hunk=number,
        line=hunk.old_start,
    )


def _invalid(problem: str) -> PrismError:
    return PrismError(
        ErrorCode.INVALID_ARGUMENT,
        f"The unified diff cannot be applied: {problem}.",
        "Send the output of `git diff`.",
    )
