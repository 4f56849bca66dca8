"""Which repository a name means. It changes when a repository is removed: its id is never used again.

So a name can be indexed again at once. Whatever is left of the removed repository, or is still being written
for it, has another id, and nothing that answers a question reads it.
"""

from datetime import datetime
from typing import NamedTuple

from nats.js import JetStreamContext

from prism_contracts import names
from prism_contracts.base import next_repo_id, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import (
    RemovedRepository,
    Repository,
    RepositoryName,
    repository_name_key,
)
from prism_runtime.records import Records, open_bucket, opened

# Removals of one name whose leftovers are still being deleted.
REMOVED_MAX = 1_000


class Leftover(NamedTuple):
    """A removed repository of which something may be left."""

    tenant: str
    name: str
    repo: str
    removed_at: datetime


class RepositoryNames:
    """The names of all repositories that were ever removed, and the removals that are not finished."""

    def __init__(self) -> None:
        self._bucket: Records[RepositoryName] | None = None

    async def open(self, js: JetStreamContext, *, replicas: int) -> None:
        """Open the bucket, and create it if it does not exist."""
        bucket = await open_bucket(js, names.KV_REPOSITORY_NAMES, replicas=replicas)
        self._bucket = Records(bucket, RepositoryName)

    async def id_of(self, tenant: str, name: str) -> str:
        """Returns the id of the repository that a name means, whether it exists or not."""
        found = await self._records().get(repository_name_key(tenant, name))
        return found.repo if found else repo_id(name)

    async def removed(self, tenant: str, name: str) -> tuple[RemovedRepository, ...]:
        """Returns the removed repositories of a name of which something may be left."""
        found = await self._records().get(repository_name_key(tenant, name))
        return found.removed if found else ()

    async def leftovers(self) -> list[Leftover]:
        """Returns the removed repositories of all tenants of which something may be left."""
        return [
            Leftover(one.tenant, one.name, gone.repo, gone.removed_at)
            for one in await self._records().all()
            for gone in one.removed
        ]

    async def remove(self, repository: Repository, now: datetime) -> None:
        """Record that a repository is removed: from now on, its name means another one. Idempotent.

        Raises RATE_LIMITED.
        """
        key = repository_name_key(repository.tenant, repository.name)
        await self._records().modify(key, lambda found: _removed(found, repository, now))

    async def give(self, tenant: str, name: str, repo: str, *, instead_of: str) -> str:
        """Make a name mean a repository if it means the one given by `instead_of`. Returns what it means now."""

        def given(found: RepositoryName | None) -> RepositoryName:
            known = found or RepositoryName(tenant=tenant, name=name, repo=repo_id(name))
            return known.model_copy(update={"repo": repo}) if known.repo == instead_of else known

        return (await self._records().modify(repository_name_key(tenant, name), given)).repo

    async def finish(self, leftover: Leftover) -> None:
        """Record that nothing is left of a removed repository."""
        await self._records().change(
            repository_name_key(leftover.tenant, leftover.name),
            lambda found: found.model_copy(
                update={"removed": tuple(gone for gone in found.removed if gone.repo != leftover.repo)}
            ),
        )

    def _records(self) -> Records[RepositoryName]:
        return opened(self._bucket)


def _removed(found: RepositoryName | None, repository: Repository, now: datetime) -> RepositoryName:
    name = repository.name
    known = found or RepositoryName(tenant=repository.tenant, name=name, repo=repo_id(name))
    if repository.repo in {gone.repo for gone in known.removed}:
        return known
    if len(known.removed) >= REMOVED_MAX:
        raise PrismError(
            ErrorCode.RATE_LIMITED,
            f"The data of {REMOVED_MAX} earlier repositories with the name {name} is still being deleted.",
            "Retry in an hour, or use another name.",
            limit=REMOVED_MAX,
        )
    gone = RemovedRepository(repo=repository.repo, removed_at=now)
    following = next_repo_id(repository.repo) if known.repo == repository.repo else known.repo
    return known.model_copy(update={"repo": following, "removed": (*known.removed, gone)})
