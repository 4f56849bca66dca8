"""Chooses what of the places that were found fits into a budget of tokens.

The first places are shown with most of their lines, the others with their beginning: whoever reads the bundle
can open a file that it names, and cannot open one that it does not. So a further place of a file counts less.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prism_contracts.rpc.context import ContextItem
from prism_scribe.core.places import ContextPlace

# A token counts as four characters, as in every other answer.
CHARS_PER_TOKEN = 4
ITEM_CHARS = 60  # what an item costs besides its texts
FIRST_SHARE = 0.4  # share of the budget that goes to the first places
FIRST_CHARS_MAX = 1_600  # longest text of a first place
REST_CHARS_MAX = 240  # longest text of every other place
REPEATED_SHARE = 0.8  # factor on the score of each further place of a file
CHARS_MIN = 120  # less of a text says nothing


class Bundle(NamedTuple):
    """The chosen items, best first, and whether anything was left out or shortened."""

    items: tuple[ContextItem, ...]
    truncated: bool


def bundle(places: Sequence[ContextPlace], max_tokens: int) -> Bundle:
    """Returns the items that fit. At least one, if there is a place."""
    room = max_tokens * CHARS_PER_TOKEN
    first_room = int(room * FIRST_SHARE)
    items: list[ContextItem] = []
    truncated = False
    for place in _spread(places):
        is_first = first_room > 0
        limit = min(FIRST_CHARS_MAX, max(first_room, CHARS_MIN)) if is_first else REST_CHARS_MAX
        content = beginning(place.content, limit)
        cost = ITEM_CHARS + len(place.file_path) + len(place.symbol) + sum(map(len, place.why)) + len(content)
        if cost > room and items:
            return Bundle(tuple(items), truncated=True)
        room -= cost
        first_room -= cost
        truncated |= content != place.content
        items.append(place.item(content))
    return Bundle(tuple(items), truncated)


def beginning(text: str, chars_max: int) -> str:
    """Returns the whole lines at the beginning of a text that fit; a part of the first one if it does not."""
    if len(text) <= chars_max:
        return text
    line_end = text.rfind("\n", 0, chars_max + 1)
    return text[:line_end] if line_end > 0 else text[:chars_max]


def _spread(places: Sequence[ContextPlace]) -> Iterator[ContextPlace]:
    """Returns the places by score, each place of a file after others of it counting less than the one before."""
    counts: Counter[tuple[str, str]] = Counter()
    scored = []
    for place in places:
        file = (place.repo, place.file_path)
        scored.append((place.score * REPEATED_SHARE ** counts[file], place))
        counts[file] += 1
    yield from (place for _, place in sorted(scored, key=lambda one: -one[0]))
