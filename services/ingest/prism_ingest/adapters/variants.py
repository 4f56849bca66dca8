"""Which variants the store has, and how those that nobody needs any more are taken away without taking one that is needed.

A variant is needed if a list of files of a layer names it: the list that the layer serves, or the one of the job that works on
it. Who plans puts the list first (the claim), then looks which variants are condemned, then asks the store. Who sweeps
condemns first, then looks at all lists, then drops. Whatever the order of the two, one sees the other: either the claim was
there when the lists were looked at, and the variant stays; or the planner sees that it is condemned, and makes it anew. What is
made anew has a later version than what is dropped: a job has its version from the clock when it plans, and not when it begins,
as its fetch may take longer than the pause of a sweep.
"""

from collections.abc import Iterable, Mapping

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import names
from prism_contracts.base import Lane, file_id
from prism_contracts.events import FilesDropped
from prism_contracts.records import Condemned, LayerFiles, repository_key
from prism_ingest.adapters.index import read_variants
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket

FILES_PER_DROP = 1_000


class Variants:
    """The variants of all repositories, each a path and the layer of its own that a content of it has."""

    def __init__(self, bus: Bus, lists: LayerFilesStore, condemned: Records[Condemned]) -> None:
        self._bus = bus
        self.lists = lists
        self._condemned = condemned

    @classmethod
    async def open(cls, bus: Bus, replicas: int) -> "Variants":
        """The variants, their buckets made if they are not there."""
        lists = await LayerFilesStore.open(bus.js, replicas)
        condemned = await open_bucket(bus.js, names.KV_CONDEMNED, replicas=replicas)
        return cls(bus, lists, Records(condemned, Condemned))

    async def pin(self, tenant: str, repo: str, name: str, files: LayerFiles) -> set[str]:
        """Put the list of a layer's files; those of its variants that are in the store, and stay there as long as the list
        is that of the layer, or of its job.
        """
        await self.lists.put(name, files)
        condemned = await self._condemned.get(repository_key(tenant, repo))
        stored = await read_variants(self._bus, tenant, repo, files.variants.items())
        return stored.keys() - (condemned.variants if condemned else {}).keys()

    async def condemn(self, tenant: str, repo: str, variants: Mapping[str, str], below: int) -> None:
        """Have variants (path by layer) made anew by whoever needs them from now on, beside those that are condemned and
        still there: what is to take them away may wait in a queue.
        """
        known = await self._condemned.get(repository_key(tenant, repo))
        if known is None and not variants:
            return
        left = await self._left(known) if known else {}
        record = Condemned(
            tenant=tenant,
            repo=repo,
            variants={**left, **variants},
            below=max(below, known.below if known else 0),
        )
        if record != known:
            await self._condemned.put(record.key, record)

    async def drop(self, tenant: str, repo: str, variants: Mapping[str, str], below: int) -> None:
        """Have variants that are condemned taken away, where their version is lower."""
        ids = sorted(file_id(tenant, repo, layer, path) for layer, path in variants.items())
        for start in range(0, len(ids), FILES_PER_DROP):
            files = tuple(ids[start : start + FILES_PER_DROP])
            event = FilesDropped(tenant=tenant, files=files, below=below, round=str(below))
            await self._bus.publish(event, lane=Lane.BULK)

    async def _left(self, known: Condemned) -> dict[str, str]:
        """Those of the condemned that are in the store and were not made anew since."""
        variants: Iterable[tuple[str, str]] = ((path, layer) for layer, path in known.variants.items())
        found = await read_variants(self._bus, known.tenant, known.repo, variants)
        old = {layer for layer, entry in found.items() if entry.version < known.below}
        return {layer: path for layer, path in known.variants.items() if layer in old}
