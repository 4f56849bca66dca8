"""`prism usage` and `prism audit`: what the gateway counted and recorded."""

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

THOUSAND = 1_000
PAGE = 500


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


async def audit(
    target: ServerTarget, *, days: int, limit: int, actor: str, action: str, tenant: str
) -> list[dict[str, Any]]:
    """Returns the newest changes of the last days."""
    since = datetime.now(UTC) - timedelta(days=days)
    params = {"since": since.isoformat(), "actor": actor, "tenant": tenant}
    if action:
        params["action"] = action
    return await _pages(target, "audit", params, limit)


def show_audit(entries: list[dict[str, Any]]) -> None:
    """Print changes as a table, the newest first."""
    if not entries:
        terminal.out.print("No changes.")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("when (UTC)", "who", "action", "what", "from", "outcome"):
        table.add_column(title)
    for entry in entries:
        details = ", ".join(f"{name} {value}" for name, value in entry["details"].items())
        cells = (
            _time(entry["at"]),
            _who(entry),
            entry["action"],
            f"{entry['subject']} ({details})" if details else entry["subject"],
            entry["address"],
            entry["code"] or "done",
        )
        table.add_row(*(Text(terminal.printable(cell)) for cell in cells))
    terminal.out.print(table)


async def _pages(target: ServerTarget, path: str, params: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    """Returns the entries of a list, page by page, up to a limit."""
    entries: list[dict[str, Any]] = []
    cursor = ""
    async with Prism(target) as prism:
        while len(entries) < limit:
            asked = {**params, "limit": min(PAGE, limit - len(entries)), "cursor": cursor}
            page = await prism.manage("GET", f"{API}/{path}", params=asked)
            entries += page["entries"]
            cursor = page["next_cursor"]
            if not cursor:
                break
    return entries


def _who(entry: dict[str, Any]) -> str:
    name = f"{entry['label']} ({entry['caller']})" if entry["label"] else entry["caller"]
    return f"{name} of {entry['caller_tenant']}" if entry["caller_tenant"] else str(name)


def _time(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M:%S}"
