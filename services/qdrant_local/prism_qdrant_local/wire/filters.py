"""Qdrant's filter JSON to the engine's `Filter`.

Takes decoded JSON, returns engine objects. An unknown condition is refused by name: an ignored condition
would widen the answer.
"""

from __future__ import annotations  # some of the engine's types exist in its stub only

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from prism_qdrant_local.errors import bad_request
from prism_qdrant_local.limits import FILTER_DEPTH_MAX
from prism_qdrant_local.wire.fields import (
    read_bool,
    read_integer,
    read_list,
    read_number,
    read_object,
    read_string,
    read_strings,
    require,
)
from prism_qdrant_local.wire.ids import read_ids

_FILTER = frozenset({"must", "should", "must_not", "min_should"})
_FIELD_TESTS = frozenset({"match", "range", "values_count", "is_empty", "is_null"})
_FIELD = _FIELD_TESTS | {"key"}
_BOUNDS = frozenset({"gte", "gt", "lte", "lt"})
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_KEY = frozenset({"key"})
_MIN_SHOULD = frozenset({"conditions", "min_count"})


def read_filter(body: object, depth: int = 0) -> edge.Filter:
    """Build a filter; `depth` counts the filters around this one."""
    if depth >= FILTER_DEPTH_MAX:
        raise bad_request(f"Wrong input: filter is nested deeper than {FILTER_DEPTH_MAX} levels")
    fields = read_object(body, "filter", _FILTER)
    return edge.Filter(
        must=_clause(fields, "must", depth),
        should=_clause(fields, "should", depth),
        must_not=_clause(fields, "must_not", depth),
        min_should=_min_should(fields["min_should"], depth) if "min_should" in fields else None,
    )


def read_optional_filter(fields: dict[str, Any], name: str = "filter") -> edge.Filter | None:
    """Build the filter in field `name`, or return None when the field is absent."""
    return read_filter(fields[name]) if name in fields else None


def _clause(fields: dict[str, Any], name: str, depth: int) -> list[edge.ConditionType] | None:
    if name not in fields:
        return None
    conditions = fields[name] if isinstance(fields[name], list) else [fields[name]]
    return [_condition(condition, depth) for condition in conditions]


def _min_should(body: object, depth: int) -> edge.MinShould:
    fields = read_object(body, "min_should", _MIN_SHOULD)
    conditions = read_list(require(fields, "conditions", "min_should"), "min_should.conditions")
    min_count = read_integer(require(fields, "min_count", "min_should"), "min_should.min_count")
    return edge.MinShould([_condition(condition, depth) for condition in conditions], min_count)


def _condition(body: object, depth: int) -> edge.ConditionType:
    if not isinstance(body, dict):
        raise bad_request("Format error in JSON body: a filter condition must be an object")
    if "key" in body:
        return _field_condition(body)
    if body.keys() <= _FILTER:
        return read_filter(body, depth + 1)
    for name, build in _WHOLE_POINT.items():
        if name in body:
            return build(read_object(body, "filter condition", frozenset({name})).get(name))
    raise bad_request(f"Wrong input: filter condition {sorted(body)} is not supported")


def _has_id(value: object) -> edge.HasIdCondition:
    return edge.HasIdCondition(set(read_ids(value, "has_id", length_max=None)))


def _has_vector(value: object) -> edge.HasVectorCondition:
    return edge.HasVectorCondition(read_string(value, "has_vector"))


def _is_empty(value: object) -> edge.IsEmptyCondition:
    return edge.IsEmptyCondition(_payload_key(value, "is_empty"))


def _is_null(value: object) -> edge.IsNullCondition:
    return edge.IsNullCondition(_payload_key(value, "is_null"))


_WHOLE_POINT: dict[str, Callable[[object], edge.ConditionType]] = {
    "has_id": _has_id,
    "has_vector": _has_vector,
    "is_empty": _is_empty,
    "is_null": _is_null,
}


def _payload_key(value: object, where: str) -> str:
    return read_string(require(read_object(value, where, _KEY), "key", where), f"{where}.key")


def _field_condition(body: dict[str, Any]) -> edge.FieldCondition:
    fields = read_object(body, "field condition", _FIELD)
    key = read_string(fields.pop("key", None), "key")
    if len(fields) != 1:
        tests = ", ".join(sorted(_FIELD_TESTS))
        raise bad_request(f"Wrong input: the condition on `{key}` must hold exactly one of {tests}")
    ((test, value),) = fields.items()
    return _FIELD_BUILDERS[test](key, value)


def _on_match(key: str, value: object) -> edge.FieldCondition:
    return edge.FieldCondition(key, match=_match(value))


def _on_range(key: str, value: object) -> edge.FieldCondition:
    bounds = read_object(value, "range", _BOUNDS)
    for one, other in (("gt", "gte"), ("lt", "lte")):
        if one in bounds and other in bounds:  # an index of the engine uses one of the two
            raise bad_request(f"Wrong input: the range on `{key}` must not hold both {one} and {other}")
    return edge.FieldCondition(
        key,
        range=edge.RangeFloat(
            **{name: read_number(bound, f"range.{name}") for name, bound in bounds.items()}
        ),
    )


def _on_values_count(key: str, value: object) -> edge.FieldCondition:
    bounds = read_object(value, "values_count", _BOUNDS)
    counts = {name: read_integer(bound, f"values_count.{name}") for name, bound in bounds.items()}
    return edge.FieldCondition(key, values_count=edge.ValuesCount(**counts))


def _on_is_empty(key: str, value: object) -> edge.FieldCondition:
    return edge.FieldCondition(key, is_empty=read_bool(value, "is_empty"))


def _on_is_null(key: str, value: object) -> edge.FieldCondition:
    return edge.FieldCondition(key, is_null=read_bool(value, "is_null"))


_FIELD_BUILDERS: dict[str, Callable[[str, object], edge.FieldCondition]] = {
    "match": _on_match,
    "range": _on_range,
    "values_count": _on_values_count,
    "is_empty": _on_is_empty,
    "is_null": _on_is_null,
}


def _match(body: object) -> edge.MatchType:
    fields = read_object(body, "match", frozenset(_MATCHES))
    if len(fields) != 1:
        raise bad_request(f"Wrong input: match must hold exactly one of {', '.join(_MATCHES)}")
    ((kind, value),) = fields.items()
    return _MATCHES[kind](value)


def _match_value(value: object) -> edge.MatchValue:
    if isinstance(value, str):
        return edge.MatchValue(value)
    if isinstance(value, bool):
        return _match_bool(value)
    return edge.MatchValue(read_integer(value, "match.value", _INT64_MIN, _INT64_MAX))


def _match_bool(value: bool) -> edge.MatchValue:
    """Convert booleans: the engine reads Python's as the integers 1 and 0, and numpy's as booleans."""
    import numpy as np  # 25 MB that most servers never need

    return edge.MatchValue(np.bool_(value))  # type: ignore[arg-type]


def _any_of(value: object, where: str) -> list[str] | list[int]:
    variants = read_list(value, where)
    if variants and isinstance(variants[0], str):
        return read_strings(variants, where)
    return [read_integer(item, where, _INT64_MIN, _INT64_MAX) for item in variants]


_MATCHES: dict[str, Callable[[object], edge.MatchType]] = {
    "value": _match_value,
    "any": lambda value: edge.MatchAny(_any_of(value, "match.any")),
    "except": lambda value: edge.MatchExcept(_any_of(value, "match.except")),
    "text": lambda value: edge.MatchText(read_string(value, "match.text")),
    "text_any": lambda value: edge.MatchTextAny(read_string(value, "match.text_any")),
    "phrase": lambda value: edge.MatchPhrase(read_string(value, "match.phrase")),
    "prefix": lambda value: edge.MatchPrefix(read_string(value, "match.prefix")),
}
