"""Folders and globs of a repository: every import reads the selected files, and no others."""

from collections.abc import AsyncIterator

import pytest
from layers_stack import NAME, REPO, TENANT, Town, town

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import JobState
from prism_contracts.rpc.imports import (
    CommitFileRequest,
    CommitFilesRequest,
    EditRequest,
    FileEdit,
    OpenSnapshotRequest,
    SnapshotFile,
)
from prism_contracts.rpc.layers import CreateLayerRequest, OpenOverlayRequest
from prism_contracts.rpc.repositories import ReindexRequest, UpdateRepositoryRequest
from prism_ingest.core.selection import Selection
from prism_source.snapshot import blob_hash

FILES: dict[str, str | None] = {
    "src/app.py": "app = 1\n",
    "src/gen/made.py": "made = 1\n",
    "docs/guide.md": "# Guide\n",
}
CODE = Selection("src", (), ("src/gen/**",))


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        await made.serves_base(await reindexed(made, made.commit(FILES)))
        yield made


async def reindexed(place: Town, commit: str) -> str:
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    assert (await place.ended(job)).state is JobState.COMPLETE
    return commit


async def select(place: Town, selection: Selection) -> None:
    prefix, include, exclude = selection
    request = UpdateRepositoryRequest(
        tenant=TENANT, repo=NAME, repo_root_prefix=prefix, include=include, exclude=exclude
    )
    await place.repositories.update(request)


def selected(place: Town, ref: str, selection: Selection = CODE) -> dict[str, str]:
    tree = place.tree(ref)
    return {path: tree[path] for path in selection.paths(tree)}


@pytest.mark.parametrize(
    "selection",
    [CODE, Selection("docs"), Selection(include=("*.md", "a.py")), Selection(exclude=("?.py",))],
    ids=["folder and exclude", "folder", "include", "exclude"],
)
async def test_the_next_import_has_the_selected_files(place: Town, selection: Selection) -> None:
    before = place.base()
    await select(place, selection)
    assert place.base() == before
    await reindexed(place, "")
    assert place.base() == selected(place, "main", selection)
    assert (await place.repository()).served.files == len(place.base())
    await select(place, Selection())
    await reindexed(place, "")
    assert place.base() == place.tree("main")


async def test_a_push_to_other_files_reads_none_of_them(place: Town) -> None:
    await select(place, CODE)
    await reindexed(place, "")
    place.index.written.clear()
    commit = place.commit(
        {"src/app.py": "app = 2\n", "src/new.py": "n = 1\n", "src/gen/more.py": "m = 1\n", "a.py": None}
    )
    await place.push("main")
    await place.serves_base(commit)
    assert sorted(place.index.written) == ["src/app.py", "src/new.py"]
    assert place.base() == selected(place, "main")
    assert (await place.repository()).served.files == len(place.base())


async def test_layers_have_the_selected_files(place: Town) -> None:
    topic = {
        "src/app.py": "app = 3\n",
        "src/gen/made.py": "made = 3\n",
        "docs/new.md": "# New\n",
        "b.py": None,
    }
    commit = place.branch("topic", topic)
    await place.layers.create(CreateLayerRequest(tenant=TENANT, repo=NAME, ref="topic"))
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")
    await select(place, CODE)
    await reindexed(place, "")
    await place.serves("topic", commit)
    assert await place.shown("topic") == selected(place, "topic")
    # The base also changes files that are not selected: they stay out of the layer.
    moved = place.commit({"src/gen/made.py": "made = 9\n", "docs/guide.md": None, "src/app.py": "app = 9\n"})
    await place.push("main")
    await place.serves_base(moved)
    await place.serves("topic", commit)
    assert await place.shown("topic") == selected(place, "topic")
    await select(place, Selection())
    await reindexed(place, "")
    await place.serves("topic", commit)
    assert await place.shown("topic") == place.tree("topic")


async def test_an_uploaded_layer_has_the_selected_files(place: Town) -> None:
    await select(place, CODE)
    await reindexed(place, "")
    contents = {"src/app.py": b"app = 4\n", "src/gen/made.py": b"made = 4\n", "docs/guide.md": b"# Mine\n"}
    files = tuple(
        SnapshotFile(path=path, blob=blob_hash(data), size_bytes=len(data))
        for path, data in sorted(contents.items())
    )
    request = OpenSnapshotRequest(
        tenant=TENANT, repo_name=NAME, layer_ref="mine", snapshot="1", commit="c" * 40, files=files
    )
    opened = await place.snapshots.open_snapshot(request)
    assert [files[number].path for number in opened.needed] == ["src/app.py"]


async def test_edits_of_other_files_are_left_out(place: Town) -> None:
    await select(place, CODE)
    await reindexed(place, "")
    edits = (
        FileEdit(path="src/app.py", content=b"app = 5\n"),
        FileEdit(path="docs/guide.md", content=b"# Edited\n"),
    )
    diff = "--- a/docs/guide.md\n+++ b/docs/guide.md\n@@ -1 +1 @@\n-# Guide\n+# Other\n"
    place.index.written.clear()
    job = (await place.edits.edit(EditRequest(tenant=TENANT, repo_name=NAME, files=edits))).job
    await place.ended(job)
    job = (await place.edits.edit(EditRequest(tenant=TENANT, repo_name=NAME, diff=diff))).job
    await place.ended(job)
    assert place.index.written == ["src/app.py"]
    overlay = await place.overlays.open(OpenOverlayRequest(tenant=TENANT, repo=NAME, files=edits))
    assert overlay.job is not None
    await place.ended(overlay.job)
    layer = await place.layer(overlay.layer.ref)
    assert layer is not None
    assert set(await place.variants_at(overlay.layer.ref)) == {"src/app.py"}


async def test_a_commit_shows_the_selected_files(place: Town) -> None:
    await select(place, CODE)
    await reindexed(place, "")
    commit = place.origin.git("rev-parse", "main")
    listed = await place.commits.files(CommitFilesRequest(tenant=TENANT, repo=REPO, commit=commit))
    assert [file.path for file in listed.files] == ["src/app.py"]
    with pytest.raises(PrismError) as refused:
        await place.commits.file(
            CommitFileRequest(tenant=TENANT, repo=REPO, commit=commit, path="docs/guide.md")
        )
    assert refused.value.code is ErrorCode.FILE_NOT_FOUND


async def test_an_import_without_files_fails_and_the_served_commit_stays(place: Town) -> None:
    before = place.base()
    await select(place, Selection("no/such"))
    job = (await place.repositories.reindex(ReindexRequest(tenant=TENANT, repo=NAME))).job
    ended = await place.ended(job)
    assert ended.error is not None
    assert (ended.state, ended.error.code) == (JobState.FAILED, ErrorCode.SOURCE_EMPTY)
    assert place.base() == before


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"include": ("{a",)}, ErrorCode.INVALID_ARGUMENT),
        ({"exclude": ("a", "x{" * 30)}, ErrorCode.INVALID_ARGUMENT),
        ({"repo_root_prefix": "a/../../b"}, ErrorCode.INVALID_PATH),
    ],
)
async def test_an_invalid_selection_is_refused(place: Town, changes, code) -> None:
    with pytest.raises(PrismError) as refused:
        await place.repositories.update(UpdateRepositoryRequest(tenant=TENANT, repo=NAME, **changes))
    assert refused.value.code is code
    assert Selection.of(await place.repository()) == Selection()
