"""Logs, traces and metrics of a process. Logs are JSON lines on stderr; stdout belongs to the protocol."""

import logging
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import structlog
from opentelemetry import trace
from structlog.tracebacks import ExceptionDictTransformer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

QUIET_LOGGERS = ("httpx", "httpx2", "httpcore", "mcp", "nats", "uvicorn.access", "asyncio")
OWN_HANDLERS = ("uvicorn", "uvicorn.access", "uvicorn.error", "faststream", "mcp")


def set_up_logging(service: str, level: str) -> None:
    """Send every logger of the process to stderr as JSON with the current trace id."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_trace_ids,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                # Without locals: they may contain tokens and source code.
                structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name in OWN_HANDLERS:
        logging.getLogger(name).handlers = []
        logging.getLogger(name).propagate = True
    logging.getLogger("prism_runtime.bus").addFilter(_is_news)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(service=service)


def set_up_tracing(service: str, endpoint: str) -> "TracerProvider | None":
    """Export spans to an OTLP/HTTP collector. Off without an endpoint: a dead collector delays every stop."""
    if not endpoint:
        return None
    # Imported on demand: it costs 8 MB per process, and few deployments collect traces.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": f"prism-{service}"}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return provider


def _add_trace_ids(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event["trace_id"] = f"{span.trace_id:032x}"
        event["span_id"] = f"{span.span_id:016x}"
    return event


def _is_news(record: logging.LogRecord) -> bool:
    """Drops FastStream's error for an empty fetch that ends a moment late; its loop continues."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, TimeoutError) and "retrying" in record.getMessage())
