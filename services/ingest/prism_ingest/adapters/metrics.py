"""Metrics of ingest."""

from collections import Counter as Count
from collections.abc import Iterable, Sized

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from prism_contracts.base import Lane
from prism_contracts.records import Layer, LayerKind

PUSH_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)


class PushMetrics:
    """How long pushes take until they are searchable."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._seconds = Histogram(
            "prism_push_seconds",
            "Seconds from the notification of a push until it is searchable, by step (wait, fetch, plan, "
            "index; total) and lane.",
            ["step", "lane"],
            registry=registry,
            buckets=PUSH_BUCKETS_S,
        )

    def observe(self, lane: Lane, steps: Iterable[tuple[str, float]]) -> None:
        """Count a push that is searchable, given the seconds of each step."""
        for step, seconds in steps:
            self._seconds.labels(step, lane.value).observe(seconds)


class PollMetrics:
    """Counts polls of git servers by outcome."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._polls = Counter(
            "prism_polls",
            "Polls of git servers by outcome: same, behind (starts an import), or the error code.",
            ["outcome"],
            registry=registry,
        )

    def count(self, outcome: str) -> None:
        """Count one poll."""
        self._polls.labels(outcome).inc()


class LayerMetrics:
    """The numbers of layers, their files and variants, and of deleted variants."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._layers = Gauge(
            "prism_layers",
            "Layers by kind (branch, pull_request, overlay), counted by the last sweep.",
            ["kind"],
            registry=registry,
        )
        self._changed = Gauge(
            "prism_layer_files",
            "Overrides of layers; a file counts in each of its layers.",
            registry=registry,
        )
        self._variants = Gauge("prism_variants", "Distinct file contents of layers.", registry=registry)
        self._swept = Counter(
            "prism_variants_swept",
            "Unused file contents that were deleted.",
            registry=registry,
        )

    def show(self, layers: Iterable[Layer], variants: Iterable[Sized]) -> None:
        """Show the numbers that a sweep found."""
        known = list(layers)
        by_kind = Count(layer.kind for layer in known)
        for kind in LayerKind:
            self._layers.labels(kind.value).set(by_kind[kind])
        self._changed.set(sum(layer.files_changed for layer in known))
        self._variants.set(sum(map(len, variants)))

    def count_swept(self, variants: int) -> None:
        """Count variants that a sweep deleted."""
        self._swept.inc(variants)
