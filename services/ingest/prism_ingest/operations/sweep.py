"""Rounds that let go of what nobody needs: layers whose time is over, and content that no layer has any more. Layers that
were left behind their base are brought along.

How a variant is dropped without taking it from a job that counts on it: see adapters/variants.py. It has to be unneeded in two
rounds, a pause apart, so that a branch that is deleted and pushed again finds its variants. What is dropped is older
than that, so what is made anew meanwhile stays: its version is the time at which its job was planned.

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


class Look(NamedTuple):
    """The lists of files as they are at a moment, by repository."""

    needed: dict[Place, dict[str, str]]  # variant -> path
    unneeded: dict[Place, dict[str, str]]  # the same of those that only lists name that nobody uses
    unused: dict[Place, list[str]]  # those lists


class Sweeper:
    """Rounds over all layers."""

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
        self._lists: dict[str, LayerFiles] = {}  # by name; they never change
        self._unneeded_since: dict[Place, dict[str, float]] = {}  # variant -> seconds of the clock

    async def run(self, interval_s: float) -> None:
        """A round every so often, until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self.round(datetime.now(UTC))
            except Exception as error:  # noqa: BLE001 - whatever it was, the next round comes
                log.warning("a sweep failed: %s", reason_of(error))

    async def round(self, now: datetime) -> None:
        """Let go of what nobody needs at a moment, if no other copy does."""
        if not await self._lease.hold():
            return
        for layer in await self._ledger.layers.all():
            if layer.is_expired(now):
                await self._layers.forget_expired(layer, now)
        await self._recovery.round(now)
        await self._rebaser.catch_up()
        look = await self._look(now)
        self._metrics.show(await self._ledger.layers.all(), look.needed.values())
        await self._sweep(look, now)

    async def _sweep(self, look: Look, now: datetime) -> None:
        below = int((now.timestamp() - self._pause_s) * 1000)
        dues = {
            place: self._due(place, look.unneeded.get(place, {}), now.timestamp())
            for place in look.needed.keys() | look.unneeded.keys()
        }
        for place, due in dues.items():
            await self._variants.condemn(*place, due, below)
        # Only now: who has claimed a variant before it was condemned is seen here, who comes later has seen that it is.
        again = await self._look(now) if any(dues.values()) else look
        for place, due in dues.items():
            unneeded = again.unneeded.get(place, {})
            dropped = {layer: path for layer, path in due.items() if layer in unneeded}
            if dropped:
                await self._variants.drop(*place, dropped, below)
                self._metrics.count_swept(len(dropped))
            await self._drop_lists(look.unused.get(place, ()), look.unneeded.get(place, {}).keys() - dropped)

    async def _drop_lists(self, unused: Iterable[str], left: AbstractSet[str]) -> None:
        """A list stays as long as it names something that is still to be dropped."""
        for name in unused:
            if left.isdisjoint(self._lists[name].variants.values()):
                await self._variants.lists.drop(name)

    def _due(self, place: Place, unneeded: dict[str, str], now_s: float) -> dict[str, str]:
        """Those that have been unneeded for long enough."""
        known = self._unneeded_since.get(place, {})
        since = {layer: known.get(layer, now_s) for layer in unneeded}
        due = {layer: path for layer, path in unneeded.items() if now_s - since[layer] >= self._pause_s}
        self._unneeded_since[place] = {layer: at for layer, at in since.items() if layer not in due}
        return due

    async def _look(self, now: datetime) -> Look:
        """All lists, in the order that loses none: the names first, then who uses them."""
        names = await self._variants.lists.names()
        layers = {layer.key: layer for layer in await self._ledger.layers.all()}
        look = Look(defaultdict(dict), defaultdict(dict), defaultdict(list))
        for name in names:
            await self._add(look, name, layers, now)
        self._lists = {name: self._lists[name] for name in names if name in self._lists}
        for place, unneeded in look.unneeded.items():
            for variant in look.needed[place]:
                unneeded.pop(variant, None)
        return look

    async def _add(self, look: Look, name: str, layers: dict[str, Layer], now: datetime) -> None:
        read = ListName.read(name)
        files = self._lists.get(name) or await self._variants.lists.get(name)
        if files is None:
            return
        # What a client has listed is as long as the repository, and nothing here asks for it.
        self._lists[name] = files = files.model_copy(update={"listing": {}})
        place = read.tenant, read.repo
        paths = {variant: path for path, variant in files.variants.items()}
        if is_in_use(read, layers.get(layer_key(read.tenant, read.repo, read.layer)), now, self._pause_s):
            look.needed[place].update(paths)
        else:
            look.unneeded[place].update(paths)
            look.unused[place].append(name)
