"""`python -m bench.graph.main REPOSITORY...`: precision and recall of the edges of find_references.

Indexes each clone on its own stack, asks for the references of every function, method and type over MCP, and compares
them with those of a resolver of the language (`truth.py`). Writes the page of figures; `--differences` writes each
wrong or missing edge and each false zero on a line.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.graph.ask import ask_outlines, ask_references, list_files
from bench.graph.compare import compare
from bench.graph.page import Measured, differences, page
from bench.graph.truth import Resolver, Truth, resolve, resolver_of
from bench.measure_graph import built_graph
from bench.measure_index import index_folder
from bench.measure_search import mcp_client
from bench.stack import running_stack
from prism_cli.client import Prism
from prism_cli.target import ServerTarget

PAGE = Path("docs/graph.md")


def main() -> None:
    """Compare, and print the result."""
    options = _options()
    with _own_stack() as target:
        measured = [asyncio.run(_measure(target, folder, options)) for folder in options.repositories]
    text = page(measured, options.uses, options.seed)
    print(text)
    if options.differences:
        options.differences.write_text("".join(f"{line}\n" for one in measured for line in differences(one)))
    options.out.write_text(text)
    sys.exit(any(one.comparison.false_zeros for one in measured))


@contextmanager
def _own_stack() -> Iterator[ServerTarget]:
    with (
        tempfile.TemporaryDirectory(prefix="prism-graph-") as folder,
        running_stack(Path(folder)) as stack,
    ):
        yield stack.target


async def _measure(target: ServerTarget, folder: Path, options: argparse.Namespace) -> Measured:
    repo = f"graph/{folder.name}"
    async with Prism(target) as prism:
        job = await index_folder(prism, folder, repo)
    async with mcp_client(target, repo, "all") as agent:
        await built_graph(agent, job.version)
        files = await list_files(agent)
        resolver = resolver_of(file.language for file in files)
        paths = [file.path for file in files if file.language in resolver.languages]
        truth = _truth(resolver, folder, paths, options)
        _say(f"{repo}: {len(truth.uses)} uses in {len(truth.files)} files, says {truth.resolver}")
        defined = await ask_outlines(agent, paths)
        answers = await ask_references(agent, [one.symbol for one in defined if one.is_asked])
    _say(f"{repo}: asked for {len(answers)} symbols")
    comparison = compare(truth, defined, answers)
    return Measured(
        resolver.title,
        folder.name,
        _revision(folder),
        len(paths),
        len(answers),
        truth,
        comparison,
        {path: (folder / path).read_text("utf-8", "replace").split("\n") for path in truth.files},
    )


def _truth(resolver: Resolver, folder: Path, paths: list[str], options: argparse.Namespace) -> Truth:
    """Returns the stored truth, or resolves it now."""
    name = f"{folder.name}-{_revision(folder)}-{options.uses}-{options.seed}.json"
    kept = options.truths / name if options.truths else None
    if kept and kept.exists():
        return Truth.model_validate_json(kept.read_bytes())
    truth = resolve(resolver, folder, paths, options.uses, options.seed)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(truth.model_dump_json())
    return truth


def _revision(folder: Path) -> str:
    command: list[str | Path] = ["git", "-C", folder, "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="graph-accuracy", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, help="clones, each in a folder of its name")
    parser.add_argument("--uses", type=int, default=6_000, help="uses a repository (default 6,000)")
    parser.add_argument("--seed", type=int, default=20_260, help="decides on the files of a larger one")
    parser.add_argument("--truths", type=Path, help="a folder that keeps what the resolvers said")
    parser.add_argument("--differences", type=Path, help="where differences go")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page goes")
    return parser.parse_args()


def _say(step: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
