"""Applies pushes: begins jobs that fetch what was pushed, and deletes layers of deleted branches."""

import asyncio
import logging

from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import PushReceived
from prism_contracts.records import UPLOAD, Layer, LayerKind, Repository, repository_key
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.core.layers import BRANCHES, is_followed, layer_of
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_ingest.operations.pushed_branches import PushedBranches
from prism_ingest.settings import IngestSettings

# How long to wait for the server's answer about a branch that was reported as deleted. After that, the job
# that fetches the branch finds out.
REFS_TIMEOUT_S = 10.0

log = logging.getLogger(__name__)


class Pushes:
    """Pushes, from webhooks and from the poller."""

    def __init__(
        self,
        ledger: Ledger,
        mirrors: Mirrors,
        *,
        layers: LayerRegistry,
        fetch_jobs: FetchJobs,
        pushed: PushedBranches,
        settings: IngestSettings,
    ) -> None:
        self._ledger = ledger
        self._mirrors = mirrors
        self._layers = layers
        self._fetch_jobs = fetch_jobs
        self._pushed = pushed
        self._creates_layers = settings.layers_by_push

    async def apply(self, event: PushReceived) -> None:
        """Begin a job that fetches what was pushed, or delete the layer of what was deleted.

        Branches that are not fetched, and merged pull requests, are reported for the tasks that they name.
        """
        repository = await self._ledger.repositories.get(repository_key(event.tenant, event.repo))
        if repository is None or not repository.is_fetched:
            return
        await self._pushed.merged(repository, event)
        id_ = layer_of(repository, event.pull_request or event.branch, event.default_branch)
        if id_ == BASE_LAYER:
            if not event.is_deleted:
                await self._fetch_jobs.follow(repository, BASE_LAYER, "", event)
            return
        if event.is_deleted:
            layer = await self._layers.find(repository, id_)
            if layer is None:
                return
            if await self._is_gone(repository, layer):
                await self._layers.forget(layer)
                return
        try:
            layer = await self._pushed_layer(repository, id_, event)
        except PrismError as error:
            if error.code is not ErrorCode.RATE_LIMITED:
                raise
            log.warning("cannot create a layer of %s: %s", event.pull_request or event.branch, error)
            layer = None
        if layer is None:
            await self._pushed.announced(repository, event)
        else:
            await self._fetch_jobs.follow(repository, layer.layer, layer.ref, event)

    async def _is_gone(self, repository: Repository, layer: Layer) -> bool:
        """Whether the branch is gone. It may have been pushed again before the event arrived."""
        if not is_followed(layer) or layer.kind is LayerKind.PULL_REQUEST:
            return True
        remote = MirrorSource(repository.tenant, repository.repo, repository.source)
        try:
            async with asyncio.timeout(REFS_TIMEOUT_S):
                refs = await self._mirrors.refs(remote, [layer.source])
        except (PrismError, TimeoutError):
            return False  # the job that fetches it reports the reason
        return not refs.commit(layer.source)

    async def _pushed_layer(self, repository: Repository, id_: str, event: PushReceived) -> Layer | None:
        """Returns the layer of a branch or pull request, created if pushes create layers; else None."""
        known = await self._layers.find(repository, id_)
        if known is None and not self._creates_layers:
            return None
        if known is not None and known.source != UPLOAD and not event.pull_request:
            return await self._layers.keep(repository, known.kind, known.ref, known.source)
        if event.pull_request:
            return await self._layers.keep(repository, LayerKind.PULL_REQUEST, event.pull_request, event.ref)
        return await self._layers.keep(
            repository, LayerKind.BRANCH, event.branch, f"{BRANCHES}{event.branch}"
        )
