"""How large an import may be."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.imports import SnapshotFile


class ImportLimits(NamedTuple):
    """Limits on the files of one import together."""

    files_max: int
    # Text to index, summed over paths: a blob under three paths counts three times.
    bytes_max: int


def check_import(files: Sequence[SnapshotFile], limits: ImportLimits) -> None:
    """Raise PAYLOAD_TOO_LARGE if the files exceed the limits of one import."""
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
