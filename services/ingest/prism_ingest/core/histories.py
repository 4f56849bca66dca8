"""Cleans a history before it is stored: no secrets, and consistent even if the client was not.

The contract bounds its size.
"""

from prism_contracts.records import History
from prism_source.history import MESSAGE_CHARS_MAX
from prism_source.secret_policy import DEFAULT_POLICY, SecretPolicy
from prism_source.secrets import redact


def keepable(history: History, version: int, secrets: SecretPolicy = DEFAULT_POLICY) -> History:
    """Returns the history with its job's version: messages redacted and cut, no file without its commit."""
    commits = tuple(
        commit.model_copy(update={"message": redact(commit.message[:MESSAGE_CHARS_MAX], secrets.rules).text})
        for commit in history.commits
    )
    files = tuple(file for file in history.files if file.last < len(commits))
    return history.model_copy(update={"version": version, "commits": commits, "files": files})
