"""Validates repository-relative paths, and escapes invalid ones for display."""

import hashlib
import re

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import PATH_BYTES_MAX

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DRIVE = re.compile(r"[A-Za-z]:")
_SEPARATORS = re.compile(r"[/\\]")
_DOTS = frozenset({"", ".", ".."})
# Fast path: no segment starts with a dot, and every character is harmless.
_USUAL = re.compile(r"(?:[\w+@][\w.+@=~,-]*/)*[\w+@][\w.+@=~,-]*", re.ASCII)


def validate_path(path: str) -> str:
    r"""Returns the path if it is repository-relative POSIX: `src/main.py`.

    A backslash is an ordinary character of a name (systemd units have them), except where treating it as a
    separator would leave the repository: `a\..\b` is as invalid as `a/../b`.

    Raises PrismError INVALID_PATH.
    """
    problem = path_problem(path)
    if problem:
        raise PrismError(
            ErrorCode.INVALID_PATH,
            f"The path {path[:200]!a} is not valid: {problem}.",
            "Give a path relative to the root of the repository, with forward slashes, such as src/main.py.",
        )
    return path


def path_problem(path: str) -> str:
    """Returns why a path is not valid, empty if it is."""
    if _USUAL.fullmatch(path) and len(path) <= PATH_BYTES_MAX:
        return ""
    return _character_problem(path) or _segment_problem(path)


def _character_problem(path: str) -> str:
    try:
        size_bytes = len(path.encode())
    except UnicodeEncodeError:
        return "it is not UTF-8"
    if size_bytes > PATH_BYTES_MAX:
        return f"it is longer than {PATH_BYTES_MAX} bytes"
    if _CONTROL.search(path):
        return "it has a control character"
    return ""


def _segment_problem(path: str) -> str:
    if not path:
        return "it is empty"
    if _DRIVE.match(path):
        return "it starts with a drive letter"
    if path[0] in "/\\":
        return "it is absolute"
    if not _DOTS.isdisjoint(path.split("/")):
        return "it has an empty segment, . or .."
    if ".." in _SEPARATORS.split(path):
        return "it has a .. segment"
    return ""


def decode_path(raw: bytes) -> tuple[str, str]:
    r"""Returns (valid path for display, problem) for a path as the file system or git stores it.

    The problem is empty if the path needs no escaping. Bytes that are not UTF-8 and control characters are
    escaped as `\xe9`. A path that is still invalid gets a name derived from its hash.
    """
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return _shown(raw), "the name is not UTF-8"
    problem = path_problem(path)
    return (_shown(raw), problem) if problem else (path, "")


def _shown(raw: bytes) -> str:
    escaped = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", raw.decode(errors="backslashreplace"))
    if path_problem(escaped):
        return f"invalid-path-{hashlib.sha256(raw).hexdigest()[:16]}"
    return escaped
