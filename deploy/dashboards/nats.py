"""Does NATS hold what it is given? Streams, copies, connections."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.dashboards.panels import Limits, Query, dashboard, lines, numbers

COPIES_BEHIND = "max by (stream) (prism_stream_replicas) - max by (stream) (prism_stream_replicas_current)"
WORK_QUEUES = "PRISM_(UPLOADS|FILES|CHUNKED|EMBEDDED|DEEP)"


def build() -> Dashboard:
    """Returns the dashboard of NATS, by what ingest reads from JetStream, and what its clients notice."""
    return (
        dashboard("prism-nats", "Prism: does NATS hold?", "Streams, their copies, and connections.")
        .with_panel(
            numbers(
                "Streams and buckets",
                "All that Prism keeps in JetStream. The number does not depend on tenants.",
                "none",
                Query("count(max by (stream) (prism_stream_has_leader))", ""),
                width=6,
            )
        )
        .with_panel(
            numbers(
                "Without a leader",
                "They can be neither read nor written: two of three servers are down, or cannot reach each other.",
                "none",
                Query("count(max by (stream) (prism_stream_has_leader) == 0) or vector(0)", ""),
                width=6,
                limits=Limits(wrong=1),
                runbook="stream-without-leader",
            )
        )
        .with_panel(
            numbers(
                "With copies behind",
                "One more server lost, and messages may be lost with it.",
                "none",
                Query(f"count(({COPIES_BEHIND}) > 0) or vector(0)", ""),
                width=6,
                limits=Limits(warning=1),
                runbook="stream-replicas-behind",
            )
        )
        .with_panel(
            numbers(
                "Bytes in JetStream",
                "One copy of each stream and bucket.",
                "bytes",
                Query("sum(max by (stream) (prism_stream_bytes))", ""),
                width=6,
            )
        )
        .with_panel(
            lines(
                "Which work queues fill?",
                "Share of the limit. When a queue is full, the stages before it wait.",
                "percentunit",
                Query(
                    f'max by (stream) (prism_stream_bytes{{stream=~"{WORK_QUEUES}"}}) '
                    f'/ max by (stream) (prism_stream_bytes_limit{{stream=~"{WORK_QUEUES}"}})',
                    "{{stream}}",
                ),
                limits=Limits(wrong=0.8),
                runbook="stream-nearly-full",
            )
        )
        .with_panel(
            lines(
                "What takes the space?",
                "The ten largest streams and buckets.",
                "bytes",
                Query("topk(10, max by (stream) (prism_stream_bytes))", "{{stream}}"),
            )
        )
        .with_panel(
            lines(
                "Do connections hold?",
                "Times in five minutes that a service lost its connection and made it again.",
                "none",
                Query("sum by (service) (increase(prism_nats_reconnects_total[5m]))", "{{service}}"),
                runbook="nats-reconnects",
            )
        )
        .with_panel(
            lines(
                "Are records current?",
                "Longest time since a copy of a service heard about a followed bucket. A revoked token works as long.",
                "s",
                Query("max by (service) (prism_records_heard_seconds)", "{{service}}"),
                limits=Limits(wrong=30),
                runbook="records-silent",
            )
        )
        .with_panel(
            lines(
                "How many messages are published?",
                "Per second and service. `error`: NATS refused them, and the service tries again.",
                "ops",
                Query(
                    "sum by (app_name, status) (rate(faststream_published_messages_total[$__rate_interval]))",
                    "{{app_name}} {{status}}",
                ),
            )
        )
        .with_panel(
            lines(
                "How long does a publish take?",
                "Average seconds until NATS stored a message, by service.",
                "s",
                Query(
                    "sum by (app_name) (rate(faststream_published_messages_duration_seconds_sum[$__rate_interval]))"
                    " / (sum by (app_name) "
                    "(rate(faststream_published_messages_duration_seconds_count[$__rate_interval])) > 0)",
                    "{{app_name}}",
                ),
            )
        )
    )
