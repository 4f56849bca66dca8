"""Prometheus metrics of atlas."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from prism_contracts.base import Lane

BUILD_BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
BUILD_OUTCOMES = ("built", "needless", "failed")


class BuildMetrics:
    """Counts, durations and queue length of graph builds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._builds = Counter(
            "prism_graph_builds",
            "Graph builds by lane and outcome: built, needless (a newer graph exists), failed.",
            ["lane", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_graph_build_seconds",
            "Seconds from the request of a build until its graph is served, by lane.",
            ["lane"],
            registry=registry,
            buckets=BUILD_BUCKETS_S,
        )
        self._waiting = Gauge(
            "prism_graph_builds_waiting",
            "Builds that are queued or running, by lane.",
            ["lane"],
            registry=registry,
        )
        # An alert on an increase needs the 0 before the first failure.
        for lane in Lane:
            self._seconds.labels(lane.value)
            self._waiting.labels(lane.value)
            for outcome in BUILD_OUTCOMES:
                self._builds.labels(lane.value, outcome)

    @contextmanager
    def build(self, lane: Lane) -> Iterator[None]:
        """Count a build as waiting; as failed if it raises."""
        with self._waiting.labels(lane.value).track_inprogress():
            try:
                yield
            except BaseException:
                self._builds.labels(lane.value, "failed").inc()
                raise

    def served(self, lane: Lane, seconds: float) -> None:
        """Count a build whose graph is now served."""
        self._builds.labels(lane.value, "built").inc()
        self._seconds.labels(lane.value).observe(seconds)

    def needless(self, lane: Lane) -> None:
        """Count a build that was skipped because a newer graph exists."""
        self._builds.labels(lane.value, "needless").inc()
