"""Listing a plain folder. Only `.gitignore` decides what is left out, and `.git` itself always is."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from prism_contracts.code import SkipReason
from prism_source.files import Found, read_regular
from prism_source.limits import RULES_BYTES_MAX

GIT_FOLDER = b".git"
GITIGNORE = b".gitignore"


class _Rules(NamedTuple):
    folder: str  # with a slash at the end, empty for the root
    spec: GitIgnoreSpec


class _Folder(NamedTuple):
    path: bytes  # relative, with a slash at the end, empty for the root
    rules: tuple[_Rules, ...]  # outermost first


def walk_folder(root: bytes) -> Iterator[Found]:
    """Every file below a folder that is not ignored, in no order. Raises OSError if the folder itself cannot be listed.

    A folder below that cannot be listed is found as one unreadable file.
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
            yield Found(folder.path[:-1], skipped=SkipReason.UNREADABLE, detail=f"a folder: {reason}")
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
                yield Found(path)


def _with_own_rules(folder: _Folder, entries: list[os.DirEntry[bytes]]) -> tuple[_Rules, ...]:
    own = next((entry for entry in entries if entry.name == GITIGNORE), None)
    if own is None:
        return folder.rules
    try:
        lines = read_regular(own.path, RULES_BYTES_MAX).decode(errors="replace").splitlines()
    except OSError:
        return folder.rules
    return (*folder.rules, _Rules(folder.path.decode(errors="replace"), GitIgnoreSpec.from_lines(lines)))


def _is_ignored(path: bytes, *, is_folder: bool, rules: tuple[_Rules, ...]) -> bool:
    """Whether the nearest `.gitignore` with something to say about the path says so."""
    if not rules:
        return False
    text = path.decode(errors="replace") + ("/" if is_folder else "")
    for rule in reversed(rules):
        decision = rule.spec.check_file(text[len(rule.folder) :]).include
        if decision is not None:
            return decision
    return False
