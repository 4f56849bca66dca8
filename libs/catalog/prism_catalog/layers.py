"""Layers of repositories: finds the layer of a ref, and builds the view of its overrides."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from nats.errors import Error as NatsError
from nats.js.errors import Error as JetStreamError

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts.base import BASE_LAYER, short_names
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import UPLOAD, Layer, LayerFiles, LayerKind, layer_key
from prism_runtime.records import WatchedRecords
from prism_runtime.weighted_cache import WeightedCache
from prism_store.scope import View

# Cached files, of some 300 bytes each.
FILES_KEPT_MAX = 300_000
# The copy of the records receives a replaced record within milliseconds.
TRIES_MAX = 20
PAUSE_S = 0.05
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Layers:
    """The layers of repositories and their views, with a cache of their override lists, which never change."""

    def __init__(self, records: WatchedRecords[Layer], store: LayerFilesStore) -> None:
        self._records = records
        self._store = store
        self._files: WeightedCache[str, LayerFiles] = WeightedCache(FILES_KEPT_MAX)
        self._views: WeightedCache[tuple[str, ...], View] = WeightedCache(FILES_KEPT_MAX)

    def of_repository(self, tenant: str, repo: str) -> list[Layer]:
        """Returns the layers of a repository that have not expired, sorted by ref."""
        now = datetime.now(UTC)
        mine = (one for one in self._records.values() if (one.tenant, one.repo) == (tenant, repo))
        return sorted((one for one in mine if not one.is_expired(now)), key=lambda one: one.ref)

    def has_any(self, tenant: str) -> bool:
        """Returns whether the tenant has any layer, expired or not: the store has its points."""
        return any(one.tenant == tenant for one in self._records.values())

    def find(self, tenant: str, repo: str, ref: str) -> Layer | None:
        """Returns the layer of a short or full ref."""
        known = self.of_repository(tenant, repo)
        names = {ref, *short_names(ref)}
        return next((one for one in known if one.ref in names or (ref == one.source != UPLOAD)), None)

    def shared(self, tenant: str, repo: str) -> list[Layer]:
        """Returns the layers that the whole tenant may see: an overlay is visible only with its handle."""
        return [one for one in self.of_repository(tenant, repo) if one.kind is not LayerKind.OVERLAY]

    def with_commit(self, tenant: str, repo: str, commit: str) -> list[Layer]:
        """Returns the layers, except overlays, that serve a commit whose hash starts with `commit`."""
        known = self.shared(tenant, repo)
        return [one for one in known if one.served and one.served.commit.startswith(commit)]

    async def is_current(self) -> bool:
        """Returns whether the copy includes all layers written before this call. Raises if NATS is down."""
        return await self._records.is_current()

    async def view(self, layer: Layer) -> View:
        """Returns the view of a layer that serves a commit.

        Raises REF_NOT_FOUND if it is gone, UNAVAILABLE.
        """
        for _ in range(TRIES_MAX):
            chain = self._chain(layer)
            state = tuple(one.files for one in chain)
            known = self._views.get(state)
            if known is not None:
                return known
            files = [await self._read(one) for one in state]
            present = [one for one in files if one is not None]
            if len(present) == len(chain):
                view = _composed(chain, state, present)
                self._views.put(state, view, len(view.hidden) + 1)
                return view
            await asyncio.sleep(PAUSE_S)  # a newer version replaced it
            layer = self._records.get(layer.key) or layer
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            f"The files of {layer.ref} cannot be read at the moment.",
            "Retry in a few seconds.",
        )

    def _chain(self, layer: Layer) -> list[Layer]:
        """Returns the layer and its ancestors with overrides, the lowest last."""
        chain = [layer]
        while chain[-1].parent != BASE_LAYER:
            below = self._records.get(layer_key(layer.tenant, layer.repo, chain[-1].parent))
            if below is None or below in chain:
                raise PrismError(
                    ErrorCode.REF_NOT_FOUND,
                    f"The layer below {chain[-1].ref} no longer exists.",
                    "Open the overlay again on an existing ref.",
                )
            chain.append(below)
        return [one for one in chain if one.files]

    async def _read(self, name: str) -> LayerFiles | None:
        known = self._files.get(name)
        if known is None:
            try:
                known = await self._store.get(name)
            except (NatsError, JetStreamError, TimeoutError) as error:
                raise PrismError(
                    ErrorCode.UNAVAILABLE,
                    "The files of a layer cannot be read at the moment.",
                    "Retry in a few seconds.",
                ) from error
            if known is not None:
                known = known.model_copy(update={"listing": {}})
                self._files.put(name, known, len(known.variants) + len(known.hidden) + 1)
        return known


def is_commit(ref: str) -> bool:
    """Returns whether a ref may be a commit hash, or a sufficient prefix of one."""
    return _COMMIT.fullmatch(ref) is not None


def _composed(chain: Sequence[Layer], state: tuple[str, ...], files: Sequence[LayerFiles]) -> View:
    """Combines the overrides of layers, topmost first, into one view."""
    variants: dict[str, str] = {}
    hidden: set[str] = set()
    for one in reversed(files):
        variants = {path: layer for path, layer in variants.items() if path not in one.hidden} | one.variants
        hidden |= set(one.hidden)
    return View.of(state, (chain[0].tenant, chain[0].repo), variants, hidden)
