"""Who uses Prism, and whom do limits stop?"""

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.builders.timeseries import Panel as Timeseries

from deploy.dashboards.panels import Query, dashboard, lines

OUTCOMES = "sum by (outcome) (rate({}[5m]))"


def build() -> Dashboard:
    """Returns the dashboard of tenants. The metric has the 20 largest of a copy of the gateway, and `other`."""
    return (
        dashboard(
            "prism-tenants", "Prism: who uses it?", "The largest tenants of this hour, limits, and records."
        )
        .with_panel(_use("calls", "Who calls most?", "Calls since the hour began.", "none"))
        .with_panel(_use("seconds", "Who takes most time?", "Seconds of calls since the hour began.", "s"))
        .with_panel(_use("tokens", "Who gets most text?", "Tokens of answers since the hour began.", "none"))
        .with_panel(
            _use(
                "errors",
                "Whose calls fail?",
                "Calls since the hour began that ended in an error, of any kind.",
                "none",
            )
        )
        .with_panel(
            lines(
                "Which limits stop callers?",
                "Calls per second over a rate limit. `prism usage` shows whose they are.",
                "reqps",
                Query("sum by (limit) (rate(prism_limited_calls_total[5m]))", "{{limit}}"),
                runbook="callers-limited",
            )
        )
        .with_panel(
            lines(
                "Do limits hold across copies?",
                "Decisions per second that a copy of the gateway made alone, because NATS did not answer.",
                "ops",
                Query("sum by (service) (rate(prism_limits_local_total[5m]))", "{{service}}"),
                runbook="limits-local",
            )
        )
        .with_panel(
            lines(
                "Is every call recorded?",
                "Entries of the audit and of usage per second. `lost` entries of the audit are in the log only.",
                "ops",
                Query(OUTCOMES.format("prism_audit_entries_total"), "audit {{outcome}}"),
                Query(OUTCOMES.format("prism_usage_stored_total"), "usage {{outcome}}"),
                runbook="audit-lost",
            )
        )
        .with_panel(
            lines(
                "Which webhooks arrive?",
                "Webhooks per second by forge and outcome. Codes of errors: the forge shows the answer.",
                "ops",
                Query(
                    "sum by (provider, outcome) (rate(prism_webhooks_total[5m]))", "{{provider}} {{outcome}}"
                ),
            )
        )
    )


def _use(kind: str, title: str, text: str, unit: str) -> Timeseries:
    query = Query(f'topk(10, sum by (tenant) (prism_tenant_use{{kind="{kind}"}}))', "{{tenant}}")
    return lines(title, text, unit, query)
