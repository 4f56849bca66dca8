"""The symbols that differ between two refs: new and removed ones, and functions with another signature.

The graph of the second ref knows which symbols the changed lines are in. Outlines of both refs say what became of
them.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol
from prism_contracts.errors import PrismError
from prism_contracts.rpc.files import OUTLINE
from prism_contracts.rpc.graph import ChangedSymbol
from prism_gateway.console.page import Visit


class OutlinedPath(NamedTuple):
    """A file, and on which sides it is."""

    path: str
    is_before: bool
    is_after: bool


class FileOutlines(NamedTuple):
    """The functions and types of a file on both sides, by qualified name; None for a side that is not known."""

    before: Mapping[str, Symbol] | None
    after: Mapping[str, Symbol] | None


class SymbolChange(NamedTuple):
    """A symbol that changed, or code outside of symbols (`symbol` is empty)."""

    symbol: str
    path: str
    line: int
    used_by: int = 0
    is_new: bool = False
    has_new_signature: bool = False
    members: int = 0  # how many members were removed with a removed type


async def outlines_of(
    visit: Visit, name: str, files: Collection[OutlinedPath], before: str, after: str
) -> dict[str, FileOutlines]:
    """Returns the outlines of files at two refs, by path."""

    async def side(path: str, ref: str, *, is_there: bool) -> Mapping[str, Symbol] | None:
        if not is_there:
            return {}
        try:
            found = await visit.ask(OUTLINE, repo=name, ref=ref, path=path)
        except PrismError:
            return None
        shown = CALLABLE_KINDS | TYPE_KINDS
        return {one.qualified_name: one for one in found.symbols if one.kind in shown}

    sides = await asyncio.gather(
        *(side(file.path, before, is_there=file.is_before) for file in files),
        *(side(file.path, after, is_there=file.is_after) for file in files),
    )
    olds, news = sides[: len(files)], sides[len(files) :]
    return {file.path: FileOutlines(old, new) for file, old, new in zip(files, olds, news, strict=True)}


def changed_symbols(
    changed: Iterable[ChangedSymbol], outlines: Mapping[str, FileOutlines]
) -> list[SymbolChange]:
    """Returns what a page shows of the symbols that the graph finds in changed lines."""
    return [_change(one, outlines.get(one.node.file_path)) for one in changed]


def _change(one: ChangedSymbol, outlines: FileOutlines | None) -> SymbolChange:
    node, old, new = one.node, None, None
    before = outlines.before if outlines else None
    if outlines and before is not None:
        old, new = before.get(node.symbol), (outlines.after or {}).get(node.symbol)
    is_callable = node.kind in CALLABLE_KINDS
    return SymbolChange(
        node.symbol,
        node.file_path,
        node.line,
        one.used_by,
        is_new=before is not None and new is not None and old is None,
        has_new_signature=is_callable
        and (old.signature != new.signature if old and new else before is None and one.signature),
    )


def removed_symbols(outlines: Mapping[str, FileOutlines]) -> list[SymbolChange]:
    """Returns the functions and types that no compared file has at the second ref, by path and line.

    What is in a removed type is counted there, and not listed.
    """
    kept = {name for one in outlines.values() for name in one.after or ()}
    found = []
    for path, one in sorted(outlines.items()):
        if one.before is None or one.after is None:
            continue
        gone = {name: symbol for name, symbol in one.before.items() if name not in kept}
        members = Counter(outer for name in gone for outer in _outer_names(name))
        for name, symbol in sorted(gone.items(), key=lambda item: item[1].name_line):
            if not any(outer in gone for outer in _outer_names(name)):
                found.append(SymbolChange(name, path, symbol.name_line, members=members[name]))
    return found


def _outer_names(name: str) -> list[str]:
    """Returns the qualified names of what a symbol is in: `A` and `A.B` of `A.B.c`."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]
