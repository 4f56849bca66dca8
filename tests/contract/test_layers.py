"""Layers of branches and overlays of edits: each shows what a checkout would have, whatever moves."""

import hashlib
import logging
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
from prism_ingest.core.layers import REBASE, ListName, layer_version
from prism_runtime.telemetry import FIELDS
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


async def test_a_pushed_branch_becomes_a_layer_of_its_differences(place: Town) -> None:
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
    assert place.index.written.count("a.py") == 2  # one for the base, one for both layers
    assert await place.shown("one") == place.tree("one")
    assert await place.shown("two") == place.tree("two")


async def test_layers_keep_their_contents_when_the_base_moves(
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
    # Each old content was indexed once for all layers, by one job next to that of the base.
    assert [place.index.written.count(path) for path in ("a.py", "b.py", "c.py")] == [4, 3, 3]
    assert len(await place.ledger.jobs.all()) == jobs + 2
    late = await place.layer("late")
    # Files that equal the new base are no differences any more; files that the base changed are.
    assert sorted((await place.variants.lists.get(late.files)).variants) == ["c.py"]
    assert late.size_bytes == len("c = 1\n")


async def test_variants_dropped_by_a_sweep_are_indexed_again(place: Town) -> None:
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


async def test_only_a_layer_with_a_failed_file_is_fetched_again(
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


async def test_an_import_of_old_contents_for_layers_logs_its_begin_and_end_once(
    place: Town, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    commit = place.branch("topic", {"x.py": "x = 1\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    new = place.commit({"a.py": "a = 2\n", "b.py": "b = 2\n"})
    await place.push("main")
    await place.serves_base(new)

    def lines() -> list[tuple[str, str]]:
        known = [(record.getMessage(), getattr(record, FIELDS, {})) for record in caplog.records]
        return [
            (event, fields.get("state", fields.get("to_do")))
            for event, fields in known
            if fields.get("layer") == REBASE
        ]

    async def have_ended() -> bool:
        return len(lines()) > 1

    await place.until(have_ended)
    assert lines() == [("import began", 2), ("import ended", "complete")]


async def test_a_lagging_layer_is_rebased_despite_a_failed_fetch(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    key = (await place.layer("topic")).key
    left = {"base_version": 0, "base_commit": ""}
    await place.ledger.layers.modify(key, lambda found: found.model_copy(update=left))
    away = place.origin.folder.rename(place.origin.folder.with_name("away"))
    await place.rebaser.catch_up()

    async def has_failed() -> bool:
        return (
            any(job.state is JobState.FAILED for job in await place.ledger.jobs.all())
            and not (await place.layer("topic")).active_job
        )

    await place.until(has_failed)
    away.rename(place.origin.folder)
    for _ in range(2):  # one is left out
        await place.rebaser.catch_up()
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_layer_is_indexed_during_an_import_of_the_base(place: Town) -> None:
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


async def test_forced_pushes_and_pushes_during_a_job_are_served(place: Town) -> None:
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


async def test_files_of_a_job_are_newer_than_those_during_its_fetch(place: Town) -> None:
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


async def test_a_deleted_branch_deletes_its_layer(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    place.origin.git("update-ref", "-d", "refs/heads/topic")
    await place.push("topic", is_deleted=True)

    async def is_gone() -> bool:
        return await place.layer("topic") is None

    await place.until(is_gone)
    assert place.base() == place.tree("main")
    # It comes back with its content.
    place.origin.git("update-ref", "refs/heads/topic", commit)
    before = len(place.index.written)
    await place.push("topic")
    await place.serves("topic", commit)
    assert place.index.written[before:] == []


async def test_a_late_deletion_spares_a_branch_pushed_again(
    place: Town,
) -> None:
    old = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", old)
    new = place.branch("topic", {"a.py": "a = 3\n"})
    await place.push("topic", is_deleted=True)
    await place.serves("topic", new)


async def test_a_layer_deleted_during_its_job_does_not_come_back(place: Town) -> None:
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


async def test_a_pull_request_is_a_layer_until_it_closes(place: Town) -> None:
    commit = place.branch("fork", {"a.py": "a = 2\n"})
    place.origin.git("update-ref", "refs/pull/12/head", commit)
    payload = {"pull_request": "pull/12", "ref": "refs/pull/12/head"}
    await place.push("", **payload)
    await place.serves("pull/12", commit)
    assert await place.shown("pull/12") == place.tree(commit)
    assert (await place.layer("pull/12")).kind is LayerKind.PULL_REQUEST
    await place.push("", is_deleted=True, **payload)

    async def is_gone() -> bool:
        return await place.layer("pull/12") is None

    await place.until(is_gone)


async def test_a_push_to_the_followed_branch_makes_no_layer(place: Town) -> None:
    new = place.commit({"a.py": "a = 5\n"})
    await place.push("main")
    await place.serves_base(new)
    await place.push("main", is_deleted=True)
    assert await place.ledger.layers.all() == []


@pytest.mark.parametrize("ref", ["topic", "v1", "commit", "pull/7"])
async def test_any_ref_can_be_indexed_as_a_layer(place: Town, ref: str) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    place.origin.git("tag", "--annotate", "--message", "one", "v1", "topic")
    place.origin.git("update-ref", "refs/pull/7/head", "topic")
    asked = commit if ref == "commit" else ref
    made = await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref=asked))
    assert (await place.ended(made.job)).state is JobState.COMPLETE
    await place.serves(asked, commit)
    assert await place.shown(asked) == place.tree(commit)


async def test_the_number_of_layers_is_limited(nats_server, tmp_path) -> None:
    async with town(nats_server, tmp_path, layers_max=1) as place:
        for name in ("one", "two"):
            place.branch(name, {"a.py": "a = 2\n"})
        commit = place.origin.git("rev-parse", "one")
        await place.push("one")
        await place.serves("one", commit)

        async def is_known() -> bool:
            return bool(place.registry.all())

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
        # Existing ones can be renewed, and overlays have a limit of their own.
        await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="one"))
        await place.overlays.open(overlay())


async def test_full_and_short_ref_names_are_one_layer(place: Town) -> None:
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


async def test_refused_layers_leave_nothing(place: Town) -> None:
    def asking(ref: str, repo: str = NAME):
        return place.layers.create(CreateLayerRequest(tenant=TENANT, repo=repo, ref=ref))

    assert await refused(asking("nowhere")) is ErrorCode.REF_NOT_FOUND
    assert await refused(asking("pull/9")) is ErrorCode.REF_NOT_FOUND
    assert await refused(asking("main")) is ErrorCode.INVALID_ARGUMENT
    assert await refused(asking("topic", "acme/other")) is ErrorCode.REPO_NOT_FOUND
    assert await refused(asking("--upload-pack=x")) is ErrorCode.REF_NOT_FOUND
    gone = await asking("f" * 40)  # only a fetch can find that out
    ended = await place.ended(gone.job)
    assert (ended.state, ended.error.code) == (JobState.FAILED, ErrorCode.REF_NOT_FOUND)

    async def is_gone() -> bool:
        return await place.ledger.layers.all() == []

    await place.until(is_gone)
    deleting = place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="nowhere"))
    assert await refused(deleting) is ErrorCode.REF_NOT_FOUND


async def test_a_poll_finds_moved_and_deleted_branches(place: Town) -> None:
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
    """Sends a branch as `prism index PATH --ref BRANCH` does."""
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


async def test_a_sent_branch_counts_files_replaced_by_the_base(place: Town) -> None:
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
    # The file whose content was never sent is answered from the base.
    assert await place.shown("local") == place.tree("local") | {"c.py": place.tree("main")["c.py"]}
    await send(place, "local", commit := place.branch("local", {"d.py": "d = 2\n"}, start="local"))
    await place.serves("local", commit)
    assert (await place.layer("local")).files_missing == 0
    assert await place.shown("local") == place.tree("local")


async def test_a_repeated_clone_returns_the_running_job(place: Town) -> None:
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
    # A push after the first fetch is imported too.
    await place.serves_base(moved)


async def test_a_repeated_clone_publishes_a_lost_command_again(place: Town) -> None:
    url = place.origin.url
    job = new_job(
        key=place.ledger.job_key, tenant=TENANT, repo=REPO, repo_name=NAME, layer=BASE_LAYER, lane=Lane.BULK, snapshot="lost",
        state=JobState.CLONING, now=datetime.now(UTC),
    )  # fmt: skip
    await place.ledger.begin(job, Origin(url), idle_s=60)
    moved = place.commit({"a.py": "a = 9\n"})
    again = await place.clones.clone(CloneRequest(tenant=TENANT, url=url, repo_name=NAME))
    assert again.job.job == job.job
    await place.serves_base(moved)


async def test_an_upload_does_not_change_a_branch_being_fetched(
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


async def test_a_sweep_keeps_no_files_listed_by_clients(place: Town) -> None:
    commit = place.branch("local", {"a.py": "a = 2\n"})
    await send(place, "local", commit)
    await rounds(place, 10)
    (kept,) = place.sweeper._lists.values()
    assert (len(kept.variants), kept.listing) == (1, {})


async def test_an_interrupted_upload_delays_its_rebase_for_a_while(
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
    await place.rebaser.catch_up()
    assert (await place.layer("local")).active_job == opened.job.job
    hour = timedelta(hours=1)
    await place.ledger.jobs.modify(
        opened.job.job, lambda found: found.model_copy(update={"updated_at": found.updated_at - hour})
    )
    for _ in range(2):  # one is left out
        await place.rebaser.catch_up()
    await place.serves("local", commit)
    assert await place.shown("local") == place.tree("local")
    assert (await place.ended(opened.job)).state is JobState.ABANDONED


async def test_a_branch_of_an_unindexed_repository_is_refused(place: Town) -> None:
    request = OpenSnapshotRequest(
        tenant=TENANT, repo_name="acme/other", layer_ref="topic", snapshot="s", commit="c", files=()
    )
    assert await refused(place.snapshots.open_snapshot(request)) is ErrorCode.REPO_NOT_FOUND


# ── overlays ────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_overlay_is_opened_replaced_and_closed(place: Town) -> None:
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


async def test_new_edits_replace_waiting_ones(place: Town) -> None:
    place.index.may_index.clear()
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 8\n"),)))
    newer = await place.overlays.open(overlay(handle=opened.layer.ref, files=(edit("a.py", "a = 9\n"),)))
    place.index.may_index.set()
    assert (await place.ended(newer.job)).state is JobState.COMPLETE
    assert (await place.ended(opened.job)).state is JobState.ABANDONED
    assert (await place.shown(opened.layer.ref))["a.py"] == blob_hash(b"a = 9\n")


async def test_a_pending_edit_is_reported_until_it_is_visible(place: Town) -> None:
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 8\n"),)))
    await place.ended(opened.job)
    place.index.may_index.clear()
    newer = await place.overlays.open(overlay(handle=opened.layer.ref, files=(edit("a.py", "a = 9\n"),)))
    assert newer.layer.lag_s(datetime.now(UTC) + timedelta(seconds=1)) >= 1
    asked = JobRequest(tenant=TENANT, job=newer.job.job)
    # Its last file has settled, but it is not visible yet.
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


async def test_an_overlay_is_opened_by_a_diff_on_a_branch(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n a = 2\n+a = 9\n"
    opened = await place.overlays.open(overlay(base_ref="topic", base_commit=commit, diff=diff))
    await place.ended(opened.job)
    layer = await place.layer(opened.layer.ref)
    assert (layer.parent, layer.served.dirty) == (layer_id("topic"), True)
    assert (await place.shown(layer.ref))["a.py"] == blob_hash(b"a = 2\na = 9\n")


async def test_new_edits_may_move_an_overlay_to_another_ref(place: Town) -> None:
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


async def test_an_overlay_closed_during_new_edits_remains_closed(place: Town) -> None:
    opened = await place.overlays.open(overlay())
    await place.ended(opened.job)
    find = place.registry.find

    async def find_before_it_is_closed(repository: Repository, layer: str) -> Layer | None:
        found = await find(repository, layer)
        await place.ledger.layers.delete(opened.layer.key)
        return found

    place.registry.find = find_before_it_is_closed
    assert await refused(place.overlays.open(overlay(handle=opened.layer.ref))) is ErrorCode.REF_NOT_FOUND
    assert await place.layer(opened.layer.ref) is None


async def test_refused_overlays_leave_nothing(place: Town) -> None:
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


async def test_the_number_of_overlays_is_limited(place: Town) -> None:
    first, *_ = [await place.overlays.open(overlay()) for _ in range(OVERLAYS_MAX)]

    async def are_known() -> bool:
        return len(place.registry.all()) == OVERLAYS_MAX

    await place.until(are_known)
    assert await refused(place.overlays.open(overlay())) is ErrorCode.LIMIT_EXCEEDED
    await place.overlays.open(overlay(handle=first.layer.ref))


async def test_overlays_cannot_be_stacked(place: Town) -> None:
    opened = await place.overlays.open(overlay())
    await place.ended(opened.job)

    async def is_known() -> bool:
        return any(layer.served for layer in place.registry.all())

    await place.until(is_known)
    asking = place.overlays.open(overlay(base_ref=opened.layer.ref))
    assert await refused(asking) is ErrorCode.INVALID_ARGUMENT


# ── the sweep ───────────────────────────────────────────────────────────────────────────────────────────────────


async def rounds(place: Town, *minutes: float) -> None:
    """Runs rounds of the sweep, at these minutes from now."""
    for after in minutes:
        await place.sweeper.round(datetime.now(UTC) + timedelta(minutes=after))


async def age(place: Town, minutes: float) -> None:
    """Ages all lists of files and all layer points by these minutes."""
    earlier_ms = int(minutes * 60_000)
    for name in await place.variants.lists.names():
        read = ListName.read(name)
        files = await place.variants.lists.get(name)
        await place.variants.lists.put(str(read._replace(version=read.version - earlier_ms)), files)
        await place.variants.lists.drop(name)
    for file, held in place.index.held.items():
        if held.layer != BASE_LAYER:
            place.index.held[file] = held._replace(version=held.version - earlier_ms)


async def test_unused_variants_are_dropped_in_the_second_round(place: Town) -> None:
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


async def test_late_files_of_a_deleted_layer_are_dropped_too(place: Town) -> None:
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


async def test_dropping_a_replaced_list_keeps_shared_variants(place: Town) -> None:
    for text in ("1", "2"):
        commit = place.branch("topic", {"x.py": f"x = {text}\n", "y.py": "y = 1\n"})
        await place.push("topic")
        await place.serves("topic", commit)
    await rounds(place, 10, 20)

    async def is_dropped() -> bool:
        return len(await place.variants_held()) == 2

    await place.until(is_dropped)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_plan_after_the_sweep_indexes_condemned_files_again(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await age(place, 30)
    before = len(place.index.written)
    drop = place.variants.drop

    async def drop_late(*arguments) -> None:
        # The variant is condemned and still in the store: a branch with it is pushed, and then it is dropped.
        await place.push("topic")
        await place.serves("topic", commit)
        assert place.index.written[before:] == ["a.py"]
        await drop(*arguments)

    place.variants.drop = drop_late
    # Some minutes ago, so that the branch's new files are newer than what these rounds may drop.
    await rounds(place, -2 * SWEEP_PAUSE_S / 60, 0)
    assert await place.shown("topic") == place.tree("topic")


async def test_a_plan_before_the_sweep_keeps_its_variants(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    await place.layers.delete(DeleteLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await rounds(place, 10)
    before = len(place.index.written)
    condemn = place.variants.condemn

    async def condemn_late(*arguments) -> None:
        # A branch with the variant is pushed between the check that found it unused and its condemnation.
        await place.push("topic")
        await place.serves("topic", commit)
        await condemn(*arguments)

    place.variants.condemn = condemn_late
    await rounds(place, 20)
    assert place.index.written[before:] == []
    assert await place.shown("topic") == place.tree("topic")


async def test_expired_layers_are_deleted(place: Town) -> None:
    commit = place.branch("topic", {"a.py": "a = 2\n"})
    await place.push("topic")
    await place.serves("topic", commit)
    opened = await place.overlays.open(overlay(files=(edit("a.py", "a = 9\n"),), ttl_s=60))
    await place.ended(opened.job)
    await rounds(place, 2)
    assert [layer.ref for layer in await place.ledger.layers.all()] == ["topic"]
    await rounds(place, 31 * 24 * 60)
    assert await place.ledger.layers.all() == []


async def test_a_layer_renewed_during_a_sweep_is_kept(place: Town) -> None:
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


async def test_files_of_any_fetched_commit_are_readable(place: Town) -> None:
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


async def test_files_lost_by_the_store_are_imported_again(place: Town) -> None:
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


async def test_reimports_of_a_lost_repository_become_less_frequent(place: Town) -> None:
    place.index.lost = {BASE_LAYER}
    jobs = []
    for _ in range(6):
        await place.poller.round()

        async def is_quiet() -> bool:
            return not (await place.repository()).active_job

        await place.until(is_quiet)
        jobs.append((await place.repository()).next_version)
    assert [later - earlier for earlier, later in pairwise(jobs)] == [0, 1, 0, 0, 0]


async def test_the_base_records_its_number_of_files(place: Town) -> None:
    def files(repository: Repository) -> int:
        assert repository.served is not None
        return repository.served.files

    assert files(await place.repository()) == len(place.base())
    commit = place.commit({"a.py": "a = 3\n", "b.py": None, "new/x.py": "x = 1\n", "new/y.py": "y = 1\n"})
    await place.push("main")
    await place.serves_base(commit)
    assert files(await place.repository()) == len(place.base()) == 7
