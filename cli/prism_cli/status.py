"""`prism status`: the server's status, joined with the processes where the stack runs on this machine."""

import asyncio
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from prism_cli import terminal
from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_cli.stack import live, machine
from prism_cli.stack.layout import DataDir, read_json
from prism_cli.target import ServerTarget
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode

JOBS_SHOWN = 8
LAYERS_SHOWN = 12
DEAD_LETTERS_SHOWN = 5
SUPERVISOR = "supervisor"
SERVER_PARTS = ("repositories", "jobs", "streams", "dead_letters", "points")


async def status(target: ServerTarget) -> dict[str, Any]:
    """Returns the status as one JSON object. A part that is unavailable is null, and `errors`
    has the reason.
    """
    # Concurrently: if something hangs, both take seconds.
    services, answer = await asyncio.gather(_services_of(target), _server_answer(target))
    if isinstance(answer, CommandError) and not services:
        raise answer
    report: dict[str, Any] = dict.fromkeys(SERVER_PARTS) | {
        "url": target.url,
        "data_dir": str(target.local.root) if target.local else None,
        "services": services,
        "memory": memory(services),
    }
    if isinstance(answer, CommandError):  # the gateway does not answer, but the processes can still be shown
        return report | {"errors": {"gateway": f"{answer.code}: {answer.message}"}}
    report |= answer
    return report


async def _services_of(target: ServerTarget) -> list[dict[str, Any]]:
    return await asyncio.to_thread(service_facts, target.local) if target.local else []


async def _server_answer(target: ServerTarget) -> dict[str, Any] | CommandError:
    try:
        async with Prism(target) as prism:
            answer: dict[str, Any] = await prism.status()
    except CommandError as error:
        return error
    return answer


def service_facts(data: DataDir) -> list[dict[str, Any]]:
    """Returns state, process id, memory and restarts of each process of a local stack.

    Probes each process for its readiness.
    """
    state = read_json(data.supervisor_file) or {}
    services: dict[str, dict[str, Any]] = state.get("services", {})
    problems = live.problems(services)
    known = [
        _supervisor(state, live.supervisor_problem(data, state)),
        *({"name": name, **facts, **_now(facts, problems[name])} for name, facts in services.items()),
    ]
    return [facts | _memory(facts, state.get("forkserver_pid")) for facts in known]


def _supervisor(state: dict[str, Any], problem: str) -> dict[str, Any]:
    shown = "not answering" if problem else state.get("state")
    return {
        "name": SUPERVISOR,
        "pid": state.get("pid"),
        "ready": shown == "ready",
        "state": shown,
        "problem": problem,
    }


def _now(facts: dict[str, Any], problem: str) -> dict[str, Any]:
    """Returns the facts, with the result of a probe instead of the supervisor's last record."""
    if not problem:
        return {"ready": True, "state": "ready", "problem": ""}
    state = facts.get("state", "not ready")
    return {"ready": False, "state": "not ready" if state == "ready" else state, "problem": problem}


def _memory(facts: dict[str, Any], forkserver: int | None) -> dict[str, int | None]:
    # Processes of the supervisor are listed on their own, except the one that forks services.
    is_supervisor = facts["name"] == SUPERVISOR
    found = machine.memory(facts["pid"], family=not is_supervisor)
    if found and is_supervisor:
        found += machine.memory(forkserver, family=False) or machine.NO_MEMORY
    return {"rss_bytes": found and found.rss, "pss_bytes": found and found.pss}


def memory(services: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the total memory, and how much of it is private or proportional."""
    return {
        "rss_bytes": sum(facts["rss_bytes"] or 0 for facts in services),
        "pss_bytes": sum(facts["pss_bytes"] or 0 for facts in services),
        "by_service": {facts["name"]: facts["pss_bytes"] for facts in services},
    }


def show(report: dict[str, Any]) -> None:
    """Print the status as tables."""
    terminal.out.print(Text(f"Prism at {report['url']}", style="bold"))
    for part in (_services, _repositories, _jobs, _streams, _dead_letters):
        shown = part(report)
        if shown is not None:
            terminal.out.print(shown)
    for name, reason in (report.get("errors") or {}).items():
        terminal.out.print(Text(f"{name}: unknown ({reason})", style="yellow"))
    for trouble in index_troubles(report):
        terminal.out.print(Text(terminal.printable(f"{trouble} Run `prism repair`."), style="bold red"))


def index_troubles(report: dict[str, Any]) -> list[str]:
    """Returns what the store lost or cannot read, one sentence each."""
    troubles = []
    if (report.get("errors") or {}).get("points") == ErrorCode.STORE_DAMAGED:
        troubles.append("The index is damaged.")
    for repository in report.get("repositories") or ():
        for layer in repository["layers"]:
            if lost := layer.get("files_lost"):
                where = "" if layer["layer"] == BASE_LAYER else f", {_layer_name(layer)}"
                troubles.append(f"The store lost {lost:,} files of {repository['name']}{where}.")
    return troubles


def _services(report: dict[str, Any]) -> RenderableType | None:
    if not report["services"]:
        return None
    total = terminal.size(report["memory"]["pss_bytes"])
    table = _table(f"Services ({total} of memory)", "service", "state", "process", "memory", "restarts")
    for facts in report["services"]:
        state = Text("ready", style="green") if facts["ready"] else Text(_trouble(facts), style="red")
        size = "" if facts["pss_bytes"] is None else terminal.size(facts["pss_bytes"])
        table.add_row(facts["name"], state, str(facts["pid"] or "-"), size, str(facts.get("restarts", "")))
    restarted = [facts for facts in report["services"] if facts.get("restarts")]
    return Group(table, *(_last_restart(facts) for facts in restarted))


def _trouble(facts: dict[str, Any]) -> str:
    return terminal.printable(facts.get("problem") or "not ready")


def _last_restart(facts: dict[str, Any]) -> Text:
    """Print the reason of the last restart, and the log to read."""
    text = (
        f"{facts['name']}: {facts['restarts']} restarts, last end: {facts['last_exit']}. Log: {facts['log']}"
    )
    return Text(terminal.printable(text), style="yellow")


def _repositories(report: dict[str, Any]) -> RenderableType | None:
    if report["repositories"] is None:
        return None
    if not report["repositories"]:
        return Text("No repositories yet: prism index PATH_OR_GIT_URL", style="yellow")
    table = _table("Repositories", "repository", "layer", "commit", "behind", "files", "points")
    for repository in report["repositories"]:
        name = terminal.printable(repository["name"])
        layers: list[dict[str, Any]] = repository["layers"] or [{}]
        for layer in layers[:LAYERS_SHOWN]:
            figures = (_number(layer.get("files")), _number(layer.get("points")))
            commit = terminal.short_commit(layer.get("commit", "-"))
            table.add_row(name, _layer_name(layer), commit, _behind(repository, layer), *figures)
        if len(layers) > LAYERS_SHOWN:
            table.add_row(name, f"… {len(layers):,} in all")
    return table


def _layer_name(layer: dict[str, Any]) -> str:
    """Returns the name of a layer's ref; empty for the base."""
    name: str = layer.get("layer", "-")
    return name if name == BASE_LAYER else terminal.printable(layer.get("ref") or name)


def _behind(repository: dict[str, Any], layer: dict[str, Any]) -> str:
    """Returns the commit that is known and not served yet, and its lag; empty if it is served."""
    lag_s = layer.get("lag_seconds")
    if not lag_s:
        return ""
    return f"{terminal.short_commit(layer.get('head_commit') or repository['head_commit'])} for {lag_s:.0f} s"


def _jobs(report: dict[str, Any]) -> RenderableType | None:
    if not report["jobs"]:
        return None
    table = _table("Newest jobs", "job", "repository", "state", "indexed", "unchanged", "skipped", "failed")
    for job in report["jobs"][:JOBS_SHOWN]:
        counts = job["counts"]
        figures = (_number(counts[name]) for name in ("indexed", "unchanged", "skipped", "failed"))
        table.add_row(job["job"], terminal.printable(job["repo_name"]), job["state"], *figures)
    return table


def _streams(report: dict[str, Any]) -> RenderableType | None:
    waiting = [
        (stream["name"], consumer)
        for stream in report["streams"] or ()
        for consumer in stream["consumers"]
        if consumer["pending"] or consumer["ack_pending"]
    ]
    if not waiting:
        return None
    table = _table("Waiting", "stream", "consumer", "pending", "in work", "redelivered")
    for name, consumer in waiting:
        figures = (_number(consumer[key]) for key in ("pending", "ack_pending", "redelivered"))
        table.add_row(name, consumer["name"], *figures)
    return table


def _dead_letters(report: dict[str, Any]) -> RenderableType | None:
    letters = report["dead_letters"]
    if not letters or not letters["messages"]:
        return None
    table = _table(f"Dead letters ({letters['messages']:,})", "subject", "code", "path", "reason")
    for letter in letters["newest"][:DEAD_LETTERS_SHOWN]:
        table.add_row(*(terminal.printable(letter[key]) for key in ("subject", "code", "path", "reason")))
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, header_style="dim")
    return table


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
