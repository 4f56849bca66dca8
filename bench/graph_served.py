"""`python -m bench.graph_served`: how soon a stack serves its graph, atlas's memory, and each tool's times over MCP.

With `--against CHECKOUT`, another checkout of Prism, with its own `.venv`, measures the same in turns, so that a busy
machine slows both. Each run starts a stack of its own and indexes the same corpus of installed files. The table has
medians of the runs.
"""

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from bench import measure_graph, measure_index
from bench.corpus import Corpus, make_corpus
from bench.stack import Stack, Watch, running_stack

FILES = 2_500
QUESTIONS = 100
EDITS = 5
RUNS = 3
SEED = 20_260
MIB = 1024 * 1024
CODE = Path(__file__).resolve()

Figures = dict[str, float]


def measure(files: int) -> Figures:
    """Returns the figures of one stack by row of the table: seconds, MiB, milliseconds, and the size of the corpus."""
    with tempfile.TemporaryDirectory(prefix="prism-served-") as name:
        folder = Path(name)
        corpus = make_corpus(folder / "corpus", files)
        with running_stack(folder / "data") as stack:
            return asyncio.run(_measure(stack, corpus))


async def _measure(stack: Stack, corpus: Corpus) -> Figures:
    with Watch(stack) as watch:
        await measure_index.first_index(stack, corpus)
        await measure_graph.until_built(stack)
    graph = await measure_graph.graph(stack, corpus, QUESTIONS, edits=EDITS, seed=SEED)
    figures = {
        "bytes of the corpus": float(corpus.bytes),
        "seconds until the graph is served": graph.built_s,
        "peak memory of atlas, MiB": watch.highest["atlas"] / MIB,
        "an edit until its graph, p50 ms": graph.edit.p50,
    }
    for tool, found in graph.tools.items():
        figures[f"{tool}, p50 ms"] = found.times.p50
        figures[f"{tool}, p95 ms"] = found.times.p95
    return figures


def _measured_by(checkout: Path, files: int) -> Figures:
    """Runs this file with the interpreter and the modules of a checkout."""
    command = [str(checkout / ".venv/bin/python"), str(CODE), "--once", "--files", str(files)]
    done = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
    )
    return Figures(json.loads(done.stdout.splitlines()[-1]))


def table(runs: Mapping[str, Sequence[Figures]]) -> Iterator[str]:
    """Returns the lines of the table: a row per figure, a column per checkout, and the change of the last one."""
    names = list(runs)
    yield f"| figure | {' | '.join(names)} | change |"
    yield f"| --- |{' --: |' * (len(names) + 1)}"
    for figure in runs[names[-1]][0]:
        values = [median(run[figure] for run in runs[name]) for name in names]
        change = f"{(values[-1] / values[0] - 1) * 100:+.0f} %" if len(values) > 1 and values[0] else ""
        yield f"| {figure} | {' | '.join(f'{value:,.1f}' for value in values)} | {change} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=FILES, help=f"size of the corpus (default {FILES:,})")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--once", action="store_true", help="measure once, and print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.once:
        print(json.dumps(measure(chosen.files)))
        return
    checkouts = {"other": chosen.against.resolve()} if chosen.against else {}
    checkouts["this"] = CODE.parents[1]
    runs: dict[str, list[Figures]] = {name: [] for name in checkouts}
    for _ in range(chosen.runs):
        for name, checkout in checkouts.items():
            runs[name].append(_measured_by(checkout, chosen.files))
    print("\n".join(table(runs)))


if __name__ == "__main__":
    main()
