"""Sends pings to NATS behind everything that was sent before them.

nats-py writes a ping at once, and all other commands a moment later, from a task. So `flush` could return before
the server knew a new subscription: the first requests to a service that said it was ready had no responder. And
it could return before the server knew that a subscription had ended: a copy that stopped lost the requests that
still came, and their callers waited until they timed out.
"""

import asyncio
from functools import partial
from typing import Any

from nats.aio.client import PING_PROTO, Client


def order_pings(client: Client) -> None:
    """Have `flush` return only when the server has got all that was sent before."""
    ordered: Any = client
    ordered._send_ping = partial(_send_ping, ordered)  # noqa: SLF001 - nats-py has no hook for it


async def _send_ping(client: Any, future: asyncio.Future[Any] | None = None) -> None:
    client._pongs.append(asyncio.Future() if future is None else future)  # noqa: SLF001
    await client._send_command(PING_PROTO)  # noqa: SLF001
    await client._flush_pending()  # noqa: SLF001
