"""What a dead letter keeps of the message that was given up: whose it was and what it was about, and none of its contents.

A letter stays for a month and operators read it, so it holds no text of files, no packs and no vectors. Its subject names the
tenant, which is how letters are counted by tenant.
"""

import contextlib
import json
import re

from nats.aio.msg import Msg
from pydantic import ValidationError

from prism_contracts.errors import PrismError
from prism_contracts.types import TENANT_PATTERN
from prism_runtime.codec import ClaimCodec

NO_TENANT = "-"  # of a message that cannot be read
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
)
VALUE_CHARS_MAX = 4_096
REASON_CHARS_MAX = 500


async def summary(codec: ClaimCodec, message: Msg) -> tuple[str, bytes]:
    """The tenant of a message, and the body of its letter: the fields of KEPT, as JSON."""
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


def reason(error: Exception) -> str:
    """What went wrong, in one line and without what the message held."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_context=False, include_input=False)
        text = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    else:
        text = str(error)
    return f"{type(error).__name__}: {text}".replace("\r", " ").replace("\n", " ")[:REASON_CHARS_MAX]
