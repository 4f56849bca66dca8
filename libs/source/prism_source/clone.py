"""Cloning: one commit of a remote repository into a bare one here. Runs no hook, follows no redirect, checks nothing out.

What a server sends is limited in time and in bytes while it arrives; past a limit the whole process group is killed.
"""

import base64
import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import PORTS, CloneRules, CloneUrl, check_url
from prism_source.git import GitFailed, explain, isolated_environment, run_git, start_git, stop
from prism_source.gittree import is_ref_name, ref_not_found, resolve_ref, short_name
from prism_source.limits import REFS_BYTES_MAX

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
_REDIRECTED = re.compile(r"error: 30\d|redirect", re.IGNORECASE)


class CloneProgress(NamedTuple):
    """How far a step of git is: `Receiving objects`, 45."""

    step: str
    percent: int


class Mirror(NamedTuple):
    """A bare repository that holds the commit, for gittree.snapshot_git."""

    git_dir: Path
    source: CloneUrl
    commit: str
    ref: str  # the branch or tag, empty for a commit


class RemoteRefs(NamedTuple):
    """Where the refs of a remote repository are."""

    head: str  # the full name of the default branch, empty if the server does not say
    refs: dict[str, str]  # full name -> commit or tag object

    def commit(self, name: str) -> str:
        """The commit that a full name stands for, empty for an unknown one."""
        return self.refs.get(f"{name}^{{}}", "") or self.refs.get(name, "")

    def resolve(self, ref: str) -> str:
        """The commit of a branch or tag, of the default branch if `ref` is empty. Raises as `full_name`."""
        name = self.full_name(ref)
        return self.commit(name) or name

    def full_name(self, ref: str) -> str:
        """The full name of a branch or tag, of the default branch if `ref` is empty; a full commit hash stays one.

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
    """Bring a commit, with as many before it as the rules say, into the bare repository at `folder`, which is made, or brought up to
    date.

    One process at a time may bring something; others may read meanwhile what was there before. What the folder has gathered over
    time counts as well, so that a new one may have room for what is too large for it. `ref` is a branch, a tag or a full commit hash, empty for the default branch.
    `credentials` are `user:password`, in the place of those in the URL; wherever they come from, they appear nowhere:
    not on a command line, not on the disk, not in an error. What is there already is not fetched again.

    Raises PrismError: CLONE_REFUSED, CLONE_FAILED, REF_NOT_FOUND, SOURCE_EMPTY, PAYLOAD_TOO_LARGE, DEADLINE_EXCEEDED.
    """
    source = _with_credentials(check_url(url, rules), credentials)
    is_new = not (folder / "HEAD").exists()
    try:
        return _mirror(_Run(source, folder, rules, on_progress), ref)
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def merge_packs(folder: Path, seconds_max: float) -> None:
    """Make few packs of the many that fetches have left in a mirror. What no ref leads to any more stays: the base, and layers,
    are told from commits that their branches have left.

    Raises PrismError SOURCE_UNREADABLE, DEADLINE_EXCEEDED.
    """
    environment = {**isolated_environment(), "GIT_DIR": str(folder)}
    try:
        run_git(
            folder, "repack", "--geometric=2", "-d", "-q", environment=environment, seconds_max=seconds_max
        )
    except GitFailed as error:
        raise explain(error, folder) from error


def remote_refs(
    url: str, rules: CloneRules, *, beside: Iterable[str] = (), credentials: str = ""
) -> RemoteRefs:
    """The branches and tags of a remote repository, and those of the full names `beside` that it has; fetches nothing.

    Raises PrismError as `mirror`.
    """
    source = _with_credentials(check_url(url, rules), credentials)
    with tempfile.TemporaryDirectory(prefix="prism-look-") as folder:
        return _list_refs(_Run(source, Path(folder), rules, None), beside)


def _with_credentials(source: CloneUrl, credentials: str) -> CloneUrl:
    if not credentials or source.scheme not in ("https", "http"):
        return source
    return replace(source, credentials=credentials)


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
    """Whether a name means this commit in the mirror as well, and the commit is there."""
    try:
        return resolve_ref(folder, name).commit == commit
    except PrismError:
        return False


def _fetch(run: "_Run", wanted: str, target: str) -> None:
    """Bring what the mirror lacks of one commit. Of what it has the server is told, so an update is as small as the change."""
    run.git(
        *("fetch", f"--depth={run.depth}", "--no-tags", "--no-recurse-submodules"),
        *("--no-auto-maintenance", "--force", "--no-write-fetch-head", "--progress"),
        *("--", run.transport_url, f"+{wanted}:{target}"),
    )


def _remove_leftovers(folder: Path) -> None:
    """What a killed git left: its locks would stop the next one."""
    for left in [*folder.rglob("*.lock"), *folder.glob("objects/pack/tmp_*")]:
        left.unlink(missing_ok=True)


def _list_refs(run: "_Run", beside: Iterable[str]) -> RemoteRefs:
    if not all(map(is_ref_name, beside := tuple(beside))):
        raise ref_not_found(" ".join(beside), ())
    patterns = ("HEAD", "refs/heads/*", "refs/tags/*", *beside)
    return _parse_refs(run.git("ls-remote", "--symref", "--", run.transport_url, *patterns))


def _parse_refs(output: bytes) -> RemoteRefs:
    """The answer of `git ls-remote --symref`: lines of `ref: refs/heads/main<tab>HEAD` and `<hash><tab><name>`."""
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
    # A server that does not say what HEAD names, or whose HEAD is a commit.
    same = [name for name in names if remote.refs[name] == remote.refs.get("HEAD")]
    if same:
        return same[0]
    raise _has_no_commit(names)


def _has_no_commit(names: Sequence[str]) -> PrismError:
    return PrismError(
        ErrorCode.SOURCE_EMPTY,
        "The repository has no commit on its default branch.",
        "Push a commit, or name a branch that has one.",
        branches=[short_name(name) for name in names[:5]],
    )


class _Run:
    """Git calls for one clone, which share one time limit and one size limit."""

    def __init__(
        self,
        source: CloneUrl,
        folder: Path,
        rules: CloneRules,
        on_progress: Callable[[CloneProgress], None] | None,
    ) -> None:
        self.source = source
        self.folder = folder
        self.transport_url = _transport_url(source)
        self.depth = rules.depth
        self._rules = rules
        self._on_progress = on_progress
        self._deadline = time.monotonic() + rules.seconds_max
        self._environment = _environment(source)
        self._options = tuple(_options(source))

    def git(self, *arguments: str) -> bytes:
        """What git prints."""
        process = start_git(self.folder, *self._options, *arguments, environment=self._environment)
        try:
            stdout, stderr = self._watch(process)
            process.wait(timeout=max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self._too_slow() from None
        finally:
            stop(process)
        if process.returncode:
            raise _failed(stderr.decode(errors="replace"), self.source)
        return stdout

    def _watch(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.close()
        output, errors = bytearray(), bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, output)
            ready.register(process.stderr, selectors.EVENT_READ, errors)
            next_check = 0.0
            while ready.get_map():
                for key, _ in ready.select(_WATCH_SECONDS):
                    data = os.read(key.fd, _READ_BYTES)
                    if not data:
                        ready.unregister(key.fileobj)
                    key.data.extend(data)
                self._tell(errors)
                del errors[:-_STDERR_BYTES_MAX]
                if time.monotonic() >= next_check:
                    self._check(len(output))
                    next_check = time.monotonic() + _WATCH_SECONDS
        return bytes(output), bytes(errors)

    def _check(self, output_bytes: int) -> None:
        if time.monotonic() > self._deadline:
            raise self._too_slow()
        if output_bytes > REFS_BYTES_MAX or sum(_sizes(self.folder)) > self._rules.bytes_max:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The clone was stopped at {self._rules.bytes_max:,} bytes.",
                "Index a folder of a local clone with `prism index PATH`, or raise the limit.",
                bytes_max=self._rules.bytes_max,
            )

    def _tell(self, errors: bytearray) -> None:
        if self._on_progress is None:
            return
        steps = _PROGRESS.findall(errors[-_READ_BYTES:].decode(errors="replace"))
        if steps:
            self._on_progress(CloneProgress(steps[-1][0], int(steps[-1][1])))

    def _too_slow(self) -> PrismError:
        return PrismError(
            ErrorCode.DEADLINE_EXCEEDED,
            f"The clone was stopped after {self._rules.seconds_max:g} seconds.",
            "Try again later, index a local clone with `prism index PATH`, or raise the limit.",
        )


def _sizes(folder: Path) -> Iterator[int]:
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(base) / name).lstat().st_size
            except FileNotFoundError:  # git renames its temporary files
                continue


def _transport_url(source: CloneUrl) -> str:
    """The URL that git gets. The git protocol has no names to check, so it goes to the checked address itself."""
    if source.scheme != "git":
        return source.url
    address = source.addresses[0]
    host = f"[{address}]" if ":" in address else address
    path = source.url.removeprefix("git://").partition("/")[2]
    return f"git://{host}:{source.port}/{path}"


def _options(source: CloneUrl) -> Iterator[str]:
    settings = {
        "protocol.allow": "never",
        f"protocol.{source.scheme}.allow": "always",
        "http.followRedirects": "false",
        "credential.helper": "",
        "transfer.bundleURI": "false",
        # One pack, whatever its size; large blobs are streamed to the disk rather than held.
        "fetch.unpackLimit": "1",
        "core.bigFileThreshold": "8m",
        "gc.auto": "0",
    }
    if source.scheme in ("https", "http") and ":" not in source.host:
        # The addresses that were checked are the ones to use: a second look-up could say something else.
        settings["http.curloptResolve"] = f"{source.host}:{source.port}:{','.join(source.addresses)}"
    for name, value in settings.items():
        yield from ("-c", f"{name}={value}")


def _environment(source: CloneUrl) -> dict[str, str]:
    environment = isolated_environment()
    environment["GIT_PROTOCOL_FROM_USER"] = "0"
    if source.scheme == "ssh":
        alias = source.host if source.port == PORTS["ssh"] else f"[{source.host}]:{source.port}"
        options = f"-oBatchMode=yes -oHostName={source.addresses[0]} -oHostKeyAlias={alias}"
        environment["GIT_SSH_COMMAND"] = f"ssh {options}"
        environment["GIT_SSH_VARIANT"] = "ssh"
    if source.credentials:
        # Not on the command line, which every user of the machine can read.
        header = base64.b64encode(source.credentials.encode()).decode()
        environment |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {header}",
        }
    return environment


def _failed(stderr: str, source: CloneUrl) -> PrismError:
    reason = _reason(stderr, source)
    if _NO_SUCH_COMMIT.search(stderr):
        return PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{source.url} does not have what was asked for any more: {reason}",
            "Name a branch that is there; a commit goes with a forced push.",
        )
    if _NEEDS_LOGIN.search(stderr):
        action = "Give Prism a token for the repository with `prism secrets`, or index a local clone: prism index PATH"
    elif _NOT_THERE.search(stderr):
        action = "Check the URL: the server knows no repository there, or hides it from strangers."
    elif _REDIRECTED.search(stderr):
        action = "The repository has moved, and redirects are not followed: give the new URL."
    else:
        action = "Check that this machine reaches the server, and try again."
    return PrismError(ErrorCode.CLONE_FAILED, f"{source.url} could not be cloned: {reason}", action)


def _reason(stderr: str, source: CloneUrl) -> str:
    """The last lines that say what is wrong, without credentials."""
    lines = [
        line for line in re.split(r"[\r\n]+", stderr) if re.match(r"(?:fatal|error|ERROR|remote|ssh):", line)
    ]
    text = _USER_INFO.sub("://", " ".join(lines[-3:]) or "git gave no reason")
    for secret in (source.credentials, *source.credentials.split(":", 1)):
        if secret:
            text = text.replace(secret, "***")
    return _NOT_PRINTABLE.sub(" ", text)[:_REASON_CHARS_MAX]
