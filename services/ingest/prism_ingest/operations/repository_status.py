"""Reads the state of repositories. Changes nothing."""

from datetime import UTC, datetime

from prism_contracts.records import Job, LayerKind, Repository
from prism_contracts.rpc.repositories import (
    IndexState,
    RepositoryStatusReply,
    RepositoryStatusRequest,
)
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.core import without_bits
from prism_ingest.core.repositories import state_of
from prism_ingest.operations.layer_registry import LayerRegistry


class RepositoryStatus:
    """The state of repositories as their owners see it."""

    def __init__(self, ledger: Ledger, layers: LayerRegistry) -> None:
        self._ledger = ledger
        self._layers = layers

    async def of(self, request: RepositoryStatusRequest) -> RepositoryStatusReply:
        """Returns the state of a repository. Raises REPO_NOT_FOUND."""
        repository = await self._ledger.seen_by(request, request.repo)
        last = await self._last_job(repository)
        state = state_of(repository, last)
        layers = [layer for layer in self._layers.of(repository) if layer.kind is not LayerKind.OVERLAY]
        return RepositoryStatusReply(
            repository=repository,
            state=state,
            lag_seconds=repository.lag_s(datetime.now(UTC)),
            layers=len(layers),
            active_job=last if last and last.job == repository.active_job else None,
            last_job=last,
            last_error=last.error if last and state is IndexState.FAILED else None,
        )

    async def _last_job(self, repository: Repository) -> Job | None:
        # Records of older versions of Prism name only these.
        served = repository.served.job if repository.served else ""
        job = repository.last_job or repository.active_job or served
        found = await self._ledger.jobs.get(job) if job else None
        return without_bits(found) if found else None
