"""Repositories as their owners manage them: states, and imports on request, over a real git repository."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from layers_stack import NAME, TENANT, Town, town

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import PushReceived
from prism_contracts.records import JobState
from prism_contracts.rpc.imports import CloneRequest, OpenSnapshotRequest
from prism_contracts.rpc.repositories import (
    ClearCacheRequest,
    IndexState,
    RegisterRequest,
    ReindexRequest,
    RepositoryReply,
    RepositoryStatusReply,
    RepositoryStatusRequest,
    UpdateRepositoryRequest,
)
from prism_ingest.adapters.ledger import Origin


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def status(place: Town, repo: str = NAME, **caller) -> RepositoryStatusReply:
    return await place.repositories.status(RepositoryStatusRequest(**{"tenant": TENANT, **caller}, repo=repo))


async def reindexed(place: Town, **how) -> None:
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME, **how))).job
    assert (await place.ended(job)).state is JobState.COMPLETE


async def test_the_state_follows_the_imports(place: Town) -> None:
    served = await status(place)
    assert (served.state, served.active_job, served.last_error) == (IndexState.INDEXED, None, None)
    place.index.may_index.clear()
    commit = place.commit({"a.py": "a = 2\n"})
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    running = await status(place)
    assert (running.state, running.active_job and running.active_job.job) == (
        IndexState.INDEXING,
        job.job,
    )
    place.index.may_index.set()
    await place.serves_base(commit)
    await place.ended(job)
    ended = await status(place)
    assert (ended.state, ended.last_job and ended.last_job.job) == (IndexState.INDEXED, job.job)


async def test_a_failed_import_is_reported_beside_the_served_commit(place: Town) -> None:
    served = (await place.repository()).served
    gone = place.origin.folder.with_name("gone")
    place.origin.folder.rename(gone)
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    await place.ended(job)
    failed = await status(place)
    assert (failed.state, failed.repository.served) == (IndexState.FAILED, served)
    assert failed.last_error is not None
    assert failed.last_error.code is ErrorCode.CLONE_FAILED


async def test_a_status_shows_no_other_repository(place: Town) -> None:
    callers = ({"tenant": "other"}, {"visible": frozenset({"acme/other"})})
    for caller in callers:
        with pytest.raises(PrismError) as refused:
            await status(place, **caller)
        assert refused.value.code is ErrorCode.REPO_NOT_FOUND
        with pytest.raises(PrismError) as refused:
            await place.repositories.reindex(ReindexRequest(**{"tenant": TENANT, **caller}, repo=NAME))
        assert refused.value.code is ErrorCode.REPO_NOT_FOUND


async def test_an_import_on_request_reads_what_changed(place: Town) -> None:
    place.index.written.clear()
    commit = place.commit({"a.py": "a = 2\n"})
    await reindexed(place)
    assert place.index.written == ["a.py"]
    await place.serves_base(commit)


async def test_an_import_with_force_reads_unchanged_files_too(place: Town) -> None:
    place.index.written.clear()
    await reindexed(place)
    assert place.index.written == []
    await reindexed(place, force=True)
    assert sorted(place.index.written) == sorted(place.tree("main"))
    assert place.base() == place.tree("main")


async def test_a_clone_with_force_reads_unchanged_files_too(place: Town) -> None:
    place.index.written.clear()
    request = CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME, force=True)
    job = (await place.clones.clone(request)).job
    assert (await place.ended(job)).state is JobState.COMPLETE
    assert sorted(place.index.written) == sorted(place.tree("main"))


async def test_a_request_joins_an_import_that_reads_enough(place: Town) -> None:
    place.index.may_index.clear()
    commit = place.commit({"a.py": "a = 2\n"})
    request = ReindexRequest(tenant=TENANT, repo=NAME, force=True)
    running = (await place.repositories.reindex(request)).job
    for less in ({}, {"force": False}, {"full": True, "force": False}):
        joined = (await place.repositories.reindex(request.model_copy(update=less))).job
        assert joined.job == running.job
    place.index.may_index.set()
    await place.serves_base(commit)


async def test_a_request_does_not_join_an_import_that_reads_less(place: Town) -> None:
    place.index.may_index.clear()
    commit = place.commit({"a.py": "a = 2\n"})
    request = ReindexRequest(tenant=TENANT, repo=NAME)
    running = (await place.repositories.reindex(request)).job
    for more in ({"full": True}, {"force": True}):
        with pytest.raises(PrismError) as refused:
            await place.repositories.reindex(request.model_copy(update=more))
        assert refused.value.code is ErrorCode.SNAPSHOT_CONFLICT
        assert refused.value.body.details["job"] == running.job
    place.index.may_index.set()
    await place.serves_base(commit)


async def test_an_uploaded_repository_is_not_fetched(place: Town) -> None:
    upload = OpenSnapshotRequest(
        tenant=TENANT, repo_name="acme/sent", snapshot="1", commit="c" * 40, files=()
    )
    await place.snapshots.open_snapshot(upload)
    with pytest.raises(PrismError) as refused:
        await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo="acme/sent"))
    assert refused.value.code is ErrorCode.INVALID_ARGUMENT
    assert "prism index" in refused.value.body.next_action


OTHER = "acme/other"


async def registered(place: Town, **changes) -> RepositoryReply:
    given = {"tenant": TENANT, "url": place.origin.url, "repo_name": OTHER, "index": False, **changes}
    return await place.repositories.register(RegisterRequest(**given))


async def updated(place: Town, **changes) -> RepositoryReply:
    return await place.repositories.update(UpdateRepositoryRequest(tenant=TENANT, repo=NAME, **changes))


async def test_a_registered_repository_is_imported_on_request(place: Town) -> None:
    made = await registered(place)
    assert (made.created, made.job, made.repository.source) == (True, None, place.origin.url)
    await place.poller.round()
    waiting = await status(place, OTHER)
    assert (waiting.state, waiting.last_job) == (IndexState.REGISTERED, None)
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=OTHER))).job
    assert (await place.ended(job)).counts.indexed == len(place.tree("main"))
    assert (await status(place, OTHER)).state is IndexState.INDEXED


async def test_a_push_imports_a_registered_repository(place: Town) -> None:
    repo = (await registered(place)).repository
    event = PushReceived(
        tenant=TENANT,
        repo=repo.repo,
        branch="main",
        default_branch="main",
        delivery="1",
        received_at=datetime.now(UTC),
    )
    await place.bus.publish(event)

    async def is_indexed() -> bool:
        return (await status(place, OTHER)).state is IndexState.INDEXED

    await place.until(is_indexed)


async def test_registering_again_changes_nothing(place: Town) -> None:
    first = await registered(place, ref="main", is_active=False)
    again = await registered(place, ref="main")
    assert (again.created, again.repository) == (False, first.repository)
    for other in (
        {"ref": "topic"},
        {"ref": "main", "exclude": ("*.md",)},
        {"ref": "main", "is_active": True},
        {"url": f"{place.origin.url}/x"},
    ):
        with pytest.raises(PrismError) as refused:
            await registered(place, **other)
        assert refused.value.code is ErrorCode.REPO_EXISTS
    assert (await status(place, OTHER)).repository == first.repository


async def test_a_url_without_a_name_does_not_take_that_of_another_source(place: Town) -> None:
    implied = (await registered(place, repo_name="")).repository.name
    elsewhere = place.origin.url.replace(implied, f"elsewhere/{implied}")
    assert elsewhere != place.origin.url
    for index in (False, True):
        with pytest.raises(PrismError) as refused:
            await registered(place, repo_name="", url=elsewhere, index=index)
        assert refused.value.code is ErrorCode.REPO_EXISTS
    with pytest.raises(PrismError) as refused:
        await place.clones.clone(CloneRequest(tenant=TENANT, url=elsewhere))
    assert refused.value.code is ErrorCode.REPO_EXISTS
    assert (await status(place, implied)).repository.source == place.origin.url
    assert not (await registered(place, repo_name="")).created
    replaced = await place.clones.clone(CloneRequest(tenant=TENANT, url=elsewhere, repo_name=implied))
    assert replaced.job.repo_name == implied
    assert (await status(place, implied)).repository.source == elsewhere


async def test_registering_with_an_import_begins_one(place: Town) -> None:
    made = await registered(place, index=True, is_active=False)
    assert (made.created, made.repository.is_active) == (True, False)
    assert made.job is not None
    assert (await place.ended(made.job)).state is JobState.COMPLETE
    again = await registered(place, index=True)
    assert not again.created
    assert again.job is not None
    await place.ended(again.job)


async def test_a_repository_that_the_caller_may_not_see_is_not_registered(place: Town) -> None:
    refusals = {
        ErrorCode.FORBIDDEN: {"visible": frozenset({"acme/third"})},
        ErrorCode.CLONE_REFUSED: {"url": "https://git.example.com/acme/other.git"},
    }
    for code, changes in refusals.items():
        with pytest.raises(PrismError) as refused:
            await registered(place, **changes)
        assert refused.value.code is code
    with pytest.raises(PrismError):
        await status(place, OTHER)


async def test_an_inactive_repository_is_not_polled(place: Town) -> None:
    await updated(place, is_active=False)
    commit = place.commit({"a.py": "a = 2\n"})
    await place.poller.round()
    assert (await place.repository()).head_commit != commit
    await updated(place, is_active=True)
    await place.poller.round()
    await place.serves_base(commit)


async def test_the_next_import_follows_a_changed_ref(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n", "new.py": "n = 1\n"})
    assert (await updated(place, ref="topic")).repository.ref == "topic"
    assert (await place.repository()).served.ref == "main"
    await reindexed(place)
    served = (await place.repository()).served
    assert (served.ref, served.commit) == ("topic", commit)
    assert place.base() == place.tree("topic")


async def test_a_job_of_an_older_ref_does_not_bring_it_back(place: Town) -> None:
    older = await place.repository()
    await updated(place, ref="topic")
    job = older.served.job
    known = await place.ledger.jobs.get(job)
    late = known.model_copy(update={"job": "late", "version": 0, "state": JobState.CLONING})
    await place.ledger.begin(late, Origin.of(older), 300)
    assert (await place.repository()).ref == "topic"


async def test_an_uploaded_repository_has_no_settings(place: Town) -> None:
    upload = OpenSnapshotRequest(tenant=TENANT, repo_name=OTHER, snapshot="1", commit="c" * 40, files=())
    await place.snapshots.open_snapshot(upload)
    with pytest.raises(PrismError) as refused:
        await place.repositories.update(UpdateRepositoryRequest(tenant=TENANT, repo=OTHER, ref="main"))
    assert refused.value.code is ErrorCode.INVALID_ARGUMENT


async def test_clearing_the_cache_changes_the_epoch_of_its_answers(place: Town) -> None:
    before = await place.repository()
    request = ClearCacheRequest(tenant=TENANT, repo=NAME)
    cleared = (await place.repositories.clear_cache(request)).repository
    assert cleared == before.model_copy(update={"cache_epoch": before.cache_epoch + 1})
    with pytest.raises(PrismError) as refused:
        await place.repositories.clear_cache(request.model_copy(update={"visible": frozenset({OTHER})}))
    assert refused.value.code is ErrorCode.REPO_NOT_FOUND
    await reindexed(place)
    assert (await place.repository()).cache_epoch == cleared.cache_epoch
