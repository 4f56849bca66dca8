"""`python -m bench.layers`: the figures of layers and lanes alone, each on its own stack."""

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from rich.console import Console

from bench import measure_push
from bench.corpus import make_corpus
from bench.measure_lanes import Lanes, lanes
from bench.measure_layers import Layers, layers
from bench.report import MACHINE_COLUMNS, lane_rows, layer_rows, table
from bench.stack import running_stack

SEED = 20_290
EDITED_FILES = 500


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    os.environ.update(measure_push.SETTINGS)
    console = Console(width=None if Console().is_terminal else MACHINE_COLUMNS)
    with tempfile.TemporaryDirectory(prefix="prism-layers-") as folder:
        if options.part in {"layers", "all"}:
            console.print(table(layer_rows(measure_layers(Path(folder), options))))
        if options.part in {"lanes", "all"}:
            console.print(table(lane_rows(measure_lanes(Path(folder), options))))


def measure_layers(folder: Path, options: argparse.Namespace) -> Layers:
    """A base, and branches over it."""
    corpus = make_corpus(folder / "base", options.layer_files)
    with running_stack(folder / "base-data") as stack:
        return asyncio.run(
            layers(
                stack,
                corpus,
                branches=options.layers,
                edits=options.edits,
                questions=options.questions,
                seed=SEED,
            )
        )


def measure_lanes(folder: Path, options: argparse.Namespace) -> Lanes:
    """A tenant that edits, and one that imports."""
    edited = make_corpus(folder / "edited", EDITED_FILES)
    imported = make_corpus(folder / "imported", options.import_files)
    with running_stack(folder / "lanes-data") as stack:
        return asyncio.run(lanes(stack, edited, imported, edits=options.edits, seed=SEED))


def add_options(parser: argparse.ArgumentParser) -> None:
    """How much of it."""
    parser.add_argument(
        "--layer-files", type=int, default=2_400, help="files below the branches (default 2,400)"
    )
    parser.add_argument("--layers", type=int, default=400, help="branches (default 400)")
    parser.add_argument(
        "--import-files", type=int, default=20_000, help="files of the import (default 20,000)"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="layers", description=__doc__)
    add_options(parser)
    parser.add_argument("--questions", type=int, default=200, help="questions of each kind (default 200)")
    parser.add_argument("--edits", type=int, default=20, help="files that are saved (default 20)")
    parser.add_argument("--part", choices=["layers", "lanes", "all"], default="all")
    return parser.parse_args()


if __name__ == "__main__":
    main()
