"""Does every change arrive? The pipeline from a push until it is searchable."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.dashboards.panels import Limits, Query, dashboard, lines, numbers, quantile

STEP_SECONDS = "sum by (step) (rate(prism_push_seconds_sum[30m]))"
STEP_COUNT = "sum by (step) (rate(prism_push_seconds_count[30m]))"
HANDLED = 'faststream_received_processed_messages_total{handler!~"prism.rpc.*|prism.ping.*"}'


def build() -> Dashboard:
    """Returns the dashboard of imports, pushes, edits and uploads."""
    return (
        dashboard(
            "prism-ingestion", "Prism: does every change arrive?", "From a push or an edit to the index."
        )
        .with_panel(
            numbers(
                "Running jobs",
                "Imports that run or wait to fetch.",
                "none",
                Query("max by (kind) (prism_jobs_running)", "{{kind}}"),
                width=12,
            )
        )
        .with_panel(
            numbers(
                "Oldest running job",
                "A job of a large repository may take an hour. An older one is probably stuck.",
                "s",
                Query("max(prism_job_oldest_seconds)", ""),
                limits=Limits(3600, 7200),
                runbook="job-stuck",
            )
        )
        .with_panel(
            numbers(
                "Dead letters",
                "Messages that were given up and are kept for 30 days.",
                "none",
                Query("max(prism_dead_letters_kept)", ""),
                limits=Limits(warning=1),
                runbook="dead-letters",
            )
        )
        .with_panel(
            numbers(
                "Deep vectors to come",
                "Requests for vectors of the deep model. Until they are answered, `deep` is missing in receipts.",
                "none",
                Query("max(prism_deep_pending)", ""),
            )
        )
        .with_panel(
            lines(
                "Where do messages wait?",
                "Messages that no copy of a stage has taken. One stage that grows needs more copies, or is stuck.",
                "none",
                Query("max by (stage, lane) (prism_queue_pending)", "{{stage}} {{lane}}"),
                runbook="bulk-queue-delayed",
            )
        )
        .with_panel(
            lines(
                "For how long?",
                "Age of the oldest message of a stage.",
                "s",
                Query("max by (stage, lane) (prism_queue_oldest_seconds)", "{{stage}} {{lane}}"),
                limits=Limits(wrong=60),
                runbook="live-queue-delayed",
            )
        )
        .with_panel(
            lines(
                "How much does each stage finish?",
                "Messages per second. `error` and `nacked` are tried again.",
                "ops",
                Query(
                    f"sum by (app_name, status) (rate({HANDLED}[$__rate_interval]))",
                    "{{app_name}} {{status}}",
                ),
            )
        )
        .with_panel(
            lines(
                "What is tried again?",
                "Messages in flight that were delivered before. They stay high where a stage fails on a message.",
                "none",
                Query("max by (stage, lane) (prism_queue_redelivered)", "{{stage}} {{lane}}"),
                runbook="dead-letters",
            )
        )
        .with_panel(
            lines(
                "Which step of a push takes the time?",
                "Average seconds by step. Long `fetch`: the git server. Long `index`: the stages above.",
                "s",
                Query(f"{STEP_SECONDS} / ({STEP_COUNT} > 0) or {STEP_COUNT}", "{{step}}"),
            )
        )
        .with_panel(
            lines(
                "How soon is a change searchable?",
                "Half of the changes of a source, and 95 %, over the last half hour.",
                "s",
                Query(quantile(0.5, "prism_searchable_seconds", "source", window="30m"), "{{source}}, half"),
                Query(quantile(0.95, "prism_searchable_seconds", "source", window="30m"), "{{source}}, 95 %"),
                limits=Limits(wrong=30),
                runbook="changes-late",
            )
        )
        .with_panel(
            lines(
                "Do git servers answer?",
                "Clones, fetches and listings of refs, by outcome.",
                "ops",
                Query(
                    "sum by (operation, outcome) (rate(prism_git_operations_total[5m]))",
                    "{{operation}} {{outcome}}",
                ),
                runbook="git-fails",
            )
        )
        .with_panel(
            lines(
                "How many texts get vectors?",
                "Texts per second by model. `reused` cost nothing: an equal text had its vector.",
                "ops",
                Query(
                    "sum by (tier, source) (rate(prism_embedded_texts_total[$__rate_interval]))",
                    "{{tier}} {{source}}",
                ),
            )
        )
    )
