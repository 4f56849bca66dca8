"""Requests to search about the index. The file points are the only manifest."""

from collections.abc import Iterable
from typing import NamedTuple

from prism_contracts.base import file_id
from prism_contracts.code import FileStatus
from prism_contracts.rpc.files import (
    COUNT_CHUNKS,
    MANIFEST,
    POINT_COUNTS,
    READ_FILE,
    READ_LINES_MAX,
    CountChunksRequest,
    ManifestEntry,
    ManifestRequest,
    PointCountsRequest,
    ReadFileRequest,
)
from prism_runtime.bus import Bus

PAGE_TIMEOUT_S = 20.0
FILES_PER_PAGE = 2_000
SETTLED = frozenset({FileStatus.INDEXED, FileStatus.SKIPPED})


async def read_manifest(
    bus: Bus, tenant: str, repo: str, layer: str, *, paths: tuple[str, ...] = ()
) -> list[ManifestEntry]:
    """Returns the indexed files of a layer, all or those of the given paths."""
    entries: list[ManifestEntry] = []
    cursor = ""
    while True:
        request = ManifestRequest(tenant=tenant, repo=repo, layer=layer, paths=paths, cursor=cursor)
        page = await bus.ask(MANIFEST, request, timeout_s=PAGE_TIMEOUT_S)
        entries += page.entries
        cursor = page.next_cursor
        if not cursor:
            return entries


async def count_chunks(bus: Bus, tenant: str) -> int:
    """Returns how many chunks of a tenant are in the index."""
    reply = await bus.ask(COUNT_CHUNKS, CountChunksRequest(tenant=tenant), timeout_s=PAGE_TIMEOUT_S)
    return reply.chunks


async def layers_with_losses(bus: Bus, tenant: str, repo: str) -> set[str]:
    """Returns the layers of a repository that lost files in the store since they were indexed."""
    request = PointCountsRequest(tenant=tenant, repo=repo)
    reply = await bus.ask(POINT_COUNTS, request, timeout_s=PAGE_TIMEOUT_S)
    return {counted.layer for counted in reply.layers if counted.lost}


async def read_variants(
    bus: Bus, tenant: str, repo: str, variants: Iterable[tuple[str, str]]
) -> dict[str, ManifestEntry]:
    """Returns the stored, settled variants by layer id. `variants` are pairs of path and layer id."""
    layers = {file_id(tenant, repo, layer, path): layer for path, layer in variants}
    ids = sorted(layers)
    found: dict[str, ManifestEntry] = {}
    for start in range(0, len(ids), FILES_PER_PAGE):
        request = ManifestRequest(tenant=tenant, repo=repo, files=tuple(ids[start : start + FILES_PER_PAGE]))
        page = await bus.ask(MANIFEST, request, timeout_s=PAGE_TIMEOUT_S)
        found |= {layers[entry.file]: entry for entry in page.entries if entry.status in SETTLED}
    return found


class IndexedText(NamedTuple):
    """An indexed file. Secrets are redacted, so the content may not hash to `blob`."""

    content: str
    blob: str


async def read_text(bus: Bus, tenant: str, repo_name: str, ref: str, path: str) -> IndexedText:
    """Returns the whole text of a file. Raises FILE_NOT_FOUND, FILE_SKIPPED."""
    parts: list[str] = []
    start = 1
    while True:
        request = ReadFileRequest(
            tenant=tenant,
            repo=repo_name,
            ref=ref,
            path=path,
            start_line=start,
            end_line=start + READ_LINES_MAX - 1,
        )
        page = await bus.ask(READ_FILE, request, timeout_s=PAGE_TIMEOUT_S)
        parts.append(page.content)
        start = page.end_line + 1
        if start > page.line_count or not page.content:
            return IndexedText("".join(parts), page.blob)
