"""A flush of a connection to NATS says that the server knows all subscriptions, and their ends."""

import nats
import pytest

from prism_runtime.ordered_pings import order_pings


class Written:
    """Records what a client writes, in its order."""

    def __init__(self, client) -> None:
        self.commands: list[str] = []
        self._transport = client._transport
        client._transport = self

    def __getattr__(self, name: str):
        return getattr(self._transport, name)

    def write(self, payload: bytes) -> None:
        self.commands += payload.decode().splitlines()
        self._transport.write(payload)

    def writelines(self, payload: list[bytes]) -> None:
        self.commands += b"".join(payload).decode().splitlines()
        self._transport.writelines(payload)


@pytest.fixture
async def client(nats_server):
    client = await nats.connect(nats_server.url)
    order_pings(client)
    yield client
    await client.close()


async def ignore(_) -> None:
    return None


async def test_a_flush_follows_the_subscriptions_before_it(client) -> None:
    written = Written(client)
    await client.subscribe("parcels", cb=ignore)
    await client.flush()
    assert [command.split()[0] for command in written.commands] == ["SUB", "PING"]


async def test_a_drained_subscription_ends_before_the_flush(client) -> None:
    subscription = await client.subscribe("parcels", cb=ignore)
    await client.flush()
    written = Written(client)
    await subscription.drain()
    assert [command.split()[0] for command in written.commands] == ["UNSUB", "PING"]
