"""Is Prism well? What users feel first, then what it needs."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.dashboards.panels import Limits, Query, dashboard, lines, numbers, quantile, share

# Server errors: what a caller cannot put right. Not the graph of a new repository, which is on its way, and not a
# git server that refuses a clone.
FAILED = "internal|unavailable|deadline_exceeded|index_lost|store_damaged|disk_full"
CALLS = "sum (rate(prism_mcp_calls_total[$__rate_interval]))"
FAILED_CALLS = f'sum (rate(prism_mcp_calls_total{{outcome=~"{FAILED}"}}[$__rate_interval]))'
REQUESTS = "sum (rate(prism_http_requests_total[$__rate_interval]))"
FAILED_REQUESTS = 'sum (rate(prism_http_requests_total{status=~"5.."}[$__rate_interval]))'


def build() -> Dashboard:
    """Returns the dashboard to open first."""
    return (
        dashboard(
            "prism-overview", "Prism: is it well?", "Open this first; the other dashboards have details."
        )
        .with_panel(
            numbers(
                "Copies that answer, by service",
                "Copies whose /metrics answers. None: the service is down.",
                "none",
                Query('sum by (service) (up{service!=""})', "{{service}}"),
                width=18,
                zero_is_wrong=True,
                runbook="service-down",
            )
        )
        .with_panel(
            numbers(
                "Alerts that fire",
                "Alerts of Prism. Each has a runbook.",
                "none",
                Query('count(ALERTS{alertname=~"Prism.*",alertstate="firing"}) or vector(0)', ""),
                width=3,
                limits=Limits(wrong=1),
            )
        )
        .with_panel(
            numbers(
                "Versions that run",
                "More than one: an update is under way, or it stopped half-way.",
                "none",
                Query("count(count by (version, revision) (prism_build_info))", ""),
                width=3,
                limits=Limits(warning=2),
            )
        )
        .with_panel(
            lines(
                "How many calls fail?",
                "Share of tool calls and HTTP requests that end in a server error. Over 0.5 % the objective is missed.",
                "percentunit",
                Query(share(FAILED_CALLS, CALLS), "tools"),
                Query(share(FAILED_REQUESTS, REQUESTS), "HTTP"),
                limits=Limits(wrong=0.005),
                runbook="calls-fail",
            )
        )
        .with_panel(
            lines(
                "How fast are tools?",
                "Seconds from the call of a tool until its answer. The dots are calls with a trace.",
                "s",
                Query(quantile(0.5, "prism_mcp_call_seconds"), "half are faster"),
                Query(quantile(0.95, "prism_mcp_call_seconds"), "95 % are faster", exemplars=True),
            )
        )
        .with_panel(
            lines(
                "How soon is a change searchable?",
                "95 % of changes were searchable sooner, over the last half hour. Over 30 s the objective for pushes "
                "and edits is missed.",
                "s",
                Query(quantile(0.95, "prism_searchable_seconds", "source", window="30m"), "{{source}}"),
                limits=Limits(wrong=30),
                runbook="changes-late",
            )
        )
        .with_panel(
            lines(
                "How long has the oldest message waited?",
                "Messages that no stage finished. Edits and small pushes are in the live lane.",
                "s",
                Query("max by (lane) (prism_queue_oldest_seconds)", "{{lane}}"),
                limits=Limits(wrong=60),
                runbook="live-queue-delayed",
            )
        )
        .with_panel(
            lines(
                "How much is asked?",
                "Tool calls and HTTP requests per second.",
                "reqps",
                Query(CALLS, "tool calls"),
                Query(REQUESTS, "HTTP requests"),
            )
        )
        .with_panel(
            lines(
                "What is not ready?",
                "Checks of /readyz that fail, in copies: 0 is right.",
                "none",
                Query("sum by (service, check) (1 - prism_ready)", "{{service}} {{check}}"),
                limits=Limits(wrong=1),
                runbook="not-ready",
            )
        )
        .with_panel(
            lines(
                "How much memory does a service take?",
                "Resident memory of the largest copy.",
                "bytes",
                Query('max by (service) (process_resident_memory_bytes{service!=""})', "{{service}}"),
                width=8,
            )
        )
        .with_panel(
            lines(
                "How many cores does a service use?",
                "CPU seconds per second, all copies together.",
                "none",
                Query(
                    'sum by (service) (rate(process_cpu_seconds_total{service!=""}[$__rate_interval]))',
                    "{{service}}",
                ),
                width=8,
            )
        )
        .with_panel(
            lines(
                "How much disk is free?",
                "On the disk of the data folder. Below 512 MiB writes are refused. On Kubernetes, see the volumes.",
                "bytes",
                Query("min(prism_disk_free_bytes)", "data folder"),
                Query('kubelet_volume_stats_available_bytes{namespace="prism"}', "{{persistentvolumeclaim}}"),
                width=8,
                limits=Limits(),
                runbook="disk-low",
            )
        )
    )
