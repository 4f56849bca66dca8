"""How long tools take when a tenant has many repositories.

    python -m bench.many_repositories [--repositories 50] [--questions 200]

Each repository is a package from this environment, or a part of a large one. Questions name functions, methods and
classes of all of them, also very common names. Prints p50, p95 and the longest time per tool, within one repository and
over all; then the first and the second call of each tool after a restart.
"""

import argparse
import ast
import asyncio
import random
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

from mcp import Client

from bench.measure_graph import until_built
from bench.measure_index import index_folder
from bench.measure_search import call_tool, mcp_client
from bench.stack import Stack, restarted, running_stack
from prism_cli.client import Prism

FILES_MIN, FILES_MAX = 8, 200
SEED = 50
COMMON = ("get", "run", "parse", "close", "append", "format", "load", "main")
WARM_UP = 5
TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "prepare_to_edit": lambda symbol: {"symbol": symbol},
    "find_references": lambda symbol: {"symbols": [symbol]},
    "get_symbol_definition": lambda symbol: {"symbol": symbol},
    "search_code": lambda symbol: {"query": symbol},
    "check_exists": lambda symbol: {"intent": symbol.replace("_", " ")},
}
GRAPH_TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "grep_code": lambda symbol: {"pattern": symbol},
    "get_call_hierarchy": lambda symbol: {"symbol": symbol},
    "impact_of_change": lambda symbol: {"symbol": symbol},
    "get_module_map": lambda _: {},
}


def main() -> None:
    """Index the repositories, ask, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repositories", type=int, default=50)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prism-many-") as folder:
        repositories = _repositories(Path(folder), options.repositories)
        with running_stack(Path(folder) / "stack") as stack:
            asyncio.run(_index(stack, repositories))
            asked = list(_questions(repositories, options.questions + WARM_UP))
            print(f"{len(repositories)} repositories, {options.questions} questions each\n")
            asyncio.run(_measure(stack, asked))
            asyncio.run(_first_calls(restarted(stack), asked))


async def _index(stack: Stack, repositories: Sequence[Path]) -> None:
    names = [f"many/{folder.name}" for folder in repositories]
    async with Prism(stack.target) as prism:
        for name, folder in zip(names, repositories, strict=True):
            await index_folder(prism, folder, name)
    for name in names:
        await until_built(stack, name)


async def _measure(stack: Stack, asked: Sequence[tuple[str, str]]) -> None:
    """Print the times of each tool within a repository, and over all where that is possible."""
    print("| tool | scope | p50 ms | p95 ms | longest ms |\n| --- | --- | ---: | ---: | ---: |")
    for tool, arguments in TOOLS.items():
        for scope in ("repository", "all"):
            times = []
            for repo, symbol in asked:
                async with mcp_client(stack.target, repo if scope == "repository" else "", "all") as client:
                    times.append(await _milliseconds(client, tool, arguments(symbol)))
            known = [one for one in times[WARM_UP:] if one is not None]
            cuts = quantiles(known, n=20)
            print(f"| {tool} | {scope} | {cuts[9]:.0f} | {cuts[18]:.0f} | {max(known):.0f} |")


async def _first_calls(stack: Stack, asked: Sequence[tuple[str, str]]) -> None:
    """Print the times of the first calls of each tool after a start, each about the same symbol."""
    print("\n| tool | first ms | second ms |\n| --- | ---: | ---: |")
    for tool, arguments in (TOOLS | GRAPH_TOOLS).items():
        for repo, symbol in asked:
            async with mcp_client(stack.target, repo, "all") as client:
                times = [await _milliseconds(client, tool, arguments(symbol)) for _ in range(2)]
            if times[0] is not None:
                print(f"| {tool} | {times[0]:.0f} | {times[1]:.0f} |")
                break


async def _milliseconds(client: Client, tool: str, arguments: dict[str, Any]) -> float | None:
    """Returns the time of one call; None if the repository does not define the symbol."""
    try:
        seconds, _ = await call_tool(client, tool, **arguments)
    except RuntimeError as error:
        if "symbol_not_found" not in str(error):
            raise
        return None
    return seconds * 1_000


def _repositories(folder: Path, count: int) -> list[Path]:
    """Returns folders with the files of installed packages, at most `FILES_MAX` each."""
    made: list[Path] = []
    for package in sorted(Path(sysconfig.get_path("purelib")).iterdir()):
        files = sorted(package.rglob("*.py")) if package.is_dir() else []
        for start in range(0, len(files), FILES_MAX):
            part = files[start : start + FILES_MAX]
            if len(part) < FILES_MIN or len(made) == count:
                continue
            home = folder / f"{package.name}-{start // FILES_MAX}"
            for file in part:
                target = home / file.relative_to(package.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            made.append(home)
    return made


def _questions(repositories: Sequence[Path], count: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(SEED)
    for number in range(count):
        folder = chance.choice(repositories)
        defined = sorted({name for file in folder.rglob("*.py") for name in _names(file)})
        name = COMMON[number % len(COMMON)] if number % 4 == 0 else chance.choice(defined)
        yield f"many/{folder.name}", name


def _names(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


if __name__ == "__main__":
    main()
