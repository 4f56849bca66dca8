"""Runs git without prompts, hooks, unbounded waits or writes."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.limits import GIT_CPU_SECONDS_MAX, GIT_MEMORY_BYTES_MAX, GIT_SECONDS_MAX

_SAFE_OPTIONS = (
    "--no-pager",
    *("-c", f"core.hooksPath={os.devnull}"),
    # A repository's own setting could name a program for git to run.
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never"),
    # Print paths unquoted; -z does this too, but not for every command.
    *("-c", "core.quotePath=false"),
)
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
# Inherited on purpose, to find the user's configuration. Others (GIT_DIR, GIT_INDEX_FILE, …) are set while a
# hook runs, and would point every call at the wrong repository.
_INHERITED = frozenset(
    {
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
        *("GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
    }
)
# The only variables that git inherits when it handles other people's data: the locations of programs,
# certificates, proxies and temporary files. No HOME, no ssh agent, no token of Prism.
_NEEDED = frozenset(
    {
        *("PATH", "TMPDIR", "TZ", "SYSTEMROOT", "GIT_EXEC_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    }
)
# A shell sets the limits and execs git: Python's hook between fork and exec is not safe in a process with
# threads, and limits set from outside take effect only after git has started. A lower limit is kept.
_LIMITED = 'ulimit -d "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"'
_KIB = 1024
_STDERR_CHARS_MAX = 500
_READ_BYTES = 256 * 1024


class ProcessLimits(NamedTuple):
    """The limits of one process; each of its child processes has the same."""

    # Private memory: heap and stacks, but not files mapped for reading, because git maps packs of any size.
    memory_bytes_max: int
    cpu_s_max: int


# For a git process that reads fetched data.
READ_LIMITS = ProcessLimits(GIT_MEMORY_BYTES_MAX, GIT_CPU_SECONDS_MAX)


class GitFailed(Exception):  # noqa: N818 - says what happened, and is always translated
    """A git call that failed, with its stderr."""

    def __init__(self, stderr: str) -> None:
        super().__init__(stderr)
        self.stderr = stderr


def user_environment() -> dict[str, str]:
    """Returns the environment for the user's own work tree, with user and system configuration."""
    kept = {name: value for name, value in os.environ.items() if _is_kept(name)}
    return {**kept, **_QUIET}


def isolated_environment() -> dict[str, str]:
    """Returns the environment for cloned repositories: no secrets, no user or system configuration."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in _NEEDED}
    isolation = {"HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return {**kept, **_QUIET, **isolation}


def git_command(*arguments: str, limits: ProcessLimits | None = None) -> list[str]:
    """Returns the command line of a git call, with the safe options first."""
    command = ["git", *_SAFE_OPTIONS, *arguments]
    if limits is None or os.name != "posix":
        return command
    memory_kib = str(limits.memory_bytes_max // _KIB)
    return ["/bin/sh", "-c", _LIMITED, "sh", memory_kib, str(limits.cpu_s_max), *command]


def run_git(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str],
    stdin: bytes = b"",
    seconds_max: float = GIT_SECONDS_MAX,
    limits: ProcessLimits | None = None,
) -> bytes:
    """Returns the output of git.

    Raises GitFailed; PrismError SOURCE_UNREADABLE (no git), DEADLINE_EXCEEDED.
    """
    process = start_git(folder, *arguments, environment=environment, limits=limits)
    try:
        stdout, stderr = process.communicate(stdin, timeout=seconds_max)
    except subprocess.TimeoutExpired:
        raise _too_slow(arguments[0], seconds_max) from None
    finally:
        stop(process)
    if process.returncode:
        raise GitFailed(stderr.decode(errors="replace").strip()[:_STDERR_CHARS_MAX])
    return stdout


def git_records(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str],
    records_max: int,
    seconds_max: float = GIT_SECONDS_MAX,
    limits: ProcessLimits | None = None,
) -> list[bytes] | None:
    """Returns the records that git prints with -z, or None if there are more than `records_max`.

    Stops reading at the limit, because a tree of a few kilobytes can name a billion files. Raises as
    `run_git`.
    """
    process = start_git(folder, *arguments, environment=environment, stderr=subprocess.DEVNULL, limits=limits)
    watchdog = threading.Timer(seconds_max, _kill, [process])
    watchdog.start()
    try:
        output = _read_records(process, records_max)
        if output is None:
            return None
        process.wait()
    finally:
        is_late = not watchdog.is_alive()
        watchdog.cancel()
        stop(process)
    if is_late:
        raise _too_slow(arguments[0], seconds_max)
    if process.returncode:
        raise GitFailed(f"git {arguments[0]} failed")
    return output.split(b"\0")[:-1]


def _read_records(process: subprocess.Popen[bytes], records_max: int) -> bytes | None:
    assert process.stdout is not None
    parts: list[bytes] = []
    count = 0
    while part := process.stdout.read(_READ_BYTES):
        parts.append(part)
        count += part.count(b"\0")
        if count > records_max:
            return None
    return b"".join(parts)


def start_git(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str],
    stderr: int = subprocess.PIPE,
    limits: ProcessLimits | None = None,
) -> subprocess.Popen[bytes]:
    """Starts git with pipes, in its own process group. The caller must call `stop`."""
    if shutil.which("git", path=environment.get("PATH")) is None:
        raise git_is_missing()
    try:
        return subprocess.Popen(
            git_command(*arguments, limits=limits),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise git_is_missing() from None


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and its children, unless it has ended, and closes its pipes."""
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            _close(pipe)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _close(pipe: IO[bytes]) -> None:
    # Closing flushes the buffer, which fails if the process has ended.
    with contextlib.suppress(OSError):
        pipe.close()


def git_is_missing() -> PrismError:
    """Returns the error for a machine without git."""
    return PrismError(
        ErrorCode.SOURCE_UNREADABLE,
        "The folder is a git repository, and the program git is not installed or not on the PATH.",
        "Install git (https://git-scm.com/downloads) and retry.",
    )


def explain(error: GitFailed, folder: Path) -> PrismError:
    """Returns the error for a failed git call on a local repository, with advice."""
    if "dubious ownership" in error.stderr:
        return PrismError(
            ErrorCode.SOURCE_UNREADABLE,
            f"Git does not trust {folder}: the repository belongs to another user (dubious ownership).",
            f"If you trust it, run: git config --global --add safe.directory {folder}",
        )
    return PrismError(
        ErrorCode.SOURCE_UNREADABLE,
        f"Git cannot read {folder}: {error.stderr or 'no reason given'}",
        "Run `git status` in the folder, fix what it reports, and retry.",
    )


def _is_kept(name: str) -> bool:
    return not name.startswith("GIT_") or name in _INHERITED


def _too_slow(command: str, seconds_max: float) -> PrismError:
    return PrismError(
        ErrorCode.DEADLINE_EXCEEDED,
        f"git {command} was stopped after {seconds_max:g} seconds.",
        "Check the disk, run `git status` once, and retry.",
    )
