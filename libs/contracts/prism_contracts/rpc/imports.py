"""Imports: snapshots, packs, clones, edits, SCIP indexes, and their jobs.

Also files at commits that are not indexed.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from prism_contracts.base import Lane, Message
from prism_contracts.code import (
    FileFlags,
    SkipReason,
)
from prism_contracts.events import PushedCommits
from prism_contracts.records import UPLOAD, History, Job, Layer, Repository
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import SNAPSHOT_FILES_MAX, CallerRequest
from prism_contracts.types import (
    BlobHash,
    CommitId,
    CommitIdOrNone,
    Count,
    EditDiff,
    FileBytes,
    FilePath,
    GitUrl,
    JobId,
    JobIdOrNone,
    Language,
    Ref,
    RefName,
    RepoKey,
    RepoKeyOrNone,
    RepoName,
    RepoNameOrNone,
    ShortText,
    TenantId,
    TenantIdOrNone,
)

EDIT_FILES_MAX = 1_000


class SnapshotFile(Message):
    """One file of a snapshot, known by its hash before its content is uploaded."""

    path: FilePath
    blob: BlobHash
    size_bytes: Count
    skipped: SkipReason | None = None
    detail: ShortText = ""
    flags: FileFlags = FileFlags()
    language: Language = ""


class OpenSnapshotRequest(CallerRequest):
    """Updates a repository, or a layer of it, to this set of files. `snapshot` is the idempotency key."""

    tenant: TenantIdOrNone  # empty in a client's request: the token decides it
    repo_name: RepoName
    layer_ref: RefName = ""  # branch whose layer it is; empty for the base
    snapshot: ShortText
    source: Literal["upload"] = UPLOAD
    commit: CommitId
    ref: RefName = ""
    dirty: bool = False
    lane: Lane = Lane.BULK
    files: Annotated[tuple[SnapshotFile, ...], Field(max_length=SNAPSHOT_FILES_MAX)]
    history: History | None = None  # of a git work tree
    commits: PushedCommits = ()  # its newest ones, oldest first


class OpenSnapshotReply(Message):
    """The job, and the positions in the request's `files` whose contents must be uploaded."""

    job: Job
    needed: tuple[int, ...]


class StoreScipRequest(CallerRequest):
    """Stores a SCIP index of an indexed commit, for the whole repository or a folder of it."""

    repo: RepoKey  # owner/name

    commit: CommitId
    root: FilePath = ""  # the folder that paths in the index are relative to
    object: ShortText  # the index in OBJECTS_CLAIMS, plain or gzipped


class LeftOutDocument(Message):
    """A document of a SCIP index that was ignored: `outside`, `not_indexed`, `changed` or `repeated`."""

    path: str
    reason: str


class StoreScipReply(Message):
    """What was stored from a SCIP index. Documents count for files that are unchanged since the commit."""

    repo: str
    commit: str
    indexer: str
    # False if an index of a newer commit is already stored.
    stored: bool
    documents: int
    files: int
    definitions: int
    uses: int
    implementations: int
    left_out: dict[str, int] = {}
    examples: tuple[LeftOutDocument, ...] = ()
    # Occurrences at positions that do not exist in the text.
    unreadable: int = 0


class ListScipRequest(CallerRequest):
    """Lists the SCIP indexes of a repository."""

    repo: RepoKey  # owner/name


class ScipIndexEntry(Message):
    """A stored SCIP index. A repository has one per indexer and folder."""

    indexer: str  # as the index names it, such as scip-python
    root: str = ""  # the folder that it covers; empty: the whole repository
    commit: str
    files: int  # files of the index that were unchanged when it was stored
    stored_at: datetime


class ListScipReply(Message):
    """The SCIP indexes of a repository, by indexer and folder."""

    repo: str
    indexes: tuple[ScipIndexEntry, ...] = ()


class RemoveScipRequest(CallerRequest):
    """Removes the SCIP index of a repository by one indexer and for one folder."""

    repo: RepoKey  # owner/name
    indexer: ShortText
    root: FilePath = ""


class RemoveScipReply(Message):
    """The SCIP index that was removed. Answers come from the rules of Prism again."""

    repo: str
    removed: ScipIndexEntry


class CloneRequest(CallerRequest):
    """Clones or fetches a git URL and indexes a ref of it (the default branch if empty)."""

    url: GitUrl
    repo_name: RepoNameOrNone = ""
    ref: RefName = ""
    force: bool = False  # index every file again, also unchanged ones
    lane: Lane = Lane.BULK


class FileEdit(Message):
    """The new state of a file."""

    path: FilePath
    content: FileBytes | None  # None: the file is deleted
    # The blob that was edited, empty for a new file. None: any.
    base_blob: BlobHash | None = None


class EditRequest(CallerRequest):
    """Changes files of a repository: the given ones, and those that a unified diff of indexed files produces."""

    repo_name: RepoKey
    base_commit: CommitIdOrNone = ""  # the commit that must be served; empty: any
    commit: CommitIdOrNone = ""  # the commit whose tree this results in; empty for uncommitted changes
    files: Annotated[tuple[FileEdit, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    lane: Lane = Lane.LIVE


class CommitFileRequest(Message):
    """Reads a file at a commit in the repository's mirror, secrets redacted."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref  # or a branch or tag, as of the last fetch
    path: FilePath


class CommitFileReply(Message):
    """The text, and its commit."""

    commit: str
    blob: str
    text: str
    size_bytes: int


class CommitFilesRequest(Message):
    """Lists the files of a commit in the repository's mirror."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref


class CommitFilesReply(Message):
    """Paths with their sizes, in order, and their commit."""

    commit: str
    files: tuple[SnapshotFile, ...]


class AdmitUploadRequest(CallerRequest):
    """Checks that a tenant may upload contents for a job."""

    job: JobId


class AdmitUploadReply(Message):
    """What the job still accepts."""

    is_open: bool  # False: the job has ended
    bytes_max: Count = 0  # the total size of the files that the job needs


class JobRequest(CallerRequest):
    """Returns a job, or the newest job of `repo`."""

    job: JobIdOrNone = ""
    repo: RepoKeyOrNone = ""


class JobReply(Message):
    """The job."""

    job: Job


class CancelJobRequest(CallerRequest):
    """Ends a running job. What the index serves stays as it is."""

    job: JobId


class JobsRequest(CallerRequest):
    """Lists the newest jobs of a tenant."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50


class JobsReply(Message):
    """Jobs, newest first, and the tenant's repositories with their layers."""

    jobs: tuple[Job, ...]
    repositories: tuple[Repository, ...]
    layers: tuple[Layer, ...] = ()  # sorted by ref, without expired ones


OPEN_SNAPSHOT = Rpc(
    "ingest.open_snapshot",
    OpenSnapshotRequest,
    OpenSnapshotReply,
    deadline_s=110,
    timeout=Timeout.IMPORT,
    writes=True,
)
ADMIT_UPLOAD = Rpc("ingest.admit_upload", AdmitUploadRequest, AdmitUploadReply, deadline_s=10, writes=True)
STORE_SCIP = Rpc(
    "ingest.store_scip", StoreScipRequest, StoreScipReply, deadline_s=280, timeout=Timeout.SCIP, writes=True
)
LIST_SCIP = Rpc("ingest.list_scip", ListScipRequest, ListScipReply, deadline_s=10, reads=True)
REMOVE_SCIP = Rpc("ingest.remove_scip", RemoveScipRequest, RemoveScipReply, deadline_s=10)
CLONE = Rpc("ingest.clone", CloneRequest, JobReply, deadline_s=20, writes=True)
EDIT = Rpc("ingest.edit", EditRequest, JobReply, deadline_s=60, timeout=Timeout.IMPORT, writes=True)
COMMIT_FILE = Rpc("ingest.commit_file", CommitFileRequest, CommitFileReply, deadline_s=10, reads=True)
COMMIT_FILES = Rpc("ingest.commit_files", CommitFilesRequest, CommitFilesReply, deadline_s=10, reads=True)
JOB = Rpc("ingest.job", JobRequest, JobReply, deadline_s=10, reads=True)
CANCEL_JOB = Rpc("ingest.cancel_job", CancelJobRequest, JobReply, deadline_s=10)
JOBS = Rpc("ingest.jobs", JobsRequest, JobsReply, deadline_s=10, reads=True)
