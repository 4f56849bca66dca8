"""Names of what a file of JavaScript or TypeScript exports as a whole.

`module.exports = function () {}` and `export default class {}` define a symbol. Its name is its own (`function depot`),
or else that of the file; of the folder for an `index.js`. What is added to it (`module.exports.open = …`) is a
member of `exports`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from prism_chunker.core.model import ParsedFile
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Binding, Symbol

LANGUAGES = frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "astro"})

MODULE_EXPORTS, DEFAULT, EXPORTS = "module.exports", "default", "exports"
_WHOLE = frozenset({MODULE_EXPORTS, DEFAULT})
_OWN_NAME = re.compile(
    r"(?:=|\bdefault)\s*(?:async\s+)?(?:function\b\s*\*?|class\b)\s*(?!extends\b)([A-Za-z_$][\w$]*)"
)
_INDEX = "index"
# `const Depot = module.exports = class {}`
_NAMED_BEFORE = re.compile(r"=\s*module\.exports\s*=")


def name_exports(path: str, outline: ParsedFile) -> ParsedFile:
    """Returns the outline of a file with names for the symbols that it exports as a whole."""
    whole = {
        position: _name(symbol, path) for position, symbol in enumerate(outline.symbols) if _is_whole(symbol)
    }
    symbols = tuple(_renamed(outline.symbols, whole))
    return replace(
        outline,
        symbols=symbols,
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


def _renamed(symbols: tuple[Symbol, ...], whole: Mapping[int, str]) -> Iterator[Symbol]:
    for position, symbol in enumerate(symbols):
        root = position
        while symbols[root].parent >= 0:
            root = symbols[root].parent
        head = next((one for one in _WHOLE if f"{symbol.qualified_name}.".startswith(f"{one}.")), "")
        rest = symbol.qualified_name[len(head) :]
        if position in whole:
            yield symbol.model_copy(update={"name": whole[position], "qualified_name": whole[position]})
        elif head and root in whole:
            yield symbol.model_copy(update={"qualified_name": f"{whole[root]}{rest}"})
        elif head == MODULE_EXPORTS and rest:
            yield symbol.model_copy(update={"qualified_name": f"{EXPORTS}{rest}"})
        else:
            yield symbol


def _bindings(outline: ParsedFile, whole: Mapping[int, str]) -> Iterator[Binding]:
    """Yields what the module is, for those that import it."""
    for position, name in whole.items():
        symbol = outline.symbols[position]
        exported = symbol.qualified_name if symbol.qualified_name in _WHOLE else MODULE_EXPORTS
        yield Binding(name=exported, line=symbol.name_line, type=name)
