"""Deletes expired layers and unused variants, and updates layers that are behind their base.

adapters/variants.py explains how a variant is dropped without taking it from a job that counts on it. A
variant has to be unused in two rounds, at least a pause apart, so that a branch that is deleted and pushed
again finds its variants. Only copies older than the pause are dropped. One that is indexed again meanwhile is
kept, because its version is the time at which its job was planned.

One copy of ingest at a time sweeps.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import NamedTuple

from prism_contracts.errors import reason_of
from prism_contracts.records import Layer, LayerFiles, layer_key
from prism_ingest.adapters.lease import Lease
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.metrics import LayerMetrics
from prism_ingest.adapters.variants import Variants
from prism_ingest.core.layers import ListName, is_in_use
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.rebase import Rebaser
from prism_ingest.operations.recovery import Recovery

Place = tuple[str, str]  # tenant and repository

log = logging.getLogger(__name__)


class Usage(NamedTuple):
    """Which variants are in use at a moment, by repository."""

    needed: dict[Place, dict[str, str]]  # variant -> path, for variants that a used list names
    unneeded: dict[Place, dict[str, str]]  # variant -> path, for variants that only unused lists name
    unused: dict[Place, list[str]]  # the names of the unused lists


class Sweeper:
    """Rounds of cleaning over all layers."""

    def __init__(
        self,
        ledger: Ledger,
        layers: LayerRegistry,
        rebaser: Rebaser,
        variants: Variants,
        *,
        recovery: Recovery,
        lease: Lease,
        metrics: LayerMetrics,
        pause_s: float,
    ) -> None:
        self._ledger = ledger
        self._layers = layers
        self._rebaser = rebaser
        self._variants = variants
        self._recovery = recovery
        self._lease = lease
        self._metrics = metrics
        self._pause_s = pause_s
        self._lists: dict[str, LayerFiles] = {}  # by name; lists are immutable
        self._unneeded_since: dict[Place, dict[str, float]] = {}  # variant -> seconds since the epoch

    async def run(self, interval_s: float) -> None:
        """Run a round every `interval_s`, until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - the next round runs in any case
                log.warning("a sweep failed: %s", reason_of(error))

    async def round(self, now: datetime) -> None:
        """Delete what is unused at `now`. Does nothing if another copy of ingest holds the lease."""
        if not await self._lease.hold():
            return
        for layer in await self._ledger.layers.all():
            if layer.is_expired(now):
                await self._layers.forget_expired(layer, now)
        await self._recovery.round(now)
        await self._rebaser.catch_up()
        usage = await self._read_usage(now)
        self._metrics.show(await self._ledger.layers.all(), usage.needed.values())
        await self._sweep(usage, now)

    async def _sweep(self, usage: Usage, now: datetime) -> None:
        below = int((now.timestamp() - self._pause_s) * 1000)
        dues = {
            place: self._due(place, usage.unneeded.get(place, {}), now.timestamp())
            for place in usage.needed.keys() | usage.unneeded.keys()
        }
        for place, due in dues.items():
            await self._variants.condemn(*place, due, below)
        # Read again, after condemning: a list that was written earlier is found here, and a later planner
        # finds the variant condemned.
        again = await self._read_usage(now) if any(dues.values()) else usage
        for place, due in dues.items():
            unneeded = again.unneeded.get(place, {})
            dropped = {layer: path for layer, path in due.items() if layer in unneeded}
            if dropped:
                await self._variants.drop(*place, dropped, below)
                self._metrics.count_swept(len(dropped))
            await self._drop_lists(
                usage.unused.get(place, ()), usage.unneeded.get(place, {}).keys() - dropped
            )

    async def _drop_lists(self, unused: Iterable[str], left: AbstractSet[str]) -> None:
        """Drop unused lists, except those that name a variant that is still to be dropped."""
        for name in unused:
            if left.isdisjoint(self._lists[name].variants.values()):
                await self._variants.lists.drop(name)

    def _due(self, place: Place, unneeded: dict[str, str], now_s: float) -> dict[str, str]:
        """Returns the variants that have been unneeded for long enough."""
        known = self._unneeded_since.get(place, {})
        since = {layer: known.get(layer, now_s) for layer in unneeded}
        due = {layer: path for layer, path in unneeded.items() if now_s - since[layer] >= self._pause_s}
        self._unneeded_since[place] = {layer: at for layer, at in since.items() if layer not in due}
        return due

    async def _read_usage(self, now: datetime) -> Usage:
        """Reads all lists. The names come before the layers, so that no used list is missed."""
        names = await self._variants.lists.names()
        layers = {layer.key: layer for layer in await self._ledger.layers.all()}
        usage = Usage(defaultdict(dict), defaultdict(dict), defaultdict(list))
        for name in names:
            await self._add(usage, name, layers, now)
        self._lists = {name: self._lists[name] for name in names if name in self._lists}
        for place, unneeded in usage.unneeded.items():
            for variant in usage.needed[place]:
                unneeded.pop(variant, None)
        return usage

    async def _add(self, usage: Usage, name: str, layers: dict[str, Layer], now: datetime) -> None:
        read = ListName.read(name)
        files = self._lists.get(name) or await self._variants.lists.get(name)
        if files is None:
            return
        # A client's listing is as long as the repository, and is not needed here.
        self._lists[name] = files = files.model_copy(update={"listing": {}})
        place = read.tenant, read.repo
        paths = {variant: path for path, variant in files.variants.items()}
        if is_in_use(read, layers.get(layer_key(read.tenant, read.repo, read.layer)), now, self._pause_s):
            usage.needed[place].update(paths)
        else:
            usage.unneeded[place].update(paths)
            usage.unused[place].append(name)
