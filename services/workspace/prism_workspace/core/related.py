"""Orders the documents that are related to one by their texts, and by the places of code that both name."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

# Reciprocal rank fusion, as in search.
RANK_OFFSET = 60


@dataclass(frozen=True)
class Shared:
    """The places that two documents name, the rarest first, and how much they tell."""

    places: tuple[str, ...]
    weight: float


def shared_places(named_by: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Shared]:
    """Returns what each document shares, from places and the other documents that name them.

    The fewer documents name a place, the more it counts.
    """
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for place, documents in named_by:
        for document in documents:
            found[document][place] = 1 / math.log2(1 + len(documents))
    return {
        document: Shared(tuple(sorted(places, key=lambda one: (-places[one], one))), sum(places.values()))
        for document, places in found.items()
    }


def ranked(similar: Sequence[str], shared: Mapping[str, Shared]) -> list[str]:
    """Returns the documents of both, the closest first. `similar` is in the order of similarity."""
    by_place = sorted(shared, key=lambda document: (-shared[document].weight, document))
    scores: defaultdict[str, float] = defaultdict(float)
    for order in (similar, by_place):
        for rank, document in enumerate(order, 1):
            scores[document] += 1 / (RANK_OFFSET + rank)
    return sorted(scores, key=lambda document: (-scores[document], document))
