"""Renames repositories. What is stored of one is stored by its id, which does not change.

The record of the repository says what it is about to be called. Then the new name means it, the old one means
a repository that does not exist yet, and the record has the new name. Every step is idempotent, and a round
finishes what a process left undone.
"""

import logging
import uuid

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Repository, repository_key
from prism_contracts.rpc.common import CallerRequest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core.callers import check_may_import

log = logging.getLogger(__name__)


class Renames:
    """Renames of repositories."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def rename(self, request: CallerRequest, repository: Repository, name: str) -> Repository:
        """Rename a repository. Idempotent. Raises FORBIDDEN, and REPO_EXISTS if the name is taken."""
        check_may_import(request, name)
        if repository.renaming_to:
            repository = await self.finish(repository)
        if repository.name == name:
            return repository
        renamed = await self.finish(await self._ledger.rename(repository, {"renaming_to": name}))
        if renamed.name != name:
            raise PrismError(
                ErrorCode.UNAVAILABLE,
                f"{repository.name} was renamed to {renamed.name} at this moment.",
                "Retry with its new name.",
            )
        return renamed

    async def round(self) -> None:
        """Finish the renames that a process left undone."""
        for repository in await self._ledger.repositories.all():
            if repository.renaming_to:
                try:
                    await self.finish(repository)
                except PrismError as error:
                    log.warning("cannot rename %s to %s: %s", repository.name, repository.renaming_to, error)

    async def finish(self, repository: Repository) -> Repository:
        """Do the remaining steps of a rename. Raises REPO_EXISTS, and the repository keeps its name."""
        names, tenant, old, new = (
            self._ledger.names,
            repository.tenant,
            repository.name,
            repository.renaming_to,
        )
        if not new:
            return repository
        if new.lower() != old.lower():
            await self._take(repository, new)
            # A random id: that of a name is never derived from what it meant before in two ways.
            await names.give(tenant, old, str(uuid.uuid4()), instead_of=repository.repo)
        return await self._ledger.rename(repository, {"name": new, "renaming_to": ""})

    async def _take(self, repository: Repository, name: str) -> None:
        """Make a name mean the repository, unless another repository has it. Raises REPO_EXISTS."""
        names, tenant, repo = self._ledger.names, repository.tenant, repository.repo
        meant = await names.id_of(tenant, name)
        if meant == repo:
            return
        is_taken = await self._exists(tenant, meant)
        if not is_taken:
            given = await names.give(tenant, name, repo, instead_of=meant)
            # A repository may have been created under the name at this moment.
            is_taken = given != repo or await self._exists(tenant, meant)
            if is_taken:
                await names.give(tenant, name, meant, instead_of=repo)
        if is_taken:
            await self._ledger.rename(repository, {"renaming_to": ""})
            raise PrismError(
                ErrorCode.REPO_EXISTS, f"There is a repository {name} already.", "Choose another name."
            )

    async def _exists(self, tenant: str, repo: str) -> bool:
        return await self._ledger.repositories.get(repository_key(tenant, repo)) is not None
