"""Clients that ask without a pause worth mentioning, over kept connections, and note every answer."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NamedTuple, Self

import httpx2
from mcp import Client

from bench.measure_search import mcp_client
from bench.spread import Spread, spread
from prism_cli.target import ServerTarget

REST_CLIENTS = 4
MCP_CLIENTS = 2
PAUSE_S = 0.05
# Longer than the gateway waits for a service, so that the failure is the gateway's.
ANSWER_S_MAX = 40.0
HITS = 5
OK = "ok"
REASON_CHARS = 80


class Answer(NamedTuple):
    """One question: when it was asked (monotonic), how long it took, and `ok` or why it failed."""

    at: float
    seconds: float
    outcome: str


@dataclass
class Answers:
    """All answers of a scenario."""

    found: list[Answer] = field(default_factory=list)

    @property
    def failed(self) -> list[Answer]:
        """Those without a result."""
        return [answer for answer in self.found if answer.outcome != OK]

    def failures(self) -> dict[str, int]:
        """How many failed, by reason."""
        return dict(Counter(answer.outcome for answer in self.failed))

    def spread(self) -> Spread:
        """How long all took, also the failed ones."""
        return spread([answer.seconds for answer in self.found])

    def last_failure_s(self, since: float) -> float:
        """Seconds from a moment until the last failure was over; 0 without one."""
        return max((answer.at + answer.seconds - since for answer in self.failed), default=0.0)


class Askers:
    """A group of clients over REST and MCP. `start`, then `stop`, which returns the answers."""

    def __init__(self, target: ServerTarget, repo: str, questions: Sequence[str]) -> None:
        self._target = target
        self._repo = repo
        # No question is asked twice, so that no answer comes from the cache.
        self._questions = (
            f"{question} {number}"
            for number, question in zip(itertools.count(), itertools.cycle(questions), strict=False)
        )
        self._answers = Answers()
        self._done = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> Self:
        """Begin to ask."""
        self._tasks = [asyncio.create_task(self._ask_over_rest()) for _ in range(REST_CLIENTS)]
        self._tasks += [asyncio.create_task(self._ask_over_mcp()) for _ in range(MCP_CLIENTS)]
        return self

    async def stop(self) -> Answers:
        """Ask no more, and wait for the last answers."""
        self._done.set()
        await asyncio.gather(*self._tasks)
        return self._answers

    async def _ask_over_rest(self) -> None:
        headers = {"Authorization": f"Bearer {self._target.token}"}
        async with httpx2.AsyncClient(
            base_url=self._target.url, headers=headers, timeout=ANSWER_S_MAX
        ) as http:
            while not self._done.is_set():
                body = {"query": next(self._questions), "repo": self._repo, "limit": HITS}
                with _Note(self._answers) as note:
                    answer = await http.post("/api/v1/search", json=body)
                    note.outcome = _of_rest(answer)
                await asyncio.sleep(PAUSE_S)

    async def _ask_over_mcp(self) -> None:
        while not self._done.is_set():
            async with AsyncExitStack() as stack:
                client: Client | None = None
                with _Note(self._answers, is_counted=False) as note:
                    client = await stack.enter_async_context(_session(self._target, self._repo))
                while client and not self._done.is_set() and note.is_well:
                    with _Note(self._answers) as note:
                        answer = await client.call_tool(
                            "search_code", {"query": next(self._questions), "limit": HITS}
                        )
                        note.outcome = _of_mcp(answer)
                    await asyncio.sleep(PAUSE_S)
            await asyncio.sleep(PAUSE_S)


@asynccontextmanager
async def _session(target: ServerTarget, repo: str) -> AsyncIterator[Client]:
    """An MCP client whose end cannot fail: the server may be gone by then."""
    context = mcp_client(target, repo)
    client = await context.__aenter__()
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # the calls were counted
            await context.__aexit__(None, None, None)


class _Note:
    """Notes one question in its block. An exception is the outcome, and ends in the block."""

    def __init__(self, answers: Answers, *, is_counted: bool = True) -> None:
        self.outcome = OK
        self.is_well = True  # whether the connection can be used again
        self._answers = answers
        self._is_counted = is_counted

    def __enter__(self) -> Self:
        self._at = time.monotonic()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Exception):
            self.outcome, self.is_well = _innermost(error), False
        if error is None or isinstance(error, Exception):
            # A connection that cannot be opened is a question that cannot be asked.
            if self._is_counted or not self.is_well:
                self._answers.found.append(Answer(self._at, time.monotonic() - self._at, self.outcome))
            return True
        return False


def _of_rest(answer: httpx2.Response) -> str:
    if answer.status_code == HTTPStatus.OK:
        return OK if answer.json()["results"] else "no hits"
    try:
        return _reason(str(answer.status_code), answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return str(answer.status_code)


def _of_mcp(answer: Any) -> str:
    content = answer.structured_content or {}
    if answer.is_error:
        return _reason("mcp", content.get("error", {}))
    return OK if content.get("results") else "no hits"


def _reason(door: str, error: Mapping[str, Any]) -> str:
    return f"{door} {error.get('code', 'error')}: {error.get('message', '')}"[:REASON_CHARS]


def _innermost(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__} {error}"[:REASON_CHARS].strip()
