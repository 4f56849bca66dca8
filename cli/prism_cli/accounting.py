"""`prism usage`, `prism audit`, `prism history` and `prism feedback`: what the gateway counted and recorded."""

from datetime import UTC, datetime, timedelta
from typing import Any

from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import API, Prism
from prism_cli.target import ServerTarget

THOUSAND = 1_000
PAGE = 500
HITS_SHOWN = 5


async def usage(
    target: ServerTarget, *, days: int, by: str, of: dict[str, str], tenant: str
) -> dict[str, Any]:
    """Returns the usage of the last days. `of` narrows it to a repository, a caller and a call."""
    since = datetime.now(UTC) - timedelta(days=days)
    params = {"since": since.isoformat(), "by": by, "tenant": tenant, **of}
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
    if report.get("models"):  # an older gateway has none
        terminal.out.print(_models(report["models"]))


def _models(models: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(1, 2, 0, 0))
    for title in ("language model", "for"):
        table.add_column(title)
    for title in ("calls", "failed", "tokens in", "out", "US$"):
        table.add_column(title, justify="right")
    for one in models:
        numbers = (
            f"{one['calls']:,}",
            f"{one['failures']:,}",
            _short(one["tokens_in"]),
            _short(one["tokens_out"]),
        )
        table.add_row(
            *(Text(terminal.printable(str(one[key]))) for key in ("model", "purpose")),
            *map(Text, (*numbers, f"{one['dollars']:,.2f}")),
        )
    return table


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
    entries: list[dict[str, Any]] = (await _list(target, "audit", params, limit))["entries"]
    return entries


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


async def _list(target: ServerTarget, path: str, params: dict[str, Any], limit: int) -> dict[str, Any]:
    """Returns a list, page by page, with up to `limit` entries."""
    entries: list[dict[str, Any]] = []
    cursor = ""
    async with Prism(target) as prism:
        while True:
            asked = {**params, "limit": min(PAGE, limit - len(entries)), "cursor": cursor}
            page = await prism.manage("GET", f"{API}/{path}", params=asked)
            entries += page["entries"]
            cursor = page["next_cursor"]
            if not cursor or len(entries) >= limit:
                return {**page, "entries": entries}


def _who(entry: dict[str, Any]) -> str:
    name = f"{entry['label']} ({entry['caller']})" if entry["label"] else entry["caller"]
    other = entry.get("caller_tenant", "")
    return f"{name} of {other}" if other else str(name)


def _time(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M:%S}"


async def history(target: ServerTarget, *, days: int, limit: int, actor: str, tenant: str) -> dict[str, Any]:
    """Returns the newest questions of the last days, and whether new ones are kept."""
    since = datetime.now(UTC) - timedelta(days=days)
    params = {"since": since.isoformat(), "actor": actor, "tenant": tenant}
    return await _list(target, "search-history", params, limit)


async def feedback(target: ServerTarget, *, days: int, limit: int, actor: str, tenant: str) -> dict[str, Any]:
    """Returns what callers said in the last days."""
    since = datetime.now(UTC) - timedelta(days=days)
    params = {"since": since.isoformat(), "actor": actor, "tenant": tenant}
    return await _list(target, "feedback", params, limit)


async def switch_history(target: ServerTarget, *, is_on: bool | None, tenant: str) -> dict[str, Any]:
    """Turns the search history of a tenant on or off; None: as the setting says."""
    async with Prism(target) as prism:
        return await prism.manage("PUT", f"{API}/search-history", json={"is_on": is_on, "tenant": tenant})


async def delete_history(target: ServerTarget, *, tenant: str) -> dict[str, Any]:
    """Deletes the questions and the feedback of a tenant."""
    async with Prism(target) as prism:
        return await prism.manage("DELETE", f"{API}/search-history", params={"tenant": tenant})


def show_history(listed: dict[str, Any]) -> None:
    """Print questions with their hits, the newest first."""
    if not listed["is_on"]:
        terminal.out.print("The search history is off. `prism history --turn on` turns it on.")
    for entry in listed["entries"]:
        head = f"{_time(entry['at'])}  {_who(entry)}  {entry['call']}  {entry['repo'] or '-'}"
        terminal.out.print(Text(terminal.printable(head), style="dim"))
        terminal.out.print(Text(f"  {_line(entry['query'])}"))
        for hit in entry["hits"][:HITS_SHOWN]:
            place = f"{hit['file_path']}:{hit['start_line']}-{hit['end_line']}"
            terminal.out.print(Text(terminal.printable(f"    {hit['hit']}  {place}")))
        left_out = len(entry["hits"]) - HITS_SHOWN
        if left_out > 0:
            terminal.out.print(Text(f"    and {left_out} more"))


def show_feedback(listed: dict[str, Any]) -> None:
    """Print feedback, the newest first."""
    if not listed["entries"]:
        terminal.out.print("No feedback.")
    for entry in listed["entries"]:
        verdict = "useful" if entry["useful"] else "not useful"
        hits = ", ".join(entry["hits"]) or "the whole answer"
        terminal.out.print(
            Text(terminal.printable(f"{_time(entry['at'])}  {_who(entry)}  {verdict}: {hits}"))
        )
        for said in (entry["query"], entry["note"]):
            if said:
                terminal.out.print(Text(f"  {_line(said)}"))


def show_history_state(state: dict[str, Any]) -> None:
    """Print whether questions are kept."""
    terminal.out.print(
        Text(f"The search history of {state['tenant']} is {'on' if state['is_on'] else 'off'}.")
    )


def _line(text: str) -> str:
    return terminal.printable(" ".join(text.split()))
