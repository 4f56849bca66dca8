"""What the index holds of a layer, asked of the search service: the file points are the only manifest."""

from prism_contracts import names
from prism_contracts.rpc import ManifestEntry, ManifestReply, ManifestRequest
from prism_runtime import rpc
from prism_runtime.bus import Bus

PAGE_TIMEOUT_S = 20.0


async def read_manifest(bus: Bus, tenant: str, repo: str, layer: str) -> list[ManifestEntry]:
    """Every file of a layer that the index knows."""
    entries: list[ManifestEntry] = []
    cursor = ""
    while True:
        request = ManifestRequest(tenant=tenant, repo=repo, layer=layer, cursor=cursor)
        page = await rpc.call(bus, names.RPC_MANIFEST, request, ManifestReply, timeout_s=PAGE_TIMEOUT_S)
        entries += page.entries
        cursor = page.next_cursor
        if not cursor:
            return entries
