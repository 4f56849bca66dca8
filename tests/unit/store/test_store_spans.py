"""What the span of a request to the store says."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry

from prism_runtime import tracing
from prism_runtime.exporting import span_provider
from prism_runtime.settings import ServiceSettings
from prism_store.metrics import StoreMetrics
from prism_store.reader import Reader, TextLeg
from prism_store.scope import Scope
from prism_store.writer import DELETES_PER_DROP, Writer

SCOPE = Scope(tenant="t", repos=("r",))
POINT = {"id": "1", "score": 1.0, "payload": {}}
REPLIES: dict[str, Any] = {
    "points/query/batch": [{"points": [POINT, POINT]}, {"points": [POINT]}],
    "points": [POINT],
    "points/scroll": {"points": [POINT, POINT], "next_page_offset": None},
    "points/count": {"count": 7},
    "facet": {"hits": [{"value": "python", "count": 3}, {"value": "go", "count": 2}]},
}


class Client:
    """Gives each kind of request its reply, and deletes nothing."""

    def __init__(self) -> None:
        self.metrics = StoreMetrics(CollectorRegistry())

    async def ask(self, _: str, what: str, __: object) -> Any:
        return REPLIES[what]

    async def delete_points(self, _: str, __: object) -> None:
        pass


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = span_provider("test", ServiceSettings())
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(provider)
    yield exporter
    tracing.use(None)


async def test_it_names_the_collection_and_counts_queries_and_points(spans: InMemorySpanExporter) -> None:
    reader = Reader(Client())  # type: ignore[arg-type]
    await reader.ask_legs(SCOPE, [TextLeg("text", "a secret question", 2), TextLeg("text", "b", 1)])
    await reader.points(SCOPE, ["1"], [])
    await reader.page(SCOPE, [], [], "", 2)
    await reader.count(SCOPE)
    await reader.counts_by(SCOPE, "language")
    await Writer(Client()).drop_repository("t", "r")  # type: ignore[arg-type]
    found = {span.name: dict(span.attributes or {}) for span in spans.get_finished_spans()}
    assert {name: facts["prism.points"] for name, facts in found.items()} == {
        "qdrant ask_legs": 3,
        "qdrant points": 1,
        "qdrant page": 2,
        "qdrant count": 7,
        "qdrant counts_by": 5,
        "qdrant drop_repository": 2 * DELETES_PER_DROP,
    }
    assert found["qdrant ask_legs"]["db.operation.batch.size"] == 2
    assert {facts["db.collection.name"] for facts in found.values()} == {"prism_t"}
    assert "secret question" not in str(found)
