"""Suggests known paths for a path that does not exist."""

import posixpath
from collections.abc import Sequence

from rapidfuzz import process, utils

NEAR_MAX = 3
NEAR_SCORE_MIN = 60
# Each comparison costs the product of both lengths; a longer path is no typo.
SIMILAR_CHARS_MAX = 200


def near_paths(path: str, known: Sequence[str]) -> list[str]:
    """Returns known paths, likeliest first, ignoring case.

    First those that end like the path, then those with the same file name, then the same name without its
    extension, then similar ones.
    """
    asked = path.lower().lstrip("/")
    name = posixpath.basename(asked)
    stem = posixpath.splitext(name)[0]
    degrees = ((_sameness(asked, name, stem, one.lower()), one) for one in known)
    same = sorted((item for item in degrees if item[0]), key=lambda item: (-item[0], item[1]))
    similar = (
        process.extract(
            path, known, processor=utils.default_process, limit=NEAR_MAX, score_cutoff=NEAR_SCORE_MIN
        )
        if len(path) <= SIMILAR_CHARS_MAX
        else []
    )
    return list(dict.fromkeys([*(one for _, one in same), *(one for one, _, _ in similar)]))[:NEAR_MAX]


def _sameness(asked: str, asked_name: str, asked_stem: str, known: str) -> int:
    """Returns 3 if the known path ends like the request, 2 for the same file name, 1 for its stem, or 0."""
    name = posixpath.basename(known)
    if f"/{known}".endswith(f"/{asked}"):
        return 3
    if name == asked_name:
        return 2
    return int(posixpath.splitext(name)[0] == asked_stem)
