"""Which known paths somebody may have meant who asked for one that is not there."""

import posixpath
from collections.abc import Sequence

from rapidfuzz import process, utils

NEAR_MAX = 3
NEAR_SCORE_MIN = 60
# Comparing costs the product of both lengths for each known path; nobody mistypes a longer one.
ALIKE_CHARS_MAX = 200


def near_paths(path: str, known: Sequence[str]) -> list[str]:
    """Known paths, the likeliest first, whatever their case: those that end as the path does, those of the same file
    name with and then without its extension, those that look alike.
    """
    asked = path.lower().lstrip("/")
    name = posixpath.basename(asked)
    stem = posixpath.splitext(name)[0]
    degrees = ((_sameness(asked, name, stem, one.lower()), one) for one in known)
    same = sorted((item for item in degrees if item[0]), key=lambda item: (-item[0], item[1]))
    alike = (
        process.extract(
            path, known, processor=utils.default_process, limit=NEAR_MAX, score_cutoff=NEAR_SCORE_MIN
        )
        if len(path) <= ALIKE_CHARS_MAX
        else []
    )
    return list(dict.fromkeys([*(one for _, one in same), *(one for one, _, _ in alike)]))[:NEAR_MAX]


def _sameness(asked: str, asked_name: str, asked_stem: str, known: str) -> int:
    """How much of the end of two paths in lower case is the same: all of what is asked, the file name, its base, none."""
    name = posixpath.basename(known)
    if f"/{known}".endswith(f"/{asked}"):
        return 3
    if name == asked_name:
        return 2
    return int(posixpath.splitext(name)[0] == asked_stem)
