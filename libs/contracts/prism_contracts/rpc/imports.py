"""How code gets in: snapshots, packs, clones, edits, SCIP indexes, and the jobs that import them."""

from typing import Annotated, Literal

from pydantic import Field

from prism_contracts.base import Lane, Message
from prism_contracts.code import (
    FileFlags,
    SkipReason,
)
from prism_contracts.records import UPLOAD, History, Job, Layer, Repository
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import SNAPSHOT_FILES_MAX
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
    """One file of a snapshot, known by hash before its content is sent."""

    path: FilePath
    blob: BlobHash
    size_bytes: Count
    skipped: SkipReason | None = None
    detail: ShortText = ""
    flags: FileFlags = FileFlags()
    language: Language = ""


class OpenSnapshotRequest(Message):
    """Bring a repository, or a layer of it, to this set of files. `snapshot` makes a repeated request the same request."""

    tenant: TenantIdOrNone  # empty on its way from a client: the token decides it
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


class OpenSnapshotReply(Message):
    """The job, and the ordinals of the files whose contents are wanted (positions in the request's `files`)."""

    job: Job
    needed: tuple[int, ...]


class StoreScipRequest(Message):
    """Take a SCIP index in: made of a commit that was indexed, of the whole repository or of a folder of it."""

    tenant: TenantId
    repo: RepoKey  # owner/name

    commit: CommitId
    root: FilePath = ""  # the folder that the paths of the index begin at
    object: ShortText  # in OBJECTS_CLAIMS: the index, as it is or gzipped


class LeftOutDocument(Message):
    """A document of a SCIP index of which nothing was taken: `outside`, `not_indexed`, `changed` or `repeated`."""

    path: str
    reason: str


class StoreScipReply(Message):
    """What was taken from a SCIP index. Documents are those of files that are still as the commit has them."""

    repo: str
    commit: str
    indexer: str
    # False if an index of a newer commit is kept already.
    stored: bool
    documents: int
    files: int
    definitions: int
    uses: int
    implementations: int
    left_out: dict[str, int] = {}
    examples: tuple[LeftOutDocument, ...] = ()
    # Occurrences at positions that no text has.
    unreadable: int = 0


class CloneRequest(Message):
    """Clone or fetch a git URL and index a ref of it (the default branch if empty)."""

    tenant: TenantId
    url: GitUrl
    repo_name: RepoNameOrNone = ""
    ref: RefName = ""
    lane: Lane = Lane.BULK


class FileEdit(Message):
    """A file as it is to be."""

    path: FilePath
    content: FileBytes | None  # None: the file is gone
    # The blob that the edit was made from, empty if there was no such file; None: whatever is there.
    base_blob: BlobHash | None = None


class EditRequest(Message):
    """Change some files of a repository: those given, and those that a unified diff makes of what is indexed."""

    tenant: TenantId
    repo_name: RepoKey
    base_commit: CommitIdOrNone = ""  # that must be served; empty: whatever is
    commit: CommitIdOrNone = ""  # whose tree the files then are; empty: none, there are uncommitted changes
    files: Annotated[tuple[FileEdit, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    lane: Lane = Lane.LIVE


class CommitFileRequest(Message):
    """The text of a file at a commit that the repository's mirror holds, secrets redacted."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref  # or a branch or tag, as the remote had it when it was fetched
    path: FilePath


class CommitFileReply(Message):
    """The text, and which commit it is of."""

    commit: str
    blob: str
    text: str
    size_bytes: int


class CommitFilesRequest(Message):
    """The files of a commit that the repository's mirror holds."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref


class CommitFilesReply(Message):
    """Paths with their sizes, in order, and which commit they are of."""

    commit: str
    files: tuple[SnapshotFile, ...]


class AdmitUploadRequest(Message):
    """Asks whether a tenant may upload contents for a job."""

    tenant: TenantId
    job: JobId


class AdmitUploadReply(Message):
    """What a job of the tenant still accepts."""

    is_open: bool  # False: the job has ended and needs no contents
    bytes_max: Count = 0  # the total size of the files whose contents the job needs


class JobRequest(Message):
    """The state of a job; or of a repository's newest job, if only `repo` is given."""

    tenant: TenantId
    job: JobIdOrNone = ""
    repo: RepoKeyOrNone = ""


class JobReply(Message):
    """The job."""

    job: Job


class JobsRequest(Message):
    """The newest jobs of a tenant."""

    tenant: TenantId
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class JobsReply(Message):
    """Jobs, newest first, and the tenant's repositories with their layers."""

    jobs: tuple[Job, ...]
    repositories: tuple[Repository, ...]
    layers: tuple[Layer, ...] = ()  # by their refs; those that have expired are left out


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
CLONE = Rpc("ingest.clone", CloneRequest, JobReply, deadline_s=20, writes=True)
EDIT = Rpc("ingest.edit", EditRequest, JobReply, deadline_s=60, timeout=Timeout.IMPORT, writes=True)
COMMIT_FILE = Rpc("ingest.commit_file", CommitFileRequest, CommitFileReply, deadline_s=10)
COMMIT_FILES = Rpc("ingest.commit_files", CommitFilesRequest, CommitFilesReply, deadline_s=10)
JOB = Rpc("ingest.job", JobRequest, JobReply, deadline_s=10)
JOBS = Rpc("ingest.jobs", JobsRequest, JobsReply, deadline_s=10)
