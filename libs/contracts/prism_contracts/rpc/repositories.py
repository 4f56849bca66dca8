"""Repositories as their owners manage them: their state, imports on request, and their removal."""

from enum import StrEnum

from prism_contracts.base import Lane, Message
from prism_contracts.errors import ErrorBody
from prism_contracts.records import Job, Repository, TasksOnMerge
from prism_contracts.registry import Rpc, Timeout
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.imports import JobReply
from prism_contracts.types import (
    Count,
    FilePath,
    GitUrl,
    Globs,
    RefName,
    RepoKey,
    RepoName,
    RepoNameOrNone,
    TenantId,
)


class IndexState(StrEnum):
    """What a repository is doing."""

    REGISTERED = "registered"  # nothing is indexed, and no import has failed
    INDEXING = "indexing"
    INDEXED = "indexed"
    FAILED = "failed"  # the last import failed; an older commit may be served


class RegisterRequest(CallerRequest):
    """Registers a repository that Prism fetches, and imports it if `index` is set.

    `repo_name`: derived from the URL if empty. `ref`: the default branch if empty.
    """

    url: GitUrl
    repo_name: RepoNameOrNone = ""
    ref: RefName = ""
    is_active: bool | None = None  # None: as it is, and active if it is new
    # Which files to import, see `Repository`. None: as they are, and all if it is new.
    repo_root_prefix: FilePath | None = None
    include: Globs | None = None
    exclude: Globs | None = None
    index: bool = True
    lane: Lane = Lane.BULK


class UpdateRepositoryRequest(CallerRequest):
    """Changes settings of a repository. Those that are None stay. The next import applies the others.

    `name` renames it at once. Tokens and groups that list its old name no longer mean it.
    """

    repo: RepoKey
    name: RepoName | None = None
    ref: RefName | None = None  # empty: the default branch
    is_active: bool | None = None
    repo_root_prefix: FilePath | None = None  # empty: the whole repository
    include: Globs | None = None  # empty: all files
    exclude: Globs | None = None
    tasks_on_merge: TasksOnMerge | None = None  # at once


class ClearCacheRequest(CallerRequest):
    """Drops the cached answers of a repository, in every copy of every service."""

    repo: RepoKey


class RepositoryReply(Message):
    """A repository, whether it was created now, and the job that imports it, if any."""

    repository: Repository
    created: bool = False
    job: Job | None = None


class RepositoryStatusRequest(CallerRequest):
    """Returns the state of a repository and its last import."""

    repo: RepoKey  # owner/name, or its id


class RepositoryStatusReply(Message):
    """A repository, and the imports of its base."""

    repository: Repository
    state: IndexState
    lag_seconds: float  # see `Indexed.lag_s`
    layers: Count  # branches and pull requests, without overlays
    active_job: Job | None = None
    last_job: Job | None = None  # the newest, running or not; None if its record has expired
    last_error: ErrorBody | None = None  # why the last import failed


class ReindexRequest(CallerRequest):
    """Imports a repository that Prism fetches again.

    By default, the changes since the served commit are enough.
    """

    repo: RepoKey
    full: bool = False  # compare every file with the index
    force: bool = False  # index every file again, also unchanged ones; implies `full`
    lane: Lane = Lane.BULK


class RemoveRepositoryRequest(CallerRequest):
    """Removes a repository with everything that is stored of it."""

    repo: RepoKey  # owner/name


class RemoveRepositoryReply(Message):
    """The removed repository. Nothing answers for it any more; its data is deleted in the background."""

    repo: str  # owner/name
    jobs_cancelled: Count


class DropPointsRequest(Message):
    """Deletes points of a removed repository."""

    tenant: TenantId
    repo: RepoKey  # id


class DropPointsReply(Message):
    """Whether all points of the repository are deleted. If not, the request is repeated."""

    is_done: bool


class DropTenantRequest(Message):
    """Deletes the index of a removed tenant."""

    tenant: TenantId


class DropTenantReply(Message):
    """How many points the index had."""

    points: Count


REGISTER = Rpc("ingest.register", RegisterRequest, RepositoryReply, deadline_s=20, writes=True)
UPDATE_REPOSITORY = Rpc(
    "ingest.update_repository", UpdateRepositoryRequest, RepositoryReply, deadline_s=10, writes=True
)
CLEAR_CACHE = Rpc("ingest.clear_cache", ClearCacheRequest, RepositoryReply, deadline_s=10, writes=True)
REPOSITORY_STATUS = Rpc(
    "ingest.repository_status", RepositoryStatusRequest, RepositoryStatusReply, deadline_s=10, reads=True
)
REINDEX = Rpc("ingest.reindex", ReindexRequest, JobReply, deadline_s=20, writes=True)
REMOVE_REPOSITORY = Rpc(
    "ingest.remove_repository",
    RemoveRepositoryRequest,
    RemoveRepositoryReply,
    deadline_s=30,
    timeout=Timeout.IMPORT,
)
DROP_POINTS = Rpc("indexer.drop_points", DropPointsRequest, DropPointsReply, deadline_s=12)
DROP_TENANT = Rpc("indexer.drop_tenant", DropTenantRequest, DropTenantReply, deadline_s=30)
