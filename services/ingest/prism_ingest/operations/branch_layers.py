"""Creates and deletes layers of branches, tags and pull requests of repositories that Prism fetches."""

import re
from collections.abc import Iterable

from prism_contracts.base import BASE_LAYER, layer_id
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import Job, Layer, LayerKind, Repository
from prism_contracts.rpc.layers import CreateLayerRequest, DeleteLayerRequest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.mirrors import Mirrors, MirrorSource
from prism_ingest.core.layers import check_served, layer_of, usual_ref
from prism_ingest.operations.fetch_jobs import FetchJobs
from prism_ingest.operations.layer_registry import LayerRegistry
from prism_source.clone import RemoteRefs
from prism_source.gittree import ref_not_found

PULL_REQUEST = re.compile(r"pull/(\d{1,12})")


class BranchLayers:
    """Layers that follow refs of a remote."""

    def __init__(
        self, ledger: Ledger, mirrors: Mirrors, fetch_jobs: FetchJobs, layers: LayerRegistry
    ) -> None:
        self._ledger = ledger
        self._mirrors = mirrors
        self._fetch_jobs = fetch_jobs
        self._layers = layers

    async def create(self, request: CreateLayerRequest) -> tuple[Layer, Job | None]:
        """Create the layer of a ref, or bring it to the head of its remote.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_ARGUMENT (the base has the ref, or Prism has no URL to
        fetch), RATE_LIMITED, and what prism_source.clone.mirror raises.
        """
        repository, ref = await self._ledger.seen_by(request, request.repo), request.ref
        check_served(repository)
        _check_fetched(repository)
        pull = PULL_REQUEST.fullmatch(usual_ref(ref))
        if not pull and layer_of(repository, usual_ref(ref)) == BASE_LAYER:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"{shown(ref)} is the branch that {repository.name} follows; the base already has it.",
                "Ask without a ref.",
            )
        heads = _heads(pull.group(1)) if pull else ()
        remote = MirrorSource(repository.tenant, repository.repo, repository.source)
        refs = await self._mirrors.refs(remote, heads)
        source = _pull_request_ref(ref, refs, heads) if pull else refs.full_name(ref)
        kind = LayerKind.PULL_REQUEST if pull else LayerKind.BRANCH
        layer = await self._layers.keep(repository, kind, usual_ref(ref), source)
        job = await self._fetch_jobs.update(repository, layer, request.lane)
        return await self._layers.find(repository, layer.layer) or layer, job

    async def delete(self, request: DeleteLayerRequest) -> Layer:
        """Delete a layer. The sweep deletes its variants later. Raises REPO_NOT_FOUND, REF_NOT_FOUND."""
        repository, ref = await self._ledger.seen_by(request, request.repo), request.ref
        layer = await self._layers.find(repository, layer_id(usual_ref(ref)))
        if layer is None:
            raise PrismError(
                ErrorCode.REF_NOT_FOUND,
                f"{repository.name} has no layer of {shown(ref)}.",
                "It may have been deleted; `prism status` lists all layers.",
            )
        await self._layers.forget(layer)
        return layer


def _check_fetched(repository: Repository) -> None:
    if not repository.is_fetched:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            f"{repository.name} is uploaded by clients: Prism has no URL to fetch a branch from.",
            "Upload the branch: `prism index PATH --ref BRANCH`.",
        )


def _heads(number: str) -> tuple[str, str]:
    """Returns the refs of a pull request's head: that of GitHub and Gitea, and that of GitLab."""
    return f"refs/pull/{number}/head", f"refs/merge-requests/{number}/head"


def _pull_request_ref(ref: str, refs: RemoteRefs, heads: Iterable[str]) -> str:
    for head in heads:
        if refs.commit(head):
            return head
    raise ref_not_found(ref, ())
