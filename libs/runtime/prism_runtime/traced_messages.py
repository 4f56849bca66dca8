"""Spans of messages and requests over NATS, and how a trace crosses from one process to the next.

| subject                       | spans                                                                  |
|-------------------------------|------------------------------------------------------------------------|
| `prism.rpc.<service>.<method>`| one at the caller, one at the service, both named by the subject       |
| `prism.<lane>.<fact>`         | `publish <subject>` at the producer, `process <subject>` at a consumer |
| `prism.dead.…`                | the same, as `prism.dead`: the subject has a tenant                    |
| anything else                 | none: replies, pings, buckets                                          |

A file of an import begins a trace of its own, which links to the trace of its job: one trace of ten thousand
files could not be read. `PRISM_TRACE_IMPORTED_FILES` is the share of files that are traced at all.
"""

from contextlib import AbstractContextManager
from typing import Any

from faststream import BaseMiddleware
from nats.aio.msg import Msg
from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind

from prism_contracts.base import Lane
from prism_contracts.names import DEAD_LETTER_SUBJECTS
from prism_runtime import tracing
from prism_runtime.tracing import Attribute

REQUESTS = "prism.rpc."
IMPORTED_FILES = f"prism.{Lane.BULK}.file."
DEAD_LETTERS = DEAD_LETTER_SUBJECTS.rstrip(".>")
TRACED = (REQUESTS, *(f"prism.{lane}." for lane in Lane), DEAD_LETTERS)
SYSTEM = "nats"

_FILE_KEY = contexts.create_key("prism.imported_file")


class TracingMiddleware(BaseMiddleware):
    """A span for each message that is published or handled, and for each request."""

    async def publish_scope(self, call_next: Any, cmd: Any) -> Any:
        """Publish below a span, which travels in the headers."""
        subject = cmd.destination
        if not subject.startswith(TRACED):
            return await call_next(cmd)
        with _publishing(subject):
            tracing.inject(cmd.headers)
            return await call_next(cmd)

    async def consume_scope(self, call_next: Any, msg: Any) -> Any:
        """Handle below a span that continues the sender's trace."""
        raw = self.msg
        if not isinstance(raw, Msg) or not raw.subject.startswith(TRACED):
            return await call_next(msg)
        token = contexts.attach(contexts.set_value(_FILE_KEY, raw.subject.startswith(IMPORTED_FILES)))
        try:
            with _handling(raw, tracing.extracted(raw.headers or {})):
                return await call_next(msg)
        finally:
            contexts.detach(token)


def _publishing(subject: str) -> AbstractContextManager[Span]:
    if subject.startswith(REQUESTS):
        return tracing.span(subject, _request(subject), SpanKind.CLIENT)
    name = f"publish {_named(subject)}"
    attributes = _message(subject, "send")
    if subject.startswith(IMPORTED_FILES) and not contexts.get_value(_FILE_KEY) and _is_sampled():
        return tracing.call(
            name,
            # The facts of the job: a new trace does not inherit them.
            {**attributes, **tracing.inherited(None), Attribute.IMPORTED_FILE: True},
            kind=SpanKind.PRODUCER,
            parent=Context(),
            links=[tracing.current()],
        )
    return tracing.span(name, attributes, SpanKind.PRODUCER)


def _handling(raw: Msg, parent: Context) -> AbstractContextManager[Span]:
    subject = raw.subject
    if subject.startswith(REQUESTS):
        return tracing.call(subject, _request(subject), kind=SpanKind.SERVER, parent=parent)
    attributes = _message(subject, "process") | {Attribute.BODY_BYTES: len(raw.data)}
    if raw.reply.startswith("$JS.ACK"):
        attributes[Attribute.DELIVERIES] = raw.metadata.num_delivered
    return tracing.call(f"process {_named(subject)}", attributes, kind=SpanKind.CONSUMER, parent=parent)


def _named(subject: str) -> str:
    return DEAD_LETTERS if subject.startswith(DEAD_LETTERS) else subject


def _request(subject: str) -> dict[str, tracing.Value]:
    return {Attribute.RPC_SYSTEM: SYSTEM, Attribute.DESTINATION: subject}


def _message(subject: str, operation: str) -> dict[str, tracing.Value]:
    return {
        Attribute.MESSAGING_SYSTEM: SYSTEM,
        Attribute.DESTINATION: _named(subject),
        Attribute.MESSAGING_OPERATION: operation,
    }


def _is_sampled() -> bool:
    return tracing.current().trace_flags.sampled
