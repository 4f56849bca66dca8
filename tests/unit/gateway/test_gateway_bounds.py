"""Every field that a caller can fill in is bounded: by length, number of items, or range."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, TypeAdapter

from prism_contracts import events
from prism_contracts.all_rpcs import ALL_RPCS
from prism_gateway.app import rest_router
from prism_gateway.mcp.toolsets import TOOLS
from prism_gateway.rest.bodies import SnapshotBody
from prism_gateway.webhooks import payloads

Schema = dict[str, Any]

REQUESTS = [rpc.request for rpc in ALL_RPCS]
# Messages that the gateway sends with text of a caller.
EVENTS = [events.FilesUploaded, events.PushReceived, events.CloneRequested]
PAYLOADS = [
    found
    for _, found in inspect.getmembers(payloads, inspect.isclass)
    if issubclass(found, BaseModel) and found.__module__ == payloads.__name__
]
ROUTES = [context.original_route for context in iter_route_contexts(rest_router().routes)]
# Field -> why it has no bound.
ALLOWED: dict[str, str] = {}

ITEMS_MAX = ("list", "tuple", "set", "frozenset", "dict")
# Types with a fixed set of values, or of a fixed size.
BOUNDED = {"bool", "enum", "literal", "none", "datetime", "uuid", "date"}


def unbounded(schema: Schema, where: str) -> Iterator[str]:
    """Returns the places in a core schema of pydantic where a value can grow without bound."""
    kind = schema["type"]
    definitions = {found["ref"]: found for found in schema.get("definitions", ())}
    if kind in ("str", "bytes") and "max_length" not in schema:
        yield where
    if kind in ("int", "float") and not (schema.keys() & {"ge", "gt"} and schema.keys() & {"le", "lt"}):
        yield where
    if kind in ITEMS_MAX and "max_length" not in schema and not is_fixed(schema):
        yield where
    if kind in ("any", "is-instance", "callable", "url", "decimal", "json"):
        yield where
    for part, nested in parts_of(schema, definitions):
        yield from unbounded(nested, f"{where}.{part}" if part else where)


def is_fixed(schema: Schema) -> bool:
    return schema["type"] == "tuple" and "variadic_item_index" not in schema


def parts_of(schema: Schema, definitions: dict[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Returns the parts of a schema, each with the name of its field."""
    if schema["type"] == "model-fields":
        yield from ((name, field["schema"]) for name, field in schema["fields"].items())
        return
    for key in ("schema", "items_schema", "keys_schema", "values_schema"):
        found = schema.get(key)
        nested = found if isinstance(found, list) else [found] if isinstance(found, dict) else []
        yield from (("", one) for one in nested)
    yield from (("", one[0] if isinstance(one, tuple) else one) for one in schema.get("choices", ()))
    yield from (("", found) for found in definitions.values())


def unbounded_in(model: Any) -> list[str]:
    return [place for place in unbounded(TypeAdapter(model).core_schema, "") if place not in ALLOWED]


def fields_of(route: APIRoute) -> list[Any]:
    body = route.body_field
    return [*get_flat_params(route.dependant), *([body] if body else [])]


@pytest.mark.parametrize(
    "model", [*REQUESTS, *EVENTS, *PAYLOADS, SnapshotBody], ids=lambda model: model.__name__
)
def test_every_field_of_a_message_is_bounded(model) -> None:
    assert unbounded_in(model) == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_of_a_tool_is_bounded(tool) -> None:
    assert unbounded_in(tool.arguments) == []


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_parameter_of_a_route_is_bounded(route) -> None:
    found = {field.name: list(unbounded(field._type_adapter.core_schema, "")) for field in fields_of(route)}
    assert {name: places for name, places in found.items() if places} == {}


class Unbounded(BaseModel):
    text: str
    number: int
    items: tuple[bool, ...]
    nested: list[dict[str, bytes | None]]


def test_the_check_finds_unbounded_fields() -> None:
    assert set(unbounded_in(Unbounded)) == {".text", ".number", ".items", ".nested"}
    assert len(REQUESTS) > 30
    assert len(ROUTES) > 20
    assert len(PAYLOADS) > 10
