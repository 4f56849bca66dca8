"""Overlays: a client's uncommitted edits over a layer, visible with a handle, until closed or expired."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from prism_catalog.tenants import Tenants, limit_exceeded
from prism_contracts.base import BASE_LAYER, Lane, layer_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import (
    OVERLAY_HANDLE,
    UPLOAD,
    Job,
    JobState,
    Layer,
    LayerKind,
    LayerState,
    Limit,
    Repository,
)
from prism_contracts.rpc.layers import CloseOverlayRequest, OpenOverlayRequest
from prism_ingest.adapters.ledger import Ledger, Origin
from prism_ingest.core import new_job
from prism_ingest.core.edits import contents_of, described
from prism_ingest.core.layers import check_commit, check_served, layer_named, new_layer
from prism_ingest.core.selection import Selection
from prism_ingest.operations.edit_reader import read_edits
from prism_ingest.operations.file_events import edit_events
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.planning import FileListing, Planner
from prism_ingest.operations.publishing import publish_file_events
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus

HANDLE_BYTES = 10


class Overlays:
    """Opens, replaces and closes overlays."""

    def __init__(
        self,
        bus: Bus,
        ledger: Ledger,
        layers: LayerRegistry,
        planner: Planner,
        *,
        tenants: Tenants,
        settings: IngestSettings,
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._layers = layers
        self._planner = planner
        self._tenants = tenants
        self._settings = settings
        self._limits = settings.limits

    async def open(self, request: OpenOverlayRequest) -> tuple[Layer, Job]:
        """Put edits over a layer, replacing the handle's earlier ones. Returns when their events are stored.

        Raises PrismError: REPO_NOT_FOUND, REF_NOT_FOUND, BASE_MISMATCH, INVALID_PATH, INVALID_ARGUMENT,
        DIFF_NOT_APPLICABLE, PAYLOAD_TOO_LARGE, LIMIT_EXCEEDED.
        """
        repository = await self._ledger.seen_by(request, request.repo)
        below = await self._below(repository, request.base_ref)
        served = (below and below.served) or check_served(repository)
        check_commit(repository.name, served, request.base_commit)
        edits = await read_edits(self._bus, repository, request.base_ref, request.files, request.diff)
        contents = contents_of(edits)
        self._check_size(contents)
        layer = await self._keep(repository, below, request)
        job = _job(self._ledger.job_key, repository, layer, served, request)
        files = tuple(described(path, data, self._limits) for path, data in sorted(contents.items()))
        parent = below.layer if below else BASE_LAYER
        listing = FileListing(
            files,
            tuple(sorted(edits.keys() - contents.keys())),
            parent=parent,
            selection=Selection.of(repository),
        )
        # These edits replace the handle's earlier ones, even if those are still being indexed.
        opened = await self._planner.open(job, Origin(UPLOAD), listing, idle_s=0)
        await publish_file_events(self._bus, edit_events(opened, contents, self._limits))
        return await self._layers.find(repository, layer.layer) or layer, opened.job

    async def close(self, request: CloseOverlayRequest) -> Layer:
        """Delete an overlay. Raises REPO_NOT_FOUND, REF_NOT_FOUND."""
        repository = await self._ledger.seen_by(request, request.repo)
        layer = await self._overlay(repository, request.handle)
        await self._layers.forget(layer)
        return layer

    async def _below(self, repository: Repository, ref: str) -> Layer | None:
        """Returns the layer below the overlay; None is the base."""
        layers = self._layers.of(repository)
        below = layer_named(repository, layers, ref)
        if below is not None and below.kind is LayerKind.OVERLAY:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                "An overlay needs a branch below it, not another overlay.",
                "Give the branch as base_ref, and send all edits.",
            )
        return below

    def _check_size(self, contents: Mapping[str, bytes]) -> None:
        size_bytes, limit = sum(map(len, contents.values())), self._settings.overlay_bytes_max
        if size_bytes > limit:
            raise PrismError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The overlay has {size_bytes:,} bytes, more than {limit:,}.",
                "Send fewer files, or commit them and push the branch.",
                limit_bytes=limit,
            )

    async def _keep(self, repository: Repository, below: Layer | None, request: OpenOverlayRequest) -> Layer:
        """Returns the overlay of the handle, or a new one, which expires in `ttl_s`."""
        now, parent = datetime.now(UTC), below.layer if below else BASE_LAYER
        expires_at = now + timedelta(seconds=request.ttl_s)
        if request.handle:
            known = await self._overlay(repository, request.handle)
            return await self._ledger.layers.modify(
                known.key, lambda found: _renewed(found, repository, request.handle, expires_at)
            )
        self._check_count(repository.tenant)
        handle = OVERLAY_HANDLE + secrets.token_hex(HANDLE_BYTES)
        fresh = new_layer(
            repository, LayerKind.OVERLAY, handle, source=UPLOAD, now=now, expires_at=expires_at
        )
        layer = fresh.model_copy(update={"parent": parent})
        await self._ledger.layers.put(layer.key, layer)
        return layer

    def _check_count(self, tenant: str) -> None:
        allowed = self._settings.overlays_max
        if (of_plan := self._tenants.limit_of(tenant, Limit.OVERLAYS)) is not None:
            allowed = min(allowed, of_plan)
        of_tenant = [layer for layer in self._layers.all() if layer.tenant == tenant]
        if sum(layer.kind is LayerKind.OVERLAY for layer in of_tenant) >= allowed:
            raise limit_exceeded(
                Limit.OVERLAYS, allowed, "Close some with close_overlay, or reuse a handle for new edits."
            )

    async def _overlay(self, repository: Repository, handle: str) -> Layer:
        found = await self._layers.find(repository, layer_id(handle))
        if found is None or found.kind is not LayerKind.OVERLAY:
            raise _closed(repository, handle)
        return found


def _renewed(found: Layer | None, repository: Repository, handle: str, expires_at: datetime) -> Layer:
    """Returns the overlay with a later expiry. Its parent changes when its new edits are served."""
    if found is None:
        raise _closed(repository, handle)
    return found.model_copy(update={"expires_at": expires_at})


def _closed(repository: Repository, handle: str) -> PrismError:
    return PrismError(
        ErrorCode.REF_NOT_FOUND,
        f"{repository.name} has no overlay {handle[:200]!a}: it was closed, or has expired.",
        "Open a new one without a handle.",
    )


def _job(
    key: bytes, repository: Repository, layer: Layer, served: LayerState, request: OpenOverlayRequest
) -> Job:
    now = datetime.now(UTC)
    return new_job(
        key=key,
        tenant=repository.tenant,
        repo=repository.repo,
        repo_name=repository.name,
        layer=layer.layer,
        lane=Lane.LIVE,
        snapshot=f"overlay\0{secrets.token_hex(HANDLE_BYTES)}",
        state=JobState.INDEXING,
        now=now,
    ).model_copy(
        update={
            "commit": request.base_commit or served.commit,
            "ref": layer.ref,
            "dirty": True,
            "pushed_at": now,
        }
    )
