"""Reads a client's edits: files as sent, and a diff applied to what a layer serves."""

import asyncio
from collections.abc import Iterator, Sequence

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository
from prism_contracts.rpc.imports import FileEdit
from prism_ingest.adapters.index import read_text
from prism_ingest.core.edits import editable_path
from prism_ingest.core.patches import apply, read_diff
from prism_ingest.core.selection import Selection
from prism_runtime.bus import Bus
from prism_source.snapshot import blob_hash
from prism_source.unified_diff import FilePatch


async def read_edits(
    bus: Bus, repository: Repository, ref: str, files: Sequence[FileEdit], diff: str
) -> dict[str, FileEdit]:
    """Returns edits by path: the files sent, and the results of applying the diff to what the ref serves.

    Leaves out files that the repository does not import. Raises PrismError: INVALID_PATH, INVALID_ARGUMENT, DIFF_NOT_APPLICABLE, PAYLOAD_TOO_LARGE.
    """
    # A large diff takes seconds to parse.
    patches = await asyncio.to_thread(read_diff, diff) if diff else []
    selects = Selection.of(repository).matcher()
    patches = [patch for patch in patches if any(map(selects, _paths(patch)))]
    made = [edit for patch in patches for edit in await _patched(bus, repository, ref, patch)]
    edits: dict[str, FileEdit] = {}
    for edit in (*files, *made):
        path = editable_path(edit.path)
        if path in edits:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, f"{path} is edited twice.", "Send one edit per file."
            )
        edits[path] = edit
    return {path: edit for path, edit in edits.items() if selects(path)}


def _paths(patch: FilePatch) -> list[str]:
    return [editable_path(path) for path in (patch.old_path, patch.new_path) if path]


async def _patched(bus: Bus, repository: Repository, ref: str, patch: FilePatch) -> Iterator[FileEdit]:
    old = await _text(bus, repository, ref, patch.old_path) if patch.old_path else ""
    new = apply(patch, old) if patch.new_path else ""
    return _edits_of(patch, new)


async def _text(bus: Bus, repository: Repository, ref: str, path: str) -> str:
    """Returns the exact text of a file of the repository. Raises DIFF_NOT_APPLICABLE if the index differs."""
    indexed = await read_text(bus, repository.tenant, repository.name, ref, editable_path(path))
    if blob_hash(indexed.content.encode()) != indexed.blob:
        raise PrismError(
            ErrorCode.DIFF_NOT_APPLICABLE,
            f"{path} differs from its file in the repository: a secret was redacted, or it is not UTF-8.",
            "Send the file itself.",
            path=path,
        )
    return indexed.content


def _edits_of(patch: FilePatch, new: str) -> Iterator[FileEdit]:
    if patch.old_path and patch.old_path != patch.new_path:
        yield FileEdit(path=patch.old_path, content=None)
    if patch.new_path:
        base = None if patch.old_path == patch.new_path else ""
        yield FileEdit(path=patch.new_path, content=new.encode(), base_blob=base)
