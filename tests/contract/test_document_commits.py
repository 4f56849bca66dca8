"""Updates and commits of documents on a real NATS server; git itself checks the repository that they make."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from workspace_stack import TENANT, Desk, desk

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import DocumentRecord
from prism_contracts.rpc.documents import CommitDocumentsRequest, UpdateDocumentRequest
from prism_runtime import crash
from prism_runtime.records import Records


@pytest.fixture
async def place(nats_server) -> AsyncIterator[Desk]:
    async with desk(nats_server.url, copies=2) as made:
        yield made


async def refused(call) -> ErrorCode:
    with pytest.raises(PrismError) as caught:
        await call
    assert caught.value.body.next_action
    return caught.value.code


class Exported:
    """The repository of a tenant's documents, as git reads it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.git("init", "-q", "--bare", "-b", "main")

    def git(self, *command: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self._folder), *command], capture_output=True, text=True, check=True
        )
        return done.stdout

    def files(self) -> list[str]:
        return self.git("ls-tree", "-r", "-z", "--name-only", "main").split("\0")[:-1]

    def commits(self) -> int:
        return int(self.git("rev-list", "--count", "main"))


async def exported(place: Desk, folder: Path) -> Exported:
    """Writes every object into a bare repository, and has git check it."""
    js = place.bus.js
    repository = Exported(folder)
    objects = await js.key_value(names.KV_GIT_OBJECTS)
    # Not `keys()`: it may end before the first one has arrived.
    prefix = f"$KV.{names.KV_GIT_OBJECTS}."
    found = await js.stream_info(f"KV_{names.KV_GIT_OBJECTS}", subjects_filter=f"{prefix}>")
    for key in [subject.removeprefix(prefix) for subject in found.state.subjects]:
        sha = key.removeprefix(f"{TENANT}.")
        place_of = folder / "objects" / sha[:2] / sha[2:]
        place_of.parent.mkdir(exist_ok=True)
        place_of.write_bytes((await objects.get(key)).value)
    head = (await (await js.key_value(names.KV_GIT_REFS)).get(f"{TENANT}.main")).value.decode()
    repository.git("update-ref", "refs/heads/main", head)
    repository.git("fsck", "--strict", "--no-dangling")
    return repository


async def records(place: Desk) -> list[DocumentRecord]:
    return await Records(await place.bus.js.key_value(names.KV_DOCUMENTS), DocumentRecord).all()


async def test_a_commit_holds_the_drafts_and_git_accepts_it(place: Desk, tmp_path: Path) -> None:
    first, second = await place.create("First", "One.\n"), await place.create("Zweites: ü", "Two.\n")
    done = await place.commit(author="Ann <x> Example", message="Write both down\n\nThey belong together.")
    assert done.files_committed == tuple(sorted((first.path, second.path)))
    assert not any(one.is_draft for one in (await place.list()).documents)
    assert (await place.get(first.document_id)).metadata.commit == done.commit_hash
    repository = await exported(place, tmp_path / "git")
    assert repository.files() == sorted([first.path, second.path, "generated/README.md"])
    assert repository.git("show", f"main:{first.path}").endswith("---\n\nOne.\n")
    expected = "Ann x Example|Write both down\n\nThey belong together.\n"
    assert repository.git("log", "-1", "--format=%an|%B").rstrip("\n") + "\n" == expected
    assert repository.git("rev-parse", "main").strip() == done.commit_hash


async def test_a_commit_of_some_paths_leaves_the_other_drafts(place: Desk, tmp_path: Path) -> None:
    first, second = await place.create("First"), await place.create("Second")
    assert (await place.commit(first.path)).files_committed == (first.path,)
    assert (await place.get(second.document_id)).metadata.is_draft
    assert await refused(place.commit(first.path)) is ErrorCode.NOTHING_TO_COMMIT
    assert (await place.commit()).files_committed == (second.path,)
    assert (await exported(place, tmp_path / "git")).commits() == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"paths": ("generated/none.md",)}, ErrorCode.DOCUMENT_NOT_FOUND),
        ({"paths": ("../a.md",)}, ErrorCode.INVALID_PATH),
        ({"message": " \n"}, ErrorCode.INVALID_ARGUMENT),
        ({"message": "a\0b"}, ErrorCode.INVALID_ARGUMENT),
        ({"visible": frozenset({"acme/shop"})}, ErrorCode.FORBIDDEN),
        ({"tenant": "other"}, ErrorCode.NOTHING_TO_COMMIT),
        ({"auto_push": True}, ErrorCode.REMOTE_NOT_SET),
    ],
)
async def test_a_commit_that_cannot_be_made_is_refused(place: Desk, fields, code: ErrorCode) -> None:
    await place.create("First")
    assert await refused(place.commit(**fields)) is code
    assert (await place.list()).documents[0].is_draft


async def test_an_update_changes_what_it_names_and_makes_a_draft(place: Desk) -> None:
    made = await place.create("First", "One.\n", tags=("a",), metadata={"custom": {"x": 1, "y": 2}})
    await place.commit()
    changes = {"content": "Two words.\n", "tags": ["b"], "metadata": {"custom": {"x": None, "z": True}}}
    done = await place.update(made.document_id, **changes)
    assert (done.version, set(done.changes_applied)) == (2, {"content", "tags", "custom"})
    found = await place.get(made.document_id)
    assert (found.content, found.metadata.tags, found.metadata.title) == ("Two words.\n", ("b",), "First")
    assert (found.metadata.custom, found.metadata.word_count) == ({"y": 2, "z": True}, 2)
    assert found.metadata.is_draft
    assert (await place.update(made.document_id, tags=["b"])).changes_applied == ()


async def test_an_update_of_an_older_version_is_a_conflict(place: Desk) -> None:
    made = await place.create("First")
    await place.update(made.document_id, version=1, content="Two.\n")
    assert (
        await refused(place.update(made.document_id, version=1, content="3")) is ErrorCode.DOCUMENT_CONFLICT
    )
    assert await refused(place.update("none", content="3")) is ErrorCode.DOCUMENT_NOT_FOUND
    assert (await place.get(made.document_id)).content == "Two.\n"


async def test_a_captured_document_is_read_only(place: Desk) -> None:
    made = await place.create("First")
    bucket = Records(await place.bus.js.key_value(names.KV_DOCUMENTS), DocumentRecord)
    await bucket.change(
        f"{TENANT}.{made.document_id}", lambda one: one.model_copy(update={"is_generated": False})
    )
    assert await refused(place.update(made.document_id, content="2")) is ErrorCode.DOCUMENT_READ_ONLY


async def test_updates_of_different_fields_at_once_are_all_kept(place: Desk) -> None:
    made = await place.create("First")
    fields = ({"content": "Two.\n"}, {"tags": ["b"]}, {"category": "c"}, {"title": "Second"})
    await asyncio.gather(*(place.update(made.document_id, **field) for field in fields))
    found = await place.get(made.document_id)
    assert (found.content, found.metadata.tags, found.metadata.category) == ("Two.\n", ("b",), "c")
    assert (found.metadata.title, found.metadata.version) == ("Second", 5)


async def test_copies_that_commit_at_once_lose_nothing(place: Desk, tmp_path: Path) -> None:
    """Each document is created, updated and committed while the others are, by whichever copy answers."""

    async def write(number: int) -> str:
        made = await place.create(f"Note {number}", "0\n")
        for turn in range(1, 4):
            await place.update(made.document_id, content=f"{turn}\n")
            await place.commit(made.path)
        return made.path

    paths = await asyncio.gather(*(write(number) for number in range(8)))
    repository = await exported(place, tmp_path / "git")
    assert repository.files() == sorted([*paths, "generated/README.md"])
    assert {repository.git("show", f"main:{path}").splitlines()[-1] for path in paths} == {"3"}
    assert repository.commits() == 24
    for record in await records(place):
        assert not record.is_draft
        assert repository.git("rev-parse", f"main:{record.path}").strip() == record.committed_blob


async def test_a_commit_that_a_crash_interrupted_is_finished_by_the_same_call(
    place: Desk, tmp_path: Path
) -> None:
    """The process dies right before each of its writes in turn: objects, the branch, the records."""
    made = [await place.create(title) for title in ("First", "Second")]
    paths = tuple(one.path for one in made)
    request = CommitDocumentsRequest(tenant=TENANT, message="Write it down", paths=paths)
    for write in range(1, WRITES_MAX):
        for one in made:
            await place.update(one.document_id, content=f"{write}\n")
        with writes_watched():
            died_at = await ended_at(lambda: place.copies[0].documents.commit(request), write)
        if died_at:
            await place.copies[1].documents.commit(request)
        repository = await exported(place, tmp_path / f"{write}.git")
        assert repository.commits() == write
        assert all(repository.git("show", f"main:{path}").endswith(f"\n{write}\n") for path in paths)
        assert not any(one.is_draft for one in await records(place))
        if not died_at:
            break
    assert write > 5


async def test_a_large_commit_notes_some_records_at_a_time(
    place: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that reaches its deadline has then noted some, and the next one has fewer to note."""
    monkeypatch.setattr("prism_workspace.adapters.documents.CHANGED_AT_ONCE", 2)
    made = [await place.create(f"Note {number}") for number in range(5)]
    at_once: list[int] = []

    def count(_: str) -> None:
        names = [task.get_coro().__qualname__ for task in asyncio.all_tasks()]
        at_once.append(names.count("DocumentRecords.change"))

    undo = crash.watch(count)
    try:
        await place.commit()
    finally:
        undo()
    assert max(at_once) == 2
    assert len([one for one in await records(place) if not one.is_draft]) == len(made)


async def test_an_update_that_a_crash_interrupted_changes_all_or_nothing(place: Desk) -> None:
    made = await place.create("First", "0\n")
    for write in range(1, WRITES_MAX):
        request = UpdateDocumentRequest(
            tenant=TENANT,
            document_id=made.document_id,
            updates={"content": f"{write}\n", "tags": [str(write)]},
            regenerate_embeddings=False,
        )
        with writes_watched():
            died_at = await ended_at(lambda request=request: place.copies[0].documents.update(request), write)
        found = await place.get(made.document_id)
        expected = ("0\n", ()) if died_at else (f"{write}\n", (str(write),))
        assert (found.content, found.metadata.tags) == expected
        if not died_at:
            break
    assert write > 2
