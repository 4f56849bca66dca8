"""The rows of the list of repositories: what each serves, and the import that fills it. Jobs and records in."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from prism_contracts.records import FINAL_STATES, Job, JobState, LayerKind, Repository
from prism_contracts.rpc.imports import JobsReply
from prism_gateway.console.formats import repo_url


@dataclass(frozen=True)
class Row:
    """A repository in the list. Two rows that show the same are equal."""

    repository: Repository
    job: Job | None  # the base's newest, if it is among the listed ones
    branches: int
    overlays: int
    after: str  # the id of the repository above it; empty for the first

    @property
    def url(self) -> str:
        """The page of the repository."""
        return repo_url(self.repository.name)

    @property
    def state(self) -> str:
        """A word of the page for what the record says."""
        if self.repository.active_job:
            return "indexing" if self.repository.served else "importing"
        if self.job and self.job.state in (JobState.FAILED, JobState.ABANDONED):
            return "failed"
        return "indexed" if self.repository.served else "registered"

    @property
    def running(self) -> Job | None:
        """The job that fills the base now."""
        return self.job if self.job and self.job.state not in FINAL_STATES else None


def rows_of(known: JobsReply, before: Mapping[str, Row]) -> dict[str, Row]:
    """Returns the rows by the id of their repository, in order of names.

    A row that shows the same as in `before` is that object, so that watchers compare by identity.
    """
    layers = Counter((layer.repo, layer.kind is LayerKind.OVERLAY) for layer in known.layers)
    jobs = {job.job: job for job in known.jobs}
    rows: dict[str, Row] = {}
    after = ""
    for repository in sorted(known.repositories, key=lambda one: one.name.lower()):
        repo = repository.repo
        fresh = Row(repository, jobs.get(repository.last_job), layers[repo, False], layers[repo, True], after)
        old = before.get(repo)
        rows[repo] = old if old is not None and old == fresh else fresh
        after = repo
    return rows
