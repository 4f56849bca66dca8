"""How large an import may be. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile


class ImportLimits(NamedTuple):
    """What the files of one import may be together."""

    files_max: int
    # Text to index, path by path: one blob under many names counts as often.
    bytes_max: int


def check_import(files: Sequence[SnapshotFile], limits: ImportLimits) -> None:
    """Raises PAYLOAD_TOO_LARGE for files that are more than one import may bring."""
    if len(files) > limits.files_max:
        raise _too_large(f"{len(files):,} files", f"{limits.files_max:,}", "PRISM_IMPORT_FILES_MAX")
    text_bytes = sum(file.size_bytes for file in files if file.skipped is None)
    if text_bytes > limits.bytes_max:
        raise _too_large(f"{text_bytes:,} bytes of text", f"{limits.bytes_max:,}", "PRISM_IMPORT_BYTES_MAX")


def _too_large(size: str, limit: str, setting: str) -> PrismError:
    return PrismError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"The import has {size}, more than the {limit} of {setting}.",
        f"Index a subfolder of the repository, or ask the operator to raise {setting}.",
        setting=setting,
    )
