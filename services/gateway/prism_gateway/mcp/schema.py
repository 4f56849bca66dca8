"""Schemas that cost an agent little: it pays for every definition by the token.

Titles and empty defaults go from what models tell of arguments. The shape of a result is written by hand instead of spelled out
from models, and what has no type in it is a string: to say so at each would cost a tenth of all definitions.
"""

from typing import Any

from pydantic import BaseModel

from prism_contracts.types import COUNT_MAX, LINE_MAX

Schema = dict[str, Any]

STRING: Schema = {}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
ARRAY: Schema = {"type": "array"}


def record(**fields: Schema) -> Schema:
    """An object with these fields, any of which may be absent."""
    return {"type": "object", "properties": fields}


def array(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


STRINGS = array(STRING)

# Fields that results have in common.
PLACE = {"repo": STRING, "file_path": STRING, "start_line": INTEGER, "end_line": INTEGER}
SYMBOL = {"name": STRING, "kind": STRING, "signature": STRING, "docstring": STRING}
RECEIPT = {"receipt": OBJECT}
TRUNCATED = {"truncated": BOOLEAN}

# Titles tell nothing; bounds of texts, and how much an answer may cost at most, are what nobody runs into. The error names them.
UNTOLD = frozenset({"title", "minimum", "minLength", "minItems", "maxLength", "pattern"})
# Of positions in files, which end long before.
UNTOLD_MAXIMUM = frozenset({LINE_MAX, COUNT_MAX})


def input_schema(arguments: type[BaseModel]) -> Schema:
    """The JSON schema of arguments without what costs tokens and tells nothing."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    schema["properties"] = {
        name: _compact(name, field) for name, field in schema.get("properties", {}).items()
    }
    for nested in schema.get("$defs", {}).values():
        nested["properties"] = {
            name: _compact(name, field) for name, field in nested.get("properties", {}).items()
        }
    return schema


def _compact(name: str, field: Schema) -> Schema:
    is_untold = name == "max_tokens" or field.get("maximum") in UNTOLD_MAXIMUM
    untold = UNTOLD | {"maximum"} if is_untold else UNTOLD
    told = {
        key: value
        for key, value in field.items()
        if key not in untold and not (key == "default" and not value)
    }
    if isinstance(told.get("items"), dict):
        told["items"] = _compact("", told["items"])
    if isinstance(told.get("anyOf"), list):
        told["anyOf"] = [_compact("", option) for option in told["anyOf"]]
    return told
