"""Events: facts in the past tense, and the one command that starts an import. `topics` shows how they follow each other.

Of two events about one file (tenant, repository, layer, path) the one with the higher `version` wins, whatever their order of
arrival.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Event, Lane, Message
from prism_contracts.code import Chunk, FileFlags, SkipReason, Symbol
from prism_contracts.types import (
    CommitIdOrNone,
    Digest,
    GitUrl,
    JobId,
    LayerId,
    MessageVersion,
    PackBytes,
    RefName,
    RepoKey,
    ShortText,
    TenantId,
)


class FileEvent(Event):
    """What every event about a file carries."""

    v: int = 1
    tenant: str
    repo: str  # id of the repository, see `repo_id`
    layer: str = BASE_LAYER
    path: str  # relative to the repository, POSIX
    version: int = Field(ge=1)  # order of snapshots of a layer, assigned by ingest
    job: str
    ordinal: int = Field(ge=0)  # position of the file in the job: counting it twice is counting it once
    lane: Lane

    @property
    def address(self) -> dict[str, Any]:
        """The fields that say which file of which job, for an event that follows from this one."""
        return {name: getattr(self, name) for name in FileEvent.model_fields}

    @property
    def message_id(self) -> str:
        """Idempotency key, the same for every attempt to say the same thing."""
        return self.message_id_of(type(self))

    def message_id_of(self, event_type: "type[FileEvent]") -> str:
        """That of an event of this type about the same file of the same job."""
        return f"{event_type.__name__}:{self.job}:{self.ordinal}"


class FileChanged(FileEvent):
    """The file has this text now. Producer: ingest. Consumer: chunker."""

    blob: str  # git blob hash (SHA-1, hex) of the bytes in the repository
    size_bytes: int
    text: str  # redacted, decoded as UTF-8 with replacement
    flags: FileFlags = FileFlags()
    language: str = ""  # set by .gitattributes, else empty
    redactions: tuple[str, ...] = ()  # names of the secret rules that matched, never the secret
    redaction: str = ""  # version of the rules, part of the content address
    decode_errors: bool = False


class FileRemoved(FileEvent):
    """The file is gone from the layer. Producer: ingest. Consumer: indexer."""


class FileSkipped(FileEvent):
    """The file exists and is not searchable, for this reason. Producer: ingest. Consumer: indexer."""

    blob: str
    size_bytes: int
    reason: SkipReason
    detail: str = ""


class FileFailed(FileEvent):
    """A stage gave the file up after its last attempt. Producer: ingest, from the dead letters. Consumer: indexer."""

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
    # Of `Reference` and `Binding`, as prism_runtime.packing packs them: nobody on the way reads them.
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
    """The chunked file and one vector a chunk. Producer: embedder. Consumer: indexer."""

    file: FileChunked
    vectors: Vectors


class FileVersion(Message):
    """A version of a file in the index: what is said of it holds for no other."""

    file: str  # id of the file point, see `file_id`
    generation: str


class Card(FileVersion):
    """What a file is about, in words, for the deep model."""

    text: str


class DeepModelStarted(Event):
    """A deep model runs: files without a vector of it are to be filled in. Producer: embedder (deep). Consumer: indexer."""

    v: int = 1
    model: str  # fingerprint of the weights
    start: str  # tells one start from another

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"DeepModelStarted:{self.start}"


class DeepEmbeddingRequested(Event):
    """Cards of indexed files of a tenant, to be embedded by the deep model. Producer: indexer. Consumer: embedder (deep)."""

    v: int = 1
    tenant: str
    lane: Lane
    model: str  # who is asked; another one leaves it
    cards: tuple[Card, ...]

    @property
    def message_id(self) -> str:
        """Idempotency key: the same for every attempt to ask the same of the same model."""
        return f"DeepEmbeddingRequested:{_digest(self.tenant, self.model, self.cards)}"


class DeepEmbedded(Event):
    """Deep vectors of files, one each, for as long as they are of these versions.

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
    SUPERSEDED = "superseded"  # a newer version was there already


class SettledFile(Message):
    """A file of a job whose change is durable in the index, or which has failed for good."""

    path: str
    ordinal: int = Field(ge=0)
    outcome: Outcome
    chunks: int = 0
    chunk_ms: float = 0.0
    code: str = ""
    detail: str = ""


class FilesSettled(Event):
    """These files of a job are settled: as many as were written at once. Producer: indexer. Consumer: ingest, which
    counts jobs by it.
    """

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
    """Every file of a job is settled. Producer: ingest. Consumer: whoever derives things from a whole repository."""

    v: int = 1
    tenant: str
    repo: str
    layer: str = BASE_LAYER
    version: int
    job: str
    commit: str
    complete: bool  # False if a file failed
    lane: Lane = Lane.BULK  # in which its files went

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"RepoIndexed:{self.job}"


class ScipStored(Event):
    """What a SCIP index says of a repository is kept, in the place of what an older one said. Producer: ingest. Consumer: atlas."""

    v: int = 1
    tenant: str
    repo: str
    object: str  # in OBJECTS_SCIP

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"ScipStored:{self.object}"


class FilesDropped(Event):
    """These variants are in no layer any more. Producer: ingest. Consumer: indexer, which takes their points away."""

    v: int = 1
    tenant: str
    files: tuple[str, ...]  # ids of file points, see `file_id`
    below: int  # points of this version and of later ones stay: somebody has made them anew
    round: str  # tells one look for what nobody needs from another

    @property
    def message_id(self) -> str:
        """Idempotency key: the same files of the same round."""
        return f"FilesDropped:{self.round}:{hashlib.sha256(''.join(self.files).encode()).hexdigest()}"


class FilesUploaded(Event):
    """A pack of file contents of a snapshot that a client sends. Producer: gateway. Consumer: ingest."""

    v: MessageVersion = 1
    tenant: TenantId
    job: JobId
    pack: Digest  # digest of the pack, makes a repeated upload harmless
    data: PackBytes  # see prism_source.pack

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"FilesUploaded:{self.job}:{self.pack}"


class PushReceived(Event):
    """A branch of a repository may have moved at its remote. It is looked at there: what is said here is never indexed.

    Producer: gateway (webhooks), ingest (poll). Consumer: ingest.
    """

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    branch: RefName = ""  # empty for the one that the repository follows
    # Of a pull request: what people call it (`pull/12`), and the full ref that is fetched. Else both are empty.
    pull_request: RefName = ""
    ref: RefName = ""
    is_deleted: bool = False  # the branch is gone, or the pull request closed
    default_branch: RefName = ""  # as the forge says it; empty if it does not
    commit: CommitIdOrNone = ""  # where the branch is, as far as the sender knows
    delivery: ShortText  # tells one push, and one attempt to tell of it, from another
    received_at: datetime
    lane: Lane = Lane.LIVE

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"PushReceived:{self.tenant}:{self.repo}:{self.delivery}"


class JobLetter(Message):
    """What a dead letter keeps of an upload or of a clone command. Producer: every service. Consumer: ingest."""

    tenant: TenantId
    job: JobId


class CloneRequested(Event):
    """Command: bring a layer to the tree of a ref of a git URL. Producer: ingest. Consumer: ingest."""

    v: MessageVersion = 1
    tenant: TenantId
    repo: RepoKey
    layer: LayerId = BASE_LAYER
    job: JobId
    url: GitUrl
    ref: RefName = ""
    incremental: bool = (
        False  # look only at what changed since the commit that is served, if that can be told
    )
    lane: Lane = Lane.BULK

    @property
    def message_id(self) -> str:
        """Idempotency key."""
        return f"CloneRequested:{self.job}"


def _digest(tenant: str, model: str, files: Iterable[FileVersion]) -> str:
    """SHA-256 of which versions of which files a model is asked for."""
    versions = (f"{file.file} {file.generation}" for file in files)
    return hashlib.sha256("\n".join((tenant, model, *versions)).encode()).hexdigest()
