"""From nested definitions to symbols: kinds in context, headers, documentation, parents, what is exported."""

from prism_chunker.core.comments import Leads, clean_string
from prism_chunker.core.definitions import Definition
from prism_chunker.core.languages.table import Language
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.signatures import signature_of
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind

_METHOD_OWNERS = TYPE_KINDS - {SymbolKind.MODULE, SymbolKind.NAMESPACE}


def find_symbols(language: Language, syntax: Syntax, nesting: Nesting, leads: Leads) -> tuple[Symbol, ...]:
    """One symbol a kept definition, in the same order."""
    docs = _docs(syntax, nesting)
    parents = _parents(nesting)
    marked = language.exports and any(definition.exported for definition in nesting.kept)
    symbols: list[Symbol] = []
    for index, definition in enumerate(nesting.kept):
        signature = signature_of(syntax.source, definition.start, definition.body, definition.end)
        outer = nesting.outer[index]
        shown = _is_shown(definition, signature, language, marked=marked and parents[index] < 0)
        symbols.append(
            Symbol(
                name=definition.name,
                qualified_name=nesting.paths[index],
                kind=_kind(definition, outer, language),
                start_line=leads.first_row(definition.first_row) + 1,
                end_line=definition.last_row + 1,
                name_line=definition.name_row + 1,
                signature=signature,
                docstring=docs.get(index) or leads.text_above(definition.first_row),
                parent=parents[index],
                exported=shown and (outer is None or outer.kind not in CALLABLE_KINDS),
            )
        )
    return tuple(symbols)


def _docs(syntax: Syntax, nesting: Nesting) -> dict[int, str]:
    """Documentation that stands inside a definition, by its position."""
    docs: dict[int, str] = {}
    for _, captures in syntax.matches:
        for node in captures.get("doc", ()):
            text = syntax.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
            docs.setdefault(nesting.around(node.start_byte), clean_string(text))
    return docs


def _parents(nesting: Nesting) -> list[int]:
    """The enclosing symbol; for a method written outside of its type, the type, if the file defines it."""
    types = {nesting.paths[i]: i for i, kept in enumerate(nesting.kept) if kept.kind in TYPE_KINDS}
    parents = list(nesting.parents)
    for index, definition in enumerate(nesting.kept):
        outer = nesting.outer[index]
        if definition.owner or (outer is not None and outer.kind is None):
            container = nesting.paths[index].removesuffix(definition.name).removesuffix(".")
            parents[index] = types.get(container, parents[index])
    return parents


def _kind(definition: Definition, outer: Definition | None, language: Language) -> SymbolKind:
    kind = definition.kind or SymbolKind.FUNCTION
    if kind in CALLABLE_KINDS and definition.name == language.constructor:
        return SymbolKind.CONSTRUCTOR
    if (
        kind is SymbolKind.FUNCTION
        and outer is not None
        and (outer.kind is None or outer.kind in _METHOD_OWNERS)
    ):
        return SymbolKind.METHOD
    return kind


def _is_shown(definition: Definition, signature: str, language: Language, *, marked: bool) -> bool:
    if marked:
        return definition.exported
    if language.private_name and language.private_name.match(definition.name):
        return False
    if language.private_header and language.private_header.search(signature):
        return False
    return not language.public_header or bool(language.public_header.search(signature))
