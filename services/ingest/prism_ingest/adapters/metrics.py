"""What ingest tells Prometheus."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_contracts.base import Lane

PUSH_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)


class PushMetrics:
    """How long pushes take until they are searchable."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "prism_push_seconds",
            "Seconds from the moment a push was heard of until it is searchable, by step (wait, fetch, plan, index; "
            "total) and by the lane that its files went in.",
            ["step", "lane"],
            registry=registry,
            buckets=PUSH_BUCKETS_S,
        )

    def observe(self, lane: Lane, steps: Iterable[tuple[str, float]]) -> None:
        """One push that is searchable."""
        for step, seconds in steps:
            self._seconds.labels(step, lane.value).observe(seconds)


class PollMetrics:
    """Counts looks at git servers by what they found."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._looks = Counter(
            "prism_polls",
            "Looks at git servers by outcome: same, behind (an import begins), or the code of the error.",
            ["outcome"],
            registry=registry,
        )

    def count(self, outcome: str) -> None:
        """One look."""
        self._looks.labels(outcome).inc()
