"""The table and the JSON of a run."""

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.machine import load, machine_facts
from bench.rolls.play import Outcome

HEAD = (
    "| scenario | questions | failed | p50 ms | p95 ms | p99 ms | longest s | last failure after s "
    "| changes | refused | lost | all found after s | index | exits |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|"
)


def commit_of(python: Path) -> str:
    """The commit of the checkout that an interpreter's environment belongs to."""
    folder = python.parent.parent.parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def facts(python: Path, proxy: str) -> dict[str, Any]:
    """What a reader must know to compare two runs."""
    return machine_facts() | {
        "services_commit": commit_of(python),
        "proxy": proxy,
        "load": load(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
    }


def row(outcome: Outcome) -> dict[str, Any]:
    """The figures of a scenario."""
    spread = outcome.answers.spread()
    return {
        "scenario": outcome.scenario.name,
        "what": outcome.scenario.what,
        "fault_s": round(outcome.fault_s, 1),
        "questions": spread.asked,
        "failed": len(outcome.answers.failed),
        "failures": outcome.answers.failures(),
        "p50_ms": spread.p50,
        "p95_ms": spread.p95,
        "p99_ms": spread.p99,
        "longest_s": round(spread.max / 1000, 2),
        "last_failure_after_s": round(outcome.answers.last_failure_s(outcome.began), 1),
        "changes": len(outcome.changes.accepted),
        "refused": sum(outcome.changes.refusals().values()),
        "refusals": outcome.changes.refusals(),
        "conflicts": sum(change.conflicts for change in outcome.changes.sent),
        "lost": len(outcome.changes.lost),
        "searchable_s": round(outcome.changes.searchable_s, 1),
        "import": outcome.imported,
        "index": {kind: str(found) for kind, found in outcome.differences.items()},
        "differing": [text for found in outcome.differences.values() for text in found.examples],
        "exits": [list(one) for one in outcome.exits],
        "not_ready": outcome.not_ready,
        "load": load(),
    }


def line(row: Mapping[str, Any]) -> str:
    """A row as a line of the table."""
    failed = _with_reasons(row["failed"], row["failures"])
    refused = _with_reasons(row["refused"], row["refusals"])
    differing = [f"{kind}: {text}" for kind, text in row["index"].items() if not text.startswith("equal")]
    index = "; ".join(differing) or "equal"
    exits = [f"{copy} {code}" for copy, code in row["exits"]] + row["not_ready"]
    if row["import"] != "complete":
        index += f"; import {row['import']}"
    return (
        f"| {row['what']} | {row['questions']:,} | {failed} | {row['p50_ms']:.0f} | {row['p95_ms']:.0f} "
        f"| {row['p99_ms']:.0f} | {row['longest_s']:.1f} | {row['last_failure_after_s']:.1f} | {row['changes']} "
        f"| {refused} | {row['lost']} | {row['searchable_s']:.1f} | {index} | {', '.join(exits) or 'none'} |"
    )


def page(
    facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], starts: Sequence[Mapping[str, Any]]
) -> str:
    """The report in Markdown."""
    lines = [
        f"Services of commit {facts['services_commit']} behind {facts['proxy']}, {facts['cores']} cores, {facts['at']}.",
        "",
    ]
    if rows:
        lines += [HEAD, *map(line, rows), ""]
    if starts:
        lines += [
            "| what | result |",
            "|---|---|",
            *(f"| {one['what']} | {one['result']} |" for one in starts),
            "",
        ]
    return "\n".join(lines)


def side_by_side(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Two runs in one table: those scenarios that both have."""
    rows = {one["scenario"]: one for one in before["rows"]}
    starts = {one["name"]: one for one in before["starts"]}
    head = (
        "| scenario | failed questions | last failure after s | p99 ms | refused changes | lost changes "
        "| all found after s | index | exits |"
    )
    lines = [
        f"Before: {before['facts']['services_commit']}. After: {after['facts']['services_commit']}.",
        "",
        head,
        "|---|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    for one in after["rows"]:
        if (other := rows.get(one["scenario"])) is not None:
            cells = [f"{old} → {new}" for old, new in zip(_cells(other), _cells(one), strict=True)]
            lines.append(f"| {one['what']} | {' | '.join(cells)} |")
    lines += ["", "| what | before | after |", "|---|---|---|"]
    lines += [
        f"| {one['what']} | {starts[one['name']]['result']} | {one['result']} |"
        for one in after["starts"]
        if one["name"] in starts
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Mapping[str, Any]) -> list[str]:
    is_equal = all(text.startswith("equal") for text in row["index"].values())
    return [
        f"{row['failed']} of {row['questions']:,}",
        f"{row['last_failure_after_s']:.1f}",
        f"{row['p99_ms']:,.0f}",
        str(row["refused"]),
        str(row["lost"]),
        f"{row['searchable_s']:.1f}",
        "equal" if is_equal else "differs",
        str(len(row["exits"]) + len(row["not_ready"])),
    ]


def _with_reasons(count: int, reasons: Mapping[str, int]) -> str:
    shown = ", ".join(
        f"{number}x {reason[:40]}" for reason, number in sorted(reasons.items(), key=lambda one: -one[1])[:3]
    )
    return f"{count} ({shown})".replace("|", "/") if count else "0"
