"""What is exported of the spans, and to where. Imports the SDK, so only processes that trace load it."""

import asyncio
import logging
import os
import platform
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.util.re import parse_env_headers

from prism_runtime import tracing
from prism_runtime.settings import ServiceSettings
from prism_runtime.tracing import Attribute
from prism_runtime.version import release

TRACES_PATH = "/v1/traces"
# A batch is given up after this time, its repetitions included. Exports run in a thread of their own.
EXPORT_TIMEOUT_S = 5.0
# How long a stopping process waits for its last spans.
LAST_EXPORT_MAX_S = 1.0
# Above it, spans are dropped: memory is bounded while the collector is slow or down.
QUEUE_SPANS_MAX = 8_192
BATCH_SPANS_MAX = 512
# Longer values of attributes are cut: none of them is a text.
VALUE_CHARS_MAX = 256

ATTRIBUTES_POSITION = 4

log = logging.getLogger(__name__)


class _ByRatio(Sampler):
    """Exports a share of traces, chosen by trace id; of imported files a share of their own."""

    def __init__(self, ratio: float, imported_files: float) -> None:
        self._any = TraceIdRatioBased(ratio)
        self._imported_file = TraceIdRatioBased(imported_files)

    def should_sample(self, *args: Any, **named: Any) -> SamplingResult:
        attributes = _attributes(args, named)
        chosen = self._imported_file if Attribute.IMPORTED_FILE in attributes else self._any
        return chosen.should_sample(*args, **named)

    def get_description(self) -> str:
        return f"{self._any.rate:g}, of imported files {self._imported_file.rate:g}"


class _Continued(Sampler):
    """Follows the decision of another service, and not that of a client, who cannot have all its calls traced."""

    def __init__(self, service: Sampler, client: Sampler) -> None:
        self._service = service
        self._client = client

    def should_sample(self, *args: Any, **named: Any) -> SamplingResult:
        chosen = self._client if Attribute.METHOD in _attributes(args, named) else self._service
        return chosen.should_sample(*args, **named)

    def get_description(self) -> str:
        return self._service.get_description()


def head_sampler(ratio: float, imported_files: float) -> Sampler:
    """Returns a sampler that decides at the start of a trace, so slow and failed calls have no better chance."""
    by_ratio = _ByRatio(ratio, imported_files)
    return ParentBased(
        by_ratio,
        remote_parent_sampled=_Continued(ALWAYS_ON, by_ratio),
        remote_parent_not_sampled=_Continued(ALWAYS_OFF, by_ratio),
    )


class InheritedFacts(SpanProcessor):
    """Gives each span the facts of its call that are known when it starts."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Add the facts."""
        if facts := tracing.inherited(parent_context):
            span.set_attributes({**facts, **(span.attributes or {})})


class Exporting:
    """The export of a process's spans to an OTLP/HTTP collector."""

    def __init__(self, service: str, settings: ServiceSettings) -> None:
        """Start the thread that exports. The collector is contacted once there is a span."""
        # Its warnings are one line per lost span or batch; `_Exporter` logs when exports start to fail.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._exporter = _Exporter(
            endpoint=settings.otlp_endpoint.rstrip("/") + TRACES_PATH,
            headers=parse_env_headers(settings.otlp_headers.get_secret_value(), liberal=True),
            timeout=EXPORT_TIMEOUT_S,
        )
        self.provider = span_provider(service, settings)
        self.provider.add_span_processor(
            BatchSpanProcessor(
                self._exporter, max_queue_size=QUEUE_SPANS_MAX, max_export_batch_size=BATCH_SPANS_MAX
            )
        )

    async def close(self) -> None:
        """Export the rest. A collector that does not answer delays a stop by `LAST_EXPORT_MAX_S` at most."""
        if self._exporter.is_failing:
            return
        # A thread of its own, which does not keep the process: the SDK waits for up to 30 s.
        closing = threading.Thread(target=self.provider.shutdown, daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, LAST_EXPORT_MAX_S)


def span_provider(service: str, settings: ServiceSettings) -> TracerProvider:
    """Returns a provider whose spans are sampled and have their calls' facts. It exports nothing by itself."""
    provider = TracerProvider(
        sampler=head_sampler(settings.trace_sample, settings.trace_imported_files),
        resource=Resource.create(resource(service, settings.environment)),
        shutdown_on_exit=False,
        span_limits=SpanLimits(max_span_attribute_length=VALUE_CHARS_MAX),
    )
    provider.add_span_processor(InheritedFacts())
    return provider


class _Exporter(OTLPSpanExporter):
    """Logs when exports start to fail, and when they succeed again."""

    is_failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        result = super().export(spans)
        failed = result is not SpanExportResult.SUCCESS
        if failed and not self.is_failing:
            log.warning("the collector takes no spans; they are dropped until it does")
        elif self.is_failing and not failed:
            log.info("the collector takes spans again")
        self.is_failing = failed
        return result


def resource(service: str, environment: str) -> dict[str, str]:
    """Returns the attributes of a process, by the names of OpenTelemetry's semantic conventions."""
    known = {
        "service.namespace": "prism",
        "service.name": f"prism-{service}",
        "service.version": release(),
        "service.instance.id": f"{platform.node()}-{os.getpid()}",
        "deployment.environment.name": environment,
    }
    return {name: value for name, value in known.items() if value}


def _attributes(args: tuple[Any, ...], named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the attributes among the arguments of `should_sample`: context, trace id, name, kind, attributes, …"""
    return (args[ATTRIBUTES_POSITION] if len(args) > ATTRIBUTES_POSITION else named.get("attributes")) or {}
