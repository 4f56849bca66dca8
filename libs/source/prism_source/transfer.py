"""Runs the git commands that contact a server: limited in time, bytes and memory, without the user's own logins.

A transfer is limited in time and in bytes while it runs, and git in memory and CPU time; past a limit the
whole process group is killed. Git has no access to the configuration, keys or agent of the user that runs it.
"""

import base64
import math
import os
import re
import selectors
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import PORTS, CloneRules, CloneUrl
from prism_source.git import ProcessLimits, isolated_environment, start_git, stop
from prism_source.limits import LISTING_MEMORY_BYTES_MAX, LISTING_SECONDS_MAX, REFS_BYTES_MAX

_WATCH_SECONDS = 0.25
# Unpacking uses several threads, so CPU time may pass faster than wall time.
_GIT_THREADS = 2
_SSH_CONNECT_SECONDS = 15
_SSH_ALIVE_SECONDS = 10
_SSH_ALIVE_MISSED_MAX = 3
_HTTP_BYTES_PER_SECOND_MIN = 10
_READ_BYTES = 64 * 1024
_STDERR_BYTES_MAX = 8 * 1024
_REASON_CHARS_MAX = 300

_PROGRESS = re.compile(r"(?:remote: )?([A-Z][a-z]+ [a-z]+):\s+(\d+)%")
_USER_INFO = re.compile(r"://[^/\s@]+@")
_NOT_PRINTABLE = re.compile(r"[^\x20-\x7e]+")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
# After this line git works without the server. Lines from the server start with `remote: `.
_RECEIVED = re.compile(rb"(?:^|[\r\n])Receiving objects: 100%")
# What git says of a server that wants a login, has no such repository, or sends elsewhere.
NEEDS_LOGIN = re.compile(
    r"could not read Username|could not read Password|Authentication failed|Permission denied|error: 40[13]|terminal prompts disabled"
)
NOT_THERE = re.compile(
    r"not found|does not appear to be a git repository|does not exist|error: 404", re.IGNORECASE
)
REDIRECTED = re.compile(r"error: 30\d|redirect", re.IGNORECASE)


class CloneProgress(NamedTuple):
    """The progress of one step of git: `Receiving objects`, 45."""

    step: str
    percent: int


class GitOutput(NamedTuple):
    """What git answered."""

    status: int  # 0: it succeeded
    stdout: bytes
    stderr: str


def with_credentials(
    source: CloneUrl, credentials: str, needs_key: Callable[[CloneUrl], PrismError]
) -> CloneUrl:
    """Returns the source with `user:password`; for ssh, the password is a private key.

    Raises what `needs_key` returns if ssh has no key.
    """
    if source.scheme == "ssh":
        if not _PRIVATE_KEY.search(credentials):
            raise needs_key(source)
        return replace(source, credentials=credentials)
    if not credentials or source.scheme not in ("https", "http"):
        return source
    return replace(source, credentials=credentials)


@contextmanager
def key_file(source: CloneUrl) -> Iterator[str]:
    """Yields the path of a temporary file with the private key for ssh; empty for other schemes."""
    if source.scheme != "ssh":
        yield ""
        return
    key = source.credentials.partition(":")[2].replace("\r\n", "\n").strip()
    # Readable by this user alone: ssh rejects a key that others may read.
    with tempfile.NamedTemporaryFile("w", prefix="prism-key-") as file:
        file.write(f"{key}\n")
        file.flush()
        yield file.name


class _Activity:
    """Detects a silent server: git prints nothing new, and its folder does not grow."""

    def __init__(self, silence_s_max: float) -> None:
        self._silence_s_max = silence_s_max
        self._seen = (0, 0)
        self._seen_at = time.monotonic()
        self._is_received = False

    def note(self, printed: bytes, folder_bytes: int) -> None:
        """Records what git has printed since the last call, and the current size of its folder."""
        seen = (self._seen[0] + len(printed), folder_bytes)
        if seen != self._seen:
            self._seen, self._seen_at = seen, time.monotonic()
        self._is_received = self._is_received or _RECEIVED.search(printed) is not None

    @property
    def is_silent(self) -> bool:
        """Whether nothing arrived for too long. Git may be silent once it has received everything."""
        return not self._is_received and time.monotonic() - self._seen_at > self._silence_s_max


class Transfer:
    """The git calls of one transfer, which share one time limit and one size limit."""

    def __init__(
        self,
        source: CloneUrl,
        folder: Path,
        rules: CloneRules,
        key: str,
        *,
        failed: Callable[[str, CloneUrl], PrismError],
        on_progress: Callable[[CloneProgress], None] | None = None,
    ) -> None:
        """`failed` returns the error for what git said, and for the source."""
        self.source = source
        self._failed = failed
        self.folder = folder
        self.transport_url = _transport_url(source)
        self.depth = rules.depth
        self._rules = rules
        self._on_progress = on_progress
        self._deadline = time.monotonic() + rules.seconds_max
        self._environment = _environment(source, rules, key)
        self._options = tuple(_options(source, rules))

    def git(self, *arguments: str) -> bytes:
        """Returns the output of git."""
        return self._succeeded(self.attempt(*arguments))

    def attempt(self, *arguments: str) -> GitOutput:
        """Returns what git answers, also if it fails."""
        return self._git(arguments, self._deadline, self._rules.memory_bytes_max)

    def listing(self, *arguments: str) -> bytes:
        """Returns the output of git that lists a server's refs, under tighter limits of time and memory."""
        deadline = min(self._deadline, time.monotonic() + LISTING_SECONDS_MAX)
        memory_bytes_max = min(self._rules.memory_bytes_max, LISTING_MEMORY_BYTES_MAX)
        return self._succeeded(self._git(arguments, deadline, memory_bytes_max))

    def _succeeded(self, output: GitOutput) -> bytes:
        if output.status:
            raise self._failed(output.stderr, self.source)
        return output.stdout

    def _git(self, arguments: Sequence[str], deadline: float, memory_bytes_max: int) -> GitOutput:
        seconds = max(1.0, deadline - time.monotonic())
        process = start_git(
            self.folder,
            *self._options,
            *arguments,
            environment=self._environment,
            limits=ProcessLimits(memory_bytes_max, math.ceil(seconds * _GIT_THREADS)),
        )
        try:
            stdout, stderr = self._watch(process, deadline)
            process.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise _too_slow() from None
        finally:
            stop(process)
        return GitOutput(process.returncode, stdout, stderr.decode(errors="replace"))

    def _watch(self, process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        output, errors = bytearray(), bytearray()
        activity = _Activity(self._rules.silence_s_max)
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, output)
            ready.register(process.stderr, selectors.EVENT_READ, errors)
            next_check, printed = 0.0, b""
            while ready.get_map():
                for key, _ in ready.select(_WATCH_SECONDS):
                    data = os.read(key.fd, _READ_BYTES)
                    if not data:
                        ready.unregister(key.fileobj)
                    key.data.extend(data)
                    printed += data
                self._report_progress(errors)
                del errors[:-_STDERR_BYTES_MAX]
                if time.monotonic() >= next_check:
                    self._check(len(output), printed, activity, deadline)
                    next_check, printed = time.monotonic() + _WATCH_SECONDS, b""
        return bytes(output), bytes(errors)

    def _check(self, output_bytes: int, printed: bytes, activity: _Activity, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise _too_slow()
        folder_bytes = sum(_sizes(self.folder))
        if output_bytes > REFS_BYTES_MAX or folder_bytes > self._rules.bytes_max:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The clone was stopped at {self._rules.bytes_max:,} bytes.",
                "Index a folder of a local clone with `prism index PATH`, or raise PRISM_CLONE_BYTES_MAX.",
                bytes_max=self._rules.bytes_max,
            )
        activity.note(printed, folder_bytes)
        if activity.is_silent:
            raise _silent(self._rules.silence_s_max)

    def _report_progress(self, errors: bytearray) -> None:
        if self._on_progress is None:
            return
        steps = _PROGRESS.findall(errors[-_READ_BYTES:].decode(errors="replace"))
        if steps:
            self._on_progress(CloneProgress(steps[-1][0], int(steps[-1][1])))


def _too_slow() -> PrismError:
    return PrismError(
        ErrorCode.DEADLINE_EXCEEDED,
        f"The git server was too slow. The limits are {LISTING_SECONDS_MAX:g} seconds to list its branches, and "
        "PRISM_CLONE_SECONDS_MAX for a clone.",
        "Retry later, index a local clone with `prism index PATH`, or raise the limit.",
    )


def _silent(seconds: float) -> PrismError:
    return PrismError(
        ErrorCode.DEADLINE_EXCEEDED,
        f"The git server sent nothing for {seconds:g} seconds.",
        "Check that the server answers and retry, or raise PRISM_CLONE_SILENCE_S_MAX.",
    )


def _sizes(folder: Path) -> Iterator[int]:
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(base) / name).lstat().st_size
            except FileNotFoundError:  # git renames its temporary files
                continue


def _transport_url(source: CloneUrl) -> str:
    """Returns the URL for git.

    The git protocol does not verify host names, so its URL has the checked address.
    """
    if source.scheme != "git":
        return source.url
    address = source.addresses[0]
    host = f"[{address}]" if ":" in address else address
    path = source.url.removeprefix("git://").partition("/")[2]
    return f"git://{host}:{source.port}/{path}"


def _options(source: CloneUrl, rules: CloneRules) -> Iterator[str]:
    settings = {
        "protocol.allow": "never",
        f"protocol.{source.scheme}.allow": "always",
        "http.followRedirects": "false",
        "credential.helper": "",
        "transfer.bundleURI": "false",
        # Write one pack, whatever its size, and stream large blobs to disk instead of buffering them.
        "fetch.unpackLimit": "1",
        "core.bigFileThreshold": "8m",
        "gc.auto": "0",
        "pack.threads": str(_GIT_THREADS),
        "http.lowSpeedLimit": str(_HTTP_BYTES_PER_SECOND_MIN),
        "http.lowSpeedTime": str(rules.silence_s_max),
    }
    if source.scheme in ("https", "http") and ":" not in source.host:
        # Connect to the checked addresses: a second lookup could return others.
        settings["http.curloptResolve"] = f"{source.host}:{source.port}:{','.join(source.addresses)}"
    for name, value in settings.items():
        yield from ("-c", f"{name}={value}")


def _environment(source: CloneUrl, rules: CloneRules, key: str) -> dict[str, str]:
    environment = isolated_environment()
    environment["GIT_PROTOCOL_FROM_USER"] = "0"
    if source.scheme == "ssh":
        environment["GIT_SSH_COMMAND"] = _ssh_command(source, rules, key)
        environment["GIT_SSH_VARIANT"] = "ssh"
        return environment
    if source.credentials:
        # In the environment, because every user of the machine can read command lines.
        header = base64.b64encode(source.credentials.encode()).decode()
        environment |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {header}",
        }
    return environment


def _ssh_command(source: CloneUrl, rules: CloneRules, key: str) -> str:
    """Returns an ssh command that uses only this key, no configuration and no agent."""
    alias = source.host if source.port == PORTS["ssh"] else f"[{source.host}]:{source.port}"
    options = {
        "BatchMode": "yes",
        "HostName": source.addresses[0],
        "HostKeyAlias": alias,
        "IdentityFile": f'"{key}"',
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "StrictHostKeyChecking": "accept-new",
        "UserKnownHostsFile": f'"{rules.known_hosts}"',
        "UpdateHostKeys": "no",
        "ForwardAgent": "no",
        "ConnectTimeout": str(_SSH_CONNECT_SECONDS),
        "ServerAliveInterval": str(_SSH_ALIVE_SECONDS),
        "ServerAliveCountMax": str(_SSH_ALIVE_MISSED_MAX),
    }
    return shlex.join(["ssh", "-F", "none", *(f"-o{name}={value}" for name, value in options.items())])


def reason_given(stderr: str, source: CloneUrl) -> str:
    """Returns the last error lines of git, without credentials."""
    lines = [
        line for line in re.split(r"[\r\n]+", stderr) if re.match(r"(?:fatal|error|ERROR|remote|ssh):", line)
    ]
    text = _USER_INFO.sub("://", " ".join(lines[-3:]) or "git gave no reason")
    for secret in (source.credentials, *source.credentials.split(":", 1)):
        if secret:
            text = text.replace(secret, "***")
    return _NOT_PRINTABLE.sub(" ", text)[:_REASON_CHARS_MAX]
