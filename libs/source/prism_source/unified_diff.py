"""Unified diffs as `git diff` prints them.

In: the text of a diff. Out: per file the path on each side, and the hunks. It opens no file and applies
nothing.
"""

import re
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

CONTEXT, REMOVED, ADDED, NO_NEWLINE = " ", "-", "+", "\\"
_NOWHERE = "/dev/null"
# Each file of a diff begins with one of these.
_HEADERS = ("--- ", "diff --git ", "Binary files ")
_RENAMED = re.compile(r"^rename (from|to) (.+)$")
_QUOTED = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class PatchLine(NamedTuple):
    """A line of a hunk. `mark` is CONTEXT, REMOVED or ADDED; NO_NEWLINE follows a line without an end."""

    mark: str
    text: str  # with its line end


class PatchHunk(NamedTuple):
    """A hunk. Where a side has no lines, its start is the number of the line before."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[PatchLine, ...]


class FilePatch(NamedTuple):
    """The part of a diff for one file. An empty path means that the file does not exist on that side."""

    old_path: str
    new_path: str
    is_binary: bool
    info: str  # what git prints above the hunks: modes, renames
    hunks: tuple[PatchHunk, ...]


def parse_diff(text: str, *, path_errors: str = "strict") -> list[FilePatch]:
    """Returns the files of a diff, at least one.

    `path_errors` says how to decode quoted paths that are not UTF-8, as in `bytes.decode`. Raises ValueError
    with the reason if the text is not a diff.
    """
    # Without a header, the parser would read every line to find nothing.
    if not any(header in text for header in _HEADERS):
        raise ValueError("it names no file")
    try:
        files = PatchSet(text)
    except UnidiffParseError as error:
        raise ValueError(str(error).strip()) from error
    if not files:
        raise ValueError("it names no file")
    return [_file(file, path_errors) for file in files]


def _file(file: PatchedFile, path_errors: str) -> FilePatch:
    paths = {
        "from": _path(file.source_file, "a/", path_errors),
        "to": _path(file.target_file, "b/", path_errors),
    }
    info = list(file.patch_info or ())
    # These have no prefix, whatever the prefixes of the other headers are.
    for line in info:
        if renamed := _RENAMED.match(line.rstrip("\n")):
            paths[renamed[1]] = _unquoted(renamed[2], path_errors)
    return FilePatch(paths["from"], paths["to"], file.is_binary_file, "".join(info), tuple(map(_hunk, file)))


def _hunk(hunk: Hunk) -> PatchHunk:
    lines = tuple(PatchLine(str(line.line_type), line.value) for line in hunk)
    return PatchHunk(hunk.source_start, hunk.source_length, hunk.target_start, hunk.target_length, lines)


def _path(header: str, prefix: str, errors: str) -> str:
    path = _unquoted(header, errors)
    return "" if path == _NOWHERE else path.removeprefix(prefix)


def _unquoted(name: str, errors: str) -> str:
    r"""Returns a name without the quotes that git puts around unusual characters: `"caf\303\251"`."""
    if len(name) < len('""') or not name.startswith('"') or not name.endswith('"'):
        return name
    try:
        return _QUOTED.sub(_unquoted_byte, name[1:-1].encode()).decode(errors=errors)
    except UnicodeError as error:
        raise ValueError(f"the name {name[1:-1][:200]!a} is not UTF-8") from error


def _unquoted_byte(found: re.Match[bytes]) -> bytes:
    octal, letter = found.groups()
    return bytes([int(octal, 8)]) if octal else _LETTERS.get(letter, letter)
