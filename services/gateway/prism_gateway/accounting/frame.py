"""The frame around each guarded request: collects its facts, sends its headers, counts it, records its change."""

import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_contracts.accounting import AuditEntry
from prism_contracts.errors import ErrorCode
from prism_gateway.accounting.audit import AuditLog, entry_of
from prism_gateway.accounting.facts import FACTS_KEY, CallFacts, source_of
from prism_gateway.accounting.history import HistoryLog
from prism_gateway.accounting.usage import UsageLog
from prism_gateway.callers import STATE_KEY as CALLER_KEY
from prism_gateway.callers import Caller, address_of
from prism_gateway.rest.errors import CODES_BY_STATUS, ERROR_STATUS_MIN
from prism_gateway.scopes import ROUTES


class CallFrame:
    """ASGI middleware behind the authentication."""

    def __init__(self, app: ASGIApp, usage: UsageLog, audit: AuditLog, history: HistoryLog) -> None:
        self._app = app
        self._usage = usage
        self._audit = audit
        self._history = history

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request, and count it when it is answered.

        A change is recorded before its answer is sent.
        """
        caller = scope.get("state", {}).get(CALLER_KEY)
        if caller is None:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        facts = scope["state"][FACTS_KEY] = CallFacts(source=source_of(scope["path"]))
        recording = _Recording(self._audit, caller, facts, address_of(scope))

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
                # A tool is answered later: older clients get the head of the response before it runs.
                facts.is_answered = facts.is_answered or facts.call in ROUTES
            elif facts.is_text:
                facts.chars_out += len(message.get("body", b""))
            if facts.is_answered:
                await recording.record()
            await send(message)

        try:
            await self._app(scope, receive_counted, send_counted)
        finally:
            recording.end()
            if facts.call:
                self._usage.count(caller, facts, began)
                self._history.note(caller, facts)


class _Recording:
    """Records the change of one call, once."""

    def __init__(self, audit: AuditLog, caller: Caller, facts: CallFacts, address: str) -> None:
        self._audit = audit
        self._about = (caller, facts, address)
        self._is_recorded = False

    async def record(self) -> None:
        """Store the change, so that its answer proves its entry. What was refused does not wait."""
        entry = self._entry()
        if entry and entry.code:
            self._audit.add(entry)
        elif entry:
            await self._audit.record(entry)

    def end(self) -> None:
        """Record a call whose connection ended before its answer."""
        if entry := self._entry():
            self._audit.add(entry)

    def _entry(self) -> AuditEntry | None:
        if self._is_recorded:
            return None
        self._is_recorded = True
        return entry_of(*self._about)
