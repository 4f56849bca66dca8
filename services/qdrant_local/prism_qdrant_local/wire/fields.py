"""Strict reading of decoded JSON: a value of the wrong type or an unknown field is refused by name."""

from collections.abc import Iterable
from typing import Any

from prism_qdrant_local.errors import bad_request, invalid

UINT64_MAX = 2**64 - 1


def read_object(value: object, where: str, allowed: frozenset[str]) -> dict[str, Any]:
    """Return the object without its nulls; refuse anything else, and fields outside `allowed`."""
    if not isinstance(value, dict):
        raise bad_request(f"Format error in JSON body: {where} must be an object")
    unknown = sorted(value.keys() - allowed)
    if unknown:
        expected = ", ".join(f"`{name}`" for name in sorted(allowed))
        raise bad_request(
            f"Format error in JSON body: {where}: unknown field `{unknown[0]}`, expected one of {expected}"
        )
    return {name: field for name, field in value.items() if field is not None}


def require(fields: dict[str, Any], name: str, where: str) -> Any:
    """Return a field that must be there."""
    if name not in fields:
        raise bad_request(f"Format error in JSON body: {where}: missing field `{name}`")
    return fields[name]


def read_string(value: object, where: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise bad_request(f"Format error in JSON body: {where} must be a string")
    return value


def read_bool(value: object, where: str) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise bad_request(f"Format error in JSON body: {where} must be true or false")
    return value


def read_integer(value: object, where: str, minimum: int = 0, maximum: int = UINT64_MAX) -> int:
    """Return an integer within bounds, both inclusive."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise bad_request(f"Format error in JSON body: {where} must be an integer")
    if value < minimum:
        raise invalid(f"{where}: value {value} invalid, must be {minimum} or larger")
    if value > maximum:
        raise invalid(f"{where}: value {value} invalid, must be {maximum} or smaller")
    return value


def read_number(value: object, where: str) -> float:
    """Return a number as a float."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise bad_request(f"Format error in JSON body: {where} must be a number")
    return float(value)


def read_list(value: object, where: str, length_max: int | None = None) -> list[Any]:
    """Return a list of at most `length_max` items."""
    if not isinstance(value, list):
        raise bad_request(f"Format error in JSON body: {where} must be a list")
    if length_max is not None and len(value) > length_max:
        raise invalid(f"{where}: {len(value)} items, must be {length_max} or fewer")
    return value


def read_strings(value: object, where: str) -> list[str]:
    """Return a list of strings."""
    return [read_string(item, where) for item in read_list(value, where)]


def read_choice(value: object, where: str, choices: Iterable[str]) -> str:
    """Return a string that is one of `choices`."""
    name = read_string(value, where)
    allowed = sorted(choices)
    if name not in allowed:
        raise bad_request(f"Format error in JSON body: {where}: `{name}` is not one of {', '.join(allowed)}")
    return name


def optional_bool(fields: dict[str, Any], name: str, where: str) -> bool | None:
    """Return a boolean field, or None when it is absent."""
    return read_bool(fields[name], f"{where}.{name}") if name in fields else None


def optional_integer(fields: dict[str, Any], name: str, where: str) -> int | None:
    """Return an integer field, or None when it is absent."""
    return read_integer(fields[name], f"{where}.{name}") if name in fields else None
