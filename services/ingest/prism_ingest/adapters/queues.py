"""Reads the state of streams and queues from JetStream, as an ordinary client.

It needs no monitoring port of NATS, and works with logins and TLS.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import ConsumerInfo
from nats.js.errors import NotFoundError

from prism_contracts.topics import STREAMS
from prism_ingest.core.queues import Queue, QueueState, StreamState, by_queue, queue_of
from prism_runtime.upkeep import read_streams


async def stream_states(connection: Client) -> list[StreamState]:
    """Returns the state of every stream and bucket. Raises NatsError and TimeoutError."""
    found = await read_streams(connection)
    leaderless = (StreamState(name, 0, 0, 0, 0, 0, has_leader=False) for name in found.missing)
    return [*map(_stream_state, found.streams), *leaderless]


async def queue_states(js: JetStreamContext) -> dict[Queue, QueueState]:
    """Returns the state of every queue. Raises NatsError and TimeoutError."""
    found = await asyncio.gather(*(_consumers(js, stream.name) for stream in STREAMS))
    return by_queue(state for states in found for state in states)


async def _consumers(js: JetStreamContext, stream: str) -> Iterable[tuple[Queue, QueueState]]:
    known = [(queue, info) for info in await js.consumers_info(stream) if (queue := queue_of(info.name))]
    states = await asyncio.gather(*(_queue_state(js, info) for _, info in known))
    return zip((queue for queue, _ in known), states, strict=True)


async def _queue_state(js: JetStreamContext, info: ConsumerInfo) -> QueueState:
    return QueueState(
        info.num_pending or 0,
        info.num_ack_pending or 0,
        info.num_redelivered or 0,
        await _oldest_s(js, info) if info.num_pending or info.num_ack_pending else 0.0,
    )


async def _oldest_s(js: JetStreamContext, info: ConsumerInfo) -> float:
    """Returns the age of the first message after those that are all acked."""
    acked = info.ack_floor.stream_seq if info.ack_floor else 0
    try:
        oldest = await js.get_msg(
            info.stream_name, seq=acked + 1, subject=info.config.filter_subject, next=True
        )
    except NotFoundError:  # it was acked meanwhile
        return 0.0
    return max(0.0, (datetime.now(UTC) - oldest.time).total_seconds()) if oldest.time else 0.0


def _stream_state(info: dict[str, Any]) -> StreamState:
    config, state, cluster = info["config"], info["state"], info.get("cluster") or {}
    # A server that is not part of a cluster leads all of its streams.
    has_leader = bool(cluster.get("leader")) or not cluster
    current = sum(bool(replica.get("current")) for replica in cluster.get("replicas") or ())
    return StreamState(
        name=config["name"],
        messages=state["messages"],
        bytes=state["bytes"],
        bytes_limit=max(config.get("max_bytes", 0), 0),
        replicas=config["num_replicas"],
        replicas_current=has_leader + current if has_leader else 0,
        has_leader=has_leader,
    )
