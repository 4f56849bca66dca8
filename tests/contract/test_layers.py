"""Layers of branches and overlays of edits: what is seen at each is what a checkout would have, whatever moves."""

import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from layers_stack import NAME, REPO, SWEEP_PAUSE_S, TENANT, Town, town

from prism_contracts import topics
from prism_contracts.base import BASE_LAYER, Lane, file_id, layer_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FilesUploaded, Outcome, PushReceived
from prism_contracts.records import UPLOAD, JobState, Layer, LayerKind, Repository
from prism_contracts.rpc.imports import (
    CloneRequest,
    CommitFileRequest,
    CommitFilesRequest,
    FileEdit,
    JobRequest,
    OpenSnapshotRequest,
    SnapshotFile,
)
from prism_contracts.rpc.layers import (
    CloseOverlayRequest,
    CreateLayerRequest,
    DeleteLayerRequest,
    OpenOverlayRequest,
)
from prism_ingest.adapters.ledger import Origin
from prism_ingest.core import new_job
from prism_ingest.core.layers import ListName, layer_version
from prism_source.pack import encode_pack
from prism_source.snapshot import blob_hash

OVERLAYS_MAX, OVERLAY_BYTES_MAX = 2, 1_000


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(
        nats_server, tmp_path, overlays_max=OVERLAYS_MAX, overlay_bytes_max=OVERLAY_BYTES_MAX
    ) as made:
        yield made


def overlay(**more) -> OpenOverlayRequest:
    return OpenOverlayRequest(tenant=TENANT, repo=NAME, **more)


def edit(path: str, text: str | None) -> FileEdit:
    return FileEdit(path=path, content=None if text is None else text.encode())


async def refused(asking) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await asking
    assert caught.value.body.message
    return caught.value.code


# ── branches ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_push_to_a_branch_makes_a_layer_of_what_it_has_otherwise(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n", "new/g.py": "g = 1\n", "b.py": None})
    before = len(place.index.written)
    await place.push("topic")
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")
    assert sorted(place.index.written[before:]) == ["a.py", "new/g.py"]
    assert place.base() == place.tree("main")
    layer = await place.layer("topic")
    assert (layer.kind, layer.files_hidden, layer.size_bytes) == (LayerKind.BRANCH, 1, len("a = 2\ng = 1\n"))
    assert layer.head_commit == layer.served.commit


async def test_layers_with_the_same_content_share_it(place: Town) -> None:
    for name in ("one", "two"):
        commit = place.branch(name, {"a.py": "a = 2\n", f"{name}.py": "x = 1\n"})
        await place.push(name)
        await place.serves(name, commit)
    assert place.index.written.count("a.py") == 2  # of the base, and of both
    assert await place.shown("one") == place.tree("one")
    assert await place.shown("two") == place.tree("two")


async def test_when_the_base_moves_its_layers_stay_what_they_are_and_share_what_they_need_now(
    place: Town,
) -> None:
    commits = {name: place.branch(name, {f"{name}.py": "x = 1\n"}) for name in ("one", "two")}
    commits["late"] = place.branch("late", {"a.py": "a = 2\n", "b.py": None})
    for name, commit in commits.items():
        await place.push(name)
        await place.serves(name, commit)
    jobs = len(await place.ledger.jobs.all())
    new = place.commit({"a.py": "a = 2\n", "b.py": None, "c.py": "c = 2\n", "late.py": "x = 1\n"})
    await place.push("main")
    await place.serves_base(new)
    for name, commit in commits.items():
        await place.serves(name, commit)
        assert await place.shown(name) == place.tree(name)
    # Of the old contents each was indexed once for all, by one job beside that of the base.
    assert [place.index.written.count(path) for path in ("a.py", "b.py", "c.py")] == [4, 3, 3]
    assert len(await place.ledger.jobs.all()) == jobs + 2
    late = await place.layer("late")
    # What the base has as well by now is no difference any more; what it has changed is one.
    assert sorted((await place.variants.lists.get(late.files)).variants) == ["c.py"]
    assert late.size_bytes == len("c = 1\n")


async def test_what_a_move_of_the_base_brought_and_a_sweep_took_is_brought_again(place: Town) -> None:
    for name in ("one", "two"):
        commit = place.branch(name, {f"{name}.py": "x = 1\n"})
        await place.push(name)
        await place.serves(name, commit)
        await place.push("main", commit=(new := place.commit({"a.py": "a = 2\n"})))
        await place.serves_base(new)
        await place.serves(name, commit)
        assert await place.shown(name) == place.tree(name)
        await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref=name))
        for variant in [file for file, held in place.index.held.items() if held.layer != BASE_LAYER]:
            del place.index.held[variant]
        await place.push("main", commit=(back := place.commit({"a.py": "a = 1\n"})))
        await place.serves_base(back)


async def test_of_the_layers_over_a_base_that_moves_only_one_with_a_failed_file_is_fetched_again(
    place: Town,
) -> None:
    commits = {name: place.branch(name, {f"{name}.py": "x = 1\n"}) for name in ("sound", "failed")}
    place.index.fails.add("failed.py")
    for name, commit in commits.items():
        await place.push(name)
        await place.serves(name, commit)
    place.index.fails.clear()
    new = place.commit({"a.py": "a = 2\n"})
    await place.push("main")
    await place.serves_base(new)
    for name, commit in commits.items():
        await place.serves(name, commit)
        assert await place.shown(name) == place.tree(name)
    assert {held.status for held in place.index.held.values()} == {Outcome.INDEXED}
    layers = [job.layer for job in await place.ledger.jobs.all()]
    assert (layers.count(layer_id("sound")), layers.count(layer_id("failed"))) == (1, 2)


async def test_a_layer_that_was_left_behind_is_brought_along_though_its_fetch_has_failed(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    key = (await place.layer("topic")).key
    left = {"base_version": 0, "base_commit": ""}
    await place.ledger.layers.modify(key, lambda found: found.model_copy(update=left))
    away = place.origin.folder.rename(place.origin.folder.with_name("away"))
    await place.rebases.catch_up()

    async def has_failed() -> bool:
        return (
            any(job.state is JobState.FAILED for job in await place.ledger.jobs.all())
            and not (await place.layer("topic")).active_job
        )

    await place.until(has_failed)
    away.rename(place.origin.folder)
    for _ in range(2):  # one is left out
        await place.rebases.catch_up()
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_layer_is_worked_on_while_an_import_of_the_base_is_under_way(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    new = place.commit({"b.py": "b = 2\n"})
    place.index.may_index.clear()
    await place.push("main")

    async def is_busy() -> bool:
        return bool((await place.repository()).active_job)

    await place.until(is_busy)
    await place.push("topic")

    async def works() -> bool:
        layer = await place.layer("topic")
        return layer is not None and bool(layer.active_job)

    await place.until(works)
    assert (await place.repository()).active_job
    place.index.may_index.set()
    await place.serves_base(new)
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_forced_push_and_a_push_during_a_job(place: Town) -> None:
    place.branch("topic", {"a.py": "a = 2\n"})
    place.index.may_index.clear()
    await place.push("topic")

    async def works() -> bool:
        layer = await place.layer("topic")
        return layer is not None and bool(layer.active_job)

    await place.until(works)
    commit = place.branch("topic", {"b.py": "b = 3\n"})
    await place.push("topic", commit=commit)

    async def waits() -> bool:
        layer = await place.layer("topic")
        return layer is not None and layer.is_pushed

    await place.until(waits)
    place.index.may_index.set()
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")


async def test_what_a_job_writes_is_newer_than_all_that_came_while_it_was_fetched(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    open_, fetched_at = place.planner.open, []

    async def open_late(*arguments, **more):
        fetched_at.append(layer_version(0, datetime.now(UTC)))
        return await open_(*arguments, **more)

    place.planner.open = open_late
    await place.push("topic")
    await place.serves("topic", commit)
    layer = await place.layer("topic")
    written = place.index.held[
        file_id(TENANT, REPO, await place.variant("a.py", place.tree("topic")["a.py"]), "a.py")
    ]
    assert layer.served.version == written.version >= fetched_at[0]


async def test_a_branch_that_is_deleted_takes_its_layer_along(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    place.origin.git("update-ref", "-d", "refs/heads/topic")
    await place.push("topic", is_deleted=True)

    async def is_gone() -> bool:
        return await place.layer("topic") is None

    await place.until(is_gone)
    assert place.base() == place.tree("main")
    # It comes back with what it had.
    place.origin.git("update-ref", "refs/heads/topic", commit)
    before = len(place.index.written)
    await place.push("topic")
    await place.serves("topic", commit)
    assert place.index.written[before:] == []


async def test_a_deletion_that_is_heard_of_after_the_branch_was_pushed_again_takes_nothing_along(
    place: Town,
) -> None:
    old = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", old)
    new = place.branch("topic", {"a.py": "a = 3\n"})
    await place.push("topic", is_deleted=True)
    await place.serves("topic", new)


async def test_a_layer_that_is_deleted_while_it_is_worked_on_does_not_come_back(place: Town) -> None:
    place.branch("topic", {"a.py": "a = 2\n"})
    place.index.may_index.clear()
    made = await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))

    async def is_planned() -> bool:
        return (await place.ledger.jobs.get(made.job.job)).expected == 1

    await place.until(is_planned)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    place.index.may_index.set()
    assert (await place.ended(made.job)).state is JobState.ABANDONED
    assert await place.layer("topic") is None


async def test_a_pull_request_is_a_layer_until_it_is_closed(place: Town) -> None:
    commit = place.branch("fork", {"a.py": "a = 2\n"})
    place.origin.git("update-ref", "refs/pull/12/head", commit)
    said = {"pull_request": "pull/12", "ref": "refs/pull/12/head"}
    await place.push("", **said)
    await place.serves("pull/12", commit)
    assert await place.shown("pull/12") == place.tree(commit)
    assert (await place.layer("pull/12")).kind is LayerKind.PULL_REQUEST
    await place.push("", is_deleted=True, **said)

    async def is_gone() -> bool:
        return await place.layer("pull/12") is None

    await place.until(is_gone)


async def test_a_push_to_the_branch_that_is_followed_makes_no_layer(place: Town) -> None:
    new = place.commit({"a.py": "a = 5\n"})
    await place.push("main")
    await place.serves_base(new)
    await place.push("main", is_deleted=True)
    assert await place.ledger.layers.all() == []


@pytest.mark.parametrize("ref", ["topic", "v1", "commit", "pull/7"])
async def test_who_asks_gets_a_layer_of_any_ref(place: Town, ref: str) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    place.origin.git("tag", "--annotate", "--message", "one", "v1", "topic")
    place.origin.git("update-ref", "refs/pull/7/head", "topic")
    asked = commit if ref == "commit" else ref
    made = await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref=asked))
    assert (await place.ended(made.job)).state is JobState.COMPLETE
    await place.serves(asked, commit)
    assert await place.shown(asked) == place.tree(commit)


async def test_there_is_a_limit_of_layers(nats_server, tmp_path) -> None:
    async with town(nats_server, tmp_path, layers_max=1) as place:
        for name in ("one", "two"):
            place.branch(name, {"a.py": "a = 2\n"})
        commit = place.origin.git("rev-parse", "one")
        await place.push("one")
        await place.serves("one", commit)

        async def is_known() -> bool:
            return bool(place.overlays._layers.all())

        await place.until(is_known)
        making = place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="two"))
        assert await refused(making) is ErrorCode.RATE_LIMITED
        await place.clones.on_push(
            PushReceived(
                tenant=TENANT,
                repo=REPO,
                branch="two",
                default_branch="main",
                delivery="2",
                received_at=datetime.now(UTC),
            )
        )
        assert [layer.ref for layer in await place.ledger.layers.all()] == ["one"]
        # The one that is there can be renewed, and overlays have a limit of their own.
        await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="one"))
        await place.overlays.open(overlay())


async def test_a_ref_in_full_is_the_layer_of_its_short_name(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    making = CreateLayerRequest(tenant=TENANT, repo=NAME, ref="refs/heads/topic")
    await place.layers.create(making)
    await place.serves("topic", commit)
    opened = await place.overlays.open(overlay(base_ref="HEAD"))
    assert opened.layer.parent == BASE_LAYER
    for base in ("refs/heads/main", "HEAD"):
        assert (
            await refused(place.layers.create(making.model_copy(update={"ref": base})))
            is ErrorCode.INVALID_ARGUMENT
        )
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="refs/heads/topic"))
    assert [layer.kind for layer in await place.ledger.layers.all()] == [LayerKind.OVERLAY]


async def test_what_cannot_be_made_is_told_and_leaves_nothing(place: Town) -> None:
    def asking(ref: str, repo: str = NAME):
        return place.layers.create(CreateLayerRequest(tenant=TENANT, repo=repo, ref=ref))

    assert await refused(asking("nowhere")) is ErrorCode.REF_NOT_FOUND
    assert await refused(asking("pull/9")) is ErrorCode.REF_NOT_FOUND
    assert await refused(asking("main")) is ErrorCode.INVALID_ARGUMENT
    assert await refused(asking("topic", "acme/other")) is ErrorCode.REPO_NOT_FOUND
    assert await refused(asking("--upload-pack=x")) is ErrorCode.REF_NOT_FOUND
    gone = await asking("f" * 40)  # only a fetch can tell
    ended = await place.ended(gone.job)
    assert (ended.state, ended.error.code) == (JobState.FAILED, ErrorCode.REF_NOT_FOUND)

    async def is_gone() -> bool:
        return await place.ledger.layers.all() == []

    await place.until(is_gone)
    deleting = place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="nowhere"))
    assert await refused(deleting) is ErrorCode.REF_NOT_FOUND


async def test_a_round_of_polls_finds_branches_that_moved_or_went(place: Town) -> None:
    old = {name: place.branch(name, {f"{name}.py": "x = 1\n"}) for name in ("moved", "gone", "same")}
    for name, commit in old.items():
        await place.push(name)
        await place.serves(name, commit)
    commit = place.branch("moved", {"moved.py": "x = 2\n"})
    place.origin.git("branch", "--delete", "--force", "gone")
    same = await place.layer("same")
    await place.poller.round()
    await place.serves("moved", commit)

    async def is_gone() -> bool:
        return await place.layer("gone") is None

    await place.until(is_gone)
    assert (await place.layer("same")).served == same.served


# ── layers that are sent ────────────────────────────────────────────────────────────────────────────────────────


async def send(place: Town, branch: str, commit: str) -> None:
    """As `prism index PATH --ref BRANCH` does."""
    paths = sorted(place.tree(commit))
    contents = [place.origin.git("show", f"{commit}:{path}").encode() + b"\n" for path in paths]
    files = tuple(
        SnapshotFile(path=path, blob=blob_hash(data), size_bytes=len(data))
        for path, data in zip(paths, contents, strict=True)
    )
    request = OpenSnapshotRequest(
        tenant=TENANT, repo_name=NAME, layer_ref=branch, snapshot=f"{branch}{commit}", commit=commit, files=files,
    )  # fmt: skip
    opened = await place.snapshots.open_snapshot(request)
    if opened.needed:
        pack = encode_pack([(number, contents[number]) for number in opened.needed])
        event = FilesUploaded(
            tenant=TENANT, job=opened.job.job, pack=hashlib.sha256(pack).hexdigest(), data=pack
        )
        await place.bus.publish(event, lane=opened.job.lane)
    await place.ended(opened.job)


async def test_a_branch_is_sent_and_files_that_the_base_replaces_later_are_counted(place: Town) -> None:
    commit = place.branch("local", {"a.py": "a = 2\n", "b.py": None})
    before = len(place.index.written)
    await send(place, "local", commit)
    await place.serves("local", commit)
    assert place.index.written[before:] == ["a.py"]
    assert await place.shown("local") == place.tree("local")
    new = place.commit({"c.py": "c = 2\n", "a.py": "a = 3\n", "b.py": "b = 3\n", "z.py": "z = 1\n"})
    await place.push("main")
    await place.serves_base(new)
    await place.serves("local", commit)
    assert (await place.layer("local")).files_missing == 1
    # Of the file whose content nobody has sent the base's is told.
    assert await place.shown("local") == place.tree("local") | {"c.py": place.tree("main")["c.py"]}
    await send(place, "local", commit := place.branch("local", {"d.py": "d = 2\n"}, start="local"))
    await place.serves("local", commit)
    assert (await place.layer("local")).files_missing == 0
    assert await place.shown("local") == place.tree("local")


async def test_who_asks_again_for_a_clone_hears_of_the_job_under_way(place: Town) -> None:
    asked = CloneRequest(tenant=TENANT, url=place.origin.url, repo_name=NAME)
    place.index.may_index.clear()
    first = await place.clones.clone(asked)

    async def is_fetched() -> bool:
        job = await place.ledger.jobs.get(first.job.job)
        return job is not None and job.state is JobState.INDEXING

    await place.until(is_fetched)
    again = await place.clones.clone(asked)
    assert again.job.job == first.job.job
    moved = place.commit({"a.py": "a = 9\n"})
    elsewhere = place.clones.clone(asked.model_copy(update={"ref": "topic"}))
    assert await refused(elsewhere) is ErrorCode.SNAPSHOT_CONFLICT
    place.index.may_index.set()
    # What was pushed after the first one had fetched is brought too.
    await place.serves_base(moved)


async def test_a_clone_whose_command_was_lost_is_told_again_to_who_asks_again(place: Town) -> None:
    url = place.origin.url
    job = new_job(
        key=place.ledger.job_key, tenant=TENANT, repo_name=NAME, layer=BASE_LAYER, lane=Lane.BULK, snapshot="lost",
        state=JobState.CLONING, now=datetime.now(UTC),
    )  # fmt: skip
    await place.ledger.begin(job, Origin(url), idle_s=60)
    moved = place.commit({"a.py": "a = 9\n"})
    again = await place.clones.clone(CloneRequest(tenant=TENANT, url=url, repo_name=NAME))
    assert again.job.job == job.job
    await place.serves_base(moved)


async def test_a_branch_that_is_being_fetched_stays_one_that_is_fetched_when_it_is_sent_meanwhile(
    place: Town,
) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    place.index.may_index.clear()
    made = await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    assert await refused(send(place, "topic", commit)) is ErrorCode.SNAPSHOT_CONFLICT
    assert (await place.layer("topic")).source == "refs/heads/topic"
    place.index.may_index.set()
    await place.ended(made.job)
    assert await place.shown("topic") == place.tree("topic")
    await send(place, "topic", commit)
    assert (await place.layer("topic")).source == UPLOAD


async def test_a_sweep_keeps_nothing_of_what_clients_list(place: Town) -> None:
    commit = place.branch("local", {"a.py": "a = 2\n"})
    await send(place, "local", commit)
    await rounds(place, 10)
    (kept,) = place.sweeper._lists.values()
    assert (len(kept.variants), kept.listing) == (1, {})


async def test_an_upload_that_was_interrupted_keeps_its_layer_from_the_new_base_only_for_a_while(
    place: Town,
) -> None:
    commit = place.branch("local", {"a.py": "a = 2\n"})
    await send(place, "local", commit)
    await place.serves("local", commit)
    more = SnapshotFile(path="more.py", blob=blob_hash(b"more"), size_bytes=4)
    opened = await place.snapshots.open_snapshot(
        OpenSnapshotRequest(
            tenant=TENANT, repo_name=NAME, layer_ref="local", snapshot="s", commit="c", files=(more,)
        )
    )
    await place.push("main", commit=(new := place.commit({"z.py": "z = 1\n"})))
    await place.serves_base(new)
    await place.rebases.catch_up()
    assert (await place.layer("local")).active_job == opened.job.job
    hour = timedelta(hours=1)
    await place.ledger.jobs.modify(
        opened.job.job, lambda found: found.model_copy(update={"updated_at": found.updated_at - hour})
    )
    for _ in range(2):  # one is left out
        await place.rebases.catch_up()
    await place.serves("local", commit)
    assert await place.shown("local") == place.tree("local")
    assert (await place.ended(opened.job)).state is JobState.ABANDONED


async def test_a_branch_of_what_is_not_indexed_cannot_be_sent(place: Town) -> None:
    request = OpenSnapshotRequest(
        tenant=TENANT, repo_name="acme/other", layer_ref="topic", snapshot="s", commit="c", files=()
    )
    assert await refused(place.snapshots.open_snapshot(request)) is ErrorCode.REPO_NOT_FOUND


# ── overlays ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_overlay_is_laid_replaced_and_closed(place: Town) -> None:
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 9\n"), edit("b.py", None))))
    await place.ended(opened.job)
    handle = opened.layer.ref
    files = await place.variants.lists.get((await place.layer(handle)).files)
    assert (list(files.variants), files.hidden) == (["a.py"], ("b.py",))
    again = await place.overlays.open(overlay(handle=handle, files=(edit("c.py", "c = 9\n"),), ttl_s=60))
    await place.ended(again.job)
    layer = await place.layer(handle)
    files = await place.variants.lists.get(layer.files)
    assert (list(files.variants), files.hidden, again.layer.ref) == (["c.py"], (), handle)
    assert layer.expires_at < opened.layer.expires_at
    assert place.base() == place.tree("main")
    closing = CloseOverlayRequest(tenant=TENANT, repo=NAME, handle=handle)
    await place.overlays.close(closing)
    assert await place.layer(handle) is None
    assert await refused(place.overlays.close(closing)) is ErrorCode.REF_NOT_FOUND
    assert await refused(place.overlays.open(overlay(handle=handle))) is ErrorCode.REF_NOT_FOUND


async def test_edits_that_come_while_older_ones_wait_take_their_place(place: Town) -> None:
    place.index.may_index.clear()
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 8\n"),)))
    newer = await place.overlays.open(overlay(handle=opened.layer.ref, files=(edit("a.py", "a = 9\n"),)))
    place.index.may_index.set()
    assert (await place.ended(newer.job)).state is JobState.COMPLETE
    assert (await place.ended(opened.job)).state is JobState.ABANDONED
    assert (await place.shown(opened.layer.ref))["a.py"] == blob_hash(b"a = 9\n")


async def test_an_edit_on_its_way_is_told_until_it_is_seen(place: Town) -> None:
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 8\n"),)))
    await place.ended(opened.job)
    place.index.may_index.clear()
    newer = await place.overlays.open(overlay(handle=opened.layer.ref, files=(edit("a.py", "a = 9\n"),)))
    assert newer.layer.lag_s(datetime.now(UTC) + timedelta(seconds=1)) >= 1
    asked = JobRequest(tenant=TENANT, job=newer.job.job)
    # Its last file has settled, and nobody can see it yet.
    counted = {"state": JobState.COMPLETE, "finished_at": datetime.now(UTC)}
    await place.ledger.jobs.modify(newer.job.job, lambda job: job.model_copy(update=counted))
    assert (await place.jobs.job(asked)).job.state is JobState.INDEXING
    place.index.may_index.set()

    async def has_ended() -> bool:
        return (await place.jobs.job(asked)).job.state is JobState.COMPLETE

    await place.until(has_ended)
    assert (await place.shown(opened.layer.ref))["a.py"] == blob_hash(b"a = 9\n")
    layer = await place.layer(opened.layer.ref)
    assert layer.lag_s(datetime.now(UTC) + timedelta(seconds=1)) == 0


async def test_an_overlay_is_told_by_a_diff_and_lies_on_a_branch(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n a = 2\n+a = 9\n"
    opened = await place.overlays.open(overlay(base_ref="topic", base_commit=commit, diff=diff))
    await place.ended(opened.job)
    layer = await place.layer(opened.layer.ref)
    assert (layer.parent, layer.served.dirty) == (layer_id("topic"), True)
    assert (await place.shown(layer.ref))["a.py"] == blob_hash(b"a = 2\na = 9\n")


async def test_what_an_overlay_lies_on_changes_with_its_edits(place: Town) -> None:
    commit = place.branch("topic", {"b.py": "b = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    opened = await place.overlays.open(overlay(base_ref="topic", files=(edit("a.py", "a = 8\n"),)))
    await place.ended(opened.job)
    place.index.may_index.clear()
    newer = await place.overlays.open(overlay(handle=opened.layer.ref, files=(edit("a.py", "a = 9\n"),)))
    assert (await place.layer(opened.layer.ref)).parent == layer_id("topic")
    place.index.may_index.set()
    await place.ended(newer.job)
    assert (await place.layer(opened.layer.ref)).parent == BASE_LAYER


async def test_an_overlay_that_is_closed_while_new_edits_come_stays_closed(place: Town) -> None:
    opened = await place.overlays.open(overlay())
    await place.ended(opened.job)
    find = place.overlays._layers.find

    async def find_before_it_is_closed(repository: Repository, layer: str) -> Layer | None:
        found = await find(repository, layer)
        await place.ledger.layers.delete(opened.layer.key)
        return found

    place.overlays._layers.find = find_before_it_is_closed
    assert await refused(place.overlays.open(overlay(handle=opened.layer.ref))) is ErrorCode.REF_NOT_FOUND
    assert await place.layer(opened.layer.ref) is None


async def test_overlays_that_are_refused_leave_nothing(place: Town) -> None:
    commit = place.branch("topic", {"b.py": "b = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    wrong = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 7\n+a = 9\n"
    for request, code in (
        (overlay(diff=wrong), ErrorCode.DIFF_NOT_APPLICABLE),
        (overlay(diff="nothing"), ErrorCode.INVALID_ARGUMENT),
        (overlay(base_ref="nowhere"), ErrorCode.REF_NOT_FOUND),
        (overlay(base_commit="f" * 40), ErrorCode.BASE_MISMATCH),
        (overlay(base_ref="topic", base_commit="f" * 40), ErrorCode.BASE_MISMATCH),
        (overlay(files=(edit("../a.py", "x"),)), ErrorCode.INVALID_PATH),
        (overlay(files=(edit("/etc/passwd", "x"),)), ErrorCode.INVALID_PATH),
        (overlay(files=(edit("a\0.py", "x"),)), ErrorCode.INVALID_PATH),
        (overlay(files=(edit(".git/config", "x"),)), ErrorCode.INVALID_PATH),
        (overlay(files=(edit("a.py", "x"), edit("a.py", "y"))), ErrorCode.INVALID_ARGUMENT),
        (overlay(files=(edit("a.py", "x" * (OVERLAY_BYTES_MAX + 1)),)), ErrorCode.PAYLOAD_TOO_LARGE),
    ):
        assert await refused(place.overlays.open(request)) is code
    assert len(await place.ledger.layers.all()) == 1
    await place.overlays.open(overlay(files=(edit("a.py", "x" * OVERLAY_BYTES_MAX),)))


async def test_there_is_a_limit_of_overlays(place: Town) -> None:
    first, *_ = [await place.overlays.open(overlay()) for _ in range(OVERLAYS_MAX)]

    async def are_known() -> bool:
        return len(place.overlays._layers.all()) == OVERLAYS_MAX

    await place.until(are_known)
    assert await refused(place.overlays.open(overlay())) is ErrorCode.RATE_LIMITED
    await place.overlays.open(overlay(handle=first.layer.ref))


async def test_on_an_overlay_lies_no_other(place: Town) -> None:
    opened = await place.overlays.open(overlay())
    await place.ended(opened.job)

    async def is_known() -> bool:
        return any(layer.served for layer in place.overlays._layers.all())

    await place.until(is_known)
    asking = place.overlays.open(overlay(base_ref=opened.layer.ref))
    assert await refused(asking) is ErrorCode.INVALID_ARGUMENT


# ── the sweep ───────────────────────────────────────────────────────────────────────────────────────────────────


async def rounds(place: Town, *minutes: float) -> None:
    """Rounds of the sweep, so many minutes from now."""
    for after in minutes:
        await place.sweeper.round(datetime.now(UTC) + timedelta(minutes=after))


async def age(place: Town, minutes: float) -> None:
    """As if all lists of files that there are, and all files of layers, had come so many minutes earlier."""
    earlier_ms = int(minutes * 60_000)
    for name in await place.variants.lists.names():
        read = ListName.read(name)
        files = await place.variants.lists.get(name)
        await place.variants.lists.put(str(read._replace(version=read.version - earlier_ms)), files)
        await place.variants.lists.drop(name)
    for file, held in place.index.held.items():
        if held.layer != BASE_LAYER:
            place.index.held[file] = held._replace(version=held.version - earlier_ms)


async def test_what_no_layer_has_is_dropped_in_the_second_round(place: Town) -> None:
    for name in ("one", "two"):
        commit = place.branch(name, {"a.py": "a = 2\n", "b.py": f"b = '{name}'\n"})
        await place.push(name)
        await place.serves(name, commit)
    kept = {await place.variant(path, place.tree("two")[path]) for path in ("a.py", "b.py")}
    gone = await place.variant("b.py", place.tree("one")["b.py"])
    await rounds(place, 10, 20)
    assert await place.variants_held() == kept | {gone}
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="one"))
    await rounds(place, 30, 30 + SWEEP_PAUSE_S / 60 - 1)
    assert await place.variants_held() == kept | {gone}
    await rounds(place, 30 + SWEEP_PAUSE_S / 60)

    async def is_dropped() -> bool:
        return await place.variants_held() == kept

    await place.until(is_dropped)
    assert await place.shown("two") == place.tree("two")
    assert len(await place.variants.lists.names()) == 1


async def test_what_a_forgotten_layer_brings_late_is_dropped_too(place: Town) -> None:
    place.index.may_index.clear()
    place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")

    async def is_published() -> bool:
        stream = topics.FILE_CHANGED.stream.name
        return bool((await place.bus.js.stream_info(stream)).state.messages)

    async def is_swept() -> bool:
        return not await place.variants.lists.names()

    async def is_written() -> bool:
        return bool(await place.variants_held()) and bool(await place.variants.lists.names())

    async def is_dropped() -> bool:
        return not await place.variants_held()

    await place.until(is_published)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await rounds(place, 10, 20)
    await place.until(is_swept)
    place.index.may_index.set()
    await place.until(is_written)
    await rounds(place, 40, 50)
    await place.until(is_dropped)
    await place.until(is_swept)


async def test_a_list_that_was_replaced_goes_without_what_the_new_one_has(place: Town) -> None:
    for text in ("1", "2"):
        commit = place.branch("topic", {"x.py": f"x = {text}\n", "y.py": "y = 1\n"})
        await place.push("topic")
        await place.serves("topic", commit)
    await rounds(place, 10, 20)

    async def is_dropped() -> bool:
        return len(await place.variants_held()) == 2

    await place.until(is_dropped)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_plan_that_comes_after_the_lists_were_looked_at_makes_anew_what_will_go(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await age(place, 30)
    before = len(place.index.written)
    drop = place.variants.drop

    async def drop_late(*arguments) -> None:
        # The variant is as good as gone and still in the store: a branch with it is pushed, and then it is dropped.
        await place.push("topic")
        await place.serves("topic", commit)
        assert place.index.written[before:] == ["a.py"]
        await drop(*arguments)

    place.variants.drop = drop_late
    # Some minutes ago: what the branch brings now is newer than what these rounds may drop.
    await rounds(place, -2 * SWEEP_PAUSE_S / 60, 0)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_plan_that_claims_before_the_lists_are_looked_at_keeps_what_it_counts_on(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await rounds(place, 10)
    before = len(place.index.written)
    condemn = place.variants.condemn

    async def condemn_late(*arguments) -> None:
        # Between the look that found the variant unneeded and its condemnation a branch with it is pushed.
        await place.push("topic")
        await place.serves("topic", commit)
        await condemn(*arguments)

    place.variants.condemn = condemn_late
    await rounds(place, 20)
    assert place.index.written[before:] == []
    assert await place.shown("topic") == place.tree("topic")


async def test_layers_go_when_their_time_is_over(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 9\n"),), ttl_s=60))
    await place.ended(opened.job)
    await rounds(place, 2)
    assert [layer.ref for layer in await place.ledger.layers.all()] == ["topic"]
    await rounds(place, 31 * 24 * 60)
    assert await place.ledger.layers.all() == []


async def test_a_layer_that_is_renewed_while_a_sweep_looks_stays(place: Town) -> None:
    opened = await place.overlays.open(overlay(ttl_s=60))
    await place.ended(opened.job)
    later = datetime.now(UTC) + timedelta(minutes=2)
    key, all_ = opened.layer.key, place.ledger.layers.all

    async def all_before_it_is_renewed() -> list[Layer]:
        found = await all_()
        renewed = {"expires_at": later + timedelta(minutes=1)}
        await place.ledger.layers.modify(key, lambda layer: layer.model_copy(update=renewed))
        return found

    place.ledger.layers.all = all_before_it_is_renewed
    await place.sweeper.round(later)
    assert await place.layer(opened.layer.ref) is not None


# ── files of commits ────────────────────────────────────────────────────────────────────────────────────────────


async def test_files_of_any_commit_that_was_fetched_are_read(place: Town) -> None:
    old = place.origin.git("rev-parse", "main")
    secret = "ghp_" + hashlib.sha256(b"nothing").hexdigest()[:36]
    new = place.commit({"a.py": f"token = '{secret}'\n", "b.bin": "\0\0"})
    await place.push("main")
    await place.serves_base(new)

    def reading(path: str, commit: str = old):
        return place.commits.file(CommitFileRequest(tenant=TENANT, repo=NAME, commit=commit, path=path))

    assert (await reading("a.py")).text == "a = 1\n"
    shown = await reading("a.py", "main")
    assert shown.commit == new
    assert secret not in shown.text
    listed = await place.commits.files(CommitFilesRequest(tenant=TENANT, repo=NAME, commit=old[:10]))
    assert [file.path for file in listed.files] == [f"{name}.py" for name in "abcdef"]
    assert listed.commit == old
    assert await refused(reading("a.py", "f" * 40)) is ErrorCode.REF_NOT_FOUND
    assert await refused(reading("a.py", "--help")) is ErrorCode.REF_NOT_FOUND
    assert await refused(reading("z.py")) is ErrorCode.FILE_NOT_FOUND
    assert await refused(reading("b.bin", new)) is ErrorCode.FILE_SKIPPED
    for path in ("../a.py", "/a.py", "a\0.py", ""):
        assert await refused(reading(path)) is ErrorCode.INVALID_PATH


async def test_files_that_the_store_lost_are_imported_again(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    seen = await place.shown("topic")
    layer = await place.layer("topic")
    assert layer is not None
    place.index.held.clear()
    place.index.lost = {BASE_LAYER, layer.layer}

    async def is_restored() -> bool:
        held = {one.layer for one in place.index.held.values()}
        return {BASE_LAYER, *(await place.variants_at("topic")).values()} <= held

    await place.poller.round()
    await place.until(is_restored)
    assert await place.shown("topic") == seen


async def test_a_repository_that_stays_lost_is_imported_less_and_less_often(place: Town) -> None:
    place.index.lost = {BASE_LAYER}
    jobs = []
    for _ in range(6):
        await place.poller.round()

        async def is_quiet() -> bool:
            return not (await place.repository()).active_job

        await place.until(is_quiet)
        jobs.append((await place.repository()).next_version)
    assert [later - earlier for earlier, later in pairwise(jobs)] == [0, 1, 0, 0, 0]


async def test_the_base_knows_how_many_files_it_has(place: Town) -> None:
    def files(repository: Repository) -> int:
        assert repository.served is not None
        return repository.served.files

    assert files(await place.repository()) == len(place.base())
    commit = place.commit({"a.py": "a = 3\n", "b.py": None, "new/x.py": "x = 1\n", "new/y.py": "y = 1\n"})
    await place.push("main")
    await place.serves_base(commit)
    assert files(await place.repository()) == len(place.base()) == 7
