"""What is known of a search request before the store is asked."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry.trace import Span

from prism_catalog.target import Target
from prism_contracts.rpc.search import SearchRequest
from prism_runtime import tracing
from prism_search.core.query import Query


class Steps:
    """The steps of a search, measured once for its reply, its log line and its spans."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}  # by step; those of a repeated step add up

    @contextmanager
    def step(self, name: str) -> Iterator[Span]:
        """A step around a block, and its span."""
        began = time.perf_counter()
        try:
            with tracing.span(f"search {name}") as span:
                yield span
        finally:
            spent = (time.perf_counter() - began) * 1000
            self.milliseconds[name] = round(self.milliseconds.get(name, 0.0) + spent, 2)


@dataclass(frozen=True)
class SearchContext:
    """A search request, its parsed query and the target it resolves to."""

    request: SearchRequest
    query: Query
    target: Target
    steps: Steps
