"""Inspects and reads files of a local folder. Follows no link, and opens only regular files."""

import errno
import os
import stat
from typing import NamedTuple

from prism_contracts.code import FileFlags, SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.attributes import Attributes
from prism_source.classify import classify_path, classify_text
from prism_source.limits import HEAD_BYTES, SourceLimits
from prism_source.paths import decode_path
from prism_source.snapshot import blob_hash
from prism_source.text import decode, skip_reason

# O_NONBLOCK: if a pipe replaces a file after the check, opening it returns at once. Windows lacks these
# names; it has no such pipes, and git writes no links there.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class ListedFile(NamedTuple):
    """A file of a listing. `path` is relative to the root, as the file system names it."""

    path: bytes
    # The hash of the bytes on disk, if it is known without reading them.
    blob: str = ""
    # `blob` holds only if the file has this size: set where git may convert line ends.
    size_bytes: int | None = None
    # Set if the listing already decides that the file is skipped.
    skipped: SkipReason | None = None
    detail: str = ""


class FolderReader:
    """Reads files of a folder. See snapshot.ContentReader."""

    def __init__(self, root: bytes, limits: SourceLimits) -> None:
        self._root = root
        self._limits = limits

    def read(self, file: SnapshotFile) -> bytes:
        """Returns all bytes of the file as it is now."""
        try:
            data = read_regular(_join(self._root, file.path.encode()), self._limits.file_bytes_max + 1)
        except (FileNotFoundError, NotADirectoryError):
            raise PrismError(
                ErrorCode.FILE_NOT_FOUND,
                f"{file.path} was deleted after the folder was listed.",
                "List the folder again.",
            ) from None
        except OSError as error:
            raise PrismError(
                ErrorCode.SOURCE_UNREADABLE,
                f"{file.path} cannot be read: {_reason(error)}.",
                "Make it readable, or exclude it with .gitignore.",
            ) from error
        if len(data) > self._limits.file_bytes_max:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"{file.path} has grown past {self._limits.file_bytes_max:,} bytes.",
                "List the folder again.",
            )
        return data

    def close(self) -> None:
        """Does nothing: no file stays open."""


def describe(
    root: bytes, found: ListedFile, attributes: Attributes, limits: SourceLimits
) -> SnapshotFile | None:
    """Reads the head of a listed file, and returns its entry of a snapshot. None if the file is gone."""
    path, problem = decode_path(found.path)
    if problem:
        return _skipped(path, found, 0, SkipReason.PATH_INVALID, problem)
    if found.skipped:
        return _skipped(path, found, 0, found.skipped, found.detail)
    full = _join(root, found.path)
    try:
        status = os.lstat(full)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _skipped(path, found, 0, SkipReason.UNREADABLE, _reason(error))
    if stat.S_ISREG(status.st_mode):
        return _describe_regular(full, path, status.st_size, found, attributes, limits)
    return _describe_irregular(full, path, status, found)


def read_regular(full: bytes, bytes_max: int) -> bytes:
    """Returns the first bytes of a regular file. Raises OSError, also for links and other special files."""
    handle = os.open(full, _OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return _read(handle, bytes_max)
    finally:
        os.close(handle)


def _read(handle: int, bytes_max: int) -> bytes:
    data = os.read(handle, bytes_max)
    while data and len(data) < bytes_max:
        more = os.read(handle, bytes_max - len(data))
        if not more:
            break
        data += more
    return data


def _describe_regular(  # noqa: PLR0917 - the facts of one file
    full: bytes, path: str, size_bytes: int, found: ListedFile, attributes: Attributes, limits: SourceLimits
) -> SnapshotFile:
    if size_bytes > limits.file_bytes_max:
        return _skipped(
            path,
            found,
            size_bytes,
            SkipReason.TOO_LARGE,
            f"{size_bytes:,} bytes, the limit is {limits.file_bytes_max:,}",
        )
    blob = found.blob if found.size_bytes in (None, size_bytes) else ""
    whole = not blob or size_bytes > limits.line_bytes_max
    try:
        data = read_regular(full, limits.file_bytes_max + 1 if whole else min(size_bytes, HEAD_BYTES))
    except OSError as error:
        return _skipped(path, found, size_bytes, SkipReason.UNREADABLE, _reason(error))
    if whole:
        size_bytes = len(data)
        blob = blob or blob_hash(data)
    return SnapshotFile(
        path=path,
        blob=blob,
        size_bytes=size_bytes,
        skipped=skip_reason(size_bytes, data, limits, path),
        flags=attributes.override(_flags(path, data)),
        language=attributes.language,
    )


def _flags(path: str, data: bytes) -> FileFlags:
    return classify_text(path, decode(data[:HEAD_BYTES]).text, classify_path(path))


def _describe_irregular(
    full: bytes, path: str, status: os.stat_result, found: ListedFile
) -> SnapshotFile | None:
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISLNK(status.st_mode):
        return _skipped(path, found, 0, SkipReason.SPECIAL, "a socket, a device or a pipe")
    try:
        target = os.readlink(full)  # noqa: PTH115 - bytes
    except OSError as error:
        return _skipped(path, found, 0, SkipReason.UNREADABLE, _reason(error))
    link = found._replace(blob=found.blob or blob_hash(target))
    return _skipped(path, link, status.st_size, SkipReason.SYMLINK, "links are not followed")


def _skipped(path: str, found: ListedFile, size_bytes: int, reason: SkipReason, detail: str) -> SnapshotFile:
    return SnapshotFile(path=path, blob=found.blob, size_bytes=size_bytes, skipped=reason, detail=detail)


def _join(root: bytes, path: bytes) -> bytes:
    return os.path.join(root, path)  # noqa: PTH118 - bytes, which pathlib does not take


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
