"""Fetches one commit of a remote repository into a local bare one.

Runs no hook, follows no redirect, and never checks files out.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import CloneRules, CloneUrl, check_url
from prism_source.git import READ_LIMITS, GitFailed, explain, isolated_environment, run_git
from prism_source.gittree import is_ref_name, ref_not_found, resolve_ref, short_name
from prism_source.transfer import (
    NEEDS_LOGIN,
    NOT_THERE,
    REDIRECTED,
    CloneProgress,
    Transfer,
    key_file,
    reason_given,
    with_credentials,
)

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

_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_SUCH_COMMIT = re.compile(r"not our ref|unadvertised object|couldn't find remote ref")
_OUT_OF_MEMORY = re.compile(r"[Oo]ut of memory|memory exhausted|Cannot allocate memory|mmap failed")
_OUT_OF_TIME = re.compile(r"died of signal 24")


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
    source = with_credentials(check_url(url, rules), credentials, _needs_key)
    is_new = not (folder / "HEAD").exists()
    try:
        with key_file(source) as key:
            return _mirror(Transfer(source, folder, rules, key, failed=_failed, on_progress=on_progress), ref)
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
    source = with_credentials(check_url(url, rules), credentials, _needs_key)
    with key_file(source) as key, tempfile.TemporaryDirectory(prefix="prism-look-") as folder:
        return _list_refs(Transfer(source, Path(folder), rules, key, failed=_failed), extra_refs)


def _needs_key(source: CloneUrl) -> PrismError:
    return PrismError(
        ErrorCode.CLONE_REFUSED,
        f"{source.url} was not cloned: Prism has no ssh key for it, and never uses those of its host.",
        f"Store a deploy key: prism secrets NAME --git-login git@{source.host} < key. Or use the https URL.",
    )


def _mirror(run: Transfer, ref: str) -> Mirror:
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


def _fetch(run: Transfer, wanted: str, target: str) -> None:
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


def _list_refs(run: Transfer, extra_refs: Iterable[str]) -> RemoteRefs:
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


def _failed(stderr: str, source: CloneUrl) -> PrismError:
    reason = reason_given(stderr, source)
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
    if NEEDS_LOGIN.search(stderr):
        action = (
            "Store a token for the repository with `prism secrets`, or index a local clone: prism index PATH"
        )
    elif NOT_THERE.search(stderr):
        action = "Check the URL. The repository does not exist, or needs a login."
    elif REDIRECTED.search(stderr):
        action = "The repository has moved. Redirects are not followed: give the new URL."
    else:
        action = "Check that this machine can reach the server, and retry."
    return PrismError(ErrorCode.CLONE_FAILED, f"{source.url} could not be cloned: {reason}", action)
