"""Prometheus metrics, under the names that Qdrant itself uses where it has them."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from prism_qdrant_local.store import Store

_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics:
    """Counts of answers, and of points at the time of a scrape."""

    def __init__(self, store: Store) -> None:
        """Register everything in its own registry."""
        self._registry = CollectorRegistry()
        self._responses = Counter(
            "rest_responses",
            "Responses by method, endpoint and status.",
            ("method", "endpoint", "status"),
            registry=self._registry,
        )
        self._durations_s = Histogram(
            "rest_responses_duration_seconds",
            "Seconds from the first byte of a request to its answer.",
            ("endpoint",),
            buckets=_BUCKETS_S,
            registry=self._registry,
        )
        self._registry.register(_StoreCollector(store))

    def observe(self, method: str, endpoint: str, status: int, duration_s: float) -> None:
        """Count one answer."""
        self._responses.labels(method, endpoint, str(status)).inc()
        self._durations_s.labels(endpoint).observe(duration_s)

    def render(self) -> bytes:
        """Return the text format."""
        return generate_latest(self._registry)


class _StoreCollector(Collector):
    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterable[GaugeMetricFamily]:
        collections = self._store.collections
        total = GaugeMetricFamily("collections_total", "Collections.", value=len(collections))
        points = GaugeMetricFamily("collection_points", "Points by collection.", labels=("id",))
        for collection in collections:
            points.add_metric((collection.name,), collection.shard.info().points_count)
        return (total, points)
