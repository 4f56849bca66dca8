"""Repositories as their owners manage them: their state, and imports on request."""

from enum import StrEnum

from prism_contracts.base import Lane, Message
from prism_contracts.errors import ErrorBody
from prism_contracts.records import Job, Repository
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.imports import JobReply
from prism_contracts.types import Count, RepoKey


class IndexState(StrEnum):
    """What a repository is doing."""

    REGISTERED = "registered"  # nothing is indexed, and no import has failed
    INDEXING = "indexing"
    INDEXED = "indexed"
    FAILED = "failed"  # the last import failed; an older commit may be served


class RepositoryStatusRequest(CallerRequest):
    """Returns the state of a repository and its last import."""

    repo: RepoKey  # owner/name, or its id


class RepositoryStatusReply(Message):
    """A repository, and the imports of its base."""

    repository: Repository
    state: IndexState
    lag_seconds: float  # see `Indexed.lag_s`
    layers: Count  # of branches and pull requests; overlays do not count
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


REPOSITORY_STATUS = Rpc(
    "ingest.repository_status", RepositoryStatusRequest, RepositoryStatusReply, deadline_s=10
)
REINDEX = Rpc("ingest.reindex", ReindexRequest, JobReply, deadline_s=20, writes=True)
