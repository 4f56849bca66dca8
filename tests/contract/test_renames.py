"""Renames of repositories: everything follows at once, and the old name is free."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from crashing import ended_at, writes_watched
from layers_stack import NAME, REPO, TENANT, Town, town

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import JobState, Repository
from prism_contracts.rpc.imports import CloneRequest, JobRequest, OpenSnapshotRequest
from prism_contracts.rpc.layers import CreateLayerRequest
from prism_contracts.rpc.repositories import (
    ReindexRequest,
    RemoveRepositoryRequest,
    RepositoryStatusRequest,
    UpdateRepositoryRequest,
)

NEW = "acme/shop"


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def rename(place: Town, old: str, new: str, **caller) -> Repository:
    request = UpdateRepositoryRequest(tenant=TENANT, repo=old, name=new, **caller)
    return (await place.repositories.update(request)).repository


async def repo_of(place: Town, name: str) -> str:
    """Returns the id of the repository that a name finds; empty if there is none."""
    request = RepositoryStatusRequest(tenant=TENANT, repo=name)
    with contextlib.suppress(PrismError):
        found = (await place.repositories.status(request)).repository
        assert found.name == name
        return found.repo
    return ""


async def imported(place: Town, name: str) -> str:
    """Imports the origin under a name, and returns the id of the repository."""
    request = CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=name)
    job = await place.ended((await place.clones.clone(request)).job)
    assert job.state is JobState.COMPLETE
    return job.repo


async def test_a_renamed_repository_keeps_everything(place: Town) -> None:
    topic = place.branch("topic", {"a.py": "a = 2\n"})
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await place.serves("topic", topic)
    before = await place.repository()
    renamed = await rename(place, NAME, NEW)
    assert renamed == before.model_copy(update={"name": NEW, "cache_epoch": renamed.cache_epoch})
    assert renamed.cache_epoch > before.cache_epoch
    assert (await repo_of(place, NEW), await repo_of(place, NAME)) == (REPO, "")
    commit = place.commit({"b.py": "b = 2\n"})
    await place.push("main")
    await place.serves_base(commit)
    await place.serves("topic", topic)
    newest = (await place.jobs.job(JobRequest(tenant=TENANT, repo=NEW))).job
    assert newest.repo == REPO


async def test_a_job_that_is_running_ends_under_the_new_name(place: Town) -> None:
    place.index.may_index.clear()
    commit = place.commit({"a.py": "a = 2\n"})
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    await rename(place, NAME, NEW)
    place.index.may_index.set()
    await place.ended(job)
    assert (await place.repository()).served.commit == commit
    assert (await place.repository()).name == NEW


async def test_the_old_name_is_free(place: Town) -> None:
    await rename(place, NAME, NEW)
    other = await imported(place, NAME)
    assert other != REPO
    assert (await repo_of(place, NEW), await repo_of(place, NAME)) == (REPO, other)
    for old, new in ((NAME, NEW), (NEW, NAME)):
        with pytest.raises(PrismError) as refused:
            await rename(place, old, new)
        assert refused.value.code is ErrorCode.REPO_EXISTS
    assert (await repo_of(place, NEW), await repo_of(place, NAME)) == (REPO, other)
    assert (await place.repository()).renaming_to == ""


async def test_names_that_go_round_never_share_an_id(place: Town) -> None:
    seen = {await repo_of(place, NAME)}
    for _ in range(3):
        await rename(place, NAME, NEW)
        seen.add(await imported(place, NAME))
        await place.removing.remove(RemoveRepositoryRequest(tenant=TENANT, repo=NAME))
        await rename(place, NEW, NAME)
        seen.add(await imported(place, NEW))
        await place.removing.remove(RemoveRepositoryRequest(tenant=TENANT, repo=NEW))
        assert await repo_of(place, NAME) == REPO
    assert len(seen) == 7


async def test_only_the_case_of_a_name_changes(place: Town) -> None:
    assert (await rename(place, NAME, NAME.upper())).repo == REPO
    assert await repo_of(place, NAME.upper()) == REPO
    assert (await rename(place, NAME, NAME)).name == NAME


async def test_a_name_that_the_caller_may_not_see_is_refused(place: Town) -> None:
    with pytest.raises(PrismError) as refused:
        await rename(place, NAME, NEW, visible=frozenset({NAME}))
    assert refused.value.code is ErrorCode.FORBIDDEN
    assert await repo_of(place, NAME) == REPO


async def test_an_upload_is_renamed_too(place: Town) -> None:
    upload = OpenSnapshotRequest(
        tenant=TENANT, repo_name="acme/sent", snapshot="1", commit="c" * 40, files=()
    )
    await place.snapshots.open_snapshot(upload)
    assert (await rename(place, "acme/sent", NEW)).name == NEW


async def test_of_two_renames_to_one_name_one_succeeds(place: Town) -> None:
    other = await imported(place, "acme/other")
    done = await asyncio.gather(
        rename(place, NAME, NEW), rename(place, "acme/other", NEW), return_exceptions=True
    )
    assert sum(isinstance(one, Repository) for one in done) <= 1
    refusals = [one for one in done if not isinstance(one, Repository)]
    assert {one.code for one in refusals if isinstance(one, PrismError)} <= {
        ErrorCode.REPO_EXISTS,
        ErrorCode.UNAVAILABLE,
    }
    await place.recovery.round(datetime.now(UTC))
    found = {name: await repo_of(place, name) for name in (NAME, "acme/other", NEW)}
    assert sorted(repo for repo in found.values() if repo) == sorted([REPO, other])


@pytest.mark.parametrize("write", range(1, 6))
async def test_the_next_process_finishes_a_rename(place: Town, write: int) -> None:
    """The process dies right before its n-th write."""
    with writes_watched():
        died_at = await ended_at(lambda: rename(place, NAME, NEW), write)
    assert bool(died_at) is (write < 5)
    await place.recovery.round(datetime.now(UTC))
    new, old = (NAME, NEW) if write == 1 else (NEW, NAME)
    assert (await repo_of(place, new), await repo_of(place, old)) == (REPO, "")
    assert (await rename(place, new, NEW)).name == NEW
    assert await repo_of(place, NEW) == REPO
    assert await imported(place, NAME) != REPO
