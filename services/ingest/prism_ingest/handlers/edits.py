"""Files that a client changes one by one or by a diff: in the live lane, on top of what is served."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from prism_contracts.base import BASE_LAYER, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileEvent
from prism_contracts.records import Job, JobState, LayerState, Repository, repository_key
from prism_contracts.rpc import EditRequest, FileEdit, JobReply, ManifestEntry
from prism_ingest.adapters.index import read_manifest, read_text
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.core import new_job
from prism_ingest.core.contents import file_event
from prism_ingest.core.edits import check_bases, described, editable_path, flags_of
from prism_ingest.core.patches import Patch, apply, read_diff
from prism_ingest.handlers.planning import Listing, Opened, Planner
from prism_ingest.handlers.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_source.limits import Limits
from prism_source.snapshot import blob_hash


class EditHandlers:
    """Takes edits in."""

    def __init__(self, bus: Bus, ledger: Ledger, planner: Planner, settings: IngestSettings) -> None:
        self._bus = bus
        self._ledger = ledger
        self._planner = planner
        self._limits = Limits(file_bytes_max=settings.file_bytes_max)

    async def edit(self, request: EditRequest) -> JobReply:
        """Begin a job for some files of a repository; answered when their events are stored. The same edit twice is one job.

        Raises PrismError: REPO_NOT_FOUND, REF_NOT_FOUND, BASE_MISMATCH, INVALID_PATH, INVALID_ARGUMENT,
        DIFF_NOT_APPLICABLE, SNAPSHOT_CONFLICT.
        """
        repository = await self._repository(request)
        served = _served(repository, request)
        edits = await self._edits(request, repository)
        known = await self._entries(request, repository, edits)
        check_bases(edits.values(), known)
        job = _job(request, repository, served, edits)
        contents = {path: edit.content for path, edit in edits.items() if edit.content is not None}
        files = tuple(described(path, data, self._limits) for path, data in sorted(contents.items()))
        removed = tuple(sorted(path for path in edits.keys() - contents.keys() if path in known))
        opened = await self._planner.open(
            job, Origin(repository.source, repository.ref), Listing(files, removed, is_claimed=True)
        )
        if request.commit:
            await self._ledger.hear_of(job.tenant, job.repo, request.commit, _now())
        await publish_file_events(self._bus, self._events(opened, contents))
        return JobReply(job=opened.job.model_copy(update={"settled": b""}))

    async def _repository(self, request: EditRequest) -> Repository:
        found = await self._ledger.repositories.get(
            repository_key(request.tenant, repo_id(request.repo_name))
        )
        if found is None:
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND,
                f"There is no repository {request.repo_name}.",
                "Index it first: `prism index PATH_OR_GIT_URL`.",
            )
        return found

    async def _edits(self, request: EditRequest, repository: Repository) -> dict[str, FileEdit]:
        """By path, those that were sent and those that the diff makes."""
        patches = read_diff(request.diff) if request.diff else []
        made = [edit for patch in patches for edit in await self._patched(request, repository, patch)]
        edits: dict[str, FileEdit] = {}
        for edit in (*request.files, *made):
            path = editable_path(edit.path)
            if path in edits:
                raise PrismError(ErrorCode.INVALID_ARGUMENT, f"{path} is changed twice.", "Change it once.")
            edits[path] = edit
        return edits

    async def _patched(
        self, request: EditRequest, repository: Repository, patch: Patch
    ) -> Iterator[FileEdit]:
        old = await self._text(request, repository, patch.old_path) if patch.old_path else ""
        new = apply(patch, old) if patch.new_path else ""
        return _edits_of(patch, new)

    async def _text(self, request: EditRequest, repository: Repository, path: str) -> str:
        """The text of a file exactly as it is in the repository, as far as the index knows it."""
        indexed = await read_text(self._bus, request.tenant, repository.name, "", editable_path(path))
        if blob_hash(indexed.content.encode()) != indexed.blob:
            raise PrismError(
                ErrorCode.DIFF_NOT_APPLICABLE,
                f"{path} is not kept as it is in the repository: a secret was redacted, or it is not UTF-8.",
                "Send the file itself.",
                path=path,
            )
        return indexed.content

    async def _entries(
        self, request: EditRequest, repository: Repository, edits: Mapping[str, FileEdit]
    ) -> dict[str, ManifestEntry]:
        entries = await read_manifest(
            self._bus, request.tenant, repository.repo, BASE_LAYER, paths=tuple(edits)
        )
        return {entry.path: entry for entry in entries}

    def _events(self, opened: Opened, contents: Mapping[str, bytes]) -> Iterator[FileEvent]:
        for ordinal in opened.wanted:
            file = opened.files.files[ordinal]
            yield file_event(
                opened.job, ordinal, file, contents[file.path], limits=self._limits, flags_of=flags_of(file)
            )


def _served(repository: Repository, request: EditRequest) -> LayerState:
    """What is served, which must be what the client knows."""
    served = repository.served
    if served is None:
        raise PrismError(
            ErrorCode.REF_NOT_FOUND,
            f"{repository.name} is not indexed yet.",
            "Wait for its first import: see index_status.",
        )
    if request.base_commit and request.base_commit != served.commit:
        raise PrismError(
            ErrorCode.BASE_MISMATCH,
            f"{repository.name} is indexed at {served.commit}, not at {request.base_commit}.",
            "Make the diff against details.indexed_commit, or send the files themselves.",
            indexed_commit=served.commit,
        )
    return served


def _job(
    request: EditRequest, repository: Repository, served: LayerState, edits: Mapping[str, FileEdit]
) -> Job:
    """The job: the same one for the same edits of the same state of the layer."""
    digest = hashlib.sha256(f"{served.version}\0{request.commit}".encode())
    for path, edit in sorted(edits.items()):
        digest.update(f"\0{path}\0{'' if edit.content is None else blob_hash(edit.content)}".encode())
    return new_job(
        tenant=request.tenant,
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


def _edits_of(patch: Patch, new: str) -> Iterator[FileEdit]:
    if patch.old_path and patch.old_path != patch.new_path:
        yield FileEdit(path=patch.old_path, content=None)
    if patch.new_path:
        base = None if patch.old_path == patch.new_path else ""
        yield FileEdit(path=patch.new_path, content=new.encode(), base_blob=base)


def _now() -> datetime:
    return datetime.now(UTC)
