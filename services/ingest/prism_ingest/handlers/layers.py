"""Layers of branches, tags and pull requests."""

from prism_contracts.rpc.layers import CreateLayerRequest, DeleteLayerRequest, LayerReply
from prism_ingest.operations.branch_layers import BranchLayers


class LayerHandlers:
    """Answers `create_layer` and `delete_layer`."""

    def __init__(self, layers: BranchLayers) -> None:
        self._layers = layers

    async def create(self, request: CreateLayerRequest) -> LayerReply:
        """Create the layer of a ref, or bring it to the head of its remote.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_ARGUMENT (the base has the ref, or Prism has no URL to
        fetch), RATE_LIMITED, and what prism_source.clone.mirror raises.
        """
        layer, job = await self._layers.create(request)
        return LayerReply(layer=layer, job=job)

    async def delete(self, request: DeleteLayerRequest) -> LayerReply:
        """Delete a layer. Raises REPO_NOT_FOUND, REF_NOT_FOUND."""
        return LayerReply(layer=await self._layers.delete(request))
