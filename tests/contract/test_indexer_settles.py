"""Outcomes that the indexer publishes on a real nats-server when files settle."""

import asyncio

from prism_contracts import names, topics
from prism_contracts.base import Lane, repo_id
from prism_contracts.events import FileRemoved, FilesSettled, Outcome
from prism_contracts.records import Repository, repository_key
from prism_indexer.main import build
from prism_indexer.settings import IndexerSettings
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_store.gate import connect
from prism_store.settings import StoreSettings

DEADLINE_S = 120
REPO = repo_id("acme/parcel-tracker")
FILES_PER_JOB = 3
JOBS = {"older": 1, "old": 2}  # job -> version
REPOSITORY = Repository(
    tenant="t", repo=REPO, name="acme/parcel-tracker", source="upload", created_at="2026-03-14T00:00:00Z",
    next_version=9,
)  # fmt: skip


async def test_files_settled_together_are_one_message_per_job(nats_server) -> None:
    settings = IndexerSettings(nats_url=nats_server.url)
    indexer, ingest = Bus("indexer", settings), Bus("ingest", settings)
    received: asyncio.Queue[FilesSettled] = asyncio.Queue()
    ingest.consume(topics.FILES_SETTLED, received.put, workers=1)
    qdrant = connect(StoreSettings())  # not requested: all of it belongs to superseded imports
    await indexer.start()
    await ingest.start()
    records = Records(await open_bucket(indexer.js, names.KV_REPOSITORIES), Repository)
    await records.put(repository_key("t", REPO), REPOSITORY)
    app = await build(indexer, settings, qdrant)
    removed = [
        FileRemoved(
            tenant="t",
            repo=REPO,
            path=f"{ordinal}.py",
            version=version,
            job=job,
            ordinal=ordinal,
            lane=Lane.BULK,
        )
        for job, version in JOBS.items()
        for ordinal in range(FILES_PER_JOB)
    ]
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(*(app.files.on_removed(event) for event in removed))
        messages = {message.job: message for message in [await received.get() for _ in JOBS]}
    assert received.empty()
    assert messages.keys() == JOBS.keys()
    for message in messages.values():
        assert [(file.path, file.outcome) for file in message.files] == [
            (f"{ordinal}.py", Outcome.SUPERSEDED) for ordinal in range(FILES_PER_JOB)
        ]
    await indexer.stop()
    await ingest.stop()
    await qdrant.close()
