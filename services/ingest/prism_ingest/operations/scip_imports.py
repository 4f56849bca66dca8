"""Imports SCIP indexes: stores their content for the files that have not changed since their commit.

upload ▶ documents, one at a time ▶ columns ▶ object store
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple

from prism_contracts.base import BASE_LAYER, Lane
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import ScipRemoved, ScipStored
from prism_contracts.records import Repository, ScipIndex
from prism_contracts.rpc.files import ManifestEntry
from prism_contracts.rpc.imports import ListScipRequest, RemoveScipRequest, StoreScipRequest
from prism_ingest.adapters.index import read_manifest
from prism_ingest.adapters.ledger import Ledger
from prism_ingest.adapters.scip import ScipMetrics, ScipStore, uploaded
from prism_ingest.core.commits import commits_indexed
from prism_ingest.core.occurrences import IndexContent, read_index
from prism_ingest.settings import IngestSettings
from prism_runtime.bus import Bus
from prism_scip.documents import documents, metadata
from prism_scip.scip_pb2 import Document, Metadata
from prism_source.paths import validate_path

COMMITS_SHOWN_MAX = 10


class StoredIndex(NamedTuple):
    """The outcome of an upload."""

    repository: Repository
    record: ScipIndex
    content: IndexContent
    is_stored: bool  # False if a newer index is stored already


class ScipImports:
    """Imports of SCIP indexes."""

    def __init__(
        self, bus: Bus, ledger: Ledger, store: ScipStore, metrics: ScipMetrics, settings: IngestSettings
    ) -> None:
        self._bus = bus
        self._ledger = ledger
        self._store = store
        self._metrics = metrics
        self._settings = settings
        # The content of an index is in memory until it is stored, so indexes are imported one at a time.
        self._turn = asyncio.Lock()

    async def store(self, request: StoreScipRequest) -> StoredIndex:
        """Store an index.

        Raises REPO_NOT_FOUND, REF_NOT_FOUND, INVALID_PATH, SCIP_INVALID, PAYLOAD_TOO_LARGE.
        """
        bytes_max, folder = self._settings.scip_unpacked_bytes_max, self._settings.scip_dir
        async with self._turn, uploaded(self._bus.codec, request.object, bytes_max, folder) as file:
            repository = await self._ledger.seen_by(request, request.repo)
            version = await self._version(repository, request)
            root = validate_path(request.root) if request.root else ""
            entries = await read_manifest(self._bus, request.tenant, repository.repo, BASE_LAYER)
            about, content = await asyncio.to_thread(_read, file, entries, version, root)
            index = ScipIndex(
                tenant=request.tenant,
                repo=repository.repo,
                indexer=about.tool_info.name,
                root=root,
                commit=request.commit,
                version=version,
                object="",
                files=len(content.columns.paths),
                stored_at=datetime.now(UTC),
            )
            kept = await self._store.keep(index, await asyncio.to_thread(content.columns.packed))
            stored = kept is not None
            if kept:
                event = ScipStored(tenant=kept.tenant, repo=kept.repo, object=kept.object)
                await self._bus.publish(event, lane=Lane.BULK)
        self._metrics.count(content, stored=stored)
        return StoredIndex(repository, index, content, stored)

    async def of(self, request: ListScipRequest) -> tuple[Repository, list[ScipIndex]]:
        """Returns a repository and its indexes, by indexer and folder. Raises REPO_NOT_FOUND."""
        repository = await self._ledger.seen_by(request, request.repo)
        return repository, await self._store.of(request.tenant, repository.repo)

    async def remove(self, request: RemoveScipRequest) -> tuple[Repository, ScipIndex]:
        """Remove an index. Returns its repository, and its record.

        Raises REPO_NOT_FOUND, SCIP_NOT_FOUND.
        """
        repository = await self._ledger.seen_by(request, request.repo)
        async with self._turn:
            stored = await self._store.of(request.tenant, repository.repo)
            wanted = (request.indexer, request.root.strip("/"))
            found = next((one for one in stored if (one.indexer, one.root) == wanted), None)
            if found is None or not await self._store.remove(found):
                raise PrismError(
                    ErrorCode.SCIP_NOT_FOUND,
                    f"{repository.name} has no SCIP index by {request.indexer}"
                    f"{f' for {wanted[1]}' if wanted[1] else ''}.",
                    "List its indexes, and give the indexer and the folder (root) as listed.",
                    indexes=[{"indexer": one.indexer, "root": one.root} for one in stored],
                )
            event = ScipRemoved(tenant=found.tenant, repo=found.repo, object=found.object)
            await self._bus.publish(event, lane=Lane.BULK)
        return repository, found

    async def _version(self, repository: Repository, request: StoreScipRequest) -> int:
        """Returns the version of an indexed commit. Raises REF_NOT_FOUND."""
        known = commits_indexed(repository, await self._ledger.jobs.all())
        if request.commit not in known:
            raise PrismError(
                ErrorCode.REF_NOT_FOUND,
                f"Commit {request.commit} of {repository.name} is not indexed, "
                "or only with uncommitted changes.",
                "Index that commit first, and give its full hash.",
                commits=list(known)[:COMMITS_SHOWN_MAX],
            )
        return known[request.commit]


def _read(
    file: BinaryIO, entries: Sequence[ManifestEntry], version: int, root: str
) -> tuple[Metadata, IndexContent]:
    def begin() -> Iterator[Document]:
        file.seek(0)
        return documents(file)

    about = metadata(file)
    content = read_index(begin, entries, version, root)
    if not content.columns.paths:
        raise PrismError(
            ErrorCode.SCIP_INVALID,
            f"None of the {content.documents} documents matches an indexed file of the commit.",
            "If the index covers a folder of the repository, give it as root.",
            left_out={reason.value: count for reason, count in content.left_out.items()},
            examples=[path for path, _ in content.examples],
        )
    return about, content
