"""What is known of a search request before the store is asked."""

import time
from dataclasses import dataclass

from prism_catalog.target import Target
from prism_contracts.rpc.search import SearchRequest
from prism_search.core.query import Query


class Clock:
    """Milliseconds between laps, by name; laps of the same name add up."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Adds the time since the last lap to this name."""
        now = time.perf_counter()
        self.laps[name] = round(self.laps.get(name, 0.0) + (now - self._last) * 1000, 2)
        self._last = now


@dataclass(frozen=True)
class SearchContext:
    """A search request, its parsed query and the target it resolves to."""

    request: SearchRequest
    query: Query
    target: Target
    clock: Clock
