"""Members of Swift without their type: in `case .open` and `return .open`, the code around says which type has them.

The qualifier of such a member is the expression or the type around: `self` of `switch self { case .open: … }`, `Gate` of
`let gate: Gate = .open`. Key paths, such as `Gate.size` after a backslash, are read here too.
"""

from tree_sitter import Node

from prism_chunker.core.type_names import type_name

HAS_IMPLICIT_MEMBERS = frozenset({"swift"})
# The qualifier of a member of which the code around does not say the type.
ANY_TYPE = "."
LEVELS_MAX = 100
_KEY_PATH = "key_path_expression"
_MEMBERS = frozenset({"pattern", "prefix_expression"})
# Expressions whose type is that of a member without an owner.
_AROUND = frozenset(
    {"call_expression", "tuple_expression", "ternary_expression", "nil_coalescing_expression"}
)
_FUNCTIONS = frozenset({"function_declaration", "protocol_function_declaration"})
_TYPES = frozenset({"user_type", "optional_type", "opaque_type", "existential_type"})
_COMPARES = frozenset({"==", "!=", "~="})


def is_implicit(node: Node) -> bool:
    """Whether a name is a member without its type: `open` of `.open`."""
    if node.type == "navigation_expression":
        return _root(node).type == _KEY_PATH
    before = node.prev_sibling
    if before is None or before.type != "." or node.parent is None:
        return False
    condition = before.prev_sibling  # `if case .open = gate`
    return node.parent.type in _MEMBERS or (condition is not None and condition.type == "case")


def owner_of(node: Node, source: bytes) -> str:
    """Returns the expression or the type that has a member without its type, or ANY_TYPE."""
    if node.type == "navigation_expression":
        return _text(node.named_child(0), source).removeprefix("\\") or ANY_TYPE
    return _owner(node, source) or ANY_TYPE


def start_of(node: Node) -> int:
    """Returns the first byte of the name of a member: `size` of the key path `Gate.size`."""
    suffix = node.named_children[-1] if node.type == "navigation_expression" else None
    name = suffix.named_child(0) if suffix is not None else None
    return name.start_byte if name is not None else node.start_byte


def _root(node: Node) -> Node:
    """Returns the first part of a chain of members."""
    for _ in range(LEVELS_MAX):
        first = node.named_child(0) if node.type == "navigation_expression" else None
        if first is None:
            break
        node = first
    return node


def _owner(node: Node, source: bytes) -> str:
    parent = node.parent
    if parent is None:
        return ""
    if parent.type == "pattern":
        return _subject(parent, source)
    if parent.type != "prefix_expression":
        return _text(_after(node, "="), source)
    value = parent
    while value.parent is not None and value.parent.type in _AROUND:
        value = value.parent
    return _expected(value, source)


def _subject(pattern: Node, source: bytes) -> str:
    """Returns what a pattern of `switch` is compared with."""
    outer = pattern.parent
    entry = outer.parent if outer is not None and outer.type == "switch_pattern" else None
    switch = entry.parent if entry is not None else None
    subject = switch.named_child(0) if switch is not None and switch.type == "switch_statement" else None
    return _text(subject, source)


def _expected(value: Node, source: bytes) -> str:
    """Returns the declared type, or the other side, where a value stands."""
    around, before = value.parent, value.prev_sibling
    if around is None or before is None:
        return _returned(value, source) if around is not None else ""
    match around.type:
        case "property_declaration":
            return _declared(around, source)
        case "equality_expression" if before.type in _COMPARES:
            return _text(before.prev_sibling, source)
        case "assignment":
            return _text(around.named_child(0), source)
        case "function_declaration" | "init_declaration" if (
            before.type == "=" and before.prev_sibling is not None
        ):
            return _type_in(before.prev_sibling, source)  # the default of a parameter
    return _returned(value, source)


def _returned(value: Node, source: bytes) -> str:
    """Returns the type of the function or property that a value is returned from."""
    around = value.parent
    is_returned = around is not None and (
        around.type == "control_transfer_statement"
        or (around.type == "statements" and around.named_child_count == 1)
    )
    for _ in range(LEVELS_MAX if is_returned else 0):
        if around is None or around.type == "lambda_literal":
            return ""
        if around.type in _FUNCTIONS:
            return _type_in(around, source)
        if around.type == "property_declaration":
            return _declared(around, source)
        around = around.parent
    return ""


def _declared(declaration: Node, source: bytes) -> str:
    annotation = next((one for one in declaration.children if one.type == "type_annotation"), None)
    return _type_in(annotation, source) if annotation is not None else ""


def _type_in(node: Node, source: bytes) -> str:
    """Returns the name of the type that a node declares: the last of its children that is one."""
    types = [one for one in node.named_children if one.type in _TYPES]
    return type_name(_text(types[-1], source)) if types else ""


def _after(node: Node, token: str) -> Node | None:
    """Returns the expression behind a token that follows a node."""
    sibling = node.next_sibling
    while sibling is not None and sibling.type != token:
        sibling = sibling.next_sibling
    return sibling.next_sibling if sibling is not None else None


def _text(node: Node | None, source: bytes) -> str:
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""
    return " ".join(text.split())
