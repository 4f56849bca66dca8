"""A history as it is kept: within limits whoever sent it, and without secrets."""

from prism_contracts.records import History
from prism_source.history import COMMITS_MAX, FILES_MAX, MESSAGE_CHARS_MAX
from prism_source.secrets import redact


def keepable(history: History, version: int) -> History:
    """The history with the version of its job: messages redacted and cut, nothing beyond the limits."""
    commits = tuple(
        commit.model_copy(update={"message": redact(commit.message[:MESSAGE_CHARS_MAX]).text})
        for commit in history.commits[:COMMITS_MAX]
    )
    files = tuple(file for file in history.files[:FILES_MAX] if 0 <= file.last < len(commits))
    return history.model_copy(update={"version": version, "commits": commits, "files": files})
