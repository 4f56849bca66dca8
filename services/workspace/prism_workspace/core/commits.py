"""Git commits of documents."""

import re
from collections.abc import Mapping
from datetime import datetime

from dulwich.objects import Commit, ObjectID, Tree

from prism_contracts.errors import ErrorCode, PrismError
from prism_workspace.core.rebase import Changes

FILE_MODE = 0o100644
FOLDER_MODE = 0o040000
NAMELESS = "Prism"
# The domain `invalid` belongs to no one (RFC 2606).
EMAIL = "documents@prism.invalid"
README_PATH = "generated/README.md"
README = b"""# Generated documents

Agents write the documents in this folder through Prism, and update them there. Documents in `documents/` were
captured, and Prism does not change them. Pictures are in `images/`.
"""
_NOT_IN_NAMES = re.compile(r"[\s<>\x00-\x1f\x7f]+")


def commit_of(tree: str, parent: str, message: str, author: str, at: datetime) -> Commit:
    """Returns a commit. Its author is a name; git also wants an address, which is the same for all.

    Raises INVALID_ARGUMENT if the message is blank or has a NUL character.
    """
    if not message.strip() or "\0" in message:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "The commit message is blank, or has a NUL character.",
            "Say in a line what changed and why.",
        )
    name = _NOT_IN_NAMES.sub(" ", author).strip(" .,:;\"'") or NAMELESS
    commit = Commit()
    commit.tree = ObjectID(tree.encode())
    commit.parents = [ObjectID(parent.encode())] if parent else []
    commit.author = commit.committer = f"{name} <{EMAIL}>".encode()
    commit.author_time = commit.commit_time = int(at.timestamp())
    commit.author_timezone = commit.commit_timezone = 0
    commit.encoding = b"UTF-8"
    commit.message = f"{message.strip()}\n".encode()
    return commit


def with_entries(tree: Tree, entries: Changes, folders: Mapping[str, Tree]) -> Tree:
    """Returns a copy of a tree with these entries and folders, by name. None and an empty folder delete."""
    changed = Tree()
    names = {_encoded(name) for name in (*entries, *folders)}
    for found in tree.items():
        if found.path not in names:
            changed[found.path] = (found.mode, found.sha)
    for name, folder in folders.items():
        if len(folder):
            changed[_encoded(name)] = (FOLDER_MODE, folder.id)
    for name, entry in entries.items():
        if entry is not None:
            changed[_encoded(name)] = (entry.mode, ObjectID(entry.sha.encode()))
    return changed


def on_top(commit: Commit, tree: str, parent: str) -> Commit:
    """Returns the same commit with another tree and parent: its author, times and message stay."""
    moved = Commit()
    moved.tree = ObjectID(tree.encode())
    moved.parents = [ObjectID(parent.encode())]
    moved.author, moved.author_time, moved.author_timezone = (
        commit.author,
        commit.author_time,
        commit.author_timezone,
    )
    moved.committer, moved.commit_time = commit.committer, commit.commit_time
    moved.commit_timezone = commit.commit_timezone
    moved.encoding = commit.encoding
    moved.message = commit.message
    return moved


def _encoded(name: str) -> bytes:
    return name.encode(errors="surrogateescape")
