import asyncio
from types import SimpleNamespace

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from prometheus_client import CollectorRegistry, PlatformCollector

from prism_runtime import health
from prism_runtime.health import cached, health_app
from prism_runtime.metrics import exemplar


def get(app, path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            return await client.get(path)

    return asyncio.run(ask())


async def well() -> None:
    return None


async def unwell() -> None:
    raise ConnectionError("no route")


async def silent() -> None:
    await asyncio.Event().wait()


def test_a_process_is_alive_regardless_of_dependencies():
    reply = get(health_app("search", {"nats": unwell}, CollectorRegistry()), "/livez")
    assert (reply.status_code, reply.json()) == (200, {"status": "ok", "service": "search"})


def test_a_process_is_ready_when_every_check_passes():
    reply = get(health_app("search", {"nats": well, "qdrant": well}, CollectorRegistry()), "/readyz")
    assert reply.status_code == 200
    assert reply.json() == {"status": "ok", "checks": {"nats": "ok", "qdrant": "ok"}}


def test_a_failed_check_is_named_with_its_reason():
    reply = get(health_app("search", {"nats": unwell, "qdrant": well}, CollectorRegistry()), "/readyz")
    assert reply.status_code == 503
    assert reply.json()["checks"] == {"nats": "ConnectionError: no route", "qdrant": "ok"}


def test_an_optional_check_that_fails_is_shown_and_keeps_the_process_ready():
    registry = CollectorRegistry()
    app = health_app("search", {"nats": well}, registry, {"deep": unwell, "vectors": well})
    reply = get(app, "/readyz")
    assert reply.status_code == 200
    assert reply.json() == {
        "status": "ok",
        "checks": {"nats": "ok"},
        "optional": {"deep": "ConnectionError: no route", "vectors": "ok"},
    }
    shown = [
        registry.get_sample_value("prism_ready", {"check": check}) for check in ("nats", "deep", "vectors")
    ]
    assert shown == [1, 0, 1]


def test_a_check_that_never_answers_times_out(monkeypatch):
    monkeypatch.setattr(health, "READY_TIMEOUT_S", 0.01)
    reply = get(health_app("search", {"nats": silent}, CollectorRegistry()), "/readyz")
    assert reply.status_code == 503
    assert reply.json()["checks"]["nats"].startswith("no answer within")


async def test_a_cached_check_runs_once_per_period(monkeypatch):
    times, made = iter([0.0, 2.0, 2.1]), []

    async def check() -> None:
        made.append(None)
        if len(made) == 1:
            raise ConnectionError("no route")

    monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda: next(times)))
    asked = cached(check, 2.0)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            await asked()
    await asked()
    assert len(made) == 2


def test_metrics_are_those_of_the_registry():
    registry = CollectorRegistry()
    PlatformCollector(registry)
    reply = get(health_app("search", {}, registry), "/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/plain")
    assert "python_info" in reply.text


def test_a_scrape_runs_the_checks_unless_their_results_are_recent(monkeypatch):
    times, made = iter([0.0, 0.0, 4.9, 5.1, 5.1]), []

    async def check() -> None:
        made.append(None)
        if len(made) > 1:
            raise ConnectionError("no route")

    registry = CollectorRegistry()
    monkeypatch.setattr(health, "time", SimpleNamespace(monotonic=lambda: next(times)))
    app = health_app("search", {"nats": check}, registry)
    shown = []
    for _ in range(3):
        get(app, "/metrics")
        shown.append((len(made), registry.get_sample_value("prism_ready", {"check": "nats"})))
    assert shown == [(1, 1), (1, 1), (2, 0)]


def test_an_example_is_a_trace_that_is_exported():
    ids = {"trace_id": 0xABC, "span_id": 1, "is_remote": False}
    for flags, expected in ((TraceFlags.SAMPLED, {"trace_id": f"{0xABC:032x}"}), (TraceFlags.DEFAULT, None)):
        with trace.use_span(NonRecordingSpan(SpanContext(trace_flags=TraceFlags(flags), **ids))):
            assert exemplar() == expected
    assert exemplar() is None


@pytest.mark.parametrize("path", ["/", "/healthz"])
def test_other_paths_are_not_found(path):
    assert get(health_app("search", {}, CollectorRegistry()), path).status_code == 404
