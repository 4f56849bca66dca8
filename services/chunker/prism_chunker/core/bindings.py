"""From the matches of a query to bindings: what variables, parameters and fields are declared or made to be.

Most variables of a file tell nobody anything. Kept is what a member is looked for in, here or in another file: fields, what
the top level defines, variables that stand before a dot. And what hides another meaning of its name.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from tree_sitter import Node

from prism_chunker.core.languages.table import Language
from prism_chunker.core.names import Names, text_of
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_chunker.core.type_names import type_name
from prism_contracts.code import Binding, SymbolKind

CALLEE_CHARS_MAX = 80
# Expressions around a call that are looked through.
WRAPPERS_MAX = 8

# Where a node that makes a value says what is called.
_CALLEES = {"call": "function", "call_expression": "function", "new_expression": "constructor"}
# What gives on the value of an expression inside of it, its last part: of `depot or Depot()` both are meant to be alike.
_WRAPPERS = frozenset(
    {"await", "await_expression", "parenthesized_expression", "non_null_expression", "boolean_operator", "binary_expression"}
)  # fmt: skip
_NOTHING = frozenset({"none", "null", "nil", "undefined"})
_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.PROPERTY})
_CALLEE = re.compile(r"[\w.:$@>?!-]+")
# The object that a method belongs to, before a member.
_OWN_OBJECT = re.compile(r"(?:\$this|this|self|cls)(?:\?|!)?(?:\.|->)|@")


class Variable(NamedTuple):
    """A name where it is given a value or a type, with what the query captured there."""

    node: Node
    captures: Captures


Variables = Mapping[str, Sequence[Variable]]


def find_variables(language: Language, syntax: Syntax) -> Variables:
    """All variables by the name of their bindings. Of two patterns that match one, the one that says more wins."""
    found: dict[tuple[int, str], Variable] = {}
    imported: set[int] = set()
    for _, captures in syntax.matches:
        for key in ("bound", "member", "returned"):
            if key in captures:
                node = captures[key][0]
                known = found.get((node.start_byte, key))
                if known is None or _said(known.captures) < _said(captures):
                    found[node.start_byte, key] = Variable(node, captures)
        if "alias" in captures or "import" in captures:
            imported.add((captures.get("alias") or captures["import"])[0].start_byte)
    variables: dict[str, list[Variable]] = defaultdict(list)
    for (start, key), variable in found.items():
        if start not in imported:  # `const fs = require("fs")`
            variables[_name(language, key, text_of(variable.node, syntax.source))].append(variable)
    return variables


def _said(captures: Captures) -> tuple[bool, int]:
    return "declared" in captures, len(captures)


def _name(language: Language, key: str, text: str) -> str:
    if key == "returned":
        return ""
    if key == "member":
        return f"{language.own_object}.{text}"
    own = _OWN_OBJECT.match(text)
    return f"{language.own_object}.{text[own.end() :]}" if own else text


class BindingReader:
    """Turns the variables of a file into bindings."""

    def __init__(self, language: Language, syntax: Syntax, nesting: Nesting, variables: Variables) -> None:
        self._own = f"{language.own_object}."
        self._source = syntax.source
        self._nesting = nesting
        self._variables = variables
        self._definitions = {definition.name_start: at for at, definition in enumerate(nesting.kept)}
        self._generics = {
            text_of(captures["generic"][0], syntax.source)
            for _, captures in syntax.matches
            if "generic" in captures
        }

    def read(self, names: Names, bindings_max: int) -> tuple[Binding, ...]:
        """The bindings worth keeping, in order of lines."""
        kept: list[Binding] = []
        for name in self._variables:
            is_known = names.is_known(name)
            if is_known or not name or name in names.objects or name.startswith(self._own):
                kept += self._of_name(name, is_known=is_known)
            if len(kept) >= bindings_max:
                break
        return tuple(sorted(kept[:bindings_max], key=attrgetter("line")))

    def _of_name(self, name: str, *, is_known: bool) -> list[Binding]:
        """What a name is bound to. Where that says nothing it is worth knowing if it hides what the name means elsewhere."""
        read = [self._binding(name, variable) for variable in self._variables[name]]
        says = [binding for binding in read if binding is not None and (binding.type or binding.made_by)]
        if not name or not (says or is_known):
            return says
        return [binding for binding in read if binding is not None]

    def _binding(self, name: str, variable: Variable) -> Binding | None:
        """The binding, or None where a name is defined without a word about its type, or made to be nothing."""
        node, captures = variable
        own = self._definitions.get(node.start_byte)
        if own is None:
            symbol = self._nesting.around(node.start_byte)
        elif self._nesting.kept[own].kind in _FIELDS and "member" not in captures:
            return None
        else:
            symbol = self._nesting.parents[own]
        type_, made_by = self._value(variable, symbol)
        if not (type_ or made_by) and (own is not None or self._is_nothing(captures)):
            return None
        return Binding(
            name=name,
            line=node.start_point[0] + 1,
            symbol=symbol,
            type=type_,
            made_by=made_by,
        )

    def _value(self, variable: Variable, index: int) -> tuple[str, str]:
        """The declared type and what makes the value, of which one is empty."""
        captures = variable.captures
        declared = captures.get("declared") or captures.get("returned")
        type_ = type_name(text_of(declared[0], self._source)) if declared else ""
        if type_ and type_ not in self._generics:
            return type_, ""
        if "made" in captures:
            return "", self._callee(captures["made"][0])
        return self._given(captures["given"][0], index) if "given" in captures else ("", "")

    def _given(self, node: Node, index: int) -> tuple[str, str]:
        """What an expression makes: what it calls, or what the variable that it names is bound to around it."""
        for _ in range(WRAPPERS_MAX):
            if node.type not in _WRAPPERS:
                break
            node = node.named_children[-1]
        if node.type in _CALLEES:
            callee = node.child_by_field_name(_CALLEES[node.type]) or node.named_children[0]
            return "", self._callee(callee)
        if node.type != "identifier":
            return "", ""
        for other in self._variables.get(text_of(node, self._source), ()):
            is_other = "given" not in other.captures
            if is_other and self._nesting.around(other.node.start_byte) == index:
                return self._value(other, index)
        return "", ""

    def _callee(self, node: Node) -> str:
        text = text_of(node, self._source)
        return text if len(text) <= CALLEE_CHARS_MAX and _CALLEE.fullmatch(text) else ""

    def _is_nothing(self, captures: Captures) -> bool:
        return "given" in captures and captures["given"][0].type in _NOTHING
