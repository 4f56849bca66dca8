"""`generate_embeddings` says what the index holds of a document, and has it indexed again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from ingest_stand_in import FakeIngest, serving
from workspace_stack import TENANT, Desk, desk

from prism_contracts import names
from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import FAST_MODEL_KEY, ModelVersion
from prism_contracts.rpc.documents import GENERATE_EMBEDDINGS, EmbeddingState, GenerateEmbeddingsRequest
from prism_contracts.rpc.files import MANIFEST, ManifestEntry, ManifestReply, ManifestRequest
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_runtime.tasks import cancelled


class Index:
    """Holds what ingest was sent, with one status."""

    def __init__(self, ingest: FakeIngest) -> None:
        self._ingest = ingest
        self.status, self.reason = FileStatus.INDEXED, ""

    async def manifest(self, request: ManifestRequest) -> ManifestReply:
        entries = tuple(
            ManifestEntry(
                path=path, blob="b", generation="g", status=self.status, reason=self.reason, chunks=2
            )
            for path in request.paths
            if path in self._ingest.files
        )
        return ManifestReply(entries=entries)


@pytest.fixture
async def place(nats_server) -> AsyncIterator[tuple[Desk, FakeIngest, Index]]:
    async with AsyncExitStack() as stack:
        ingest = await stack.enter_async_context(serving(nats_server.url))
        index, bus = Index(ingest), Bus("search", ServiceSettings(nats_url=nats_server.url))
        stack.push_async_callback(bus.stop)
        bus.serve(MANIFEST, index.manifest)
        await bus.start()
        made = await stack.enter_async_context(desk(nats_server.url))
        running = asyncio.create_task(made.copies[0].projection.run())
        stack.push_async_callback(cancelled, running)
        yield made, ingest, index


async def generated(place: Desk, document: str, **fields: object):
    request = GenerateEmbeddingsRequest(tenant=TENANT, document_id=document, **fields)
    return await place.ask(GENERATE_EMBEDDINGS, request)


async def test_a_document_is_indexed_once_and_again_on_request(place) -> None:
    here, ingest, _ = place
    bucket = await open_bucket(here.bus.js, names.KV_MODEL_VERSIONS)
    await Records(bucket, ModelVersion).put(FAST_MODEL_KEY, ModelVersion(version="fingerprint"))
    made = await here.create("First")
    reply = await generated(here, made.document_id)
    assert (reply.embeddings_created, reply.state, reply.chunks_processed) == (
        True,
        EmbeddingState.INDEXED,
        2,
    )
    assert reply.model_used == "fingerprint"
    assert len(ingest.commits) == 1
    await generated(here, made.document_id)
    assert len(ingest.commits) == 1
    await generated(here, made.document_id, force_regenerate=True)
    assert len(ingest.commits) == 2


async def test_a_document_of_a_removed_repository_is_indexed_again(place) -> None:
    here, ingest, _ = place
    made = await here.create("First")
    await generated(here, made.document_id)
    await ingest.remove()
    assert (await generated(here, made.document_id)).embeddings_created
    assert made.path in ingest.files


async def test_a_document_that_cannot_be_searched_says_why(place) -> None:
    here, _, index = place
    made = await here.create("First")
    index.status, index.reason = FileStatus.SKIPPED, "minified"
    reply = await generated(here, made.document_id)
    assert (reply.embeddings_created, reply.state, reply.reason) == (
        False,
        EmbeddingState.SKIPPED,
        "minified",
    )
    index.status, index.reason = FileStatus.FAILED, "timeout"
    with pytest.raises(PrismError) as caught:
        await generated(here, made.document_id)
    assert caught.value.code is ErrorCode.EMBEDDING_FAILED
    assert "timeout" in str(caught.value)


async def test_an_unknown_document_is_not_found(place) -> None:
    here, *_ = place
    with pytest.raises(PrismError) as caught:
        await generated(here, "none")
    assert caught.value.code is ErrorCode.DOCUMENT_NOT_FOUND


async def test_an_import_that_does_not_end_in_time_is_pending(nats_server) -> None:
    async with desk(nats_server.url, documents_settle_s=0) as made:  # no projection runs
        document = (await made.create("First")).document_id
        reply = await generated(made, document)
    assert (reply.embeddings_created, reply.state) == (False, EmbeddingState.PENDING)
