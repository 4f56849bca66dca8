"""Changes one value in a text of JSON with comments, and keeps every other byte.

Editors accept comments and trailing commas in their settings. A parser of JSON finds the place; the result is
decoded again and compared with what it must mean, so that a text that was misunderstood is never written.
"""

import json
from functools import cache
from typing import Any, NamedTuple

import pyjson5
from tree_sitter import Node, Parser

INDENT = b"  "


class UneditableError(ValueError):
    """The text is not JSON, or its form is beyond this editor."""


def decode(text: str) -> Any:
    """Returns the value of a text; without a value it is an empty object. Raises UneditableError."""
    if _has_nothing(text.encode()):
        return {}
    try:
        return pyjson5.decode(text)
    except (pyjson5.Json5DecoderException, RecursionError) as error:
        raise UneditableError(str(error.args[0] if error.args else error)) from error


def with_value(text: str, keys: tuple[str, ...], value: object) -> str:
    """Returns the text with the value at the keys; missing objects are made. Raises UneditableError."""
    before = decode(text)
    wanted = _canonical(_with_value(before, keys, value))
    if _canonical(before) == wanted:
        return text
    try:
        edited = _edited(text.encode(), keys, value).decode()
    except RecursionError as error:
        raise UneditableError("it is nested too deeply") from error
    if _canonical(decode(edited)) != wanted:
        raise UneditableError("its form is unusual")
    return edited


def _canonical(value: Any) -> str:
    """Returns equal texts for equal values; Python takes True for 1."""
    return json.dumps(value, sort_keys=True)


def _with_value(holder: Any, keys: tuple[str, ...], value: object) -> Any:
    if not keys:
        return value
    if not isinstance(holder, dict):
        raise UneditableError(f"the holder of {keys[0]!r} is not an object")
    return holder | {keys[0]: _with_value(holder.get(keys[0], {}), keys[1:], value)}


class _Layout(NamedTuple):
    unit: bytes
    newline: bytes

    def render(self, value: object, indent: bytes) -> bytes:
        text = json.dumps(value, indent=self.unit.decode(), ensure_ascii=False)
        return (self.newline + indent).join(text.encode().split(b"\n"))


def _edited(source: bytes, keys: tuple[str, ...], value: object) -> bytes:
    root = _child(_parser().parse(source).root_node, "object")
    layout = _layout(source, root)
    if root is None:
        if not _has_nothing(source):
            raise UneditableError("its form is unusual")
        before = source.rstrip() + layout.newline if source.strip() else b""
        return before + layout.render(_nested(keys, value), b"") + layout.newline
    holder = root
    for depth, key in enumerate(keys, 1):
        pair = _pair(holder, key)
        if pair is None:
            return _inserted(source, holder, {key: _nested(keys[depth:], value)}, layout)
        found = pair.child_by_field_name("value")
        if found is None:
            break
        if depth == len(keys):
            text = layout.render(value, _indent(source, pair))
            return source[: found.start_byte] + text + source[found.end_byte :]
        holder = found
    raise UneditableError("its form is unusual")


def _inserted(source: bytes, holder: Node, item: dict[str, object], layout: _Layout) -> bytes:
    """Returns the source with an item at the end of an object, in the layout of the item before it."""
    inside = holder.children[1:-1]
    pairs = [child for child in inside if child.type == "pair"]
    outer = _indent(source, holder)
    indent = (
        _indent(source, pairs[-1]) if pairs and _begins_its_line(source, pairs[-1]) else outer + layout.unit
    )
    brace = holder.end_byte - 1
    # The grammar counts a carriage return to the comment before it.
    end = len(source[: inside[-1].end_byte if inside else holder.start_byte + 1].rstrip(b"\r"))
    comma_at = pairs[-1].end_byte if pairs else end
    has_comma = any(child.start_byte >= comma_at and child.text == b"," for child in inside)
    [(key, value)] = item.items()
    return b"".join(
        (
            source[:comma_at],
            b"," if pairs and not has_comma else b"",
            source[comma_at:end],
            layout.newline + indent,
            json.dumps(key, ensure_ascii=False).encode() + b": " + layout.render(value, indent),
            b"," if has_comma else b"",
            source[end:brace] if b"\n" in source[end:brace] else layout.newline + outer,
            source[brace:],
        )
    )


def _has_nothing(source: bytes) -> bool:
    """Whether a text has nothing but comments."""
    return all(child.type == "comment" for child in _parser().parse(source).root_node.children)


def _nested(keys: tuple[str, ...], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _pair(holder: Node, key: str) -> Node | None:
    """Returns the pair with the key; the last one counts, as for a decoder."""
    found = None
    for child in holder.children:
        name = child.child_by_field_name("key") if child.type == "pair" else None
        if name is not None and name.text is not None and decode(name.text.decode()) == key:
            found = child
    return found


def _child(node: Node, kind: str) -> Node | None:
    return next((child for child in node.children if child.type == kind), None)


def _layout(source: bytes, root: Node | None) -> _Layout:
    first = _child(root, "pair") if root else None
    unit = _indent(source, first) if first and _begins_its_line(source, first) else b""
    return _Layout(unit or INDENT, b"\r\n" if b"\r\n" in source else b"\n")


def _indent(source: bytes, node: Node) -> bytes:
    """Returns the white space at the beginning of the node's line."""
    line = source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
    return line[: len(line) - len(line.lstrip(b" \t"))]


def _begins_its_line(source: bytes, node: Node) -> bool:
    return not source[source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].strip()


@cache
def _parser() -> Parser:
    from tree_sitter_language_pack import get_parser

    return get_parser("json")
