"""Cuts names to the width of a box. Takes a text and a width in pixels, returns what fits; never measures a font.

Pictures use a monospaced font of 11 px, so that the width of a text is known without a browser.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

CHAR_PX: Final = 6.7
LINE_PX: Final = 14.0
PADDING_PX: Final = 8.0
ELLIPSIS: Final = "…"


def width_of(text: str) -> float:
    """Returns the width of a text in pixels."""
    return sum(map(_cells, text)) * CHAR_PX


def fitted(text: str, width_px: float) -> str:
    """Returns a text that fits into a width, with an ellipsis where it is cut; empty if nothing fits.

    Paths keep their last parts, because these distinguish them. Other names keep their beginning.
    """
    if width_of(text) <= width_px:
        return text
    room = int(width_px / CHAR_PX) - 1
    if room < 1:
        return ""
    if "/" in text:
        kept = _first(reversed(text), room)[::-1]
        part = kept.find("/")
        return ELLIPSIS + (kept[part:] if 0 <= part < len(kept) // 2 else kept)
    return _first(text, room) + ELLIPSIS


def _first(characters: Iterable[str], room: int) -> str:
    kept = ""
    for character in characters:
        room -= _cells(character)
        if room < 0:
            break
        kept += character
    return kept


def _cells(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
