"""Copies of workspace on a NATS server, and a caller that asks them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from prism_catalog.vault import Vault
from prism_contracts.base import Message
from prism_contracts.registry import Rpc
from prism_contracts.rpc.documents import (
    COMMIT_DOCUMENTS,
    CREATE_DOCUMENT,
    GET_DOCUMENT,
    LIST_DOCUMENTS,
    UPDATE_DOCUMENT,
    CommitDocumentsReply,
    CommitDocumentsRequest,
    CreateDocumentReply,
    CreateDocumentRequest,
    DocumentReply,
    GetDocumentRequest,
    ListDocumentsReply,
    ListDocumentsRequest,
    UpdateDocumentReply,
    UpdateDocumentRequest,
)
from prism_runtime.bus import Bus
from prism_workspace.main import WorkspaceApp, build, register
from prism_workspace.settings import WorkspaceSettings

TENANT = "acme"
DOCUMENTS = "prism/documents"


@dataclass
class Desk:
    """A caller of workspace, and the running copies."""

    bus: Bus
    copies: tuple[WorkspaceApp, ...]

    async def ask(self, rpc: Rpc, request: Message):
        return await self.bus.ask(rpc, request, timeout_s=20)

    async def create(self, title: str, content: str = "Text.\n", **fields: object) -> CreateDocumentReply:
        request = {"tenant": TENANT, "auto_process": False} | fields
        return await self.ask(CREATE_DOCUMENT, CreateDocumentRequest(title=title, content=content, **request))

    async def get(self, document: str, tenant: str = TENANT) -> DocumentReply:
        return await self.ask(GET_DOCUMENT, GetDocumentRequest(tenant=tenant, document_id=document))

    async def update(
        self, document: str, version: int | None = None, **updates: object
    ) -> UpdateDocumentReply:
        request = {"tenant": TENANT, "document_id": document, "version": version, "updates": updates}
        request["regenerate_embeddings"] = False
        return await self.ask(UPDATE_DOCUMENT, UpdateDocumentRequest.model_validate(request))

    async def commit(self, *paths: str, **fields: object) -> CommitDocumentsReply:
        request = {"tenant": TENANT, "message": "Write it down", "paths": paths} | fields
        return await self.ask(COMMIT_DOCUMENTS, CommitDocumentsRequest(**request))

    async def list(self, **fields: object) -> ListDocumentsReply:
        request = ListDocumentsRequest(**({"tenant": TENANT} | fields))
        return await self.ask(LIST_DOCUMENTS, request)


@asynccontextmanager
async def desk(
    nats_url: str, copies: int = 1, vault: Vault | None = None, **settings_of: object
) -> AsyncIterator[Desk]:
    settings = WorkspaceSettings(**({"nats_url": nats_url} | settings_of))
    async with AsyncExitStack() as stack:
        apps = []
        for _ in range(copies):
            bus = Bus("workspace", settings)
            stack.push_async_callback(bus.stop)
            await bus.connect()
            apps.append(await build(bus, settings, vault))
            register(bus, apps[-1], deadline_s=10)
            await bus.start()
        caller = Bus("gateway", settings)
        stack.push_async_callback(caller.stop)
        await caller.start()
        yield Desk(caller, tuple(apps))
