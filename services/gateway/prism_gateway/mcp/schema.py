"""Compact JSON schemas: an agent pays for every definition by the token.

Argument schemas are generated from models, without titles and empty defaults. Output schemas are written by
hand, which is shorter. A field without a type is a string: naming that type would add a tenth to all
definitions.
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
    """Returns the schema of an object with these optional fields."""
    return {"type": "object", "properties": fields}


def array(items: Schema) -> Schema:
    """Returns the schema of a list."""
    return {"type": "array", "items": items}


STRINGS = array(STRING)

# Fields that results have in common.
PLACE = {"repo": STRING, "file_path": STRING, "start_line": INTEGER, "end_line": INTEGER}
SYMBOL = {"name": STRING, "kind": STRING, "signature": STRING, "docstring": STRING}
RECEIPT = {"receipt": OBJECT}
TRUNCATED = {"truncated": BOOLEAN}
# The result of both searches, in code and in prose.
SEARCH_OUTPUT = record(
    results=array(
        record(
            **PLACE,
            content=STRING,
            symbol=STRING,
            kind=STRING,
            language=STRING,
            score=NUMBER,
            legs=OBJECT,
            file_context=OBJECT,
        )
    ),
    confidence=STRING,
    query_intent=STRING,
    next_actions=STRINGS,
    next_cursor=STRING,
    diagnostics=OBJECT,
    **TRUNCATED,
    **RECEIPT,
)

# Titles add nothing. Calls rarely reach the length limits of texts and the highest budget, and the error
# names them.
UNTOLD = frozenset({"title", "minimum", "minLength", "minItems", "maxLength", "pattern"})
# The bound of positions in files, which are far smaller.
UNTOLD_MAXIMUM = frozenset({LINE_MAX, COUNT_MAX})


def input_schema(arguments: type[BaseModel]) -> Schema:
    """Returns the JSON schema of arguments without the parts that only cost tokens."""
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
    shown = {
        key: value
        for key, value in field.items()
        if key not in untold and not (key == "default" and not value)
    }
    if isinstance(shown.get("items"), dict):
        shown["items"] = _compact("", shown["items"])
    if isinstance(shown.get("anyOf"), list):
        shown["anyOf"] = [_compact("", option) for option in shown["anyOf"]]
    return shown
