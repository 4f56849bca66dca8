"""Reads an `impl` block of Rust from its text: the header, and the number of its lines."""

import re
from typing import NamedTuple

_IMPL = re.compile(r"(\s*)((?:unsafe\s+)?impl\b[^{]*?)\s*\{(\s*\}|[^\n]*\}[ \t]*(?=\n|\Z))?")


class ImplBlock(NamedTuple):
    """The header of a block on one line, and its lines with the header."""

    header: str
    rows: int


def read_block(text: str) -> ImplBlock | None:
    """Returns the block that begins with the text; None if none does, or if its end is not in the text.

    The end is a bracket below the first letter of the header, as rustfmt writes it.
    """
    found = _IMPL.match(text)
    if found is None:
        return None
    header = " ".join(found[2].split())
    if found[3] is not None:
        return ImplBlock(header, text.count("\n", 0, found.end()) + 1)
    end = re.compile(rf"^{re.escape(found[1])}\}}", re.MULTILINE).search(text, found.end())
    return ImplBlock(header, text.count("\n", 0, end.start()) + 1) if end else None
