"""Turns the bytes of a file into an event: changed, skipped, or failed."""

from collections.abc import Callable

from prism_contracts.base import BASE_LAYER, variant_layer
from prism_contracts.code import FileFlags, SkipReason
from prism_contracts.errors import ErrorCode
from prism_contracts.events import FileChanged, FileEvent, FileFailed, FileSkipped
from prism_contracts.records import Job
from prism_contracts.rpc.imports import SnapshotFile
from prism_ingest.core.jobs import files_lane
from prism_source.limits import SourceLimits
from prism_source.secrets import redact
from prism_source.snapshot import blob_hash
from prism_source.text import decode, skip_reason

STAGE = "ingest"


# Returns the final flags of a file, given its text.
FlagsOf = Callable[[str], FileFlags]


def file_event(
    job: Job, ordinal: int, file: SnapshotFile, data: bytes, *, limits: SourceLimits, flags_of: FlagsOf
) -> FileEvent:
    """Returns the event for a file of a snapshot, given its contents."""
    if blob_hash(data) != file.blob:
        detail = "the uploaded content does not match the announced hash"
        return failed(job, ordinal, file, ErrorCode.UPLOAD_MISMATCH.value, detail)
    reason = skip_reason(len(data), data, limits, file.path)
    if reason is not None:
        return skipped(job, ordinal, file, reason)
    return _changed(job, ordinal, file, data, limits=limits, flags_of=flags_of)


def skipped(job: Job, ordinal: int, file: SnapshotFile, reason: SkipReason) -> FileSkipped:
    """Returns the event for a file that is known but not searchable."""
    return FileSkipped(
        **file_address(job, ordinal, file),
        blob=file.blob,
        size_bytes=file.size_bytes,
        reason=reason,
        detail=file.detail,
    )


def failed(job: Job, ordinal: int, file: SnapshotFile, code: str, detail: str) -> FileFailed:
    """Returns the event for a file that cannot be indexed."""
    return FileFailed(**file_address(job, ordinal, file), stage=STAGE, code=code, detail=detail)


def file_address(job: Job, ordinal: int, file: SnapshotFile) -> dict[str, object]:
    """Returns the address fields of an event. Each file of a layer is a variant with its own layer id."""
    is_base = job.layer == BASE_LAYER
    layer = BASE_LAYER if is_base else variant_layer(file.path, file.blob, job.basis)
    return {**address(job, ordinal, file.path), "layer": layer}


def address(job: Job, ordinal: int, path: str) -> dict[str, object]:
    """Returns the address fields for a path whose content does not matter."""
    return {
        "tenant": job.tenant,
        "repo": job.repo,
        "layer": job.layer,
        "path": path,
        "version": job.version,
        "job": job.job,
        "ordinal": ordinal,
        "lane": files_lane(job),
    }


def _changed(
    job: Job, ordinal: int, file: SnapshotFile, data: bytes, *, limits: SourceLimits, flags_of: FlagsOf
) -> FileChanged:
    text, decode_errors = decode(data)
    # Before anything is stored, published or embedded.
    redacted = redact(text, limits.secrets.rules, file.path)
    return FileChanged(
        **file_address(job, ordinal, file),
        blob=file.blob,
        size_bytes=len(data),
        text=redacted.text,
        flags=flags_of(redacted.text),
        language=file.language,
        redactions=tuple(redacted.rules),
        redaction=limits.secrets.version,
        decode_errors=decode_errors,
    )
