"""The metrics that dashboards and alerts may name, with their labels: Prism's own, and those of named exporters."""

import re
from collections.abc import Iterator
from pathlib import Path

METRICS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<type>\w+) \| (?P<labels>[^|]*) \|")
# What Prometheus adds to every sample, and the scrape configurations of deploy/ as well (`service`).
OF_TARGETS = frozenset({"job", "instance", "service", "namespace", "pod"})

Metrics = dict[str, frozenset[str]]

# Metrics that do not come from Prism, by what exposes them.
EXPORTERS: dict[str, dict[str, set[str]]] = {
    "Prometheus": {"up": set(), "ALERTS": {"alertname", "alertstate", "severity"}},
    # https://prometheus.github.io/client_python/collector/
    "the client for Python": {
        "process_cpu_seconds_total": set(),
        "process_resident_memory_bytes": set(),
        "process_start_time_seconds": set(),
    },
    # https://qdrant.tech/documentation/guides/monitoring/
    "Qdrant": {
        "collection_dead_replicas": set(),
        "collection_running_optimizations": {"id"},
        "cluster_pending_operations_total": set(),
        "memory_resident_bytes": set(),
    },
    # https://kubernetes.io/docs/reference/instrumentation/metrics/
    "the kubelet": {
        "kubelet_volume_stats_available_bytes": {"persistentvolumeclaim"},
        "kubelet_volume_stats_capacity_bytes": {"persistentvolumeclaim"},
    },
    # https://github.com/kubernetes/kube-state-metrics/tree/main/docs/metrics
    "kube-state-metrics": {
        "kube_horizontalpodautoscaler_status_current_replicas": {"horizontalpodautoscaler"},
        "kube_horizontalpodautoscaler_spec_max_replicas": {"horizontalpodautoscaler"},
    },
    # https://cert-manager.io/docs/devops-tips/prometheus-metrics/
    "cert-manager": {"certmanager_certificate_expiration_timestamp_seconds": {"name"}},
    # https://github.com/prometheus/blackbox_exporter
    "the blackbox exporter": {"probe_ssl_earliest_cert_expiry": set(), "probe_success": set()},
}


def known_metrics() -> Metrics:
    """Returns every name that is exposed, such as `…_total` and `…_bucket`, with its labels."""
    own = dict(_exposed(METRICS_PAGE.read_text(encoding="utf-8")))
    foreign = {name: labels for metrics in EXPORTERS.values() for name, labels in metrics.items()}
    return own | {name: frozenset(labels) | OF_TARGETS for name, labels in foreign.items()}


def _exposed(page: str) -> Iterator[tuple[str, frozenset[str]]]:
    for line in page.splitlines():
        if row := ROW.match(line):
            name, labels = row["name"], OF_TARGETS | set(re.findall(r"`(\w+)`", row["labels"]))
            if row["type"] == "histogram":
                yield f"{name}_bucket", labels | {"le"}
                yield f"{name}_sum", labels
                yield f"{name}_count", labels
            else:
                yield name + ("_total" if row["type"] == "counter" else ""), labels
