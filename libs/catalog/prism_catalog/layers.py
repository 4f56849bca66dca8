"""The layers of repositories: which one a ref means, and what it has in the place of its base."""

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
from prism_runtime.kept import Kept
from prism_runtime.records import WatchedRecords
from prism_store.scope import View

# In files: some 300 bytes each.
FILES_KEPT_MAX = 300_000
# A record that was replaced is heard of within milliseconds.
TRIES_MAX = 20
PAUSE_S = 0.05
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class Layers:
    """Looks layers up. What an object says of a layer is kept: it never changes."""

    def __init__(self, records: WatchedRecords[Layer], store: LayerFilesStore) -> None:
        self._records = records
        self._store = store
        self._files: Kept[str, LayerFiles] = Kept(FILES_KEPT_MAX)
        self._views: Kept[tuple[str, ...], View] = Kept(FILES_KEPT_MAX)

    def of_repository(self, tenant: str, repo: str) -> list[Layer]:
        """Those that have not expired, by their refs."""
        now = datetime.now(UTC)
        mine = (one for one in self._records.values() if (one.tenant, one.repo) == (tenant, repo))
        return sorted((one for one in mine if not one.is_expired(now)), key=lambda one: one.ref)

    def has_any(self, tenant: str) -> bool:
        """Whether the tenant has a layer, be it expired: its points are in the store."""
        return any(one.tenant == tenant for one in self._records.values())

    def find(self, tenant: str, repo: str, ref: str) -> Layer | None:
        """The layer of a ref, as people call it or in full."""
        known = self.of_repository(tenant, repo)
        names = {ref, *short_names(ref)}
        return next((one for one in known if one.ref in names or (ref == one.source != UPLOAD)), None)

    def shared(self, tenant: str, repo: str) -> list[Layer]:
        """Those that everybody of the tenant may hear of: an overlay is for whoever has its handle."""
        return [one for one in self.of_repository(tenant, repo) if one.kind is not LayerKind.OVERLAY]

    def with_commit(self, tenant: str, repo: str, commit: str) -> list[Layer]:
        """Layers, overlays left out, that serve a commit whose hash begins so."""
        known = self.shared(tenant, repo)
        return [one for one in known if one.served and one.served.commit.startswith(commit)]

    async def is_current(self) -> bool:
        """Whether all layers that had been written when this was called have been heard of. Raises if NATS is away."""
        return await self._records.is_current()

    async def view(self, layer: Layer) -> View:
        """What a layer that serves something shows. Raises REF_NOT_FOUND if it is gone, UNAVAILABLE."""
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
                self._views.keep(state, view, len(view.hidden) + 1)
                return view
            await asyncio.sleep(PAUSE_S)  # a newer version took its place
            layer = self._records.get(layer.key) or layer
        raise PrismError(
            ErrorCode.UNAVAILABLE,
            f"The files of {layer.ref} cannot be read at the moment.",
            "Retry in a few seconds.",
        )

    def _chain(self, layer: Layer) -> list[Layer]:
        """The layer and those below it, the lowest last."""
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
                self._files.keep(name, known, len(known.variants) + len(known.hidden) + 1)
        return known


def is_commit(ref: str) -> bool:
    """Whether a ref may be a commit's hash, or the beginning of one that tells it."""
    return _COMMIT.fullmatch(ref) is not None


def _composed(chain: Sequence[Layer], state: tuple[str, ...], files: Sequence[LayerFiles]) -> View:
    """One view of layers, the topmost first."""
    variants: dict[str, str] = {}
    hidden: set[str] = set()
    for one in reversed(files):
        variants = {path: layer for path, layer in variants.items() if path not in one.hidden} | one.variants
        hidden |= set(one.hidden)
    return View.of(state, (chain[0].tenant, chain[0].repo), variants, hidden)
