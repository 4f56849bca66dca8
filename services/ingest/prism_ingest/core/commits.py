"""Which commits of a repository were indexed, and as which version."""

from collections.abc import Iterable, Mapping

from prism_contracts.base import BASE_LAYER
from prism_contracts.records import Job, JobState, Repository

SERVED = frozenset({JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS})


def commits_indexed(repository: Repository, jobs: Iterable[Job]) -> Mapping[str, int]:
    """Version by commit, the newest first: what is served, and what ended jobs brought that are still known.

    A snapshot with uncommitted changes is no commit. Files of a lower or the same version are as the commit has them, unless
    they were replaced since: then their version is higher.
    """
    found: dict[str, int] = {}
    served = repository.served
    if served and served.commit and not served.dirty:
        found[served.commit] = served.version
    for job in jobs:
        is_own = (job.tenant, job.repo, job.layer) == (repository.tenant, repository.repo, BASE_LAYER)
        if is_own and job.state in SERVED and job.commit and not job.dirty:
            found[job.commit] = max(job.version, found.get(job.commit, 0))
    return dict(sorted(found.items(), key=lambda one: -one[1]))
