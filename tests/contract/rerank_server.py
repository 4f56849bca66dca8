"""A reranker that listens on loopback, and answers as a test says."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

PATH = "/v1/rerank"
KEY = "key-that-no-log-shows"
Answer = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


def scores(*values: object) -> Answer:
    """Answers with these scores, in the order of the documents."""
    return results([{"index": index, "relevance_score": value} for index, value in enumerate(values)])


def results(listed: list[dict[str, object]]) -> Answer:
    """Answers with these results."""

    async def answer(_: web.Request, __: dict[str, Any]) -> web.Response:
        return web.json_response({"id": "r1", "results": listed, "usage": {"total_tokens": 9}})

    return answer


async def last_first(_: web.Request, asked: dict[str, Any]) -> web.Response:
    """The order of the documents, reversed; results are listed from the worst, as no interface forbids."""
    listed = [{"index": index, "relevance_score": index / 7} for index in range(len(asked["documents"]))]
    return web.json_response({"results": listed})


@dataclass
class RerankServer:
    """What it was asked, and what it answers."""

    url: str = ""
    answer: Answer = last_first
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    elsewhere: int = 0  # requests for other paths

    def settings(self, **fields: object) -> dict[str, object]:
        """Returns the settings of search that name it."""
        named = {"reranker_url": self.url, "reranker_api_key": KEY, "reranker_model": "rank-1"}
        return {"reranker_enabled": True, "reranker_timeout_s": 5.0, **named, **fields}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers a request."""
        if request.path != PATH:
            self.elsewhere += 1
            return web.Response(status=404)
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("Authorization", ""))
        return await self.answer(request, self.asked[-1])


@asynccontextmanager
async def reranker() -> AsyncIterator[RerankServer]:
    """Starts one."""
    server = RerankServer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    # A test that lets it hang ends its connections with it.
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}{PATH}"
    yield server
    await runner.cleanup()
