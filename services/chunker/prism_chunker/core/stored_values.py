"""Where C stores a function: the field of a struct that a value is assigned to or initializes.

A field is its name (`read`), or the struct and a position where the source has no name: `cmd#1` for the second
field of a `struct cmd`.
"""

from itertools import takewhile

from tree_sitter import Node

from prism_chunker.core.names import text_of

# Lists around a value, casts and addresses.
LEVELS_MAX = 8

_TRANSPARENT = frozenset({"pointer_expression", "cast_expression", "parenthesized_expression"})
_LIST = "initializer_list"


def field_of(value: Node, source: bytes) -> str:
    """Returns the field that stores a value; empty if none does."""
    node, parent = value, value.parent
    for _ in range(LEVELS_MAX):
        if parent is None or parent.type not in _TRANSPARENT:
            break
        node, parent = parent, parent.parent
    if parent is None:
        return ""
    if parent.type == "assignment_expression":
        left = parent.child_by_field_name("left")
        field = left.child_by_field_name("field") if left is not None and left != node else None
        return text_of(field, source) if field is not None else ""
    if parent.type == "initializer_pair":
        names = [child.named_children[-1] for child in parent.children if child.type == "field_designator"]
        return text_of(names[-1], source) if names else ""
    return _position(node, parent, source) if parent.type == _LIST else ""


def _position(node: Node, around: Node, source: bytes) -> str:
    """Returns the struct of a list and the position in it; empty for a list of a declaration without a struct."""
    items = [child for child in around.named_children if child.type != "comment"]
    position = sum(1 for _ in takewhile(lambda child: child != node, items))
    top: Node | None = around
    for _ in range(LEVELS_MAX):
        if top is None or top.type not in {_LIST, "init_declarator", "array_declarator"}:
            break
        top = top.parent
    type_ = top.child_by_field_name("type") if top is not None else None
    if type_ is None:
        return ""
    name = type_.child_by_field_name("name") or (type_ if type_.type == "type_identifier" else None)
    return f"{text_of(name, source)}#{position}" if name is not None else ""
