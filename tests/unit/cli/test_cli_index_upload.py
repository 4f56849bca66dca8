"""The uploaded contents match the announced hashes, whatever happens to the files meanwhile."""

import gzip
import json
from typing import Any

import httpx
import pytest
from cli_server import Server, job_json, make_job

from prism_cli.exits import CommandError
from prism_cli.index import upload as upload_module
from prism_cli.index.upload import Upload, UploadTarget, upload
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.pack import decode_pack
from prism_source.snapshot import Snapshot, blob_hash, tree_commit


class Folder:
    """Contents by path; an exception as contents is raised."""

    def __init__(self, **contents: bytes | Exception) -> None:
        self.contents: dict[str, Any] = contents

    def read(self, file: SnapshotFile) -> bytes:
        found = self.contents[file.path]
        if callable(found):
            found = found()
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        pass


class Silent:
    def opened(self, job: Job) -> None:
        pass

    def sent(self, files: int, wanted: int) -> None:
        pass


class Recorder:
    """A server that requests every missing file, and accepts packs."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.received: dict[str, bytes] = {}

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/snapshots"):
            self.requests.append(body := json.loads(gzip.decompress(request.content)))
            needed = [
                position
                for position, file in enumerate(body["files"])
                if not file["skipped"] and file["blob"] not in self.received
            ]
            return httpx.Response(200, json={**job_json(make_job(expected=len(needed))), "needed": needed})
        for position, content in decode_pack(request.content):
            file = self.requests[-1]["files"][position]
            assert blob_hash(content) == file["blob"], "not what was announced"
            self.received[file["blob"]] = content
        return httpx.Response(202, json={"stored": True})


def snapshot_of(folder: Folder, **announced: bytes) -> Snapshot:
    files = tuple(
        SnapshotFile(path=path, blob=blob_hash(data), size_bytes=len(data))
        for path, data in sorted(announced.items())
    )
    return Snapshot(commit=tree_commit(files), ref="", dirty=False, files=files, reader=folder)


async def send(server: Server, recorder: Recorder, snapshot: Snapshot) -> Upload:
    server.answers = [recorder.handle]
    async with server.prism() as prism:
        return await upload(prism, snapshot, UploadTarget("owner/name"), Silent())


async def test_uploaded_files_arrive(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upload_module, "plan_packs", lambda sizes: [(ordinal,) for ordinal, _ in sizes])
    contents = {f"f{number}": b"%d" % number for number in range(20)}
    recorder = Recorder()
    sent = await send(server, recorder, snapshot_of(Folder(**contents), **contents))
    assert (sent.files, sent.changed_meanwhile) == (20, 0)
    assert sorted(recorder.received.values()) == sorted(contents.values())


async def test_a_file_that_changed_is_announced_again_as_it_was_read(server: Server):
    recorder = Recorder()
    sent = await send(server, recorder, snapshot_of(Folder(a=b"new", b=b"same"), a=b"old", b=b"same"))
    assert sent.changed_meanwhile == 1
    first, second = recorder.requests
    assert first["snapshot"] != second["snapshot"]
    assert second["dirty"]
    assert second["commit"] != first["commit"]
    assert sorted(recorder.received.values()) == [b"new", b"same"]


async def test_a_constantly_changing_file_does_not_loop_forever(server: Server):
    lines = iter(range(1000))
    recorder = Recorder()
    sent = await send(server, recorder, snapshot_of(Folder(log=lambda: b"%d" % next(lines)), log=b"at first"))
    assert sent.changed_meanwhile == 1
    assert len(recorder.requests) == 2


async def test_a_deleted_file_is_skipped_and_ordinals_remain_right(server: Server):
    gone = PrismError(ErrorCode.FILE_NOT_FOUND, "gone")
    recorder = Recorder()
    await send(server, recorder, snapshot_of(Folder(a=gone, b=b"b", c=b"new"), a=b"a", b=b"b", c=b"c"))
    assert [file["path"] for file in recorder.requests[-1]["files"]] == ["b", "c"]
    assert sorted(recorder.received.values()) == [b"b", b"new"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [(ErrorCode.SOURCE_UNREADABLE, "unreadable"), (ErrorCode.PAYLOAD_TOO_LARGE, "too_large")],
)
async def test_unreadable_file_is_skipped_with_its_reason(server: Server, code: ErrorCode, reason: str):
    recorder = Recorder()
    await send(server, recorder, snapshot_of(Folder(a=PrismError(code, "no")), a=b"a"))
    assert recorder.requests[-1]["files"][0]["skipped"] == reason


async def test_files_that_change_too_fast_end_the_upload(server: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(upload_module._Round, "_content", _always_changed)
    with pytest.raises(CommandError) as caught:
        await send(server, Recorder(), snapshot_of(Folder(a=b"a"), a=b"a"))
    assert caught.value.code == "snapshot_conflict"


def _always_changed(round_: Any, _: int) -> None:
    round_.changed = True


async def test_a_refused_pack_is_one_plain_error(server: Server):
    recorder = Recorder()
    refusal = httpx.Response(413, json={"error": {"code": "payload_too_large", "message": "no"}})
    server.answers = [recorder.handle, refusal]
    async with server.prism() as prism:
        with pytest.raises(CommandError) as caught:
            await upload(prism, snapshot_of(Folder(a=b"a"), a=b"a"), UploadTarget("o/n"), Silent())
    assert caught.value.code == "payload_too_large"
