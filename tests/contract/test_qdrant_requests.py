"""What Prism asks of Qdrant: each request is one that the API has, and `qdrant_requests.txt` lists their fields.

All contract suites reach the store through the gate of `qdrant_api.py`. After a change of a request,
`PRISM_GOLDEN=write pytest tests/contract/test_qdrant_requests.py` writes the list again: read the diff.
"""

import os
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import numpy as np
import pytest
from opentelemetry.trace import Span
from qdrant_api import ENDPOINTS, Gate, fields_of, find_endpoint, gate_to, open_models
from test_writer import DIMENSION, MODEL, PATH, REPO, version_of

import prism_store
from prism_contracts.base import BASE_LAYER, scope_key, variant_layer
from prism_contracts.code import FileStatus
from prism_contracts.events import FileVersion
from prism_store import reader as reader_module
from prism_store import writer as writer_module
from prism_store.client import StoreClient
from prism_store.gate import check_store, connect
from prism_store.reader import (
    MatchLeg,
    Reader,
    TextLeg,
    VectorLeg,
    has,
    has_any,
    holds_text,
    newer_than,
    starts_with,
    with_status,
    with_vector,
    without_vector,
)
from prism_store.schema import deep_vector
from prism_store.scope import Scope, View
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

LISTED = Path(__file__).parent / "qdrant_requests.txt"
OTHER_PATH = "tracker/models.py"


@pytest.fixture
def gate(qdrant_server_url):
    with gate_to(qdrant_server_url) as gate:
        yield gate


@pytest.fixture
async def client(gate: Gate) -> AsyncIterator[StoreClient]:
    client = connect(StoreSettings(url=gate.url, timeout_s=30))
    yield client
    await client.close()


@pytest.fixture
def operations(monkeypatch) -> set[str]:
    """The operations of the store that ran, by the name of their span."""
    ran: set[str] = set()
    store_call = writer_module.store_call

    def noted(client: StoreClient, operation: str, collection: str) -> AbstractContextManager[Span]:
        ran.add(operation)
        return store_call(client, operation, collection)

    monkeypatch.setattr(reader_module, "store_call", noted)
    monkeypatch.setattr(writer_module, "store_call", noted)
    return ran


def known_operations() -> set[str]:
    """The names of operations in the source of the library."""
    sources = [path.read_text() for path in Path(prism_store.__path__[0]).glob("*.py")]
    pattern = re.compile(r'(?:store_call\(self\._client, |self\._(?:ask|points)\(\s*)"(\w+)"')
    return {name for source in sources for name in pattern.findall(source)}


async def write_all(client: StoreClient, tenant: str) -> None:
    """Calls each method of the writer but the drops."""
    writer = Writer(client)
    await writer.ensure_collection(tenant, MODEL, DIMENSION)
    await writer.write(tenant, [version_of(tenant, "A", 1), version_of(tenant, "B", 1, OTHER_PATH)])
    await writer.write(tenant, [version_of(tenant, "B", 2)])
    await writer.write(tenant, [version_of(tenant, "A", 1)])  # lost against version 2
    await writer.write(
        tenant, [version_of(tenant, "skipped", 1, "a.bin"), version_of(tenant, "removed", 1, "b")]
    )
    await writer.ensure_deep_vector(tenant, "old", 2)
    await Writer(client).ensure_deep_vector(tenant, "new", 2)
    file = version_of(tenant, "B", 1, OTHER_PATH)
    version = FileVersion(file=file.id, generation=file.generation)
    await writer.write_deep(tenant, "new", [version], np.array([[1, 0]], np.float32))


async def read_all(client: StoreClient, tenant: str) -> None:
    """Calls each method of the reader, within a scope and at a view, with each kind of condition."""
    reader = Reader(client)
    scope = Scope(tenant, (REPO,))
    variant = variant_layer(PATH, "b", "1")
    view = View.of(("v",), (tenant, REPO), {PATH: variant}, [OTHER_PATH])
    deep = deep_vector("new")
    conditions = (
        has("kind", "function"),
        has_any("language", ["python"]),
        holds_text("text", "text"),
        starts_with("path", "tracker/"),
        newer_than(0),
    )
    legs = [
        VectorLeg((1.0, 0.0, 0.0, 0.0), 3),
        VectorLeg((1.0, 0.0), 3, using=deep),
        TextLeg("text", "text", 3, conditions),
        MatchLeg(3, (with_status(FileStatus.INDEXED), with_vector(deep), without_vector(deep_vector("old")))),
    ]
    found = await reader.ask_legs(scope, legs, ["path"])
    await reader.ask_legs(scope, legs, is_whole=True)
    for repos in ((REPO,), (REPO, "another")):
        at_view = Scope(tenant, repos, view=view)
        await reader.ask_legs(at_view, legs, ["path"])
        await reader.count(at_view, conditions)
        await reader.counts_by(at_view, "language")
        assert [point.id async for point in reader.scan(scope, [], ["path"], page=1)]
        assert not [point.id async for point in reader.scan(at_view, [has("path", PATH)], ["path"])]
    await reader.rarities(scope, ["text"])
    await reader.has_deep_vectors(tenant, "new")
    ids = [point.id for points in found for point in points]
    assert ids
    await reader.points(scope, ids, ["path"])
    await reader.points_of_any_layer(scope, ids, ["path"])
    _, cursor = await reader.page(scope, [], ["path"], "", 1)
    await reader.page(scope, [], ["path"], cursor, 1)
    await reader.chunks_of(tenant)
    await reader.counts_of_keys(scope, [scope_key(REPO, BASE_LAYER)])


async def drop_all(client: StoreClient, tenant: str) -> None:
    """Calls each drop of the writer, and checks the store as a service does."""
    writer = Writer(client)
    await writer.drop(tenant, [version_of(tenant, "A", 1).id], below=3)
    assert await writer.drop_repository(tenant, REPO)
    await writer.drop_tenant(tenant)
    await check_store(client)


async def test_the_requests_of_prism_are_listed_with_their_fields(gate, client, operations) -> None:
    tenant = f"t{uuid.uuid4().hex}"
    await write_all(client, tenant)
    await read_all(client, tenant)
    await drop_all(client, tenant)
    assert operations == known_operations()
    assert not gate.refused
    seen: dict[str, set[str]] = {}
    for exchange in gate.exchanges:
        assert exchange.status < httpx.codes.BAD_REQUEST, exchange
        endpoint = find_endpoint(exchange.method, exchange.path)
        assert endpoint
        fields = seen.setdefault(f"{endpoint.method} {endpoint.template}", set())
        fields |= {f"?{name}" for name in exchange.query} | set(fields_of(exchange.body))
    lines = [
        line
        for request, fields in sorted(seen.items())
        for line in (request, *sorted(f"  {f}" for f in fields if f))
    ]
    text = "\n".join(lines) + "\n"
    if os.environ.get("PRISM_GOLDEN") == "write":
        LISTED.write_text(text)
    assert text == LISTED.read_text()


def test_every_model_of_the_api_forbids_unknown_fields() -> None:
    assert len(ENDPOINTS) > 50
    assert open_models() == set()


@pytest.mark.parametrize(
    ("method", "path", "body", "reason"),
    [
        ("POST", "/collections/a/points/count", {"exact": True, "excat": True}, "excat"),
        ("POST", "/collections/a/points/count", {"exact": "yes"}, "exact"),
        ("POST", "/collections/a/points/query/batch", {"searches": [{"limit": "3"}]}, "limit"),
        ("POST", "/collections/a/points/count?fast=true", {}, "no parameter fast"),
        ("POST", "/collections/a/points/guess", {}, "no operation"),
        ("GET", "/collections", {"limit": 1}, "no body"),
    ],
)
async def test_a_request_that_the_api_does_not_have_is_refused(gate, method, path, body, reason) -> None:
    async with httpx.AsyncClient(base_url=gate.url) as http:
        answer = await http.request(method, path, json=body)
    assert answer.status_code == httpx.codes.BAD_REQUEST
    assert reason in answer.text
    assert len(gate.refused) == 1
    assert not gate.exchanges
