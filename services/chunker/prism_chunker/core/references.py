"""References from the matches of a query: calls, imports, bases, assignments. Uses of types and values:
`uses.py`.

For an import, `qualifier` is the module as written, and `name` the imported name; for a whole module, its
last part (`import numpy as np` -> name numpy, qualifier numpy, alias np). In JavaScript, where a module may export
its own name, the name of a whole module is `*`, with an alias. Rust's `mod depot;` imports depot from `self`.
"""

import re
from collections.abc import Sequence
from operator import itemgetter

from tree_sitter import Node

from prism_chunker.core.arguments import arguments_of
from prism_chunker.core.bindings import BindingReader
from prism_chunker.core.definitions import unquoted
from prism_chunker.core.nesting import Nesting
from prism_chunker.core.parse import Captures, Syntax
from prism_chunker.core.tokens import (
    UNKNOWN_RECEIVER,
    is_called,
    is_field,
    is_token,
    owner_of,
    qualifier_of,
)
from prism_chunker.core.type_names import without_arguments
from prism_contracts.code import CALLABLE_KINDS, Reference, ReferenceKind

QUALIFIER_CHARS_MAX = 80
# A string before a dot in JavaScript, whatever its text.
_STRINGS, _STRING = frozenset({"string", "template_string"}), '""'
# What a CommonJS module exports is a member of this object.
EXPORTS = "exports"
# An alias of this type is the key of an exported object: `module.exports = { open: require("./open") }`.
_KEY_OF_OBJECT = "property_identifier"
NAME_CHARS_MAX = 200
# A field before its initial value in C++, `size` of `Depot(int n) : size(n)`, and the object that has it.
_FIELD, _OBJECT = "field_identifier", "this"
# The object of a method that the enclosing one overrides: `super` in Ruby, which calls it without its name.
_BASE_OBJECT = "super"
# A name as a value in Ruby: `depot.send(:open)`.
_SYMBOL, _BLOCK_ARGUMENT = "simple_symbol", "block_argument"
_RECEIVE = frozenset({b"receive", b"have_received"})
# A name after `::` in Ruby.
_SCOPED = "scope_resolution"
# Before the name of a variable of the own object in Ruby, and the qualifier of such a name.
OWN_VARIABLE = "@"
# A name of PHP with its namespace: `\Shop\Depot`.
_QUALIFIED_NAME, _NAMESPACE_SEPARATOR = "qualified_name", "\\"
_USE_CLAUSE = "namespace_use_clause"
# Operators before their operand, and nodes of Swift whose first child is the object.
_SIGNS = frozenset({b"!", b"-", b"~"})
_LED_BY_RECEIVER = frozenset({"navigation_expression", "call_expression"})

_USES = frozenset({ReferenceKind.ALIAS, ReferenceKind.TYPE, ReferenceKind.VALUE})
KINDS: dict[str, ReferenceKind] = {str(kind): kind for kind in ReferenceKind if kind not in _USES}
KINDS["overridden"] = ReferenceKind.CALL
# A method that is called by an assignment: `depot.size = 3` calls `size=` in Ruby.
KINDS["setter"] = ReferenceKind.CALL
KINDS |= dict.fromkeys(("item", "file", "whole", "bare", "default", "submodule"), ReferenceKind.IMPORT)
# Tokens that import all names of a module: `import . "fmt"`, `{ ...require("./depot") }`, `Object.assign(exports, …)`.
_ALL_NAMES = frozenset({".", "...", "(", "namespace"})
_FROM = re.compile(r"\w+\s+([\w.]+?)\.?\s*(?:[{_*].*)?$", re.DOTALL)
_DOTTED = re.compile(r"(?:(.*?)(?:::|[./\\]))?([^./\\:]+)$", re.DOTALL)


Places = dict[tuple[int, str], tuple[Node, Captures]]


def find_places(syntax: Syntax, nesting: Nesting) -> Places:
    """A reference to a name, by first byte and capture. If two patterns match, the more specific one
    wins.
    """
    found: Places = {}
    heads = {definition.name_start for definition in nesting.kept}
    for key in KINDS:
        for captures in syntax.matches_with(key):
            node = captures[key][0]
            start = node.start_byte
            if key == "call" and start in heads:
                continue  # the head of a definition looks like a call in Lisp, Julia and Elixir
            if syntax.has_tokens and is_token(node) and not _is_among_tokens(key, node, syntax):
                continue
            known = found.get((start, key))
            if known is None or _said(known[1]) < _said(captures):
                found[start, key] = node, captures
    for captures in syntax.matches_with("module"):
        # `const { open } = require("fs")` does not import the whole module, nor does `import shop.*`.
        for whole in ("file", "whole", "bare", "item"):
            found.pop((captures["module"][0].start_byte, whole), None)
    for start, _ in [place for place in found if place[1] == "whole"]:
        found.pop((start, "bare"), None)
    return found


def _is_among_tokens(key: str, token: Node, syntax: Syntax) -> bool:
    return is_field(token, syntax.expressions) if key == "assign" else is_called(token)


def read_references(
    places: Places,
    syntax: Syntax,
    nesting: Nesting,
    references_max: int,
    bindings: BindingReader | None = None,
) -> tuple[Reference, ...]:
    """Returns references in order of appearance; with `bindings`, calls with their arguments."""
    ordered = sorted(places.items(), key=itemgetter(0))[:references_max]
    return tuple(
        _reference(key, node, captures, syntax, nesting, bindings=bindings)
        for (_, key), (node, captures) in ordered
    )


def _reference(
    key: str,
    node: Node,
    captures: Captures,
    syntax: Syntax,
    nesting: Nesting,
    *,
    bindings: BindingReader | None,
) -> Reference:
    kind, source = KINDS[key], syntax.source
    symbol = nesting.around(node.start_byte)
    name = _method_around(symbol, nesting) if key == "overridden" else _of(key, captures, source)
    qualifier = _receiver(captures["qualifier"], source) if "qualifier" in captures else ""
    if "qualifier" in captures and captures["qualifier"][0].type in _STRINGS:
        qualifier = _STRING
    elif kind is ReferenceKind.ASSIGN and node.type == _FIELD:
        qualifier = qualifier or _OBJECT
    if syntax.has_tokens and is_token(node):
        qualifier = owner_of(node, source) if key == "assign" else qualifier_of(node, source)
    qualifier, name = _spelled(node, qualifier, name)
    if key == "overridden":
        qualifier = _BASE_OBJECT
    if key == "setter":
        name = f"{name}="
    alias = alias_of(captures, source)
    if key == "default":
        name, alias = key, name
    if key == "bare":
        alias = name
    if kind is ReferenceKind.IMPORT:
        name, qualifier = _imported(name, captures, source)
    else:
        qualifier = shortened(qualifier)
    is_call = kind is ReferenceKind.CALL and bindings is not None
    return Reference(
        name=name[:NAME_CHARS_MAX],
        kind=kind,
        line=node.start_point[0] + 1,
        symbol=symbol,
        qualifier=qualifier,
        alias=alias,
        arguments=arguments_of(node, symbol, source, bindings) if is_call and bindings else "",
    )


def _spelled(node: Node, qualifier: str, name: str) -> tuple[str, str]:
    """Returns the qualifier and the name of what has both in one node.

    That is a qualified name of PHP, a name of Ruby that is in no module, a variable of the own object in Ruby, and a method in `each(&:weigh)`, whose object
    is unknown. Others are unchanged.
    """
    if name.startswith(OWN_VARIABLE):
        return OWN_VARIABLE, name.lstrip(OWN_VARIABLE)
    if (
        not qualifier
        and node.parent is not None
        and node.parent.type == _SCOPED
        and node.prev_sibling is not None
    ):
        return node.prev_sibling.type, name  # `::Depot`
    if node.type == _SYMBOL and _is_of_unknown(node):
        return UNKNOWN_RECEIVER, name
    if node.type != _QUALIFIED_NAME or _NAMESPACE_SEPARATOR not in name:
        return qualifier, name
    namespace, separator, last = name.rpartition(_NAMESPACE_SEPARATOR)
    return namespace or separator, last


def _is_of_unknown(symbol: Node) -> bool:
    """Whether a symbol of Ruby names a method of an unknown object: `each(&:weigh)`, `receive(:weigh)` in RSpec."""
    around = symbol.parent
    if around is None or around.type == _BLOCK_ARGUMENT:
        return around is not None
    method = around.parent.child_by_field_name("method") if around.parent is not None else None
    return method is not None and method.text in _RECEIVE


def shortened(qualifier: str) -> str:
    """Returns a qualifier, without what is passed if it is too long, or the one of an unknown object."""
    if len(qualifier) > QUALIFIER_CHARS_MAX:
        qualifier = without_arguments(qualifier)
    return qualifier if len(qualifier) <= QUALIFIER_CHARS_MAX else UNKNOWN_RECEIVER


def _method_around(symbol: int, nesting: Nesting) -> str:
    """Returns the name of the innermost function that is or encloses a symbol; empty outside of all."""
    while symbol >= 0 and nesting.kept[symbol].kind not in CALLABLE_KINDS:
        symbol = nesting.parents[symbol]
    return nesting.kept[symbol].name if symbol >= 0 else ""


def alias_of(captures: Captures, source: bytes) -> str:
    """Returns the alias of a name. What another function inherits names that function."""
    if "heir" in captures:
        return _of("heir", captures, source)
    if "alias" not in captures:
        return ""
    alias = _of("alias", captures, source)
    return f"{EXPORTS}.{alias}" if captures["alias"][0].type == _KEY_OF_OBJECT else alias


def _imported(name: str, captures: Captures, source: bytes) -> tuple[str, str]:
    if "module" in captures:
        module = _in_lists(captures["module"][0], _of("module", captures, source), source)
        return "*" if name in _ALL_NAMES else name, module
    if "from" in captures:
        found = _FROM.match(_of("from", captures, source))
        return name, found.group(1).removesuffix(f".{name}") if found else ""
    if "submodule" in captures:
        return name, "self"
    if {"file", "whole", "bare"} & captures.keys():
        name = name.strip("<>")
        return name.rstrip("/").rsplit("/", 1)[-1] if "file" in captures else "*", name
    if "item" in captures:
        name = _in_lists(captures["item"][0], name, source).removesuffix("::self")
    around = captures["import"][0].parent if "import" in captures else None
    is_in_no_namespace = around is not None and around.type == _USE_CLAUSE  # `use Depot;` in PHP
    found = _DOTTED.match(name)
    if not found or is_in_no_namespace:
        return name, _NAMESPACE_SEPARATOR if is_in_no_namespace else name
    return found.group(2), (found.group(1) or name) if "item" in captures else name


def _in_lists(node: Node, path: str, source: bytes) -> str:
    """Returns a Rust path with the paths of its enclosing lists: `c::d` of `use a::{b, c::d}`
    is `a::c::d`.
    """
    inner, outer = node, node.parent
    while outer is not None and outer.type.startswith(("use_", "scoped_use_")):
        before = outer.child_by_field_name("path") if outer.type == "scoped_use_list" else None
        if before is not None and before != inner:
            path = f"{source[before.start_byte : before.end_byte].decode('utf-8', 'replace')}::{path}"
        inner, outer = outer, outer.parent
    return path


def _said(captures: Captures) -> int:
    return sum(map(len, captures.values()))


def _receiver(nodes: Sequence[Node], source: bytes) -> str:
    """Returns what stands before the dot of a member.

    The grammar of Swift takes `a + b` for the object of `a + b.weigh()`. An object with an operator has parentheses, so
    the last operand is the receiver.
    """
    start, node = nodes[0].start_byte, nodes[0]
    while True:
        operand = node.child_by_field_name("rhs") if node.child_by_field_name("lhs") else None
        if operand is None and source[node.start_byte : node.start_byte + 1] in _SIGNS:
            operand = node.child_by_field_name("target")
        if operand is not None:
            start, node = operand.start_byte, operand
        elif node.type in _LED_BY_RECEIVER and node.child_count:
            node = node.children[0]
        else:
            return _on_one_line(source[start : nodes[-1].end_byte], nodes[0]).rstrip(".:")


def _of(key: str, captures: Captures, source: bytes) -> str:
    """Returns the text of a capture on one line, without quotes."""
    nodes = captures[key]
    return _on_one_line(source[nodes[0].start_byte : nodes[-1].end_byte], nodes[0])


def _on_one_line(data: bytes, first: Node) -> str:
    text = data.decode("utf-8", "replace")
    if text.isidentifier():  # the common case
        return text
    return text.removeprefix(":") if first.type == _SYMBOL else " ".join(unquoted(text).split())
