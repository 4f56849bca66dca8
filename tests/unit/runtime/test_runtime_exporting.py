"""Exports to a collector that is down or does not answer."""

import asyncio
import logging
import socket

from opentelemetry.trace import SpanKind

import prism_runtime.exporting
from prism_runtime import tracing
from prism_runtime.exporting import EXPORT_TIMEOUT_S, LAST_EXPORT_MAX_S, Exporting
from prism_runtime.settings import ServiceSettings


async def test_a_dead_collector_is_logged_once(caplog, monkeypatch) -> None:
    monkeypatch.setattr(prism_runtime.exporting, "EXPORT_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
    exporting = Exporting("test", ServiceSettings(otlp_endpoint=endpoint))
    tracing.use(exporting.provider)
    try:
        with caplog.at_level(logging.INFO):
            for _ in range(3):
                with tracing.call("call", kind=SpanKind.SERVER):
                    pass
                await asyncio.to_thread(exporting.provider.force_flush)
    finally:
        tracing.use(None)
    assert [record.getMessage() for record in caplog.records] == [
        "the collector takes no spans; they are dropped until it does"
    ]
    await exporting.close()


async def test_a_collector_that_does_not_answer_holds_up_no_stop() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        exporting = Exporting(
            "test", ServiceSettings(otlp_endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        )
        tracing.use(exporting.provider)
        try:
            with tracing.call("call", kind=SpanKind.SERVER):
                pass
            assert LAST_EXPORT_MAX_S < EXPORT_TIMEOUT_S
            async with asyncio.timeout(EXPORT_TIMEOUT_S - 1):  # the SDK would wait for its export
                await exporting.close()
        finally:
            tracing.use(None)
