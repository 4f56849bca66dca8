"""Anchors of documents over real records, a real index and the real search."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from crashing import WRITES_MAX, ended_at, writes_watched
from graph_town import NAME, REPO, Town
from indexed_texts import OneVector
from prometheus_client import CollectorRegistry

from prism_contracts import names
from prism_contracts.base import next_repo_id, repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.events import AnchorsBroken, RepoIndexed
from prism_contracts.records import (
    UNCOMMITTED,
    Anchor,
    AnchoredKind,
    AnchorsRecord,
    Repository,
    StaleReason,
    anchors_key,
    repository_key,
)
from prism_contracts.rpc.anchors import ConcerningRequest
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.documents import (
    CreateDocumentRequest,
    DocumentFile,
    DocumentFilter,
    DocumentUpdates,
    GetDocumentRequest,
    ImportDocumentsRequest,
    ListDocumentsRequest,
    UpdateDocumentRequest,
)
from prism_contracts.rpc.symbols import SymbolAnswer
from prism_contracts.rpc.tasks import (
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    TaskStatus,
    UpdateTaskRequest,
)
from prism_contracts.topics import SETTLED_STREAM
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_runtime.tasks import cancelled
from prism_search.main import build, register
from prism_search.settings import SearchSettings
from prism_workspace.adapters.anchors import AnchorStore
from prism_workspace.adapters.documents import DocumentRecords
from prism_workspace.adapters.git_objects import GitObjects
from prism_workspace.adapters.places import Places
from prism_workspace.core.anchors import Title, content_id
from prism_workspace.handlers.anchors import AnchorHandlers
from prism_workspace.main import build as build_workspace
from prism_workspace.operations.anchors import Anchors, Subjects
from prism_workspace.operations.documents import TeamDocuments
from prism_workspace.settings import WorkspaceSettings

pytest_plugins = ["graph_town"]

OTHER = "acme/barges"
DOCUMENT = "d1"
WAIT_S = 120
DEPOT = "class Depot:\n    def close(self):\n        return self.gates.shut()\n\n    def open(self):\n        pass\n"
CHANGED = DEPOT.replace("self.gates.shut()", "None")
FILES = {"parcels/depot.py": DEPOT, "parcels/rates.py": "def rate(zone):\n    return zone\n"}
TEXT = "Call `Depot.close()`, see parcels/depot.py:5-6 and `parcels/rates.py`, not `Ferry.sail`."


class Office:
    """The anchors of one tenant's documents, which are texts in memory."""

    def __init__(self, town: Town, store: AnchorStore, bus: Bus) -> None:
        self.town, self.store = town, store
        self.texts: dict[str, str] = {}
        self.is_open = True
        self.nats_url = ""
        subjects = Subjects(text=self._text, title=self._title)
        self.bus = bus
        self.published: list[AnchorsBroken] = []
        self.anchors = Anchors(store, Places(bus), dict.fromkeys(AnchoredKind, subjects), self._publish)
        self.handlers = AnchorHandlers(self.anchors)

    async def _text(self, _: str, subject: str) -> str | None:
        return self.texts.get(subject)

    async def _publish(self, event: AnchorsBroken) -> None:
        await self.bus.publish(event)
        self.published.append(event)

    def _title(self, _: str, subject: str) -> Title:
        return Title(subject, is_open=self.is_open)

    async def write(self, text: str = TEXT, visible: frozenset[str] | None = None, *, repo: str = "") -> None:
        """Writes the document, and links it. `repo`: where its writer works."""
        caller = CallerRequest(tenant=self.town.tenant, visible=visible)
        await self.store.want(caller, AnchoredKind.DOCUMENT, DOCUMENT, text, repo)
        self.texts[DOCUMENT] = text
        await self.link()

    async def link(self) -> None:
        await self.store.watched.catch_up()
        await self.store.repositories.catch_up()
        await self.anchors.link_wanted()

    async def record(self) -> AnchorsRecord | None:
        return await self.store.records.get(anchors_key(self.town.tenant, AnchoredKind.DOCUMENT, DOCUMENT))

    async def held(self) -> dict[str, str]:
        """Returns the anchors as place and state."""
        record = await self.record()
        return {
            place_of(one): one.stale.reason if one.stale else "" for one in (record.anchors if record else ())
        }

    async def index(self, version: int, files: dict[str, str | None], *, dirty: bool = False) -> RepoIndexed:
        """Imports files; returns the event that it has ended."""
        await self.town.import_(version, files, announced=False, dirty=dirty)
        return RepoIndexed(
            tenant=self.town.tenant,
            repo=REPO,
            version=version,
            job=f"j{version}",
            commit=f"c{version}",
            complete=True,
        )


def place_of(one: Anchor) -> str:
    return f"{one.path}:{one.symbol or one.kind}:{one.start_line}"


@pytest.fixture
async def office(town, nats_server, qdrant_url) -> AsyncIterator[Office]:
    """The town is indexed, and nothing is written yet."""
    await town.import_(1, FILES, announced=False)
    settings = SearchSettings(nats_url=nats_server.url, answers_enabled=False)
    search = Bus("search", settings)
    await search.connect()
    register(search, await build(search, settings, town.client, OneVector(), CollectorRegistry()), settings)
    await search.start()
    bus = Bus("workspace", ServiceSettings(nats_url=nats_server.url))
    await bus.connect()
    store = await AnchorStore.open(bus, replicas=1)
    office = Office(town, store, bus)
    office.nats_url = nats_server.url
    yield office
    await bus.stop()
    await search.stop()


async def test_a_document_is_linked_to_the_places_that_it_names(office) -> None:
    await office.write()
    assert await office.held() == {
        "parcels/depot.py:Depot.close:2": "",
        "parcels/depot.py:lines:5": "",
        "parcels/rates.py:file:0": "",
    }
    record = await office.record()
    assert (record.linked, record.wanted) == (content_id(TEXT), ())
    assert {one.commit for one in record.anchors} == {"c1"}


async def test_documents_are_linked_when_they_are_created_and_updated(office) -> None:
    bus, tenant = office.bus, office.town.tenant
    records = await DocumentRecords.open(bus, replicas=1)
    objects = await GitObjects.open(bus, replicas=1)
    documents = TeamDocuments(records, objects, "prism/documents", office.store.want)
    created = await documents.create(
        CreateDocumentRequest(tenant=tenant, title="Depots", content=f"# Depots\n\n{TEXT}\n")
    )
    assert await wanted_of(office, created.document) == [
        content_id(await documents.text(tenant, created.document))
    ]
    for updates, count in (
        (DocumentUpdates(category="x"), 1),
        (DocumentUpdates(content="`Depot.open()`"), 2),
    ):
        await documents.update(
            UpdateDocumentRequest(tenant=tenant, document_id=created.document, updates=updates)
        )
        assert len(await wanted_of(office, created.document)) == count
    assert (await wanted_of(office, created.document))[-1] == content_id("`Depot.open()`")


async def wanted_of(office: Office, document: str) -> list[str]:
    record = await office.store.records.get(anchors_key(office.town.tenant, AnchoredKind.DOCUMENT, document))
    return [one.content for one in record.wanted]


async def test_nothing_is_linked_that_the_writer_may_not_see(office) -> None:
    await office.write(visible=frozenset({"acme/other"}))
    assert (await office.record()).linked == content_id(TEXT)
    assert await office.held() == {}
    await office.write(f"{TEXT} Again.", frozenset({NAME}))
    assert len(await office.held()) == 3


async def test_a_reader_sees_only_anchors_to_its_repositories(office) -> None:
    await office.write()
    await office.link()
    for visible, count in ((None, 3), (frozenset({NAME}), 3), (frozenset({"acme/other"}), 0)):
        caller = CallerRequest(tenant=office.town.tenant, visible=visible)
        assert len(office.anchors.of(caller, AnchoredKind.DOCUMENT, DOCUMENT)) == count
    elsewhere = CallerRequest(tenant="elsewhere")
    assert office.anchors.of(elsewhere, AnchoredKind.DOCUMENT, DOCUMENT) == ()


async def test_documents_that_name_the_same_place_are_related(office) -> None:
    caller = CallerRequest(tenant=office.town.tenant)
    texts = {
        DOCUMENT: "`Depot.close()`",
        "d2": "`Depot.close()` and `parcels/rates.py`",
        "d3": "`Depot.open()`",
        "d4": "See `parcels/depot.py`.",
    }
    for document, text in texts.items():
        await office.store.want(caller, AnchoredKind.DOCUMENT, document, text, "")
        office.texts[document] = text
    await office.link()
    shared = office.anchors.sharing(caller, AnchoredKind.DOCUMENT, DOCUMENT)
    place = f"{NAME} parcels/depot.py Depot.close"
    assert {document: one.places for document, one in shared.items()} == {"d2": (place,), "d4": (place,)}
    blind = CallerRequest(tenant=office.town.tenant, visible=frozenset({"acme/other"}))
    assert office.anchors.sharing(blind, AnchoredKind.DOCUMENT, DOCUMENT) == {}


async def test_a_name_of_two_definitions_is_not_linked(office) -> None:
    await office.index(2, {"parcels/barge.py": DEPOT})
    await office.write("`Depot.close()` and `parcels/barge.py::Depot.open`")
    assert await office.held() == {"parcels/barge.py:Depot.open:5": ""}


BANKS = ("acme/bank-north", "acme/bank-south")
ACCOUNT = "class Account:\n    def close(self):\n        return 1\n"
OF_ACCOUNT = "`bank/account.py`, bank/account.py:2-3 and `Account.close()`"


async def with_two_banks(office: Office) -> None:
    for bank in BANKS:
        await office.town.import_(1, {"bank/account.py": ACCOUNT}, announced=False, name=bank)


async def banks_of(office: Office) -> list[str]:
    await office.store.watched.catch_up()
    record = await office.record()
    return [next(name for name in BANKS if repo_id(name) == one.repo) for one in record.anchors]


async def test_a_name_of_two_repositories_is_linked_to_the_one_where_its_writer_works(office) -> None:
    await with_two_banks(office)
    for repo in ("", "acme/unknown", NAME, "@banks"):
        await office.write(f"{OF_ACCOUNT}, written in {repo}", repo=repo)
        assert await banks_of(office) == []
    await office.write(OF_ACCOUNT, repo="Acme/Bank-South")
    assert await banks_of(office) == [BANKS[1]] * 3
    await office.write(f"{OF_ACCOUNT}, changed in the other one", repo="bank-north")
    assert await banks_of(office) == [BANKS[1]] * 3  # the links stay where they lead
    await office.write(f"`{BANKS[0]}: bank/account.py`", repo=BANKS[1])
    assert await banks_of(office) == [BANKS[0]]


async def test_a_writer_who_does_not_see_its_repository_gets_no_link_to_it(office) -> None:
    await with_two_banks(office)
    await office.write(OF_ACCOUNT, repo=BANKS[1])
    await office.write(f"{OF_ACCOUNT}, again", frozenset({BANKS[0]}), repo=BANKS[1])
    assert await banks_of(office) == [BANKS[0]] * 3


async def test_a_name_with_many_definitions_is_looked_up_where_its_writer_works(office, monkeypatch) -> None:
    await with_two_banks(office)
    whole = Places.definitions

    async def first_of(*arguments: object, **options: object) -> list[SymbolAnswer]:
        found = await whole(*arguments, **options)
        if options.get("repo"):
            return found
        return [one.model_copy(update={"definitions": one.definitions[:1]}) for one in found]

    monkeypatch.setattr(Places, "definitions", first_of)
    for bank in BANKS:
        await office.write(f"`Account.close()` of {bank}", repo=bank)
        assert await banks_of(office) == [bank]
        await office.write("Nothing.")


async def test_documents_and_tasks_are_linked_where_their_writer_works(office) -> None:
    await with_two_banks(office)
    tenant, south = office.town.tenant, repo_id(BANKS[1])
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    at_south = {"tenant": tenant, "connected_repo": BANKS[1]}
    document = await app.documents.create(
        CreateDocumentRequest(**at_south, title="Accounts", content=OF_ACCOUNT, auto_process=False)
    )
    other = await app.documents.create(
        CreateDocumentRequest(tenant=tenant, title="Nothing yet", content="Text.", auto_process=False)
    )
    updates = DocumentUpdates(content=OF_ACCOUNT)
    await app.documents.update(
        UpdateDocumentRequest(
            **at_south, document_id=other.document_id, updates=updates, regenerate_embeddings=False
        )
    )
    file = DocumentFile(path="documents/accounts.md", text=OF_ACCOUNT)
    imported = await app.folders.take(ImportDocumentsRequest(**at_south, files=(file,)))
    task = await app.tasks.create(CreateTaskRequest(**at_south, title="Close", notes=OF_ACCOUNT))
    updated = await app.tasks.create(CreateTaskRequest(tenant=tenant, title="Open"))
    await app.tasks.update(UpdateTaskRequest(**at_south, task_id=updated.id, notes=OF_ACCOUNT))
    # The repository of a task says more than where its writer works.
    north = await app.tasks.create(
        CreateTaskRequest(**at_south, title="Close", notes=OF_ACCOUNT, repo=BANKS[0])
    )
    await office.store.watched.catch_up()
    await app.anchors.link_wanted()
    await office.store.watched.catch_up()
    ids = [document.document_id, other.document_id, imported.files[0].document_id]
    subjects = [(AnchoredKind.DOCUMENT, one) for one in ids]
    subjects += [(AnchoredKind.TASK, one.id) for one in (task, updated, north)]
    found = [
        {one.repo for one in office.anchors.of(CallerRequest(tenant=tenant), kind, subject)}
        for kind, subject in subjects
    ]
    assert found == [{south}] * 5 + [{repo_id(BANKS[0])}]


async def test_a_name_beside_a_path_is_linked_if_that_file_defines_it(office) -> None:
    await office.write("`rate` and `Depot` in `parcels/rates.py`")
    assert await office.held() == {"parcels/rates.py:file:0": "", "parcels/rates.py:rate:1": ""}


async def test_an_import_makes_stale_what_it_changed(office) -> None:
    await office.write()
    await office.handlers.on_indexed(
        await office.index(2, {"parcels/depot.py": CHANGED, "parcels/rates.py": None})
    )
    assert await office.held() == {
        "parcels/depot.py:Depot.close:2": StaleReason.TEXT_CHANGED,
        "parcels/depot.py:lines:5": "",
        "parcels/rates.py:file:0": StaleReason.FILE_GONE,
    }
    (event,) = office.published
    assert (event.subject, event.content, event.commit, len(event.anchors)) == (
        DOCUMENT,
        content_id(TEXT),
        "c2",
        2,
    )
    assert {one.stale.commit for one in event.anchors} == {"c2"}


async def test_the_metadata_of_a_document_say_what_changed_in_what_the_caller_sees(office) -> None:
    tenant = office.town.tenant
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    created = await app.documents.create(
        CreateDocumentRequest(tenant=tenant, title="Depots", content=TEXT, auto_process=False)
    )
    await office.store.watched.catch_up()
    await app.anchors.link_wanted()
    await office.index(2, {"parcels/depot.py": CHANGED})
    await app.anchors.check(tenant, REPO)
    await app.anchors.check(tenant, REPO)  # waits for the copy of the records
    for visible, places in (
        (None, [(NAME, "Depot.close", "c2")]),
        (frozenset({NAME, "prism/documents"}), [(NAME, "Depot.close", "c2")]),
        (frozenset({"prism/documents"}), []),
    ):
        request = GetDocumentRequest(tenant=tenant, visible=visible, document_id=created.document_id)
        stale = (await app.documents.get(request)).metadata.stale
        assert [(one.repo, one.symbol, one.commit) for one in stale] == places


async def test_tasks_and_documents_say_which_places_have_changed(office) -> None:
    tenant = office.town.tenant
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    made = await app.tasks.create(
        CreateTaskRequest(tenant=tenant, title="Shut", planning_references=("parcels/rates.py",), notes=TEXT)
    )
    other = await app.tasks.create(CreateTaskRequest(tenant=tenant, title="Rest"))
    document = await app.documents.create(
        CreateDocumentRequest(tenant=tenant, title="Depots", content=TEXT, auto_process=False)
    )
    await app.anchors.link_wanted()
    await office.index(2, {"parcels/depot.py": CHANGED, "parcels/rates.py": None}, dirty=True)
    await app.anchors.check(tenant, REPO)
    await app.anchors.check(tenant, REPO)  # waits for the copy of the records
    places = [("Depot.close", "text_changed", "uncommitted"), ("", "file_gone", "uncommitted")]
    for visible, stale in ((None, places), (frozenset({"prism/documents"}), [])):
        caller = {"tenant": tenant, "visible": visible}
        task = await app.tasks.get(GetTaskRequest(**caller, task_id=made.id))
        page = await app.tasks.list(ListTasksRequest(**caller, stale=True))
        listed = await app.documents.list(ListDocumentsRequest(**caller, filter=DocumentFilter(stale=True)))
        for found in (task, *page.tasks, *listed.documents):
            assert [(one.symbol, one.reason, one.commit) for one in found.stale] == stale
        assert [one.id for one in page.tasks] == ([made.id] if stale else [])
        assert [one.document_id for one in listed.documents] == ([document.document_id] if stale else [])
        rest = await app.tasks.list(ListTasksRequest(**caller, stale=False))
        assert {one.id for one in rest.tasks} == ({other.id} if stale else {other.id, made.id})
        rest = await app.documents.list(ListDocumentsRequest(**caller, filter=DocumentFilter(stale=False)))
        assert rest.total == (0 if stale else 1)


async def test_references_that_name_nothing_are_listed(office) -> None:
    tenant = office.town.tenant
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    document = await app.documents.create(
        CreateDocumentRequest(tenant=tenant, title="Depots", content="Text.", auto_process=False)
    )
    await app.documents.list(ListDocumentsRequest(tenant=tenant))  # waits for the copy of the records
    found = (
        "parcels/rates.py", f"{NAME}: parcels/depot.py:5", "parcels/depot.py::Depot.open", "Depot.close()",
        document.document_id, document.path, "https://example.com/plan",
        f"https://github.com/{NAME}/blob/main/parcels/rates.py", "https://github.com/acme/unknown/blob/main/a.py",
    )  # fmt: skip
    missing = (
        "parcels/none.py", "acme/unknown: parcels/rates.py", "parcels/rates.py::Depot.open", "Ferry.sail",
        "ferry_sail()", "7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90",
        f"https://github.com/{NAME}/blob/main/parcels/none.py",
    )  # fmt: skip
    for repo in ("", NAME):
        request = CreateTaskRequest(
            tenant=tenant, title="Plan", repo=repo, planning_references=found + missing
        )
        task = await app.tasks.create(request)
        assert task.references_not_found == missing
    hidden = CreateTaskRequest(
        tenant=tenant, visible=frozenset({"acme/other"}), title="Plan", planning_references=found
    )
    assert set((await app.tasks.create(hidden)).references_not_found) == set(found[:6])


async def test_a_task_is_kept_when_its_references_cannot_be_looked_up(office, monkeypatch) -> None:
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))

    async def away(*_: object, **__: object) -> None:
        raise PrismError(ErrorCode.UNAVAILABLE, "Search does not answer.")

    monkeypatch.setattr(Places, "entries", away)
    request = CreateTaskRequest(tenant=office.town.tenant, title="Plan", planning_references=("a.py",))
    assert (await app.tasks.create(request)).references_not_found is None


async def test_open_tasks_concern_the_places_that_they_name(office) -> None:
    tenant = office.town.tenant
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    made = await app.tasks.create(CreateTaskRequest(tenant=tenant, title="Shut faster", repo=NAME))
    place = ConcerningRequest(tenant=tenant, repo=NAME, path="parcels/depot.py", symbol="Depot.close")

    async def concerning(**asked: object) -> list[tuple[str, str]]:
        await office.store.watched.catch_up()
        await app.tasks.list(ListTasksRequest(tenant=tenant))  # waits for the copy of the tasks
        found = app.anchors.concerning(place.model_copy(update=asked)).concerning
        return [(one.title, one.status) for one in found]

    assert await concerning() == []
    update = UpdateTaskRequest(tenant=tenant, task_id=made.id)
    await app.tasks.update(update.model_copy(update={"notes": "`Depot.close()` waits."}))
    await office.store.watched.catch_up()
    await app.anchors.link_wanted()
    assert await concerning() == [("Shut faster", TaskStatus.TO_DO)]
    assert await concerning(visible=frozenset({"acme/other"})) == []
    await app.tasks.update(update.model_copy(update={"status": TaskStatus.COMPLETE}))
    assert await concerning() == []


async def test_an_import_follows_moved_definitions(office) -> None:
    await office.write("`Depot.close()`")
    await office.handlers.on_indexed(await office.index(2, {"parcels/depot.py": f"import gates\n\n{DEPOT}"}))
    assert await office.held() == {"parcels/depot.py:Depot.close:4": ""}
    await office.handlers.on_indexed(
        await office.index(3, {"parcels/depot.py": None, "parcels/barge.py": DEPOT})
    )
    assert await office.held() == {"parcels/barge.py:Depot.close:2": ""}
    assert office.published == []


async def test_a_revert_makes_the_document_hold_again(office) -> None:
    await office.write()
    before = await office.held()
    await office.handlers.on_indexed(await office.index(2, {"parcels/depot.py": CHANGED}))
    await office.handlers.on_indexed(await office.index(3, {"parcels/depot.py": DEPOT}))
    assert await office.held() == before


async def test_an_edit_is_uncommitted_until_a_commit_holds_it(office) -> None:
    """Also one of a line of few characters."""
    await office.write("See `parcels/depot.py:6` and `parcels/rates.py`.")
    edits = {"parcels/depot.py": DEPOT.replace("pass", "0"), "parcels/rates.py": None}
    for version, files, dirty, commit in (
        (2, edits, True, UNCOMMITTED),
        (3, {"parcels/other.py": "a = 1\n"}, True, UNCOMMITTED),
        (4, {}, False, "c4"),
        (5, {}, False, "c4"),
    ):
        await office.handlers.on_indexed(await office.index(version, files, dirty=dirty))
        record = await office.record()
        assert [(one.start_line, one.stale.reason, one.stale.commit) for one in record.anchors] == [
            (6, StaleReason.TEXT_CHANGED, commit),
            (0, StaleReason.FILE_GONE, commit),
        ]
    assert [one.commit for one in office.published] == [UNCOMMITTED]


async def test_an_edit_that_breaks_again_is_published_again(office) -> None:
    await office.write("See `parcels/depot.py:6`.")
    for version, text in ((2, CHANGED.replace("pass", "0")), (3, DEPOT), (4, CHANGED.replace("pass", "0"))):
        await office.handlers.on_indexed(await office.index(version, {"parcels/depot.py": text}, dirty=True))
    assert len({one.message_id for one in office.published}) == 2


async def test_an_updated_document_is_linked_anew(office) -> None:
    await office.write()
    await office.handlers.on_indexed(await office.index(2, {"parcels/depot.py": CHANGED}))
    await office.write()  # the same text is as stale as before
    assert StaleReason.TEXT_CHANGED in (await office.held()).values()
    await office.write(f"{TEXT} It shuts nothing now.")
    assert set((await office.held()).values()) == {""}


async def test_an_import_during_the_linking_is_checked(office, monkeypatch) -> None:
    """The import ends after the files were read, and before the anchors are there to be checked."""
    of = office.anchors._linker.of

    async def overtaken(*asked):
        found = await of(*asked)
        await office.handlers.on_indexed(await office.index(2, {"parcels/depot.py": CHANGED}))
        return found

    monkeypatch.setattr(office.anchors._linker, "of", overtaken)
    await office.write("`Depot.close()`")
    assert await office.held() == {"parcels/depot.py:Depot.close:2": StaleReason.TEXT_CHANGED}


async def test_imports_that_no_event_announces_are_checked(office) -> None:
    """As after days without workspace: the stream kept no event of them."""
    await office.write()
    await office.index(2, {"parcels/depot.py": CHANGED})
    await office.town.announce(2)
    await office.bus.js.purge_stream(SETTLED_STREAM.name)
    checking = asyncio.create_task(office.anchors.keep_checking())
    try:
        async with asyncio.timeout(WAIT_S):
            while StaleReason.TEXT_CHANGED not in (await office.held()).values():
                await asyncio.sleep(0.01)
    finally:
        await cancelled(checking)


async def test_places_of_a_removed_repository_are_stale_for_those_who_saw_it(office) -> None:
    tenant = office.town.tenant
    app = await build_workspace(office.bus, WorkspaceSettings(nats_url=office.nats_url))
    await office.town.import_(1, {"barges/deck.py": "def sail():\n    pass\n"}, announced=False, name=OTHER)
    text = f"{TEXT} And `{OTHER}: barges/deck.py`."
    created = await app.documents.create(
        CreateDocumentRequest(tenant=tenant, title="Depots", content=text, auto_process=False)
    )
    await office.store.watched.catch_up()
    await app.anchors.link_wanted()
    await app.anchors.check_missed()
    repositories = Records(await open_bucket(office.bus.js, names.KV_REPOSITORIES), Repository)
    other = await repositories.get(repository_key(tenant, repo_id(OTHER)))
    renamed = "acme/barges-of-old"
    await repositories.put(other.key, other.model_copy(update={"name": renamed}))
    await office.store.repositories.catch_up()
    await app.anchors.check_missed()
    for repo in (repo_id(OTHER), REPO):
        await repositories.delete(repository_key(tenant, repo))
    await app.anchors.check_missed()
    await app.anchors.check_missed()  # finds nothing new
    mine = [(NAME, one) for one in ("Depot.close", "", "")]
    for visible, places in (
        (None, [*mine, (renamed, "")]),
        (frozenset({NAME, "prism/documents"}), mine),
        (frozenset({renamed, "prism/documents"}), [(renamed, "")]),
        (frozenset({OTHER, "prism/documents"}), []),
    ):
        caller = {"tenant": tenant, "visible": visible}
        await office.store.watched.catch_up()
        request = GetDocumentRequest(**caller, document_id=created.document_id)
        stale = (await app.documents.get(request)).metadata.stale
        assert sorted((one.repo, one.symbol) for one in stale) == sorted(places)
        assert {(one.reason, one.commit) for one in stale} <= {(StaleReason.REPOSITORY_REMOVED, "")}
        listed = await app.documents.list(ListDocumentsRequest(**caller, filter=DocumentFilter(stale=True)))
        assert listed.total == bool(places)


async def test_places_of_a_removed_repository_hold_again_in_the_next_one_of_its_name(office) -> None:
    await office.write()
    repositories = Records(await open_bucket(office.bus.js, names.KV_REPOSITORIES), Repository)
    before = await repositories.get(repository_key(office.town.tenant, REPO))
    await repositories.delete(before.key)
    await office.store.repositories.catch_up()
    await office.anchors.check_missed()
    assert set((await office.held()).values()) == {StaleReason.REPOSITORY_REMOVED}
    (event,) = office.published
    assert (len(event.anchors), event.commit, event.version) == (3, "", 0)
    await office.store.watched.catch_up()
    again = next_repo_id(REPO)
    await office.town.import_(1, {"parcels/depot.py": CHANGED}, announced=False, name=NAME, repo=again)
    await office.store.repositories.catch_up()
    await office.anchors.check_missed()
    assert await office.held() == {
        "parcels/depot.py:Depot.close:2": StaleReason.TEXT_CHANGED,
        "parcels/depot.py:lines:5": "",
        "parcels/rates.py:file:0": StaleReason.FILE_GONE,
    }
    record = await office.record()
    assert {one.repo for one in record.anchors} == {again}
    assert {one.stale.commit for one in record.anchors if one.stale} == {"c1"}


async def test_a_version_is_checked_once(office, monkeypatch) -> None:
    await office.write()
    await office.handlers.on_indexed(await office.index(2, {"parcels/depot.py": CHANGED}))
    asked = []
    entries = Places.entries

    async def counted(*given):
        asked.append(given)
        return await entries(*given)

    monkeypatch.setattr(Places, "entries", counted)
    for version, count in ((2, 0), (3, 1), (3, 1)):
        await office.index(version, {})
        await office.store.repositories.catch_up()
        await office.anchors.check_missed()
        assert len(asked) == count


async def test_a_check_that_fails_is_made_in_the_next_round(office, monkeypatch) -> None:
    await office.write()
    await office.index(2, {"parcels/depot.py": CHANGED})
    await office.store.repositories.catch_up()

    async def away(*_: object) -> None:
        raise PrismError(ErrorCode.UNAVAILABLE, "Search does not answer.")

    with monkeypatch.context() as patched:
        patched.setattr(Places, "entries", away)
        await office.anchors.check_missed()
    assert StaleReason.TEXT_CHANGED not in (await office.held()).values()
    await office.anchors.check_missed()
    assert StaleReason.TEXT_CHANGED in (await office.held()).values()


async def test_a_check_that_was_killed_is_finished_by_the_next(office) -> None:
    await office.write()
    with writes_watched():
        for write in range(1, WRITES_MAX):
            await office.write(f"{TEXT} {write}")
            office.published.clear()
            text = DEPOT.replace("self.gates.shut()", str(write))
            event = await office.index(2 * write, {"parcels/depot.py": text})

            async def handle(event: RepoIndexed = event) -> None:
                await office.handlers.on_indexed(event)

            name = await ended_at(handle, write)
            if name:
                await handle()
            assert (await office.held())["parcels/depot.py:Depot.close:2"] == StaleReason.TEXT_CHANGED, name
            assert len({one.message_id for one in office.published}) == 1, name
            if not name:
                break
        else:
            raise AssertionError("the check never ends")
    assert write > 2  # it publishes, then writes the record


async def test_texts_that_were_not_written_are_forgotten(office, monkeypatch) -> None:
    await office.write()
    caller = CallerRequest(tenant=office.town.tenant)
    await office.store.want(caller, AnchoredKind.DOCUMENT, DOCUMENT, "No text.")
    await office.link()
    assert [one.content for one in (await office.record()).wanted] == [content_id("No text.")]
    monkeypatch.setattr("prism_workspace.operations.anchors.ABANDONED_AFTER", timedelta(0))
    await office.link()
    assert (await office.record()).wanted == ()
    assert (await office.record()).linked == content_id(TEXT)


async def test_a_place_has_the_documents_that_name_it(office) -> None:
    await office.write()
    await office.link()

    def concerning(tenant: str = office.town.tenant, **asked: object) -> list[str]:
        request = ConcerningRequest(tenant=tenant, **{"repo": NAME, "path": "parcels/depot.py"} | asked)
        return [one.subject for one in office.anchors.concerning(request).concerning]

    assert concerning(symbol="Depot.close") == [DOCUMENT]
    assert concerning(repo=REPO, start_line=5) == [DOCUMENT]
    assert concerning(path="parcels/rates.py", symbol="rate") == [DOCUMENT]
    assert concerning(symbol="Ferry") == []
    assert concerning(path="parcels/none.py") == []
    assert concerning(repo="acme/other") == []
    assert concerning(visible=frozenset({"acme/other"})) == []
    assert concerning(tenant="elsewhere") == []
    office.is_open = False
    assert concerning(symbol="Depot.close") == []
