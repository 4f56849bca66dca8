"""Looks at the git server of every repository now and then: what no webhook told of is found all the same.

A look costs one `git ls-remote` for all branches together. If a branch has moved or is gone, the poller publishes the event
that a webhook would have caused. If the store lost files of a layer, the poller has them imported again. One copy of ingest
at a time polls.
"""

import asyncio
import logging
import random
from datetime import UTC, datetime
from functools import partial

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import PrismError, reason_of
from prism_contracts.events import PushReceived
from prism_contracts.records import Layer, Repository
from prism_ingest.adapters.index import layers_with_losses
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import PollMetrics
from prism_ingest.adapters.mirrors import Mirrors, Remote
from prism_ingest.core.backoff import Backoff
from prism_ingest.core.layers import is_followed
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_runtime.bus import Bus
from prism_runtime.tasks import cancelled

# A round waits so long for slow servers; their looks go on beside the next rounds.
ROUND_S_MAX = 60.0
# So that many servers and many repositories are not asked all at the same moment.
JITTER = 0.2
FIRST_ROUND_S = 10.0

log = logging.getLogger(__name__)


class Poller:
    """Rounds over all repositories that are fetched from a URL."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        fetch_jobs: FetchJobs,
        layers: LayerRegistry,
        lease: Lease,
        metrics: PollMetrics,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._fetch_jobs = fetch_jobs
        self._layers = layers
        self._mirrors = mirrors
        self._lease = lease
        self._metrics = metrics
        self._backoff = Backoff()
        self._found: dict[str, str] = {}  # by repository: the commit that an import was begun for
        self._looking: dict[str, asyncio.Task[None]] = {}  # by repository

    async def run(self, interval_s: float) -> None:
        """A round every so often, until cancelled."""
        try:
            await self._rounds(interval_s)
        finally:
            await cancelled(*self._looking.values())

    async def _rounds(self, interval_s: float) -> None:
        pause_s = min(FIRST_ROUND_S, interval_s)
        while True:
            await asyncio.sleep(pause_s * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - no secret
            pause_s = interval_s
            try:
                await self.round()
            except Exception as error:  # noqa: BLE001 - whatever it was, the next round comes
                log.warning("a round of polls failed: %s", reason_of(error))

    async def round(self) -> None:
        """Look at every repository once, if no other copy does, and unless the last look at it has not ended yet."""
        if not await self._lease.hold():
            return
        repositories = [found for found in await self._ledger.repositories.all() if found.is_fetched]
        random.shuffle(repositories)
        for repository in repositories:
            if repository.key not in self._looking and self._backoff.is_due(repository.key):
                look = self._looking[repository.key] = asyncio.create_task(self._look(repository))
                look.add_done_callback(partial(self._on_looked, repository.key))
        if self._looking:
            await asyncio.wait(self._looking.values(), timeout=ROUND_S_MAX)

    def _on_looked(self, key: str, look: asyncio.Task[None]) -> None:
        self._looking.pop(key)
        if not look.cancelled() and (error := look.exception()):
            log.warning("a poll failed: %s", reason_of(error))

    async def _look(self, repository: Repository) -> None:
        try:
            outcome = await self._compare(repository)
        except PrismError as error:
            log.warning("cannot poll %s: %s", repository.name, error)
            self._backoff.failed(repository.key)
            outcome = error.code.value
        self._metrics.count(outcome)
        await self._restore_lost(repository)

    async def _restore_lost(self, repository: Repository) -> None:
        """Begin imports of the layers of which the store lost files; of one that stays lost, less and less often."""
        key = f"{repository.key} lost"
        if not repository.is_quiet or not self._backoff.is_due(key):
            return
        try:
            lost = await layers_with_losses(self._bus, repository.tenant, repository.repo)
        except PrismError as error:
            log.warning("cannot check whether the store lost files of %s: %s", repository.name, error)
            return
        if not lost:
            self._backoff.succeeded(key)
            return
        log.warning("the store lost files of %s: importing them again", repository.name)
        self._backoff.failed(key)
        if BASE_LAYER in lost:
            await self._fetch_jobs.restore(repository)
        for layer in self._layers.of(repository):
            if layer.layer in lost and is_followed(layer):
                await self._fetch_jobs.update(repository, layer, Lane.BULK)

    async def _compare(self, repository: Repository) -> str:
        """Say which of a repository's branches have moved; the outcome is that of its base."""
        layers = [layer for layer in self._layers.of(repository) if is_followed(layer)]
        remote = Remote(repository.tenant, repository.repo, repository.source)
        refs = await self._mirrors.refs(remote, [layer.source for layer in layers])
        for layer in layers:
            await self._compare_layer(layer, refs.commit(layer.source))
        is_behind = await self._compare_head(repository, BASE_LAYER, refs.resolve(repository.ref))
        return "behind" if is_behind else "same"

    async def _compare_layer(self, layer: Layer, head: str) -> None:
        if not head:
            await self._say(layer, head, _push(layer, head).model_copy(update={"is_deleted": True}))
        elif self._backoff.is_due(layer.key):
            await self._compare_head(layer, layer.layer, head)

    async def _compare_head(self, looked_at: Repository | Layer, layer: str, head: str) -> bool:
        """Say that the remote has moved, unless the job of a push that was heard of brings that; whether what is served is behind."""
        # As it is by now: a push may have been quicker than the answer of the remote.
        indexed = await self._ledger.indexed(looked_at.tenant, looked_at.repo, layer)
        if indexed is None:
            return False
        if indexed.served is not None and indexed.served.commit == head:
            await self._ledger.record_remote_head(
                indexed.tenant, indexed.repo, layer, head, datetime.now(UTC)
            )
            self._backoff.succeeded(indexed.key)
            return False
        if not indexed.active_job or indexed.head_commit != head:
            await self._say(indexed, head, _push(indexed, head))
        return True

    async def _say(self, indexed: Repository | Layer, head: str, event: PushReceived) -> None:
        if self._found.get(indexed.key) == head and not indexed.active_job:
            self._backoff.failed(indexed.key)  # the import that was begun for it has failed
        self._found[indexed.key] = head
        await self._bus.publish(event)


def _push(indexed: Repository | Layer, head: str) -> PushReceived:
    """What a webhook would have said."""
    is_layer = isinstance(indexed, Layer)
    return PushReceived(
        tenant=indexed.tenant,
        repo=indexed.repo,
        branch=indexed.ref if is_layer else "",
        commit=head,
        # Another one after each import, so that what failed is tried again.
        delivery=f"poll:{indexed.key if is_layer else ''}:{head}:{indexed.next_version}",
        received_at=datetime.now(UTC),
    )
