"""The arguments of a call as types: `(String, boolean, ?)` of `find(name, false, other())`.

They choose among overloads. A type is a literal's, or the one that a variable is declared with or made by; the
others are `?`. An argument with a label keeps it: `(size: int)`.
"""

from tree_sitter import Node

from prism_chunker.core.bindings import BindingReader
from prism_contracts.code import LAMBDA_TYPE, NULL_TYPE, UNKNOWN_TYPE

# The length of a list of arguments past which only their count is kept.
ARGUMENTS_MAX = 30
TYPE_CHARS_MAX = 60
# Nodes between a name and the call that it is the callee of.
STEPS_MAX = 7
# Those where most calls name their arguments by a field: `open(1)`, `depot.open(1)`, `depot.open<T>(1)`.
FIELD_STEPS_MAX = 3

_LISTS = frozenset({"argument_list", "arguments", "initializer_list", "value_arguments"})
_SUFFIXES = frozenset({"call_suffix", "constructor_suffix"})
# Where the arguments follow the name of a variable: `Depot depot(3)`, `Depot depot = new(3)`.
_DECLARATORS = frozenset({"implicit_object_creation_expression", "init_declarator", "variable_declarator"})
_CLOSURES = frozenset({"annotated_lambda", "lambda_literal"})
_LABELLED = frozenset({"argument", "value_argument"})
# No call has its name below one of these.
_ENDS = (
    _LISTS
    | _LABELLED
    | {
        "annotation", "attribute", "block", "class_body", "compound_statement", "declaration_list", "local_declaration_statement",
        "marker_annotation", "modifiers", "statements",
    }
)  # fmt: skip
# It may have no list of arguments: `new Depot { Size = 3 }`.
_CREATION = "object_creation_expression"
_SPREADS = frozenset({"pack_expansion", "parameter_pack_expansion", "spread_element", "spread_expression"})
_COMMENTS = frozenset({"block_comment", "comment", "line_comment", "multiline_comment"})
_SIGNED = frozenset({"prefix_expression", "prefix_unary_expression", "unary_expression"})
_LITERALS = {
    "boolean_literal": "boolean", "char_literal": "char", "character_literal": "char",
    "decimal_floating_point_literal": "double", "decimal_integer_literal": "int", "false": "boolean",
    "hex_floating_point_literal": "double", "hex_integer_literal": "int", "hex_literal": "int", "integer_literal": "int",
    "interpolated_string_expression": "String", "line_string_literal": "String", "long_literal": "long",
    "multi_line_string_literal": "String", "nil": NULL_TYPE, "null": NULL_TYPE, "null_literal": NULL_TYPE, "nullptr": NULL_TYPE,
    "raw_string_literal": "String", "real_literal": "double", "string_literal": "String", "true": "boolean",
    "verbatim_string_literal": "String",
    "annotated_lambda": LAMBDA_TYPE, "anonymous_function": LAMBDA_TYPE, "anonymous_method_expression": LAMBDA_TYPE, "callable_reference": LAMBDA_TYPE,
    "lambda_expression": LAMBDA_TYPE, "lambda_literal": LAMBDA_TYPE, "method_reference": LAMBDA_TYPE,
}  # fmt: skip


def arguments_of(name: Node, symbol: int, source: bytes, bindings: BindingReader) -> str:
    """Returns the arguments of the call whose callee ends with a name; empty without a call or past a spread."""
    around, end = name.parent, name.end_byte
    for _ in range(FIELD_STEPS_MAX):
        if around is None:
            return ""
        given_directly = around.child_by_field_name("arguments")
        if given_directly is not None:
            if given_directly.start_byte < end:
                break  # the name is among them
            return _text([given_directly], symbol, source, bindings)
        around = around.parent
    around = name.parent
    for _ in range(STEPS_MAX):
        kind = around.type if around is not None else ""
        if around is None or kind in _ENDS:
            return ""
        given = _lists_of(around)
        if given and given[0].start_byte >= end:
            return _text(given, symbol, source, bindings)
        if kind == _CREATION:
            return "()"
        around = around.parent
    return ""


def _lists_of(call: Node) -> list[Node]:
    """Returns the nodes that hold the arguments of a call: a list, and closures after it."""
    found: list[Node] = []
    for child in call.named_children:
        if child.type in _SUFFIXES:
            found += _lists_of(child)
        elif child.type in _DECLARATORS:
            found += _lists_of(child)[:1]
        elif child.type in _LISTS or (child.type in _CLOSURES and call.type in _SUFFIXES):
            found.append(child)
    return found


def _text(given: list[Node], symbol: int, source: bytes, bindings: BindingReader) -> str:
    found = [node for one in given for node in ([one] if one.type in _CLOSURES else one.named_children)]
    nodes = [(node, kind) for node in found if (kind := node.type) not in _COMMENTS]
    if len(nodes) > ARGUMENTS_MAX:
        return f"({', '.join([UNKNOWN_TYPE] * len(nodes))})"
    types = [_argument(node, kind, symbol, source, bindings) for node, kind in nodes]
    return f"({', '.join(types)})" if all(types) else ""


def _argument(node: Node, kind: str, symbol: int, source: bytes, bindings: BindingReader) -> str:
    """Returns the type of an argument after its label, if it has one; empty for a spread of many."""
    label = ""
    if kind in _LABELLED and (inner := node.named_children):
        if len(inner) > 1 and (node.child_by_field_name("name") or inner[0].type == "simple_identifier"):
            label = f"{source[inner[0].start_byte : inner[0].end_byte].decode('utf-8', 'replace')}: "
        node = inner[-1]
        kind = node.type
    if kind in _SPREADS:
        return ""
    return f"{label}{_type(node, kind, symbol, source, bindings)}"


def _type(node: Node, kind: str, symbol: int, source: bytes, bindings: BindingReader) -> str:
    """Returns the type of an expression, given the kind of its node, which takes time to read."""
    if literal := _LITERALS.get(kind):
        return literal
    if kind in _SIGNED and node.named_child_count == 1:
        inner = _LITERALS.get(node.named_children[0].type, "")
        return inner if inner in {"int", "double", "long", "boolean"} else UNKNOWN_TYPE
    if kind == "number_literal":
        text = source[node.start_byte : node.end_byte]
        return "double" if b"." in text and not text.startswith(b"0x") else "int"
    if kind == "binary_expression":
        parts = [_LITERALS.get(child.type, "") for child in node.named_children]
        return "String" if "String" in parts and node.children[1].type == "+" else UNKNOWN_TYPE
    return _short(bindings.type_of(node, kind, symbol)) or UNKNOWN_TYPE


def _short(type_: str) -> str:
    return type_ if len(type_) <= TYPE_CHARS_MAX else ""
