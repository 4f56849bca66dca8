"""Events: facts in the past tense, and the one command that starts an import.

`topics` shows how they follow each other.

If two events are about one file (tenant, repository, layer, path), the one with the higher `version` wins,
whatever their order of arrival.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Event, Lane, Message
from prism_contracts.code import Chunk, FileFlags, SkipReason, Symbol
from prism_contracts.records import Anchor, AnchoredKind
from prism_contracts.types import (
    PUSHED_COMMITS_MAX,
    CommitId,
    CommitIdOrNone,
    CommitMessage,
    Digest,
    GitUrl,
    JobId,
    LayerId,
    MessageVersion,
    PackBytes,
    RefName,
    RepoKey,
    RepoName,
    ShortText,
    TenantId,
)


class FileEvent(Event):
    """The fields of every event about a file."""

    v: int = 1
    tenant: str
    repo: str  # id of the repository, see `repo_id`
    layer: str = BASE_LAYER
    path: str  # relative to the repository, POSIX
    version: int = Field(ge=1)  # order of snapshots of a layer, assigned by ingest
    job: str
    ordinal: int = Field(
        ge=0
    )  # position of the file in the job, so that a file counts once however often it is reported
    lane: Lane

    @property
    def address(self) -> dict[str, Any]:
        """The fields that identify the file and the job, for an event that follows from this one."""
        return {name: getattr(self, name) for name in FileEvent.model_fields}

    @property
    def message_id(self) -> str:
        """Idempotency key, the same for every attempt to publish the event."""
        return self.message_id_of(type(self))

    def message_id_of(self, event_type: "type[FileEvent]") -> str:
        """Returns the idempotency key of an event of this type about the same file of the same job."""
        return f"{event_type.__name__}:{self.job}:{self.ordinal}"


class FileChanged(FileEvent):
    """The file now has this text. Producer: ingest. Consumer: chunker."""

    blob: str  # git blob hash (SHA-1, hex) of the bytes in the repository
    size_bytes: int
    text: str  # redacted, decoded as UTF-8 with replacement
    flags: FileFlags = FileFlags()
    language: str = ""  # set by .gitattributes, else empty
    redactions: tuple[str, ...] = ()  # names of the secret rules that matched, never the secret
    redaction: str = ""  # version of the rules, part of the content address
    decode_errors: bool = False


class FileRemoved(FileEvent):
    """The file was removed from the layer. Producer: ingest. Consumer: indexer."""


class FileSkipped(FileEvent):
    """The file exists and is not searchable. Producer: ingest. Consumer: indexer."""

    blob: str
    size_bytes: int
    reason: SkipReason
    detail: str = ""


class FileFailed(FileEvent):
    """A stage gave up on the file. Producer: ingest, from the dead letters. Consumer: indexer."""

    stage: str
    code: str
    detail: str = ""


class FileChunked(FileEvent):
    """The file as chunks, symbols and references. Producer: chunker. Consumer: embedder."""

    blob: str
    size_bytes: int
    line_count: int
    language: str  # lower-case id, empty if unknown
    flags: FileFlags
    chunker: str  # version of the chunker, part of the content address
    parse: str = "ok"  # ok, partial (syntax errors), lines (no grammar), too_large, timeout, crashed
    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...] = ()
    # Lists of `Reference` and `Binding`, packed by prism_runtime.packing. No service in between reads them.
    references: str = ""
    bindings: str = ""
    redactions: tuple[str, ...] = ()
    decode_errors: bool = False
    chunk_ms: float = 0.0  # how long the parser took


class Vectors(Message):
    """Vectors of a list of texts, row after row, as little-endian float16."""

    model: str  # fingerprint of the weights
    dimension: int = Field(ge=1)
    count: int = Field(ge=0)
    data: bytes


class FileEmbedded(FileEvent):
    """The chunked file and one vector per chunk. Producer: embedder. Consumer: indexer."""

    file: FileChunked
    vectors: Vectors


class FileVersion(Message):
    """One version of a file in the index."""

    file: str  # id of the file point, see `file_id`
    generation: str


class Card(FileVersion):
    """A summary of a file in words, for the deep model."""

    text: str


class DeepModelStarted(Event):
    """A deep model started: the index may lack vectors of it.

    Producer: embedder (deep). Consumer: indexer.
    """

    v: int = 1
    model: str  # fingerprint of the weights
    start: str  # identifies this start

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"DeepModelStarted:{self.start}"


class DeepEmbeddingRequested(Event):
    """Summaries of indexed files for the deep model to embed.

    Producer: indexer. Consumer: embedder (deep).
    """

    v: int = 1
    tenant: str
    lane: Lane
    model: str  # the model that shall embed them; another one ignores the event
    cards: tuple[Card, ...]

    @property
    def message_id(self) -> str:
        """Idempotency key: the same for equal requests to the same model."""
        return f"DeepEmbeddingRequested:{_digest(self.tenant, self.model, self.cards)}"


class DeepEmbedded(Event):
    """Deep vectors of files, one each, valid for these versions.

    Producer: embedder (deep). Consumer: indexer.
    """

    v: int = 1
    tenant: str
    files: tuple[FileVersion, ...]
    vectors: Vectors

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"DeepEmbedded:{_digest(self.tenant, self.vectors.model, self.files)}"


class Outcome(StrEnum):
    """How a file of a job ended."""

    INDEXED = "indexed"
    REMOVED = "removed"
    SKIPPED = "skipped"
    FAILED = "failed"
    SUPERSEDED = "superseded"  # the index already had a newer version


class SettledFile(Message):
    """A file of a job whose change is durable in the index, or has failed for good."""

    path: str
    ordinal: int = Field(ge=0)
    outcome: Outcome
    chunks: int = 0
    chunk_ms: float = 0.0
    code: str = ""
    detail: str = ""


class FilesSettled(Event):
    """One write's files of a job are settled. Producer: indexer. Consumer: ingest, which counts them."""

    v: int = 1
    tenant: str
    job: str
    files: tuple[SettledFile, ...]

    @property
    def message_id(self) -> str:
        """Idempotency key: the same files of the same job."""
        ordinals = ",".join(str(file.ordinal) for file in self.files)
        return f"FilesSettled:{self.job}:{hashlib.sha256(ordinals.encode()).hexdigest()}"


class RepoIndexed(Event):
    """Every file of a job is settled.

    Producer: ingest. Consumer: services that derive data from a whole repository.
    """

    v: int = 1
    tenant: str
    repo: str
    layer: str = BASE_LAYER
    version: int
    job: str
    commit: str
    complete: bool  # False if a file failed
    lane: Lane = Lane.BULK  # the lane of its files

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"RepoIndexed:{self.job}"


class ScipStored(Event):
    """A SCIP index of a repository was stored, and replaces an older one.

    Producer: ingest. Consumer: atlas.
    """

    v: int = 1
    tenant: str
    repo: str
    object: str  # in OBJECTS_SCIP

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"ScipStored:{self.object}"


class ScipRemoved(Event):
    """A SCIP index of a repository was removed: the rules of Prism count again.

    Producer: ingest. Consumer: atlas.
    """

    v: int = 1
    tenant: str
    repo: str
    object: str  # the index that was deleted from OBJECTS_SCIP

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"ScipRemoved:{self.object}"


class FilesDropped(Event):
    """These variants are in no layer any more.

    Producer: ingest. Consumer: indexer, which deletes their points.
    """

    v: int = 1
    tenant: str
    files: tuple[str, ...]  # ids of file points, see `file_id`
    below: int  # points of this version and later stay: they were written again
    round: str  # identifies the sweep that found them unused

    @property
    def message_id(self) -> str:
        """Idempotency key: the same files of the same round."""
        return f"FilesDropped:{self.round}:{hashlib.sha256(''.join(self.files).encode()).hexdigest()}"


class AnchorsBroken(Event):
    """Places that a document or task names have changed or are gone, so that it may be out of date.

    Producer: workspace. Consumer: none of Prism; it is for a team's own automation.
    """

    v: int = 1
    tenant: str
    kind: AnchoredKind
    subject: str  # id of the document or task
    content: str  # SHA-256 of the text that names them
    # The indexed commit at which they were found changed, or `uncommitted`; empty if their repository was removed.
    commit: str
    version: int = 0  # version of the import that served it
    anchors: tuple[Anchor, ...]  # those that broke now; earlier ones were reported before

    @property
    def message_id(self) -> str:
        """Idempotency key: the same places of the same text after the same import."""
        places = "\n".join(f"{one.repo} {one.path} {one.symbol} {one.text}" for one in self.anchors)
        digest = hashlib.sha256(f"{self.content}\n{places}".encode()).hexdigest()
        return f"AnchorsBroken:{self.tenant}:{self.kind}:{self.subject}:{self.commit}:{self.version}:{digest}"


class FilesUploaded(Event):
    """A client uploaded a pack of file contents of a snapshot. Producer: gateway. Consumer: ingest."""

    v: MessageVersion = 1
    tenant: TenantId
    job: JobId
    pack: Digest  # digest of the pack, which makes a repeated upload harmless
    data: PackBytes  # see prism_source.pack

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"FilesUploaded:{self.job}:{self.pack}"


class PushedCommit(Message):
    """A commit of a push, with the beginning of its message."""

    commit: CommitId
    message: CommitMessage


PushedCommits = Annotated[tuple[PushedCommit, ...], Field(max_length=PUSHED_COMMITS_MAX)]


class MergedPullRequest(Message):
    """A pull request that was merged, as the forge reports it."""

    url: GitUrl = ""  # its page
    title: ShortText = ""
    body: CommitMessage = ""  # its beginning
    branch: RefName = ""  # its own; empty if it is in a fork
    target: RefName = ""  # the branch that it was merged into


class PushReceived(Event):
    """A branch may have moved at the remote. Ingest looks there: nothing in this event is indexed.

    What it says of commits and of a merged pull request concerns tasks only.

    Producer: gateway (webhooks), ingest (poll). Consumer: ingest.
    """

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    branch: RefName = ""  # empty for the branch that the repository follows
    # For a pull request: its short name (`pull/12`) and the full ref to fetch. Otherwise both are empty.
    pull_request: RefName = ""
    ref: RefName = ""
    is_deleted: bool = False  # the branch was deleted, or the pull request closed
    default_branch: RefName = ""  # as the forge reports it, or empty
    commit: CommitIdOrNone = ""  # the head of the branch, if the sender knows it
    # As the forge reports them. Only for branches that Prism does not fetch.
    commits: PushedCommits = ()
    merged: MergedPullRequest | None = None
    delivery: ShortText  # identifies the push, and the attempt to deliver it
    received_at: datetime
    lane: Lane = Lane.LIVE

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"PushReceived:{self.tenant}:{self.repo}:{self.delivery}"


class BranchPushed(Event):
    """A branch moved at the remote, and has these new commits.

    Producer: ingest. Consumer: workspace, which links the tasks that the branch and the messages name.
    """

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    name: RepoName  # owner/name at the time of the push
    branch: RefName = ""  # empty if the repository follows a commit
    # The newest ones, oldest first. Commits that were pushed before may be among them.
    commits: PushedCommits = ()
    push: ShortText  # identifies the push: the job that fetched it, or the delivery that announced it

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"BranchPushed:{self.tenant}:{self.repo}:{self.push}"


class PullRequestMerged(Event):
    """A pull request was merged into the branch that Prism follows.

    Producer: ingest. Consumer: workspace, which may complete the tasks that it names.
    """

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    name: RepoName  # owner/name at the time of the merge
    pull_request: RefName  # its short name, `pull/12`
    merged: MergedPullRequest
    delivery: ShortText  # the webhook's delivery id

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"PullRequestMerged:{self.tenant}:{self.repo}:{self.delivery}"


class JobLetter(Message):
    """The part of an upload or a clone command that a dead letter keeps.

    Producer: every service. Consumer: ingest.
    """

    tenant: TenantId
    job: JobId


class CloneRequested(Event):
    """Command: update a layer to the tree of a ref at a git URL. Producer: ingest. Consumer: ingest."""

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    layer: LayerId = BASE_LAYER
    job: JobId
    url: GitUrl
    ref: RefName = ""
    incremental: bool = False  # import only the changes since the served commit, if git can list them
    lane: Lane = Lane.BULK

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"CloneRequested:{self.job}"


def _digest(tenant: str, model: str, files: Iterable[FileVersion]) -> str:
    """Returns the SHA-256 of a model and the file versions that it shall embed."""
    versions = (f"{file.file} {file.generation}" for file in files)
    return hashlib.sha256("\n".join((tenant, model, *versions)).encode()).hexdigest()
