"""Fetches one commit of a remote repository into a local bare one.

Runs no hook, follows no redirect, and never checks files out.

A transfer is limited in time and in bytes while it runs, and git in memory and CPU time; past a limit the
whole process group is killed. Git has no access to the configuration, keys or agent of the user that runs it.
"""

import base64
import math
import os
import re
import selectors
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import PORTS, CloneRules, CloneUrl, check_url
from prism_source.git import (
    READ_LIMITS,
    GitFailed,
    ProcessLimits,
    explain,
    isolated_environment,
    run_git,
    start_git,
    stop,
)
from prism_source.gittree import is_ref_name, ref_not_found, resolve_ref, short_name
from prism_source.limits import LISTING_MEMORY_BYTES_MAX, LISTING_SECONDS_MAX, REFS_BYTES_MAX

__all__ = [
    "CloneProgress",
    "CloneRules",
    "CloneUrl",
    "Mirror",
    "RemoteRefs",
    "check_url",
    "merge_packs",
    "mirror",
    "remote_refs",
]

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
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_PRINTABLE = re.compile(r"[^\x20-\x7e]+")
_NEEDS_LOGIN = re.compile(
    r"could not read Username|could not read Password|Authentication failed|Permission denied|error: 40[13]|terminal prompts disabled"
)
_NOT_THERE = re.compile(
    r"not found|does not appear to be a git repository|does not exist|error: 404", re.IGNORECASE
)
_NO_SUCH_COMMIT = re.compile(r"not our ref|unadvertised object|couldn't find remote ref")
_OUT_OF_MEMORY = re.compile(r"[Oo]ut of memory|memory exhausted|Cannot allocate memory|mmap failed")
_OUT_OF_TIME = re.compile(r"died of signal 24")
# After this line git works without the server. Lines from the server start with `remote: `.
_RECEIVED = re.compile(rb"(?:^|[\r\n])Receiving objects: 100%")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_REDIRECTED = re.compile(r"error: 30\d|redirect", re.IGNORECASE)


class CloneProgress(NamedTuple):
    """The progress of one step of git: `Receiving objects`, 45."""

    step: str
    percent: int


class Mirror(NamedTuple):
    """A bare repository that holds the commit, for gittree.snapshot_git."""

    git_dir: Path
    source: CloneUrl
    commit: str
    ref: str  # the branch or tag, empty for a commit


class RemoteRefs(NamedTuple):
    """The refs of a remote repository."""

    head: str  # the full name of the default branch, empty if the server does not send it
    refs: dict[str, str]  # full name -> commit or tag object

    def commit(self, name: str) -> str:
        """Returns the commit of a full name, empty if the name is unknown."""
        return self.refs.get(f"{name}^{{}}", "") or self.refs.get(name, "")

    def resolve(self, ref: str) -> str:
        """Returns the commit of a branch or tag, of the default branch if `ref` is empty.

        Raises as `full_name`.
        """
        name = self.full_name(ref)
        return self.commit(name) or name

    def full_name(self, ref: str) -> str:
        """Returns the full name of a branch or tag (empty: the default branch), or a full commit hash.

        Raises PrismError: REF_NOT_FOUND, SOURCE_EMPTY.
        """
        names = [name for name in self.refs if name.startswith("refs/") and not name.endswith("^{}")]
        if not ref:
            return _choose_default(self, names)
        if not is_ref_name(ref):
            raise ref_not_found(ref, ())
        for candidate in (ref, f"refs/heads/{ref}", f"refs/tags/{ref}"):
            if candidate in names:
                return candidate
        if _FULL_COMMIT.fullmatch(ref):
            return ref
        raise ref_not_found(ref, map(short_name, names))


def mirror(
    url: str,
    folder: Path,
    rules: CloneRules,
    *,
    ref: str = "",
    credentials: str = "",
    on_progress: Callable[[CloneProgress], None] | None = None,
) -> Mirror:
    """Fetches a commit, to the depth that the rules allow, into the bare repository at `folder`.

    Creates the repository if necessary, and does not fetch again what it has. One process at a time may
    fetch; others may read earlier commits meanwhile. The size limit counts everything in the folder, so a
    commit that no longer fits may fit a new folder.

    `ref` is a branch, a tag or a full commit hash, empty for the default branch. `credentials` are
    `user:password` and override those in the URL; for ssh, the password is a private key. They appear on no
    command line and in no error, and on disk only as the key file that ssh reads while it runs.

    Raises PrismError: CLONE_REFUSED, CLONE_FAILED, REF_NOT_FOUND, SOURCE_EMPTY, PAYLOAD_TOO_LARGE,
    DEADLINE_EXCEEDED.
    """
    source = _with_credentials(check_url(url, rules), credentials)
    is_new = not (folder / "HEAD").exists()
    try:
        with _key_file(source) as key:
            return _mirror(_Run(source, folder, rules, key, on_progress), ref)
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def merge_packs(folder: Path, seconds_max: float) -> None:
    """Repacks a mirror, in which each fetch leaves a pack, into few packs.

    Keeps unreachable commits: the base and the layers are diffed against commits that their branches have
    left. Raises PrismError SOURCE_UNREADABLE, DEADLINE_EXCEEDED.
    """
    environment = {**isolated_environment(), "GIT_DIR": str(folder)}
    try:
        run_git(
            folder, "repack", "--geometric=2", "-d", "-q",
            environment=environment, seconds_max=seconds_max, limits=READ_LIMITS,
        )  # fmt: skip
    except GitFailed as error:
        raise explain(error, folder) from error


def remote_refs(
    url: str, rules: CloneRules, *, extra_refs: Iterable[str] = (), credentials: str = ""
) -> RemoteRefs:
    """Lists the branches and tags of a remote repository, and which of the full names `extra_refs` it has.

    Raises PrismError as `mirror`.
    """
    source = _with_credentials(check_url(url, rules), credentials)
    with _key_file(source) as key, tempfile.TemporaryDirectory(prefix="prism-look-") as folder:
        return _list_refs(_Run(source, Path(folder), rules, key), extra_refs)


def _with_credentials(source: CloneUrl, credentials: str) -> CloneUrl:
    if source.scheme == "ssh":
        if not _PRIVATE_KEY.search(credentials):
            raise _needs_key(source)
        return replace(source, credentials=credentials)
    if not credentials or source.scheme not in ("https", "http"):
        return source
    return replace(source, credentials=credentials)


def _needs_key(source: CloneUrl) -> PrismError:
    return PrismError(
        ErrorCode.CLONE_REFUSED,
        f"{source.url} was not cloned: Prism has no ssh key for it, and never uses those of its host.",
        f"Store a deploy key: prism secrets NAME --git-login git@{source.host} < key. Or use the https URL.",
    )


@contextmanager
def _key_file(source: CloneUrl) -> Iterator[str]:
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


def _mirror(run: "_Run", ref: str) -> Mirror:
    run.folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(run.folder)
    if not (run.folder / "HEAD").exists():
        run.git("init", "--bare", "--quiet", "--template=")
    if _FULL_COMMIT.fullmatch(ref) and _is_here(run.folder, ref, ref):
        return Mirror(run.folder, run.source, ref, "")
    remote = _list_refs(run, [ref] if ref.startswith("refs/") else [])
    wanted = remote.full_name(ref)
    is_commit = _FULL_COMMIT.fullmatch(wanted) is not None
    target = f"refs/prism/{wanted}" if is_commit else wanted
    if is_commit or not _is_here(run.folder, wanted, remote.commit(wanted)):
        _fetch(run, wanted, target)
    if not ref:
        run.git("symbolic-ref", "HEAD", wanted)
    commit = resolve_ref(run.folder, target).commit
    return Mirror(run.folder, run.source, commit, "" if is_commit else short_name(wanted))


def _is_here(folder: Path, name: str, commit: str) -> bool:
    """Returns whether a name resolves to this commit in the mirror too, and the mirror has the commit."""
    try:
        return resolve_ref(folder, name).commit == commit
    except PrismError:
        return False


def _fetch(run: "_Run", wanted: str, target: str) -> None:
    """Fetches one commit into the mirror.

    Git negotiates with the server, so it transfers only what is missing.
    """
    run.git(
        *("fetch", f"--depth={run.depth}", "--no-tags", "--no-recurse-submodules"),
        *("--no-auto-maintenance", "--force", "--no-write-fetch-head", "--progress"),
        *("--", run.transport_url, f"+{wanted}:{target}"),
    )


def _remove_leftovers(folder: Path) -> None:
    """Deletes the files of a killed git, whose locks would block the next one."""
    for left in [*folder.rglob("*.lock"), *folder.glob("objects/pack/tmp_*")]:
        left.unlink(missing_ok=True)


def _list_refs(run: "_Run", extra_refs: Iterable[str]) -> RemoteRefs:
    if not all(map(is_ref_name, extra_refs := tuple(extra_refs))):
        raise ref_not_found(" ".join(extra_refs), ())
    patterns = ("HEAD", "refs/heads/*", "refs/tags/*", *extra_refs)
    return _parse_refs(run.listing("ls-remote", "--symref", "--", run.transport_url, *patterns))


def _parse_refs(output: bytes) -> RemoteRefs:
    """Parses `git ls-remote --symref`: lines `ref: refs/heads/main<tab>HEAD` and `<hash><tab><name>`."""
    head = ""
    refs: dict[str, str] = {}
    for line in output.decode(errors="replace").splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            head = value.removeprefix("ref: ")
        else:
            refs[name] = value
    return RemoteRefs(head, refs)


def _choose_default(remote: RemoteRefs, names: list[str]) -> str:
    if remote.head in names:
        return remote.head
    # The server does not send the target of HEAD, or its HEAD is a commit.
    same = [name for name in names if remote.refs[name] == remote.refs.get("HEAD")]
    if same:
        return same[0]
    raise _has_no_commit(names)


def _has_no_commit(names: Sequence[str]) -> PrismError:
    return PrismError(
        ErrorCode.SOURCE_EMPTY,
        "The repository has no commit on its default branch.",
        "Push a commit, or give a branch that has one.",
        branches=[short_name(name) for name in names[:5]],
    )


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


class _Run:
    """The git calls of one clone, which share one time limit and one size limit."""

    def __init__(
        self,
        source: CloneUrl,
        folder: Path,
        rules: CloneRules,
        key: str,
        on_progress: Callable[[CloneProgress], None] | None = None,
    ) -> None:
        self.source = source
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
        return self._git(arguments, self._deadline, self._rules.memory_bytes_max)

    def listing(self, *arguments: str) -> bytes:
        """Returns the output of git that lists a server's refs, under tighter limits of time and memory."""
        deadline = min(self._deadline, time.monotonic() + LISTING_SECONDS_MAX)
        return self._git(arguments, deadline, min(self._rules.memory_bytes_max, LISTING_MEMORY_BYTES_MAX))

    def _git(self, arguments: Sequence[str], deadline: float, memory_bytes_max: int) -> bytes:
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
        if process.returncode:
            raise _failed(stderr.decode(errors="replace"), self.source)
        return stdout

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


def _failed(stderr: str, source: CloneUrl) -> PrismError:
    reason = _reason(stderr, source)
    if _OUT_OF_MEMORY.search(stderr) or _OUT_OF_TIME.search(stderr):
        return PrismError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"{source.url} was not cloned: git exceeded its memory or CPU limit.",
            "Index a local clone with `prism index PATH`, or raise PRISM_GIT_MEMORY_BYTES_MAX.",
        )
    if _NO_SUCH_COMMIT.search(stderr):
        return PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{source.url} no longer has the requested ref: {reason}",
            "Give an existing branch. A forced push removes commits.",
        )
    if _NEEDS_LOGIN.search(stderr):
        action = (
            "Store a token for the repository with `prism secrets`, or index a local clone: prism index PATH"
        )
    elif _NOT_THERE.search(stderr):
        action = "Check the URL. The repository does not exist, or needs a login."
    elif _REDIRECTED.search(stderr):
        action = "The repository has moved. Redirects are not followed: give the new URL."
    else:
        action = "Check that this machine can reach the server, and retry."
    return PrismError(ErrorCode.CLONE_FAILED, f"{source.url} could not be cloned: {reason}", action)


def _reason(stderr: str, source: CloneUrl) -> str:
    """Returns the last error lines of git, without credentials."""
    lines = [
        line for line in re.split(r"[\r\n]+", stderr) if re.match(r"(?:fatal|error|ERROR|remote|ssh):", line)
    ]
    text = _USER_INFO.sub("://", " ".join(lines[-3:]) or "git gave no reason")
    for secret in (source.credentials, *source.credentials.split(":", 1)):
        if secret:
            text = text.replace(secret, "***")
    return _NOT_PRINTABLE.sub(" ", text)[:_REASON_CHARS_MAX]
