"""Renews wikis after imports, and resumes runs that were stopped.

Each copy looks at the records, and what is due follows from them alone: a crash or a lost message leaves a wiki
that is due. Copies race for a run by compare-and-set, and the loser leaves it.
"""

import asyncio
import logging
import random
from collections.abc import Iterator
from datetime import UTC, datetime

from prism_contracts.errors import PrismError, reason_of
from prism_contracts.records import Repository, WikiRecord
from prism_runtime.records import WatchedRecords
from prism_scribe.core.wiki.renewal import RenewalTimes, is_due
from prism_scribe.operations.wiki_runs import WikiRuns

ROUND_S = 5.0

log = logging.getLogger(__name__)


class WikiRenewal:
    """The renewal of all wikis by this process."""

    def __init__(
        self,
        wikis: WatchedRecords[WikiRecord],
        repositories: WatchedRecords[Repository],
        runs: WikiRuns,
        times: RenewalTimes,
    ) -> None:
        self._wikis = wikis
        self._repositories = repositories
        self._runs = runs
        self._times = times

    async def run(self) -> None:
        """Begin runs as they are due, until cancelled."""
        while True:
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - the next round tries again
                log.warning("wikis cannot be renewed: %s", reason_of(error))
            await asyncio.sleep(ROUND_S * random.uniform(0.8, 1.2))  # noqa: S311 - copies take turns

    async def round(self, now: datetime) -> list[str]:
        """Begin the runs that are due, as far as this process has room. Returns the repositories."""
        begun = []
        for wiki, repository in self._due(now):
            if not self._runs.has_room:
                break
            try:
                await self._runs.begin(repository, seen=wiki)
            except PrismError as error:
                log.info("the wiki of %s is not renewed now: %s", repository.name, error)
            else:
                begun.append(repository.name)
        return begun

    def _due(self, now: datetime) -> Iterator[tuple[WikiRecord, Repository]]:
        """Yields what is due, the longest-waiting first."""
        for wiki in sorted(self._wikis.values(), key=lambda one: one.started_at):
            repository = self._repositories.get(wiki.key)
            if repository is not None and is_due(wiki, repository, now, self._times):
                yield wiki, repository
