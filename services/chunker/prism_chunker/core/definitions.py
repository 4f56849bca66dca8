"""Definitions from the matches of a query: named nodes with their kind, extent and owner.

Several patterns may match one name: the first in the query file decides the kind, the widest the extent. So a
query lists special cases first, and matches decorators and `export` by separate patterns.
"""

import re
from dataclasses import dataclass

from tree_sitter import Node

from prism_chunker.core.made_functions import MadeFunctions
from prism_chunker.core.parse import Captures, Syntax
from prism_contracts.code import VALUE_KINDS, SymbolKind

NAME_CHARS_MAX = 200
CLAUSE_GAP_ROWS_MAX = 2

_KINDS = {str(kind): kind for kind in SymbolKind}
_SUBJECTS = frozenset({*_KINDS, "scope"})
_SEPARATOR = re.compile(r"::|->|[.:/#\\]")
_ARGUMENTS = re.compile(r"[<\[(].*", re.DOTALL)
_TEMPLATE = re.compile(r"<[^<>]*>(?=\s*::)|(?<=<)[^<>]*<[^<>]*>(?=[^:]*>\s*::)")  # of `Box<T>::open`
_SYMBOL = re.compile(r"^:+(?=\w)")  # the mark of a symbol in Ruby and Lisp
_ALIAS = re.compile(r"[^\s<\[(=]+(?==)")
_SUBSCRIPT = "subscript_expression"
# `namespace Shop;` in C#: the declarations after it are its content, though the grammar has them beside it.
_REST_OF_FILE = frozenset({"file_scoped_namespace_declaration"})
_OPERATOR = re.compile(r"(.*)::(operator\b.*)", re.DOTALL)


@dataclass(slots=True)
class MatchedDefinition:
    """A definition as the query matched it. A scope (`kind` None) names its contents and is not a symbol."""

    name: str
    owner: str
    kind: SymbolKind | None
    start: int  # bytes of the definition itself, without decorators
    end: int
    body: int  # where its body begins, 0 without a body
    name_start: int
    row: int
    first_row: int  # with decorators
    last_row: int
    name_row: int
    exported: bool = False
    bodiless: bool = False  # declared here and defined elsewhere


def find_definitions(syntax: Syntax, *, clauses: bool) -> list[MatchedDefinition]:
    """Returns definitions in order of appearance, outer before inner. `clauses`: merge
    equations of one name.
    """
    found: dict[int, MatchedDefinition] = {}
    makes = MadeFunctions(syntax)
    imported = _imported_files(syntax)
    # Macros of C that define a test of another name.
    macros = {captures["test"][0].start_byte for captures in syntax.matches_with("test")}
    for captures in syntax.matches_with("name", "path"):
        name = (captures.get("name") or captures["path"])[0]
        is_none = name.start_byte in macros or ("maker" in captures and not makes.names(captures))
        if is_none or _is_friend(captures):
            continue
        definition = found.get(name.start_byte)
        if definition is None and not _SUBJECTS.isdisjoint(captures) and not _is_named_before(name):
            definition = found[name.start_byte] = _definition(captures, name, syntax.source)
        if definition is not None:
            _add(captures, definition)
    ordered = sorted(found.values(), key=lambda definition: (definition.start, -definition.end))
    _mark_exported(ordered, syntax)
    if imported:
        ordered = [
            one
            for one in ordered
            if one.exported or one.kind not in VALUE_KINDS or one.name_start not in imported
        ]
    return _with_clauses_joined(ordered) if clauses else ordered


def _imported_files(syntax: Syntax) -> set[int]:
    """Returns where variables begin that are imports of files: `const depot = require("./depot")` defines no depot."""
    return {
        captures["alias"][0].start_byte
        for key in ("file", "whole")
        for captures in syntax.matches_with(key)
        if "alias" in captures and unquoted(_text(captures[key][0], syntax.source)).startswith(".")
    }


def _is_friend(captures: Captures) -> bool:
    """Whether a class of C++ only names a function that is no member of it: `friend void open(Depot&);`."""
    node = captures.get("function", captures["name"] if "name" in captures else captures["path"])[0]
    around = node.parent if node.type == "declaration" else None
    return around is not None and around.type == "friend_declaration"


def _is_named_before(name: Node) -> bool:
    """Whether a path names what a variable before it names: `const open = exports.open = function () {}`."""
    assignment = name.parent if name.type == "member_expression" else None
    around = assignment.parent if assignment else None
    return around is not None and around.type == "variable_declarator"


def _mark_exported(definitions: list[MatchedDefinition], syntax: Syntax) -> None:
    """Mark the names that the file lists as its exports: `export { open }`, `__all__ = ["open"]`."""
    exported = {_text(captures["export"][0], syntax.source) for captures in syntax.matches_with("export")}
    for definition in definitions:
        definition.exported = definition.exported or definition.name in exported


def _with_clauses_joined(definitions: list[MatchedDefinition]) -> list[MatchedDefinition]:
    joined: list[MatchedDefinition] = []
    latest: dict[tuple[str, SymbolKind | None], MatchedDefinition] = {}
    for definition in definitions:
        known = latest.get((definition.name, definition.kind))
        if (
            known
            and known.end <= definition.start
            and definition.first_row - known.last_row <= CLAUSE_GAP_ROWS_MAX
        ):
            known.end, known.last_row = definition.end, definition.last_row
        else:
            latest[definition.name, definition.kind] = definition
            joined.append(definition)
    return joined


def _definition(captures: Captures, name_node: Node, source: bytes) -> MatchedDefinition:
    key = next((key for key in captures if key in _KINDS), "scope")
    node = captures[key][0]
    name, owner = _names(captures, name_node, source)
    content = node.parent if node.type in _REST_OF_FILE and node.parent is not None else node
    first, last = _rows(node)[0], _rows(content)[1]
    body = node.child_by_field_name("body")
    return MatchedDefinition(
        name=name,
        owner=owner,
        kind=_KINDS.get(key),
        start=node.start_byte,
        end=content.end_byte,
        body=body.start_byte if body else 0,
        name_start=name_node.start_byte,
        row=first,
        first_row=first,
        last_row=last,
        name_row=name_node.start_point[0],
    )


def _names(captures: Captures, node: Node, source: bytes) -> tuple[str, str]:
    name = _text(node, source)
    owner = _text(captures["owner"][0], source) if "owner" in captures else ""
    if "test" in captures:
        return name, ".".join(_parts(owner)) if owner else ""
    if node.type == _SUBSCRIPT:
        return _of_subscript(node, source)
    if "path" in captures:
        parts = _parts(name)
        name, owner = parts[-1], ".".join([owner, *parts[:-1]] if owner else parts[:-1])
    return name, owner


def _of_subscript(node: Node, source: bytes) -> tuple[str, str]:
    """Returns the name and the owner of a member between brackets: `open` of `depot["open"]`, `[name]` of
    `depot[name]`.
    """
    object_, index = node.child_by_field_name("object"), node.child_by_field_name("index")
    name = _text(index, source) if index else ""
    is_literal = index is not None and index.type == "string"
    return name if is_literal else f"[{name}]", _text(object_, source) if object_ else ""


def _parts(path: str) -> list[str]:
    """Returns the names in a path, without arguments; an operator (`Cart::operator/=`) or alias (`a:b=ls`) is
    one name.
    """
    if operator := _OPERATOR.match(path):
        return [*_parts(operator.group(1)), operator.group(2)]
    if alias := _ALIAS.match(path):
        return [alias.group()]
    while (shorter := _TEMPLATE.sub("", path)) != path:
        path = shorter
    parts = [part.strip() for part in _SEPARATOR.split(_ARGUMENTS.sub("", path))]
    return list(filter(None, parts)) or [path]


def _text(node: Node, source: bytes) -> str:
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return " ".join(_SYMBOL.sub("", unquoted(text)).split())[:NAME_CHARS_MAX]


def unquoted(text: str) -> str:
    """Returns the text without quotes around it; a prime at the end of a name (`go'`) is not a quote."""
    return text.strip(text[0]) if text[:1] in {'"', "'", "`"} else text


def _rows(node: Node) -> tuple[int, int]:
    first = node.start_point[0]
    last, column = node.end_point
    return first, last - (column == 0 and last > first)


def _add(captures: Captures, definition: MatchedDefinition) -> None:
    """Add what a pattern captures about a definition besides its name and kind."""
    if "outer" in captures:
        first, last = _rows(captures["outer"][0])
        definition.first_row = min(definition.first_row, first)
        definition.last_row = max(definition.last_row, last)
    if "tail" in captures:
        tail = captures["tail"][0]
        definition.body, definition.end = tail.start_byte, tail.end_byte
        definition.last_row = _rows(tail)[1]
    if "body" in captures and not definition.body:
        definition.body = captures["body"][0].start_byte
    definition.exported |= "exported" in captures
    definition.bodiless |= "bodiless" in captures
