"""Counters that alerts watch exist before the first failure: Prometheus sees no increase from nothing to 1."""

import pytest
from prometheus_client import CollectorRegistry

from prism_atlas.adapters.metrics import BuildMetrics
from prism_gateway.accounting.audit import AuditMetrics
from prism_ingest.adapters.metrics import GitMetrics, PushMetrics


@pytest.mark.parametrize(
    ("make", "name", "labels"),
    [
        (BuildMetrics, "prism_graph_builds_total", {"lane": "live", "outcome": "failed"}),
        (AuditMetrics, "prism_audit_entries_total", {"outcome": "lost"}),
        (GitMetrics, "prism_git_operations_total", {"operation": "fetch", "outcome": "clone_failed"}),
        (PushMetrics, "prism_searchable_seconds_count", {"source": "edit"}),
    ],
)
def test_a_counter_begins_at_zero(make, name: str, labels: dict[str, str]) -> None:
    registry = CollectorRegistry()
    make(registry)
    assert registry.get_sample_value(name, labels) == 0
