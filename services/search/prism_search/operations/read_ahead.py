"""Reads into memory what questions need, before the first question after a start or an import.

Ranking needs facts of each file. The search of other repositories needs the list of all files of a tenant,
and the packages among them.
"""

import asyncio
import logging
from collections.abc import Iterator

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.errors import reason_of
from prism_search.adapters.facts import Facts
from prism_search.adapters.listing import Listing
from prism_search.adapters.manifests import Manifests

PAUSE_S = 2.0
# Longer lists may not stay in memory.
LISTED_FILES_MAX = 50_000

log = logging.getLogger(__name__)


class ReadAhead:
    """Reads ahead. Questions still read what is missing."""

    def __init__(
        self, repositories: RepositoryCatalog, facts: Facts, listing: Listing, manifests: Manifests
    ) -> None:
        self._repositories = repositories
        self._facts = facts
        self._listing = listing
        self._manifests = manifests

    async def keep_reading(self) -> None:
        """Reads again after each change, until it is cancelled."""
        while True:
            try:
                await self.read()
            except Exception as error:  # noqa: BLE001 - questions still read what they need
                log.warning("read-ahead paused: %s", reason_of(error))
            await asyncio.sleep(PAUSE_S)

    async def read(self) -> None:
        """Reads what is not in memory yet. The facts come last: they are most."""
        targets = self._repositories.each()
        for tenant in self._tenants(targets):
            if tenant.is_quiet and _files(tenant) <= LISTED_FILES_MAX:
                await self._manifests.packages(tenant, await self._listing.files(tenant))
        for target in targets:
            await self._facts.read_ahead(target)

    def _tenants(self, targets: list[Target]) -> Iterator[Target]:
        """Yields everything of each tenant."""
        first = {target.scope.tenant: target for target in targets}
        return map(self._repositories.everything, first.values())


def _files(target: Target) -> int:
    return sum(max(known.served.files, 0) for known in target.repositories if known.served)
