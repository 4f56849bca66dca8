"""`prism demo`: a temporary stack, an import, a question over MCP, the answer.

It uses a temporary folder and a free port, so it does not affect a running stack, and leaves nothing behind.
"""

import asyncio
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError
from rich.text import Text

from prism_cli import search, terminal
from prism_cli.exits import CommandError, Exit
from prism_cli.index import command as index_command
from prism_cli.index.naming import is_git_url
from prism_cli.stack.launch import start_in_background, stop
from prism_cli.stack.layout import DataDir
from prism_cli.target import ServerTarget
from prism_cli.up import reporter
from prism_contracts.records import Job
from prism_contracts.rpc.search import SearchReply

TOOL = "search_code"
HITS = 5
ANSWER_SECONDS_MAX = 30.0


class DemoAnswer(NamedTuple):
    """The answer that an agent gets, and the time of each step."""

    reply: SearchReply
    tools: int
    milliseconds: dict[str, float]


def demo(source: str, query: str) -> None:
    """Run the demo. Raises CommandError if a step fails; always cleans up."""
    _check_source(source)
    with _stack() as target:
        outcome = asyncio.run(index_command.index(target, index_command.Wish(source, wait=True)))
        index_command.show(outcome)
        if outcome.exit_code is Exit.FAILED:
            raise CommandError(f"{source} could not be indexed.", "The reason stands above.")
        _say(f"Asking over MCP at {target.mcp_url}: {query}")
        _show(asyncio.run(_ask(target, outcome.job, query)))


def _check_source(source: str) -> None:
    if not is_git_url(source) and not Path(source).expanduser().is_dir():
        raise CommandError(
            f"{source} is neither a folder nor a git URL.",
            "Give one, such as: make demo REPO=https://github.com/psf/requests",
            code="source_not_found",
        )


@contextmanager
def _stack() -> Iterator[ServerTarget]:
    folder = Path(tempfile.mkdtemp(prefix="prism-demo-")).resolve()
    data = DataDir(folder)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _say(f"Starting Prism on {folder}")
        up = start_in_background(data, 0, reporter(quiet=False), tied=True)
        yield ServerTarget(up["url"], up["token"], data)
    finally:
        _say("Stopping")
        stop(data)
        shutil.rmtree(folder, ignore_errors=True)
        signal.signal(signal.SIGTERM, previous)


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


async def _ask(target: ServerTarget, job: Job, query: str) -> DemoAnswer:
    headers = {
        "Authorization": f"Bearer {target.token}",
        "X-Prism-Repo": job.repo_name,
        "X-Prism-Structured": "true",
    }
    try:
        async with httpx2.AsyncClient(headers=headers, timeout=ANSWER_SECONDS_MAX) as http:
            return await _converse(target.mcp_url, http, query)
    except ExceptionGroup as group:
        raise _mcp_failed(_innermost(group)) from group


async def _converse(url: str, http: httpx2.AsyncClient, query: str) -> DemoAnswer:
    clock = _Clock()
    async with Client(streamable_http_client(url, http_client=http)) as client:
        clock.lap("connect")
        tools = len((await client.list_tools()).tools)
        clock.lap("list tools")
        arguments = {"query": query, "limit": HITS, "detail": "full"}
        first = await client.call_tool(TOOL, arguments)
        clock.lap("answer")
        await client.call_tool(TOOL, arguments)
        clock.lap("same again")
    if first.is_error or first.structured_content is None:
        raise _mcp_failed("; ".join(getattr(block, "text", "") for block in first.content))
    return DemoAnswer(_as_reply(first.structured_content), tools, clock.milliseconds)


def _as_reply(content: dict[str, Any]) -> SearchReply:
    try:
        return SearchReply.model_validate(content)
    except ValidationError as error:
        raise _mcp_failed(f"{TOOL} answered in an unknown form: {error}") from error


def _mcp_failed(reason: object) -> CommandError:
    return CommandError(f"The question over MCP failed: {reason}", "See `prism doctor`.", code="mcp_failed")


def _innermost(group: ExceptionGroup[Exception]) -> Exception:
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


class _Clock:
    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.milliseconds[name] = (now - self._last) * 1000
        self._last = now


def _show(answer: DemoAnswer) -> None:
    terminal.out.print()
    search.show(answer.reply)
    for label, timings in (("client", answer.milliseconds), ("server", answer.reply.timings_ms)):
        text = " · ".join(f"{name} {value:.1f} ms" for name, value in timings.items())
        if text:
            terminal.out.print(Text(f"{label}: {text}", style="dim"), soft_wrap=True)
    terminal.out.print(Text(f"{answer.tools} tools listed", style="dim"))
    if not answer.reply.results:
        raise CommandError("The question found nothing.", "Ask with words from the code.", code="no_hits")


def _say(text: str) -> None:
    terminal.err.print(Text(text, style="bold"), soft_wrap=True)
