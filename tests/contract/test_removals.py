"""Removed repositories: nothing answers for them, nothing is left of them, and their names are free at once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, datetime, timedelta

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from layers_stack import NAME, REPO, TENANT, Town, town
from nats.js.errors import KeyNotFoundError, NotFoundError

from prism_contracts import names
from prism_contracts.base import BASE_LAYER, Lane, file_id, next_repo_id
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.events import CloneRequested, FileChanged, PushReceived, RepoIndexed
from prism_contracts.records import Job, JobState, ScipIndex, record_key, repository_key
from prism_contracts.rpc.imports import (
    CloneRequest,
    CommitFileRequest,
    EditRequest,
    FileEdit,
    JobRequest,
    JobsRequest,
)
from prism_contracts.rpc.layers import CreateLayerRequest, DeleteLayerRequest, OpenOverlayRequest
from prism_contracts.rpc.repositories import (
    RemoveRepositoryRequest,
)
from prism_ingest.adapters.ledger import Origin
from prism_ingest.adapters.leftovers import OBJECTS, RECORDS
from prism_ingest.core import is_final, new_job
from prism_ingest.operations.removals import SETTLES
from prism_runtime.records import open_bucket

NEXT = next_repo_id(REPO)
REMOVE = RemoveRepositoryRequest(tenant=TENANT, repo=NAME)
# A record of the name, which keeps the next repository apart, is all that remains.
KEPT = {names.KV_REPOSITORY_NAMES}


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


async def traces(place: Town, repo: str) -> set[str]:
    """Returns every record and object whose name or content has the id of a repository, and its points."""
    js = place.bus.js
    found = {f"point {held.path}" for held in place.index.held.values() if held.place == (TENANT, repo)}
    for stream in await js.streams_info():
        kind, _, bucket = stream.config.name.partition("_")
        if kind == "KV" and bucket not in KEPT:
            found |= {f"{bucket} {key}" for key in await records_with(js, bucket, repo)}
        elif kind == "OBJ":
            found |= {f"{bucket} {name}" for name in await objects(js, bucket) if repo in name}
    return found


async def records_with(js, bucket: str, repo: str) -> list[str]:
    kv = await js.key_value(bucket)
    info = await js.stream_info(f"KV_{bucket}", subjects_filter=">")
    keys = [subject.removeprefix(f"$KV.{bucket}.") for subject in info.state.subjects or ()]
    existing = []
    for key in keys:
        try:
            entry = await kv.get(key)
        except KeyNotFoundError:
            continue
        if repo in key or repo.encode() in (entry.value or b""):
            existing.append(key)
    return existing


async def objects(js, bucket: str) -> list[str]:
    try:
        return [info.name for info in await (await js.object_store(bucket)).list(ignore_deletes=True)]
    except NotFoundError:
        return []


def mirrors(place: Town) -> list[str]:
    root = place.origin.folder.parents[1] / "cache" / "mirrors"
    return sorted(folder.name for folder in root.iterdir())


async def until_finished(place: Town) -> None:
    """Deletes what is left at once, and again when all work on the repository has ended."""
    now = datetime.now(UTC)
    await place.removals.round(now)
    await place.removals.round(now + SETTLES)


async def index_again(place: Town) -> None:
    """Indexes the repository again, and waits until it is served."""
    await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME))

    async def is_served() -> bool:
        found = await place.ledger.repositories.get(repository_key(TENANT, NEXT))
        return found is not None and found.served is not None

    await place.until(is_served)


async def refused(answer: Awaitable[object]) -> ErrorBody:
    with pytest.raises(PrismError) as caught:
        await answer
    return caught.value.body


async def fill(place: Town) -> None:
    """Adds a branch, an overlay, and something to each bucket that may hold something of the repository."""
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await place.serves("topic", commit)
    edit = (FileEdit(path="b.py", content=b"b = 2\n"),)
    opened = await place.overlays.open(OpenOverlayRequest(tenant=TENANT, repo=NAME, files=edit))
    await place.ended(opened.job)
    await put_into_each_bucket(place, REPO)


async def put_into_each_bucket(place: Town, repo: str) -> None:
    js, key = place.bus.js, record_key(TENANT, repo)
    for bucket in {*RECORDS} - {names.KV_LAYERS, names.KV_SCIP}:
        kv = await open_bucket(js, bucket)
        for name in (key, f"{key}.more"):
            await kv.put(name, b"{}")
    for bucket in OBJECTS:
        store = await js.create_object_store(bucket)
        for name in (key, f"{key}.more.1"):
            await store.put(name, b"content")
    index = ScipIndex(
        tenant=TENANT, repo=repo, indexer="i", commit="c", version=1, object=f"uses in {repo}", files=1,
        stored_at=datetime.now(UTC),
    )  # fmt: skip
    await (await js.create_object_store(names.OBJECTS_SCIP)).put(index.object, b"content")
    await (await open_bucket(js, names.KV_SCIP)).put(index.key, index.model_dump_json().encode())
    await (await open_bucket(js, names.KV_ANSWERS)).put(f"{TENANT}.{'0' * 64}", repo.encode())


async def test_nothing_is_left_of_a_removed_repository(place: Town) -> None:
    await fill(place)
    before = await traces(place, REPO)
    assert {trace.split()[0] for trace in before} >= {
        *RECORDS,
        *OBJECTS,
        names.OBJECTS_SCIP,
        names.KV_ANSWERS,
    }
    assert mirrors(place)
    removed = await place.removing.remove(REMOVE)
    assert removed.repo == NAME
    await place.removals.round(datetime.now(UTC))
    assert await traces(place, REPO) == set()
    assert mirrors(place) == []
    await place.removals.round(datetime.now(UTC) + SETTLES)
    assert await place.ledger.names.leftovers() == []


async def test_other_repositories_and_tenants_keep_everything(place: Town) -> None:
    """Also a repository with the same name, and thus the same id, of another tenant."""
    url = place.origin.url
    others = [("t", "acme/other"), ("u", NAME)]
    for tenant, name in others:
        job = (await place.clones.clone(CloneRequest(tenant=tenant, url=url, repo_name=name))).job
        await ended(place, tenant, job)
    before = {other: await kept(place, *other) for other in others}
    assert all(before.values())
    await place.removing.remove(REMOVE)
    await until_finished(place)
    assert {other: await kept(place, *other) for other in others} == before
    assert len(mirrors(place)) == len(others)


async def ended(place: Town, tenant: str, job: Job) -> None:
    async def is_over() -> bool:
        return is_final((await place.jobs.job(JobRequest(tenant=tenant, job=job.job))).job)

    await place.until(is_over)


async def kept(place: Town, tenant: str, name: str) -> tuple[object, ...]:
    """Returns what there is of a repository."""
    repo = await place.ledger.names.id_of(tenant, name)
    ids = {file_id(tenant, repo, BASE_LAYER, path) for path in place.tree("main")}
    return (
        await place.ledger.repositories.get(repository_key(tenant, repo)),
        ids <= place.index.held.keys(),
        [job for job in await place.ledger.jobs.all() if (job.tenant, job.repo) == (tenant, repo)],
    )


async def test_a_name_is_indexed_again_while_the_old_data_is_deleted(place: Town) -> None:
    old = place.base()
    await place.removing.remove(REMOVE)
    place.commit({"a.py": None, "new.py": "new = 1\n"})
    await index_again(place)
    assert place.base() == old  # nothing is deleted yet
    assert place.base(NEXT) == place.tree("main")
    new = await traces(place, NEXT)
    await until_finished(place)
    assert await traces(place, REPO) == set()
    assert place.base(NEXT) == place.tree("main")
    assert await traces(place, NEXT) == new
    assert len(mirrors(place)) == 1
    await place.removing.remove(REMOVE)
    assert await place.ledger.names.id_of(TENANT, NAME) == next_repo_id(NEXT)
    await until_finished(place)
    assert await traces(place, NEXT) == set()


async def test_late_work_on_a_removed_repository_does_not_reach_the_next_one(place: Town) -> None:
    await place.removing.remove(REMOVE)
    await place.removals.round(datetime.now(UTC))
    await index_again(place)
    late = FileChanged(
        tenant=TENANT, repo=REPO, path="late.py", version=9, job="j", ordinal=0, lane=Lane.LIVE, blob="1" * 40,
        size_bytes=1, text="",
    )  # fmt: skip
    await place.index.on_changed(late)
    assert place.base(NEXT) == place.tree("main")
    await place.removals.round(datetime.now(UTC) + SETTLES)
    assert await traces(place, REPO) == set()


async def test_running_jobs_end_as_cancelled(place: Town) -> None:
    place.index.may_index.clear()
    place.commit({"late.py": "late\n"})
    job = (await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME))).job
    assert (await place.removing.remove(REMOVE)).jobs_cancelled == 1
    found = (await place.jobs.job(JobRequest(tenant=TENANT, job=job.job))).job
    assert (found.state, found.error and found.error.code) == (JobState.CANCELLED, ErrorCode.JOB_CANCELLED)
    place.index.may_index.set()
    await place.removals.round(datetime.now(UTC))
    assert (await place.jobs.job(JobRequest(tenant=TENANT, job=job.job))).job.state is JobState.CANCELLED
    assert (await place.jobs.jobs(JobsRequest(tenant=TENANT))).jobs == ()
    await place.removals.round(datetime.now(UTC) + SETTLES)
    assert await place.ledger.jobs.get(job.job) is None


async def test_requests_answer_as_if_the_repository_had_never_existed(place: Town) -> None:
    edit = (FileEdit(path="b.py", content=b"b = 2\n"),)

    def requests(name: str) -> list[Awaitable[object]]:
        return [
            place.removing.remove(RemoveRepositoryRequest(tenant=TENANT, repo=name)),
            place.jobs.job(JobRequest(tenant=TENANT, repo=name)),
            place.layers.create(CreateLayerRequest(tenant=TENANT, repo=name, ref="topic")),
            place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=name, ref="topic")),
            place.overlays.open(OpenOverlayRequest(tenant=TENANT, repo=name, files=edit)),
            place.edits.edit(EditRequest(tenant=TENANT, repo_name=name, files=edit)),
            place.commits.file(CommitFileRequest(tenant=TENANT, repo=name, commit="main", path="a.py")),
        ]

    await place.removing.remove(REMOVE)
    for removed, never in zip(requests(NAME), requests("acme/new"), strict=True):
        error, other = await refused(removed), await refused(never)
        assert error.model_dump_json() == other.model_dump_json().replace("acme/new", NAME)
    listed = await place.jobs.jobs(JobsRequest(tenant=TENANT))
    assert (listed.jobs, listed.repositories, listed.layers) == ((), (), ())


async def test_late_messages_do_not_bring_a_repository_back(place: Town) -> None:
    served = (await place.repository()).served
    assert served is not None
    await place.removing.remove(REMOVE)
    for now in (datetime.now(UTC), datetime.now(UTC) + SETTLES):
        await place.clones.on_clone_requested(
            CloneRequested(tenant=TENANT, repo=REPO, job=served.job, url=place.origin.url)
        )
        await place.clones.on_push(
            PushReceived(tenant=TENANT, repo=REPO, delivery=f"{now}", received_at=datetime.now(UTC))
        )
        await place.rebases.on_indexed(
            RepoIndexed(
                tenant=TENANT, repo=REPO, version=1, job=served.job, commit=served.commit, complete=True
            )
        )
        await place.recovery.round(now)
        await place.rebaser.catch_up()
        await place.removals.round(now)
        assert await place.ledger.repositories.all() == []
    assert await traces(place, REPO) == set()


def job_of(place: Town, repo: str) -> Job:
    """Returns a job that has not begun."""
    return new_job(
        key=place.ledger.job_key, tenant=TENANT, repo=repo, repo_name=NAME, layer=BASE_LAYER, lane=Lane.BULK,
        snapshot="late", state=JobState.INDEXING, now=datetime.now(UTC),
    )  # fmt: skip


async def test_an_import_that_began_before_the_removal_is_refused(place: Town) -> None:
    await place.removing.remove(REMOVE)
    error = await refused(place.ledger.begin(job_of(place, REPO), Origin(place.origin.url), 0))
    assert error.code is ErrorCode.UNAVAILABLE  # the client repeats it
    assert await place.ledger.repositories.all() == []
    assert await place.ledger.jobs.get(job_of(place, REPO).job) is None


async def test_an_import_that_begins_during_the_removal_creates_no_repository(
    place: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository is removed right before the import writes its record."""
    removed, modify = await place.repository(), place.ledger.repositories.modify
    await place.ledger.drop_repository(TENANT, REPO)

    async def modify_late(key, change):
        await place.ledger.names.remove(removed, datetime.now(UTC))
        return await modify(key, change)

    monkeypatch.setattr(place.ledger.repositories, "modify", modify_late)
    error = await refused(place.ledger.begin(job_of(place, REPO), Origin(place.origin.url), 0))
    assert error.code is ErrorCode.UNAVAILABLE
    assert await place.ledger.repositories.all() == []


async def test_a_repository_is_removed_once_of_many_requests_at_once(place: Town) -> None:
    removed = await asyncio.gather(*(place.removing.remove(REMOVE) for _ in range(8)), return_exceptions=True)
    errors = [one for one in removed if isinstance(one, Exception)]
    assert all(isinstance(one, PrismError) and one.code is ErrorCode.REPO_NOT_FOUND for one in errors)
    assert len(errors) < len(removed)
    assert [one.repo for one in await place.ledger.names.leftovers()] == [REPO]


@pytest.fixture
async def watched(nats_server, tmp_path) -> AsyncIterator[Town]:
    with writes_watched():
        async with town(nats_server, tmp_path) as made:
            yield made


@pytest.mark.parametrize("is_repeated", [True, False], ids=["repeated", "not repeated"])
async def test_crash_while_a_request_removes_a_repository(watched: Town, *, is_repeated: bool) -> None:
    place, writes = watched, []
    for write in range(1, WRITES_MAX):
        name = f"acme/app{write}"
        await indexed(place, name)
        place.index.may_index.clear()
        await begun(place, name)  # a job to cancel
        repo = await place.ledger.names.id_of(TENANT, name)
        request = RemoveRepositoryRequest(tenant=TENANT, repo=name)
        write_name = await ended_at(lambda request=request: place.removing.remove(request), write)
        if write_name and (is_repeated or write == 1):  # before its first write, the request had no effect
            await removed_by_now(place, request)
        place.index.may_index.set()
        job = await begun(place, name)  # at once, before anything is deleted
        await ended(place, TENANT, job)
        await until_finished(place)
        assert job.repo == next_repo_id(repo)
        assert place.base(job.repo) == place.tree("main"), write_name
        assert await traces(place, repo) == set(), write_name
        if not write_name:
            assert len(writes) >= len(("name", "repository", "cancelled job", "job"))
            return
        writes.append(write_name)


async def indexed(place: Town, name: str) -> str:
    """Indexes the town's git repository under another name; returns its id."""
    job = await begun(place, name)
    await ended(place, TENANT, job)
    return job.repo


async def begun(place: Town, name: str) -> Job:
    return (await place.clones.clone(CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=name))).job


@pytest.mark.parametrize("is_last", [False, True], ids=["first round", "last round"])
async def test_crash_while_the_data_is_deleted(watched: Town, *, is_last: bool) -> None:
    place, writes = watched, []
    for write in range(1, WRITES_MAX):
        name = f"acme/app{write}"
        repo = await indexed(place, name)
        await put_into_each_bucket(place, repo)
        await place.removing.remove(RemoveRepositoryRequest(tenant=TENANT, repo=name))
        now = datetime.now(UTC)
        if is_last:
            await place.removals.round(now)
            await put_into_each_bucket(place, repo)  # work that was running
        now += SETTLES if is_last else timedelta()
        write_name = await ended_at(lambda now=now: place.removals.round(now), write)
        await until_finished(place)
        assert await traces(place, repo) == set(), write_name
        assert await place.ledger.names.leftovers() == []
        if not write_name:
            assert len(writes) > len(RECORDS) + len(OBJECTS)
            return
        writes.append(write_name)


async def removed_by_now(place: Town, request: RemoveRepositoryRequest) -> None:
    """Repeats a request, whose first attempt may have removed the repository."""
    with contextlib.suppress(PrismError):
        await place.removing.remove(request)
    assert request.repo not in {one.name for one in await place.ledger.repositories.all()}


async def test_late_writes_are_deleted_again_soon(place: Town) -> None:
    """The first deletion may come before the last write of work that was running."""
    await place.removing.remove(REMOVE)
    now = datetime.now(UTC)
    await place.removals.round(now)
    await put_into_each_bucket(place, REPO)
    await place.removals.round(now + timedelta(seconds=30))
    assert await traces(place, REPO)
    await place.removals.round(now + timedelta(minutes=2))
    assert await traces(place, REPO) == set()
    assert await place.ledger.names.leftovers()
