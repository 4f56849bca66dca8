"""The SCIP part of ingest on a real nats-server, with a manifest that the tests set."""

import gzip
import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from nats.js import JetStreamContext
from prometheus_client import CollectorRegistry

from prism_catalog.scip_indexes import ScipIndexes
from prism_catalog.target import Target
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.base import Event, Lane, file_id, repo_id
from prism_contracts.records import Job, JobState, LayerState, Repository, ScipIndex
from prism_contracts.rpc.files import MANIFEST, ManifestEntry, ManifestReply, ManifestRequest
from prism_contracts.rpc.imports import (
    ListScipRequest,
    RemoveScipReply,
    RemoveScipRequest,
    ScipIndexEntry,
    StoreScipReply,
    StoreScipRequest,
)
from prism_contracts.topics import AnyTopic
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.handlers.scip import ScipHandlers
from prism_ingest.main import build
from prism_ingest.settings import IngestSettings
from prism_resolver.occurrences import Columns
from prism_runtime.bus import Bus
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_search.adapters.occurrences import OccurrenceReader
from prism_store.scope import Scope

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TENANT, NAME = "acme", "acme/parcels"
COMMITS = {1: "a" * 40, 2: "b" * 40, 3: "c" * 40}
UNPACKED_BYTES_MAX = 100_000
DEADLINE_S = 120


class ScipStack(NamedTuple):
    """The SCIP handler, its dependencies, and a reader of the stored indexes."""

    handlers: ScipHandlers
    bus: Bus
    ledger: Ledger
    manifest: list[ManifestEntry]
    reader: OccurrenceReader
    watched: WatchedRecords[ScipIndex]
    registry: CollectorRegistry

    def has(self, *paths: str, version: int = 1) -> None:
        """Sets the indexed files."""
        self.manifest[:] = [
            ManifestEntry(
                path=path, blob=f"blob of {path}", generation="g", status="indexed", version=version
            )
            for path in paths
        ]

    async def serves(self, version: int, *, dirty: bool = False) -> None:
        """Makes the repository serve a version."""
        state = LayerState(
            commit=COMMITS[version], dirty=dirty, version=version, job=f"j{version}", indexed_at=NOW
        )
        record = Repository(
            tenant=TENANT,
            repo=repo_id(NAME),
            name=NAME,
            source="upload",
            created_at=NOW,
            served=state,
        )
        await self.ledger.repositories.put(record.key, record)

    async def ended(self, version: int, state: JobState = JobState.COMPLETE) -> None:
        """Records the ended import of a version."""
        job = Job(
            job=f"j{version}",
            tenant=TENANT,
            repo=repo_id(NAME),
            repo_name=NAME,
            lane=Lane.BULK,
            version=version,
            state=state,
            commit=COMMITS[version],
            created_at=NOW,
            updated_at=NOW,
        )
        await self.ledger.jobs.put(job.job, job)

    async def send(self, data: bytes, version: int = 1, **fields: str) -> StoreScipReply:
        """Uploads an index to the handler."""
        name = await self.bus.codec.store_file(io.BytesIO(data))
        request = {"tenant": TENANT, "repo": NAME, "commit": COMMITS[version], "object": name} | fields
        return await self.handlers.store(StoreScipRequest(**request))

    async def listed(self) -> list[ScipIndexEntry]:
        """Lists the indexes of the repository."""
        return [*(await self.handlers.indexes(ListScipRequest(tenant=TENANT, repo=NAME))).indexes]

    async def remove(self, indexer: str, root: str = "", **fields: str) -> RemoveScipReply:
        """Removes an index."""
        request = {"tenant": TENANT, "repo": NAME, "indexer": indexer, "root": root} | fields
        return await self.handlers.remove(RemoveScipRequest(**request))

    async def facts(self, topic: AnyTopic = topics.SCIP_STORED) -> list[Event]:
        """Returns the published events of a topic."""
        consumer = await self.bus.js.pull_subscribe(topic.subject(Lane.BULK), stream=topic.stream.name)
        pending = (await consumer.consumer_info()).num_pending
        messages = await consumer.fetch(pending) if pending else []
        return [topic.event.model_validate_json(message.data) for message in messages]

    async def definitions_of(self, path: str, line: int, name: str) -> list[str] | None:
        """Returns the blobs of the files that define a name used on a line, as readers see them."""
        target = Target(Scope(tenant=TENANT, repos=(repo_id(NAME),)), ())
        file = file_id(TENANT, repo_id(NAME), "base", path)
        found = (await self.reader.of(target)).find(file, f"blob of {path}", line, name)
        return None if found is None else [spot.blob for spot in found]


async def keep_scip(
    js: JetStreamContext, tenant: str, repo: str, indexer: str, columns: Columns
) -> ScipIndex:
    """Stores the columns of an index of a repository's first version, as ingest does."""
    data = columns.packed()
    index = ScipIndex(
        tenant=tenant,
        repo=repo,
        indexer=indexer,
        commit="c",
        version=1,
        object=hashlib.sha256(f"{repo} {indexer}".encode() + data).hexdigest(),
        files=len(columns.paths),
        stored_at=NOW,
    )
    await js.create_object_store(names.OBJECTS_SCIP)
    await (await js.object_store(names.OBJECTS_SCIP)).put(index.object, data)
    await Records(await open_bucket(js, names.KV_SCIP), ScipIndex).put(index.key, index)
    return index


@asynccontextmanager
async def scip_stack(url: str) -> AsyncIterator[ScipStack]:
    """Starts the whole stack."""
    settings = IngestSettings(nats_url=url, scip_unpacked_bytes_max=UNPACKED_BYTES_MAX)
    bus, search = Bus("ingest", settings), Bus("search", settings)
    manifest: list[ManifestEntry] = []

    async def entries(_: ManifestRequest) -> ManifestReply:
        return ManifestReply(entries=tuple(manifest))

    search.serve(MANIFEST, entries, deadline_s=DEADLINE_S)
    await search.start()
    await bus.start()
    registry = CollectorRegistry()
    app = await build(bus, settings, Vault(VaultSettings()), registry)
    watched = await bus.follow(names.KV_SCIP, ScipIndex)
    reader = OccurrenceReader(ScipIndexes(watched, await bus.objects(names.OBJECTS_SCIP)))
    try:
        yield ScipStack(app.scip, bus, app.ledger, manifest, reader, watched, registry)
    finally:
        await watched.close()
        await bus.stop()
        await search.stop()


def packed(data: bytes) -> bytes:
    return gzip.compress(data)
