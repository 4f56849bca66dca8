"""Edits by clients: which paths are allowed, against which base, and how a file is described by its bytes."""

from collections.abc import Iterable, Mapping

from prism_contracts.code import FileStatus
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import FileEdit, SnapshotFile
from prism_ingest.core.contents import FlagsOf
from prism_source.classify import classify_path, classify_text
from prism_source.limits import SourceLimits
from prism_source.paths import validate_path
from prism_source.snapshot import blob_hash
from prism_source.text import skip_reason

# Git's own folder is not part of the tree, and some file systems ignore case.
RESERVED = ".git"


def editable_path(path: str) -> str:
    """Returns the path if a file of a repository may have it. Raises INVALID_PATH."""
    validate_path(path)
    if any(segment.lower() == RESERVED for segment in path.split("/")):
        raise PrismError(
            ErrorCode.INVALID_PATH,
            f"The path {path[:200]!a} is not valid: .git is reserved for git.",
            "Give the path of a file of the repository.",
        )
    return path


def check_bases(edits: Iterable[FileEdit], known: Mapping[str, ManifestEntry]) -> None:
    """Raise BASE_MISMATCH if a file is no longer the one that its edit was based on."""
    for edit in edits:
        entry = known.get(edit.path)
        blob = entry.blob if entry and entry.status != FileStatus.REMOVED else ""
        if edit.base_blob is not None and edit.base_blob != blob:
            raise PrismError(
                ErrorCode.BASE_MISMATCH,
                f"{edit.path} is {blob or 'not there'}, not {edit.base_blob or 'absent'}.",
                "Read the file again, and edit its current content.",
                path=edit.path,
                blob=blob,
            )


def contents_of(edits: Mapping[str, FileEdit]) -> dict[str, bytes]:
    """Returns the new contents by path, without deleted files."""
    return {path: edit.content for path, edit in edits.items() if edit.content is not None}


def described(path: str, data: bytes, limits: SourceLimits) -> SnapshotFile:
    """Returns a file as a snapshot would list it."""
    reason = skip_reason(len(data), data, limits, path)
    return SnapshotFile(
        path=path,
        blob=blob_hash(data),
        size_bytes=len(data),
        skipped=reason,
        flags=classify_path(path),
    )


def flags_of(file: SnapshotFile) -> FlagsOf:
    """Returns how to derive the final flags from the text. `.gitattributes` is not available here."""
    return lambda text: classify_text(file.path, text, file.flags)
