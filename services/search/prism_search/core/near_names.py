"""Finds names that are a few typing errors away from a requested one.

In: the names that a corpus defines, and a name that none of them equals. Out: the nearest, best first, and the
one that was meant if no other is close. Never reads the store.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from prism_resolver.symbol_names import SymbolName

# By the length of the name: distances to suggest, and distances that leave no doubt. In a short name, one
# error changes too much of it.
SUGGESTED_MAX = ((3, 1), (7, 2), (200, 3))
SURE_MAX = ((3, 0), (6, 1), (200, 2))
# How much farther the second nearest has to be, by the distance of the nearest.
SURE_GAP = (1, 1, 2, 2)
NEAR_MAX = 12
DIGITS = re.compile(r"[0-9]+")
# A name of so many characters was rarely meant by a longer one.
SHORT_CHARS_MAX = 5


class NearName(NamedTuple):
    """A known name. Sorts by nearness: fewer errors first, names of source code before those of tests."""

    distance: int
    is_aside: bool
    case_distance: int
    name: str


class KnownNames:
    """The distinct names that a corpus defines, bare and qualified, ready to be compared."""

    def __init__(self, names: Collection[str], aside: Collection[str] = ()) -> None:
        """`aside` are names that only tests, generated or vendored files define."""
        # The module `Parcels.Labels` of some languages has no bare name, but callers use one.
        source = {*names, *(name.rpartition(".")[2] for name in names)}
        self._aside = frozenset(aside) - source
        self._names = sorted(source | self._aside)
        self._folded = [name.lower() for name in self._names]

    def __len__(self) -> int:
        return len(self._names)

    def near(self, asked: Sequence[str]) -> list[NearName]:
        """Returns the names nearest to the components of a name, best first.

        Compares the whole name with qualified names, then what is left without its first components.
        """
        for start in range(len(asked)):
            spelled = ".".join(asked[start:])
            found = sorted(self._within(spelled, allowed(spelled, SUGGESTED_MAX)))
            if found:
                return list(_alike_once(found))[:NEAR_MAX]
        return []

    def _within(self, spelled: str, distance_max: int) -> Iterator[NearName]:
        found = process.extract(
            spelled.lower(),
            self._folded,
            scorer=OSA.distance,
            processor=None,
            score_cutoff=distance_max,
            limit=NEAR_MAX * 4,
        )
        for _, distance, at in found:
            name = self._names[at]
            if (
                ("." in spelled) == ("." in name)
                and _same_start(spelled, name)
                and _same_digits(spelled, name)
            ):
                yield NearName(int(distance), name in self._aside, OSA.distance(spelled, name), name)


def sure(spelled: str, near: Sequence[NearName]) -> str:
    """Returns the name that was meant; empty if the nearest is too far, or another one nearly as near."""
    if not near or near[0].distance > allowed(spelled, SURE_MAX):
        return ""
    if len(near[0].name) < len(spelled) <= SHORT_CHARS_MAX:
        return ""
    best, rivals = near[0], [one for one in near[1:] if one.name.lower() != near[0].name.lower()]
    # A name of tests alone is no rival of a name of source code.
    others = [one.distance for one in rivals if best.is_aside or not one.is_aside]
    gap = min(others, default=len(spelled)) - best.distance
    return best.name if gap >= SURE_GAP[min(best.distance, len(SURE_GAP) - 1)] else ""


def corrected_name(asked: SymbolName, near: Sequence[NearName]) -> str:
    """Returns the name that was meant, with the requested owner; empty if there is doubt."""
    meant = sure(asked.dotted, near).split(".")
    return ".".join([*asked.parts[: -len(meant)], *meant]) if meant != [""] else ""


def allowed(spelled: str, limits: Iterable[tuple[int, int]]) -> int:
    """Returns the distance allowed for the last component of a name of this length."""
    length = len(spelled.rpartition(".")[2])
    return next((distance for longest, distance in limits if length <= longest), 0)


def _same_start(spelled: str, name: str) -> bool:
    """Whether one of the first two letters agrees: few errors are in the first letter."""
    return bool(set(spelled[:2].lower()) & set(name[:2].lower()))


def _same_digits(spelled: str, name: str) -> bool:
    """Whether both have the same numbers: `part_7` is no typing error of `part_8`."""
    return DIGITS.findall(spelled) == DIGITS.findall(name)


def _alike_once(found: Iterable[NearName]) -> Iterator[NearName]:
    """Yields each name once in the spelling nearest to the requested one."""
    seen: set[str] = set()
    for one in found:
        if one.name.lower() not in seen:
            seen.add(one.name.lower())
            yield one
