"""Metrics of calls to Qdrant."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_runtime.metrics import exemplar

STORE_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class StoreMetrics:
    """How long calls to Qdrant take, which fail, and what they write."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "prism_store_seconds",
            "Seconds of calls to Qdrant by operation, which may be several requests; failed ones included.",
            ["operation"],
            registry=registry,
            buckets=STORE_BUCKETS_S,
        )
        self._failures = Counter(
            "prism_store_failures",
            "Calls to Qdrant that ended by an error, by operation.",
            ["operation"],
            registry=registry,
        )
        self._points = Counter(
            "prism_points_written", "Points of files and chunks that were sent to Qdrant.", registry=registry
        )

    @contextmanager
    def call(self, operation: str) -> Iterator[None]:
        """Measure a call."""
        began, failures = (
            perf_counter(),
            self._failures.labels(operation),
        )  # which shows it from its first call
        try:
            yield
        except Exception:
            failures.inc()
            raise
        finally:
            self._seconds.labels(operation).observe(perf_counter() - began, exemplar())

    def count_points(self, points: int) -> None:
        """Count written points."""
        self._points.inc(points)
