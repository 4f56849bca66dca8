"""From the matches of a query to uses: references that name a type, or give a value on without calling it.

Most identifiers of a file are variables of a function, which nobody asks for. Kept is what the file defines or imports, and,
where files see each other's names without importing them, what no variable of the file is called.
"""

import re
from collections.abc import Collection, Iterator
from operator import attrgetter

from tree_sitter import Node

from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import WILDCARD, Names, head_of, text_of
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Syntax
from prism_chunker.core.references import KINDS, QUALIFIER_CHARS_MAX
from prism_contracts.code import CALLABLE_KINDS, Binding, Reference, ReferenceKind

_USES = {"use": ReferenceKind.TYPE, "value": ReferenceKind.VALUE}
_OWN_OBJECTS = frozenset({"self", "this", "cls", "$this"})
_MEMBER = re.compile(r"(?:(.*?)\s*(?:[?!]?\.|\??->|::|\\))?\s*([\w$]+)", re.DOTALL)
# Names of types, and of values, that languages bring along without a word of their own for them.
_BUILT_IN = frozenset(
    {
        "Any", "Bool", "Boolean", "Byte", "Char", "Character", "Double", "Float", "Int", "Integer", "Long", "NULL", "Nothing", "Object",
        "Self", "Short", "String", "Unit", "Void", "any", "bool", "byte", "char", "comparable", "complex128", "complex64", "double",
        "error", "false", "float", "float32", "float64", "int", "int16", "int32", "int64", "int8", "iota", "long", "nil", "nullptr",
        "object", "rune", "self", "short", "size_t", "string", "super", "this", "true", "uint", "uint16", "uint32", "uint64", "uint8",
        "uintptr", "undefined", "void",
    }
)  # fmt: skip


def find_uses(syntax: Syntax, nesting: Nesting, scopes: "Scopes", uses_max: int) -> list[Reference]:
    """The uses that are worth keeping, in order of lines, none where another reference stands."""
    found: list[Reference] = []
    for kind, node in _places(syntax, nesting):
        symbol = nesting.around(node.start_byte)
        use = _MEMBER.fullmatch(text_of(node, syntax.source))
        if use and scopes.may_mean(use[1] or "", use[2], symbol):
            found.append(
                Reference(
                    name=use[2],
                    kind=kind,
                    line=node.end_point[0] + 1,
                    symbol=symbol,
                    qualifier=(use[1] or "")[:QUALIFIER_CHARS_MAX],
                )
            )
        if len(found) >= uses_max:
            break
    return sorted(found, key=attrgetter("line"))


def _places(syntax: Syntax, nesting: Nesting) -> Iterator[tuple[ReferenceKind, Node]]:
    """What is used and nothing else, by where its name ends; a type rather than a value."""
    uses: dict[int, tuple[ReferenceKind, Node]] = {}
    others: set[int] = set()
    for _, captures in syntax.matches:
        for key, nodes in captures.items():
            if key in KINDS:
                others.add(nodes[0].end_byte)
            elif key == "use" or (key == "value" and nodes[0].end_byte not in uses):
                uses[nodes[0].end_byte] = _USES[key], nodes[0]
    definitions = {definition.name_start for definition in nesting.kept}
    for end, (kind, node) in uses.items():
        if end not in others and node.start_byte not in definitions:
            yield kind, node


class Scopes:
    """Tells which names of a file may mean something beyond the function that they stand in."""

    def __init__(
        self,
        language: Language,
        nesting: Nesting,
        names: Names,
        bindings: Collection[Binding],
        variables: Collection[str],
    ) -> None:
        self._names = names
        self._variables = variables
        self._nesting = nesting
        self._sees_others = language.shares_names or WILDCARD in names.imported
        self._locals = {
            (binding.symbol, binding.name)
            for binding in bindings
            if binding.symbol >= 0 and nesting.kept[binding.symbol].kind in CALLABLE_KINDS
        }

    def may_mean(self, qualifier: str, name: str, symbol: int) -> bool:
        """Whether a name, with what stands before its last dot, is worth a reference in a symbol."""
        head = head_of(qualifier) or name
        if head in _OWN_OBJECTS or qualifier.startswith("@"):
            return name in self._names.members
        if self._names.is_known(head):
            return not self._is_local(head, symbol)
        return self._sees_others and head not in self._variables and head not in _BUILT_IN

    def _is_local(self, name: str, symbol: int) -> bool:
        while symbol >= 0:
            if (symbol, name) in self._locals:
                return True
            symbol = self._nesting.parents[symbol]
        return False
