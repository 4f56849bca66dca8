"""Reads the commits that a push added to a branch, with one bounded `git log`.

Reads only commits, and never fetches.
"""

from collections.abc import Mapping
from pathlib import Path

from prism_contracts.errors import PrismError
from prism_contracts.events import PushedCommit
from prism_contracts.types import COMMIT_MESSAGE_CHARS_MAX, PUSHED_COMMITS_MAX
from prism_source.git import (
    READ_LIMITS,
    GitFailed,
    ProcessLimits,
    git_records,
    isolated_environment,
    user_environment,
)

SECONDS_MAX = 10.0
_PART = "\x02"
_FORMAT = "%H%x02%B"


def pushed_commits(git_dir: Path, before: str, head: str) -> tuple[PushedCommit, ...]:
    """Returns the commits of `head` that `before` does not have, oldest first: at most the newest 100.

    Only the head if the repository does not have `before` (any more); none if git fails or takes too long.
    """
    environment = {**isolated_environment(), "GIT_DIR": str(git_dir)}
    found = _log(git_dir, environment, READ_LIMITS, f"--max-count={PUSHED_COMMITS_MAX}", head, f"^{before}")
    if found is None:
        found = _log(git_dir, environment, READ_LIMITS, "--max-count=1", head) or []
    return tuple(_commit(record) for record in reversed(found))


def checked_out_commits(folder: Path, head: str) -> tuple[PushedCommit, ...]:
    """Returns the newest 100 commits of the user's own work tree, oldest first; none if git fails."""
    found = _log(folder, user_environment(), None, f"--max-count={PUSHED_COMMITS_MAX}", head)
    return tuple(_commit(record) for record in reversed(found or []))


def _log(
    folder: Path, environment: Mapping[str, str], limits: ProcessLimits | None, *arguments: str
) -> list[bytes] | None:
    options = ("-z", "--no-show-signature", f"--format={_FORMAT}")
    try:
        return git_records(
            folder, "log", *options, *arguments, "--",
            environment={**environment, "GIT_NO_LAZY_FETCH": "1"},
            records_max=PUSHED_COMMITS_MAX, seconds_max=SECONDS_MAX, limits=limits,
        )  # fmt: skip
    except (GitFailed, PrismError):
        return None


def _commit(record: bytes) -> PushedCommit:
    commit, _, message = record.decode(errors="replace").partition(_PART)
    return PushedCommit(commit=commit, message=message[:COMMIT_MESSAGE_CHARS_MAX])
