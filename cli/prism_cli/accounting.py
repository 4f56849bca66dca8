"""`prism usage`: what the gateway counted."""

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

THOUSAND = 1_000


async def usage(target: ServerTarget, *, days: int, by: str, tenant: str) -> dict[str, Any]:
    """Returns the usage of the last days."""
    since = datetime.now(UTC) - timedelta(days=days)
    params = {"since": since.isoformat(), "by": by, "tenant": tenant}
    async with Prism(target) as prism:
        return await prism.manage("GET", f"{API}/usage", params=params)


def show_usage(report: dict[str, Any]) -> None:
    """Print usage as a table."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(report["by"])
    for title in ("calls", "errors", "cached", "mean ms", "max ms", "tokens in", "out", "saved"):
        table.add_column(title, justify="right")
    for group in [*report["groups"], report["total"]]:
        table.add_row(*_cells(group))
    terminal.out.print(table)
    left_out = report["groups_left_out"]
    if left_out:
        terminal.out.print(Text(f"{left_out} more groups are in the total."))
    terminal.out.print(Text(report["rule"].replace("`", ""), style="dim"))


def _cells(group: dict[str, Any]) -> list[Text]:
    name = (group["label"] and f"{group['label']} ({group['key']})") or group["key"] or "-"
    numbers = (
        f"{group['calls']:,}",
        f"{group['errors']:,}",
        f"{group['cached']:,}",
        f"{group['milliseconds_mean']:,.1f}",
        f"{group['milliseconds_max']:,.0f}",
        *(_short(group[field]) for field in ("tokens_in", "tokens_out", "tokens_saved")),
    )
    return [Text(terminal.printable(name)), *map(Text, numbers)]


def _short(count: int) -> str:
    for unit in ("", "k", "M"):
        if count < THOUSAND * 10:
            return f"{count:,.0f}{unit}"
        count = round(count / THOUSAND)
    return f"{count:,}G"
