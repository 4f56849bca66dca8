"""`python -m bench.main`: make a corpus, start a stack, measure it, print a table, keep the figures as JSON.

One command, a few minutes, nothing outside of temporary folders but the results. A busy machine makes wall times
longer and leaves CPU seconds unchanged, so both are reported.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from bench import layers, measure_graph, measure_index, measure_peers, measure_push, measure_search
from bench.corpus import Corpus, make_corpus
from bench.machine import load, machine_facts, yardstick_ms
from bench.report import Peers, Questions, Results, show, write_json
from bench.stack import Stack, Watch, running_stack, total

LATEST = Path(__file__).with_name("results") / "latest.json"
SEED = 20_260
# Some 100,000 chunks, the size for which the targets of questions are set.
QUESTION_FILES = 13_250
# Questions per client in a crowd.
CROWD_SHARE = 20
# Atlas keeps the process that builds graphs for two minutes, for the next change.
REST_AFTER_S = 200.0


def main() -> None:
    """Measure, and print the result."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
        results = run(Path(folder), options)
    show(results)
    write_json(results, options.out)
    print(f"Kept in {options.out}")


def run(folder: Path, options: argparse.Namespace) -> Results:
    """Measure stacks in sequence: a corpus for questions, one for indexing, one with branches, one with two
    tenants.
    """
    os.environ.update(measure_push.SETTINGS)
    load_before, yardstick_before = load(), yardstick_ms()
    _say(f"corpus of {options.question_files:,} files, and its stack")
    library = make_corpus(folder / "library", options.question_files)
    with running_stack(folder / "library-data") as stack:
        asked = asyncio.run(_ask(stack, library, options))
        restarts = stack.restarts()
    _say("peers")
    peers = Peers(
        measure_peers.ripgrep(library, options.questions, SEED + 1),
        measure_peers.semble(library, options.questions, SEED),
    )
    _say(f"corpus of {options.files:,} files, and its stack")
    corpus = make_corpus(folder / "corpus", options.files)
    with running_stack(folder / "data") as stack:
        time.sleep(options.rest)
        yardsticks = [yardstick_before, yardstick_ms()]
        index, memory, graph, no_op, edits, pushes = asyncio.run(_index(stack, corpus, options))
        restarts += stack.restarts()
    _say("layers, and their stack")
    layered = layers.measure_layers(folder, options)
    _say("lanes, and their stack")
    lanes = layers.measure_lanes(folder, options)
    return Results(
        machine=machine_facts(),
        load_before=load_before,
        load_after=load(),
        yardstick_ms=[*yardsticks, yardstick_ms()],
        corpus={"files": corpus.files, "bytes": corpus.bytes, "kinds": corpus.kinds},
        restarts=restarts,
        index=index,
        memory=memory,
        graph=graph,
        no_op=no_op,
        edits=edits,
        pushes=pushes,
        layers=layered,
        lanes=lanes,
        asked=asked,
        peers=peers,
    )


async def _ask(stack: Stack, corpus: Corpus, options: argparse.Namespace) -> Questions:
    _say("  index")
    index = await measure_index.first_index(stack, corpus)
    _say("  graph")
    await measure_graph.until_built(stack)
    _say("  questions of one client")
    alone = await measure_search.alone(stack, corpus, options.questions, SEED)
    _say("  questions of many clients")
    crowd = await measure_search.crowd(stack, corpus, options.clients, CROWD_SHARE, SEED + 2)
    _say("  questions over REST")
    parts = await measure_search.parts(stack, corpus, options.questions, SEED + 3)
    return Questions(index, alone, crowd, parts)


async def _index(
    stack: Stack, corpus: Corpus, options: argparse.Namespace
) -> tuple[
    measure_index.FirstIndex,
    measure_index.StackMemory,
    measure_graph.GraphFigures,
    measure_index.NoOp,
    measure_index.Edits,
    measure_push.Pushes,
]:
    _say("  first index")
    with Watch(stack) as watch:  # after an index the store compacts, and the graph is built
        index = await measure_index.first_index(stack, corpus)
        await measure_graph.until_built(stack)
    _say("  graph")
    graph = await measure_graph.graph(
        stack, corpus, options.graph_questions, edits=options.edits, seed=SEED + 4
    )
    _say("  no-op reindex")
    no_op = await measure_index.no_op(stack, corpus)
    _say("  edits")
    edits = await measure_index.edits(stack, corpus, options.edits, SEED)
    _say("  pushes")
    pushes = await measure_push.pushes(stack, corpus, options.edits, SEED)
    _say("  rest")
    await asyncio.sleep(options.rest_after)
    rest = total(stack.memory().values())
    memory = measure_index.StackMemory(watch.peak, watch.highest["atlas"], rest)
    return index, memory, graph, no_op, edits, pushes


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000, help="size of the corpus (default 10,000)")
    parser.add_argument(
        "--question-files",
        type=int,
        default=QUESTION_FILES,
        help=f"size of the corpus that is asked (default {QUESTION_FILES:,})",
    )
    parser.add_argument("--questions", type=int, default=200, help="questions of one client (default 200)")
    parser.add_argument(
        "--graph-questions", type=int, default=100, help="questions of each tool of the graph (default 100)"
    )
    parser.add_argument("--clients", type=int, default=16, help="clients at once (default 16)")
    parser.add_argument(
        "--edits", type=int, default=20, help="files that are changed, and pushes (default 20)"
    )
    layers.add_options(parser)
    parser.add_argument("--rest", type=float, default=5.0, help="seconds of rest before the first look")
    parser.add_argument(
        "--rest-after",
        type=float,
        default=REST_AFTER_S,
        help="seconds of rest before the last look at memory",
    )
    parser.add_argument("--out", type=Path, default=LATEST, help="where the JSON goes")
    return parser.parse_args()


def _say(step: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {step}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
