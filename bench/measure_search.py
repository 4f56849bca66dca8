"""Questions over MCP with the real client, one and many at once, cold and repeated; over REST for a profile."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.corpus import Corpus
from bench.measure_index import REPO
from bench.questions import make_names, make_questions
from bench.spread import Spread, median, spread
from bench.stack import Stack, Stopwatch
from prism_cli.client import Prism
from prism_cli.target import ServerTarget

WARM_UP = 20
HITS = 10
ANSWER_SECONDS_MAX = 60.0
ERRORS_SHOWN = 5
ERROR_CHARS = 300


@dataclass(frozen=True)
class Alone:
    """One client, sequential calls, everything warm."""

    search: Spread
    grep: Spread
    read: Spread
    again: Spread  # the same questions a second time
    search_cpu_ms: dict[str, float]  # per question, by service
    empty_answers: int


@dataclass(frozen=True)
class Crowd:
    """Many clients at once."""

    clients: int
    search: Spread
    errors: int
    error_texts: list[str]
    questions_per_s: float


@dataclass(frozen=True)
class Parts:
    """Where the time of one question goes: medians in milliseconds."""

    rest: Spread
    service: dict[str, float]  # as reported by the search service
    around: float  # HTTP, gateway and bus: the answer time without the search service


@asynccontextmanager
async def mcp_client(target: ServerTarget, repo: str = REPO, toolsets: str = "code") -> AsyncIterator[Client]:
    """A client like an agent's: one session, one connection pool, one repository."""
    headers = {
        "Authorization": f"Bearer {target.token}",
        "X-Prism-Repo": repo,
        "X-Prism-Toolsets": toolsets,
        "X-Prism-Structured": "true",
    }
    async with (
        httpx2.AsyncClient(headers=headers, timeout=ANSWER_SECONDS_MAX) as http,
        Client(streamable_http_client(target.mcp_url, http_client=http)) as client,
    ):
        yield client


async def call_tool(client: Client, tool: str, **arguments: Any) -> tuple[float, dict[str, Any]]:
    """Returns seconds, and the structured answer. Raises RuntimeError for an error."""
    started = time.perf_counter()
    answer = await client.call_tool(tool, arguments)
    seconds = time.perf_counter() - started
    if answer.is_error or answer.structured_content is None:
        raise RuntimeError(f"{tool} {arguments} failed: {answer.content}")
    return seconds, answer.structured_content


async def alone(stack: Stack, corpus: Corpus, count: int, seed: int) -> Alone:
    """Search, grep and read with one client."""
    questions = make_questions(corpus, count + WARM_UP, seed)
    names = make_names(corpus, count + WARM_UP, seed + 1)
    paths = random.Random(seed).choices(corpus.paths(), k=count + WARM_UP)
    async with mcp_client(stack.target) as client:
        with Stopwatch(stack) as watched:
            answers = [await _search(client, question) for question in questions]
        again = [await _search(client, question) for question in questions]
        grep = [await call_tool(client, "grep_code", pattern=name, limit=100) for name in names]
        read = [await call_tool(client, "read_file", file_path=path) for path in paths]
    return Alone(
        search=spread([seconds for seconds, _ in answers][WARM_UP:]),
        grep=spread([seconds for seconds, _ in grep][WARM_UP:]),
        read=spread([seconds for seconds, _ in read][WARM_UP:]),
        again=spread([seconds for seconds, content in again if content["receipt"]["cached"]]),
        search_cpu_ms={name: round(1000 * s / len(questions), 2) for name, s in watched.cpu_s.items()},
        empty_answers=sum(not content["results"] for _, content in answers),
    )


async def crowd(stack: Stack, corpus: Corpus, clients: int, count: int, seed: int) -> Crowd:
    """Many clients, each with its own questions."""
    questions = make_questions(corpus, clients * count, seed)
    shares = [questions[start::clients] for start in range(clients)]
    started = time.perf_counter()
    outcomes = await asyncio.gather(*(_ask_all(stack, share) for share in shares))
    wall_s = time.perf_counter() - started
    shown = [one for outcome in outcomes for one in outcome]
    times = [one for one in shown if isinstance(one, float)]
    errors = [one for one in shown if isinstance(one, str)]
    return Crowd(
        clients, spread(times), len(errors), sorted(set(errors))[:ERRORS_SHOWN], round(len(times) / wall_s, 1)
    )


async def parts(stack: Stack, corpus: Corpus, count: int, seed: int) -> Parts:
    """The same kind of question over REST, which reports the parts of the time."""
    whole: list[float] = []
    timings: dict[str, list[float]] = {}
    async with Prism(stack.target) as prism:
        for question in make_questions(corpus, count, seed):
            started = time.perf_counter()
            reply = await prism.search(question, REPO, HITS)
            whole.append(time.perf_counter() - started)
            for name, value in reply.timings_ms.items():
                timings.setdefault(name, []).append(value)
    service = {name: round(median(values), 2) for name, values in timings.items()}
    rest = spread(whole)
    return Parts(rest, service, round(rest.p50 - sum(service.values()), 2))


async def _ask_all(stack: Stack, questions: Sequence[str]) -> list[float | str]:
    async with mcp_client(stack.target) as client:
        return [await _seconds_or_error(client, question) for question in questions]


async def _seconds_or_error(client: Client, question: str) -> float | str:
    try:
        return (await _search(client, question))[0]
    except Exception as error:  # noqa: BLE001 - counted and shown
        return f"{type(error).__name__}: {error}"[:ERROR_CHARS]


async def _search(client: Client, question: str) -> tuple[float, dict[str, Any]]:
    return await call_tool(client, "search_code", query=question, limit=HITS)
