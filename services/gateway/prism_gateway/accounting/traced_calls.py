"""The span of each HTTP request and tool call, and its trace id in the answer."""

import time
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_gateway.accounting.facts import FACTS_KEY, CallFacts
from prism_gateway.callers import STATE_KEY as CALLER_KEY
from prism_gateway.callers import Caller
from prism_gateway.route_names import RouteNames
from prism_runtime import tracing
from prism_runtime.metrics import exemplar
from prism_runtime.tracing import Attribute

TRACE_KEY: Final = "trace_id"
EXEMPLAR_KEY: Final = "exemplar"
BEGAN_KEY: Final = "began_ns"
TRACE_HEADER = "X-Prism-Trace-Id"


class TracedCalls:
    """ASGI middleware behind the authentication: requests without a valid token have no span.

    A caller's `traceparent` is continued; whether the trace is exported is decided here.
    """

    def __init__(self, app: ASGIApp, routes: RouteNames) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request below its span."""
        if scope["type"] != "http" or not tracing.is_on():
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        caller = state.get(CALLER_KEY)
        parent = tracing.extracted(Headers(scope=scope)) if caller else Context()
        attributes = {Attribute.METHOD: scope["method"], **_of_caller(caller)}
        with tracing.call(
            scope["method"],
            attributes,
            kind=SpanKind.SERVER,
            parent=parent,
            began_ns=state.get(BEGAN_KEY) or time.time_ns(),
        ) as span:
            state[TRACE_KEY] = trace_id = tracing.trace_id()
            state[EXEMPLAR_KEY] = exemplar()

            async def send_traced(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message)[TRACE_HEADER] = trace_id
                    span.set_attribute(Attribute.STATUS, message["status"])
                await send(message)

            try:
                await self._app(scope, receive, send_traced)
            finally:
                _describe(span, scope["method"], self._routes.of(scope), state.get(FACTS_KEY))


def traced(body: ErrorBody) -> ErrorBody:
    """Returns an error with the id of the current trace, if there is one."""
    trace_id = tracing.trace_id()
    return body.model_copy(update={"details": {**body.details, TRACE_KEY: trace_id}}) if trace_id else body


def _of_caller(caller: Caller | None) -> dict[str, tracing.Value]:
    return {Attribute.PROJECT_ID: caller.tenant, Attribute.CALLER: caller.id} if caller else {}


def _describe(span: Span, method: str, route: str, facts: CallFacts | None) -> None:
    span.set_attribute(Attribute.ROUTE, route)
    span.update_name(f"{method} {route}")
    if facts is None:
        return
    if facts.tool:
        span.update_name(f"tool {facts.tool}")
        span.set_attribute(Attribute.TOOL, facts.tool)
    if facts.repo:
        span.set_attribute(Attribute.REPO, facts.repo)
    if facts.corpus_version is not None:
        span.set_attribute(Attribute.CACHE_HIT, facts.cached)
        span.set_attribute(Attribute.CORPUS_VERSION, facts.corpus_version)
    if facts.code:
        tracing.note_error(ErrorCode(facts.code))
