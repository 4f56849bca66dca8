"""Dead letters are retried and dropped, over a real git repository and real letters."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from layers_stack import NAME, REPO, TENANT, Town, town

from prism_contracts import names, topics
from prism_contracts.base import BASE_LAYER, Lane, file_id, layer_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import Outcome, RepoIndexed
from prism_contracts.records import JobState
from prism_contracts.rpc.dead_letters import DropLetterRequest, LetterReply, RetryLetterRequest
from prism_contracts.rpc.imports import OpenSnapshotRequest
from prism_contracts.rpc.layers import CreateLayerRequest
from prism_contracts.rpc.repositories import ReindexRequest
from prism_ingest.adapters import letter_box
from prism_ingest.adapters.letter_box import LetterBox, StoredLetter
from prism_runtime.bus import Bus

DEADLINE_S = 120
INDEXED = RepoIndexed(
    tenant=TENANT, repo=REPO, version=1, job="j", commit="c" * 40, complete=False, lane=Lane.BULK
)


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def letters(place: Town, tenant: str = TENANT) -> list[StoredLetter]:
    return [letter async for letter in LetterBox(place.bus.js).all(tenant)]


async def buried(place: Town, count: int) -> list[StoredLetter]:
    """Returns the letters of the tenant once there are so many."""
    async with asyncio.timeout(DEADLINE_S):
        while len(found := await letters(place)) < count:
            await asyncio.sleep(0.01)
    return found


async def bury(place: Town, fact: str, tenant: str = TENANT, **body: object) -> int:
    """Stores a letter as a service does. Returns its number."""
    ack = await place.bus.js.publish(
        names.dead_letter_subject(tenant, "S", "c"),
        json.dumps({"tenant": tenant, **body}).encode(),
        headers={"Prism-Subject": f"prism.bulk.{fact}", "Prism-Code": "internal"},
    )
    return ack.seq


async def retry(place: Town, letter: int, **caller: object) -> LetterReply:
    return await place.letters.retry(RetryLetterRequest(**{"tenant": TENANT, **caller}, letter=letter))


async def drop(place: Town, letter: int, **caller: object) -> LetterReply:
    return await place.letters.drop(DropLetterRequest(**{"tenant": TENANT, **caller}, letter=letter))


def outcome(place: Town, path: str, layer: str = BASE_LAYER) -> str:
    return place.index.held[file_id(TENANT, REPO, layer, path)].status


async def test_a_retry_reads_the_failed_files_again(place: Town) -> None:
    place.index.refuses = {"a.py", "new.py"}
    place.commit({"a.py": "a = 2\n", "new.py": "new = 1\n"})
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    assert (await place.ended(job)).state is JobState.COMPLETE_WITH_ERRORS
    first, second = await buried(place, 2)
    assert {first.body["path"], second.body["path"]} == {"a.py", "new.py"}
    assert outcome(place, "a.py") == Outcome.FAILED

    place.index.refuses = set()
    done = await retry(place, first.number)
    assert (done.event, done.repo, done.dropped) == ("file.changed", NAME, 2)
    assert (await place.ended(done.job)).state is JobState.COMPLETE
    assert outcome(place, "a.py") == outcome(place, "new.py") == Outcome.INDEXED
    assert not await letters(place)


async def test_what_fails_again_has_a_new_letter(place: Town) -> None:
    place.index.refuses = {"a.py"}
    place.commit({"a.py": "a = 2\n"})
    await place.ended((await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job)
    [letter] = await buried(place, 1)
    done = await retry(place, letter.number)
    assert (await place.ended(done.job)).state is JobState.COMPLETE_WITH_ERRORS
    [again] = await buried(place, 1)
    assert again.number > letter.number


async def test_a_retry_of_a_branch_reads_the_branch(place: Town) -> None:
    place.index.refuses = {"b.py"}
    place.origin.git("switch", "-q", "-c", "topic")
    commit = place.commit({"b.py": "b = 2\n"})
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    [letter] = await buried(place, 1)
    await place.serves("topic", commit)
    kept = await bury(place, "file.changed", repo=REPO, layer=BASE_LAYER, path="a.py")
    place.index.refuses = set()
    done = await retry(place, letter.number)
    assert (done.job.layer, done.dropped) == (layer_id("topic"), 1)
    assert (await place.ended(done.job)).state is JobState.COMPLETE
    assert [one.number for one in await letters(place)] == [kept]


async def test_an_event_without_contents_is_published_again(place: Town) -> None:
    """A consumer that refused it, and every other one, receives the same event once more."""
    seen: list[RepoIndexed] = []
    is_refusing = True

    async def handle(event: RepoIndexed) -> None:
        seen.append(event)
        if is_refusing and event.job == INDEXED.job:
            raise PrismError(ErrorCode.MESSAGE_INVALID, "no graph")

    atlas = Bus("atlas", place.bus._settings)
    atlas.consume(topics.REPO_INDEXED, handle, workers=1)
    await atlas.start()
    try:
        await place.bus.publish(INDEXED)
        [letter] = await buried(place, 1)
        is_refusing = False
        done = await retry(place, letter.number)
        assert (done.event, done.repo, done.job) == ("repo.indexed", NAME, None)
        async with asyncio.timeout(DEADLINE_S):
            while seen.count(INDEXED) < 2:
                await asyncio.sleep(0.01)
        assert not await letters(place)
    finally:
        await atlas.stop()


async def test_a_retry_waits_for_a_service_that_is_down(place: Town) -> None:
    number = await bury(place, "repo.indexed", **INDEXED.model_dump(mode="json", exclude={"tenant"}))
    before = (await place.bus.js.stream_info(topics.REPO_INDEXED.stream.name)).state.messages
    await retry(place, number)
    after = (await place.bus.js.stream_info(topics.REPO_INDEXED.stream.name)).state.messages
    assert after == before + 1


async def test_a_letter_of_an_upload_names_the_command(place: Town) -> None:
    upload = OpenSnapshotRequest(
        tenant=TENANT, repo_name="acme/sent", snapshot="1", commit="c" * 40, files=()
    )
    job = (await place.snapshots.open_snapshot(upload)).job
    number = await bury(place, "file.changed", repo=job.repo, path="a.py")
    with pytest.raises(PrismError) as refused:
        await retry(place, number)
    assert refused.value.code is ErrorCode.LETTER_NOT_RETRIABLE
    assert "prism index PATH --name acme/sent" in refused.value.body.next_action
    assert [one.number for one in await letters(place)] == [number]


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("deep.requested", "Restart the deep embedder"),
        ("pull.merged", "webhook"),
        ("files.dropped", "sweep"),
        ("repo.indexed", "Index the repository again"),  # not valid itself
    ],
)
async def test_an_event_that_cannot_be_sent_again_says_what_to_do(place: Town, fact: str, words: str) -> None:
    number = await bury(place, fact)
    with pytest.raises(PrismError) as refused:
        await retry(place, number)
    assert refused.value.code is ErrorCode.LETTER_NOT_RETRIABLE
    assert words in refused.value.body.next_action


async def test_a_letter_of_a_removed_repository_can_only_be_dropped(place: Town) -> None:
    number = await bury(place, "file.changed", repo="gone", path="a.py")
    with pytest.raises(PrismError) as refused:
        await retry(place, number)
    assert refused.value.body.next_action == "Its repository was removed. Then drop the letter."
    assert (await drop(place, number)).file_path == "a.py"
    assert not await letters(place)


async def test_a_letter_that_is_gone_is_reported(place: Town) -> None:
    number = await bury(place, "file.changed", repo=REPO, path="a.py")
    await drop(place, number)
    for act in (retry, drop):
        with pytest.raises(PrismError) as refused:
            await act(place, number)
        assert refused.value.code is ErrorCode.LETTER_NOT_FOUND
        assert "prism dead-letters list" in refused.value.body.next_action


async def test_a_letter_belongs_to_those_who_see_its_repository(place: Town) -> None:
    number = await bury(place, "file.changed", repo=REPO, path="a.py")
    without_repository = await bury(place, "deep.requested")
    limited = frozenset({"acme/other"})
    for letter, caller in (
        (number, {"tenant": "other"}),
        (number, {"visible": limited}),
        (without_repository, {"visible": limited}),
    ):
        for act in (retry, drop):
            with pytest.raises(PrismError) as refused:
                await act(place, letter, **caller)
            with pytest.raises(PrismError) as absent:
                await act(place, 987_654_321, **caller)
            expected = absent.value.body.message.replace("987654321", str(letter))
            assert (refused.value.code, refused.value.body.message) == (absent.value.code, expected)
    assert len(await letters(place)) == 2
    assert (await drop(place, number, visible=frozenset({NAME}))).repo == NAME


async def test_a_retry_looks_at_a_bounded_number_of_letters(place: Town, monkeypatch) -> None:
    monkeypatch.setattr(letter_box, "READ_MAX", 2)
    numbers = [await bury(place, "file.changed", repo=REPO, path=f"{number}.py") for number in range(4)]
    done = await retry(place, numbers[-1])
    assert done.dropped == 3
    assert [one.number for one in await letters(place)] == [numbers[2]]
