"""Repositories as their owners manage them: states, and imports on request, over a real git repository."""

from collections.abc import AsyncIterator

import pytest
from layers_stack import NAME, TENANT, Town, town

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import JobState
from prism_contracts.rpc.imports import OpenSnapshotRequest
from prism_contracts.rpc.repositories import (
    IndexState,
    ReindexRequest,
    RepositoryStatusReply,
    RepositoryStatusRequest,
)


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
