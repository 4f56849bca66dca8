"""Symbols from nested definitions: kinds in context, headers, documentation, parents, visibility."""

from prism_chunker.core.comments import Leads, clean_string
from prism_chunker.core.definitions import MatchedDefinition
from prism_chunker.core.languages.table import Language
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.signatures import signature_of, without_comments
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Symbol, SymbolKind

_MODULES = frozenset({SymbolKind.MODULE, SymbolKind.NAMESPACE})
_METHOD_OWNERS = TYPE_KINDS - _MODULES
_CLASSES = frozenset({SymbolKind.CLASS, SymbolKind.STRUCT})
# Members of these are as public as their container, in a language that marks public names.
_OPEN_KINDS = frozenset({SymbolKind.TRAIT, SymbolKind.INTERFACE, SymbolKind.ENUM})


def find_symbols(language: Language, syntax: Syntax, nesting: Nesting, leads: Leads) -> tuple[Symbol, ...]:
    """Returns one symbol per kept definition, in the same order."""
    docs = _docs_inside(syntax, nesting)
    exports = _Exports(language, nesting)
    parents = _parents(nesting)
    source = without_comments(syntax)
    return tuple(
        Symbol(
            name=definition.name,
            qualified_name=nesting.paths[index],
            kind=_kind(definition, nesting, index, parents[index], language),
            start_line=_first_row(definition, nesting.outer[index], leads) + 1,
            end_line=definition.last_row + 1,
            name_line=definition.name_row + 1,
            signature=(signature := signature_of(source, definition)),
            docstring=docs.get(index) or _doc_above(definition, nesting.outer[index], leads),
            parent=parents[index],
            exported=exports.add(index, parents[index], signature),
            bodiless=_is_bodiless(definition, language),
        )
        for index, definition in enumerate(nesting.kept)
    )


def _is_bodiless(definition: MatchedDefinition, language: Language) -> bool:
    is_function = definition.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    return definition.bodiless or (language.c_family and is_function and not definition.body)


def _docs_inside(syntax: Syntax, nesting: Nesting) -> dict[int, str]:
    """Returns the documentation inside definitions, by the definition's position."""
    docs: dict[int, str] = {}
    for captures in syntax.matches_with("doc"):
        node = captures["doc"][0]
        text = syntax.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        docs.setdefault(nesting.around(node.start_byte), clean_string(text))
    return docs


def _parents(nesting: Nesting) -> list[int]:
    """Returns the enclosing symbol; for a method outside of its type, the type, if the file defines it."""
    types = {nesting.paths[i]: i for i, kept in enumerate(nesting.kept) if kept.kind in TYPE_KINDS}
    parents = list(nesting.parents)
    for index, definition in enumerate(nesting.kept):
        outer = nesting.outer[index]
        if definition.owner or (outer is not None and outer.kind is None):
            container = nesting.paths[index].removesuffix(definition.name).removesuffix(".")
            parents[index] = types.get(container, parents[index])
    return parents


def _kind(
    definition: MatchedDefinition, nesting: Nesting, index: int, parent: int, language: Language
) -> SymbolKind:
    kind = definition.kind or SymbolKind.FUNCTION
    if kind in CALLABLE_KINDS and definition.name == language.constructor:
        return SymbolKind.CONSTRUCTOR
    outer = nesting.outer[index]
    if kind in CALLABLE_KINDS and language.c_family and definition.name == _type_around(definition, outer):
        return SymbolKind.CONSTRUCTOR
    if kind is SymbolKind.FUNCTION and outer and (outer.kind is None or outer.kind in _METHOD_OWNERS):
        return SymbolKind.METHOD
    if (
        kind is SymbolKind.METHOD
        and definition.owner
        and parent >= 0
        and nesting.kept[parent].kind in _MODULES
    ):
        return SymbolKind.FUNCTION
    return kind


def _type_around(definition: MatchedDefinition, outer: MatchedDefinition | None) -> str:
    """Returns the name of the type that a member belongs to; empty without one."""
    if definition.owner:
        return definition.owner.rpartition(".")[2]
    return outer.name if outer is not None and outer.kind in _METHOD_OWNERS else ""


def _first_row(definition: MatchedDefinition, outer: MatchedDefinition | None, leads: Leads) -> int:
    return definition.first_row if _shares_row(definition, outer) else leads.first_row(definition.first_row)


def _doc_above(definition: MatchedDefinition, outer: MatchedDefinition | None, leads: Leads) -> str:
    return "" if _shares_row(definition, outer) else leads.text_above(definition.first_row)


def _shares_row(definition: MatchedDefinition, outer: MatchedDefinition | None) -> bool:
    """A comment above both belongs to the outer one."""
    return outer is not None and outer.first_row == definition.first_row


class _Exports:
    """Whether a symbol is usable from elsewhere, by the rules of its language."""

    def __init__(self, language: Language, nesting: Nesting) -> None:
        self._rule = language.exports
        self._nesting = nesting
        self._marked = language.exports.by_keyword and any(definition.exported for definition in nesting.kept)
        self._shown: list[bool] = []

    def add(self, index: int, parent: int, signature: str) -> bool:
        outer = self._nesting.outer[index]
        is_local = outer is not None and outer.kind in CALLABLE_KINDS
        shown = not is_local and self._is_shown(index, parent, signature)
        self._shown.append(shown)
        return shown

    def _is_shown(self, index: int, parent: int, signature: str) -> bool:
        rule, definition = self._rule, self._nesting.kept[index]
        if self._marked and parent < 0 and not definition.owner:
            return definition.exported
        if rule.private_name and rule.private_name.match(definition.name):
            return False
        if rule.private_header and rule.private_header.search(signature):
            return self._is_inside_type(index) and not rule.inside_types
        if rule.public_member and parent >= 0 and self._nesting.kept[parent].kind in _CLASSES:
            return rule.public_member.search(signature) is not None
        return rule.public_header is None or self._is_public(
            index, parent, rule.public_header.search(signature) is not None
        )

    def _is_inside_type(self, index: int) -> bool:
        outer = self._nesting.outer[index]
        return outer is not None and outer.kind in _METHOD_OWNERS

    def _is_public(self, index: int, parent: int, is_marked: bool) -> bool:
        outer = self._nesting.outer[index]
        if outer is not None and outer.kind is None and outer.exported:
            return True
        if 0 <= parent < index and self._nesting.kept[parent].kind in _OPEN_KINDS:
            return self._shown[parent]
        return is_marked
