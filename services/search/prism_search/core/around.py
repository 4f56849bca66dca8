"""Finds the symbols of a range of lines: the one around it, and those that it contains or cuts."""

from collections.abc import Iterable
from typing import NamedTuple

from prism_contracts.rpc.common import EnclosingSymbol

TOP_LEVEL = EnclosingSymbol(name="")


class SymbolsAround(NamedTuple):
    """The smallest symbol around some lines, and the symbols in it that the lines touch."""

    enclosing: EnclosingSymbol
    touched: tuple[EnclosingSymbol, ...]


def symbols_around(symbols: Iterable[EnclosingSymbol], first: int, last: int) -> SymbolsAround:
    """Returns the smallest symbol around all lines of a range, and the largest of those that the range touches."""
    touching = [one for one in symbols if one.start_line <= last and first <= one.end_line]
    around = [one for one in touching if one.start_line <= first and last <= one.end_line]
    within: list[EnclosingSymbol] = []
    for one in sorted(touching, key=lambda one: (one.start_line, -one.end_line)):
        if one not in around and (not within or one.end_line > within[-1].end_line):
            within.append(one)
    smallest = min(
        around, key=lambda one: (one.end_line - one.start_line, -one.start_line), default=TOP_LEVEL
    )
    return SymbolsAround(smallest, tuple(within))
