"""Records in JetStream key-value buckets: repositories, layers, jobs, tokens."""

import hashlib
import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Lane, Message, repo_id
from prism_contracts.errors import ErrorBody
from prism_contracts.types import COUNT_MAX, TENANT_PATTERN, CommitIdOrNone, Count, FilePath, ShortText

# A ref cannot contain a colon, so no branch has the name of an overlay.
OVERLAY_HANDLE = "overlay:"
HISTORY_COMMITS_MAX = 2_000
HISTORY_FILES_MAX = 20_000


# The characters that JetStream allows in a key, without the dot that separates its parts.
_KEY_PART = re.compile(r"[A-Za-z0-9_-]{1,200}")


def record_key(*parts: str) -> str:
    """Returns the key of a record. A part with characters that keys may not contain is replaced by its hash.

    Every sequence of parts has a key, and no two share one.
    """
    return ".".join(part if _KEY_PART.fullmatch(part) else _hashed(part) for part in parts)


def _hashed(part: str) -> str:
    return f"={hashlib.sha256(part.encode(errors='surrogatepass')).hexdigest()}"


class LayerState(Message):
    """The state of a repository that a layer serves."""

    commit: str  # git commit, or `tree:<digest>` for a folder without git
    ref: str = ""  # the branch or tag that was requested or checked out
    dirty: bool = False  # the snapshot had uncommitted changes
    version: int
    job: str
    indexed_at: datetime
    # Chunker and model, if the index holds exactly this commit: the next import may then use the diff of
    # commits.
    basis: str = ""
    # Files of the base, counted by the last import that listed all of them; -1 if none did.
    files: int = -1


class Indexed(Message):
    """A target of imports, one job at a time: the base of a repository, or one of its layers."""

    head_commit: str = ""  # the newest known commit
    head_seen_at: datetime | None = None
    next_version: int = 1
    active_job: str = ""
    last_job: str = ""  # the job that began last, running or not
    is_pushed: bool = False  # a push arrived while a job was running
    served: LayerState | None = None
    # A job that failed and may have replaced some of the served files.
    unfinished: str = ""

    @property
    def has_begun(self) -> bool:
        """Whether an import of it ever began."""
        return self.next_version > 1 or self.served is not None

    @property
    def is_quiet(self) -> bool:
        """Whether the newest job completed: no import is writing."""
        return (
            self.served is not None and not self.active_job and self.served.version == self.next_version - 1
        )

    def lag_s(self, now: datetime) -> float:
        """How long a newer commit, or newer edits, have been known and not served, in seconds."""
        if self.head_seen_at is None:
            return 0.0
        is_moving = self.active_job and self.served and self.served.dirty
        if self.served and self.served.commit == self.head_commit and not is_moving:
            return 0.0
        return round((now - self.head_seen_at).total_seconds(), 3)


def repository_key(tenant: str, repo: str) -> str:
    """Returns the key of a repository's record."""
    return record_key(tenant, repo)


UPLOAD: Final = "upload"


class Repository(Indexed):
    """A repository that a tenant has registered, and the state of its base layer."""

    tenant: str
    repo: str
    name: str  # owner/name
    source: str  # UPLOAD, or the git URL without credentials
    ref: str = ""  # the ref that Prism follows; empty for the default branch
    is_active: bool = True  # inactive: neither polled nor updated by webhooks
    # Which files are imported: those below a folder, and by globs. Empty: all.
    repo_root_prefix: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    cache_epoch: int = 0  # how often its cached answers were dropped
    renaming_to: str = ""  # the name that it is about to have
    created_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return repository_key(self.tenant, self.repo)

    @property
    def is_fetched(self) -> bool:
        """Whether Prism fetches it from a git URL."""
        return self.source != UPLOAD


class RemovedRepository(Message):
    """A removed repository of which something may be left."""

    repo: str
    removed_at: datetime


def repository_name_key(tenant: str, name: str) -> str:
    """Returns the key of a name's record."""
    return record_key(tenant, repo_id(name))


class RepositoryName(Message):
    """Which repository a name means. A name without a record means the repository with the id `repo_id(name)`.

    The record is what makes a removal durable: `removed` lists what is still to be deleted.
    """

    tenant: str
    name: str  # owner/name
    repo: str  # the repository with this name, whether it exists or not
    removed: tuple[RemovedRepository, ...] = ()

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return repository_name_key(self.tenant, self.name)


def layer_key(tenant: str, repo: str, layer: str) -> str:
    """Returns the key of a layer's record."""
    return record_key(tenant, repo, layer)


class LayerKind(StrEnum):
    """The origin of a layer, which decides when it ends."""

    BRANCH = "branch"  # or a tag, or a commit: anything that `ref` names at the remote
    PULL_REQUEST = "pull_request"
    OVERLAY = "overlay"  # uncommitted edits of a client


class Layer(Indexed):
    """A branch, a pull request or uncommitted edits, as overrides of the base's files.

    A layer that serves nothing yet cannot be queried. Its list of files is in the object store
    (`LayerFiles`). Writing this record makes all of them visible at once.
    """

    tenant: str
    repo: str
    layer: str  # see `layer_id`
    kind: LayerKind
    ref: str  # its short name: branch, tag, `pull/12`, or the handle of an overlay
    parent: str = BASE_LAYER  # for an overlay: the layer below it
    source: str = UPLOAD  # or the full ref or commit that is fetched from the repository's git URL
    base_version: int = 0  # version of the base that its files were diffed against
    base_commit: str = ""  # the commit with exactly that tree, or empty
    files: str = ""  # name in OBJECTS_LAYERS; empty until the layer serves something
    files_changed: int = 0
    files_hidden: int = 0
    files_missing: int = 0  # files that the base has replaced since, whose content no client has sent
    size_bytes: int = 0  # of its overrides
    created_at: datetime
    expires_at: datetime | None = None

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return layer_key(self.tenant, self.repo, self.layer)

    def is_expired(self, now: datetime) -> bool:
        """Whether it has expired."""
        return self.expires_at is not None and self.expires_at <= now

    def behind_s(self, base: Repository, now: datetime) -> float:
        """As `lag_s`, or how long the base has been ahead of the version that this layer was diffed against.

        For an overlay, the layer below it is looked up with each question.
        """
        served = base.served
        if self.kind is LayerKind.OVERLAY or served is None or self.base_version >= served.version:
            return self.lag_s(now)
        return max(self.lag_s(now), round((now - served.indexed_at).total_seconds(), 3))


class LayerFiles(Message):
    """The overrides of a layer, in the order of their paths."""

    # Path -> the layer in the store that holds this content of this path, see `variant_layer`.
    variants: dict[str, str] = {}
    hidden: tuple[str, ...] = ()  # paths that the layer deletes
    # For an upload: the blobs of all files by path, to diff it against the next base.
    listing: dict[str, str] = {}


class Condemned(Message):
    """Variants of a repository that a sweep found unused. An import that needs one writes it again."""

    tenant: str
    repo: str
    variants: dict[str, str]  # variant layer (see `variant_layer`) -> path
    below: int  # the lowest version of variants that were written again since

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return repository_key(self.tenant, self.repo)


def scip_key(tenant: str, repo: str, layer: str, indexer: str, root: str) -> str:
    """Returns the key of a repository's SCIP index: one per indexer and folder."""
    part = hashlib.sha256(f"{indexer}\0{root}".encode()).hexdigest()[:16]
    return record_key(tenant, repo, layer, part)


class ScipIndex(Message):
    """The newest SCIP index of a repository by one indexer. Its occurrences are in the object store."""

    tenant: str
    repo: str
    layer: str = BASE_LAYER
    indexer: str
    root: str = ""  # the folder that it covers
    commit: str
    version: int  # the version under which that commit was indexed
    object: str  # in OBJECTS_SCIP
    files: int
    stored_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return scip_key(self.tenant, self.repo, self.layer, self.indexer, self.root)


class HistoryCommit(Message):
    """A commit: the beginning of its hash, its time, the first line of its message."""

    commit: CommitIdOrNone
    at: datetime
    message: ShortText


class HistoryFile(Message):
    """How often a file changed recently. `last` is the position of its last commit in the history."""

    path: FilePath
    last: Count
    commits_90_days: Count
    commits_12_months: Count


class History(Message):
    """Changes of the last 12 months: commits, newest first, and files by their last change.

    Merges do not count.
    """

    version: Count = 0  # of the job that imported it
    commits: Annotated[tuple[HistoryCommit, ...], Field(max_length=HISTORY_COMMITS_MAX)] = ()
    files: Annotated[tuple[HistoryFile, ...], Field(max_length=HISTORY_FILES_MAX)] = ()
    is_shallow: bool = False  # the clone does not reach back 12 months
    is_cut: bool = False  # more commits or files exist than are read


class JobState(StrEnum):
    """The state of a job. The last five are final."""

    CLONING = "cloning"
    INDEXING = "indexing"
    COMPLETE = "complete"
    COMPLETE_WITH_ERRORS = "complete_with_errors"
    FAILED = "failed"
    ABANDONED = "abandoned"  # it made no progress, or its layer was deleted
    CANCELLED = "cancelled"


FINAL_STATES = frozenset(
    {
        JobState.COMPLETE,
        JobState.COMPLETE_WITH_ERRORS,
        JobState.FAILED,
        JobState.ABANDONED,
        JobState.CANCELLED,
    }
)


class FileProblem(Message):
    """A file that failed or was skipped, and why."""

    path: str
    code: str
    detail: str = ""


class SlowFile(Message):
    """A file that was slow to parse."""

    path: str
    milliseconds: float


class JobCounts(Message):
    """Files of a job. When it ends, `seen + removals = unchanged + indexed + skipped + failed + removed`.

    If no removal failed: `seen = unchanged + indexed + skipped + failed`.
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
    incremental: bool = False  # import only the changes since the served commit, if git can list them
    force: bool = False  # index every file again, also unchanged ones
    counts: JobCounts = JobCounts()
    basis: str = ""  # chunker and model, see LayerState
    files: int = -1  # files of the base, if the job listed all of them
    # The number of files that need work, and one bit per ordinal for those that are settled.
    expected: int = 0
    settled: bytes = b""
    problems: tuple[FileProblem, ...] = ()
    slowest: tuple[SlowFile, ...] = ()  # the slowest first
    error: ErrorBody | None = None
    # Times of the steps from a push to the end. None for a step that did not take place.
    pushed_at: datetime | None = None  # Prism was notified
    created_at: datetime
    fetched_at: datetime | None = None  # the commit is fetched
    planned_at: datetime | None = None  # the changes are known
    updated_at: datetime
    finished_at: datetime | None = None


class CancelledJob(Message):
    """A job that was cancelled: every service skips its files. Key in the bucket: the id of the job."""

    tenant: str
    job: str
    at: datetime


class Token(Message):
    """A developer token. Only the SHA-256 of the secret is stored, as the record's key."""

    tenant: str = Field(pattern=TENANT_PATTERN)
    label: str
    created_at: datetime
    revoked_at: datetime | None = None
    scopes: tuple[str, ...] = Field(default=("read", "write"))
    # owner/name or @group; empty for every repository of the tenant.
    repos: tuple[str, ...] = ()
    expires_at: datetime | None = None
    created_by: str = ""  # id of the caller that created it; empty for the first token
    last_used_at: datetime | None = None  # to the minute

    def is_valid(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class Limit(StrEnum):
    """What a plan limits."""

    REQUESTS_PER_DAY = "requests_per_day"
    REQUESTS_PER_MINUTE = "requests_per_minute"
    SEARCHES_PER_MINUTE = "searches_per_minute"
    CREATES_PER_MINUTE = "creates_per_minute"
    EMBEDDINGS_PER_MINUTE = "embeddings_per_minute"
    TOKEN_PERCENT = "token_percent"  # noqa: S105 - the share of these three that one token may use
    REPOSITORIES = "repositories"
    CHUNKS = "chunks"  # of all repositories
    IMPORTS_AT_ONCE = "imports_at_once"
    OVERLAYS = "overlays"


# A limit that is missing, or None, is no limit.
Limits = dict[Limit, Annotated[int, Field(ge=0, le=COUNT_MAX)] | None]


class RemovedCounts(Message):
    """What was deleted of a removed tenant."""

    repositories: Count = 0
    jobs_cancelled: Count = 0
    tokens: Count = 0
    points: Count = 0  # points in the index
    records: Count = 0  # others: layers, groups, secrets, graphs, answers
    objects: Count = 0
    messages: Count = 0  # usage, rate limits, questions, feedback, dead letters


class TenantRemoval(Message):
    """The removal of a tenant. While its record has one, its data is deleted and its id is taken."""

    requested_at: datetime
    deleted_at: datetime | None = None  # when all that was there was deleted
    last_found_at: datetime  # when something was last found; work that was running may write once more
    removed: RemovedCounts = RemovedCounts()


class Tenant(Message):
    """A tenant. Its tokens are refused while it is inactive."""

    tenant: str = Field(pattern=TENANT_PATTERN)  # its key in the bucket
    name: str = ""  # for people
    plan: str
    limits: Limits = {}  # instead of those of the plan; None lifts a limit
    is_active: bool = True
    search_history: bool | None = None  # whether questions are kept; None: as PRISM_SEARCH_HISTORY says
    created_at: datetime
    removal: TenantRemoval | None = None


def group_key(tenant: str, name: str) -> str:
    """Returns the key of a group's record."""
    return record_key(tenant, name)


class Group(Message):
    """Repositories of a tenant under one name, which may replace a repository's name in questions and tokens."""

    tenant: str = Field(pattern=TENANT_PATTERN)
    name: str  # without the @
    repos: tuple[str, ...]  # owner/name, whether they exist or not
    created_at: datetime
    created_by: str = ""  # id of the caller

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return group_key(self.tenant, self.name)


class Secrets(Message):
    """The secrets of a repository. Never logged, never part of a reply."""

    webhook_secret: str = Field("", repr=False)  # signs the webhooks of a forge
    git_host: str = ""  # `host` or `host:port`, the only server that receives the login
    git_username: str = Field("", repr=False)
    git_password: str = Field("", repr=False)  # or a token


class SealedSecrets(Message):
    """Secrets as they are stored: encrypted for one repository, see prism_catalog.vault."""

    sealed: bytes


class KeptRequest(Message):
    """A request with an `Idempotency-Key`, and its answer once it succeeded.

    Key in the bucket: the SHA-256 of the caller's id and the idempotency key.
    """

    request: str  # SHA-256 of method, path, query, repository and body
    attempt: str  # a random id of who handles it
    began_at: datetime
    status: int = 0  # 0 while it is in progress
    sealed: bytes = Field(b"", repr=False)  # the body, encrypted with the caller's token


class Delivery(Message):
    """How often a webhook delivery was accepted."""

    times: int = 0


class Installation(Message):
    """A random secret of this installation, generated once."""

    job_key: bytes  # the key of job ids, which makes them unpredictable


INSTALLATION = "installation"


class ModelVersion(Message):
    """The running version of the chunker or of a model, on which content addresses depend."""

    version: str  # the chunker's version, or the fingerprint of a model's weights
    dimension: int = 0  # the dimension of a model's vectors


CHUNKER_KEY = "chunker"
FAST_MODEL_KEY = "embedder-fast"
DEEP_MODEL_KEY = "embedder-deep"


def graph_key(tenant: str, repo: str, layer: str) -> str:
    """Returns the key of a graph's record."""
    return record_key(tenant, repo, layer)


class GraphRecord(Message):
    """The newest graph of a repository's layer. The graph itself is in the object store."""

    tenant: str
    repo: str
    layer: str = BASE_LAYER
    version: int  # version of the import that it was built after
    commit: str
    indexes: tuple[str, ...] = ()  # objects of the SCIP indexes that it includes, in order
    format: str  # format of the object; another version of Prism builds its own
    object: str
    size_bytes: int  # once it is memory-mapped
    files: int
    symbols: int
    edges: int
    built_at: datetime

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return graph_key(self.tenant, self.repo, self.layer)
