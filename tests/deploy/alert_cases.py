"""For each alert: what Prometheus reads, when the alert fires, and what it says then. One value is one minute."""

from typing import NamedTuple

DAY_S = 86_400
HOUR_MIN = 60


class Case(NamedTuple):
    """An alert fires for series at `fires_at`, and does not at `quiet_at`: before, after, or for another cause."""

    alert: str
    series: dict[str, str]
    quiet_at: tuple[str, ...]
    fires_at: str
    labels: dict[str, str]
    summary: str


def others_are_up(but: str) -> dict[str, str]:
    names = (
        "gateway",
        "search",
        "atlas",
        "workspace",
        "scribe",
        "ingest",
        "chunker",
        "embedder",
        "indexer",
        "qdrant",
    )
    return {f'up{{service="{name}",instance="{name}:1"}}': "1x60" for name in names if name != but}


def calls(ok: str, failed: str) -> dict[str, str]:
    """Counters of tool calls; a refused argument is no failure."""
    return {
        'prism_mcp_calls_total{tool="search_code",outcome="ok"}': ok,
        'prism_mcp_calls_total{tool="search_code",outcome="unavailable"}': failed,
        'prism_mcp_calls_total{tool="search_code",outcome="invalid_argument"}': "0+100x900",
    }


def changes(soon: str, every: str) -> dict[str, str]:
    """Counters of changes that were searchable within 30 s, and of all."""
    return {
        'prism_searchable_seconds_bucket{source="edit",le="30.0"}': soon,
        'prism_searchable_seconds_count{source="edit"}': every,
        # Uploads of whole repositories may take longer.
        'prism_searchable_seconds_bucket{source="upload",le="30.0"}': "0x900",
        'prism_searchable_seconds_count{source="upload"}': "0+10x900",
    }


CASES = (
    Case(
        "PrismCallsFail",
        calls("0+9x300 2709+0x300", "0x240 0+100x360"),
        ("3h50m",),
        "5h",
        {"severity": "page"},
        "47.43% of tool calls failed in the last hour.",
    ),
    # Few calls, such as those of a night, must not page.
    Case(
        "PrismCallsFail",
        {
            'prism_mcp_calls_total{tool="ping",outcome="ok"}': "0x900",
            'prism_mcp_calls_total{tool="ping",outcome="internal"}': "0x60 0+0.1x60 6+1x200",
        },
        ("1h30m", "1h55m"),
        "3h",
        {"severity": "page"},
        "100% of tool calls failed in the last hour.",
    ),
    Case(
        "PrismCallsFailSlowly",
        calls("0+95x900", "0x60 0+8x840"),
        ("50m",),
        "8h",
        {"severity": "ticket"},
        "3.941% of tool calls failed in the last six hours.",
    ),
    Case(
        "PrismChangesLate",
        changes("0+10x120 1200+1x240", "0+10x360"),
        ("1h50m",),
        "4h",
        {"severity": "page"},
        "90% of pushes and edits took more than 30 s in the last hour.",
    ),
    Case(
        "PrismChangesLateSlowly",
        changes("0+10x120 1200+6x780", "0+10x900"),
        ("1h50m",),
        "10h",
        {"severity": "ticket"},
        "40% of pushes and edits took more than 30 s in the last six hours.",
    ),
    Case(
        "PrismCertificateExpires",
        {
            'certmanager_certificate_expiration_timestamp_seconds{namespace="prism",name="prism-tls"}': f"{15 * DAY_S}x2880",
            'certmanager_certificate_expiration_timestamp_seconds{namespace="other",name="a"}': "0x2880",
            'probe_ssl_earliest_cert_expiry{instance="https://prism.example.com"}': f"{60 * DAY_S}x2880",
        },
        ("23h", "24h50m"),
        "36h",
        {"severity": "ticket", "namespace": "prism", "name": "prism-tls", "certificate": "prism-tls"},
        "The certificate of prism-tls expires in 13d 12h 0m 0s.",
    ),
    Case(
        "PrismCertificateExpires",
        {
            'probe_ssl_earliest_cert_expiry{instance="https://prism.example.com"}': f"{14 * DAY_S + 3600}x600",
        },
        ("30m", "1h50m"),
        "3h",
        {
            "severity": "ticket",
            "instance": "https://prism.example.com",
            "certificate": "https://prism.example.com",
        },
        "The certificate of https://prism.example.com expires in 13d 22h 0m 0s.",
    ),
    # A copy of two is down: questions are answered.
    Case(
        "PrismServiceDown",
        others_are_up("search")
        | {
            'up{service="search",instance="search:1"}': "1x10 0x50",
            'up{service="search",instance="search:2"}': "1x30 0x30",
        },
        ("9m", "29m"),
        "40m",
        {"severity": "page", "service": "search"},
        "No copy of search answers.",
    ),
    # Names that have no address any more are no targets.
    Case(
        "PrismServiceDown",
        others_are_up("atlas") | {'up{service="atlas",instance="atlas:1"}': "1x10 _x50"},
        ("9m", "12m"),
        "30m",
        {"severity": "page", "service": "atlas"},
        "No copy of atlas answers.",
    ),
    Case(
        "PrismCopyDown",
        others_are_up("")
        | {'up{service="search",instance="search:2"}': "1x10 0x30", 'up{job="node"}': "0x60"},
        ("9m", "13m"),
        "20m",
        {"severity": "ticket", "service": "search", "instance": "search:2"},
        "The copy search:2 of search does not answer.",
    ),
    # Two restarts are an update.
    Case(
        "PrismCopyRestarts",
        {
            'process_start_time_seconds{service="ingest",instance="ingest:1"}': "1x30 2x5 3x60 4 5 6 7 8x60",
            'process_start_time_seconds{job="node"}': "1+1x200",
        },
        ("40m",),
        "1h50m",
        {"severity": "ticket", "service": "ingest", "instance": "ingest:1"},
        "The copy ingest:1 of ingest restarted 5 times in half an hour.",
    ),
    Case(
        "PrismNotReady",
        {
            'prism_ready{service="search",check="qdrant",instance="a"}': "1x60",
            'prism_ready{service="search",check="qdrant",instance="b"}': "1x10 0x50",
            'prism_ready{service="search",check="nats",instance="b"}': "1x60",
        },
        ("9m", "14m"),
        "20m",
        {"severity": "ticket", "service": "search", "check": "qdrant"},
        "A copy of search is not ready: qdrant fails.",
    ),
    Case(
        "PrismDiskLow",
        {'prism_disk_free_bytes{service="gateway"}': "2147483648x10 805306368x50"},
        ("9m", "14m"),
        "20m",
        {"severity": "page", "service": "gateway"},
        "768MiB are free on the disk of gateway.",
    ),
    Case(
        "PrismVolumeFills",
        {
            f'kubelet_volume_stats_{what}_bytes{{namespace="{namespace}",persistentvolumeclaim="data-nats-0"}}': values
            for what, namespace, values in (
                ("available", "prism", "20x10 10x50"),
                ("capacity", "prism", "100x60"),
                ("available", "other", "1x60"),
                ("capacity", "other", "100x60"),
            )
        },
        ("9m", "20m"),
        "40m",
        {"severity": "ticket", "persistentvolumeclaim": "data-nats-0"},
        "10% of the volume data-nats-0 is free.",
    ),
    # Two copies of ingest say the same; an import may wait longer than an edit.
    Case(
        "PrismLiveQueueDelayed",
        {
            'prism_queue_oldest_seconds{stage="chunker",lane="live",instance="a"}': "0x10 0+60x20 0x30",
            'prism_queue_oldest_seconds{stage="chunker",lane="live",instance="b"}': "0x10 0+60x20 0x30",
            'prism_queue_oldest_seconds{stage="chunker",lane="bulk",instance="a"}': "900x60",
        },
        ("10m", "13m", "40m"),
        "20m",
        {"severity": "page", "stage": "chunker"},
        "The oldest live message of chunker has waited 9m 0s.",
    ),
    Case(
        "PrismBulkQueueDelayed",
        {
            'prism_queue_oldest_seconds{stage="embedder",lane="bulk"}': "0+60x100",
            'prism_queue_oldest_seconds{stage="embedder",lane="live"}': "7200x100",
        },
        ("59m", "1h10m"),
        "1h30m",
        {"severity": "ticket", "stage": "embedder"},
        "The oldest bulk message of embedder has waited 1h 30m 0s.",
    ),
    Case(
        "PrismQueuesUnknown",
        {'prism_queue_pending{stage="chunker",lane="live"}': "0x10 _x50"},
        ("9m", "14m"),
        "25m",
        {"severity": "ticket"},
        "Nothing is known about the queues.",
    ),
    # Those that were there before are not new, and those that were read from both copies are not twice as many.
    Case(
        "PrismDeadLetters",
        {
            'prism_dead_letters_kept{instance="a"}': "7x30 10x60",
            'prism_dead_letters_kept{instance="b"}': "7x30 10x60",
        },
        ("25m", "50m"),
        "35m",
        {"severity": "ticket"},
        "10 dead letters are kept.",
    ),
    Case(
        "PrismJobStuck",
        {"prism_job_oldest_seconds": "0+60x200"},
        ("1h50m", "2h10m"),
        "3h",
        {"severity": "ticket"},
        "A job has run for 3h 0m 0s.",
    ),
    Case(
        "PrismGitFails",
        {
            'prism_git_operations_total{operation="fetch",outcome="ok"}': "0+1x60 60x60",
            'prism_git_operations_total{operation="fetch",outcome="clone_failed"}': "0x60 0+1x60",
        },
        ("59m", "1h10m"),
        "2h",
        {"severity": "ticket"},
        "100% of the calls to git servers failed in half an hour.",
    ),
    Case(
        "PrismGraphBuildsFail",
        {
            'prism_graph_builds_total{lane="live",outcome="failed"}': "0x30 2x120",
            'prism_graph_builds_total{lane="live",outcome="built"}': "0+1x150",
        },
        ("29m", "1h40m"),
        "1h",
        {"severity": "ticket"},
        "2 builds of graphs failed.",
    ),
    Case(
        "PrismCallersLimited",
        {'prism_limited_calls_total{limit="search"}': "0+30x60 1800+120x60"},
        ("50m",),
        "1h50m",
        {"severity": "ticket", "limit": "search"},
        "2 calls a second are over the limit search.",
    ),
    Case(
        "PrismLimitsLocal",
        {"prism_limits_local_total": "0+1x60 60+20x60"},
        ("50m",),
        "1h30m",
        {"severity": "ticket"},
        "300 decisions about limits were made by one copy alone in 15 minutes.",
    ),
    Case(
        "PrismAuditLost",
        {
            'prism_audit_entries_total{outcome="lost"}': "0x30 0+1x30 30x100",
            'prism_audit_entries_total{outcome="delayed"}': "0+10x160",
        },
        ("29m", "2h10m"),
        "1h",
        {"severity": "page"},
        "29 entries of the audit were lost in the last hour.",
    ),
    Case(
        "PrismStreamWithoutLeader",
        {
            'prism_stream_has_leader{stream="PRISM_FILES"}': "1x10 0x50",
            'prism_stream_has_leader{stream="PRISM_DEEP"}': "1x60",
        },
        ("10m",),
        "15m",
        {"severity": "page", "stream": "PRISM_FILES"},
        "The stream PRISM_FILES has no leader.",
    ),
    Case(
        "PrismStreamReplicasBehind",
        {
            'prism_stream_replicas{stream="KV_prism_jobs"}': "3x60",
            'prism_stream_replicas_current{stream="KV_prism_jobs"}': "3x10 2x50",
        },
        ("10m", "19m"),
        "30m",
        {"severity": "ticket", "stream": "KV_prism_jobs"},
        "1 copies of the stream KV_prism_jobs are behind.",
    ),
    # Streams of records drop their oldest entries: they may be full.
    Case(
        "PrismStreamNearlyFull",
        {
            'prism_stream_bytes{stream="PRISM_FILES"}': "10x10 90x50",
            'prism_stream_bytes_limit{stream="PRISM_FILES"}': "100x60",
            'prism_stream_bytes{stream="PRISM_AUDIT"}': "100x60",
            'prism_stream_bytes_limit{stream="PRISM_AUDIT"}': "100x60",
        },
        ("10m", "19m"),
        "30m",
        {"severity": "ticket", "stream": "PRISM_FILES"},
        "The work queue PRISM_FILES is 90% full.",
    ),
    Case(
        "PrismNatsReconnects",
        {'prism_nats_reconnects_total{service="search"}': "0x20 1x20 1+1x30"},
        ("15m", "35m"),
        "1h10m",
        {"severity": "ticket", "service": "search"},
        "search lost its connection to NATS 15 times in 15 minutes.",
    ),
    Case(
        "PrismRecordsSilent",
        {'prism_records_heard_seconds{service="gateway",bucket="prism_tokens"}': "5x10 60+60x50"},
        ("10m", "12m"),
        "20m",
        {"severity": "ticket", "service": "gateway"},
        "A copy of gateway has not heard about a bucket for 10m 0s.",
    ),
    Case(
        "PrismStoreFails",
        {
            'rest_responses_total{endpoint="/points",status="200"}': "0+90x60",
            'rest_responses_total{endpoint="/points",status="404"}': "0+90x60",
            'rest_responses_total{endpoint="/points",status="500"}': "0x30 0+20x30",
        },
        ("29m", "32m"),
        "45m",
        {"severity": "page"},
        "10% of the requests to Qdrant fail.",
    ),
    # Qdrant does not answer at all: it counts nothing, its callers do.
    Case(
        "PrismStoreFails",
        {
            'prism_store_seconds_count{service="search",operation="query"}': "0+100x60",
            'prism_store_failures_total{service="search",operation="query"}': "0x30 0+50x30",
        },
        ("29m", "32m"),
        "45m",
        {"severity": "page"},
        "50% of the requests to Qdrant fail.",
    ),
    Case(
        "PrismShardCopiesDead",
        {
            'collection_dead_replicas{instance="a"}': "0x10 1x50",
            'collection_dead_replicas{instance="b"}': "0x60",
        },
        ("10m", "20m"),
        "30m",
        {"severity": "ticket"},
        "1 copies of shards are dead.",
    ),
    Case(
        "PrismAutoscalerAtMaximum",
        {
            'kube_horizontalpodautoscaler_status_current_replicas{namespace="prism",horizontalpodautoscaler="search"}': "2x10 8x60",
            'kube_horizontalpodautoscaler_spec_max_replicas{namespace="prism",horizontalpodautoscaler="search"}': "8x70",
        },
        ("10m", "35m"),
        "1h",
        {"severity": "ticket", "horizontalpodautoscaler": "search"},
        "search has run at its maximum of 8 copies for half an hour.",
    ),
)
