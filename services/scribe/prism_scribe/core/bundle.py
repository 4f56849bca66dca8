"""Chooses what of the places that were found fits into a budget of tokens.

The first places are shown with most of their lines, the others with the few lines that have most words of the
question: whoever reads the bundle can open a file that it names, and cannot open one that it does not. So a
further place of a file counts less.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from prism_contracts.rpc.context import ContextItem
from prism_scribe.core.places import ContextPlace
from prism_scribe.core.questions import stem

# A token counts as four characters, as in every other answer.
CHARS_PER_TOKEN = 4
ITEM_CHARS = 60  # what an item costs besides its texts
# The first places get their beginning, up to the first share of the budget. The others get their best lines: the
# next ones more, until the second share is spent.
FIRST_SHARE, FIRST_CHARS_MAX = 0.4, 1_600
NEXT_SHARE, NEXT_CHARS_MAX = 0.7, 240
REST_CHARS_MAX = 80
REPEATED_SHARE = 0.8  # factor on the score of each further place of a file
CHARS_MIN = 120  # less of a text says nothing


class Bundle(NamedTuple):
    """The chosen items, best first, and whether anything was left out or shortened."""

    items: tuple[ContextItem, ...]
    truncated: bool


def bundle(places: Sequence[ContextPlace], words: Sequence[str], max_tokens: int) -> Bundle:
    """Returns the items that fit. At least one, if there is a place. `words` are those of the question."""
    budget, stems = max_tokens * CHARS_PER_TOKEN, {stem(word) for word in words}
    used = 0
    items: list[ContextItem] = []
    truncated = False
    for place in _spread(places):
        if (first_room := int(budget * FIRST_SHARE) - used) > 0:
            skipped = 0
            content = beginning(place.content, min(FIRST_CHARS_MAX, max(first_room, CHARS_MIN)))
        else:
            limit = NEXT_CHARS_MAX if used < budget * NEXT_SHARE else REST_CHARS_MAX
            skipped, content = best_lines(place.content, stems, limit)
        cost = ITEM_CHARS + len(place.file_path) + len(place.symbol) + sum(map(len, place.why)) + len(content)
        if used + cost > budget and items:
            return Bundle(tuple(items), truncated=True)
        used += cost
        truncated |= content != place.content
        items.append(place.item(content, skipped))
    return Bundle(tuple(items), truncated)


def beginning(text: str, chars_max: int) -> str:
    """Returns the whole lines at the beginning of a text that fit; a part of the first one if it does not."""
    if len(text) <= chars_max:
        return text
    line_end = text.rfind("\n", 0, chars_max + 1)
    return text[:line_end] if line_end > 0 else text[:chars_max]


def best_lines(text: str, stems: Collection[str], chars_max: int) -> tuple[int, str]:
    """Returns the lines in a row that have most of the words, and how many lines are before them.

    The first ones of several that have as many; so the beginning, if no line has one.
    """
    if len(text) <= chars_max:
        return 0, text
    lines = text.split("\n")
    found = [{word for word in stems if word in line.lower()} for line in lines]
    best, begin = 0, 0
    for first in range(len(lines)):
        room, words = chars_max + 1, set[str]()  # the last line needs no line end
        for line, has in zip(lines[first:], found[first:], strict=True):
            room -= len(line) + 1
            if room < 0:
                break
            words |= has
        if len(words) > best:
            best, begin = len(words), first
    return begin, beginning("\n".join(lines[begin:]), chars_max)


def _spread(places: Sequence[ContextPlace]) -> Iterator[ContextPlace]:
    """Returns the places by score, each place of a file after others of it counting less than the one before."""
    counts: Counter[tuple[str, str]] = Counter()
    scored = []
    for place in places:
        file = (place.repo, place.file_path)
        scored.append((place.score * REPEATED_SHARE ** counts[file], place))
        counts[file] += 1
    yield from (place for _, place in sorted(scored, key=lambda one: -one[0]))
