"""Fetches a branch of a remote with all of its commits, and pushes commits to it. A push is never forced.

Both run under the rules and limits of a clone, see prism_source.transfer.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prism_contracts.errors import ErrorCode, PrismError
from prism_source.clone_url import CloneRules, CloneUrl, check_url
from prism_source.transfer import (
    NEEDS_LOGIN,
    NOT_THERE,
    REDIRECTED,
    GitOutput,
    Transfer,
    key_file,
    reason_given,
    with_credentials,
)

# Where a fetched branch is in the local repository.
FETCHED = "refs/prism/remote"
# What git says of a full disk.
NO_SPACE = "No space left on device"

# What `git push --porcelain` prints for a branch: `!<tab>FROM:TO<tab>[rejected] (fetch first)`.
_REJECTED = re.compile(r"^!\t[^\t]*\t(.*)$", re.MULTILINE)
# The remote has commits that are not among the pushed ones, or got some while these were on the way.
_OUTRUN = re.compile(
    r"fetch first|non-fast-forward|stale info|failed to update ref|cannot lock ref|failed to lock|incorrect old value"
    r"|reference already exists|remote ref updated since checkout"
)
_DISK_FULL = re.compile(rf"^(?!remote:).*(?:{NO_SPACE}|Disk quota exceeded)", re.MULTILINE)
_BAD_OBJECT = re.compile(
    r"fsck error|bad object|unresolved deltas|missing blob|invalid index-pack", re.IGNORECASE
)
# Errors of a transfer that come from the server, and not from the settings of the team.
_TOO_SLOW = frozenset({ErrorCode.DEADLINE_EXCEEDED, ErrorCode.CLONE_FAILED})
_REASON_CHARS_MAX = 200


def fetch_branch(url: str, folder: Path, rules: CloneRules, branch: str, *, credentials: str = "") -> str:
    """Fetches a branch, as `FETCHED`, into the bare repository at `folder`.

    Returns its newest commit, empty if the remote has no such branch. `credentials` are as for
    prism_source.clone.mirror. One process at a time may use the folder.

    Raises PrismError: CLONE_REFUSED, REMOTE_REFUSED, GIT_ERROR, PAYLOAD_TOO_LARGE, DISK_FULL.
    """
    full_name = f"refs/heads/{branch}"
    with _explained(), _transfer(url, folder, rules, credentials) as run:
        commit = _commit_listed(run.listing("ls-remote", "--", run.transport_url, full_name), full_name)
        if not commit or not run.attempt("cat-file", "-e", f"{commit}^{{commit}}").status:
            return commit
        run.git(
            *("-c", "fetch.fsckObjects=true"),
            *("fetch", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--force"),
            *("--no-write-fetch-head", "--progress", "--", run.transport_url, f"+{full_name}:{FETCHED}"),
        )
        return run.git("rev-parse", "--verify", FETCHED).decode().strip()


def push_branch(
    url: str, folder: Path, rules: CloneRules, branch: str, commit: str, *, credentials: str = ""
) -> bool:
    """Pushes a commit of the bare repository at `folder`, with those that lead to it.

    Returns False, and changes nothing there, if the remote has commits that this one does not follow.

    Raises PrismError as `fetch_branch`.
    """
    with _explained(), _transfer(url, folder, rules, credentials) as run:
        output = run.attempt(
            *("push", "--porcelain", "--no-verify", "--progress"),
            *("--", run.transport_url, f"{commit}:refs/heads/{branch}"),
        )
        return _is_taken(output, run.source)


def _commit_listed(listed: bytes, full_name: str) -> str:
    """Returns the commit of a branch from `git ls-remote`: lines `<hash><tab><full name>`."""
    lines = (line.partition("\t") for line in listed.decode(errors="replace").splitlines())
    return next((sha for sha, _, name in lines if name == full_name), "")


def _is_taken(output: GitOutput, source: CloneUrl) -> bool:
    if not output.status:
        return True
    rejected = _REJECTED.search(output.stdout.decode(errors="replace"))
    if rejected is None:
        raise _failed(output.stderr, source)
    if _OUTRUN.search(f"{rejected[1]}\n{output.stderr}"):
        return False
    raise PrismError(
        ErrorCode.REMOTE_REFUSED,
        f"{source.url} refuses the push: {rejected[1][:_REASON_CHARS_MAX]} {reason_given(output.stderr, source)}",
        "Allow the login of Prism to push to this branch, or set another branch as the remote.",
    )


@contextmanager
def _transfer(url: str, folder: Path, rules: CloneRules, credentials: str) -> Iterator[Transfer]:
    source = with_credentials(check_url(url, rules), credentials, _needs_key)
    with key_file(source) as key:
        yield Transfer(source, folder, rules, key, failed=_failed)


@contextmanager
def _explained() -> Iterator[None]:
    """Words errors of transfers for a remote, instead of for a clone."""
    try:
        yield
    except PrismError as error:
        if error.code in _TOO_SLOW:
            raise PrismError(
                ErrorCode.GIT_ERROR, f"The remote did not answer in time: {error}", "Wait: it is tried again."
            ) from error
        if error.code is ErrorCode.PAYLOAD_TOO_LARGE:
            raise PrismError(
                error.code,
                "The branch of the remote is larger than Prism takes as documents.",
                "Use a repository for documents alone, or raise PRISM_DOCUMENTS_REMOTE_BYTES_MAX.",
            ) from error
        raise


def disk_full() -> PrismError:
    """Returns the error of a folder for temporary files that git cannot write to."""
    return PrismError(
        ErrorCode.DISK_FULL,
        "The folder for temporary files is full.",
        "Free space there. Nothing is lost: the commits wait.",
    )


def _needs_key(source: CloneUrl) -> PrismError:
    return PrismError(
        ErrorCode.REMOTE_REFUSED,
        f"Prism has no ssh key for {source.url}, and never uses those of its host.",
        f"Store a deploy key that may write: {_store(source, 'git')} < key",
    )


def _failed(stderr: str, source: CloneUrl) -> PrismError:
    if _DISK_FULL.search(stderr):
        return disk_full()
    reason = reason_given(stderr, source)
    if NEEDS_LOGIN.search(stderr):
        return PrismError(
            ErrorCode.REMOTE_REFUSED,
            f"{source.url} refuses the login of Prism: {reason}",
            f"Store one that may read and write: {_store(source, 'USER')}",
        )
    if NOT_THERE.search(stderr):
        return PrismError(
            ErrorCode.REMOTE_REFUSED,
            f"{source.url} is not there: {reason}",
            "Create the repository, or check the URL and the login: a private repository needs one.",
        )
    if REDIRECTED.search(stderr):
        return PrismError(
            ErrorCode.REMOTE_REFUSED,
            f"{source.url} has moved: {reason}",
            "Redirects are not followed: set the new URL.",
        )
    if _BAD_OBJECT.search(stderr):
        return PrismError(
            ErrorCode.REMOTE_REFUSED,
            f"git does not accept what {source.url} has: {reason}",
            "Run `git fsck --strict` in a clone of it, and repair what it reports.",
        )
    return PrismError(
        ErrorCode.GIT_ERROR,
        f"{source.url} does not answer as it should: {reason}",
        "Wait: it is tried again.",
    )


def _store(source: CloneUrl, user: str) -> str:
    return f"prism secrets prism/documents --git-login {user}@{source.host}"
