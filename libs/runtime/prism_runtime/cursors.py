"""Cursors of paged lists: opaque to callers, bound to the question, and checked when they return."""

import base64
import hashlib
import json
from typing import Any

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.types import COUNT_MAX, CURSOR_CHARS_MAX


def write_cursor(question: str, *position: str | int) -> str:
    """Returns the cursor of the next page of a question."""
    body = json.dumps([_digest(question), *position], separators=(",", ":"))
    return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")


def read_cursor(question: str, cursor: str, kinds: tuple[type, ...]) -> tuple[str | int, ...]:
    """Returns the position in a cursor. Raises INVALID_CURSOR if the cursor belongs to another question."""
    body = _decode(cursor)
    if (
        not body
        or body[0] != _digest(question)
        or tuple(map(type, body[1:])) != kinds
        or any(isinstance(part, int) and not 0 <= part <= COUNT_MAX for part in body[1:])
    ):
        raise PrismError(
            ErrorCode.INVALID_CURSOR,
            "The cursor does not belong to this question.",
            "Call again without a cursor.",
        )
    return tuple(body[1:])


def _decode(cursor: str) -> list[Any]:
    if len(cursor) > CURSOR_CHARS_MAX:
        return []
    try:
        body = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        return []
    return body if isinstance(body, list) else []


def _digest(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:12]
