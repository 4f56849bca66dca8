"""Does the index answer, and is all of it there?"""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.dashboards.panels import Limits, Query, dashboard, lines, numbers, quantile, share

REQUESTS = "sum(rate(rest_responses_total[$__rate_interval]))"
FAILED = 'sum(rate(rest_responses_total{status=~"5.."}[$__rate_interval]))'


def build() -> Dashboard:
    """Returns the dashboard of Qdrant. The local store has the metrics of collections and requests only."""
    return (
        dashboard(
            "prism-qdrant", "Prism: does the index answer?", "Qdrant, or the local store with fewer metrics."
        )
        .with_panel(
            numbers(
                "Nodes that answer",
                "Nodes whose /metrics answers.",
                "none",
                Query('sum(up{service="qdrant"})', ""),
                limits=Limits(),
                width=6,
                runbook="service-down",
            )
        )
        .with_panel(
            numbers(
                "Points",
                "Chunks, files and symbols in all collections, as the fullest node counts them.",
                "short",
                Query("max(sum by (instance) (collection_points))", ""),
                width=6,
            )
        )
        .with_panel(
            numbers(
                "Dead copies of shards",
                "Copies that miss writes. Qdrant restores them; when it does not, see the runbook.",
                "none",
                Query("max(collection_dead_replicas)", ""),
                width=6,
                limits=Limits(wrong=1),
                runbook="shard-copies-dead",
            )
        )
        .with_panel(
            numbers(
                "Waiting changes of the cluster",
                "Operations of Raft that a node has not applied. They stay above 0 where nodes disagree.",
                "none",
                Query("max(cluster_pending_operations_total)", ""),
                width=6,
                limits=Limits(warning=1),
            )
        )
        .with_panel(
            lines(
                "How much is asked?",
                "Requests per second by endpoint.",
                "reqps",
                Query("sum by (endpoint) (rate(rest_responses_total[$__rate_interval]))", "{{endpoint}}"),
            )
        )
        .with_panel(
            lines(
                "How many requests fail?",
                "Share of requests that end in an error of the server.",
                "percentunit",
                Query(share(FAILED, REQUESTS), "failed"),
                limits=Limits(wrong=0.01),
                runbook="store-fails",
            )
        )
        .with_panel(
            lines(
                "How slow are requests?",
                "95 % of the requests to an endpoint are faster.",
                "s",
                Query(quantile(0.95, "rest_responses_duration_seconds", "endpoint"), "{{endpoint}}"),
            )
        )
        .with_panel(
            lines(
                "How many points does a collection have?",
                "On the fullest node. A fall without a removal: files were lost.",
                "short",
                Query("max by (id) (collection_points)", "{{id}}"),
            )
        )
        .with_panel(
            lines(
                "Does it optimize?",
                "Running optimizations. Hours at a stretch make writes slow.",
                "none",
                Query("sum by (id) (collection_running_optimizations)", "{{id}}"),
            )
        )
        .with_panel(
            lines(
                "How much memory does a node take?",
                "Resident memory, as Qdrant's allocator sees it, and of the local store's process.",
                "bytes",
                Query("max by (instance) (memory_resident_bytes)", "{{instance}}"),
                Query('process_resident_memory_bytes{service="qdrant"}', "{{instance}}"),
            )
        )
    )
