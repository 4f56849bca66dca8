"""One tenant asks while another floods every tool with the worst inputs that are allowed.

`python -m bench.noisy` starts a stack, gives two tenants the same code, and measures `search_code` of one of them: alone, and
beside 16 attackers of the other tenant for a minute. The attackers run in a process of their own and take turns through all
tools: the longest hostile texts for each argument, and questions that are valid and cost much.
"""

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client

from bench.corpus import Corpus, make_corpus
from bench.hostile import worst_calls
from bench.measure_graph import until_built
from bench.measure_index import REPO, index_folder, until_final
from bench.measure_lanes import neighbour
from bench.measure_search import ANSWER_SECONDS_MAX, mcp_client
from bench.questions import make_names, make_questions
from bench.spread import Spread, spread
from bench.stack import running_stack
from prism_cli.client import Prism
from prism_cli.target import ServerTarget

ATTACKERS = 16
SECONDS = 60.0
FILES = 1_000
QUIET_QUESTIONS = 300
WARM_UP = 20
# The attackers run for this long before the neighbour's times count.
LEAD_S = 3.0
READY = "attacking"
RATIO_MAX = 3.0


def main() -> None:
    """Measure and print; exit with 1 if the neighbour is slowed beyond the limit."""
    options = _options()
    if options.attack:
        print(json.dumps(asyncio.run(_attack(options))))
        return
    with tempfile.TemporaryDirectory(prefix="prism-noisy-") as folder:
        sys.exit(asyncio.run(_measure(Path(folder), options)))


async def _measure(folder: Path, options: argparse.Namespace) -> int:
    corpus = make_corpus(folder / "corpus", options.files)
    with running_stack(folder / "data") as stack:
        attacker = await neighbour(stack)
        for target in (stack.target, attacker):
            async with Prism(target) as prism:
                await until_final(prism, await index_folder(prism, corpus.folder))
        await until_built(stack)
        questions = make_questions(corpus, WARM_UP + 4 * QUIET_QUESTIONS, options.seed)
        async with mcp_client(stack.target) as client:
            asked = itertools.cycle(questions)
            await _ask_for(client, asked, count=WARM_UP)
            quiet, quiet_errors = await _ask_for(client, asked, count=QUIET_QUESTIONS)
            process = await _start_attack(attacker, folder / "corpus", options)
            noisy, errors = await _ask_for(client, asked, seconds=options.seconds)
            output, _ = await process.communicate()
    outcomes: dict[str, Any] = json.loads(output.splitlines()[-1])
    return _report(quiet, noisy, quiet_errors + errors, outcomes)


async def _ask_for(
    client: Client, questions: Iterator[str], *, count: int = 0, seconds: float = 0.0
) -> tuple[Spread, Counter[str]]:
    """Ask in sequence, for a number of questions or a time."""
    times: list[float] = []
    errors = Counter[str]()
    until = time.monotonic() + seconds
    while len(times) < count or time.monotonic() < until:
        started = time.perf_counter()
        answer = await client.call_tool("search_code", {"query": next(questions), "limit": 10})
        times.append(time.perf_counter() - started)
        if answer.is_error:
            errors[_code(answer.structured_content)] += 1
    return spread(times), errors


async def _start_attack(
    target: ServerTarget, corpus: Path, options: argparse.Namespace
) -> asyncio.subprocess.Process:
    command = (sys.executable, "-m", "bench.noisy", "--attack", target.url, "--token", target.token)
    more = ("--corpus", str(corpus), "--attackers", str(options.attackers))
    seconds = ("--seconds", str(options.seconds + LEAD_S), "--seed", str(options.seed))
    tools = ("--tools", options.tools) if options.tools else ()
    process = await asyncio.create_subprocess_exec(
        *command, *more, *seconds, *tools, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert (await process.stdout.readline()).decode().strip() == READY
    await asyncio.sleep(LEAD_S)
    return process


async def _attack(options: argparse.Namespace) -> dict[str, Any]:
    """Call tools with the worst inputs until the time is over. Returns outcomes per tool, and its slowest
    call.
    """
    target = ServerTarget(options.attack, options.token)
    outcomes: dict[str, Counter[str]] = {}
    slowest: dict[str, float] = {}
    corpus = Corpus(options.corpus, 0, 0, {})
    calls = [call for call in _calls(corpus) if options.tools in call[0]]
    random.Random(options.seed).shuffle(calls)
    turns = itertools.cycle(calls)
    headers = {"Authorization": f"Bearer {target.token}", "Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers, timeout=ANSWER_SECONDS_MAX) as http:
        print(READY, flush=True)
        until = time.monotonic() + options.seconds

        async def work() -> None:
            while time.monotonic() < until:
                tool, arguments = next(turns)
                started = time.monotonic()
                outcome = await _call(http, target.mcp_url, tool, arguments)
                took = time.monotonic() - started
                outcomes.setdefault(tool, Counter())[outcome] += 1
                slowest[tool] = max(took, slowest.get(tool, 0.0))

        await asyncio.gather(*(work() for _ in range(options.attackers)))
    return {"outcomes": outcomes, "slowest_s": slowest}


async def _call(http: httpx2.AsyncClient, url: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Returns the outcome of a call: `ok`, or a code. Sent without the client library, which would cost more
    than the attack.
    """
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    try:
        answer = await http.post(
            url, json=body, headers={"X-Prism-Toolsets": "all", "X-Prism-Structured": "true"}
        )
    except httpx2.HTTPError as error:
        return type(error).__name__
    data = answer.text.partition("data: ")[2] or answer.text
    try:
        result = json.loads(data)["result"]
    except (ValueError, KeyError):
        return f"http {answer.status_code}"
    return _code(result.get("structuredContent")) if result.get("isError") else "ok"


def _calls(corpus: Corpus) -> Iterator[tuple[str, dict[str, Any]]]:
    path = corpus.paths()[0]
    for call in worst_calls({"repo": REPO, "symbol": "main", "path": path, "file_path": path}):
        yield call.tool, call.arguments
    names = make_names(corpus, 40, 7)
    for tool, arguments in _costly(corpus, names):
        for _ in range(4):
            yield tool, arguments


def _costly(corpus: Corpus, names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Returns expensive valid questions."""
    yield "grep_code", {"pattern": ".*", "regex": True, "limit": 500}
    yield "grep_code", {"pattern": r"(\w+\s*){1,20}=", "regex": True, "limit": 500, "context_lines": 10}
    yield "grep_code", {"pattern": "e", "output_mode": "count"}
    yield "search_code", {"query": " ".join(names)[:4_000], "limit": 50}
    for name in names:
        yield "prepare_to_edit", {"symbol": name}
        yield "impact_of_change", {"symbol": name}
        yield "get_call_hierarchy", {"symbol": name, "depth": 5}
    yield "find_references", {"symbols": list(names[:20])}
    yield "get_module_map", {"limit": 200}
    yield "get_architecture", {}
    yield "get_codebase_conventions", {}
    yield "list_files", {"limit": 1_000}
    paths = corpus.paths()[:200]
    diff = "".join(f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n-a\n+b\n c\n d\n" for path in paths)
    yield "impact_of_change", {"diff": diff}


def _code(answer: Mapping[str, Any] | None) -> str:
    return str((answer or {}).get("error", {}).get("code", "error"))


def _report(quiet: Spread, noisy: Spread, errors: Counter[str], attack: Mapping[str, Any]) -> int:
    ratio = noisy.p95 / quiet.p95
    print("| search_code of the other tenant | questions | p50 ms | p95 ms | max ms | errors |")
    print("|---|---:|---:|---:|---:|---|")
    print(f"| quiet | {quiet.asked} | {quiet.p50:.0f} | {quiet.p95:.0f} | {quiet.max:.0f} | |")
    shown = ", ".join(f"{code} {number}" for code, number in errors.items()) or "none"
    print(
        f"| beside the attack | {noisy.asked} | {noisy.p50:.0f} | {noisy.p95:.0f} | {noisy.max:.0f} | {shown} |"
    )
    print(f"\np95 ratio {ratio:.2f}, at most {RATIO_MAX:g}\n")
    print("| tool attacked | calls | answers | slowest s |")
    print("|---|---:|---|---:|")
    for tool, outcomes in sorted(attack["outcomes"].items()):
        answers = ", ".join(f"{code} {number}" for code, number in sorted(outcomes.items()))
        print(f"| `{tool}` | {sum(outcomes.values())} | {answers} | {attack['slowest_s'][tool]:.1f} |")
    return int(ratio > RATIO_MAX or bool(errors))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--attackers", type=int, default=ATTACKERS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", default="", help="attack only tools whose name contains this")
    parser.add_argument(
        "--attack", default="", help=argparse.SUPPRESS
    )  # the address, in the attacking process
    parser.add_argument("--token", default="", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
