"""Diffs a work tree against a set of files known by hash, and returns the edits that lead from these to it.

A file that git reports unchanged counts as in its commit, whatever its line ends on disk; one that git
reports changed is read from disk, byte for byte. Links, submodules and files that are not text count as
absent.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_source.checkout import Checkout, Status
from prism_source.files import read_regular
from prism_source.limits import HEAD_BYTES, SourceLimits
from prism_source.paths import decode_path
from prism_source.snapshot import blob_hash
from prism_source.text import skip_reason

SEND_LESS = (
    "Exclude generated files with .gitignore, or index the branch first: prism index PATH --ref BRANCH --wait"
)


class WorkTreeEdits(NamedTuple):
    """New contents by path (None: the file is gone), and the files that are left out, with the reason."""

    contents: dict[str, bytes | None]
    left_out: dict[str, SkipReason]


class EditLimits(NamedTuple):
    """How far a work tree may differ from the index."""

    files_max: int
    bytes_max: int


class Comparison:
    """Compares a checkout with the files of the index (`served`: blob by path)."""

    def __init__(self, checkout: Checkout, served: Mapping[str, str], limits: EditLimits) -> None:
        self._checkout = checkout
        self._served = served
        self._limits = limits
        self._commit: str | None = None
        self._committed: dict[str, _Content] = {}

    def edits(self, status: Status) -> WorkTreeEdits:
        """Returns the edits as of a status of the checkout.

        Raises PrismError PAYLOAD_TOO_LARGE, and as `Checkout`.
        """
        if status.commit != self._commit:
            self._committed = self._differing(status.commit)
            self._commit = status.commit
        collected = _EditCollector(self._limits)
        changed = {decode_path(path)[0] for path in status.changed}
        for path, content in self._committed.items():
            if path not in changed:
                collected.add(path, content)
        for raw, is_present in status.changed.items():
            path, problem = decode_path(raw)
            if problem:
                collected.left_out[path] = SkipReason.PATH_INVALID
            else:
                collected.add(path, self._on_disk(raw, path, is_present=is_present))
        return WorkTreeEdits(collected.contents, collected.left_out)

    def _differing(self, commit: str) -> dict[str, "_Content"]:
        """Returns where the commit differs from the index.

        The caller caches it, because each status needs it.
        """
        committed = self._checkout.tree(commit) if commit else {}
        gone = dict.fromkeys(sorted(self._served.keys() - committed.keys()), _GONE)
        new = {path: blob for path, blob in committed.items() if self._served.get(path) != blob}
        if len(gone) + len(new) > self._limits.files_max:
            raise _too_many(self._limits.files_max)
        return gone | {path: self._in_commit(path, blob) for path, blob in new.items()}

    def _in_commit(self, path: str, blob: str) -> "_Content":
        try:
            data = self._checkout.blob(blob)
        except PrismError as error:
            if error.code is not ErrorCode.PAYLOAD_TOO_LARGE:
                raise
            return self._without(path, SkipReason.TOO_LARGE)
        reason = skip_reason(len(data), data, self._checkout.limits, path)
        return self._without(path, reason) if reason else _Content(data)

    def _on_disk(self, raw: bytes, path: str, *, is_present: bool) -> "_Content":
        data, reason = _read(self._checkout.root, raw, self._checkout.limits) if is_present else (None, None)
        if data is None:
            return self._without(path, reason)
        return _SAME if self._served.get(path) == blob_hash(data) else _Content(data)

    def _without(self, path: str, reason: SkipReason | None) -> "_Content":
        return _Content(None, reason, is_edit=path in self._served)


class _Content(NamedTuple):
    data: bytes | None  # None: no such file, or not text
    reason: SkipReason | None = None  # why there is no text, if there is a file
    is_edit: bool = True


_GONE = _Content(None)
_SAME = _Content(None, is_edit=False)


class _EditCollector:
    def __init__(self, limits: EditLimits) -> None:
        self.contents: dict[str, bytes | None] = {}
        self.left_out: dict[str, SkipReason] = {}
        self._limits = limits
        self._bytes = 0

    def add(self, path: str, content: _Content) -> None:
        if content.reason:
            self.left_out[path] = content.reason
        if not content.is_edit:
            return
        self.contents[path] = content.data
        self._bytes += len(content.data or b"")
        if len(self.contents) > self._limits.files_max:
            raise _too_many(self._limits.files_max)
        if self._bytes > self._limits.bytes_max:
            raise _too_large(self._limits.bytes_max)


def _read(root: Path, path: bytes, limits: SourceLimits) -> tuple[bytes | None, SkipReason | None]:
    """Returns the bytes of a text, or why it is none; neither if the file is gone or no longer regular."""
    full = os.path.join(os.fsencode(root), path)  # noqa: PTH118 - bytes
    try:
        size_bytes = os.lstat(full).st_size
        head = read_regular(full, HEAD_BYTES)
        reason = skip_reason(size_bytes, head, limits, os.fsdecode(path))
        if reason:
            return None, reason
        data = head if len(head) < HEAD_BYTES else read_regular(full, limits.file_bytes_max + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except OSError:
        return None, SkipReason.UNREADABLE
    reason = skip_reason(len(data), data, limits, os.fsdecode(path))
    return (None, reason) if reason else (data, None)


def _too_many(files_max: int) -> PrismError:
    return PrismError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"More than {files_max:,} files in the work tree differ from the index.",
        SEND_LESS,
        files_max=files_max,
    )


def _too_large(bytes_max: int) -> PrismError:
    return PrismError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"The files that differ from the index have more than {bytes_max:,} bytes.",
        SEND_LESS,
        bytes_max=bytes_max,
    )
