"""Finds names of symbols that are similar to a requested name."""

from collections.abc import Iterable, Sequence

from rapidfuzz import process, utils

from prism_store.reader import Reader, StoredPoint, TextLeg
from prism_store.scope import Scope

FILES_MAX = 60
NAMES_MAX = 5
LIKENESS_MIN = 55


async def near_symbols(reader: Reader, scope: Scope, words: str) -> set[str]:
    """Returns the names defined in the files with most of the words in their symbols or their path."""
    legs = [TextLeg(field, words, FILES_MAX) for field in ("symbol_text", "path_text")]
    answers = await reader.ask_legs(scope, legs, ["names"])
    return {known for points in answers for point in points for known in _names(point)}


def most_similar(names: Iterable[str], name: str, *, chars_min: float) -> tuple[str, ...]:
    """Returns the names of at least `chars_min` characters that are most similar to a name, ignoring case."""
    long_enough = sorted(known for known in names if len(known) >= chars_min)
    found = process.extract(
        name, long_enough, processor=utils.default_process, limit=NAMES_MAX, score_cutoff=LIKENESS_MIN
    )
    return tuple(match for match, _, _ in found)


def _names(point: StoredPoint) -> Sequence[str]:
    names = point.payload.get("names")
    return names if isinstance(names, list) else ()
