"""SCIP indexes on real NATS: their stored contents, their precedence, and refusals."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from nats.js.errors import NotFoundError
from scip_files import FILES, document, index, parcels
from scip_stack import COMMITS, NAME, UNPACKED_BYTES_MAX, ScipStack, packed, scip_stack

from prism_contracts import names, topics
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import ScipRemoved, ScipStored
from prism_contracts.records import JobState

DEADLINE_S = 120
USE = ("parcels/depot.py", 2, "rate")
INDEX = index(*parcels())
DEFINITION_BLOBS = ["blob of parcels/rates.py"]


@pytest.fixture
async def scip(nats_server) -> AsyncIterator[ScipStack]:
    async with asyncio.timeout(DEADLINE_S), scip_stack(nats_server.url) as stack:
        stack.has(*FILES)
        await stack.serves(1)
        yield stack


async def kept(scip: ScipStack, version: int) -> None:
    """Wait until readers have learned of an index."""
    async with asyncio.timeout(DEADLINE_S):
        while not any(one.version == version for one in scip.watched.values()):
            await asyncio.sleep(0.01)


async def objects(scip: ScipStack, bucket: str) -> list[str]:
    try:
        return [
            info.name for info in await (await scip.bus.js.object_store(bucket)).list(ignore_deletes=True)
        ]
    except NotFoundError:
        return []


async def refused(scip: ScipStack, data: bytes, version: int = 1, **fields: str) -> PrismError:
    with pytest.raises(PrismError) as error:
        await scip.send(data, version, **fields)
    assert not await objects(scip, names.OBJECTS_SCIP)
    return error.value


@pytest.mark.parametrize("data", [INDEX, packed(INDEX)], ids=["plain", "gzip"])
async def test_uploaded_index_is_listed_to_readers(scip, data) -> None:
    reply = await scip.send(data)
    assert (reply.stored, reply.documents, reply.files) == (True, 3, 3)
    assert (reply.definitions, reply.uses, reply.implementations) == (3, 1, 0)
    assert (reply.repo, reply.commit, reply.indexer) == (NAME, COMMITS[1], "scip-python")
    await kept(scip, 1)
    assert await scip.definitions_of(*USE) == DEFINITION_BLOBS
    assert await scip.definitions_of("parcels/fees.py", 2, "rate") is None
    (record,) = scip.watched.values()
    assert await scip.facts() == [ScipStored(tenant=record.tenant, repo=record.repo, object=record.object)]
    assert not await objects(scip, names.OBJECTS_CLAIMS)
    taken = scip.registry.get_sample_value("prism_ingest_scip_documents_total", {"outcome": "taken"})
    assert taken == 3


async def test_a_repeated_upload_changes_nothing(scip) -> None:
    first = await scip.send(INDEX)
    assert await scip.send(packed(INDEX)) == first
    assert len(await objects(scip, names.OBJECTS_SCIP)) == 1


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
async def test_the_index_of_the_newest_commit_is_kept(scip, order) -> None:
    await scip.serves(2)
    await scip.ended(1)
    replies = {version: await scip.send(INDEX, version) for version in order}
    assert [replies[version].stored for version in order] == [True, order == (1, 2)]
    assert len(await scip.facts()) == sum(reply.stored for reply in replies.values())
    await kept(scip, 2)
    assert [record.commit for record in scip.watched.values()] == [COMMITS[2]]
    assert len(await objects(scip, names.OBJECTS_SCIP)) == 1
    assert await scip.definitions_of(*USE) == DEFINITION_BLOBS


async def test_indexes_of_other_indexers_and_folders_are_kept(scip) -> None:
    await scip.send(INDEX)
    await scip.send(index(*parcels(), indexer="scip-other"))
    await scip.send(index(*parcels("parcels/")), root="parcels")
    assert len(await objects(scip, names.OBJECTS_SCIP)) == 3


async def test_a_removed_index_is_gone_and_announced(scip) -> None:
    await scip.send(INDEX)
    await scip.send(index(*parcels("parcels/")), root="parcels")
    assert [(one.indexer, one.root, one.files) for one in await scip.listed()] == [
        ("scip-python", "", 3),
        ("scip-python", "parcels", 3),
    ]
    records = {record.root: record for record in scip.watched.values()}
    reply = await scip.remove("scip-python")
    assert (reply.repo, reply.removed.commit, reply.removed.root) == (NAME, COMMITS[1], "")
    assert [one.root for one in await scip.listed()] == ["parcels"]
    gone = records[""]
    assert await scip.facts(topics.SCIP_REMOVED) == [
        ScipRemoved(tenant=gone.tenant, repo=gone.repo, object=gone.object)
    ]
    assert await objects(scip, names.OBJECTS_SCIP) == [records["parcels"].object]
    await scip.send(INDEX)  # a removed index can be uploaded again
    assert len(await scip.listed()) == 2


@pytest.mark.parametrize(("indexer", "root"), [("scip-go", ""), ("scip-python", "services")])
async def test_removing_an_unknown_index_names_those_there_are(scip, indexer, root) -> None:
    await scip.send(INDEX)
    with pytest.raises(PrismError) as refusal:
        await scip.remove(indexer, root)
    assert refusal.value.code is ErrorCode.SCIP_NOT_FOUND
    assert refusal.value.body.details["indexes"] == [{"indexer": "scip-python", "root": ""}]
    assert len(await scip.listed()) == 1


async def test_indexes_of_another_tenant_are_not_removed(scip) -> None:
    await scip.send(INDEX)
    with pytest.raises(PrismError) as refusal:
        await scip.remove("scip-python", tenant="other")
    assert refusal.value.code is ErrorCode.REPO_NOT_FOUND
    assert len(await scip.listed()) == 1


async def test_files_that_changed_since_the_commit_are_left_out(scip) -> None:
    await scip.serves(2)
    await scip.ended(1)
    scip.manifest[0] = scip.manifest[0].model_copy(update={"version": 2})
    reply = await scip.send(INDEX)
    assert (reply.files, reply.left_out) == (2, {"changed": 1})
    assert [(one.path, one.reason) for one in reply.examples] == [("parcels/rates.py", "changed")]
    await kept(scip, 1)
    assert await scip.definitions_of(*USE) is None


async def test_reader_with_an_old_record_gets_the_new_one(scip) -> None:
    await scip.send(INDEX)
    await kept(scip, 1)
    old = {one.key: one for one in scip.watched.values()}
    await scip.serves(2)
    await scip.send(INDEX, 2)
    await kept(scip, 2)
    fresh = scip.watched.projection
    for key, record in old.items():
        fresh[key] = record  # as if no index had arrived yet
    found, _ = await asyncio.gather(
        scip.definitions_of(*USE), scip.send(index(*parcels(), document("parcels/x.py", [])), 2)
    )
    assert found == DEFINITION_BLOBS


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ErrorCode.SCIP_INVALID),
        (b"no index", ErrorCode.SCIP_INVALID),
        (INDEX[:-3], ErrorCode.SCIP_INVALID),
        (packed(INDEX)[:-9], ErrorCode.SCIP_INVALID),
        (b"\x1f\x8b no gzip", ErrorCode.SCIP_INVALID),
        (index(document("../../etc/passwd", [])), ErrorCode.SCIP_INVALID),
        (index(document("elsewhere.py", [])), ErrorCode.SCIP_INVALID),
        (packed(INDEX + b"\x1a\x00" * UNPACKED_BYTES_MAX), ErrorCode.PAYLOAD_TOO_LARGE),
    ],
    ids=["empty", "no protobuf", "cut off", "gzip cut off", "no gzip", "outside", "not indexed", "bomb"],
)
async def test_refused_index_has_a_reason_and_leaves_nothing(scip, data, code) -> None:
    assert (await refused(scip, data)).code is code
    assert not await objects(scip, names.OBJECTS_CLAIMS)


async def test_documents_of_unindexed_files_are_reported(scip) -> None:
    error = await refused(scip, index(*parcels("parcels/")))
    assert error.body.details["left_out"] == {"not_indexed": 3}
    assert "root" in error.body.next_action


async def test_unknown_repository_error_lists_the_known_ones(scip) -> None:
    error = await refused(scip, INDEX, repo="acme/nothing")
    assert error.code is ErrorCode.REPO_NOT_FOUND
    assert error.body.details["repositories"] == [NAME]


async def test_a_repository_of_another_tenant_is_unknown(scip) -> None:
    error = await refused(scip, INDEX, tenant="other")
    assert error.code is ErrorCode.REPO_NOT_FOUND
    assert error.body.details["repositories"] == []


async def test_unindexed_commit_error_lists_indexed_commits(scip) -> None:
    error = await refused(scip, INDEX, 3)
    assert error.code is ErrorCode.REF_NOT_FOUND
    assert error.body.details["commits"] == [COMMITS[1]]


async def test_dirty_or_failed_import_does_not_index_its_commit(scip) -> None:
    await scip.serves(2, dirty=True)
    await scip.ended(3, JobState.FAILED)
    for version in (2, 3):
        assert (await refused(scip, INDEX, version)).code is ErrorCode.REF_NOT_FOUND


async def test_a_root_outside_the_repository_is_refused(scip) -> None:
    assert (await refused(scip, INDEX, root="../parcels")).code is ErrorCode.INVALID_PATH
