"""Names of symbols that are like what somebody wrote."""

from collections.abc import Iterable, Sequence

from rapidfuzz import process, utils

from prism_store.reader import Reader, StoredPoint, TextLeg
from prism_store.scope import Scope

FILES_MAX = 60
NAMES_MAX = 5
LIKENESS_MIN = 55


async def near_symbols(reader: Reader, scope: Scope, words: str) -> set[str]:
    """Names that are defined in the files that have most of the words among their symbols or in their path."""
    legs = [TextLeg(field, words, FILES_MAX) for field in ("symbol_text", "path_text")]
    answers = await reader.ask_legs(scope, legs, ["names"])
    return {known for points in answers for point in points for known in _names(point)}


def alike(names: Iterable[str], name: str, *, chars_min: float) -> tuple[str, ...]:
    """The names that look most like a name, whatever their case, without those of fewer characters."""
    long_enough = sorted(known for known in names if len(known) >= chars_min)
    found = process.extract(
        name, long_enough, processor=utils.default_process, limit=NAMES_MAX, score_cutoff=LIKENESS_MIN
    )
    return tuple(match for match, _, _ in found)


def _names(point: StoredPoint) -> Sequence[str]:
    names = point.payload.get("names")
    return names if isinstance(names, list) else ()
