"""Snapshots: the files of a folder or of a commit with their hashes, and a way to read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from types import TracebackType
from typing import Protocol, Self

from prism_contracts.code import FileFlags
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import PushedCommits
from prism_contracts.records import History
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.attributes import NO_ATTRIBUTES, Attributes
from prism_source.classify import classify_text


class ContentReader(Protocol):
    """Reads the contents of the files of a snapshot."""

    def read(self, file: SnapshotFile) -> bytes:
        """Returns all bytes of a file as they are now.

        Raises PrismError FILE_NOT_FOUND, SOURCE_UNREADABLE, PAYLOAD_TOO_LARGE.
        """

    def close(self) -> None:
        """Releases processes and handles. May be called twice."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A set of files, sorted by the bytes of their paths.

    `commit` is the git commit, or `tree:<digest>` if there is none. `ref` is the branch or tag, if any.
    `dirty` means that the files differ from the commit. A file's position in `files` is its ordinal.
    """

    commit: str
    ref: str
    dirty: bool
    files: tuple[SnapshotFile, ...]
    reader: ContentReader
    # Attributes from `.gitattributes` by ordinal; files without any are absent.
    attributes: Mapping[int, Attributes] = field(default_factory=dict)
    history: History | None = None  # None: git has none
    commits: PushedCommits = ()  # the newest of a work tree, oldest first

    def read(self, ordinal: int) -> bytes:
        """Returns the bytes of a file now. If their `blob_hash` is not the file's `blob`, it has changed.

        Raises PrismError: FILE_SKIPPED, FILE_NOT_FOUND, SOURCE_UNREADABLE, PAYLOAD_TOO_LARGE.
        """
        file = self.files[ordinal]
        if file.skipped:
            raise PrismError(
                ErrorCode.FILE_SKIPPED,
                f"{file.path} is not read: {file.skipped}.",
                "Read only files that are not skipped.",
            )
        return self.reader.read(file)

    def flags(self, ordinal: int, text: str) -> FileFlags:
        """Returns the final flags of a file: from path and text, overridden by `.gitattributes`."""
        file = self.files[ordinal]
        attributes = self.attributes.get(ordinal, NO_ATTRIBUTES)
        return attributes.override(classify_text(file.path, text, file.flags))

    def close(self) -> None:
        """Releases processes and handles."""
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def blob_hash(data: bytes) -> str:
    """Returns git's blob hash of these bytes (SHA-1, hex)."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def tree_commit(files: Iterable[SnapshotFile]) -> str:
    """Returns a substitute for the commit where there is none: a digest of the sorted paths and blobs."""
    digest = sha256()
    for file in files:
        digest.update(f"{file.path}\0{file.blob}\n".encode())
    return f"tree:{digest.hexdigest()}"


def sort_files(files: Iterable[SnapshotFile]) -> tuple[SnapshotFile, ...]:
    """Sorts files by the bytes of their paths, which is also code point order.

    Appends `~` to duplicate paths.
    """
    ordered = sorted(files, key=lambda file: (file.path, file.skipped is not None))
    taken: set[str] = set()
    for position, file in enumerate(ordered):
        path = file.path
        while path in taken:
            path += "~"
        taken.add(path)
        if path != file.path:
            ordered[position] = file.model_copy(update={"path": path})
    return tuple(sorted(ordered, key=lambda file: file.path))


def attributes_by_ordinal(
    files: Iterable[SnapshotFile], attributes: Mapping[bytes, Attributes]
) -> dict[int, Attributes]:
    """Returns attributes by ordinal for attributes by path, without empty ones."""
    if not attributes:
        return {}
    found = (
        (ordinal, attributes.get(file.path.encode(), NO_ATTRIBUTES)) for ordinal, file in enumerate(files)
    )
    return {ordinal: known for ordinal, known in found if known != NO_ATTRIBUTES}
