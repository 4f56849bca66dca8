"""Records of layers: creates them, extends their expiry on each push, and deletes them."""

from datetime import UTC, datetime, timedelta

from prism_contracts.base import layer_id
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import UPLOAD, JobState, Layer, LayerKind, Repository, layer_key
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core.layers import new_layer
from prism_ingest.operations.job_tracker import JobTracker
from prism_ingest.settings import IngestSettings
from prism_runtime.records import WatchedRecords


class LayerRegistry:
    """All layers."""

    def __init__(
        self, ledger: Ledger, watched: WatchedRecords[Layer], tracker: JobTracker, settings: IngestSettings
    ) -> None:
        self._ledger = ledger
        self._watched = watched
        self._tracker = tracker
        self._kept = timedelta(days=settings.layer_days)
        self._max = settings.layers_max

    def all(self) -> list[Layer]:
        """Returns the layers of all repositories, from a local copy that may be a moment old."""
        return self._watched.values()

    def of(self, repository: Repository) -> list[Layer]:
        """Returns the layers of a repository, from a local copy that may be a moment old."""
        own = (repository.tenant, repository.repo)
        return [layer for layer in self._watched.values() if (layer.tenant, layer.repo) == own]

    async def find(self, repository: Repository, layer: str) -> Layer | None:
        """Returns a layer by id, from its record."""
        return await self._ledger.layers.get(layer_key(repository.tenant, repository.repo, layer))

    async def keep(self, repository: Repository, kind: LayerKind, ref: str, source: str) -> Layer:
        """Create the layer of a ref if it does not exist, and restart its expiry.

        A fetched layer remains one until an upload begins, see `Ledger.begin`. Raises RATE_LIMITED if the
        repository has the maximum number of layers.
        """
        if await self.find(repository, layer_id(ref)) is None:
            self._check_count(repository)
        now = datetime.now(UTC)
        fresh = new_layer(repository, kind, ref, source=source, now=now, expires_at=now + self._kept)
        renewed: dict[str, object] = {"kind": kind, "expires_at": fresh.expires_at}
        if source != UPLOAD:
            renewed["source"] = source
        return await self._ledger.layers.modify(
            layer_key(repository.tenant, repository.repo, layer_id(ref)),
            lambda found: found.model_copy(update=renewed) if found else fresh,
        )

    def _check_count(self, repository: Repository) -> None:
        if sum(layer.kind is not LayerKind.OVERLAY for layer in self.of(repository)) >= self._max:
            raise PrismError(
                ErrorCode.RATE_LIMITED,
                f"{repository.name} has {self._max} layers.",
                "Delete some with delete_branch_index, or raise PRISM_LAYERS_MAX.",
                limit=self._max,
            )

    async def forget(self, layer: Layer) -> None:
        """Delete a layer and abandon its job. The sweep deletes variants that no other layer has."""
        await self._ledger.layers.delete(layer.key)
        await self._give_up(layer)

    async def forget_expired(self, layer: Layer, now: datetime) -> None:
        """Delete a layer that has expired, unless it was renewed since it was read."""
        gone = await self._ledger.layers.delete_if(layer.key, lambda found: found.is_expired(now))
        if gone is not None:
            await self._give_up(gone)

    async def _give_up(self, layer: Layer) -> None:
        if layer.active_job:
            error = ErrorBody(code=ErrorCode.JOB_ABANDONED, message=f"The layer of {layer.ref} was deleted.")
            await self._tracker.fail(layer.active_job, error, JobState.ABANDONED)
