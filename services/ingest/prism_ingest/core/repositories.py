"""The state of a repository, from its record and its last job."""

from prism_contracts.records import Job, JobState, Repository
from prism_contracts.rpc.repositories import IndexState

_FAILED = frozenset({JobState.FAILED, JobState.ABANDONED})


def state_of(repository: Repository, last: Job | None) -> IndexState:
    """Returns the state of a repository. `last` is its newest job; None if its record has expired."""
    if repository.active_job:
        return IndexState.INDEXING
    if last is not None and last.state in _FAILED:
        return IndexState.FAILED
    return IndexState.INDEXED if repository.served else IndexState.REGISTERED
