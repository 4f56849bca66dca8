"""`python -m bench.growth`: how time, memory and answers grow with the size of what is indexed.

One fresh stack per size, in sequence; prints a table, and writes it as a page to `--page`.
"""

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import measure_index, measure_search
from bench.corpus import make_corpus
from bench.machine import machine_facts
from bench.main import SEED
from bench.stack import running_stack

# About 1,000, 10,000, 100,000 and 300,000 chunks.
SIZES = (135, 1_330, 13_250, 39_700)
MIB = 1024 * 1024
COLUMNS = (
    "files", "chunks", "source MiB", "index s", "CPU s", "ms CPU a chunk", "peak MiB", "at rest MiB", "on disk MiB",
    "search p50 ms", "p95", "CPU ms a question", "grep p50 ms", "p95", "read p50 ms",
)  # fmt: skip
HEAD = """<!-- Written by `make bench-growth`. -->

# Growth

One corpus of installed Python packages, cut to four sizes. Each size is indexed into a fresh stack, and one
client queries it over MCP with all caches warm. Memory is the PSS of the whole stack: its peak during the
import, and a minute after the import, when the store has compacted its files. `on disk` is the data folder of
the stack, index and streams together.

"""


@dataclass(frozen=True)
class Size:
    """What was measured at one size."""

    source_bytes: int
    disk_bytes: int
    index: measure_index.FirstIndex
    asked: measure_search.Alone

    def cells(self) -> list[str]:
        """As a row of the table."""
        index, asked = self.index, self.asked
        stack_ms = sum(ms for name, ms in asked.search_cpu_ms.items() if name != "client")
        return [
            f"{index.files:,}",
            f"{index.chunks:,}",
            f"{self.source_bytes / MIB:.1f}",
            f"{index.wall_s:.1f}",
            f"{index.stack_cpu_s:.1f}",
            f"{1000 * index.stack_cpu_s / max(1, index.chunks):.2f}",
            f"{index.peak.pss / MIB:.0f}",
            f"{index.rest_after.pss / MIB:.0f}",
            f"{self.disk_bytes / MIB:.0f}",
            f"{asked.search.p50:.1f}",
            f"{asked.search.p95:.1f}",
            f"{stack_ms:.1f}",
            f"{asked.grep.p50:.1f}",
            f"{asked.grep.p95:.1f}",
            f"{asked.read.p50:.1f}",
        ]


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    rows = []
    for files in options.files:
        print(f"{time.strftime('%H:%M:%S')} {files:,} files", flush=True)
        with tempfile.TemporaryDirectory(prefix="prism-growth-") as folder:
            rows.append(measure(Path(folder), files, options.questions))
    page = HEAD + _table(rows) + _machine()
    print(page)
    if options.page:
        options.page.write_text(page, encoding="utf-8")


def measure(folder: Path, files: int, questions: int) -> Size:
    """Index this number of files into a fresh stack, then ask."""
    corpus = make_corpus(folder / "corpus", files)
    data = folder / "data"
    with running_stack(data) as stack:

        async def run() -> Size:
            index = await measure_index.first_index(stack, corpus)
            disk = _disk_bytes(data)
            asked = await measure_search.alone(stack, corpus, questions, SEED)
            return Size(corpus.bytes, disk, index, asked)

        return asyncio.run(run())


def _disk_bytes(folder: Path) -> int:
    """Returns the disk space of the files; some are preallocated."""
    files = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names)
    return sum(map(_file_bytes, files))


def _file_bytes(file: Path) -> int:
    try:
        return file.lstat().st_blocks * 512
    except FileNotFoundError:  # the stack runs on, and drops files
        return 0


def _table(rows: list[Size]) -> str:
    lines = [COLUMNS, ["---:"] * len(COLUMNS), *(row.cells() for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _machine() -> str:
    facts = machine_facts()
    memory = facts["memory_bytes"] / 2**30
    return (
        f"\nMeasured on {facts['cpu']}, {facts['cores']} cores, {memory:.0f} GiB, Python {facts['python']}.\n"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="growth", description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=SIZES, help=f"sizes (default {SIZES})")
    parser.add_argument("--questions", type=int, default=100, help="questions a size (default 100)")
    parser.add_argument("--page", type=Path, help="where the page goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
