"""Detects files that an import replaced between the answers of the legs and the read of their file points."""

from collections.abc import Mapping

from prism_contracts.base import file_of, is_of_generation
from prism_search.core.retrieval.candidates import RankFacts
from prism_search.core.retrieval.fuse import LegResults


def stale_files(found: LegResults, facts: Mapping[str, RankFacts]) -> set[str]:
    """Returns the files for which the legs found chunks of another version, and none of the current one."""
    old: set[str] = set()
    current: set[str] = set()
    for point in found.chunks():
        file = facts.get(file_of(point.id))
        if file is not None:
            (current if is_of_generation(point.id, file.generation) else old).add(file.file)
    return old - current
