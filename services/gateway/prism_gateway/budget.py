"""How an answer fits into `max_tokens`: long texts are shortened first, then the last results go.

Tokens are counted as four characters each, which is close for code and costs nothing to count.
"""

from collections.abc import Sequence
from typing import NamedTuple

CHARS_PER_TOKEN = 4
TOKENS_MIN = 100
TOKENS_MAX = 100_000


class Fit(NamedTuple):
    """How many items stay, and the number of characters that each text may have."""

    kept: int
    text_chars_max: int


def chars(max_tokens: int) -> int:
    """The budget in characters."""
    return max_tokens * CHARS_PER_TOKEN


def fit(texts: Sequence[int], overheads: Sequence[int], budget: int, text_floor: int) -> Fit:
    """Fit items into a budget of characters.

    `texts` are the lengths of what can be shortened, down to `text_floor`; `overheads` the lengths of the rest.
    At least one item stays. The cap is the highest at which everything that stays fits.
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
    """The cap at which the lengths, each cut to it, add up to `room`: short ones leave their share to long ones."""
    for index, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - index)
        if length > share:
            return share
        room -= length
    return max(lengths, default=0)


def cut(text: str, chars_max: int) -> tuple[str, int]:
    """The head of a text, at a line end where one is near, and how many of its lines are left out."""
    if len(text) <= chars_max:
        return text, 0
    line_end = text.rfind("\n", 0, chars_max + 1)
    head = text[:line_end] if line_end > chars_max // 2 else text[:chars_max]
    return head, text.rstrip("\n").count("\n") - head.count("\n")
