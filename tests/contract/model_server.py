"""A server of OpenAI's chat completions on loopback, which answers as a test says."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

PATH = "/v1/chat/completions"
KEY = "key-that-no-log-shows"
MODEL = "tiny"
TOKENS_IN, TOKENS_OUT = 120, 30
Reply = Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]


def says(output: object, *, finish: str = "stop") -> Reply:
    """Answers with a text, or with a value as JSON."""
    text = output if isinstance(output, str) else json.dumps(output)

    async def reply(asked: dict[str, Any]) -> web.Response:
        return web.json_response(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": asked["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": text, "refusal": None},
                        "logprobs": None,
                        "finish_reason": finish,
                    }
                ],
                "usage": {
                    "prompt_tokens": TOKENS_IN,
                    "completion_tokens": TOKENS_OUT,
                    "total_tokens": TOKENS_IN + TOKENS_OUT,
                },
            }
        )

    return reply


def fails(
    status: int, message: str = "no", *, code: str = "", headers: dict[str, str] | None = None
) -> Reply:
    """Answers with an error, in the shape that OpenAI gives it."""
    error = {"message": message, "type": "some_error", "param": None, "code": code or None}

    async def reply(_: dict[str, Any]) -> web.Response:
        return web.json_response({"error": error}, status=status, headers=headers)

    return reply


async def hangs(_: dict[str, Any]) -> web.Response:
    """Answers never."""
    await asyncio.sleep(3_600)
    raise AssertionError


async def sends_much(_: dict[str, Any]) -> web.Response:
    """Answers with 3 MB."""
    return web.Response(body=b'{"id": "' + b"x" * 3_000_000 + b'"}', content_type="application/json")


async def redirects(_: dict[str, Any]) -> web.Response:
    """Sends to another address."""
    raise web.HTTPTemporaryRedirect("/elsewhere")


async def refuses_schema(asked: dict[str, Any]) -> web.StreamResponse:
    """Answers, but not to requests with a schema."""
    if "response_format" in asked and asked["response_format"].get("type") == "json_schema":
        return await fails(400, "response_format is not supported", code="unsupported_parameter")(asked)
    return await says({"text": "told", "evidence": ["e1"]})(asked)


@dataclass
class ModelServer:
    """What it was asked, and what it answers: `replies` in turn, the last one for ever."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    elsewhere: int = 0  # requests for other paths

    def settings(self, **fields: object) -> dict[str, object]:
        """Returns the settings of scribe that name it."""
        return {"llm_models": f"endpoint:{MODEL}", "llm_base_url": self.url, "llm_api_key": KEY, **fields}

    @property
    def prompts(self) -> list[str]:
        """The texts of each request."""
        return ["\n".join(str(one["content"]) for one in asked["messages"]) for asked in self.asked]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers a request."""
        if request.path != PATH:
            self.elsewhere += 1
            return web.Response(status=404)
        self.asked.append(await request.json())
        self.keys.append(request.headers.get("Authorization", ""))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return await reply(self.asked[-1])


@asynccontextmanager
async def model_server(*replies: Reply) -> AsyncIterator[ModelServer]:
    """Starts one."""
    server = ModelServer(replies=list(replies))
    app = web.Application(client_max_size=8 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", server.handle)
    # A test that lets it hang ends its connections with it.
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}/v1"
    yield server
    await runner.cleanup()
