"""The index follows the documents: what differs is sent until nothing does, whatever fails in between."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from crashing import ended_at, writes_watched
from ingest_stand_in import FakeIngest, serving
from workspace_stack import TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import JobState
from prism_runtime.tasks import cancelled


@pytest.fixture
async def ingest(nats_server) -> AsyncIterator[FakeIngest]:
    async with serving(nats_server.url) as fake:
        yield fake


@pytest.fixture
async def place(nats_server, ingest) -> AsyncIterator[Desk]:
    async with desk(nats_server.url, copies=2) as made:
        yield made


async def settled(place: Desk, copy: int = 0) -> None:
    while await place.copies[copy].projection.send(TENANT):
        pass


async def test_a_commit_is_named_once_no_draft_is_left(place: Desk, ingest: FakeIngest) -> None:
    first, second = await place.create("First", "One.\n"), await place.create("Second")
    await settled(place)
    assert ingest.files.keys() == {first.path, second.path}
    assert ingest.files[first.path].endswith(b"---\n\nOne.\n")
    await place.commit(first.path)
    await settled(place)
    last = (await place.commit()).commit_hash
    await settled(place)
    assert ingest.commits == ["", last]
    assert (await place.get(first.document_id)).metadata.is_indexed


async def test_a_commit_is_named_without_sending_its_documents(place: Desk, ingest: FakeIngest) -> None:
    made = [await place.create(f"Note {number}") for number in range(3)]
    await settled(place)
    commit = (await place.commit()).commit_hash
    assert all([(await place.get(one.document_id)).metadata.is_indexed for one in made])
    await settled(place)
    assert (ingest.commits, ingest.sent[1:]) == (["", commit], [set()])
    await settled(place, copy=1)
    assert len(ingest.commits) == 2


async def test_a_commit_that_no_copy_has_named_is_named_after_a_start(
    place: Desk, ingest: FakeIngest
) -> None:
    await place.create("First")
    await settled(place)
    commit = (await place.commit()).commit_hash  # by a copy that ends here
    for _ in range(2):
        projection = place.copies[1].projection
        assert projection._is_unsettled(TENANT)
        await settled(place, copy=1)
        assert not projection._is_unsettled(TENANT)
        projection._named.clear()  # as after another start
    assert (ingest.commits, ingest.sent[1:]) == (["", commit], [set()])


async def test_naming_a_commit_is_repeated_until_ingest_takes_it(place: Desk, ingest: FakeIngest) -> None:
    await place.create("First")
    await settled(place)
    commit = (await place.commit()).commit_hash
    ingest.refusals = [ErrorCode.SNAPSHOT_CONFLICT]
    ingest.ends = [JobState.ABANDONED]
    for _ in range(2):
        with pytest.raises(PrismError):
            await place.copies[0].projection.send(TENANT)
        assert place.copies[0].projection._is_unsettled(TENANT)
    await settled(place)
    assert ingest.commits == ["", commit]


async def test_a_removed_repository_names_a_commit_after_its_last_document(
    place: Desk, ingest: FakeIngest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [await place.create(f"Note {number}") for number in range(3)]
    await settled(place)
    commit = (await place.commit()).commit_hash
    ingest.is_registered = False  # just removed: the records of repositories do not show it yet
    ingest.files = {}
    monkeypatch.setattr("prism_workspace.operations.projection.FILES_MAX", 2)
    await settled(place)
    assert ingest.commits == ["", "", "", commit]
    assert ingest.files.keys() == {one.path for one in made}


async def test_a_running_copy_indexes_what_is_written_before_the_answer(
    place: Desk, ingest: FakeIngest
) -> None:
    running = asyncio.create_task(place.copies[0].projection.run())
    other = asyncio.create_task(place.copies[1].projection.run())
    made = await asyncio.gather(*(place.create(f"Note {number}", auto_process=True) for number in range(8)))
    assert all(one.processing_results.embeddings_created for one in made)
    assert ingest.files.keys() == {one.path for one in made}
    running.cancel()
    other.cancel()


async def test_what_ingest_refuses_or_fails_is_sent_again(place: Desk, ingest: FakeIngest) -> None:
    ingest.refusals = [ErrorCode.SNAPSHOT_CONFLICT]
    ingest.ends = [JobState.ABANDONED]
    made = await place.create("First")
    for _ in range(2):
        with pytest.raises(PrismError):
            await place.copies[0].projection.send(TENANT)
        assert not (await place.get(made.document_id)).metadata.is_indexed
    await settled(place)
    assert (await place.get(made.document_id)).metadata.is_indexed


@pytest.mark.parametrize("write", [1, 2, 3])
async def test_another_copy_sends_what_a_crash_left(place: Desk, ingest: FakeIngest, write: int) -> None:
    made = [await place.create("First"), await place.create("Second")]
    with writes_watched():
        died_at = await ended_at(lambda: place.copies[0].projection.send(TENANT), write)
    assert bool(died_at) is (write < 3)
    await settled(place, copy=1)
    assert ingest.files.keys() == {one.path for one in made}
    assert all([(await place.get(one.document_id)).metadata.is_indexed for one in made])


async def test_documents_of_a_removed_repository_are_all_indexed_again(
    place: Desk, ingest: FakeIngest
) -> None:
    made = [await place.create(f"Note {number}") for number in range(3)]
    running = [asyncio.create_task(copy.projection.run()) for copy in place.copies]
    async with asyncio.timeout(120):
        for removed in (False, True):
            if removed:
                await ingest.remove()
            while ingest.files.keys() != {one.path for one in made}:
                await asyncio.sleep(0.05)
    await cancelled(*running)


async def test_a_repository_of_another_name_is_probed_once(place: Desk, ingest: FakeIngest) -> None:
    made = await place.create("First")
    await settled(place)
    await ingest.forget_record()  # ingest still takes its files
    projection = place.copies[0].projection
    for _ in range(3):
        await projection._probe()
        await settled(place)
    assert ingest.commits == ["", ""]
    assert (await place.get(made.document_id)).metadata.is_indexed
