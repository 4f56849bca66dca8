"""Spans: what a process does for a call or a message, exported to a collector.

Tracing is off unless `PRISM_OTLP_ENDPOINT` is set, and then `span` and `note` do nothing. Names of spans are
few: subjects, route templates and operations, never an id. What varies is an attribute, see `Attribute`.

A call is an HTTP request, a request over NATS, or the handling of a message. Facts of a call are on its span
and on each span that starts below it in this process after they are known. They do not travel as baggage:
the next process takes them from the message.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Link, Span, SpanContext, SpanKind, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from prism_contracts.errors import ErrorCode, PrismError, http_status

Value = str | bool | int | float

TRACEPARENT = "traceparent"
LINKS_MAX = 64
HTTP_SERVER_ERROR = 500
_SCOPE = "prism"
_CALL_KEY = contexts.create_key("prism.call")
_PROPAGATOR = TraceContextTextMapPropagator()


class Attribute(StrEnum):
    """The attributes of spans. Those of HTTP, databases and messaging are OpenTelemetry's semantic conventions."""

    PROJECT_ID = "project_id"  # the tenant
    CORPUS_VERSION = "corpus_version"  # the version of the index that answers, as in the receipt
    CACHE_HIT = "cache_hit"  # whether the answer comes from the cache
    TOOL = "prism.tool"
    CALLER = "prism.caller"  # the id of the token or person, which reveals nothing of a secret
    REPO = "prism.repo"  # owner/name, as the caller gave it or as the answer names it
    REPO_ID = "prism.repo_id"
    LAYER = "prism.layer"
    JOB = "prism.job"
    LANE = "prism.lane"
    IMPORTED_FILE = "prism.imported_file"  # begins the trace of a file; the sampler looks at it
    COMMIT = "prism.commit"
    LEGS = "prism.legs"
    MISSING_LEGS = "prism.missing_legs"
    CANDIDATES = "prism.candidates"
    HITS = "prism.hits"
    FILES = "prism.files"
    CHUNKS = "prism.chunks"
    BYTES = "prism.bytes"
    TEXTS = "prism.texts"
    BATCH = "prism.batch"  # messages that were handled together
    POINTS = "prism.points"
    MODEL_TIER = "prism.tier"
    ERROR = "error.type"  # an error code, or the type of an exception
    METHOD = "http.request.method"
    ROUTE = "http.route"
    STATUS = "http.response.status_code"
    DB_SYSTEM = "db.system.name"
    DB_OPERATION = "db.operation.name"
    DB_COLLECTION = "db.collection.name"
    DB_QUERIES = "db.operation.batch.size"
    MESSAGING_SYSTEM = "messaging.system"
    DESTINATION = "messaging.destination.name"
    MESSAGING_OPERATION = "messaging.operation.type"
    BODY_BYTES = "messaging.message.body.size"
    DELIVERIES = "messaging.nats.deliveries"
    RPC_SYSTEM = "rpc.system"


Values = Mapping[str, Value]
# The fields of messages that become attributes, whichever message has them.
_FIELDS = {
    "tenant": Attribute.PROJECT_ID,
    "job": Attribute.JOB,
    "layer": Attribute.LAYER,
    "lane": Attribute.LANE,
    "commit": Attribute.COMMIT,
}


@dataclass(slots=True)
class _Call:
    """The span of a call, and the facts that its later spans get."""

    span: Span
    facts: dict[str, Value] = field(default_factory=dict)


class _State:
    """The tracer of this process; None while tracing is off."""

    tracer: Tracer | None = None


CLIENT = SpanKind.CLIENT
_NOTHING = nullcontext(INVALID_SPAN)


def use(provider: TracerProvider | None) -> None:
    """Start spans with a provider from now on; None: start none."""
    _State.tracer = provider.get_tracer(_SCOPE) if provider else None


def is_on() -> bool:
    """Whether this process exports spans."""
    return _State.tracer is not None


def span(
    name: str, attributes: Values | None = None, kind: SpanKind = SpanKind.INTERNAL
) -> AbstractContextManager[Span]:
    """A span around a block, below the current one. Costs a microsecond while tracing is off."""
    return _span(name, attributes, kind) if _State.tracer else _NOTHING


def call(
    name: str,
    attributes: Values | None = None,
    *,
    kind: SpanKind,
    parent: Context | None = None,
    links: Sequence[SpanContext] = (),
    began_ns: int | None = None,
) -> AbstractContextManager[Span]:
    """The span of a call around a block: `note` adds facts to it and to later spans below it.

    `parent` is the context that `extracted` returns; None: the current one. `began_ns` is the time since the epoch
    at which the call began, if that was earlier.
    """
    if not _State.tracer:
        return _NOTHING
    return _span(name, attributes, kind, parent=parent, links=links, began_ns=began_ns, is_call=True)


def batch(
    name: str, contexts_: Sequence[Context], attributes: Values | None = None
) -> AbstractContextManager[Span]:
    """A span around work for several calls, whose contexts `context` returned.

    It is below the first call whose trace is exported, and links to those of the others.
    """
    if not _State.tracer:
        return _NOTHING
    spans = [trace.get_current_span(known).get_span_context() for known in contexts_]
    first = next((number for number, span in enumerate(spans) if span.trace_flags.sampled), 0)
    # A call may have several items in a batch.
    others = {known.span_id: known for known in spans if known.span_id != spans[first].span_id}
    named = {Attribute.BATCH: len(spans), **(attributes or {})}
    return call(name, named, kind=SpanKind.INTERNAL, parent=contexts_[first], links=[*others.values()])


def resumed(name: str, traceparent_: str) -> AbstractContextManager[Span]:
    """A span around a block that continues the trace of a `traceparent` that was stored, whatever came between.

    It links to the current span. Without a `traceparent` it is a span like any other.
    """
    if not _State.tracer:
        return _NOTHING
    parent = extracted({TRACEPARENT: traceparent_})
    is_same = trace.get_current_span(parent).get_span_context().trace_id == current().trace_id
    if not traceparent_ or is_same:
        return span(name)
    facts = inherited(None)
    return call(name, facts, kind=SpanKind.INTERNAL, parent=parent, links=[current()])


def context() -> Context:
    """Returns the current context, for `batch`."""
    return contexts.get_current()


def note(facts: Values) -> None:
    """Add facts to the current span, to that of its call, and to each span that starts below it from now on."""
    if not _State.tracer:
        return
    values = {str(name): value for name, value in facts.items()}
    trace.get_current_span().set_attributes(values)
    known = contexts.get_value(_CALL_KEY)
    if isinstance(known, _Call):
        known.span.set_attributes(values)
        known.facts.update(values)


def note_error(code: ErrorCode) -> None:
    """Add an error code to the current span. It has failed unless the code refuses a request as wrong."""
    if _State.tracer:
        _fail(trace.get_current_span(), code)


def note_message(message: object) -> None:
    """Add the facts of a call that its message has as fields: tenant, repository, layer, job, lane, commit."""
    if not _State.tracer:
        return
    facts: dict[str, Value] = {}
    for name, attribute in _FIELDS.items():
        if value := getattr(message, name, ""):
            facts[attribute] = str(value)
    if repo := getattr(message, "repo", ""):
        # Requests of callers name a repository; messages between services have its id.
        facts[Attribute.REPO if "/" in repo else Attribute.REPO_ID] = repo
    note(facts)


def inherited(parent: Context | None) -> Values:
    """Returns the facts that a span below a context gets."""
    known = contexts.get_value(_CALL_KEY, parent)
    return known.facts if isinstance(known, _Call) else {}


def inject(headers: dict[str, str]) -> None:
    """Add the current span to the headers of a message."""
    _PROPAGATOR.inject(headers)


def extracted(headers: Mapping[str, Any]) -> Context:
    """Returns the context of the span that sent a message, without any part of the current one."""
    return _PROPAGATOR.extract(headers, context=Context())


def link_sender(carrier: Mapping[str, Any]) -> None:
    """Link the current span to the one in a carrier with a `traceparent`, if there is one."""
    if _State.tracer:
        sender = trace.get_current_span(extracted(carrier)).get_span_context()
        if sender.is_valid:
            trace.get_current_span().add_link(sender)


def traceparent() -> str:
    """Returns the current span as W3C `traceparent`; empty without one."""
    if not _State.tracer:
        return ""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get(TRACEPARENT, "")


def current() -> SpanContext:
    """Returns the current span's ids."""
    return trace.get_current_span().get_span_context()


def trace_id() -> str:
    """Returns the current trace's id in 32 hexadecimal digits; empty without one."""
    known = current()
    return trace.format_trace_id(known.trace_id) if known.is_valid else ""


@contextmanager
def _span(
    name: str,
    attributes: Values | None,
    kind: SpanKind,
    *,
    parent: Context | None = None,
    links: Sequence[SpanContext] = (),
    began_ns: int | None = None,
    is_call: bool = False,
) -> Iterator[Span]:
    assert _State.tracer
    values = {str(key): value for key, value in attributes.items()} if attributes else {}
    made = _State.tracer.start_span(
        name,
        context=parent,
        kind=kind,
        attributes=values,
        links=[Link(linked) for linked in links[:LINKS_MAX] if linked.is_valid],
        start_time=began_ns,
    )
    # Not on `parent`: the context holds more than spans, such as the fields of log lines.
    now = trace.set_span_in_context(made)
    if is_call:
        now = contexts.set_value(_CALL_KEY, _Call(made, {**inherited(parent), **values}), now)
    token = contexts.attach(now)
    try:
        yield made
    except Exception as error:
        # Without its message and traceback: they may quote a question or source code.
        _fail(made, error.code if isinstance(error, PrismError) else ErrorCode.INTERNAL)
        raise
    except asyncio.CancelledError:
        made.set_attribute(Attribute.ERROR, ErrorCode.DEADLINE_EXCEEDED.value)
        raise
    finally:
        contexts.detach(token)
        made.end()


def _fail(failed: Span, code: ErrorCode) -> None:
    failed.set_attribute(Attribute.ERROR, code.value)
    if http_status(code) >= HTTP_SERVER_ERROR:
        failed.set_status(trace.Status(trace.StatusCode.ERROR))
