"""How much one tenant slows down another: with a large import, and with 16 clients that ask.

`python -m bench.fairness` starts a stack and measures questions and small imports of one tenant: alone, beside the imports of
another tenant, and beside its clients. Rounds take turns, and the ratios are those of medians, because other load on the
machine changes. The other tenant runs in a process of its own.
"""

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

from bench.corpus import Corpus, make_corpus
from bench.measure_index import index_folder, marker
from bench.measure_lanes import neighbour
from bench.measure_search import call_tool, mcp_client
from bench.questions import make_questions
from bench.spread import Spread, spread
from bench.stack import running_stack
from prism_cli.client import Prism
from prism_cli.target import ServerTarget

ROUNDS = 3
QUESTIONS = 100  # per round
IMPORTS = 3  # per round
SMALL_FILES = 50
LARGE_FILES = 3_000
CLIENTS = 16
WARM_UP = 20
# The other tenant works for this long before times count.
LEAD_S = 4.0
READY = "ready"
QUIET, IMPORT, CLIENTS_ASK = "alone", "beside a large import", "beside 16 clients"
RATIO_MAX = 2.0
Times = dict[str, list[float]]


def main() -> None:
    """Measure and print; exit with 1 if a ratio exceeds the limit."""
    options = _options()
    if options.noise:
        asyncio.run(_make_noise(options))
        return
    with tempfile.TemporaryDirectory(prefix="prism-fairness-") as folder:
        questions, imports = asyncio.run(_measure(Path(folder), options))
    sys.exit(_report(questions, imports))


async def _measure(folder: Path, options: argparse.Namespace) -> tuple[Times, Times]:
    large = make_corpus(folder / "large", options.files)
    small = _Small(large, folder)
    asked = itertools.cycle(make_questions(large, WARM_UP + 2 * QUESTIONS * options.rounds, 1))
    questions: Times = defaultdict(list)
    imports: Times = defaultdict(list)
    with running_stack(folder / "data") as stack:
        noisy = await neighbour(stack)
        async with Prism(noisy) as other:
            await index_folder(other, large.folder)
        async with Prism(stack.target) as prism, mcp_client(stack.target) as client:
            await index_folder(prism, large.folder)
            await _ask(client, asked, WARM_UP)
            for _ in range(options.rounds):
                for noise in options.noises.split(","):
                    kind = {"quiet": QUIET, "import": IMPORT, "ask": CLIENTS_ASK}[noise]
                    async with _noise(noise, noisy, folder / "large") if noise != "quiet" else nullcontext():
                        questions[kind] += await _ask(client, asked, QUESTIONS)
                        imports[kind] += [await small.take(prism) for _ in range(IMPORTS)]
    return questions, imports


class _Small:
    """Small repositories, each with contents of its own."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus = corpus
        self._folder = folder
        self._numbers = itertools.count()

    async def take(self, prism: Prism) -> float:
        """Returns the seconds that the import of one takes."""
        number = next(self._numbers)
        folder = self._folder / f"small-{number}"
        for path in self._corpus.paths()[:SMALL_FILES]:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = (self._corpus.folder / path).read_text(errors="replace")
            target.write_text(f"{text}\n# {marker(number)}\n")
        began = time.perf_counter()
        await index_folder(prism, folder, f"bench/small-{number}")
        return time.perf_counter() - began


async def _ask(client: object, asked: Iterator[str], count: int) -> list[float]:
    return [
        (await call_tool(client, "search_code", query=next(asked), limit=10))[0]  # type: ignore[arg-type]
        for _ in range(count)
    ]


@asynccontextmanager
async def _noise(kind: str, target: ServerTarget, corpus: Path) -> AsyncIterator[None]:
    command = ("-m", "bench.fairness", "--noise", kind, "--url", target.url, "--token", target.token)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, "--corpus", str(corpus), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    try:
        assert (await process.stdout.readline()).decode().strip() == READY
        await asyncio.sleep(LEAD_S)
        yield
        assert process.returncode is None, "the other tenant stopped"
    finally:
        process.terminate()
        await process.wait()


async def _make_noise(options: argparse.Namespace) -> None:
    """Import or ask until the process is ended."""
    target = ServerTarget(options.url, options.token)
    corpus = Corpus(options.corpus, 0, 0, {})
    print(READY, flush=True)
    if options.noise == "import":
        async with Prism(target) as prism:
            for number in itertools.count():
                await index_folder(prism, corpus.folder, f"bench/large-{time.time_ns()}-{number}")
        return
    asked = itertools.cycle(make_questions(corpus, 2_000, 2))

    async def work() -> None:
        async with mcp_client(target) as client:
            while True:
                await client.call_tool("search_code", {"query": next(asked), "limit": 10})

    await asyncio.gather(*(work() for _ in range(CLIENTS)))


def _report(questions: Times, imports: Times) -> int:
    print("| one tenant | | number | p50 ms | p95 ms | p50 ratio | p95 ratio |")
    print("|---|---|---:|---:|---:|---:|---:|")
    worst = 0.0
    for what, times in (("question", questions), (f"import of {SMALL_FILES} files", imports)):
        spreads: Mapping[str, Spread] = {kind: spread(found) for kind, found in times.items()}
        quiet = spreads.get(QUIET)
        for kind, one in spreads.items():
            p50, p95 = (one.p50 / quiet.p50, one.p95 / quiet.p95) if quiet else (1.0, 1.0)
            worst = max(worst, p50)
            print(
                f"| {what} | {kind} | {one.asked} | {one.p50:.0f} | {one.p95:.0f} | {p50:.2f} | {p95:.2f} |"
            )
    print(f"\nhighest p50 ratio {worst:.2f}, at most {RATIO_MAX:g}")
    return int(worst > RATIO_MAX)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=LARGE_FILES, help="files in the large import")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--noises", default="quiet,import,ask", help="which, comma-separated")
    # In the process of the other tenant.
    parser.add_argument("--noise", default="", help=argparse.SUPPRESS)
    parser.add_argument("--url", default="", help=argparse.SUPPRESS)
    parser.add_argument("--token", default="", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
