"""Fits an answer into `max_tokens`: long texts are shortened first, then the last results are dropped.

A token counts as four characters, which is close for code and costs nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

CHARS_PER_TOKEN = 4
TOKENS_MIN = 100
TOKENS_MAX = 100_000


class Fit(NamedTuple):
    """The number of items to keep, and the longest length of their texts."""

    kept: int
    text_chars_max: int


def chars(max_tokens: int) -> int:
    """Returns the budget in characters."""
    return max_tokens * CHARS_PER_TOKEN


def fit(texts: Sequence[int], overheads: Sequence[int], budget: int, text_floor: int) -> Fit:
    """Fit items into a budget of characters.

    `texts` are the lengths of the texts, which can be shortened down to `text_floor`; `overheads` are the
    lengths of the rest. Keeps at least one item. The cap is the highest at which all kept items fit.
    """
    if sum(texts) + sum(overheads) <= budget:
        return Fit(len(texts), max(texts, default=0))
    kept = _count(texts, overheads, budget, text_floor)
    room = budget - sum(overheads[:kept])
    return Fit(kept, max(_level(texts[:kept], room), text_floor))


def _count(texts: Sequence[int], overheads: Sequence[int], budget: int, text_floor: int) -> int:
    used = 0
    for index, (text, overhead) in enumerate(zip(texts, overheads, strict=True)):
        used += min(text, text_floor) + overhead
        if used > budget:
            return max(index, 1)
    return len(texts)


def _level(lengths: Sequence[int], room: int) -> int:
    """Returns the cap at which the capped lengths add up to `room`: short texts leave their share to long
    ones.
    """
    for index, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - index)
        if length > share:
            return share
        room -= length
    return max(lengths, default=0)


def cut(text: str, chars_max: int) -> tuple[str, int]:
    """Returns the beginning of a text, cut at a nearby line end, and the number of lines left out."""
    if len(text) <= chars_max:
        return text, 0
    line_end = text.rfind("\n", 0, chars_max + 1)
    head = text[:line_end] if line_end > chars_max // 2 else text[:chars_max]
    return head, text.rstrip("\n").count("\n") - head.count("\n")
