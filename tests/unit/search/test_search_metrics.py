"""The legs of a search as metrics."""

import pytest
from prometheus_client import CollectorRegistry

from prism_contracts.errors import ErrorCode, PrismError
from prism_search.adapters.metrics import SearchMetrics


def test_a_request_that_fails_is_a_failure_of_each_of_its_legs():
    registry = CollectorRegistry()
    metrics = SearchMetrics(registry)
    with metrics.asking(["keyword", "path"]):
        pass
    with pytest.raises(PrismError), metrics.asking(["keyword", "vector"]):
        raise PrismError(ErrorCode.UNAVAILABLE, "Qdrant is not reachable.")

    def shown(leg: str) -> tuple[float | None, float | None]:
        labels = {"leg": leg}
        return (
            registry.get_sample_value("prism_search_leg_seconds_count", labels),
            registry.get_sample_value("prism_search_leg_failures_total", labels),
        )

    assert {leg: shown(leg) for leg in ("keyword", "path", "vector", "deep")} == {
        "keyword": (1, 1),
        "path": (1, 0),
        "vector": (0, 1),
        "deep": (0, 0),
    }
