"""Snapshots that clients upload: the file list first, then the contents that are needed."""

from prism_contracts.events import FilesUploaded
from prism_contracts.rpc.imports import (
    AdmitUploadReply,
    AdmitUploadRequest,
    OpenSnapshotReply,
    OpenSnapshotRequest,
)
from prism_ingest.core import is_final, without_bits
from prism_ingest.operations.uploads import Uploads


class SnapshotHandlers:
    """Answers `open_snapshot` and `admit_upload`, and receives packs of contents."""

    def __init__(self, uploads: Uploads) -> None:
        self._uploads = uploads

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        """Begin or continue the job of a snapshot, and return which contents it needs."""
        opened = await self._uploads.open(request)
        return OpenSnapshotReply(job=without_bits(opened.job), needed=tuple(opened.needed))

    async def admit_upload(self, request: AdmitUploadRequest) -> AdmitUploadReply:
        """Return whether a job accepts contents, once its tenant may send more.

        Raises JOB_NOT_FOUND if the tenant has no such job, RATE_LIMITED if too many packs wait.
        """
        job = await self._uploads.admit(request)
        return AdmitUploadReply(is_open=not is_final(job), bytes_max=job.counts.bytes)

    async def on_uploaded(self, event: FilesUploaded) -> None:
        """Contents of a job's files have arrived."""
        await self._uploads.receive(event)
