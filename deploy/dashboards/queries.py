"""The queries of the dashboards, as Grafana sends them to Prometheus."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DASHBOARDS = Path(__file__).parents[1] / "grafana" / "dashboards"
# What Grafana sends for a data source that is read every 15 s.
RATE_INTERVAL = "1m"


class Query(NamedTuple):
    """A query, and the panel, rule or page that it belongs to."""

    place: str
    expr: str


def queries_of_dashboards(folder: Path = DASHBOARDS, rate_interval: str = RATE_INTERVAL) -> Iterator[Query]:
    """Returns the queries of all panels, ready to be sent to Prometheus. A place is `dashboard: title`."""
    for file in sorted(folder.glob("*.json")):
        for panel in json.loads(file.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                expr = target["expr"].replace("$__rate_interval", rate_interval)
                yield Query(f"{file.stem}: {panel['title']}", expr)
