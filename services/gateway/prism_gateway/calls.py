"""What one request was about, collected while it is handled: the limits that it counted against.

The middleware puts a `CallFacts` into the state of each guarded request. Routes and tools fill it in.
"""

from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_gateway.callers import STATE_KEY as CALLER_KEY
from prism_gateway.rates.limiter import Admission

FACTS_KEY: Final = "call"


@dataclass(slots=True)
class CallFacts:
    """The facts of a call."""

    admission: Admission = field(default_factory=Admission)


def facts_of(request: HTTPConnection) -> CallFacts:
    """Returns the facts of a guarded request."""
    facts = request.scope["state"][FACTS_KEY]
    assert isinstance(facts, CallFacts)
    return facts


class CallFrame:
    """ASGI middleware behind the authentication: collects the facts of a call, and sends its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request."""
        if CALLER_KEY not in scope.get("state", {}):
            await self._app(scope, receive, send)
            return
        facts = scope["state"][FACTS_KEY] = CallFacts()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(facts.admission.headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)
