"""Logs and traces of a process. Logs are lines on stderr, JSON or for people; stdout belongs to the protocol."""

import logging
import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import structlog
from opentelemetry import trace
from structlog.tracebacks import ExceptionDictTransformer

from prism_runtime import tracing
from prism_runtime.settings import ServiceSettings

if TYPE_CHECKING:
    from prism_runtime.exporting import Exporting

JSON, CONSOLE, AUTO = "json", "console", "auto"
FIELDS = "prism_fields"
QUIET_LOGGERS = ("httpx", "httpx2", "httpcore", "mcp", "nats", "uvicorn.access", "asyncio")
OWN_HANDLERS = ("uvicorn", "uvicorn.access", "uvicorn.error", "faststream", "mcp")


def set_up_logging(service: str, level: str, log_format: str = JSON) -> None:
    """Send every logger of the process to stderr with the current trace id: as JSON, `console` or `auto`."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_trace_ids,
        _add_fields,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(log_format),
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


def line_fields(**fields: object) -> dict[str, dict[str, object]]:
    """Returns the `extra` of a log call: fields of the line beside its text. Never a token, a secret or source code."""
    return {FIELDS: fields}


def set_up_tracing(service: str, settings: ServiceSettings) -> "Exporting | None":
    """Export spans to an OTLP/HTTP collector. Off without an endpoint."""
    if not settings.otlp_endpoint:
        return None
    # Imported on demand: it costs 8 MB per process, and few deployments collect traces.
    from prism_runtime.exporting import Exporting

    exporting = Exporting(service, settings)
    # Not as the global provider: libraries would add spans of their own, and FastAPI would trust any client's trace.
    tracing.use(exporting.provider)
    return exporting


def _renderers(log_format: str) -> list[Any]:
    # Without locals in both: they may contain tokens and source code.
    if log_format == CONSOLE or (log_format == AUTO and sys.stderr.isatty()):
        return [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
    return [
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
        structlog.processors.JSONRenderer(),
    ]


def _add_trace_ids(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event["trace_id"] = f"{span.trace_id:032x}"
        event["span_id"] = f"{span.span_id:016x}"
    return event


def _add_fields(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    event.update(getattr(event.get("_record"), FIELDS, {}))
    return event


def _is_news(record: logging.LogRecord) -> bool:
    """Drops FastStream's error for an empty fetch that ends a moment late; its loop continues."""
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, TimeoutError) and "retrying" in record.getMessage())
