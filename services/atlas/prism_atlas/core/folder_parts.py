"""Groups source files by folder: the parts of a repository as its authors laid it out, with names that stay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.graph import NONE
from prism_atlas.core.links import flagged_files

# A repository has about so many parts at most.
PARTS_MAX = 24
# A part with no more files, or a smaller share of all, is not split further.
PART_FILES_MIN = 6
PART_SHARE_MIN = 0.1
# The name of what is in no folder.
TOP = "."


def by_folder(analysis: Analysis) -> tuple[Analysis, list[str]]:
    """Returns the analysis with folders as its components, highest rank first, and their names.

    Only files with code are in one, and no test, generated file or the like.
    """
    flagged = flagged_files(analysis.graph)
    files = [file for file in analysis.modules.tolist() if not flagged[file]]
    parts = folder_parts([analysis.graph.path(file) for file in files])
    rank = analysis.ranks.file
    members = {name: [files[position] for position in positions] for name, positions in parts.items()}
    names = sorted(members, key=lambda name: (-float(rank[members[name]].sum()), name))
    component = np.full(len(analysis.graph.files), NONE, np.int32)
    for number, name in enumerate(names):
        component[members[name]] = number
    communities = replace(analysis.communities, component=component)
    return replace(analysis, communities=communities), names


def folder_parts(paths: Sequence[str]) -> dict[str, list[int]]:
    """Returns positions of paths by folder. Large folders are split into theirs, until there are enough parts.

    A file with the name of a folder beside it belongs to that folder: `depot.ex` to `depot/`.
    """
    folders = {folder for path in paths for folder in _above(path)}
    places = [_place(path, folders) for path in paths]
    parts: dict[str, list[int]] = {"": list(range(len(paths)))}
    least = max(PART_FILES_MIN, round(PART_SHARE_MIN * len(paths)))
    whole: set[str] = set()
    # The top is always split: it has no name of its own.
    while splittable := [
        name for name in parts if name not in whole and (not name or len(parts[name]) > least)
    ]:
        largest = max(splittable, key=lambda name: (len(parts[name]), name))
        inner = _split(largest, parts[largest], places)
        if set(inner) == {largest} or len(parts) + len(inner) - 1 > PARTS_MAX:
            whole.add(largest)
            continue
        del parts[largest]
        parts |= inner
        whole |= {largest} & inner.keys()
    return {name or TOP: positions for name, positions in sorted(parts.items()) if positions}


def _split(folder: str, positions: Sequence[int], places: Sequence[str]) -> Mapping[str, list[int]]:
    """Returns the files of a folder by the folder in it; those directly in it keep its name."""
    inner: dict[str, list[int]] = {}
    for position in positions:
        rest = places[position].removeprefix(folder).removeprefix("/")
        name = "/".join(filter(None, (folder, rest.partition("/")[0]))) if rest else folder
        inner.setdefault(name, []).append(position)
    return inner


def _place(path: str, folders: set[str]) -> str:
    """Returns the folder that a file belongs to; empty at the top."""
    folder, _, name = path.rpartition("/")
    twin = "/".join(filter(None, (folder, name.partition(".")[0])))
    return twin if twin in folders else folder


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
