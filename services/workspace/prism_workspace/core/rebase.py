"""Merges two sets of documents by path, relative to their last common commit.

"Ours" is what Prism has, "theirs" is what the remote has. A path that one side changed is merged. If both
changed it, ours keeps the path, because drafts, ids and links refer to it, and theirs is stored beside it
under a name that says so. See docs/decisions/0052-the-remote-of-documents.md.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

SHOWN_CHARS = 8
_KEPT = re.compile(r"^(?P<stem>.+)\.conflict-[0-9a-f]{8}(?P<suffix>\.[^./]*)?$")


class PathEntry(NamedTuple):
    """What a tree has at a path: a file, a link, a folder or a submodule."""

    mode: int
    sha: str


Changes = Mapping[str, PathEntry | None]  # by path; None: it was deleted


def kept_path(path: str, sha: str) -> str:
    """Returns where theirs is kept: `a/note.conflict-3f2a91c4.md` for `a/note.md`. The digits are of its hash."""
    place = PurePosixPath(path)
    return str(place.with_name(f"{place.stem}.conflict-{sha[:SHOWN_CHARS]}{place.suffix}"))


def original_path(path: str) -> str:
    """Returns the path beside which a file is kept, empty if it is kept beside none."""
    place = PurePosixPath(path)
    found = _KEPT.fullmatch(place.name)
    return str(place.with_name(found["stem"] + (found["suffix"] or ""))) if found else ""


def conflicts(ours: Changes, theirs: Changes) -> list[str]:
    """Returns the paths at which both sides have something else than before, and not the same."""
    return sorted(
        path
        for path in ours.keys() & theirs.keys()
        if ours[path] and theirs[path] and ours[path] != theirs[path]
    )


def replayed(ours: Changes, theirs: Changes) -> dict[str, PathEntry | None]:
    """Returns which of our changes are applied to their tree: all but deletions of what they changed."""
    return {path: entry for path, entry in ours.items() if entry or not theirs.get(path)}


def parents(path: str) -> Iterable[str]:
    """Returns the folders that a path is in, the outermost first."""
    return (str(folder) for folder in reversed(PurePosixPath(path).parents) if folder.name)


def in_the_way(ours: Changes, theirs: Changes) -> set[str]:
    """Returns where they have a file at the place of our folder, or a folder at the place of our file."""
    added_by_us, added_by_them = ({path for path, entry in side.items() if entry} for side in (ours, theirs))
    our_folders, their_folders = (
        {folder for path in added for folder in parents(path)} for added in (added_by_us, added_by_them)
    )
    return (added_by_them & our_folders) | (added_by_us & their_folders)
