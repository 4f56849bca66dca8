"""Metrics of search."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Histogram

from prism_contracts.errors import PrismError
from prism_runtime.metrics import CALL_BUCKETS_S, exemplar
from prism_search.adapters.answers import Found
from prism_search.core.reranking import RERANK_STEP
from prism_search.core.retrieval.plan import LEGS

STEP_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
STEPS = ("prepare", "cache", "embed", "legs", "fuse", "files", "rank", "assemble", "receipt")
TIERS = ("fast", "deep")


class SearchMetrics:
    """How long searches take, and their steps and legs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._answers = Histogram(
            "prism_search_answer_seconds",
            "Seconds of a search, by where its answer was found: memory, shared, nowhere, passed (see "
            "prism_search_answers). Errors do not count.",
            ["found"],
            registry=registry,
            buckets=CALL_BUCKETS_S,
        )
        self._steps = Histogram(
            "prism_search_step_seconds",
            "Seconds of the steps of a search: prepare, cache, embed, legs, fuse, files, rank, "
            "rerank (if a reranker is asked), assemble, receipt.",
            ["step"],
            registry=registry,
            buckets=STEP_BUCKETS_S,
        )
        self._legs = Histogram(
            "prism_search_leg_seconds",
            "Seconds of the request to the store that a leg was part of: `deep` has its own, the others share one.",
            ["leg"],
            registry=registry,
            buckets=STEP_BUCKETS_S,
        )
        self._failures = Counter(
            "prism_search_leg_failures",
            "Legs that did not contribute: the store failed, or the model was missing, late or another one.",
            ["leg"],
            registry=registry,
        )
        for found in Found:
            self._answers.labels(found.value)
        for step in (*STEPS, RERANK_STEP):
            self._steps.labels(step)
        for leg in LEGS:
            self._legs.labels(leg)
            self._failures.labels(leg)

    def observe(self, found: Found, seconds: float, steps_ms: Mapping[str, float]) -> None:
        """Count a search that was answered, with its steps."""
        self._answers.labels(found.value).observe(seconds, exemplar())
        for step, milliseconds in steps_ms.items():
            self._steps.labels(step).observe(milliseconds / 1000)

    @contextmanager
    def asking(self, legs: Iterable[str]) -> Iterator[None]:
        """Measure the request of these legs. Its failure is theirs."""
        began, asked = perf_counter(), tuple(legs)
        try:
            yield
        except PrismError:
            for leg in asked:
                self.count_failure(leg)
            raise
        seconds = perf_counter() - began
        for leg in asked:
            self._legs.labels(leg).observe(seconds)

    def count_failure(self, leg: str) -> None:
        """Count a leg that did not contribute."""
        self._failures.labels(leg).inc()


class QueryEmbeddingMetrics:
    """How long questions wait for their vectors."""

    def __init__(self, registry: CollectorRegistry) -> None:
        seconds = Histogram(
            "prism_query_embedding_seconds",
            "Seconds until a question had its vector, or was answered without it, by tier (fast, deep).",
            ["tier"],
            registry=registry,
            buckets=STEP_BUCKETS_S,
        )
        self.fast, self.deep = (seconds.labels(tier) for tier in TIERS)
