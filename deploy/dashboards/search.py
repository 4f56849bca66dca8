"""Are answers fast and right? Tools, the requests behind them, and what these wait for."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.dashboards.overview import FAILED
from deploy.dashboards.panels import Limits, Query, dashboard, lines, quantile, share

ANSWERS = "sum(rate(prism_search_answers_total[$__rate_interval]))"
CACHED = 'sum(rate(prism_search_answers_total{found=~"memory|shared"}[$__rate_interval]))'
STEP_SECONDS = "sum by (step) (rate(prism_search_step_seconds_sum[$__rate_interval]))"
STEP_COUNT = "sum by (step) (rate(prism_search_step_seconds_count[$__rate_interval]))"
OF_QUESTIONS = '{method=~"search.*|atlas.*"}'


def build() -> Dashboard:
    """Returns the dashboard of questions."""
    return (
        dashboard("prism-search", "Prism: are answers fast?", "Tools, and the requests behind them.")
        .with_panel(
            lines(
                "Which tools are called?",
                "Calls per second.",
                "reqps",
                Query("sum by (tool) (rate(prism_mcp_calls_total[$__rate_interval])) > 0", "{{tool}}"),
            )
        )
        .with_panel(
            lines(
                "Which tools are slow?",
                "95 % of the calls of a tool are faster. The dots are calls with a trace.",
                "s",
                Query(quantile(0.95, "prism_mcp_call_seconds", "tool"), "{{tool}}", exemplars=True),
            )
        )
        .with_panel(
            lines(
                "Which tools fail?",
                "Calls per second that ended in a server error, by tool and code: no line is right.",
                "reqps",
                Query(
                    f'sum by (tool, outcome) (rate(prism_mcp_calls_total{{outcome=~"{FAILED}"}}[5m])) > 0',
                    "{{tool}} {{outcome}}",
                ),
                runbook="calls-fail",
            )
        )
        .with_panel(
            lines(
                "Which requests inside Prism fail?",
                "Answers of search and atlas over NATS other than `ok`, by method and code. Codes such as "
                "`symbol_not_found` are ordinary answers.",
                "reqps",
                Query(
                    'sum by (method, code) (rate(prism_rpc_answers_total{code!="ok"}[$__rate_interval])) > 0',
                    "{{method}} {{code}}",
                ),
            )
        )
        .with_panel(
            lines(
                "Where does the time go?",
                "95 % of the requests of a method over NATS are faster. Compare with the tools above.",
                "s",
                Query(quantile(0.95, "prism_rpc_seconds", "method", OF_QUESTIONS), "{{method}}"),
            )
        )
        .with_panel(
            lines(
                "How long does Qdrant take?",
                "95 % of the requests to an endpoint are faster. Slow: see the dashboard of Qdrant.",
                "s",
                Query(quantile(0.95, "rest_responses_duration_seconds", "endpoint"), "{{endpoint}}"),
                runbook="store-fails",
            )
        )
        .with_panel(
            lines(
                "Which step of a search takes the time?",
                "Average seconds by step. Long `embed`: the model. Long `legs`: Qdrant.",
                "s",
                Query(f"{STEP_SECONDS} / ({STEP_COUNT} > 0)", "{{step}}"),
            )
        )
        .with_panel(
            lines(
                "What do searches go without?",
                "Legs per second that did not contribute: Qdrant failed, or the deep model was missing or late.",
                "ops",
                Query("sum by (leg) (rate(prism_search_leg_failures_total[5m]))", "{{leg}}"),
                runbook="store-fails",
            )
        )
        .with_panel(
            lines(
                "How many answers were cached?",
                "Share of questions whose answer was known, in memory or in the shared bucket.",
                "percentunit",
                Query(share(CACHED, ANSWERS), "cached"),
                width=8,
            )
        )
        .with_panel(
            lines(
                "Do graphs wait?",
                "Builds of graphs of symbols that are queued or running.",
                "none",
                Query("sum by (lane) (prism_graph_builds_waiting)", "{{lane}}"),
                width=8,
                runbook="graph-builds-fail",
            )
        )
        .with_panel(
            lines(
                "How long do graphs take?",
                "95 % of the builds of the last half hour were faster, from the request until the graph is served.",
                "s",
                Query(quantile(0.95, "prism_graph_build_seconds", "lane", window="30m"), "{{lane}}"),
                width=8,
                limits=Limits(warning=300),
            )
        )
    )
