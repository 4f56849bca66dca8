"""Finds the tasks that a commit message or the name of a branch names.

In a message, a task is named by `#7c0d5a54`, `task: 7c0d5a54` or `Task: #7c0d5a54`; in a branch, by a part such
as that of `feature/7c0d5a54-retry`. The id is whole, or its first eight digits and no more: a hash of a commit
in a message, or of seven or forty digits in a branch, names none. Takes texts, and returns ids as they are stored.
"""

import re

from prism_workspace.core.tasks import id_prefix

# A message that lists everything in a release names more tasks than it is about.
MENTIONS_MAX = 20
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = rf"({_UUID}|[0-9a-f]{{8}})"
# Not `owner/name#7c0d5a54`, the fragment of a URL, or a longer word.
_IN_MESSAGE = re.compile(rf"(?<![\w/#.&-])(?:task:[ \t]*#?|#){_ID}(?![\w-])", re.IGNORECASE | re.ASCII)
# `_` separates parts of a branch, as other punctuation does.
_IN_BRANCH = re.compile(rf"(?<![^\W_]){_ID}(?![^\W_])", re.IGNORECASE)


def named_in_message(message: str) -> list[str]:
    """Returns the ids, or their first eight digits, in the order of the text. Each once."""
    return _ids(_IN_MESSAGE, message)[:MENTIONS_MAX]


def named_in_branch(branch: str) -> list[str]:
    """Returns the ids, or their first eight digits, in the order of the name. Each once."""
    return _ids(_IN_BRANCH, branch)


def _ids(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(id_prefix(match[1]) for match in pattern.finditer(text)))
