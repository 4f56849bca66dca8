"""Records in JetStream key-value buckets: repositories, layers, jobs, tokens."""

import hashlib
import re
import unicodedata
import uuid
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Lane, Message, repo_id
from prism_contracts.errors import ErrorBody
from prism_contracts.types import (
    COUNT_MAX,
    TENANT_PATTERN,
    CommitIdOrNone,
    Count,
    Digest,
    DocumentFields,
    DocumentSources,
    DocumentTags,
    FilePath,
    GitUrl,
    RefName,
    RepoName,
    ShortText,
    TaskText,
)

# A ref cannot contain a colon, so no branch has the name of an overlay.
OVERLAY_HANDLE = "overlay:"
HISTORY_COMMITS_MAX = 2_000
HISTORY_FILES_MAX = 20_000
ANCHORS_MAX = 100
# In place of a commit: the index holds edits that no commit does.
UNCOMMITTED: Final = "uncommitted"
# The same for documents while no commit has ever held all of them as they are.
NO_TREE: Final = f"tree:{'0' * 64}"
# Together they fit a value of a bucket.
LINK_REPOS_MAX = 500
WANTED_LINKS_MAX = 4


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


class TasksOnMerge(StrEnum):
    """What a merged pull request of a repository does to the tasks that it names."""

    INSTALLATION = "installation"  # what `PRISM_TASKS_COMPLETED_BY_MERGE` says
    COMPLETE = "complete"
    KEEP = "keep"


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
    tasks_on_merge: TasksOnMerge = TasksOnMerge.INSTALLATION
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
    trace: str = ""  # W3C `traceparent` of what began the job, if it is traced


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


class SignedOn(Message):
    """A person who signed on through an identity provider, as the access token said then."""

    issuer: str
    tenant: str = Field(pattern=TENANT_PATTERN)
    id: str  # as in audit and usage
    label: str
    scopes: tuple[str, ...]


class Session(Message):
    """A person who signed in to the console, or a code that lets one sign in once.

    Only the SHA-256 of the cookie or the code is stored, as the record's key. Either `token` or `person` is set.
    """

    token: Digest | None = None  # the developer token that signed in
    person: SignedOn | None = None
    made_at: datetime
    seen_at: datetime
    ends_at: datetime
    is_code: bool = False


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
    MODEL_TOKENS_PER_DAY = "model_tokens_per_day"  # language models; missing: PRISM_LLM_TOKENS_PER_DAY
    MODEL_CENTS_PER_DAY = "model_cents_per_day"  # US cents; missing: PRISM_LLM_CENTS_PER_DAY


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


def model_day_key(tenant: str, day: date) -> str:
    """Returns the key of what a tenant used of language models on a day."""
    return record_key(tenant, f"{day:%Y%m%d}")


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


class WikiPageKind(StrEnum):
    """What a page of a wiki is about."""

    OVERVIEW = "overview"
    COMPONENT = "component"
    FLOWS = "flows"
    TYPES = "types"
    SETTINGS = "settings"
    ERRORS = "errors"
    EXTENDING = "extending"
    GUIDE = "guide"
    DOCUMENTS = "documents"
    CONVENTIONS = "conventions"
    GLOSSARY = "glossary"


class WikiTocEntry(Message):
    """A planned page. `subject` is the name of its component."""

    key: str
    title: str
    kind: WikiPageKind
    subject: str = ""


class WikiState(StrEnum):
    """How far a wiki is."""

    PLANNING = "planning"  # the table of contents waits for the graph; older pages can be read
    RUNNING = "running"
    COMPLETE = "complete"
    COMPLETE_WITH_ERRORS = "complete_with_errors"  # some pages failed; the next trigger tries them again
    FAILED = "failed"  # no page could be planned; the next trigger tries again

    @property
    def is_under_way(self) -> bool:
        """Whether a run is at it, or was stopped."""
        return self in {WikiState.PLANNING, WikiState.RUNNING}


class OlderWikiPage(Message):
    """A text that a newer one has replaced."""

    object: str
    commit: str  # the last commit that it described
    written_at: datetime


class WikiPageState(Message):
    """A written page. Its text is an object, which is written again only if its sources changed."""

    source_hash: str  # hash of everything that the page is made of, without what a language model wrote
    model: str = ""  # the language model that wrote its introduction
    object: str
    size_bytes: int
    version: int  # the import that the page was last compared with; 0 if it has to be compared again
    commit: str  # the commit of that import
    written_at: datetime
    older: tuple[OlderWikiPage, ...] = ()  # the newest first


class FailedWikiPage(Message):
    """A page that could not be written, with the last error and the number of attempts in all runs."""

    key: str
    title: str
    error: str
    attempts: int


def wiki_key(tenant: str, repo: str) -> str:
    """Returns the key of a wiki's record."""
    return record_key(tenant, repo)


class WikiRecord(Message):
    """The wiki of a repository. Its table of contents is stored before the first page.

    While it is planned, the table of contents is the one of the import before.
    """

    tenant: str
    repo: str
    state: WikiState
    format: int  # version of the page writer; a new version writes all pages again
    version: int  # the import that the wiki describes, or is planned for
    commit: str
    toc: tuple[WikiTocEntry, ...]
    pages: dict[str, WikiPageState] = {}
    failed_pages: tuple[FailedWikiPage, ...] = ()
    error: str = ""  # why it failed
    started_at: datetime
    alive_at: datetime | None = None  # when its run last reported that it is alive
    finished_at: datetime | None = None

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return wiki_key(self.tenant, self.repo)

    @property
    def is_planned(self) -> bool:
        """Whether the table of contents is the one of its version."""
        return bool(self.toc) and self.state not in {WikiState.PLANNING, WikiState.FAILED}


class DescriptionsState(StrEnum):
    """How far the descriptions of a repository are."""

    RUNNING = "running"
    PAUSED = "paused"  # the model cannot be asked now; the run goes on by itself
    COMPLETE = "complete"


def descriptions_key(tenant: str, repo: str) -> str:
    """Returns the key of the record of a repository's descriptions."""
    return record_key(tenant, repo)


class DescriptionsRecord(Message):
    """A run in which a language model describes the files and components of a repository."""

    tenant: str
    repo: str
    state: DescriptionsState
    version: int  # the import that is described
    owner: str  # a random id of the process that runs it
    model: str
    total: int = 0
    done: int = 0
    failed: int = 0
    message: str = ""
    started_at: datetime
    alive_at: datetime  # when its run last reported that it is alive
    finished_at: datetime | None = None

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return descriptions_key(self.tenant, self.repo)


def written_description_key(tenant: str, repo: str, content: str) -> str:
    """Returns the key of what a model wrote about a content."""
    return record_key(tenant, repo, content)


class WrittenDescription(Message):
    """What a language model wrote about a content. An empty text says that nothing useful came of it."""

    text: str = Field(max_length=300)
    model: str
    written_at: datetime


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


def document_key(tenant: str, document: str) -> str:
    """Returns the key of a document's record."""
    return record_key(tenant, document)


def document_id(tenant: str, path: str) -> str:
    """Returns the id of a document: a UUID5 of its tenant and the path that it is created at.

    Two documents created at one path have one key, so the second creation is noticed.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"prism:{tenant}:{folded_path(path)}"))


def folded_path(path: str) -> str:
    """Returns the path in the form in which paths are compared: neither case nor composition counts.

    Some file systems cannot tell such paths apart. It is the canonical caseless match of Unicode (D145).
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


class DraftNote(Message):
    """One of the drafts of a document since its last commit."""

    version: Count
    blob: str
    by: str = ""  # the label of the caller's token
    at: datetime


class DocumentRecord(Message):
    """A document of a tenant. The blobs are git objects, whose hashes are kept here.

    `blob` is what callers read and search. A document whose `blob` is not the `committed_blob` is a draft.
    """

    tenant: str
    document: str  # see `document_id`
    path: str
    blob: str
    committed_blob: str = ""  # empty: no commit has it yet
    commit: str = ""  # a commit that holds `committed_blob` at its path
    indexed_blob: str = ""  # the blob that the last completed import indexed
    title: str
    tags: DocumentTags = ()
    category: str = ""
    url: str = ""  # where a captured page comes from
    description: str = ""
    sources: DocumentSources = ()  # ids of documents, or URLs
    custom: DocumentFields = {}
    created_at: datetime
    modified_at: datetime
    is_generated: bool = True  # False: captured, read-only
    word_count: Count = 0
    summary: str = ""  # the beginning of its text, 200 characters at most
    version: Count = 1  # counts the changes that a caller or a push to the remote made
    conflict: str = ""  # path of the document with the version of the remote, until the next update
    drafts: tuple[DraftNote, ...] = ()  # the last ones since its commit, the newest last
    imported_blob: str = ""  # the git hash of the last file that was imported at its path
    imported_version: Count = 0  # the version that this import made

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return document_key(self.tenant, self.document)

    @property
    def is_removed(self) -> bool:
        """Whether it is gone, and only the index may still have it."""
        return not self.blob

    @property
    def is_draft(self) -> bool:
        """Whether no commit holds its newest content."""
        return self.blob != self.committed_blob

    @property
    def is_indexed(self) -> bool:
        """Whether the index holds its newest content. A commit leaves that as it is."""
        return self.indexed_blob == self.blob


def document_remote_key(tenant: str) -> str:
    """Returns the key of a tenant's remote."""
    return record_key(tenant, "remote")


class DocumentRemote(Message):
    """The git repository of a team that its documents are pushed to, and how far that has come."""

    tenant: str
    url: str  # without a login
    branch: RefName
    set_by: str = ""  # who set it, as the audit names people
    set_at: datetime
    # The repository of documents: its secrets hold the login, and what signs the webhook.
    repo: RepoName = "prism/documents"
    announced: Count = 0  # how many pushes a webhook has announced
    remote_commit: str = ""  # the newest commit of that branch that the documents contain
    checked_at: datetime | None = None  # when the remote last answered
    next_at: datetime  # when it is looked at again
    wants_push: bool = False  # what is committed is to be pushed as soon as possible
    failures: Count = 0  # consecutive failures
    error: ErrorBody | None = None  # why the last try failed

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return document_remote_key(self.tenant)


class AnchoredKind(StrEnum):
    """What has anchors."""

    DOCUMENT = "document"
    TASK = "task"


class AnchorKind(StrEnum):
    """What an anchor holds on to."""

    FILE = "file"
    LINES = "lines"
    SYMBOL = "symbol"


class StaleReason(StrEnum):
    """Why an anchor does not hold any more."""

    FILE_GONE = "file_gone"
    SYMBOL_GONE = "symbol_gone"  # the file is there, its definition is not
    TEXT_CHANGED = "text_changed"  # the definition or the lines have other text
    REPOSITORY_REMOVED = "repository_removed"  # no repository of that name is registered any more


class Staleness(Message):
    """Since when an anchor does not hold any more."""

    reason: StaleReason
    # The first indexed commit at which it did not hold, or `UNCOMMITTED`; empty if its repository was removed.
    commit: str
    found_at: datetime


class Anchor(Message):
    """A place of code that a document or task names.

    It holds while the text of that place is what it was when it was linked, wherever in the repository it moves.
    Lines whose text their file has several times hold while the lines before or after them are the same, too.
    """

    repo: str  # id of the repository
    repo_name: str = ""  # its name; who may see that name sees the anchor after the repository was removed
    kind: AnchorKind
    path: str
    symbol: str = ""  # qualified; empty unless it is a symbol
    start_line: int = 0  # where the text is now, or was last; 0 for a file
    end_line: int = 0
    text: str = ""  # SHA-256 of the lines when it was linked; empty for a file
    context: Count = 0  # how many lines before and after are compared
    before: str = ""  # SHA-256 of the lines before; empty without `context`
    after: str = ""
    commit: str  # the indexed commit at which it was linked
    blob: str  # blob of the file at the last check; empty if the file was gone
    stale: Staleness | None = None


def anchors_key(tenant: str, kind: AnchoredKind, subject: str) -> str:
    """Returns the key of the anchors of a document or task."""
    return record_key(tenant, kind.value, subject)


class WantedLinks(Message):
    """A text whose places are to be linked, as soon as it is the one of its document or task."""

    content: str  # identifies the text: its SHA-256
    # Names of the repositories that its writer may see, in lower case; None: all of the tenant's.
    visible: Annotated[tuple[str, ...], Field(max_length=LINK_REPOS_MAX)] | None = None
    # The repository that its writer works in, as the client named it: a name that several have is meant there.
    repo: str = ""
    wanted_at: datetime


class AnchorsRecord(Message):
    """The anchors of a document or task.

    What is wanted is written before the text itself, because it holds what the writer may see: links lead
    nowhere else. Several texts may be wanted, of which one is written.
    """

    tenant: str
    kind: AnchoredKind
    subject: str  # id of the document or task
    wanted: Annotated[tuple[WantedLinks, ...], Field(max_length=WANTED_LINKS_MAX)] = ()  # the newest last
    linked: str = ""  # SHA-256 of the text whose places `anchors` are; empty if none is linked yet
    anchors: Annotated[tuple[Anchor, ...], Field(max_length=ANCHORS_MAX)] = ()

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return anchors_key(self.tenant, self.kind, self.subject)


def task_key(tenant: str, task: str) -> str:
    """Returns the key of a task's record."""
    return record_key(tenant, task)


class TaskChange(Message):
    """A change of a task: who made it and when. The two statuses differ if it changed the status."""

    version: Count  # the version that it made
    at: datetime
    by: str  # the label of the caller's token, `push` for links that a push made, or `pull request`
    changed: tuple[str, ...]  # names of the fields
    from_status: str | None = None  # None: the task was created
    to_status: str
    # The pull request that completed it, if one did: owner/name, its short name (`pull/12`), and its page.
    repo: str = ""
    pull_request: str = ""
    url: GitUrl = ""


class PlanningReference(Message):
    """What plans a task, such as a specification, or what it is about."""

    file_path: FilePath  # or a symbol, a document's id, an address
    reference_type: str  # see `rpc.tasks.ReferenceType`


class BranchLink(Message):
    """A branch on which a task is worked on."""

    branch_name: str
    repo: str = ""  # owner/name; empty if it is not known
    linked_at: datetime


class CommitLink(Message):
    """A commit that belongs to a task."""

    commit_hash: str  # 40 hex digits
    commit_message: ShortText = ""  # its first line
    repo: str = ""  # owner/name; empty if it is not known
    linked_at: datetime


class TaskRecord(Message):
    """A task of a tenant. Each change replaces the whole record, so no part can differ from another."""

    tenant: str
    task: str  # a UUID
    title: str
    description: TaskText = ""
    notes: TaskText = ""
    status: str
    repo: str = ""  # owner/name; only callers who see it see the task. Empty: every caller of the tenant
    version: Count = 1  # counts the changes
    created_at: datetime
    updated_at: datetime
    created_by: str = ""
    references: tuple[PlanningReference, ...] = ()
    branches: tuple[BranchLink, ...] = ()
    commits: tuple[CommitLink, ...] = ()
    # The creation and the newest changes, oldest first. See `version` for how many there were.
    history: tuple[TaskChange, ...] = ()

    @property
    def key(self) -> str:
        """Key in the bucket."""
        return task_key(self.tenant, self.task)
