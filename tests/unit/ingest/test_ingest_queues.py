import pytest
from prometheus_client import CollectorRegistry

from prism_contracts import topics
from prism_contracts.base import Lane
from prism_ingest.adapters.metrics import QueueMetrics
from prism_ingest.adapters.queues import _stream_state
from prism_ingest.core.queues import QueueState, StreamState, by_queue, queue_of

INFO = {
    "config": {"name": "S", "max_bytes": -1, "num_replicas": 3},
    "state": {"messages": 2, "bytes": 10},
    "cluster": {"leader": "a", "replicas": [{"name": "b", "current": True}, {"name": "c", "current": False}]},
}


@pytest.mark.parametrize("service", ["chunker", "embedder-deep"])
@pytest.mark.parametrize("lane", Lane)
def test_a_consumer_belongs_to_the_queue_of_its_stage_and_lane(service, lane):
    for topic in topics.ALL_TOPICS:
        assert queue_of(topic.durable(service, lane)) == (service, lane)
    assert queue_of("ingest-dead-letters") is None


def test_a_queue_sums_its_consumers_and_has_the_age_of_the_oldest():
    queue, other = ("indexer", Lane.LIVE), ("indexer", Lane.BULK)
    states = [
        (queue, QueueState(1, 2, 3, 4.0)),
        (other, QueueState(9, 9, 9, 9.0)),
        (queue, QueueState(10, 0, 1, 2.0)),
    ]
    assert by_queue(states) == {queue: QueueState(11, 2, 4, 4.0), other: QueueState(9, 9, 9, 9.0)}


def test_a_stream_of_a_cluster_counts_its_current_copies():
    assert _stream_state(INFO) == StreamState("S", 2, 10, 0, 3, 2, has_leader=True)
    assert _stream_state({**INFO, "cluster": {"name": "C"}}).replicas_current == 0


def test_of_a_stream_without_a_leader_nothing_else_is_shown():
    registry = CollectorRegistry()
    QueueMetrics(registry).show_streams([StreamState("S", 0, 0, 0, 0, 0, has_leader=False)])
    assert registry.get_sample_value("prism_stream_has_leader", {"stream": "S"}) == 0
    assert registry.get_sample_value("prism_stream_replicas_current", {"stream": "S"}) == 0
    assert registry.get_sample_value("prism_stream_bytes", {"stream": "S"}) is None
