"""Polls the git server of every repository, to find pushes that no webhook reported.

A poll is one `git ls-remote` for all branches together. If a branch has moved or was deleted, the poller
publishes the event that a webhook would have caused. If the store lost files of a layer, the poller has them
imported again. One copy of ingest at a time polls.
"""

import asyncio
import logging
import random
from datetime import UTC, datetime
from functools import partial

from prism_catalog.tenants import Tenants
from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import PrismError, reason_of
from prism_contracts.events import PushReceived
from prism_contracts.records import Layer, Repository
from prism_ingest.adapters.index import layers_with_losses
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import PollMetrics
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.core.layers import is_followed
from prism_ingest.core.round_backoff import RoundBackoff
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_runtime.bus import Bus
from prism_runtime.tasks import cancelled

# How long a round waits for slow servers. Their polls continue during the next rounds.
ROUND_S_MAX = 60.0
# Relative jitter of the interval, so that copies and repositories do not poll at the same moment.
JITTER = 0.2
FIRST_ROUND_S = 10.0

log = logging.getLogger(__name__)


class Poller:
    """Polls all repositories that have a git URL."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        tenants: Tenants,
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
        self._tenants = tenants
        self._lease = lease
        self._metrics = metrics
        self._backoff = RoundBackoff()
        self._heads: dict[str, str] = {}  # by record key: the head that an import was begun for
        self._polls: dict[str, asyncio.Task[None]] = {}  # by repository

    async def run(self, interval_s: float) -> None:
        """Run a round every `interval_s`, until cancelled."""
        try:
            await self._rounds(interval_s)
        finally:
            await cancelled(*self._polls.values())

    async def _rounds(self, interval_s: float) -> None:
        pause_s = min(FIRST_ROUND_S, interval_s)
        while True:
            await asyncio.sleep(pause_s * random.uniform(1 - JITTER, 1 + JITTER))  # noqa: S311 - no secret
            pause_s = interval_s
            try:
                await self.round()
            except Exception as error:  # noqa: BLE001 - the next round runs in any case
                log.warning("a round of polls failed: %s", reason_of(error))

    async def round(self) -> None:
        """Poll every repository of active tenants once, except those whose last poll is still running.

        Does nothing if another copy of ingest holds the lease.
        """
        if not await self._lease.hold():
            return
        repositories = [
            found
            for found in await self._ledger.repositories.all()
            if is_polled(found) and self._tenants.is_active(found.tenant)
        ]
        random.shuffle(repositories)
        for repository in repositories:
            if repository.key not in self._polls and self._backoff.is_due(repository.key):
                poll = self._polls[repository.key] = asyncio.create_task(self._poll(repository))
                poll.add_done_callback(partial(self._on_polled, repository.key))
        if self._polls:
            await asyncio.wait(self._polls.values(), timeout=ROUND_S_MAX)

    def _on_polled(self, key: str, poll: asyncio.Task[None]) -> None:
        self._polls.pop(key)
        if not poll.cancelled() and (error := poll.exception()):
            log.warning("a poll failed: %s", reason_of(error))

    async def _poll(self, repository: Repository) -> None:
        try:
            outcome = await self._compare(repository)
        except PrismError as error:
            log.warning("cannot poll %s: %s", repository.name, error)
            self._backoff.failed(repository.key)
            outcome = error.code.value
        self._metrics.count(outcome)
        await self._restore_lost(repository)

    async def _restore_lost(self, repository: Repository) -> None:
        """Import layers again that lost files in the store, with backoff while files remain lost."""
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
        """Publish which branches of a repository have moved. Returns the outcome for its base."""
        layers = [layer for layer in self._layers.of(repository) if is_followed(layer)]
        remote = MirrorSource(repository.tenant, repository.repo, repository.source)
        refs = await self._mirrors.refs(remote, [layer.source for layer in layers])
        for layer in layers:
            await self._compare_layer(layer, refs.commit(layer.source))
        is_behind = await self._compare_head(repository, BASE_LAYER, refs.resolve(repository.ref))
        return "behind" if is_behind else "same"

    async def _compare_layer(self, layer: Layer, head: str) -> None:
        if not head:
            await self._publish(layer, head, _push(layer, head).model_copy(update={"is_deleted": True}))
        elif self._backoff.is_due(layer.key):
            await self._compare_head(layer, layer.layer, head)

    async def _compare_head(self, polled: Repository | Layer, layer: str, head: str) -> bool:
        """Publish `PushReceived` unless a running job already imports this head.

        Returns whether the served commit is behind.
        """
        # Read again: a push may have arrived before the answer of the remote.
        indexed = await self._ledger.indexed(polled.tenant, polled.repo, layer)
        if indexed is None:
            return False
        if indexed.served is not None and indexed.served.commit == head:
            await self._ledger.record_remote_head(
                indexed.tenant, indexed.repo, layer, head, datetime.now(UTC)
            )
            self._backoff.succeeded(indexed.key)
            return False
        if not indexed.active_job or indexed.head_commit != head:
            await self._publish(indexed, head, _push(indexed, head))
        return True

    async def _publish(self, indexed: Repository | Layer, head: str, event: PushReceived) -> None:
        if self._heads.get(indexed.key) == head and not indexed.active_job:
            self._backoff.failed(indexed.key)  # the import that was begun for it has failed
        self._heads[indexed.key] = head
        await self._bus.publish(event)


def is_polled(repository: Repository) -> bool:
    """Whether its git server is asked for news: not before its first import, and not while it is inactive."""
    return repository.is_fetched and repository.is_active and repository.has_begun


def _push(indexed: Repository | Layer, head: str) -> PushReceived:
    """Returns the event that a webhook would have caused."""
    is_layer = isinstance(indexed, Layer)
    return PushReceived(
        tenant=indexed.tenant,
        repo=indexed.repo,
        branch=indexed.ref if is_layer else "",
        commit=head,
        # A new id after each import, so that a failed one is retried.
        delivery=f"poll:{indexed.key if is_layer else ''}:{head}:{indexed.next_version}",
        received_at=datetime.now(UTC),
    )
