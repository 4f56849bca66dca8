"""The frame around each guarded request: collects its facts, sends its headers, and counts it."""

import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_contracts.errors import ErrorCode
from prism_gateway.accounting.facts import FACTS_KEY, CallFacts
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.callers import STATE_KEY as CALLER_KEY
from prism_gateway.rest.errors import CODES_BY_STATUS

ERROR_STATUS_MIN = 400


class CallFrame:
    """ASGI middleware behind the authentication."""

    def __init__(self, app: ASGIApp, usage: UsageLog) -> None:
        self._app = app
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request, and count it when it is answered."""
        caller = scope.get("state", {}).get(CALLER_KEY)
        if caller is None:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        facts = scope["state"][FACTS_KEY] = CallFacts()

        async def receive_counted() -> Message:
            message = await receive()
            if facts.is_text:
                facts.chars_in += len(message.get("body", b""))
            return message

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(facts.admission.headers)
                if message["status"] >= ERROR_STATUS_MIN and not facts.code:
                    facts.code = CODES_BY_STATUS.get(message["status"], ErrorCode.INTERNAL).value
            elif facts.is_text:
                facts.chars_out += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive_counted, send_counted)
        finally:
            if facts.call:
                self._usage.count(caller, facts, began)
