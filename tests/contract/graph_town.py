"""A town with parcels: a repository in the real store, and the processes that answer questions about its
graph.
"""

import asyncio
import hashlib
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import pytest
from forked_processes import forked
from indexed_texts import CREATED_AT, DIMENSION, MODEL, file_point
from scip_stack import keep_scip

from prism_catalog.layer_files import LayerFilesStore
from prism_contracts import names
from prism_contracts.base import BASE_LAYER, Lane, Message, layer_id, repo_id, variant_layer
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import FileRemoved, RepoIndexed, ScipRemoved, ScipStored
from prism_contracts.records import (
    GraphRecord,
    Layer,
    LayerFiles,
    LayerKind,
    LayerState,
    Repository,
    ScipIndex,
    graph_key,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureReply,
    ArchitectureRequest,
    ModuleMapReply,
    ModuleMapRequest,
)
from prism_indexer.core import removed_point
from prism_resolver.occurrences import Columns
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_store.gate import connect
from prism_store.points import FilePoint
from prism_store.settings import StoreSettings
from prism_store.writer import Writer

ReplyT = TypeVar("ReplyT", bound=Message)

NAME = "acme/parcel-tracker"
REPO = repo_id(NAME)
DEADLINE_S = 120
ACK_WAIT_S = 1.0


class Town:
    """A tenant with one repository, the bus, and processes of atlas."""

    def __init__(self, nats_url: str, qdrant_url: str) -> None:
        self.tenant = f"t{uuid.uuid4().hex}"
        self.client = connect(StoreSettings(url=qdrant_url, timeout_s=30))
        self.bus = Bus("test", ServiceSettings(nats_url=nats_url, ack_wait_s=ACK_WAIT_S))
        self._environment = {
            **os.environ, "PRISM_NATS_URL": nats_url, "PRISM_QDRANT_URL": qdrant_url,
            "PRISM_ACK_WAIT_S": str(ACK_WAIT_S),
        }  # fmt: skip

    async def begin(self) -> None:
        await self.bus.connect()
        await Writer(self.client).ensure_collection(self.tenant, MODEL, DIMENSION)

    async def end(self) -> None:
        await self.bus.stop()
        await self.client.close()

    async def import_(
        self,
        version: int,
        files: Mapping[str, str | None],
        *,
        announced: bool = True,
        dirty: bool = False,
        name: str = NAME,
        repo: str = "",
    ) -> None:
        """Writes files (None removes one), and announces the import unless `announced` is false.

        With `dirty`, it is an edit that no commit holds. `name` is that of the repository, and `repo` its id if
        another one had the name before.
        """
        repo = repo or repo_id(name)
        points = [self._point(version, path, text, repo) for path, text in files.items()]
        await Writer(self.client).write(self.tenant, points)
        state = LayerState(
            commit=f"c{version}", dirty=dirty, version=version, job=f"j{version}", indexed_at=CREATED_AT
        )
        record = Repository(
            tenant=self.tenant, repo=repo, name=name, source="upload", created_at=CREATED_AT,
            next_version=version + 1, served=state,
        )  # fmt: skip
        bucket = await open_bucket(self.bus.js, names.KV_REPOSITORIES)
        await Records(bucket, Repository).put(record.key, record)
        if announced:
            await self.announce(version)

    async def announce(self, version: int) -> None:
        event = RepoIndexed(
            tenant=self.tenant, repo=REPO, version=version, job=f"{self.tenant}.{version}", commit=f"c{version}",
            complete=True, lane=Lane.LIVE,
        )  # fmt: skip
        await self.bus.publish(event, lane=Lane.LIVE)

    async def store_scip(self, columns: Columns, *, announced: bool = True) -> ScipIndex:
        """Stores the columns of a SCIP index, and announces them unless `announced` is false."""
        index = await keep_scip(self.bus.js, self.tenant, REPO, "scip-python", columns)
        if announced:
            event = ScipStored(tenant=self.tenant, repo=REPO, object=index.object)
            await self.bus.publish(event, lane=Lane.BULK)
        return index

    async def delete_scip(self, index: ScipIndex, *, announced: bool = False) -> None:
        """Deletes the record of an index, without an event unless `announced` is true."""
        await Records(await open_bucket(self.bus.js, names.KV_SCIP), ScipIndex).delete(index.key)
        if announced:
            event = ScipRemoved(tenant=index.tenant, repo=index.repo, object=index.object)
            await self.bus.publish(event, lane=Lane.BULK)

    async def lay(self, ref: str, version: int, files: Mapping[str, str | None], **fields: object) -> Layer:
        """Makes a branch override files of the base; None hides one."""
        variants = {path: variant_of(path, text) for path, text in files.items() if text is not None}
        points = [
            file_point(self.tenant, NAME, path, files[path], version, layer=layer, blob=layer)
            for path, layer in variants.items()
        ]
        await Writer(self.client).write(self.tenant, points)
        hidden = tuple(path for path, text in files.items() if text is None)
        name = f"{self.tenant}.{REPO}.{layer_id(ref)}.{version}"
        await (await LayerFilesStore.open(self.bus.js, 1)).put(
            name, LayerFiles(variants=variants, hidden=hidden)
        )
        commit = hashlib.sha256(name.encode()).hexdigest()
        state = LayerState(commit=commit, ref=ref, version=version, job="j", indexed_at=CREATED_AT)
        record = Layer(
            tenant=self.tenant, repo=REPO, layer=layer_id(ref), ref=ref, created_at=CREATED_AT, files=name,
            next_version=version + 1, served=state, **{"kind": LayerKind.BRANCH} | fields,
        )  # fmt: skip
        await Records(await open_bucket(self.bus.js, names.KV_LAYERS), Layer).put(record.key, record)
        return record

    def _point(self, version: int, path: str, text: str | None, repo: str) -> FilePoint:
        if text is not None:
            return file_point(self.tenant, NAME, path, text, version, repo=repo)
        return removed_point(
            FileRemoved(
                tenant=self.tenant, repo=repo, path=path, version=version, job=f"j{version}", ordinal=0,
                lane=Lane.LIVE,
            )
        )  # fmt: skip

    def atlas(self, **settings: str) -> AbstractAsyncContextManager[BaseProcess]:
        """Starts the real process with these environment variables; kills it at the end."""
        return forked("prism_atlas.main", self._environment | settings)

    def search(self) -> AbstractAsyncContextManager[BaseProcess]:
        """Starts the real search process; kills it at the end."""
        return forked("prism_search.main", self._environment)

    async def record(self) -> GraphRecord | None:
        bucket = await open_bucket(self.bus.js, names.KV_GRAPHS)
        return await Records(bucket, GraphRecord).get(graph_key(self.tenant, REPO, BASE_LAYER))

    async def built(self, version: int, *indexes: ScipIndex) -> GraphRecord:
        """Waits for the graph of a version, built with these SCIP indexes; returns its record."""
        objects = tuple(sorted(index.object for index in indexes))
        async with asyncio.timeout(DEADLINE_S):
            while (
                (record := await self.record()) is None
                or record.version < version
                or record.indexes != objects
            ):
                await asyncio.sleep(0.02)
        return record

    async def map(self, **fields: object) -> ModuleMapReply:
        request = ModuleMapRequest(tenant=self.tenant, repo=NAME, **fields)
        return await self.bus.ask(MODULE_MAP, request, timeout_s=10)

    async def ask(self, rpc: Rpc[Any, ReplyT], request: ScopedRequest) -> ReplyT:
        """Sends a request about the repository."""
        asked = request.model_copy(update={"tenant": self.tenant, "repo": NAME})
        return await self.bus.ask(rpc, asked, timeout_s=10)

    async def architecture(self, component: str = "") -> ArchitectureReply:
        request = ArchitectureRequest(tenant=self.tenant, repo=NAME, component=component)
        return await self.bus.ask(ARCHITECTURE, request, timeout_s=10)

    async def answer(self, ask) -> object:
        """Returns the answer once the process and the graph are available, or the error that persists."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                try:
                    return await ask()
                except PrismError as error:
                    if error.code not in (ErrorCode.UNAVAILABLE, ErrorCode.GRAPH_NOT_BUILT):
                        return error
                await asyncio.sleep(0.02)


def variant_of(path: str, text: str) -> str:
    """Returns the layer id of this content of a path."""
    return variant_layer(path, hashlib.sha256(text.encode()).hexdigest(), MODEL)


@pytest.fixture
async def town(nats_server, qdrant_url) -> AsyncIterator[Town]:
    town = Town(nats_server.url, qdrant_url)
    await town.begin()
    yield town
    await town.end()
