"""Compact JSON schemas: an agent pays for every definition by the token.

Argument schemas are generated from models, without titles and empty defaults. Output schemas are written by
hand, which is shorter. A field without a type is a string: naming that type would add a tenth to all
definitions.
"""

from typing import Any

from pydantic import BaseModel

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
JOB = record(
    job=STRING, repo=STRING, state=STRING, expected=INTEGER, settled=INTEGER, counts=OBJECT, error=OBJECT
)
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

# Titles add nothing. Numbers out of range are brought into it, and an error names the limits of texts and lists.
UNTOLD = frozenset(
    {"title", "minimum", "maximum", "minLength", "minItems", "maxLength", "maxItems", "pattern"}
)
# Unknown arguments are refused all the same, by an error that lists the known ones.
UNTOLD_OF_OBJECTS = ("title", "description", "additionalProperties")
# Accepted by the tools that have them and described in docs/tools.md: few calls need them.
UNLISTED = frozenset({"max_tokens", "include_candidates", "include_file_context"})


def input_schema(arguments: type[BaseModel]) -> Schema:
    """Returns the JSON schema of arguments without the parts that only cost tokens."""
    schema = arguments.model_json_schema()
    for name in UNTOLD_OF_OBJECTS:
        schema.pop(name, None)
    schema["properties"] = {
        name: _compact(field) for name, field in schema.get("properties", {}).items() if name not in UNLISTED
    }
    for nested in schema.get("$defs", {}).values():
        nested.pop("title", None)
        nested["properties"] = {name: _compact(field) for name, field in nested.get("properties", {}).items()}
    return schema


def _compact(field: Schema) -> Schema:
    shown = {
        key: value
        for key, value in field.items()
        if key not in UNTOLD and not (key == "default" and not value)
    }
    if isinstance(shown.get("items"), dict):
        shown["items"] = _compact(shown["items"])
    if isinstance(shown.get("anyOf"), list):
        shown["anyOf"] = [_compact(option) for option in shown["anyOf"]]
    return shown
