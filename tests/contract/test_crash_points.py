"""A process dies right before a durable write, at each one in turn; redelivery of its message finishes the
work.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from layers_stack import NAME, REPO, TENANT, Town, town

from prism_contracts.base import BASE_LAYER, Lane, layer_id
from prism_contracts.events import CloneRequested, PushReceived, RepoIndexed
from prism_contracts.records import JobState
from prism_contracts.rpc.imports import CloneRequest, FileEdit
from prism_contracts.rpc.layers import DeleteLayerRequest, OpenOverlayRequest
from prism_ingest.adapters.ledger import Origin
from prism_ingest.core import is_final, new_job
from prism_source.snapshot import blob_hash

Handle = Callable[[], Awaitable[object]]


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    with writes_watched():
        async with town(nats_server, tmp_path, rebases_layers=False) as made:
            yield made


async def at_each_write(prepare: Callable[[int], Awaitable[tuple[Handle, Handle]]]) -> list[str]:
    """For each n: prepares, ends the handler before its n-th write, handles again and checks. Returns the
    names of the writes.
    """
    ended = []
    for write in range(1, WRITES_MAX):
        handle, check = await prepare(write)
        name = await ended_at(handle, write)
        if name:
            await handle()
        try:
            await check()
        except (AssertionError, TimeoutError) as error:
            raise AssertionError(f"it ended before write {write}: {name or 'none'}") from error
        if not name:
            return ended
        ended.append(name)
    raise AssertionError(f"more than {WRITES_MAX} writes")


async def import_base(place: Town, files: dict[str, str | None]) -> RepoIndexed:
    """Changes the base; returns the event that its import has ended."""
    commit = place.commit(files)
    await place.push("main", commit=commit)
    await place.serves_base(commit)
    while True:
        event = await place.ended_imports.get()
        if event.layer == BASE_LAYER and event.commit == commit:
            return event


async def until_served(place: Town, ref: str, commit: str) -> None:
    """Waits until a layer serves a commit and no job is active, then deletes the layer."""

    async def is_idle() -> bool:
        layer = await place.layer(ref)
        return layer is not None and not layer.active_job

    await place.serves(ref, commit)
    assert await place.shown(ref) == place.tree(ref)
    await place.until(is_idle)
    await until_all_ended(place)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref=ref))


async def until_all_ended(place: Town) -> None:
    """Waits until no job is running. Jobs that nothing ends are abandoned a day later."""

    async def have_ended() -> bool:
        await place.recovery.round(datetime.now(UTC) + timedelta(days=2))
        return all(is_final(job) for job in await place.ledger.jobs.all())

    await place.until(have_ended)


async def test_crash_while_a_layer_is_fetched_for_a_new_base(place: Town) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        ref = f"topic/{write}"
        commit = place.branch(ref, {"x.py": f"x = {write}\n"})
        place.index.fails.add("x.py")  # so that trees are not enough to rebase the layer
        await place.push(ref)
        await place.serves(ref, commit)
        place.index.fails.clear()
        event = await import_base(place, {"a.py": f"a = {write + 1}\n"})
        return (lambda: place.rebases.on_indexed(event)), (lambda: until_served(place, ref, commit))

    assert any(write.endswith("clone.requested") for write in await at_each_write(prepare))


async def test_crash_while_a_layer_is_rebased(place: Town) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        ref = f"topic/{write}"
        commit = place.branch(ref, {"x.py": f"x = {write}\n"})
        await place.push(ref)
        await place.serves(ref, commit)
        files = {name: f"{name} = {write + 1}\n" for name in ("a.py", "b.py", "c.py")}
        event = await import_base(place, {**files, f"d{write}.py": "1\n"})

        return (lambda: place.rebases.on_indexed(event)), (lambda: brought(place, event, ref, commit))

    assert any("file.changed" in write for write in await at_each_write(prepare))


async def brought(place: Town, event: RepoIndexed, ref: str, commit: str) -> None:
    """Handles the event once more when the job that fetches variants has ended."""

    async def is_there() -> bool:
        await place.rebases.on_indexed(event)
        layer, base = await place.layer(ref), (await place.repository()).served
        return bool(layer and base and layer.base_version == base.version)

    async def is_brought() -> bool:
        return all(is_final(job) for job in await place.ledger.jobs.all())

    await place.until(is_brought)
    await place.until(is_there)
    await until_served(place, ref, commit)


async def test_crash_during_a_push_to_a_new_branch(place: Town) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        ref = f"topic/{write}"
        commit = place.branch(ref, {"x.py": f"x = {write}\n"})
        event = PushReceived(
            tenant=TENANT, repo=REPO, branch=ref, default_branch="main", commit=commit, delivery=ref,
            received_at=datetime.now(UTC),
        )  # fmt: skip
        return (lambda: place.clones.on_push(event)), (lambda: until_served(place, ref, commit))

    assert len(await at_each_write(prepare)) >= 4


@pytest.mark.parametrize("has_changes", [True, False], ids=["some files", "no file"])
async def test_crash_while_a_branch_is_fetched(place: Town, *, has_changes: bool) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        ref = f"topic/{write}"
        first = place.branch(ref, {"x.py": "x = 0\n"})
        await place.push(ref)
        await place.serves(ref, first)
        files: dict[str, str | None] = {"x.py": f"x = {write}\n", "a.py": None} if has_changes else {}
        commit = place.branch(ref, files, start=ref)
        command = await begun(place, ref)
        return (lambda: place.clones.on_clone_requested(command)), (lambda: until_served(place, ref, commit))

    assert len(await at_each_write(prepare)) >= 4


@pytest.mark.parametrize("has_changes", [True, False], ids=["some files", "no file"])
async def test_crash_while_the_base_is_fetched(place: Town, *, has_changes: bool) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        commit = place.commit({"a.py": f"a = {write + 1}\n", f"new{write}.py": "1\n"} if has_changes else {})
        command = await begun(place, "")

        async def check() -> None:
            await place.serves_base(commit)
            await until_all_ended(place)
            found = await place.repository()
            assert not found.active_job
            while (await place.ended_imports.get()).commit != commit:
                pass
            assert place.base() == place.tree("main")

        return (lambda: place.clones.on_clone_requested(command)), check

    assert len(await at_each_write(prepare)) >= 4


async def begun(place: Town, ref: str) -> CloneRequested:
    """Begins a job that fetches a branch (empty: the base's); returns its unpublished command."""
    layer = layer_id(ref) if ref else BASE_LAYER
    job = new_job(
        key=place.ledger.job_key, tenant=TENANT, repo=REPO, repo_name=NAME, layer=layer, lane=Lane.LIVE, snapshot=str(datetime.now(UTC)),
        state=JobState.CLONING, now=datetime.now(UTC),
    ).model_copy(update={"ref": ref})  # fmt: skip
    await place.ledger.begin(job, Origin(place.origin.url), 0)
    return CloneRequested(
        tenant=TENANT, repo=REPO, layer=layer, job=job.job, url=place.origin.url, incremental=True
    )


async def test_crash_while_a_deleted_branch_is_removed(place: Town) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        ref = f"topic/{write}"
        commit = place.branch(ref, {"x.py": f"x = {write}\n"})
        await place.push(ref)
        await place.serves(ref, commit)
        place.origin.git("branch", "--delete", "--force", ref)
        command = await begun(place, ref)

        async def check() -> None:
            assert await place.layer(ref) is None
            await until_all_ended(place)

        return (lambda: place.clones.on_clone_requested(command)), check

    assert len(await at_each_write(prepare)) >= 3


async def test_crash_of_a_clone_that_is_not_repeated(place: Town) -> None:
    async def prepare(write: int) -> tuple[Handle, Handle]:
        commit = place.commit({"a.py": f"a = {write + 1}\n"})
        request = CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME)
        asked = 0

        async def handle() -> None:
            nonlocal asked
            asked += 1
            if asked == 1:
                await place.clones.clone(request)
            else:
                await place.recovery.start()

        async def check() -> None:
            found = await place.repository()
            if found.active_job or write > 2:  # nothing has begun before that write
                await place.serves_base(commit)
            assert not [job for job in await place.ledger.jobs.all() if job.version and not is_final(job)]

        return handle, check

    assert any(write.endswith("clone.requested") for write in await at_each_write(prepare))


async def test_crash_while_edits_of_an_overlay_are_repeated(place: Town) -> None:
    opened = await place.overlays.open(
        OpenOverlayRequest(tenant=TENANT, repo=NAME, files=(FileEdit(path="a.py", content=b"a = 0\n"),))
    )
    handle = opened.layer.ref

    async def prepare(write: int) -> tuple[Handle, Handle]:
        files = (FileEdit(path="a.py", content=b"a = %d\n" % write), FileEdit(path="b.py", content=None))
        request = OpenOverlayRequest(tenant=TENANT, repo=NAME, files=files, handle=handle)

        async def check() -> None:
            async def is_shown() -> bool:
                layer = await place.layer(handle)
                assert layer is not None
                if layer.active_job:
                    return False
                shown = await place.shown(handle)
                return "b.py" not in shown and shown["a.py"] == blob_hash(b"a = %d\n" % write)

            await place.until(is_shown)
            await until_all_ended(place)

        return (lambda: place.overlays.open(request)), check

    assert any("file.changed" in write for write in await at_each_write(prepare))
