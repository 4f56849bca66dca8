"""A snapshot: the files of a folder or of a commit, known by hash, and a way to read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from types import TracebackType
from typing import Protocol, Self

from prism_contracts.code import FileFlags
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import History
from prism_contracts.rpc.imports import SnapshotFile
from prism_source.attributes import NOTHING_SAID, Attributes
from prism_source.classify import classify_text


class Reader(Protocol):
    """Where the bytes of the files are."""

    def read(self, file: SnapshotFile) -> bytes:
        """All bytes of a file as they are now. Raises PrismError FILE_NOT_FOUND, SOURCE_UNREADABLE, PAYLOAD_TOO_LARGE."""

    def close(self) -> None:
        """Let go of processes and handles. May be called twice."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A set of files, sorted by the bytes of their paths.

    `commit` is the git commit, or `tree:<digest>` where there is none. `ref` is the branch or tag, if any.
    `dirty`: the files are not those of the commit. A file's position in `files` is its ordinal.
    """

    commit: str
    ref: str
    dirty: bool
    files: tuple[SnapshotFile, ...]
    reader: Reader
    # What `.gitattributes` says, by ordinal; files of which it says nothing are absent.
    attributes: Mapping[int, Attributes] = field(default_factory=dict)
    history: History | None = None  # None: git knows of none

    def read(self, ordinal: int) -> bytes:
        """The bytes of a file now. They may have changed since: compare `blob_hash` of them with the file's `blob`.

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
        """The final flags of a file whose text is there: by path, by text, and over both what `.gitattributes` says."""
        file = self.files[ordinal]
        said = self.attributes.get(ordinal, NOTHING_SAID)
        return said.override(classify_text(file.path, text, file.flags))

    def close(self) -> None:
        """Let go of processes and handles."""
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def blob_hash(data: bytes) -> str:
    """The hash by which git knows a file with these bytes (SHA-1, hex)."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def tree_commit(files: Iterable[SnapshotFile]) -> str:
    """What stands for the commit where there is none: a digest of the sorted paths and blobs."""
    digest = sha256()
    for file in files:
        digest.update(f"{file.path}\0{file.blob}\n".encode())
    return f"tree:{digest.hexdigest()}"


def sort_files(files: Iterable[SnapshotFile]) -> tuple[SnapshotFile, ...]:
    """The files by the bytes of their paths, which is also by code points. Paths shown alike are told apart by `~`."""
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
    """From attributes by path to attributes by ordinal, without those that say nothing."""
    if not attributes:
        return {}
    said = ((ordinal, attributes.get(file.path.encode(), NOTHING_SAID)) for ordinal, file in enumerate(files))
    return {ordinal: known for ordinal, known in said if known != NOTHING_SAID}
