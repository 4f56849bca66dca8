"""The file of a client: read, backed up, and replaced atomically.

A file that contains a secret is readable by its owner only, and never one that git tracks.
"""

import contextlib
import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from prism_cli.exits import CommandError
from prism_cli.stack.layout import MODE_FILE

FILE_BYTES_MAX = 16 * 1024 * 1024
OTHERS = 0o077
GIT_SECONDS_MAX = 10.0


class ClientFile(NamedTuple):
    """A file as it was read; the links in `path` are resolved. Without `status` there is none yet."""

    path: Path
    content: bytes
    status: os.stat_result | None

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def mode(self) -> int:
        """The permission bits."""
        return self.status.st_mode & 0o777 if self.status else MODE_FILE


def read(path: Path) -> ClientFile:
    """Read a file, which need not exist. Raises CommandError."""
    try:
        resolved = path.resolve()
        with resolved.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read(FILE_BYTES_MAX + 1)
        content.decode()
    except FileNotFoundError:
        return ClientFile(resolved, b"", None)
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else _reason(error)
        raise unusable(path, f"cannot be read: {reason}.") from error
    if len(content) > FILE_BYTES_MAX:
        raise unusable(path, f"is larger than {FILE_BYTES_MAX // 2**20} MiB.")
    return ClientFile(resolved, content, status)


def private_mode(file: ClientFile) -> int:
    """Returns the permission bits of the file without those of other users."""
    return file.mode & ~OTHERS


def is_tracked(path: Path) -> bool:
    """Whether git tracks the file, so that its content may be pushed."""
    if not path.exists():
        return False
    try:
        found = subprocess.run(
            ["git", "-C", str(path.parent), "ls-files", "--error-unmatch", "--", path.name],
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0


def replace(file: ClientFile, content: bytes, mode: int) -> Path | None:
    """Write a new content, and the old one to a backup beside it. Returns the path of the backup.

    Raises CommandError, and then the file is as it was.
    """
    path = file.path
    backup = path.with_name(f"{path.name}.{time.strftime('%Y%m%dT%H%M%S')}-{time.time_ns() % 10**9:09}.bak")
    partial = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _create(partial, content, mode, file.status)
            if file.status:
                _create(backup, file.content, mode, file.status)
            _check_unchanged(file)
            partial.replace(path)
        except BaseException:
            backup.unlink(missing_ok=True)
            raise
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise unusable(path, f"cannot be written: {_reason(error)}.") from error
    return backup if file.status else None


def unusable(path: Path, problem: str, next_action: str = "") -> CommandError:
    """Returns the error of a client's file."""
    return CommandError(
        f"{path} {problem}",
        next_action or "Correct it, or add the configuration by hand: the same command without --write.",
        code="client_file_unusable",
    )


def _check_unchanged(file: ClientFile) -> None:
    if read(file.path).content != file.content:
        raise unusable(file.path, "changed meanwhile.", "Run the command again.")


def _create(path: Path, content: bytes, mode: int, like: os.stat_result | None) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE_FILE), "wb") as file:
        if like and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            # Under sudo the file still belongs to the user.
            with contextlib.suppress(PermissionError):
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
        os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
