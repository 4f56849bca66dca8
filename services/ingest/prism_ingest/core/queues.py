"""Queues of the pipeline, as the consumers of JetStream describe them. A stage has a queue per lane."""

from collections.abc import Iterable
from typing import NamedTuple

from prism_contracts.base import Lane


class StreamState(NamedTuple):
    """A stream or bucket at a moment."""

    name: str
    messages: int
    bytes: int
    bytes_limit: int  # 0: none
    replicas: int
    replicas_current: int  # with all messages, the leader among them; 0 without a leader
    has_leader: bool


class QueueState(NamedTuple):
    """What waits for a stage at a moment."""

    pending: int  # messages that were not delivered yet
    in_flight: int  # delivered and not acked
    redelivered: int  # those in flight that were delivered before
    oldest_s: float  # age of the oldest message that is not acked, in seconds; 0 if there is none


Queue = tuple[str, Lane]  # stage and lane
EMPTY = QueueState(0, 0, 0, 0.0)


def queue_of(consumer: str) -> Queue | None:
    """Returns the queue of a durable consumer such as `chunker-live-file-changed`; None if it is none of a lane."""
    for lane in Lane:
        stage, found, _ = consumer.partition(f"-{lane.value}-")
        if found:
            return stage, lane
    return None


def by_queue(states: Iterable[tuple[Queue, QueueState]]) -> dict[Queue, QueueState]:
    """Returns the state of each queue, given that of each of its consumers: a stage has one per fact."""
    queues: dict[Queue, QueueState] = {}
    for queue, state in states:
        known = queues.get(queue, EMPTY)
        queues[queue] = QueueState(
            known.pending + state.pending,
            known.in_flight + state.in_flight,
            known.redelivered + state.redelivered,
            max(known.oldest_s, state.oldest_s),
        )
    return queues
