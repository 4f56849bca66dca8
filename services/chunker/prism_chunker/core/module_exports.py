"""Names of what a file of JavaScript or TypeScript assigns to modules, prototypes and `this`.

`module.exports = function () {}` and `export default class {}` define a symbol. Its name is its own (`function depot`),
or else that of the file; of the folder for an `index.js`. What is added to it (`module.exports.open = …`) is a
member of `exports`. `Depot.prototype.open = …` and `this.open = …` define methods of Depot.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from prism_chunker.core.model import ParsedFile
from prism_chunker.core.references import EXPORTS
from prism_contracts.code import (
    CALLABLE_KINDS,
    TYPE_KINDS,
    Binding,
    Reference,
    ReferenceKind,
    Symbol,
    SymbolKind,
)

LANGUAGES = frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "astro"})

MODULE_EXPORTS, DEFAULT = "module.exports", "default"
_WHOLE = frozenset({MODULE_EXPORTS, DEFAULT})
_OWN_NAME = re.compile(
    r"(?:=|\bdefault)\s*(?:async\s+)?(?:function\b\s*\*?|class\b)\s*(?!extends\b)([A-Za-z_$][\w$]*)"
)
_INDEX = "index"
# `const Depot = module.exports = class {}`
_NAMED_BEFORE = re.compile(r"=\s*module\.exports\s*=")
# The owner of members that a constructor's instances have, and of those of the object itself.
_PROTOTYPE, _THIS = "prototype", "this"


def name_exports(path: str, outline: ParsedFile) -> ParsedFile:
    """Returns the outline of a file with names for the symbols that it exports as a whole, for members of
    its exports, and for methods that it assigns to prototypes and to `this`.
    """
    whole = {
        position: _name(symbol, path) for position, symbol in enumerate(outline.symbols) if _is_whole(symbol)
    }
    symbols = tuple(_renamed(outline, whole))
    return replace(
        outline,
        symbols=symbols,
        references=tuple(_references(outline.references, symbols)),
        bindings=(*outline.bindings, *_bindings(outline, whole)) if whole else outline.bindings,
    )


def _is_whole(symbol: Symbol) -> bool:
    if symbol.kind not in CALLABLE_KINDS | TYPE_KINDS or symbol.parent >= 0:
        return False
    return symbol.qualified_name in _WHOLE or _NAMED_BEFORE.search(symbol.signature) is not None


def _name(symbol: Symbol, path: str) -> str:
    if symbol.qualified_name not in _WHOLE:
        return symbol.name
    if own := _OWN_NAME.search(symbol.signature):
        return own[1]
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == _INDEX and folder else stem or file


def _renamed(outline: ParsedFile, whole: Mapping[int, str]) -> Iterator[Symbol]:
    renamed: list[Symbol] = []
    objects = dict(_objects(outline))
    for position, symbol in enumerate(outline.symbols):
        outer = renamed[symbol.parent] if 0 <= symbol.parent < position else None
        if position in whole:
            found = _whole(symbol, whole[position])
        else:
            found = _member(symbol, outline.symbols, outer, objects)
        renamed.append(found)
        yield found


def _whole(symbol: Symbol, name: str) -> Symbol:
    return symbol.model_copy(update={"name": name, "qualified_name": name})


def _objects(outline: ParsedFile) -> Iterator[tuple[str, list[str]]]:
    """Yields the variables that are a prototype or the module's exports, with what they are: `const proto =
    Depot.prototype`.
    """
    for reference in outline.references:
        if reference.kind is ReferenceKind.ALIAS and reference.name in {_PROTOTYPE, EXPORTS}:
            name = outline.symbols[reference.symbol].qualified_name if reference.symbol >= 0 else ""
            if name and "." not in name and not reference.alias:
                path = f"{reference.qualifier}.{reference.name}" if reference.qualifier else reference.name
                yield name, path.split(".")


def _member(
    symbol: Symbol,
    symbols: tuple[Symbol, ...],
    outer: Symbol | None,
    objects: Mapping[str, list[str]],
) -> Symbol:
    """Returns a symbol under the name of the object that it is a member of."""
    before = symbols[symbol.parent].qualified_name if outer else ""
    name = symbol.qualified_name
    if outer and name.startswith(f"{before}."):
        owner = name[len(before) + 1 : len(name) - len(symbol.name)].rstrip(".")
    else:
        outer, owner = None, name[: len(name) - len(symbol.name)].rstrip(".")
    parts = list(filter(None, owner.split(".")))
    if parts and outer is None:
        parts = [*objects.get(parts[0], parts[:1]), *parts[1:]]
    is_exported = parts[:2] == MODULE_EXPORTS.split(".") or parts[:1] == [EXPORTS]
    is_member = _PROTOTYPE in parts or parts[:1] == [_THIS]
    if outer is None and (not parts or parts[0] == _THIS):
        return symbol
    if is_exported:
        inside, parts = "", [EXPORTS, *parts[1 + (parts[0] != EXPORTS) :]]
    elif parts[:1] == [_THIS] and outer:
        inside, parts = _object_of(outer), parts[1:]
    else:
        inside = outer.qualified_name if outer else ""
    parts = [part for part in parts if part != _PROTOTYPE]
    changes: dict[str, object] = {"qualified_name": ".".join(filter(None, (inside, *parts, symbol.name)))}
    if is_member and symbol.kind is SymbolKind.FUNCTION:
        changes["kind"] = SymbolKind.METHOD
    if is_exported:
        changes["exported"] = True
    return symbol.model_copy(update=changes)


def _object_of(outer: Symbol) -> str:
    """Returns the object that `this` is in a function: what owns it, or the function, which makes objects."""
    is_method = outer.kind in {SymbolKind.METHOD, SymbolKind.CONSTRUCTOR}
    return outer.qualified_name.rpartition(".")[0] if is_method else outer.qualified_name


def _references(references: tuple[Reference, ...], symbols: tuple[Symbol, ...]) -> Iterator[Reference]:
    """Yields the references with what they export as a member of `exports`, and what they inherit in the heir."""
    positions: dict[str, int] = {}
    for position, symbol in enumerate(symbols):
        positions.setdefault(symbol.qualified_name, position)
    for reference in references:
        alias = reference.alias
        if reference.kind is ReferenceKind.EXTENDS and alias:
            heir = positions.get(alias.removesuffix(f".{_PROTOTYPE}"), -1)
            kind = ReferenceKind.EXTENDS if heir >= 0 else ReferenceKind.VALUE
            at = heir if heir >= 0 else reference.symbol
            yield msgspec.structs.replace(reference, kind=kind, symbol=at, alias="")
        elif alias.startswith(f"{MODULE_EXPORTS}."):
            yield msgspec.structs.replace(reference, alias=alias.removeprefix("module."))
        else:
            yield reference


def _bindings(outline: ParsedFile, whole: Mapping[int, str]) -> Iterator[Binding]:
    """Yields what the module is, for those that import it."""
    for position, name in whole.items():
        symbol = outline.symbols[position]
        exported = symbol.qualified_name if symbol.qualified_name in _WHOLE else MODULE_EXPORTS
        yield Binding(name=exported, line=symbol.name_line, type=name)
