"""`python -m bench.knowledge.main`: start a stack, fill it with documents and tasks, ask, and print a table.

Each topic is a module with `measure`. The load of the machine is reported, because a busy one makes every time longer.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench.knowledge import documents, tasks
from bench.knowledge.figures import Figures
from bench.machine import load, machine_facts, yardstick_ms
from bench.report import MACHINE_COLUMNS, table
from bench.stack import Stack, running_stack

TOPICS = ("documents", "tasks")
SEED = 20_261


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    before, yardstick = load(), yardstick_ms()
    folder = tempfile.TemporaryDirectory(prefix="prism-knowledge-")
    with folder as root, running_stack(Path(root) / "data") as stack:
        found = asyncio.run(_measure(stack, options))
        restarts = stack.restarts()
    loads = {"load_before": before, "load_after": load(), "yardstick_ms": yardstick, "restarts": restarts}
    console = Console(width=None if Console().is_terminal else MACHINE_COLUMNS)
    console.print(table([figure.row for figures in found.values() for figure in figures]))
    console.print(
        f"load before {before}, after {loads['load_after']}; yardstick {yardstick} ms; restarts {restarts}"
    )
    if options.out:
        kept = {topic: [asdict(figure) for figure in figures] for topic, figures in found.items()}
        options.out.write_text(json.dumps({"machine": machine_facts(), **loads, **kept}, indent=1) + "\n")


async def _measure(stack: Stack, options: argparse.Namespace) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    if "documents" in options.topics:
        print("documents", file=sys.stderr)
        found["documents"] = await documents.measure(
            stack, size=options.documents, asked=options.asked, seed=SEED, writes_s=options.writes_s
        )
    if "tasks" in options.topics:
        print("tasks", file=sys.stderr)
        found["tasks"] = await tasks.measure(stack, size=options.tasks, asked=options.asked, seed=SEED)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.knowledge", description=__doc__)
    parser.add_argument(
        "--topics", nargs="+", choices=TOPICS, default=TOPICS, help="what to measure (default all)"
    )
    parser.add_argument("--documents", type=int, default=10_000, help="number of documents (default 10,000)")
    parser.add_argument(
        "--writes-s", type=int, default=60, help="how long documents are written, in seconds (default 60)"
    )
    parser.add_argument("--tasks", type=int, default=100_000, help="number of tasks (default 100,000)")
    parser.add_argument("--asked", type=int, default=200, help="questions of each kind (default 200)")
    parser.add_argument("--out", type=Path, default=None, help="file for the figures as JSON (default none)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
