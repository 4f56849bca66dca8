"""A large import of one tenant delays neither the files of another tenant nor fetches."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

import pytest
from layers_stack import NAME, Town, town
from test_mirrors import Origin

from prism_contracts.base import Lane
from prism_contracts.events import FilesUploaded
from prism_contracts.records import Job, JobState
from prism_contracts.rpc.imports import AdmitUploadRequest, CloneRequest, OpenSnapshotRequest, SnapshotFile
from prism_contracts.topics import FILE_CHANGED, FILES_STREAM
from prism_ingest.adapters.file_window import IMPORTS
from prism_ingest.core import is_final
from prism_ingest.core.jobs import SMALL_FILES_MAX
from prism_source.pack import encode_pack
from prism_source.snapshot import blob_hash

LARGE, SMALL = "large", "small"
LARGE_FILES, MEDIUM_FILES, SMALL_FILES = 800, SMALL_FILES_MAX + 20, 5
PACK_FILES = 20
# The small tenant's files are read beside eight others.
READERS = 8


@pytest.fixture
async def place(nats_server, tmp_path) -> AsyncIterator[Town]:
    async with town(nats_server, tmp_path) as made:
        yield made


def contents(tenant: str, files: int) -> dict[str, bytes]:
    return {f"{tenant}/{number}.py": f"{tenant} = {number}\n".encode() for number in range(files)}


async def uploaded(place: Town, tenant: str, files: int) -> Job:
    """Opens a snapshot and has all of its packs on the bus."""
    texts = list(contents(tenant, files).items())
    listing = tuple(
        SnapshotFile(path=path, blob=blob_hash(data), size_bytes=len(data)) for path, data in texts
    )
    request = OpenSnapshotRequest(
        tenant=tenant, repo_name="acme/app", snapshot="s", commit="c", files=listing, lane=Lane.BULK
    )
    job = (await place.snapshots.open_snapshot(request)).job
    for first in range(0, files, PACK_FILES):
        ordinals = range(first, min(files, first + PACK_FILES))
        data = encode_pack((ordinal, texts[ordinal][1]) for ordinal in ordinals)
        pack = FilesUploaded(tenant=tenant, job=job.job, pack=hashlib.sha256(data).hexdigest(), data=data)
        await place.bus.publish(pack, lane=Lane.BULK)
    return job


async def cloned(place: Town, tenant: str, files: int) -> Job:
    origin = Origin(place.origin.folder.with_name(tenant))
    for path, data in contents(tenant, files).items():
        (origin.folder / path).parent.mkdir(exist_ok=True)
        (origin.folder / path).write_bytes(data)
    origin.git("add", "--all")
    origin.git("commit", "--quiet", "--message", "Begin")
    return (await place.clones.clone(CloneRequest(tenant=tenant, url=origin.url, repo_name="acme/app"))).job


async def published(place: Town, files: int) -> None:
    """Waits until so many files are published and not indexed."""

    async def are_waiting() -> bool:
        return (await place.bus.js.stream_info(FILES_STREAM.name)).state.messages >= files

    await place.until(are_waiting)


async def has_ended(place: Town, job: Job) -> bool:
    found = await place.ledger.jobs.get(job.job)
    return found is not None and is_final(found)


@pytest.mark.parametrize("imported", [uploaded, cloned])
async def test_files_of_another_tenant_wait_for_one_window_only(place: Town, imported) -> None:
    place.index.may_index.clear()
    large = await imported(place, LARGE, LARGE_FILES)
    await published(place, IMPORTS.alone)
    small = await imported(place, SMALL, MEDIUM_FILES)
    await published(place, IMPORTS.alone + IMPORTS.shared // 2)
    place.index.may_index.set()
    for job in (small, large):
        await place.until(lambda job=job: has_ended(place, job))
        assert (await place.ledger.jobs.get(job.job)).state is JobState.COMPLETE
    written = [path for path in place.index.written if path.startswith((LARGE, SMALL))]
    assert len(written) == LARGE_FILES + MEDIUM_FILES
    last = max(position for position, path in enumerate(written) if path.startswith(SMALL))
    assert last <= IMPORTS.alone + 3 * MEDIUM_FILES + READERS


@pytest.mark.parametrize("imported", [uploaded, cloned])
async def test_a_small_import_does_not_queue_behind_a_large_one(place: Town, imported) -> None:
    place.index.may_index.clear()
    await imported(place, LARGE, LARGE_FILES)
    await published(place, IMPORTS.alone)
    await imported(place, SMALL, SMALL_FILES)
    await published(place, IMPORTS.alone + SMALL_FILES)
    state = (await place.bus.js.stream_info(FILES_STREAM.name, subjects_filter=">")).state
    assert state.subjects == {
        FILE_CHANGED.subject(Lane.BULK): IMPORTS.alone,
        FILE_CHANGED.subject(Lane.LIVE): SMALL_FILES,
    }
    place.index.may_index.set()


async def test_a_client_waits_while_packs_of_its_tenant_do(place: Town) -> None:
    place.index.may_index.clear()
    large = await uploaded(place, LARGE, LARGE_FILES)
    await published(place, IMPORTS.alone)
    waiting = asyncio.create_task(
        place.snapshots.admit_upload(AdmitUploadRequest(tenant=LARGE, job=large.job))
    )
    small = await uploaded(place, SMALL, SMALL_FILES)
    assert (await place.snapshots.admit_upload(AdmitUploadRequest(tenant=SMALL, job=small.job))).is_open
    assert not waiting.done()
    place.index.may_index.set()
    await waiting
    await place.until(lambda: has_ended(place, large))
    ended = await place.snapshots.admit_upload(AdmitUploadRequest(tenant=LARGE, job=large.job))
    assert not ended.is_open


async def test_a_branch_is_fetched_while_the_base_is_being_indexed(place: Town) -> None:
    place.branch("topic", {"b.py": "b = 2\n"})
    place.commit({f"new/{number}.py": f"{number}\n" for number in range(LARGE_FILES)})
    place.index.may_index.clear()
    base = await place.clones.clone(CloneRequest(tenant="t", url=place.origin.url, repo_name=NAME))
    await published(place, IMPORTS.alone)
    await place.push("topic")

    async def is_fetched() -> bool:
        layer = await place.layer("topic")
        job = layer and layer.active_job and await place.ledger.jobs.get(layer.active_job)
        return bool(job) and job.state is JobState.INDEXING

    await place.until(is_fetched)
    assert not await has_ended(place, base.job)
    place.index.may_index.set()
    await place.until(lambda: has_ended(place, base.job))
