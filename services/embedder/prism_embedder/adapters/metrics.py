"""Metrics of the embedder."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_runtime import tracing
from prism_runtime.tracing import Attribute

BATCH_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
BATCH_BUCKETS_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
COMPUTED, REUSED = "computed", "reused"


class EmbeddingMetrics:
    """How many texts got vectors, and in which batches."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._texts = Counter(
            "prism_embedded_texts",
            "Indexed texts that got vectors by tier (fast, deep) and source: computed, or reused from the vectors of an "
            "equal text.",
            ["tier", "source"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_embedding_batch_seconds",
            "Seconds in which a model computed a batch of indexed texts, by tier.",
            ["tier"],
            registry=registry,
            buckets=BATCH_BUCKETS_S,
        )
        self._sizes = Histogram(
            "prism_embedding_batch_texts",
            "Texts per computed batch, by tier.",
            ["tier"],
            registry=registry,
            buckets=BATCH_BUCKETS_TEXTS,
        )

    def begin(self, tier: str) -> None:
        """Show a tier that now runs."""
        self._seconds.labels(tier)
        self._sizes.labels(tier)
        for source in (COMPUTED, REUSED):
            self._texts.labels(tier, source)

    @contextmanager
    def batch(self, tier: str, texts: int) -> Iterator[None]:
        """Measure the computation of a batch; one that fails does not count."""
        began = perf_counter()
        with tracing.span("embed", {Attribute.MODEL_TIER: tier, Attribute.TEXTS: texts}):
            yield
        self._seconds.labels(tier).observe(perf_counter() - began)
        self._sizes.labels(tier).observe(texts)
        self._texts.labels(tier, COMPUTED).inc(texts)

    def count_reused(self, tier: str, texts: int) -> None:
        """Count texts whose vectors were known."""
        self._texts.labels(tier, REUSED).inc(texts)
