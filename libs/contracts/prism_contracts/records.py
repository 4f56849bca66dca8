"""The small facts that live in JetStream key-value buckets: repositories, jobs, tokens."""

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Lane, Message
from prism_contracts.errors import ErrorBody
from prism_contracts.types import TENANT_PATTERN, CommitIdOrNone, Count, FilePath, ShortText

# No ref has a colon: the handle of an overlay is never taken for a branch.
OVERLAY_HANDLE = "overlay:"
HISTORY_COMMITS_MAX = 2_000
HISTORY_FILES_MAX = 20_000


# What JetStream allows in a key, less the dot that separates its parts.
_KEY_PART = re.compile(r"[A-Za-z0-9_-]{1,200}")


def record_key(*parts: str) -> str:
    """The key of a record, from its parts. A part that no key may hold is replaced by its hash: every text has a key, and
    no two texts share one.
    """
    return ".".join(part if _KEY_PART.fullmatch(part) else _hashed(part) for part in parts)


def _hashed(part: str) -> str:
    return f"={hashlib.sha256(part.encode(errors='surrogatepass')).hexdigest()}"


class LayerState(Message):
    """What a layer of a repository serves now."""

    commit: str  # git commit, or `tree:<digest>` for a folder without git
    ref: str = ""  # the branch or tag that was asked for or checked out
    dirty: bool = False  # the snapshot had uncommitted changes
    version: int
    job: str
    indexed_at: datetime
    # What the index was made with, if it holds exactly this commit: the next import may go by the difference of commits.
    basis: str = ""
    # Files of the base, as counted by the import that listed all of them; -1 if no import did.
    files: int = -1


class Indexed(Message):
    """What jobs bring up to date, one at a time: the base of a repository, or another layer of it."""

    head_commit: str = ""  # the newest commit that Prism has heard of
    head_seen_at: datetime | None = None
    next_version: int = 1
    active_job: str = ""
    is_pushed: bool = False  # a push came while a job was under way
    served: LayerState | None = None
    # The job that ended before it was complete and may have replaced some of the files that are served.
    unfinished: str = ""

    @property
    def is_quiet(self) -> bool:
        """Whether the newest job has ended well: nothing is being written."""
        return (
            self.served is not None and not self.active_job and self.served.version == self.next_version - 1
        )

    def lag_s(self, now: datetime) -> float:
        """For how long something has been known that is not served, in seconds: a commit, or edits of one that are on their way."""
        if self.head_seen_at is None:
            return 0.0
        is_moving = self.active_job and self.served and self.served.dirty
        if self.served and self.served.commit == self.head_commit and not is_moving:
            return 0.0
        return round((now - self.head_seen_at).total_seconds(), 3)


def repository_key(tenant: str, repo: str) -> str:
    """Key of a repository's record."""
    return record_key(tenant, repo)


UPLOAD: Final = "upload"


class Repository(Indexed):
    """A repository that a tenant has registered, and the state of its base layer."""

    tenant: str
    repo: str
    name: str  # owner/name
    source: str  # UPLOAD, or the git URL without credentials
    ref: str = ""  # what of the git URL is followed; empty for the default branch
    created_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return repository_key(self.tenant, self.repo)

    @property
    def is_fetched(self) -> bool:
        """Whether Prism fetches it itself, from a git URL."""
        return self.source != UPLOAD


def layer_key(tenant: str, repo: str, layer: str) -> str:
    """Key of a layer's record."""
    return record_key(tenant, repo, layer)


class LayerKind(StrEnum):
    """Where a layer comes from, and so what ends it."""

    BRANCH = "branch"  # or a tag, or a commit: whatever `ref` names at the remote
    PULL_REQUEST = "pull_request"
    OVERLAY = "overlay"  # uncommitted edits of a client


class Layer(Indexed):
    """What a branch, a pull request or somebody's uncommitted edits have in the place of the base's files.

    A layer that serves nothing yet is known and cannot be asked. Which files it has lies in the object store, see `LayerFiles`:
    putting the record is what makes them visible, all at once.
    """

    tenant: str
    repo: str
    layer: str  # see `layer_id`
    kind: LayerKind
    ref: str  # as people call it: branch, tag, `pull/12`, or the handle of an overlay
    parent: str = BASE_LAYER  # of an overlay: the layer that it lies on
    source: str = UPLOAD  # or what of the repository's git URL is fetched, a full ref or a commit
    base_version: int = 0  # of the base that its files were told apart from
    base_commit: str = ""  # whose tree that was exactly; empty if it was no commit's
    files: str = ""  # name in OBJECTS_LAYERS, empty as long as nothing is served
    files_changed: int = 0
    files_hidden: int = 0
    files_missing: int = 0  # that the base has replaced since, and whose content nobody has sent
    size_bytes: int = 0  # of what it has in the base's place
    created_at: datetime
    expires_at: datetime | None = None

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return layer_key(self.tenant, self.repo, self.layer)

    def is_expired(self, now: datetime) -> bool:
        """Whether nobody sees it any more."""
        return self.expires_at is not None and self.expires_at <= now

    def behind_s(self, base: Repository, now: datetime) -> float:
        """As `lag_s`, or for how long the base has served what the layer was not told apart from yet. What is below an overlay
        is looked up when a question comes.
        """
        served = base.served
        if self.kind is LayerKind.OVERLAY or served is None or self.base_version >= served.version:
            return self.lag_s(now)
        return max(self.lag_s(now), round((now - served.indexed_at).total_seconds(), 3))


class LayerFiles(Message):
    """The files of a layer that its base does not have so, in the order of their paths."""

    # Path -> the layer of its own that this content of this path has in the store, see `variant_layer`.
    variants: dict[str, str] = {}
    hidden: tuple[str, ...] = ()  # paths that the base has and the layer has not
    # Of an upload: the blobs of all files by path, so that it can be told apart from the next base.
    listing: dict[str, str] = {}


class Condemned(Message):
    """Variants of a repository that no layer had when they were looked for: whoever needs one makes it anew."""

    tenant: str
    repo: str
    variants: dict[str, str]  # by the layers of their own that they have, see `variant_layer`: their paths
    below: int  # the version that those have at least that were made anew since

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return repository_key(self.tenant, self.repo)


def scip_key(tenant: str, repo: str, layer: str, indexer: str, root: str) -> str:
    """Key of the record of a repository's SCIP index: one an indexer and folder."""
    part = hashlib.sha256(f"{indexer}\0{root}".encode()).hexdigest()[:16]
    return record_key(tenant, repo, layer, part)


class ScipIndex(Message):
    """The newest SCIP index of a repository by one indexer: what it says lies in the object store."""

    tenant: str
    repo: str
    layer: str = BASE_LAYER
    indexer: str
    root: str = ""  # the folder that it is of
    commit: str
    version: int  # that the commit was indexed as
    object: str  # in OBJECTS_SCIP
    files: int
    stored_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return scip_key(self.tenant, self.repo, self.layer, self.indexer, self.root)


class HistoryCommit(Message):
    """A commit: the head of its hash, when it was made, the first line of its message."""

    commit: CommitIdOrNone
    at: datetime
    message: ShortText


class HistoryFile(Message):
    """How often a file changed lately. `last` is the position of its last commit in the history."""

    path: FilePath
    last: Count
    commits_90_days: Count
    commits_12_months: Count


class History(Message):
    """What changed in the last 12 months: commits, newest first, and files by their last change. Merges are no changes."""

    version: Count = 0  # of the job that brought it
    commits: Annotated[tuple[HistoryCommit, ...], Field(max_length=HISTORY_COMMITS_MAX)] = ()
    files: Annotated[tuple[HistoryFile, ...], Field(max_length=HISTORY_FILES_MAX)] = ()
    is_shallow: bool = False  # the repository does not hold all of that time
    is_cut: bool = False  # there are more commits, or files, than are looked at


class JobState(StrEnum):
    """Where a job is. The last four are final."""

    CLONING = "cloning"
    INDEXING = "indexing"
    COMPLETE = "complete"
    COMPLETE_WITH_ERRORS = "complete_with_errors"
    FAILED = "failed"
    ABANDONED = "abandoned"


FINAL_STATES = frozenset(
    {JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS, JobState.FAILED, JobState.ABANDONED}
)


class FileProblem(Message):
    """A file that failed or was skipped, and why."""

    path: str
    code: str
    detail: str = ""


class SlowFile(Message):
    """A file that took the parser long."""

    path: str
    milliseconds: float


class JobCounts(Message):
    """Files of a job. In the end `seen + removals = unchanged + indexed + skipped + failed + removed`.

    Without a removal that failed: `seen = unchanged + indexed + skipped + failed`.
    """

    seen: int = 0
    unchanged: int = 0
    indexed: int = 0
    skipped: int = 0
    failed: int = 0
    removed: int = 0
    chunks: int = 0
    bytes: int = 0


class Job(Message):
    """One import of one snapshot into one layer."""

    job: str
    tenant: str
    repo: str
    repo_name: str
    layer: str = BASE_LAYER
    lane: Lane
    version: int = 0
    state: JobState
    commit: str = ""
    ref: str = ""
    dirty: bool = False
    counts: JobCounts = JobCounts()
    basis: str = ""  # what its files are indexed with, see LayerState
    files: int = -1  # files of the base, if the job listed all of them
    # Files that need work, by their ordinals: `expected` of them, one bit each in `settled`.
    expected: int = 0
    settled: bytes = b""
    problems: tuple[FileProblem, ...] = ()
    slowest: tuple[SlowFile, ...] = ()  # the slowest first
    error: ErrorBody | None = None
    # The steps from a push to the end. None where there was no such step.
    pushed_at: datetime | None = None  # Prism heard of it
    created_at: datetime
    fetched_at: datetime | None = None  # the commit is here
    planned_at: datetime | None = None  # what changed is known
    updated_at: datetime
    finished_at: datetime | None = None


class Token(Message):
    """A developer token. Only the SHA-256 of the secret is kept, as the record's key."""

    tenant: str = Field(pattern=TENANT_PATTERN)
    label: str
    created_at: datetime
    revoked_at: datetime | None = None
    scopes: tuple[str, ...] = Field(default=("read", "write"))


class Secrets(Message):
    """What a repository's owner has entrusted to Prism. Never logged, never part of a reply."""

    webhook_secret: str = Field("", repr=False)  # signs what a forge posts
    git_host: str = ""  # `host` or `host:port`: nobody else is shown the login
    git_username: str = Field("", repr=False)
    git_password: str = Field("", repr=False)  # or a token


class SealedSecrets(Message):
    """Secrets as they are stored: encrypted for one repository, see prism_runtime.vault."""

    sealed: bytes


class Delivery(Message):
    """A webhook that was taken, so often."""

    times: int = 0


class Installation(Message):
    """What is random about this installation, made once."""

    job_key: bytes  # job ids are derived with it, so that nobody else can predict them


INSTALLATION = "installation"


class Component(Message):
    """The version of a part that the content address of every indexed file depends on."""

    version: str  # of the chunker, or the fingerprint of a model's weights
    dimension: int = 0  # of a model's vectors


COMPONENT_CHUNKER = "chunker"
COMPONENT_FAST_MODEL = "embedder-fast"
COMPONENT_DEEP_MODEL = "embedder-deep"


def graph_key(tenant: str, repo: str, layer: str) -> str:
    """Key of the record of a graph."""
    return record_key(tenant, repo, layer)


class GraphRecord(Message):
    """The newest graph of a layer of a repository, which lies in the object store."""

    tenant: str
    repo: str
    layer: str = BASE_LAYER
    version: int  # of the import that it was built after
    commit: str
    indexes: tuple[str, ...] = ()  # objects of the SCIP indexes that it was built with, in order
    format: str  # how the object is written; another version of Prism builds its own
    object: str
    size_bytes: int  # when it is mapped
    files: int
    symbols: int
    edges: int
    built_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return graph_key(self.tenant, self.repo, self.layer)
