"""Edits of single files on top of what the base serves, in the live lane.

All callers see such an edit until the next import replaces the file. An overlay (overlays.py) is visible only
with its handle.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime

from prism_contracts.base import BASE_LAYER
from prism_contracts.code import FileStatus
from prism_contracts.records import Job, JobState, LayerState, Repository
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import EditRequest, FileEdit
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.core import new_job
from prism_ingest.core.edits import check_bases, contents_of, described
from prism_ingest.core.layers import check_commit, check_served
from prism_ingest.core.selection import Selection
from prism_ingest.operations.edit_reader import read_edits
from prism_ingest.operations.file_events import edit_events
from prism_ingest.operations.planning import FileListing, Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.snapshot import blob_hash


class Edits:
    """Edits of the base."""

    def __init__(self, bus: Bus, ledger: Ledger, planner: Planner, settings: IngestSettings) -> None:
        self._bus = bus
        self._ledger = ledger
        self._planner = planner
        self._limits = settings.limits

    async def apply(self, request: EditRequest) -> Job:
        """Begin a job for some files of a repository. Returns when their events are stored. Idempotent.

        Raises PrismError: REPO_NOT_FOUND, REF_NOT_FOUND, BASE_MISMATCH, INVALID_PATH, INVALID_ARGUMENT,
        DIFF_NOT_APPLICABLE, SNAPSHOT_CONFLICT.
        """
        repository = await self._ledger.seen_by(request, request.repo_name)
        served = check_served(repository)
        check_commit(repository.name, served, request.base_commit)
        edits = await read_edits(self._bus, repository, "", request.files, request.diff)
        known = await self._entries(request, repository, edits)
        check_bases(edits.values(), known)
        job = self._job(request, repository, served, edits)
        contents = contents_of(edits)
        files = tuple(described(path, data, self._limits) for path, data in sorted(contents.items()))
        removed = tuple(sorted(path for path in edits.keys() - contents.keys() if path in known))
        opened = await self._planner.open(
            job,
            Origin.of(repository),
            FileListing(
                files,
                removed,
                known={
                    path: entry.blob for path, entry in known.items() if entry.status != FileStatus.REMOVED
                },
                is_unverified=True,
                selection=Selection.of(repository),
            ),
        )
        if request.commit:
            await self._ledger.record_remote_head(job.tenant, job.repo, BASE_LAYER, request.commit, _now())
        await publish_file_events(self._bus, edit_events(opened, contents, self._limits))
        return opened.job

    async def _entries(
        self, request: EditRequest, repository: Repository, edits: Mapping[str, FileEdit]
    ) -> dict[str, ManifestEntry]:
        if not edits:  # a list of no paths means all files
            return {}
        entries = await read_manifest(
            self._bus, request.tenant, repository.repo, BASE_LAYER, paths=tuple(edits)
        )
        return {entry.path: entry for entry in entries}

    def _job(
        self, request: EditRequest, repository: Repository, served: LayerState, edits: Mapping[str, FileEdit]
    ) -> Job:
        """Returns the job: the same one for the same edits of the same served version."""
        digest = hashlib.sha256(f"{served.version}\0{request.commit}".encode())
        for path, edit in sorted(edits.items()):
            digest.update(f"\0{path}\0{'' if edit.content is None else blob_hash(edit.content)}".encode())
        return new_job(
            key=self._ledger.job_key,
            tenant=request.tenant,
            repo=repository.repo,
            repo_name=repository.name,
            layer=BASE_LAYER,
            lane=request.lane,
            snapshot=f"edit\0{digest.hexdigest()}",
            state=JobState.INDEXING,
            now=_now(),
        ).model_copy(
            update={
                "commit": request.commit or served.commit,
                "ref": served.ref,
                "dirty": not request.commit,
                "pushed_at": _now(),
            }
        )


def _now() -> datetime:
    return datetime.now(UTC)
