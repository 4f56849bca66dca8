"""Members that override others: a call to the overridden one may run them instead.

inheritance edges ▶ all supertypes of each type ▶ members with the name of a supertype's member
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import (
    EDGE_KINDS,
    NONE,
    SYMBOL_KINDS,
    Codes,
    Numbers,
    StringTable,
    SymbolTable,
)
from prism_atlas.core.rows import order_by
from prism_contracts.code import EdgeKind, SymbolKind
from prism_resolver.parameters import OVERLOADS, count

# Longest chain of supertypes that is followed.
HEIGHT_MAX = 20

OVERRIDABLE = np.isin(SYMBOL_KINDS, [SymbolKind.METHOD, SymbolKind.FUNCTION, SymbolKind.PROPERTY])
INHERITS = np.isin(EDGE_KINDS, [EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS])
# Constructors: creating an object of a supertype never runs those of a subtype.
CONSTRUCTOR_NAMES = frozenset(
    {"__init__", "__new__", "__post_init__", "constructor", "initialize", "init", "new"}
)

Keys = NDArray[np.int64]


class Pairs(NamedTuple):
    """Distinct pairs of nodes. The status is that of the least certain edge between them."""

    below: Numbers
    above: Numbers
    status: Codes

    def at(self, positions: NDArray[Any]) -> "Pairs":
        """Returns a selection of the pairs."""
        return Pairs(self.below[positions], self.above[positions], self.status[positions])

    def without(self, others: NDArray[np.int32]) -> "Pairs":
        """Returns all pairs except these; `others` has the nodes in its first two columns."""
        is_there = np.isin(_key(self.below, self.above), _key(others[:, 0], others[:, 1]))
        return self.at(np.flatnonzero(~is_there))


def parameter_counts(strings: StringTable, files: Numbers, contract: Numbers, languages: Numbers) -> Numbers:
    """Returns the number of parameters of each symbol where names are overloaded; NONE elsewhere, or if unknown."""
    has_overloads = [strings[language] in OVERLOADS for language in languages.tolist()]
    if not any(has_overloads):
        return np.full(len(files), NONE, np.int32)
    distinct, position = np.unique(contract, return_inverse=True)
    texts = (strings[one] for one in distinct.tolist())
    counts = np.array([count(text) if text.startswith("(") else NONE for text in texts], np.int32)
    return np.where(np.array(has_overloads, np.bool_)[files], counts[position], NONE).astype(np.int32)


def overriding(symbols: SymbolTable, constructors: Numbers, inheriting: Pairs, counts: Numbers) -> Pairs:
    """Returns members with the members that they override in any supertype.

    `constructors` are the strings of names to leave out, `counts` as `parameter_counts` returns them: a function
    overrides none with another number of parameters, and of several with as many the one whose types are equal.
    """
    lines = _closure(inheriting, len(symbols))
    members = np.flatnonzero(
        OVERRIDABLE[symbols.kind] & (symbols.parent >= 0) & ~np.isin(symbols.name, constructors)
    )
    members = members[order_by(symbols.parent[members])]
    parents, names = symbols.parent[members], symbols.name[members]
    line, member = _join(lines.below, parents)
    below = members[member]
    wanted = _key(lines.above[line], symbols.name[below])
    order = order_by(parents, names)
    match, found = _join(wanted, _key(parents, names)[order])
    kept = _fitting(symbols, below[match], members[order[found]], counts)
    match, found = match[kept], found[kept]
    return Pairs(
        below[match].astype(np.int32),
        members[order[found]].astype(np.int32),
        lines.status[line[match]],
    )


def _fitting(
    symbols: SymbolTable, below: NDArray[np.integer], above: NDArray[np.integer], counts: Numbers
) -> NDArray[np.bool_]:
    """Returns by pair of members of one name whether their parameters let the first override the second."""
    one, other = counts[below], counts[above]
    fits: NDArray[np.bool_] = (one == NONE) | (other == NONE) | (one == other)
    is_equal = (one != NONE) & (symbols.contract[below] == symbols.contract[above])
    from_one, to_other = _key(below, symbols.parent[above]), _key(above, symbols.parent[below])
    has_equal = np.isin(from_one, from_one[is_equal]) | np.isin(to_other, to_other[is_equal])
    is_best: NDArray[np.bool_] = fits & (is_equal | ~has_equal)
    return is_best


def _closure(direct: Pairs, symbols: int) -> Pairs:
    """Returns the transitive closure: all pairs of a type and a supertype."""
    direct = direct.at(np.argsort(direct.below, kind="stable"))
    known = _distinct(direct)
    for _ in range(HEIGHT_MAX):
        first, then = _join(known.above, direct.below)
        longer = _distinct(
            Pairs(
                np.concatenate([known.below, known.below[first]]),
                np.concatenate([known.above, direct.above[then]]),
                np.concatenate([known.status, np.maximum(known.status[first], direct.status[then])]),
            )
        )
        if np.array_equal(longer.status, known.status):
            break
        known = longer
    proper = (known.below != known.above) & (known.below < symbols) & (known.above < symbols)
    return known.at(proper)


def _distinct(pairs: Pairs) -> Pairs:
    """Returns each pair once, with its most certain status."""
    pairs = pairs.at(np.lexsort((pairs.status, pairs.above, pairs.below)))
    _, first = np.unique(_key(pairs.below, pairs.above), return_index=True)
    return pairs.at(first)


def _join(wanted: NDArray[np.integer], ordered: NDArray[np.integer]) -> tuple[Keys, Keys]:
    """Returns positions in `wanted` and in `ordered` (ascending) with equal values."""
    starts, ends = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    counts = ends - starts
    left = np.repeat(np.arange(len(wanted)), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    return left, starts[left] + within


def _key(high: NDArray[np.integer], low: NDArray[np.integer]) -> Keys:
    return (high.astype(np.int64) << 32) | low
