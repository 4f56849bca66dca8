"""The upload of a snapshot: the contents that the server wants, in packs, a few at a time.

A file may change after it was hashed and before it is read. Then the upload keeps the contents that it read,
and opens the snapshot again with their hash. So the index always matches the snapshot, and a busy file cannot
make the upload endless.
"""

import asyncio
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from prism_cli.client import Prism
from prism_cli.exits import CommandError
from prism_contracts.code import SkipReason
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job
from prism_contracts.rpc.imports import OpenSnapshotRequest, SnapshotFile
from prism_source.pack import encode_pack, plan_packs
from prism_source.snapshot import Snapshot, blob_hash, tree_commit

PACKS_IN_FLIGHT = 4
# Every round freezes the files that changed in the previous one. More than a few rounds mean that something
# rewrites the folder as fast as it is read.
ROUNDS_MAX = 5
TREE = "tree:"

SKIPS = {
    ErrorCode.SOURCE_UNREADABLE: SkipReason.UNREADABLE,
    ErrorCode.PAYLOAD_TOO_LARGE: SkipReason.TOO_LARGE,
}


class Observer(Protocol):
    """Receives the progress of an upload."""

    def opened(self, job: Job) -> None:
        """A job works on the snapshot. It supersedes the job of an earlier round."""

    def sent(self, files: int, wanted: int) -> None:
        """So many of the wanted files are safe on the bus."""


class UploadTarget(NamedTuple):
    """The repository of the files, and the branch whose layer they form; no branch: the base."""

    repo: str
    ref: str = ""


class Upload(NamedTuple):
    """The number of files sent, and the job that works on them."""

    job: Job
    files: int
    bytes: int
    changed_meanwhile: int


@dataclass(slots=True)
class Frozen:
    """The files to index, and the contents of those that changed after they were hashed."""

    files: list[SnapshotFile | None]  # by ordinal of the snapshot; None: deleted
    contents: dict[int, bytes] = field(default_factory=dict)

    def present(self) -> list[int]:
        """Ordinals of the snapshot, in the order of the request."""
        return [ordinal for ordinal, file in enumerate(self.files) if file is not None]


async def upload(prism: Prism, snapshot: Snapshot, layer: UploadTarget, observer: Observer) -> Upload:
    """Open the snapshot and send the wanted files. Raises CommandError if files change faster than they are
    read.
    """
    frozen = Frozen(list(snapshot.files))
    for _ in range(ROUNDS_MAX):
        round_ = _Round(prism, snapshot, frozen, observer)
        sent = await round_.run(layer)
        if not round_.changed:
            return sent
    raise CommandError(
        "The files change faster than they can be read.",
        "Index again when the files are stable, or exclude them with .gitignore.",
        code=ErrorCode.SNAPSHOT_CONFLICT.value,
    )


class _Round:
    """An open snapshot, and the packs that it wants."""

    def __init__(self, prism: Prism, snapshot: Snapshot, frozen: Frozen, observer: Observer) -> None:
        self.changed = False
        self._prism = prism
        self._snapshot = snapshot
        self._frozen = frozen
        self._observer = observer
        self._ordinals = frozen.present()
        self._reading = asyncio.Lock()  # a reader is one process or folder, so two threads must not share it
        self._files = self._bytes = self._wanted = 0

    async def run(self, layer: UploadTarget) -> Upload:
        opened = await self._prism.open_snapshot(self._request(layer))
        self._wanted = len(opened.needed)
        self._observer.opened(opened.job)
        self._observer.sent(0, self._wanted)
        sizes = ((position, self._file(position).size_bytes) for position in opened.needed)
        await self._send_all(opened.job.job, plan_packs(sizes))
        return Upload(opened.job, self._files, self._bytes, len(self._frozen.contents))

    def _request(self, layer: UploadTarget) -> OpenSnapshotRequest:
        files = tuple(self._file(position) for position in range(len(self._ordinals)))
        return OpenSnapshotRequest(
            tenant="",
            repo_name=layer.repo,
            layer_ref=layer.ref,
            # For this round only: the same files later are a new upload, because other contents may come
            # between.
            snapshot=uuid.uuid4().hex,
            commit=tree_commit(files) if self._snapshot.commit.startswith(TREE) else self._snapshot.commit,
            ref=self._snapshot.ref,
            dirty=self._snapshot.dirty or bool(self._frozen.contents),
            files=files,
            history=self._snapshot.history,
            commits=self._snapshot.commits,
        )

    def _file(self, position: int) -> SnapshotFile:
        file = self._frozen.files[self._ordinals[position]]
        assert file is not None
        return file

    async def _send_all(self, job: str, packs: Iterable[tuple[int, ...]]) -> None:
        waiting = iter(packs)

        async def sender() -> None:
            for positions in waiting:
                await self._send(job, positions)

        try:
            async with asyncio.TaskGroup() as senders:
                for _ in range(PACKS_IN_FLIGHT):
                    senders.create_task(sender())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _send(self, job: str, positions: tuple[int, ...]) -> None:
        async with self._reading:
            pack, count = await asyncio.to_thread(self._pack, positions)
        if count:
            await self._prism.send_pack(job, pack)
        self._files += count
        self._bytes += len(pack)
        self._observer.sent(self._files, self._wanted)

    def _pack(self, positions: tuple[int, ...]) -> tuple[bytes, int]:
        contents = ((position, self._content(position)) for position in positions)
        items = [(position, content) for position, content in contents if content is not None]
        return encode_pack(items), len(items)

    def _content(self, position: int) -> bytes | None:
        """Returns the file's entry in the request; None if the file no longer matches it."""
        ordinal = self._ordinals[position]
        if ordinal in self._frozen.contents:
            return self._frozen.contents[ordinal]
        file = self._file(position)
        try:
            content = self._snapshot.read(ordinal)
        except PrismError as error:
            self._give_up(ordinal, file, error)
            return None
        blob = blob_hash(content)
        if blob == file.blob:
            return content
        self.changed = True
        self._frozen.contents[ordinal] = content
        self._frozen.files[ordinal] = file.model_copy(update={"blob": blob, "size_bytes": len(content)})
        return None

    def _give_up(self, ordinal: int, file: SnapshotFile, error: PrismError) -> None:
        self.changed = True
        reason = SKIPS.get(error.code)
        if error.code is ErrorCode.FILE_NOT_FOUND:
            self._frozen.files[ordinal] = None
        elif reason:
            update = {"skipped": reason, "detail": "while it was being read"}
            self._frozen.files[ordinal] = file.model_copy(update=update)
        else:
            raise error
