"""The commits of a repository that were indexed, and their versions; the commits that are new."""

from collections.abc import Iterable, Mapping

from prism_contracts.base import BASE_LAYER
from prism_contracts.events import PushedCommits
from prism_contracts.records import Job, JobState, Repository

SERVED = frozenset({JobState.COMPLETE, JobState.COMPLETE_WITH_ERRORS})


def commits_indexed(repository: Repository, jobs: Iterable[Job]) -> Mapping[str, int]:
    """Returns versions by commit, newest first: the served one, and those of recorded jobs that ended.

    A snapshot with uncommitted changes is not a commit. An indexed file has the content of the commit if its
    version is the same or lower; a file that was replaced later has a higher version.
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


def commits_after(commits: PushedCommits, before: str) -> PushedCommits:
    """Returns the commits of a list, oldest first, that follow one of them; all if it is not among them."""
    known = [number for number, one in enumerate(commits) if one.commit == before]
    return commits[known[-1] + 1 :] if known else commits
