"""When graphs are built: after each import, and when a question finds that there is none."""

import asyncio
import logging
import uuid
from datetime import UTC, datetime
from pathlib import Path

from prism_atlas.adapters.builder import Builder
from prism_atlas.adapters.graphs import Graphs
from prism_atlas.core.snapshot import FORMAT
from prism_atlas.worker import Order
from prism_contracts.base import BASE_LAYER
from prism_contracts.errors import PrismError
from prism_contracts.events import RepoIndexed
from prism_contracts.records import GraphRecord, LayerState, Repository, repository_key
from prism_runtime.records import WatchedRecords
from prism_store.scope import Scope

log = logging.getLogger(__name__)


class BuildHandlers:
    """One build at a time; of several imports of a repository that wait for it, the newest is built."""

    def __init__(
        self, builder: Builder, graphs: Graphs, repositories: WatchedRecords[Repository], folder: Path
    ) -> None:
        self._builder = builder
        self._graphs = graphs
        self._repositories = repositories
        self._folder = folder
        self._turn = asyncio.Lock()
        self._wanted: dict[str, asyncio.Task[None]] = {}

    async def on_indexed(self, event: RepoIndexed) -> None:
        """Build what an import brought, unless a later import has ended since: that one is heard of as well."""
        repository = self._repositories.get(repository_key(event.tenant, event.repo))
        if repository is not None:
            await self._build(repository, event.layer, event.version, event.commit)

    def want(self, repository: Repository, state: LayerState) -> None:
        """Have the graph built of what was indexed before there were graphs, or by another version of Prism."""
        key = repository.key
        if key not in self._wanted:
            task = asyncio.create_task(self._try_to_build(repository, state))
            self._wanted[key] = task
            task.add_done_callback(lambda _: self._wanted.pop(key))

    async def _try_to_build(self, repository: Repository, state: LayerState) -> None:
        try:
            await self._build(repository, BASE_LAYER, state.version, state.commit)
        except PrismError as error:  # the next question has it tried again
            log.warning("no graph of %s: %s", repository.name, error)

    async def _build(self, repository: Repository, layer: str, version: int, commit: str) -> None:
        async with self._turn:
            if self._is_needless(repository, layer, version):
                return
            scope = Scope(tenant=repository.tenant, repos=(repository.repo,), layer=layer)
            path = self._folder / uuid.uuid4().hex
            order = Order(scope=scope, repo_name=repository.name, version=version, path=str(path))
            built = await self._builder.build(order)
            record = GraphRecord(
                tenant=repository.tenant,
                repo=repository.repo,
                layer=layer,
                version=version,
                commit=commit,
                format=FORMAT,
                object=f"{repository.key}.{layer}.{version}.{FORMAT}",
                size_bytes=built.size_bytes,
                files=built.files,
                symbols=built.symbols,
                edges=built.edges,
                built_at=datetime.now(UTC),
            )
            await self._graphs.put(record, path)
            log.info(
                "built the graph of %s, version %d: %d edges of %d files, %d of them looked at, in %.1f s",
                *(repository.name, version, built.edges, built.files, built.looked_at, built.seconds),
            )

    def _is_needless(self, repository: Repository, layer: str, version: int) -> bool:
        known = self._repositories.get(repository.key)
        served = known.served if known else None
        built = self._graphs.record(repository.tenant, repository.repo, layer)
        is_overtaken = served is not None and served.version > version
        return is_overtaken or (built is not None and built.version >= version)
