"""Lists a plain folder, without `.git`, installed packages, caches of tools, and what `.gitignore` files exclude.

A `.gitignore` that names such a folder with `!` keeps it.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from prism_contracts.code import SkipReason
from prism_source.files import ListedFile, read_regular
from prism_source.limits import IGNORE_BYTES_MAX
from prism_source.patterns import GitPatterns

GIT_FOLDER = b".git"
GITIGNORE = b".gitignore"
# Folders that tools write; a project without `.gitignore` has them too.
WRITTEN_BY_TOOLS = frozenset(
    b"node_modules __pycache__ .venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .hg .svn".split()
)
VIRTUAL_ENVIRONMENT = b"pyvenv.cfg"  # in the root of one, whatever its name is


class _FolderRules(NamedTuple):
    folder: str  # with a slash at the end, empty for the root
    ignore: "IgnoreFile"


class _Folder(NamedTuple):
    path: bytes  # relative, with a slash at the end, empty for the root
    rules: tuple[_FolderRules, ...]  # outermost first


def walk_folder(root: bytes) -> Iterator[ListedFile]:
    """Yields every file below a folder that is not ignored, in no order.

    Yields an unreadable folder below as one unreadable file. Raises OSError if the folder itself is
    unreadable.
    """
    waiting = [_Folder(b"", ())]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder.path)) as scan:  # noqa: PTH118 - bytes
                entries = list(scan)
        except OSError as error:
            if not folder.path:
                raise
            reason = (error.strerror or "").lower()
            yield ListedFile(folder.path[:-1], skipped=SkipReason.UNREADABLE, detail=f"a folder: {reason}")
            continue
        if folder.path and any(entry.name == VIRTUAL_ENVIRONMENT for entry in entries):
            continue
        rules = _with_own_rules(folder, entries)
        for entry in entries:
            path = folder.path + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name == GIT_FOLDER or _is_ignored(path, is_folder=is_folder, rules=rules):
                continue
            if is_folder:
                waiting.append(_Folder(path + b"/", rules))
            else:
                yield ListedFile(path)


class IgnoreFile:
    """The rules of one `.gitignore`."""

    def __init__(self, text: str) -> None:
        lines = [line for line in map(_strip, text.removeprefix("\ufeff").split("\n")) if line]
        self._negated = [line.startswith("!") for line in lines]
        bare = [line.removeprefix("!") for line in lines]
        self._folders_only = [line.endswith("/") for line in bare]
        self._patterns = GitPatterns(line.removesuffix("/") for line in bare)

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Returns whether a path (relative to the folder of the file) is ignored.

        None: no rule matches it.
        """
        for position in reversed(self._patterns.matching(path)):
            if is_folder or not self._folders_only[position]:
                return not self._negated[position]
        return None


def _strip(line: str) -> str:
    """Returns a line without comment, line end and unescaped trailing blanks."""
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return ""
    bare = line.rstrip(" ")
    is_escaped = bare.endswith("\\") and len(bare) < len(line)
    return bare + " " if is_escaped else bare


def _with_own_rules(folder: _Folder, entries: list[os.DirEntry[bytes]]) -> tuple[_FolderRules, ...]:
    own = next((entry for entry in entries if entry.name == GITIGNORE), None)
    if own is None:
        return folder.rules
    try:
        text = read_regular(own.path, IGNORE_BYTES_MAX).decode(errors="replace")
    except OSError:
        return folder.rules
    return (*folder.rules, _FolderRules(folder.path.decode(errors="replace"), IgnoreFile(text)))


def _is_ignored(path: bytes, *, is_folder: bool, rules: tuple[_FolderRules, ...]) -> bool:
    """Returns the decision of the nearest `.gitignore` with a rule for the path; without one, of its name."""
    is_written_by_tools = is_folder and path.rpartition(b"/")[2] in WRITTEN_BY_TOOLS
    if not rules:
        return is_written_by_tools
    text = path.decode(errors="replace")
    decisions = (
        rule.ignore.decide(text[len(rule.folder) :], is_folder=is_folder) for rule in reversed(rules)
    )
    return next((decision for decision in decisions if decision is not None), is_written_by_tools)
