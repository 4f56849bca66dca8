"""Ends connections to NATS servers that vanished while something was being sent to them."""

import asyncio

from nats.aio.client import Client

LOOK_EVERY_S = 0.5


async def abort_dead_connections(client: Client) -> None:
    """Abort the former connection of a client that reconnects, until cancelled.

    Before it connects to another server, nats-py closes the former connection, and waits until all is sent: to
    a server that vanished, until the kernel gives up after many minutes.
    """
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        writer = getattr(client._transport, "_io_writer", None)  # noqa: SLF001 - there is no other way to it
        if client.is_reconnecting and writer is not None and writer.transport.is_closing():
            writer.transport.abort()
