"""Reads the packages that repositories provide and depend on from the manifests among their files."""

import asyncio
from collections.abc import Sequence

from prism_catalog.target import Target
from prism_resolver.manifests import PackageProvider, Packages, read_manifest
from prism_runtime.weighted_cache import WeightedCache
from prism_search.adapters.listing import Files
from prism_search.adapters.texts import Texts
from prism_store.reader import StoredPoint

MANIFESTS_MAX = 1_000
WEIGHT_KEPT_MAX = 100


class Manifests:
    """Reads manifests, and caches their packages until one of them changes."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._cache: WeightedCache[Sequence[tuple[str, str]], Packages] = WeightedCache(WEIGHT_KEPT_MAX)

    async def packages(self, target: Target, listed: Files) -> Packages:
        """Returns the packages of a target, from the MANIFESTS_MAX manifests nearest to the root."""
        points = sorted(listed.manifests, key=_depth)[:MANIFESTS_MAX]
        state = tuple((point.id, point.text("generation")) for point in points)
        known = self._cache.get(state)
        if known is None:
            known = await asyncio.to_thread(Packages, await self._read(target, points))
            self._cache.put(state, known, 1)
        return known

    async def _read(self, target: Target, points: Sequence[StoredPoint]) -> list[PackageProvider]:
        providers = []
        for point, text in zip(points, await self._texts.read(target.scope, points), strict=True):
            manifest = read_manifest(point.text("path"), text) if text is not None else None
            if manifest is not None:
                repo = target.name_of(point.repo).rpartition("/")[2]
                providers.append(PackageProvider(point.repo, repo, manifest))
        return providers


def _depth(point: StoredPoint) -> int:
    return point.text("path").count("/")
