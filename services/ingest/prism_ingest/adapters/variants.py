"""Which variants are stored, and how unused ones are deleted without deleting one that a planner counts on.

A variant is in use if a layer's file list names it: the list that the layer serves, or that of its active
job. The planner first writes the list (which pins its variants), then reads which are condemned, then asks
the store. The sweeper first condemns, then reads all lists, then drops. In any interleaving one of them
sees the other: either the sweeper finds the list, and the variant is kept; or the planner finds the variant
condemned, and indexes it again. The new copy has a later version than the dropped one, because a job gets its
version from the clock when it plans. The begin of the job would be too early: its fetch may take longer than
the pause of a sweep.
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
    """The variants of all repositories. Each is one content of one path, with a layer id of its own."""

    def __init__(self, bus: Bus, lists: LayerFilesStore, condemned: Records[Condemned]) -> None:
        self._bus = bus
        self.lists = lists
        self._condemned = condemned

    @classmethod
    async def open(cls, bus: Bus, replicas: int) -> "Variants":
        """Open the variants, and create their buckets if they do not exist."""
        lists = await LayerFilesStore.open(bus.js, replicas)
        condemned = await open_bucket(bus.js, names.KV_CONDEMNED, replicas=replicas)
        return cls(bus, lists, Records(condemned, Condemned))

    async def pin(self, tenant: str, repo: str, name: str, files: LayerFiles) -> set[str]:
        """Write a layer's file list, and return its stored variants.

        They are kept as long as the layer or its active job uses the list.
        """
        await self.lists.put(name, files)
        condemned = await self._condemned.get(repository_key(tenant, repo))
        stored = await read_variants(self._bus, tenant, repo, files.variants.items())
        return stored.keys() - (condemned.variants if condemned else {}).keys()

    async def condemn(self, tenant: str, repo: str, variants: Mapping[str, str], below: int) -> None:
        """Condemn variants (path by layer id): a planner that needs one from now on indexes it again.

        Earlier condemned variants that still exist remain condemned, because their drop may be queued.
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
        """Have condemned variants with a version below `below` deleted."""
        ids = sorted(file_id(tenant, repo, layer, path) for layer, path in variants.items())
        for start in range(0, len(ids), FILES_PER_DROP):
            files = tuple(ids[start : start + FILES_PER_DROP])
            event = FilesDropped(tenant=tenant, files=files, below=below, round=str(below))
            await self._bus.publish(event, lane=Lane.BULK)

    async def _left(self, known: Condemned) -> dict[str, str]:
        """Returns the condemned variants that are stored and were not indexed again."""
        variants: Iterable[tuple[str, str]] = ((path, layer) for layer, path in known.variants.items())
        found = await read_variants(self._bus, known.tenant, known.repo, variants)
        old = {layer for layer, entry in found.items() if entry.version < known.below}
        return {layer: path for layer, path in known.variants.items() if layer in old}
