"""`python -m bench.graph_cost FOLDER…`: the processor time to parse files and to resolve their references.

With `--against CHECKOUT`, another checkout of Prism, with its own `.venv`, measures the same in turns, so that
a busy machine slows both. The table has medians of seconds; a run is a process of its own.
"""

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from prism_chunker.core import chunk_file
from prism_resolver.facts import FileFacts, with_qualifier_uses
from prism_resolver.program import Program
from prism_resolver.resolution import edges

# Files that take longer to read than to parse, or that the chunker refuses, would measure something else.
FILE_BYTES_MAX = 500_000
RUNS = 5


@dataclass(frozen=True)
class Times:
    """Seconds of processor time."""

    parse: float
    resolve: float

    @property
    def whole(self) -> float:
        """The sum of both."""
        return self.parse + self.resolve


def measure(folder: Path, extensions: Sequence[str]) -> Times:
    """Parse the files of a folder, and resolve all references among them."""
    texts = _texts(folder, extensions)
    for path, text in list(texts.items())[:1]:
        chunk_file(path, text)  # queries are compiled once per process
    gc.collect()
    started = time.process_time()
    parsed = {path: chunk_file(path, text) for path, text in texts.items()}
    read = time.process_time()
    facts = [
        with_qualifier_uses(
            FileFacts(
                id=path,
                scope="any",
                repo="any",
                path=path,
                language=one.language,
                flags="",
                symbols=one.symbols,
                references=one.references,
                bindings=one.bindings,
            )
        )
        for path, one in parsed.items()
    ]
    program = Program()
    for file in facts:
        program.add(file)
    for file in facts:
        for _ in edges(program, file):
            pass
    return Times(read - started, time.process_time() - read)


def _texts(folder: Path, extensions: Sequence[str]) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in extensions and path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.stat().st_size <= FILE_BYTES_MAX
    }


def _measured_by(python: str, folder: Path, extensions: Sequence[str]) -> Times:
    command = [
        python,
        str(Path(__file__).resolve()),
        "--once",
        "--extensions",
        *extensions,
        "--",
        str(folder),
    ]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return Times(**json.loads(done.stdout))


def _medians(runs: Sequence[Times]) -> Times:
    return Times(median(one.parse for one in runs), median(one.resolve for one in runs))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--extensions", nargs="+", default=[".java", ".kt", ".cs", ".cc", ".cpp", ".h"])
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--once", action="store_true", help="measure one folder once, and print JSON")
    chosen = parser.parse_args(arguments)
    if chosen.once:
        print(json.dumps(asdict(measure(chosen.folders[0], chosen.extensions))))
        return
    checkouts = {"other": str(chosen.against / ".venv/bin/python")} if chosen.against else {}
    checkouts["this"] = sys.executable
    print("| folder | checkout | parse | resolve | both |\n| --- | --- | --: | --: | --: |")
    for folder in chosen.folders:
        runs: dict[str, list[Times]] = {name: [] for name in checkouts}
        for _ in range(chosen.runs):
            for name, python in checkouts.items():
                runs[name].append(_measured_by(python, folder, chosen.extensions))
        found = {name: _medians(several) for name, several in runs.items()}
        for name, one in found.items():
            print(f"| {folder.name} | {name} | {one.parse:.2f} | {one.resolve:.2f} | {one.whole:.2f} |")
        if "other" in found:
            old, new = found["other"], found["this"]
            pairs = ((old.parse, new.parse), (old.resolve, new.resolve), (old.whole, new.whole))
            gained = " | ".join(f"{(after / before - 1) * 100:+.0f} %" for before, after in pairs)
            print(f"| {folder.name} | change | {gained} |")


if __name__ == "__main__":
    main()
