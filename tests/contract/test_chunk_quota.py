"""The limit on a tenant's chunks: where an import stops, and what still goes through. A file has one chunk here."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from layers_stack import TENANT, Town, town
from test_mirrors import Origin

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorCode
from prism_contracts.events import Outcome
from prism_contracts.records import Job, JobState, Limit, Tenant
from prism_contracts.rpc.imports import CloneRequest
from prism_ingest.core import is_final
from prism_ingest.operations import import_gate
from prism_runtime.records import Records, open_bucket

ALLOWED = 20
BASE_FILES = 6  # files in the town
OTHER = "acme/other"


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path, plan={Limit.CHUNKS: ALLOWED}) as made:
        yield made


async def imported(place: Town, tenant: str, files: int) -> Job:
    """Imports another repository of a tenant; returns its ended job."""
    origin = Origin(place.origin.folder.with_name(f"{tenant}-other"))
    for number in range(files):
        (origin.folder / f"{number}.py").write_text(f"{tenant} = {number}\n")
    origin.git("add", "--all")
    origin.git("commit", "--quiet", "--message", "Begin")
    job = (await place.clones.clone(CloneRequest(tenant=tenant, url=origin.url, repo_name=OTHER))).job
    return await ended(place, job)


async def ended(place: Town, job: Job) -> Job:
    async def has_ended() -> bool:
        found = await place.ledger.jobs.get(job.job)
        return found is not None and is_final(found)

    await place.until(has_ended)
    return await place.ledger.jobs.get(job.job)


def indexed(place: Town, tenant: str) -> int:
    return sum(
        held.status == Outcome.INDEXED and held.place[0] == tenant for held in place.index.held.values()
    )


async def test_an_import_stops_at_the_limit_and_says_so(place: Town) -> None:
    job = await imported(place, TENANT, files=40)
    assert indexed(place, TENANT) == ALLOWED
    assert job.state is JobState.COMPLETE_WITH_ERRORS
    assert (job.counts.indexed, job.counts.failed) == (ALLOWED - BASE_FILES, 40 - ALLOWED + BASE_FILES)
    problem = job.problems[0]
    assert problem.code == ErrorCode.LIMIT_EXCEEDED
    assert "`chunks`" in problem.detail
    assert f"{ALLOWED}" in problem.detail


async def test_an_import_that_fits_exactly_is_complete(place: Town) -> None:
    assert (await imported(place, TENANT, files=ALLOWED - BASE_FILES)).state is JobState.COMPLETE
    assert indexed(place, TENANT) == ALLOWED


async def test_tenants_have_chunks_of_their_own(place: Town) -> None:
    await imported(place, TENANT, files=40)
    assert (await imported(place, "other", files=ALLOWED)).state is JobState.COMPLETE


async def test_files_over_the_limit_are_indexed_when_the_plan_grows(place: Town) -> None:
    await imported(place, TENANT, files=40)
    tenants = Records(await open_bucket(place.bus.js, names.KV_TENANTS), Tenant)
    grown = Tenant(tenant=TENANT, plan="tested", limits={Limit.CHUNKS: None}, created_at=datetime.now(UTC))
    await tenants.put(TENANT, grown)
    repository = next(one for one in await place.ledger.repositories.all() if one.repo == repo_id(OTHER))

    async def is_complete() -> bool:
        request = CloneRequest(tenant=TENANT, url=repository.source, repo_name=OTHER)
        job = await ended(place, (await place.clones.clone(request)).job)
        return job.state is JobState.COMPLETE

    await place.until(is_complete)
    assert indexed(place, TENANT) == BASE_FILES + 40


async def test_at_the_limit_indexed_files_can_change_and_new_ones_wait(place: Town) -> None:
    await imported(place, TENANT, files=40)
    commit = place.commit({"a.py": "a = 2\n", "new.py": "n = 1\n"})
    await place.push("main")
    await place.serves_base(commit)
    changed = {held.path: (held.status, held.text) for held in place.index.held.values()}
    assert changed["a.py"] == (Outcome.INDEXED, "a = 2\n")
    assert changed["new.py"][0] == Outcome.FAILED


async def test_files_that_grow_far_beyond_the_limit_are_not_indexed(place: Town, monkeypatch) -> None:
    monkeypatch.setattr(import_gate, "COUNTED_EVERY_S", 0.0)
    place.index.more_chunks = ALLOWED
    commit = place.commit({"a.py": "a = 2\n"})
    await place.push("main")
    await place.serves_base(commit)
    changed = {held.path: held.status for held in place.index.held.values()}
    assert changed["a.py"] == Outcome.FAILED
