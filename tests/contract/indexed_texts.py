"""Texts in a real store, as chunker, embedder and indexer write them, with real records of their
repositories.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from no_layers import NO_LAYERS

from prism_catalog.repositories import RepositoryCatalog
from prism_chunker.conversion import chunk_event
from prism_contracts import names
from prism_contracts.base import BASE_LAYER, Lane, repo_id
from prism_contracts.code import FileFlags
from prism_contracts.events import FileChanged, FileEmbedded
from prism_contracts.records import Repository
from prism_indexer.core import indexed_point
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_runtime.vectors import to_message
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.reader import Reader
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
    **fields: object,
) -> FilePoint:
    """Returns the point of a file of the repository `name`; `fields` override the chunker's result."""
    changed = FileChanged(
        tenant=tenant,
        repo=repo_id(name),
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
    """The parts that search reads from."""

    bus: Bus
    reader: Reader
    repositories: RepositoryCatalog


@asynccontextmanager
async def open_index(
    nats_url: str, qdrant_url: str, tenant: str, repositories: Iterable[str], points: Sequence[FilePoint]
) -> AsyncIterator[Index]:
    """Opens an index of these points, which are files of repositories with these names."""
    client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
    writer, reader = Writer(client), Reader(client)
    await writer.ensure_collection(tenant, MODEL, DIMENSION)
    await writer.write(tenant, points)
    bus = Bus("search", ServiceSettings(nats_url=nats_url))
    await bus.start()
    records = Records(await open_bucket(bus.js, names.KV_REPOSITORIES), Repository)
    for name in repositories:
        record = Repository(
            tenant=tenant, repo=repo_id(name), name=name, source="upload", created_at=CREATED_AT
        )
        await records.put(record.key, record)
    watched = await bus.follow(names.KV_REPOSITORIES, Repository)
    yield Index(bus, reader, RepositoryCatalog(watched, NO_LAYERS, reader))
    await watched.close()
    await bus.stop()
    await client.close()
