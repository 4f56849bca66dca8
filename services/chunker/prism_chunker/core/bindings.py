"""From the matches of a query to bindings: what variables, parameters and fields are declared or made to be.

Most variables of a file tell nobody anything. Kept is what a member is looked for in, here or in another file: fields, what
the top level defines, variables that stand before a dot. And what hides another meaning of its name.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
_OWN_OBJECT = re.compile(rb"(?:\$this|this|self|cls)[?!]?(?:\.|->)|@")


# The captures that name what gets a value, or say what a callable returns.
_SUBJECTS = ("bound", "member", "returned")


class Variable(NamedTuple):
    """A name where it is given a value or a type, with what the query captured there."""

    subject: str
    node: Node
    captures: Captures


# By name as it is spelled.
Variables = Mapping[bytes, Sequence[Variable]]


def find_variables(language: Language, syntax: Syntax) -> Variables:
    """All variables of a file."""
    source = syntax.source
    before = {"bound": b"", "member": f"{language.own_object}.".encode()}
    variables: dict[bytes, list[Variable]] = defaultdict(list)
    for subject in _SUBJECTS:
        for captures in syntax.matches_with(subject):
            node = captures[subject][0]
            name = before[subject] + source[node.start_byte : node.end_byte] if subject in before else b""
            variables[name].append(Variable(subject, node, captures))
    return variables


class BindingReader:
    """Turns the variables of a file into bindings."""

    def __init__(self, language: Language, syntax: Syntax, nesting: Nesting, variables: Variables) -> None:
        self._own = f"{language.own_object}."
        self._source = syntax.source
        self._nesting = nesting
        self._variables = variables
        self._definitions = {definition.name_start: at for at, definition in enumerate(nesting.kept)}
        self._imported = {
            (captures.get("alias") or captures["import"])[0].start_byte
            for captures in syntax.matches_with("alias", "import")
        }
        self._generics = {
            text_of(captures["generic"][0], syntax.source) for captures in syntax.matches_with("generic")
        }

    def read(self, names: Names, bindings_max: int) -> tuple[Binding, ...]:
        """The bindings worth keeping, in order of lines."""
        wanted = {name.encode() for name in (*names.known, *names.objects)}
        kept: list[Binding] = []
        for name, variables in self._variables.items():
            is_wanted = not name or name in wanted or _OWN_OBJECT.match(name)
            if is_wanted and len(kept) < bindings_max:
                kept += self._of_name(variables, is_known=name.decode("utf-8", "replace") in names.known)
        return tuple(sorted(kept[:bindings_max], key=attrgetter("line")))

    def _of_name(self, variables: Sequence[Variable], *, is_known: bool) -> list[Binding]:
        """What a name is bound to. Where that says nothing it is worth knowing if it hides what the name means elsewhere."""
        bindings = [self._binding(variable) for variable in _best(variables)]
        read = [binding for binding in bindings if binding is not None]
        says = [binding for binding in read if binding.type or binding.made_by]
        return read if read and read[0].name and (says or is_known) else says

    def _binding(self, variable: Variable) -> Binding | None:
        """The binding, or None where a name is imported, defined without a word about its type, or made to be nothing."""
        subject, node, captures = variable
        own = self._definitions.get(node.start_byte)
        if own is None:
            symbol = self._nesting.around(node.start_byte)
        elif subject == "bound" and self._nesting.kept[own].kind in _FIELDS:
            return None
        else:
            symbol = self._nesting.parents[own]
        type_, made_by = self._value(variable, symbol)
        if node.start_byte in self._imported or (
            not (type_ or made_by) and (own is not None or _is_nothing(captures))
        ):
            return None
        return Binding(
            name=self._name(variable),
            line=node.start_point[0] + 1,
            symbol=symbol,
            type=type_,
            made_by=made_by,
        )

    def _value(self, variable: Variable, symbol: int) -> tuple[str, str]:
        """The declared type and what makes the value, of which one is empty."""
        captures = variable.captures
        declared = captures.get("declared") or captures.get("returned")
        type_ = type_name(text_of(declared[0], self._source)) if declared else ""
        if type_ and type_ not in self._generics:
            return type_, ""
        if "made" in captures:
            return "", self._callee(captures["made"][0])
        return self._given(captures["given"][0], symbol) if "given" in captures else ("", "")

    def _given(self, node: Node, symbol: int) -> tuple[str, str]:
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
        for other in self._variables.get(self._source[node.start_byte : node.end_byte], ()):
            is_declared = "declared" in other.captures
            if is_declared and self._nesting.around(other.node.start_byte) == symbol:
                return self._value(other, symbol)
        return "", ""

    def _callee(self, node: Node) -> str:
        text = text_of(node, self._source)
        return text if len(text) <= CALLEE_CHARS_MAX and _CALLEE.fullmatch(text) else ""

    def _name(self, variable: Variable) -> str:
        if variable.subject == "returned":
            return ""
        text = text_of(variable.node, self._source)
        if variable.subject == "member":
            return self._own + text
        own = _OWN_OBJECT.match(variable.node.text or b"")
        return self._own + text[own.end() :] if own else text


def _best(variables: Sequence[Variable]) -> Iterable[Variable]:
    """Of the patterns that match one name, the one that says most."""
    best: dict[tuple[int, str], Variable] = {}
    for variable in variables:
        place = variable.node.start_byte, variable.subject
        known = best.get(place)
        if known is None or _said(known.captures) < _said(variable.captures):
            best[place] = variable
    return best.values()


def _said(captures: Captures) -> tuple[bool, int]:
    return "declared" in captures, len(captures)


def _is_nothing(captures: Captures) -> bool:
    return "given" in captures and captures["given"][0].type in _NOTHING
