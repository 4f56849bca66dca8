"""Texts in a real store, as chunker, embedder and indexer write them, with real records of their
repositories.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from prometheus_client import CollectorRegistry

from prism_chunker.conversion import chunk_event
from prism_contracts import names
from prism_contracts.base import BASE_LAYER, Lane, repo_id
from prism_contracts.code import FileFlags
from prism_contracts.events import FileChanged, FileEmbedded
from prism_contracts.records import Repository
from prism_indexer.core import indexed_point
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.vectors import to_message
from prism_search.main import SearchApp, build
from prism_search.settings import SearchSettings
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

MODEL, DIMENSION = "m1", 4
CREATED_AT = datetime(2026, 1, 2, tzinfo=UTC)


class OneVector:
    """A model that gives every text and question the same vector."""

    fingerprint = MODEL

    def embed_queries(self, texts: list[str]) -> np.ndarray:
        return np.ones((len(texts), DIMENSION), np.float32)


def file_point(
    tenant: str,
    name: str,
    path: str,
    text: str,
    version: int = 1,
    *,
    layer: str = BASE_LAYER,
    repo: str = "",
    **fields: object,
) -> FilePoint:
    """Returns the point of a file of the repository `name`; `fields` override the chunker's result.

    `repo` is its id if another repository had the name before.
    """
    changed = FileChanged(
        tenant=tenant,
        repo=repo or repo_id(name),
        layer=layer,
        path=path,
        version=version,
        job=f"j{version}",
        ordinal=0,
        lane=Lane.LIVE,
        blob=f"{path} of {version}",
        size_bytes=len(text),
        text=text,
        flags=FileFlags(test=path.startswith("tests/")),
    )
    file = chunk_event(changed).model_copy(update=fields)
    rows = np.ones((len(file.chunks), DIMENSION), np.float32)
    return indexed_point(FileEmbedded(**changed.address, file=file, vectors=to_message(MODEL, rows)))


class Index(NamedTuple):
    """Search over an index. There is no atlas that answers it, and it caches no answers."""

    bus: Bus
    search: SearchApp


@asynccontextmanager
async def open_index(
    nats_url: str,
    qdrant_url: str,
    tenant: str,
    repositories: Iterable[str],
    points: Sequence[FilePoint],
    **fields: Any,
) -> AsyncIterator[Index]:
    """Opens an index of these points, which are files of repositories with these names.

    `fields` are settings of search.
    """
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    writer = Writer(client)
    await writer.ensure_collection(tenant, MODEL, DIMENSION)
    await writer.write(tenant, points)
    settings = SearchSettings(nats_url=nats_url, answers_enabled=False, **fields)
    bus = Bus("search", settings)
    await bus.start()
    records = Records(await open_bucket(bus.js, names.KV_REPOSITORIES), Repository)
    for name in repositories:
        record = Repository(
            tenant=tenant,
            repo=repo_id(name),
            name=name,
            source="upload",
            created_at=CREATED_AT,
            next_version=2,
            active_job="j1",
        )
        await records.put(record.key, record)
    app = await build(bus, settings, client, OneVector(), CollectorRegistry())
    yield Index(bus, app)
    if app.reranker:
        await app.reranker.close()
    await bus.stop()
    await client.close()
