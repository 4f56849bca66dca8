"""The body of a dead letter: tenant and subject of the failed message, and none of its contents.

A dead letter is stored for a month and read by operators, so it contains no text of files, no packs and no
vectors. Its NATS subject contains the tenant, so letters can be counted by tenant. The letter of an event that
has only the fields of KEPT holds the whole event, which can be published again.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

from nats.aio.msg import Msg
from pydantic import ValidationError

from prism_contracts.errors import PrismError
from prism_contracts.types import TENANT_PATTERN
from prism_runtime.codec import ClaimCodec

NO_TENANT = "-"  # for a message that cannot be decoded
KEPT = (
    "v",
    "tenant",
    "repo",
    "layer",
    "path",
    "version",
    "job",
    "ordinal",
    "lane",
    "pack",
    "commit",
    "branch",
    "complete",
    "object",
)
VALUE_CHARS_MAX = 4_096
REASON_CHARS_MAX = 500


async def summary(codec: ClaimCodec, message: Msg) -> tuple[str, bytes]:
    """Returns the tenant of a message and the body of its dead letter: the fields of KEPT, as JSON."""
    event: object = None
    with contextlib.suppress(PrismError, ValueError):
        headers = message.headers or {}
        event = json.loads(await codec.decode_body(message.data, headers.get("content-type", "")))
    if not isinstance(event, dict):
        return NO_TENANT, b"{}"
    kept = {
        name: event[name]
        for name in KEPT
        if isinstance(event.get(name), str | int) and len(str(event[name])) <= VALUE_CHARS_MAX
    }
    tenant = event.get("tenant")
    is_known = isinstance(tenant, str) and re.fullmatch(TENANT_PATTERN, tenant)
    return str(tenant) if is_known else NO_TENANT, json.dumps(kept).encode()


def fields_of(body: bytes | None) -> Mapping[str, Any]:
    """Returns the kept fields in the body of a dead letter; none if it cannot be read."""
    try:
        fields = json.loads(body or b"")
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def reason(error: Exception) -> str:
    """Returns the reason in one line, without contents of the message."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    else:
        text = str(error)
    return f"{type(error).__name__}: {text}".replace("\r", " ").replace("\n", " ")[:REASON_CHARS_MAX]
