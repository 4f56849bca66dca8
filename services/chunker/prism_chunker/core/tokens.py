"""Names among the bare tokens of Rust's macros: the arguments that do not parse, and the bodies of `macro_rules!`."""

import re

from tree_sitter import Node

TOKENS = "token_tree"
# The qualifier of a member whose receiver is not followed.
UNKNOWN_RECEIVER = "()"
_SEPARATORS = frozenset({"::", "."})
_OPERANDS = frozenset({"identifier", "self", "super", "crate", "primitive_type"})
# Before a name that is declared.
_DECLARES = frozenset(
    {"#", "const", "enum", "fn", "impl", "let", "mod", "mutable_specifier", "ref", "static", "struct", "trait", "type", "union", "|"}
)  # fmt: skip
_KEYWORDS = frozenset({b"Self", b"dyn", b"else", b"in", b"move", b"yield"})
# Where the tokens of a macro begin.
_MACROS = frozenset({"macro_invocation", "macro_rule"})
_CASE = re.compile(rb"[A-Z]")


def is_token(node: Node) -> bool:
    """Whether a node is a bare token of a macro."""
    return node.parent is not None and node.parent.type == TOKENS


def is_called(token: Node) -> bool:
    """Whether a token before parentheses is a call.

    It is none in `fn open()` of a macro's body, and in attributes such as `#[cfg(any(unix))]`.
    """
    before = token.prev_sibling
    return not (before is not None and before.type == "fn") and _macro_around(token) is not None


def is_value(token: Node, parsed: frozenset[int] | set[int]) -> bool:
    """Whether a token may be a value or a type that is used; `parsed` are the ids of tokens that parse as expressions.

    It is none where it is declared, as `open` of `fn open`, where it names an argument, and at the start of a path.
    """
    before, after = token.prev_sibling, token.next_sibling
    follows = after.type if after is not None else ""
    is_declared = before is not None and before.type in _DECLARES
    is_declared &= not (before is not None and before.type == "impl" and follows == "for")
    if token.text in _KEYWORDS or follows in {"::", ".", "!"} or is_declared:
        return False
    is_path = before is not None and before.type in _SEPARATORS
    if not is_path and follows in {":", "=", "=>"} and not _CASE.match(token.text or b""):
        return False
    return _macro_around(token, parsed) is not None


def is_field(token: Node, parsed: frozenset[int] | set[int]) -> bool:
    """Whether a token is a field that is set: `size` of `Depot { size: 3 }`."""
    braces = token.parent
    owner = braces.prev_sibling if braces is not None else None
    if braces is None or braces.type != TOKENS or braces.children[0].type != "{":
        return False
    if owner is None or owner.type != "identifier" or not _CASE.match(owner.text or b""):
        return False
    declares = owner.prev_sibling
    is_declared = declares is not None and (declares.type in _DECLARES or declares.type == "for")
    return not is_declared and _macro_around(token, parsed) is not None


def _macro_around(token: Node, parsed: frozenset[int] | set[int] = frozenset()) -> Node | None:
    """Returns the macro whose token a node is; None in an attribute, and in arguments that parse."""
    around = token.parent
    while around is not None and around.type == TOKENS:
        is_attribute = around.prev_sibling is not None and around.prev_sibling.type == "#"
        if is_attribute or around.id in parsed:
            return None
        around = around.parent
    return around if around is not None and around.type in _MACROS else None


def start_of_path(token: Node) -> int:
    """Returns the first byte of the path that ends with a token: of `depot::open(1)` for `weigh` of `depot::open(1).weigh`.

    It is the token's own if what comes before it is no name.
    """
    start = token.start_byte
    separator = token.prev_sibling
    while separator is not None and separator.type in _SEPARATORS:
        operand = separator.prev_sibling
        if operand is not None and operand.type == TOKENS:  # the arguments of a call
            operand = operand.prev_sibling
        if operand is None or operand.type not in _OPERANDS:
            return token.start_byte
        start, separator = operand.start_byte, operand.prev_sibling
    return start


def qualifier_of(token: Node, source: bytes) -> str:
    """Returns the qualifier of a token: `depot::open(1)` of `depot::open(1).weigh()`."""
    start, before = start_of_path(token), token.prev_sibling
    if before is None or before.type not in _SEPARATORS:
        return ""
    if start == token.start_byte:
        return UNKNOWN_RECEIVER if before.type == "." else ""  # `(**depot).weigh()`, `$depot.weigh()`
    return source[start : before.start_byte].decode("utf-8", "replace")


def owner_of(field: Node, source: bytes) -> str:
    """Returns the type before the braces around a field that is set."""
    owner = field.parent.prev_sibling if field.parent is not None else None
    if owner is None:
        return ""
    return source[start_of_path(owner) : owner.end_byte].decode("utf-8", "replace")
