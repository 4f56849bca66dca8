"""Workspace as a process: assembles its parts, subscribes them to the bus, and runs them."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic import SecretStr

from prism_catalog.repository_names import RepositoryNames
from prism_catalog.vault import Vault, VaultSettings
from prism_contracts import names, topics
from prism_contracts.records import FAST_MODEL_KEY, AnchoredKind, ModelVersion
from prism_contracts.rpc.anchors import CONCERNING
from prism_contracts.rpc.document_remote import (
    DOCUMENT_BUNDLE,
    DOCUMENTS_ANNOUNCED,
    GET_DOCUMENT_REMOTE,
    PUSH_DOCUMENTS,
    REMOVE_DOCUMENT_REMOTE,
    SET_DOCUMENT_REMOTE,
)
from prism_contracts.rpc.documents import (
    COMMIT_DOCUMENTS,
    CREATE_DOCUMENT,
    DOCUMENT_DIFF,
    DOCUMENT_VERSIONS,
    EXPORT_DOCUMENTS,
    GENERATE_EMBEDDINGS,
    GENERATE_TAGS,
    GET_DOCUMENT,
    GET_DOCUMENT_METADATA,
    IMPORT_DOCUMENTS,
    LIST_DOCUMENTS,
    RELATED_DOCUMENTS,
    SEARCH_DOCUMENTS,
    UPDATE_DOCUMENT,
)
from prism_contracts.rpc.tasks import CREATE_TASK, GET_TASK, LIST_TASKS, UPDATE_TASK
from prism_runtime.bus import Bus
from prism_runtime.process import run
from prism_runtime.service import Service
from prism_runtime.tasks import cancelled
from prism_workspace.adapters.anchors import AnchorStore
from prism_workspace.adapters.documents import DocumentRecords
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.git_refs import GitRefs
from prism_workspace.adapters.ingest import DocumentImports
from prism_workspace.adapters.logins import RemoteLogins
from prism_workspace.adapters.places import Places
from prism_workspace.adapters.remotes import Remotes
from prism_workspace.adapters.scratch import Scratch
from prism_workspace.adapters.tag_writer import TagWriter
from prism_workspace.handlers.anchors import AnchorHandlers
from prism_workspace.handlers.documents import DocumentHandlers
from prism_workspace.handlers.folders import FolderHandlers
from prism_workspace.handlers.knowledge import KnowledgeHandlers
from prism_workspace.handlers.remote import RemoteHandlers
from prism_workspace.handlers.tasks import TaskHandlers
from prism_workspace.operations.anchors import Anchors, Subjects
from prism_workspace.operations.bundles import DocumentBundles
from prism_workspace.operations.commits import DraftCommits
from prism_workspace.operations.document_search import DocumentSearch
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.operations.embeddings import DocumentEmbeddings
from prism_workspace.operations.folders import DocumentFolders
from prism_workspace.operations.projection import IndexProjection
from prism_workspace.operations.pushes import DocumentPushes
from prism_workspace.operations.references import References
from prism_workspace.operations.related import RelatedDocuments
from prism_workspace.operations.remote_intake import RemoteIntake
from prism_workspace.operations.remote_settings import RemoteSettings
from prism_workspace.operations.remote_sync import RemoteSync
from prism_workspace.operations.tags import TagProposals
from prism_workspace.operations.task_links import TaskLinks
from prism_workspace.operations.tasks import TeamTasks
from prism_workspace.operations.turns import BranchTurns
from prism_workspace.operations.versions import DocumentVersions
from prism_workspace.settings import WorkspaceSettings

SERVICE = "workspace"
# One at a time: a branch belongs to one task, so a push has to find the link that the one before it made.
PUSHES_AT_ONCE = 1


@dataclass(frozen=True)
class WorkspaceApp:
    """The parts of workspace that something outside calls."""

    anchors: Anchors
    about_anchors: AnchorHandlers
    documents: DocumentHandlers
    folders: FolderHandlers
    knowledge: KnowledgeHandlers
    projection: IndexProjection
    remote: RemoteHandlers
    scratch: tuple[Scratch, ...]
    sync: RemoteSync
    tasks: TaskHandlers


async def build(bus: Bus, settings: WorkspaceSettings, vault: Vault | None = None) -> WorkspaceApp:
    """Assemble workspace on a connected bus. Nothing runs until `register` and `Bus.start`.

    `vault` holds the logins of remotes; None: without a key, so that there are none.
    """
    records = await DocumentRecords.open(bus, replicas=settings.nats_replicas)
    objects = await GitObjects.open(bus, replicas=settings.nats_replicas)
    refs = await GitRefs.open(bus, replicas=settings.nats_replicas)
    remotes = await Remotes.open(bus, replicas=settings.nats_replicas)
    store = await AnchorStore.open(bus, replicas=settings.nats_replicas)
    documents = TeamDocuments(records, objects, settings.documents_repo, store.want)
    tasks = await TeamTasks.open(
        bus,
        replicas=settings.nats_replicas,
        statuses=settings.more_statuses,
        tasks_max=settings.tasks_max,
        want_links=store.want,
    )
    places = Places(bus)
    references = References(places, store.repositories, documents.is_known)
    anchors = Anchors(
        store,
        places,
        {
            AnchoredKind.DOCUMENT: Subjects(text=documents.text, title=documents.title),
            AnchoredKind.TASK: Subjects(text=tasks.text, title=tasks.title),
        },
        bus.publish,
        unlinked=(settings.documents_repo,),
    )
    search = DocumentSearch(documents, bus, settings.documents_repo, timeout_s=settings.documents_deadline_s)
    imports = DocumentImports(bus, settings.documents_repo, store.repositories)
    projection = IndexProjection(records, objects, refs, imports)
    models = await bus.follow(names.KV_MODEL_VERSIONS, ModelVersion)
    embeddings = DocumentEmbeddings(
        documents,
        projection,
        places,
        settings.documents_repo,
        lambda: found.version if (found := models.get(FAST_MODEL_KEY)) else "",
        settle_s=settings.documents_settle_s,
    )
    tags = TagProposals(documents, TagWriter(bus))
    intake, turns = RemoteIntake(records, objects, refs, store.want, projection.wake), BranchTurns()
    scratch, for_bundles = Scratch(settings.remote_rules), Scratch(settings.remote_rules)
    remote_settings = RemoteSettings(remotes, refs, settings.remote_rules, settings.documents_repo)
    sync = RemoteSync(
        remotes,
        objects,
        refs,
        scratch=scratch,
        intake=intake,
        turns=turns,
        login=(await _logins(bus, settings, vault)).get,
        interval_s=settings.documents_remote_interval_s,
    )
    pushes = DocumentPushes(documents, remote_settings, sync, wait_s=settings.documents_push_wait_s)
    handlers = DocumentHandlers(
        documents,
        DraftCommits(records, objects, refs, intake, turns),
        projection,
        anchors,
        pushes=pushes,
        tags=tags,
        versions=DocumentVersions(documents, objects, refs),
        settle_s=settings.documents_settle_s,
    )
    return WorkspaceApp(
        anchors=anchors,
        about_anchors=AnchorHandlers(anchors),
        documents=handlers,
        folders=FolderHandlers(DocumentFolders(documents, records, objects, store.want), projection),
        knowledge=KnowledgeHandlers(
            documents,
            search,
            anchors,
            embeddings=embeddings,
            tags=tags,
            related=RelatedDocuments(documents, search, anchors),
        ),
        projection=projection,
        remote=RemoteHandlers(
            documents, remote_settings, pushes, DocumentBundles(objects, refs, for_bundles)
        ),
        scratch=(scratch, for_bundles),
        sync=sync,
        tasks=TaskHandlers(
            tasks,
            TaskLinks(tasks, store.repositories, completes=settings.tasks_completed_by_merge),
            anchors,
            references,
        ),
    )


async def _logins(bus: Bus, settings: WorkspaceSettings, vault: Vault | None) -> RemoteLogins:
    vault, book = vault or Vault(VaultSettings(secrets_key=SecretStr(""))), RepositoryNames()
    await vault.open(bus.js, replicas=settings.nats_replicas)
    await book.open(bus.js, replicas=settings.nats_replicas)
    return RemoteLogins(vault, book, settings.documents_repo)


def register(bus: Bus, app: WorkspaceApp, *, deadline_s: float) -> None:
    """Subscribe the handlers. `deadline_s` is the longest time for one request, if the RPC has no own one."""
    register_documents(bus, app, deadline_s=deadline_s)
    bus.serve(CONCERNING, app.about_anchors.concerning, deadline_s=deadline_s)
    bus.consume(topics.REPO_INDEXED, app.about_anchors.on_indexed, workers=1)
    bus.serve(CREATE_TASK, app.tasks.create, deadline_s=deadline_s)
    bus.serve(GET_TASK, app.tasks.get, deadline_s=deadline_s)
    bus.serve(UPDATE_TASK, app.tasks.update, deadline_s=deadline_s)
    bus.serve(LIST_TASKS, app.tasks.list, deadline_s=deadline_s)
    bus.consume(topics.BRANCH_PUSHED, app.tasks.on_pushed, workers=PUSHES_AT_ONCE)
    bus.consume(topics.PULL_MERGED, app.tasks.on_merged, workers=PUSHES_AT_ONCE)


def register_documents(bus: Bus, app: WorkspaceApp, *, deadline_s: float) -> None:
    """Subscribe the handlers of documents alone, which need only NATS and, to search, the search service."""
    bus.serve(GET_DOCUMENT, app.documents.get, deadline_s=deadline_s)
    bus.serve(GET_DOCUMENT_METADATA, app.documents.get_metadata, deadline_s=deadline_s)
    bus.serve(LIST_DOCUMENTS, app.documents.list, deadline_s=deadline_s)
    bus.serve(DOCUMENT_VERSIONS, app.documents.versions, deadline_s=deadline_s)
    bus.serve(DOCUMENT_DIFF, app.documents.diff, deadline_s=deadline_s)
    bus.serve(CREATE_DOCUMENT, app.documents.create, deadline_s=deadline_s)
    bus.serve(UPDATE_DOCUMENT, app.documents.update, deadline_s=deadline_s)
    bus.serve(IMPORT_DOCUMENTS, app.folders.take, deadline_s=deadline_s)
    bus.serve(EXPORT_DOCUMENTS, app.folders.give, deadline_s=deadline_s)
    bus.serve(COMMIT_DOCUMENTS, app.documents.commit)  # of thousands of drafts takes longer
    bus.serve(GET_DOCUMENT_REMOTE, app.remote.get, deadline_s=deadline_s)
    bus.serve(SET_DOCUMENT_REMOTE, app.remote.set, deadline_s=deadline_s)
    bus.serve(REMOVE_DOCUMENT_REMOTE, app.remote.remove, deadline_s=deadline_s)
    bus.serve(DOCUMENTS_ANNOUNCED, app.remote.announce, deadline_s=deadline_s)
    bus.serve(DOCUMENT_BUNDLE, app.remote.bundle, deadline_s=deadline_s)
    bus.serve(PUSH_DOCUMENTS, app.remote.push, deadline_s=deadline_s)
    bus.serve(SEARCH_DOCUMENTS, app.knowledge.search, deadline_s=deadline_s)
    bus.serve(RELATED_DOCUMENTS, app.knowledge.related, deadline_s=deadline_s)
    bus.serve(GENERATE_EMBEDDINGS, app.knowledge.generate_embeddings, deadline_s=deadline_s)
    bus.serve(GENERATE_TAGS, app.knowledge.generate_tags)  # waits for a language model, if one is set


async def serve() -> None:
    """Build everything, then run until a signal arrives."""
    settings, vault_settings = WorkspaceSettings(), VaultSettings()
    service = Service(SERVICE, settings, secrets={"PRISM_SECRETS_KEY": vault_settings.secrets_key})
    bus, open_until_stop = service.bus, AsyncExitStack()

    async def start() -> None:
        await bus.connect()
        app = await build(bus, settings, Vault(vault_settings))
        for scratch in app.scratch:
            open_until_stop.callback(scratch.close)
        register(bus, app, deadline_s=settings.documents_deadline_s)
        await bus.start()
        open_until_stop.push_async_callback(cancelled, asyncio.create_task(app.anchors.keep_linking()))
        open_until_stop.push_async_callback(cancelled, asyncio.create_task(app.anchors.keep_checking()))
        open_until_stop.push_async_callback(cancelled, asyncio.create_task(app.projection.run()))
        open_until_stop.push_async_callback(cancelled, asyncio.create_task(app.sync.run()))

    await service.run(start, close=open_until_stop.aclose)


if __name__ == "__main__":
    run(serve)
