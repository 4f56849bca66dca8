"""The panels of all dashboards: a question as title, units, thresholds, and what to do about an answer.

Copies of ingest expose the same values of queues and streams: their queries take the `max`.
"""

from typing import NamedTuple

from grafana_foundation_sdk.builders.common import (
    GraphThresholdsStyleConfig,
    ReduceDataOptions,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DashboardLink,
    DatasourceVariable,
    ThresholdsConfig,
)
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.builders.stat import Panel as Stat
from grafana_foundation_sdk.builders.timeseries import Panel as Timeseries
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    GraphTresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    SortOrder,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DataSourceRef,
    Threshold,
    ThresholdsMode,
)

# Where the runbooks are published; docs/guides/monitor.md says how to change it, here and in the rules.
RUNBOOKS = "https://git.example.com/acme/prism/blob/main/docs/runbooks"
SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
LETTERS = "ABCDEF"
COLUMNS = 24
GREEN, YELLOW, RED = "green", "yellow", "red"


class Query(NamedTuple):
    """A query of PromQL, and the name of its lines."""

    expr: str
    legend: str
    exemplars: bool = False


class Limits(NamedTuple):
    """From which value on an answer needs attention, and from which on it is wrong."""

    warning: float | None = None
    wrong: float | None = None


def lines(
    title: str,
    text: str,
    unit: str,
    *queries: Query,
    width: int = 12,
    limits: Limits | None = None,
    runbook: str = "",
) -> Timeseries:
    """Returns a panel of lines over time, from 0 up. `limits` are drawn as dashed lines."""
    panel = (
        Timeseries()
        .title(title)
        .description(_description(text, runbook))
        .unit(unit)
        .datasource(SOURCE)
        .span(width)
        .height(8)
        .min(0)
        .fill_opacity(8)
        .legend(
            VizLegendOptions()
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(show_legend=True)
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
    )
    if limits:
        panel = panel.thresholds(_thresholds(limits)).thresholds_style(
            GraphThresholdsStyleConfig().mode(GraphTresholdsStyleMode.DASHED)
        )
    for letter, query in zip(LETTERS, queries, strict=False):
        target = Dataquery().expr(query.expr).legend_format(query.legend).ref_id(letter)
        panel = panel.with_target(target.exemplar(exemplar=True) if query.exemplars else target)
    return panel


def numbers(
    title: str,
    text: str,
    unit: str,
    query: Query,
    *,
    width: int = 4,
    limits: Limits | None = None,
    runbook: str = "",
    zero_is_wrong: bool = False,
) -> Stat:
    """Returns a panel of the latest values, one per line of the answer, coloured by `limits`."""
    steps = _above_zero() if zero_is_wrong else _thresholds(limits or Limits())
    named = bool(query.legend)
    return (
        Stat()
        .title(title)
        .description(_description(text, runbook))
        .unit(unit)
        .datasource(SOURCE)
        .span(width)
        .height(4)
        .thresholds(steps)
        .color_mode(BigValueColorMode.BACKGROUND if zero_is_wrong else BigValueColorMode.VALUE)
        .graph_mode(BigValueGraphMode.NONE)
        .text_mode(BigValueTextMode.VALUE_AND_NAME if named else BigValueTextMode.VALUE)
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .with_target(Dataquery().expr(query.expr).legend_format(query.legend).ref_id(LETTERS[0]).instant())
    )


def dashboard(uid: str, title: str, text: str) -> Dashboard:
    """Returns a dashboard without panels, linked with the other dashboards of Prism."""
    others = (
        DashboardLink("Prism").type(DashboardLinkType.DASHBOARDS).tags(["prism"]).keep_time(keep_time=True)
    )
    return (
        Dashboard(title)
        .uid(uid)
        .description(text)
        .tags(["prism"])
        .refresh("30s")
        .time("now-3h", "now")
        .timezone("browser")
        .readonly()
        .link(others.as_dropdown(as_dropdown=True))
        .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
    )


def share(part: str, whole: str) -> str:
    """Returns the query of a share, which is 0 where nothing happened at all."""
    return f"({part}) / (({whole}) > 0) or ({whole}) * 0"


def quantile(
    q: float, histogram: str, by: str = "", selector: str = "", window: str = "$__rate_interval"
) -> str:
    """Returns the query of a quantile of a histogram, for each value of the labels `by`."""
    labels = ", ".join(filter(None, ["le", by]))
    return f"histogram_quantile({q}, sum by ({labels}) (rate({histogram}_bucket{selector}[{window}])))"


def _description(text: str, runbook: str) -> str:
    return f"{text}\n\n[Runbook]({RUNBOOKS}/{runbook}.md)" if runbook else text


def _thresholds(limits: Limits) -> ThresholdsConfig:
    steps = [Threshold(None, GREEN)]
    if limits.warning is not None:
        steps.append(Threshold(limits.warning, YELLOW))
    if limits.wrong is not None:
        steps.append(Threshold(limits.wrong, RED))
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


def _above_zero() -> ThresholdsConfig:
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps([Threshold(None, RED), Threshold(1, GREEN)])
