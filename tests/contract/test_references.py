"""Who uses a symbol, over a real store and real records: files of our own, as the chunker reads them."""

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import nats
import numpy as np
import pytest

from prism_chunker.core import chunk_file
from prism_contracts import names
from prism_contracts.base import Lane, repo_id
from prism_contracts.code import EdgeKind, FileFlags
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileChunked, FileEmbedded
from prism_contracts.records import Repository
from prism_contracts.rpc import ReferencesRequest, SymbolReferences
from prism_indexer.core import indexed_point
from prism_runtime.packing import pack_bindings, pack_references
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_runtime.vectors import to_message
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.listing import Listing
from prism_search.adapters.sources import Sources
from prism_search.adapters.texts import Texts
from prism_search.handlers.references import ReferencesHandler
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.reader import Reader
from prism_store.repositories import Repositories
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

MODEL, DIMENSION = "m1", 4
NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)
TEXT_BYTES = 1_000_000
FILES = {
    "parcels/rates.py": "def rate(zone):\n    return zone\n",
    "parcels/depot.py": "from .rates import rate\n\n# rate is asked here\nrate(1)\nrate(2)\n",
    "parcels/far.py": "def f(book):\n    book.rate(3)\n",
    "parcels/other.py": "def rating(): ...\n",
    "package.json": '{"name": "acme", "private": true}\n',
    "depots/package.json": '{"name": "@acme/depots"}\n',
    "depots/src/index.ts": "export function stow() {}\n",
    "shop.ts": "import { stow } from '@acme/depots';\nstow();\n",
}


def file_point(tenant: str, path: str, text: str) -> FilePoint:
    parsed = chunk_file(path, text)
    where = {
        "tenant": tenant,
        "repo": REPO,
        "path": path,
        "version": 1,
        "job": "j",
        "ordinal": 0,
        "lane": Lane.LIVE,
    }
    file = FileChunked(
        **where,
        blob=path,
        size_bytes=len(text),
        line_count=parsed.line_count,
        language=parsed.language,
        flags=FileFlags(),
        chunker="1",
        parse="ok",
        chunks=parsed.chunks,
        symbols=parsed.symbols,
        references=pack_references(parsed.references),
        bindings=pack_bindings(parsed.bindings),
    )  # fmt: skip
    rows = np.ones((len(parsed.chunks), DIMENSION), np.float32)
    return indexed_point(FileEmbedded(**where, file=file, vectors=to_message(MODEL, rows)))


@pytest.fixture
async def ask(nats_server, qdrant_url) -> AsyncIterator:
    tenant = f"t{uuid.uuid4().hex}"
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    await Writer(client).ensure_collection(tenant, MODEL, DIMENSION)
    await Writer(client).write(tenant, [file_point(tenant, path, text) for path, text in FILES.items()])
    connection = await nats.connect(nats_server.url)
    bucket = await open_bucket(connection.jetstream(), names.KV_REPOSITORIES)
    record = Repository(
        tenant=tenant, repo=REPO, name=NAME, source="upload", created_at=datetime(2026, 1, 2, tzinfo=UTC)
    )
    await Records(bucket, Repository).put("r", record)
    watched = WatchedRecords(bucket, Repository, lambda: 0)
    await watched.ready()
    reader = Reader(client)
    handler = ReferencesHandler(
        Repositories(watched, reader),
        Definitions(reader),
        Listing(reader),
        Sources(reader, Texts(reader, TEXT_BYTES)),
    )

    async def ask(*symbols: str, **fields: object) -> tuple[SymbolReferences, ...]:
        return (await handler.references(ReferencesRequest(tenant=tenant, symbols=symbols, **fields))).answers

    yield ask
    await watched.close()
    await connection.close()
    await client.close()


def places(answer: SymbolReferences) -> list[str]:
    return [f"{entry.file_path}:{entry.line} {entry.status}" for entry in answer.entries]


async def test_edges_come_with_how_they_were_found_and_with_the_rest_of_the_text(ask) -> None:
    (answer,) = await ask("rate")
    assert places(answer) == [
        "parcels/depot.py:4 resolved",
        "parcels/depot.py:5 resolved",
        "parcels/far.py:2 candidate",
        "parcels/depot.py:1 resolved",
    ]
    told = answer.reconciliation
    assert (told.resolved, told.candidates, told.text_lines, told.unexplained) == (3, 1, 6, 1)
    assert [line.text for line in told.unexplained_lines] == ["# rate is asked here"]
    assert told.files == 3


async def test_a_package_is_known_by_its_manifest_which_does_not_hold_the_name(ask) -> None:
    (answer,) = await ask("stow")
    assert [(entry.line, entry.status) for entry in answer.entries] == [(2, "resolved"), (1, "resolved")]


async def test_a_name_that_is_not_defined_is_still_looked_for_in_the_text(ask) -> None:
    (answer,) = await ask("asked")
    assert not answer.definitions
    assert not answer.entries
    assert [line.line for line in answer.reconciliation.unexplained_lines] == [3]


async def test_pages_go_on_behind_the_last_entry(ask) -> None:
    seen, cursor = [], ""
    for _ in range(4):
        (answer,) = await ask("rate", limit=1, cursor=cursor)
        seen += places(answer)
        cursor = answer.next_cursor
    assert not cursor
    (whole,) = await ask("rate")
    assert seen == places(whole)


async def test_filters_choose_the_entries_and_leave_the_reconciliation(ask) -> None:
    (calls,) = await ask("rate", reference_type=EdgeKind.IMPORTS)
    assert places(calls) == ["parcels/depot.py:1 resolved"]
    (far,) = await ask("rate", path_filter="**/far.py")
    assert places(far) == ["parcels/far.py:2 candidate"]
    assert far.reconciliation == calls.reconciliation


async def test_a_cursor_of_another_question_is_refused(ask) -> None:
    (answer,) = await ask("rate", limit=1)
    with pytest.raises(PrismError) as error:
        await ask("rating", cursor=answer.next_cursor)
    assert error.value.code is ErrorCode.INVALID_CURSOR
    with pytest.raises(PrismError) as error:
        await ask("rate", "rating", cursor=answer.next_cursor)
    assert error.value.code is ErrorCode.INVALID_ARGUMENT
