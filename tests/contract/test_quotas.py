"""What the plan of a tenant allows ingest to begin: repositories, imports at once, overlays."""

import itertools
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from layers_stack import NAME, TENANT, Town, town

from prism_contracts import names
from prism_contracts.base import Lane
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import Job, JobState, Limit, Tenant
from prism_contracts.rpc.imports import CloneRequest, EditRequest, FileEdit, OpenSnapshotRequest, SnapshotFile
from prism_contracts.rpc.layers import OpenOverlayRequest
from prism_contracts.rpc.repositories import RegisterRequest
from prism_ingest.core import is_planned
from prism_runtime.records import Records, open_bucket


@pytest.fixture
def place(nats_server, tmp_path):
    @asynccontextmanager
    async def limited(**limits: int):
        plan = {Limit(name): value for name, value in limits.items()}
        async with town(nats_server, tmp_path, plan=plan) as made:
            yield made

    return limited


def snapshot(
    repo: str, *, name: str = "s", lane: Lane = Lane.BULK, tenant: str = TENANT
) -> OpenSnapshotRequest:
    files = (SnapshotFile(path="a.py", blob="1" * 40, size_bytes=1),)
    return OpenSnapshotRequest(
        tenant=tenant, repo_name=repo, snapshot=name, commit="c", lane=lane, files=files
    )


async def refused(asked) -> ErrorBody:
    with pytest.raises(PrismError) as caught:
        await asked
    return caught.value.body


async def clone(place: Town, name: str, tenant: str = TENANT) -> Job:
    return (await place.clones.clone(CloneRequest(tenant=tenant, url=place.origin.url, repo_name=name))).job


async def job_of(place: Town, job: Job) -> Job:
    found = await place.ledger.jobs.get(job.job)
    assert found is not None
    return found


async def test_one_repository_too_many_is_refused_and_known_ones_are_indexed_again(place) -> None:
    async with place(repositories=2) as town:
        await town.snapshots.open_snapshot(snapshot("acme/second"))
        registration = RegisterRequest(
            tenant=TENANT, url=town.origin.url, repo_name="acme/third", index=False
        )
        for asked in (
            town.snapshots.open_snapshot(snapshot("acme/third")),
            clone(town, "acme/third"),
            town.repositories.register(registration),
        ):
            error = await refused(asked)
            assert error.code is ErrorCode.LIMIT_EXCEEDED
            assert error.details == {"limit": "repositories", "allowed": 2}
            assert "`repositories`" in error.message
            assert error.next_action
        await town.index_base()
        await town.snapshots.open_snapshot(snapshot("acme/third", tenant="other"))
        names = {one.name for one in await town.ledger.repositories.all() if one.tenant == TENANT}
    assert names == {NAME, "acme/second"}


async def test_a_refused_import_leaves_no_job(place) -> None:
    async with place(repositories=1) as town:
        before = {job.job for job in await town.ledger.jobs.all()}
        await refused(clone(town, "acme/second"))
        assert {job.job for job in await town.ledger.jobs.all()} == before


async def test_an_upload_beside_too_many_imports_is_refused_until_one_ends(place) -> None:
    async with place(imports_at_once=1) as town:
        running = (await town.snapshots.open_snapshot(snapshot("acme/first"))).job
        again = (await town.snapshots.open_snapshot(snapshot("acme/first"))).job
        assert again.job == running.job
        error = await refused(town.snapshots.open_snapshot(snapshot("acme/second")))
        assert error.code is ErrorCode.LIMIT_EXCEEDED
        assert error.details == {"limit": "imports_at_once", "allowed": 1}
        assert running.job in error.next_action
        assert "acme/first" in error.next_action
        conflict = await refused(town.snapshots.open_snapshot(snapshot("acme/first", name="other")))
        assert conflict.code is ErrorCode.SNAPSHOT_CONFLICT
        await town.snapshots.open_snapshot(snapshot("acme/second", tenant="other"))
        await town.ledger.jobs.modify(
            running.job, lambda found: found.model_copy(update={"state": JobState.CANCELLED})
        )
        await town.snapshots.open_snapshot(snapshot("acme/second"))


async def test_an_upload_whose_client_disappeared_does_not_count(nats_server, tmp_path) -> None:
    async with town(nats_server, tmp_path, plan={Limit.IMPORTS_AT_ONCE: 1}, job_idle_s=1) as made:
        gone = (await made.snapshots.open_snapshot(snapshot("acme/first"))).job

        async def is_admitted() -> bool:
            try:
                await made.snapshots.open_snapshot(snapshot("acme/second"))
            except PrismError as error:
                return error.code is not ErrorCode.LIMIT_EXCEEDED
            return True

        await made.until(is_admitted)
        assert (await job_of(made, gone)).state is JobState.INDEXING


async def test_imports_that_fetch_wait_for_their_turn_in_order(place) -> None:
    async with place(imports_at_once=1) as town:
        town.index.may_index.clear()
        jobs = [await clone(town, f"acme/{name}") for name in ("one", "two", "three")]

        async def first_runs() -> bool:
            return is_planned(await job_of(town, jobs[0]))

        await town.until(first_runs)
        other = await clone(town, "acme/one", tenant="other")

        async def other_runs() -> bool:
            return is_planned(await job_of(town, other))

        await town.until(other_runs)
        assert [(await job_of(town, job)).state for job in jobs[1:]] == [JobState.CLONING] * 2
        town.index.may_index.set()
        ended = [await town.ended(job) for job in jobs]
    assert [job.state for job in ended] == [JobState.COMPLETE] * 3
    for earlier, later in itertools.pairwise(ended):
        assert earlier.finished_at <= later.planned_at


async def test_edits_and_pushes_do_not_wait_for_imports(place) -> None:
    async with place(imports_at_once=1) as town:
        await town.snapshots.open_snapshot(snapshot("acme/first"))
        commit = town.commit({"g.py": "g = 1\n"})
        await town.push("main")
        await town.serves_base(commit)
        edit = EditRequest(tenant=TENANT, repo_name=NAME, files=(FileEdit(path="h.py", content=b"h = 1\n"),))
        assert (await town.edits.edit(edit)).job.lane is Lane.LIVE


async def test_a_tenant_may_have_no_imports_at_all(place) -> None:
    async with place() as town:
        tenants = Records(await open_bucket(town.bus.js, names.KV_TENANTS), Tenant)
        limits = {Limit.IMPORTS_AT_ONCE: 0}
        await tenants.put(
            "none", Tenant(tenant="none", plan="tested", limits=limits, created_at=datetime.now(UTC))
        )
        numbers = itertools.count()

        async def are_uploads_refused() -> bool:
            try:
                await town.snapshots.open_snapshot(snapshot(f"acme/{next(numbers)}", tenant="none"))
            except PrismError as error:
                return error.code is ErrorCode.LIMIT_EXCEEDED
            return False

        await town.until(are_uploads_refused)
        job = await clone(town, "acme/cloned", tenant="none")

        async def has_failed() -> bool:
            return (await job_of(town, job)).state is JobState.FAILED

        await town.until(has_failed)
        assert (await job_of(town, job)).error.code is ErrorCode.LIMIT_EXCEEDED


async def test_the_plan_limits_overlays(place) -> None:
    async with place(overlays=1) as town:
        opened = (await town.overlays.open(OpenOverlayRequest(tenant=TENANT, repo=NAME, ttl_s=60))).layer

        async def is_known() -> bool:
            return bool(town.registry.all())

        await town.until(is_known)
        error = await refused(town.overlays.open(OpenOverlayRequest(tenant=TENANT, repo=NAME, ttl_s=60)))
        assert error.code is ErrorCode.LIMIT_EXCEEDED
        assert error.details == {"limit": "overlays", "allowed": 1}
        again = OpenOverlayRequest(tenant=TENANT, repo=NAME, ttl_s=60, handle=opened.ref)
        assert (await town.overlays.open(again)).layer.layer == opened.layer
