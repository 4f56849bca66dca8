"""Which files imports changed, over the real ingest and a real NATS server."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from layers_stack import NAME, REPO, TENANT, Town, town

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UNCOMMITTED, Job, JobState
from prism_contracts.rpc.changes import ChangesRequest, FileChange, IndexChange
from prism_contracts.rpc.imports import EditRequest, FileEdit
from prism_contracts.rpc.layers import CreateLayerRequest
from prism_contracts.rpc.repositories import ReindexRequest, RemoveRepositoryRequest
from prism_ingest.adapters.change_log import ChangeLog
from prism_ingest.operations.removals import SETTLES

FILES: dict[str, str | None] = {
    "src/app.py": "app = 1\n",
    "src/old.py": "old = 1\n",
    "docs/guide.md": "# Guide\n",
}
PUSHED: dict[str, str | None] = {"src/app.py": "app = 2\n", "src/old.py": None, "src/new.py": "new = 1\n"}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        # The import of its six files has ended, and what it changed may not be kept yet.
        await kept(made, made.origin.git("rev-parse", "HEAD").strip())
        yield made


async def kept(place: Town, commit: str) -> None:
    """Waits until the changes of an import are kept."""
    wanted = ChangesRequest(tenant=TENANT, repo=NAME)
    async with asyncio.timeout(120):
        while commit not in {one.commit for one in (await place.repositories.changes(wanted)).changes}:
            await asyncio.sleep(0.02)


async def imported(place: Town, files: dict[str, str | None]) -> str:
    """Commits and imports files, and waits until their changes are kept; returns the commit."""
    commit = place.commit(files)
    await reindex(place)
    await place.serves_base(commit)
    await kept(place, commit)
    return commit


async def reindex(place: Town, **fields: object) -> None:
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME, **fields))).job
    assert (await place.ended(job)).state is JobState.COMPLETE


async def edit(place: Town, path: str, content: bytes | None, *, is_new: bool = True) -> Job:
    """Edits a file, and waits until the change is kept. `is_new`: the content differs from what is indexed."""
    files = (FileEdit(path=path, content=content),)
    edited = await place.edits.edit(EditRequest(tenant=TENANT, repo_name=NAME, files=files))
    job = await place.ended(edited.job)
    wanted = ChangesRequest(tenant=TENANT, repo=NAME)
    async with asyncio.timeout(120):
        while is_new and job.job not in {
            one.job for one in (await place.repositories.changes(wanted)).changes
        }:
            await asyncio.sleep(0.02)
    return job


async def changes(place: Town, **fields: object) -> list[FileChange]:
    """Returns all changes that are wanted, and compares them with those of pages of one."""
    request = ChangesRequest(tenant=TENANT, repo=NAME, **fields)
    whole = list((await place.repositories.changes(request)).changes)
    found, cursor = [], ""
    while True:
        page = await place.repositories.changes(request.model_copy(update={"limit": 1, "cursor": cursor}))
        assert page.repo == NAME
        found += page.changes
        cursor = page.next_cursor
        if not cursor:
            break
    assert found == whole
    return whole


def shown(found: list[FileChange]) -> list[tuple[str, str, str]]:
    return [(one.path, one.change, one.commit) for one in found]


async def test_each_import_says_which_files_it_changed(place: Town) -> None:
    first = await imported(place, FILES)
    assert shown(await changes(place))[:3] == [(path, "added", first) for path in sorted(FILES)]
    before = len(await changes(place))
    second = await imported(place, PUSHED)
    pushed = [
        ("src/app.py", "changed", second),
        ("src/new.py", "added", second),
        ("src/old.py", "removed", second),
    ]
    assert shown(await changes(place))[:3] == pushed
    edited = await edit(place, "src/app.py", b"app = 3\n")
    await edit(place, "src/app.py", b"app = 3\n", is_new=False)
    await edit(place, "src/made.py", b"made = 1\n")
    await edit(place, "src/new.py", None)
    newest = [
        ("src/new.py", "removed", UNCOMMITTED),
        ("src/made.py", "added", UNCOMMITTED),
        ("src/app.py", "changed", UNCOMMITTED),
    ]
    assert shown(await changes(place))[:6] == [*newest, *pushed]
    of_file = [
        ("src/app.py", "changed", UNCOMMITTED),
        ("src/app.py", "changed", second),
        ("src/app.py", "added", first),
    ]
    found = await changes(place, path="src/app.py")
    assert shown(found) == of_file
    assert (found[0].job, found[0].version, found[0].at) == (edited.job, edited.version, edited.finished_at)
    assert shown(await changes(place, path="docs/")) == [("docs/guide.md", "added", first)]
    assert await changes(place, path="src/ap") == []
    assert len(await changes(place)) == before + 6
    assert len(await changes(place, since=found[1].at)) == 6
    assert await changes(place, since=datetime.now(UTC) + timedelta(hours=1)) == []


async def test_files_that_are_indexed_again_have_not_changed(place: Town) -> None:
    await imported(place, FILES)
    before = await changes(place)
    await reindex(place, force=True)
    assert await changes(place) == before


async def test_a_branch_beside_the_followed_one_has_no_changes(place: Town) -> None:
    await imported(place, FILES)
    before = await changes(place)
    commit = place.branch("topic", {"src/app.py": "app = 9\n"})
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await place.serves("topic", commit)
    assert await changes(place) == before


async def test_nobody_else_reads_them_and_a_removed_repository_has_none(place: Town) -> None:
    await imported(place, FILES)
    for caller in ({"tenant": "other"}, {"tenant": TENANT, "visible": frozenset({"acme/other"})}):
        with pytest.raises(PrismError) as refused:
            await place.repositories.changes(ChangesRequest(**caller, repo=NAME))
        assert refused.value.code is ErrorCode.REPO_NOT_FOUND
    with pytest.raises(PrismError) as refused:
        await place.repositories.changes(ChangesRequest(tenant=TENANT, repo=NAME, cursor="x"))
    assert refused.value.code is ErrorCode.INVALID_CURSOR
    subject = names.accounting_subject(names.CHANGES, TENANT, REPO)
    assert await stored(place, subject) > 0
    await place.removing.remove(RemoveRepositoryRequest(tenant=TENANT, repo=NAME))
    for now in (datetime.now(UTC), datetime.now(UTC) + SETTLES):
        await place.removals.round(now)
    assert await stored(place, subject) == 0


async def stored(place: Town, subject: str) -> int:
    info = await place.bus.js.stream_info(names.CHANGES, subjects_filter=subject)
    return sum((info.state.subjects or {}).values())


async def test_a_repository_keeps_the_newest_entries_and_each_once(place: Town, monkeypatch) -> None:
    monkeypatch.setattr(names, "CHANGES_ENTRIES_MAX", 3)
    log = await ChangeLog.open(place.bus, replicas=1)
    for job in ("quiet", "a", "b", "b", "c", "d"):
        entry = IndexChange(version=1, job=job, commit="c", at=NOW, added=(f"{job}.py",), total=1)
        await log.append(TENANT, "quiet" if job == "quiet" else "busy", [entry])
    for repo, paths in (("busy", ["d.py", "c.py", "b.py"]), ("quiet", ["quiet.py"])):
        found, following = await log.page(ChangesRequest(tenant=TENANT, repo=repo), repo, (0, 0))
        assert ([one.path for one in found], following) == (paths, None)


async def test_an_edit_without_files_names_a_commit_and_changes_none(place: Town) -> None:
    await imported(place, FILES)
    await edit(place, "src/app.py", b"app = 3\n")
    before = await changes(place)
    commit = "c" * 40
    request = EditRequest(tenant=TENANT, repo_name=NAME, commit=commit)
    for _ in range(2):  # as a caller does that has not received the first answer
        job = (await place.edits.edit(request)).job
        assert (job.state, job.expected) == (JobState.COMPLETE, 0)
    served = (await place.ledger.repository(TENANT, REPO)).served
    assert (served.commit, served.dirty) == (commit, False)
    assert await changes(place) == before
