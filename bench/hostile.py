"""The worst valid calls of every tool: the longest hostile text for each argument, within its limits."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from prism_gateway.mcp.toolsets import TOOLS

SHAPES = ("a", " as a", "a.", ".", "[a-", "**/", "(", "+a\n", "<", "1 ")
# Some texts are limited to millions of bytes; the limits on bodies cover those.
CHARS_MAX = 400_000
ITEMS_MAX = 20

Json = dict[str, Any]


class Call(NamedTuple):
    """One call of a tool."""

    tool: str
    arguments: Json
    about: str  # the argument and the shape


def worst_calls(known: Mapping[str, str]) -> Iterator[Call]:
    """Yields each argument of each tool with each shape. `known` are harmless values for the
    others, by name.
    """
    for tool in TOOLS:
        schema = tool.arguments.model_json_schema()
        for name, argument in schema.get("properties", {}).items():
            for shape in SHAPES:
                value = _longest(argument, shape, schema.get("$defs", {}))
                if value is not None:
                    arguments = _required(schema, known) | {"repo": known["repo"], name: value}
                    yield Call(tool.name, arguments, f"{name} of {shape!r}")


def _longest(schema: Json, shape: str, definitions: Json) -> Any:
    """Returns the longest value of this shape that an argument accepts; None if it is not text."""
    for option in (schema, *schema.get("anyOf", ())):
        found = definitions[option["$ref"].rpartition("/")[2]] if "$ref" in option else option
        if found.get("type") == "string" and "enum" not in found:
            size = min(found.get("maxLength", CHARS_MAX), CHARS_MAX)
            return (shape * size)[:size]
        if found.get("type") == "array":
            item = _longest(found.get("items", {}), shape, definitions)
            return None if item is None else [item] * min(found.get("maxItems", ITEMS_MAX), ITEMS_MAX)
    return None


def _required(schema: Json, known: Mapping[str, str]) -> Json:
    given: Json = {}
    for name in schema.get("required", ()):
        text = known.get(name, known["symbol"])
        given[name] = [text] if schema["properties"][name].get("type") == "array" else text
    return given
