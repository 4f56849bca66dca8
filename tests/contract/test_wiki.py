"""Wikis on a real nats-server: what is stored, what survives a kill, what is written again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

import pytest
from graph_town import NAME as TOWN_NAME
from wiki_repository import RECEIPT as GRAPH_RECEIPT
from wiki_repository import repository as described

from prism_contracts import names
from prism_contracts.base import repo_id
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import LayerState, Repository, WikiRecord, WikiState
from prism_contracts.rpc.common import RECEIPT, Receipt, ReceiptRequest
from prism_contracts.rpc.wiki import (
    GenerateWikiRequest,
    GetWikiPageRequest,
    ListWikiPagesRequest,
    WikiReply,
)
from prism_runtime.bus import Bus
from prism_runtime.objects import reclaim
from prism_runtime.records import Records, WatchedRecords, open_bucket
from prism_runtime.settings import ServiceSettings
from prism_scribe.adapters.wiki_sources import WikiSources
from prism_scribe.adapters.wiki_store import WikiStore
from prism_scribe.core.wiki import progress
from prism_scribe.core.wiki.introductions import TITLE
from prism_scribe.core.wiki.orientation import Evidence, Orientation
from prism_scribe.core.wiki.renewal import SILENT_S, RenewalTimes
from prism_scribe.core.writing import Declined, DeclineReason, Written
from prism_scribe.handlers.wiki import WikiHandlers
from prism_scribe.operations import wiki_runs
from prism_scribe.operations.wiki_renewal import WikiRenewal
from prism_scribe.operations.wiki_runs import WikiRuns

pytest_plugins = ["graph_town"]

DEADLINE_S = 120
TENANT, NAME = "acme", "acme/depot"
REPO = repo_id(NAME)
NOW = datetime(2026, 11, 25, tzinfo=UTC)
KEYS = [
    "overview", "component-src-depot", "component-src-rates", "flows", "types", "settings", "errors", "extending",
    "run-and-test", "documents", "conventions", "glossary",
]  # fmt: skip


class Killed(BaseException):
    """Ends a run wherever it is, as the end of its process does."""


class FakeSources:
    """A described repository. `before` is called with the key of each page whose evidence is asked for."""

    def __init__(self, orientation: Orientation | None = None, before: Callable[[str], object] | None = None):
        self.asked: list[str] = []
        self._orientation, self._evidence = described()
        self._orientation = orientation or self._orientation
        self._before = before

    async def orient(self, version: int) -> Orientation:
        return self._orientation

    async def evidence(self, entry, orientation) -> Evidence:
        self.asked.append(entry.key)
        if self._before:
            await asyncio.sleep(0)
            result = self._before(entry.key)
            if asyncio.isfuture(result):
                await result
        return self._evidence[entry.kind]


class Shelf(NamedTuple):
    """The buckets of wikis, with one repository."""

    bus: Bus
    store: WikiStore
    records: Records[Repository]
    watched: WatchedRecords[Repository]

    def runs(self, sources: object, store: WikiStore | None = None, writer: object = None) -> WikiRuns:
        return WikiRuns(store or self.store, self.watched, lambda _: sources, writer)

    async def serve(self, version: int) -> Repository:
        """Makes the index serve a version."""
        state = LayerState(commit=f"c{version}", version=version, job="j", indexed_at=NOW)
        record = Repository(
            tenant=TENANT, repo=REPO, name=NAME, source="upload", created_at=NOW, next_version=version + 1,
            served=state,
        )  # fmt: skip
        await self.records.put(record.key, record)
        await self.watched.catch_up()
        return record

    async def generate(
        self, sources: object, version: int = 1, store: WikiStore | None = None, writer: object = None
    ) -> WikiRecord:
        """Runs to the end. Returns the record."""
        runs = self.runs(sources, store, writer)
        await runs.begin(await self.serve(version))
        return await self.ended(runs)

    async def ended(self, runs: WikiRuns) -> WikiRecord:
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.gather(*runs._tasks.values(), return_exceptions=True)
        record = await self.store.get(TENANT, REPO)
        assert record is not None
        return record

    async def objects(self) -> set[str]:
        store = await self.bus.objects(names.OBJECTS_WIKI)
        return {info.name or "" for info in await store.list(ignore_deletes=True)}


@pytest.fixture
async def shelf(nats_server) -> AsyncIterator[Shelf]:
    bus = Bus("test", ServiceSettings(nats_url=nats_server.url))
    await bus.connect()
    store = await WikiStore.open(bus, replicas=1)
    watched = await bus.follow(names.KV_REPOSITORIES, Repository)
    records = Records(await open_bucket(bus.js, names.KV_REPOSITORIES), Repository)
    yield Shelf(bus, store, records, watched)
    await bus.stop()


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    monkeypatch.setattr(wiki_runs, "PAUSE_S", 0.0)
    monkeypatch.setattr(wiki_runs, "PLAN_PAUSE_S", 0.0)


async def test_the_table_of_contents_is_stored_before_any_page(shelf):
    never, asked = asyncio.get_running_loop().create_future(), asyncio.Event()

    def wait(_: str):
        asked.set()
        return never

    runs = shelf.runs(FakeSources(before=wait))

    await runs.begin(await shelf.serve(1))
    async with asyncio.timeout(DEADLINE_S):
        await asked.wait()

    stored = await shelf.store.get(TENANT, REPO)
    assert [entry.key for entry in stored.toc] == KEYS
    assert (stored.state, stored.pages) == (WikiState.RUNNING, {})
    await runs.close()


class LateSources(FakeSources):
    """Answers after some failures, as search and atlas do right after an import."""

    def __init__(self, *failures: PrismError) -> None:
        super().__init__()
        self._failures = list(failures)

    async def orient(self, version: int) -> Orientation:
        if self._failures:
            raise self._failures.pop(0)
        return await super().orient(version)


async def test_a_run_is_stored_at_once_and_waits_for_the_graph(shelf):
    never = asyncio.get_running_loop().create_future()
    waiting = LateSources()
    waiting.orient = lambda _: never
    runs = shelf.runs(waiting)

    begun = await runs.begin(await shelf.serve(1))

    assert (begun.state, begun.toc, begun.commit) == (WikiState.PLANNING, (), "c1")
    assert await shelf.store.get(TENANT, REPO) == begun
    await runs.close()
    late = LateSources(
        PrismError(ErrorCode.GRAPH_NOT_BUILT, "not yet"), PrismError(ErrorCode.DEADLINE_EXCEEDED, "busy")
    )
    assert (await shelf.generate(late)).state is WikiState.COMPLETE


async def test_a_wiki_that_cannot_be_planned_fails_and_the_trigger_tries_again(shelf, monkeypatch):
    monkeypatch.setattr(wiki_runs, "PLAN_S", 0.0)
    failed = await shelf.generate(
        LateSources(PrismError(ErrorCode.GRAPH_NOT_BUILT, "The graph is not built."))
    )
    assert (failed.state, failed.error) == (WikiState.FAILED, "The graph is not built.")

    assert (await shelf.generate(FakeSources())).state is WikiState.COMPLETE


async def test_a_run_writes_every_page_and_completes(shelf):
    record = await shelf.generate(FakeSources())

    assert (record.state, record.commit, list(record.pages)) == (WikiState.COMPLETE, "c1", KEYS)
    assert (await shelf.store.page(record.pages["flows"].object)).startswith("# Entry points and flows\n")


@pytest.mark.parametrize("key", KEYS)
async def test_a_run_killed_at_a_page_is_resumed_by_the_same_trigger(shelf, key):
    def kill(asked: str) -> None:
        if asked == key:
            raise Killed

    killed = await shelf.generate(FakeSources(before=kill))
    assert killed.state is WikiState.RUNNING
    assert list(killed.pages) == KEYS[: KEYS.index(key)]

    second = FakeSources()
    record = await shelf.generate(second)

    assert record.state is WikiState.COMPLETE
    assert second.asked == KEYS[KEYS.index(key) :]
    assert {page.object for page in record.pages.values()} == await shelf.objects()


class KillingStore(WikiStore):
    """Ends the process at the n-th change of the record, before it is written."""

    def __init__(self, shelf: Shelf, changes: int) -> None:
        super().__init__(shelf.store._records, shelf.store._objects)
        self._left = changes

    async def modify(self, tenant, repo, change) -> WikiRecord:
        self._left -= 1
        if self._left < 0:
            raise Killed
        return await super().modify(tenant, repo, change)


@pytest.mark.parametrize("changes", [1, 2, 3, len(KEYS) + 1, len(KEYS) + 2])
async def test_a_run_killed_before_its_record_loses_at_most_one_object(shelf, changes):
    """The object of a page is stored before the record names it. What is left over is reclaimed."""
    await shelf.generate(FakeSources(), store=KillingStore(shelf, changes))

    record = await shelf.generate(FakeSources())

    assert record.state is WikiState.COMPLETE
    named = {page.object for page in record.pages.values()}
    assert len(await shelf.objects() - named) <= 1
    await reclaim(shelf.bus.js, names.OBJECTS_WIKI, shelf.store.named_objects, kept_s=-1)
    assert await shelf.objects() == named


async def test_a_page_whose_source_fails_leaves_the_others(shelf):
    def fail(key: str) -> None:
        if key == "types":
            raise PrismError(ErrorCode.UNAVAILABLE, "atlas is not running.")

    record = await shelf.generate(FakeSources(before=fail))

    assert record.state is WikiState.COMPLETE_WITH_ERRORS
    assert [*record.pages] == [key for key in KEYS if key != "types"]
    assert [(one.key, one.title, one.error, one.attempts) for one in record.failed_pages] == [
        ("types", "Data types", "atlas is not running.", wiki_runs.ATTEMPTS)
    ]


async def test_the_trigger_tries_only_the_failed_pages_again(shelf):
    def fail(key: str) -> None:
        if key == "types":
            raise ValueError("a bug")

    failed = await shelf.generate(FakeSources(before=fail))
    assert [one.attempts for one in failed.failed_pages] == [1]  # another attempt would end the same way
    again = await shelf.generate(FakeSources(before=fail))
    assert [one.attempts for one in again.failed_pages] == [2]

    last = FakeSources()
    record = await shelf.generate(last)

    assert last.asked == ["types"]
    assert (record.state, record.failed_pages) == (WikiState.COMPLETE, ())


async def test_a_passing_failure_is_tried_again_in_the_same_run(shelf):
    failures = iter([True, True])

    def fail_twice(key: str) -> None:
        if key == "flows" and next(failures, False):
            raise PrismError(ErrorCode.DEADLINE_EXCEEDED, "too slow")

    record = await shelf.generate(FakeSources(before=fail_twice))

    assert (record.state, record.failed_pages) == (WikiState.COMPLETE, ())


INTRODUCED = ["overview", "component-src-depot", "component-src-rates", "flows", "run-and-test"]


class FakeModel:
    """A language model that repeats a statement of each page. `before` is called with the number of the call."""

    models = ("fake:model",)

    def __init__(self, before: Callable[[int], object] | None = None) -> None:
        self.asked = 0
        self._before = before

    async def write(self, task, evidence, output) -> Written | Declined:
        self.asked += 1
        declined = self._before(self.asked) if self._before else None
        if declined:
            return declined
        said = {"text": "Introduced.", "sources": [evidence[0].id]}
        return Written(output.model_validate({"sentences": [said]}), "fake:model")

    async def close(self) -> None: ...


def introduced(record: WikiRecord) -> list[str]:
    return [entry.key for entry in record.toc if entry.key in record.pages and record.pages[entry.key].model]


async def test_a_language_model_introduces_pages_that_are_kept_already(shelf):
    record = await shelf.generate(FakeSources(), writer=FakeModel())

    assert (record.state, introduced(record)) == (WikiState.COMPLETE, INTRODUCED)
    page = await shelf.store.page(record.pages["flows"].object)
    assert page.startswith(f"# Entry points and flows\n\n## {TITLE}\n\n- Introduced.")
    assert "## From `plan`" in page
    assert await shelf.objects() == set(await shelf.store.named_objects())
    assert all(state.older == () for state in record.pages.values())


async def test_a_page_that_a_model_fails_on_stays_as_the_rules_wrote_it(shelf):
    def fail(call: int) -> Declined | None:
        return Declined(DeclineReason.FAILED, "The model is down.") if call == 3 else None

    record = await shelf.generate(FakeSources(), writer=FakeModel(fail))

    assert record.state is WikiState.COMPLETE_WITH_ERRORS
    assert list(record.pages) == KEYS
    assert [(one.key, one.error, one.attempts) for one in record.failed_pages] == [
        ("component-src-rates", "The model is down.", 1)
    ]
    assert "component-src-rates" not in introduced(record)

    again, second = FakeSources(), FakeModel()
    record = await shelf.generate(again, writer=second)

    assert (again.asked, second.asked) == ([], 1)
    assert (record.state, record.failed_pages, introduced(record)) == (WikiState.COMPLETE, (), INTRODUCED)


async def test_a_run_killed_between_introductions_asks_for_the_others_only(shelf):
    def kill(call: int) -> None:
        if call == 3:
            raise Killed

    killed = await shelf.generate(FakeSources(), writer=FakeModel(kill))
    assert (killed.state, introduced(killed)) == (WikiState.RUNNING, INTRODUCED[:2])

    second = FakeModel()
    record = await shelf.generate(FakeSources(), writer=second)

    assert (record.state, second.asked) == (WikiState.COMPLETE, len(INTRODUCED) - 2)


async def test_a_model_that_cites_nothing_writes_nothing(shelf):
    class Liar(FakeModel):
        async def write(self, task, evidence, output) -> Written:
            said = {"text": "Trust me.", "sources": ["s999"]}
            return Written(output.model_validate({"sentences": [said]}), "fake:model")

    record = await shelf.generate(FakeSources(), writer=Liar())

    assert (record.state, introduced(record)) == (WikiState.COMPLETE_WITH_ERRORS, [])
    assert list(record.pages) == KEYS


async def test_after_an_import_a_model_introduces_only_changed_pages(shelf):
    await shelf.generate(FakeSources(), writer=FakeModel())
    orientation, _ = described()
    changed = replace(orientation, manifests={"Makefile": ("build: ## Build it",)})

    second = FakeModel()
    record = await shelf.generate(FakeSources(changed), version=2, writer=second)

    # The overview names one command for each purpose.
    assert (record.state, second.asked, introduced(record)) == (WikiState.COMPLETE, 2, INTRODUCED)


async def test_a_model_that_is_set_later_introduces_a_complete_wiki(shelf):
    await shelf.generate(FakeSources())

    record = await shelf.generate(FakeSources(), writer=FakeModel())

    assert introduced(record) == INTRODUCED


async def test_after_an_import_only_changed_pages_are_written(shelf):
    first = await shelf.generate(FakeSources())
    orientation, _ = described()
    changed = replace(orientation, manifests={"Makefile": ("build: ## Build it",)})

    second = await shelf.generate(FakeSources(changed), version=2)

    assert (second.state, second.commit) == (WikiState.COMPLETE, "c2")
    rewritten = [key for key in KEYS if first.pages[key].object != second.pages[key].object]
    # The overview names one command for each purpose.
    assert rewritten == ["overview", "run-and-test"]
    assert {page.commit for page in second.pages.values()} == {"c2"}
    older = second.pages["run-and-test"].older
    assert [(text.object, text.commit) for text in older] == [(first.pages["run-and-test"].object, "c1")]
    assert await shelf.objects() == set(await shelf.store.named_objects())


async def test_the_last_texts_of_a_page_are_kept(shelf, monkeypatch):
    monkeypatch.setattr(progress, "OLDER_MAX", 2)
    orientation, _ = described()
    for version in range(1, 5):
        changed = replace(orientation, manifests={"Makefile": (f"v{version}: ## Make it",)})
        record = await shelf.generate(FakeSources(changed), version=version)

    page = record.pages["run-and-test"]
    assert [text.commit for text in page.older] == ["c3", "c2"]
    assert "make v2" in await shelf.store.page(page.older[1].object)
    assert await shelf.objects() == set(await shelf.store.named_objects())


async def test_a_complete_wiki_of_this_version_is_not_generated_again(shelf):
    await shelf.generate(FakeSources())

    again = FakeSources()
    await shelf.generate(again)

    assert again.asked == []


async def test_a_run_stops_when_a_newer_import_has_ended(shelf):
    record = await shelf.serve(1)
    moved = asyncio.Event()

    def move(key: str):
        if key == "flows":
            task = asyncio.ensure_future(shelf.serve(2))
            task.add_done_callback(lambda _: moved.set())
            return task
        return None

    runs = shelf.runs(FakeSources(before=move))
    await runs.begin(record)
    stopped = await shelf.ended(runs)

    assert moved.is_set()
    assert "flows" not in stopped.pages  # its sources may be those of version 2
    assert (await shelf.generate(FakeSources(), version=2)).state is WikiState.COMPLETE


async def test_a_run_of_a_removed_repository_writes_no_record(shelf):
    async def forget() -> None:
        await shelf.store._records.delete(f"{TENANT}.{REPO}")

    def remove(key: str):
        return asyncio.ensure_future(forget()) if key == "flows" else None

    runs = shelf.runs(FakeSources(before=remove))
    await runs.begin(await shelf.serve(1))
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(*runs._tasks.values())

    assert await shelf.store.get(TENANT, REPO) is None


async def test_two_copies_of_scribe_write_one_wiki(shelf):
    repository = await shelf.serve(1)
    copies = [shelf.runs(FakeSources()), shelf.runs(FakeSources())]

    await asyncio.gather(*(runs.begin(repository) for runs in copies))
    for runs in copies:
        record = await shelf.ended(runs)

    assert record.state is WikiState.COMPLETE
    assert all([await shelf.store.page(page.object) for page in record.pages.values()])


AT_ONCE = RenewalTimes(settle_s=0, pause_s=0)


async def renewal(
    shelf: Shelf, sources: object, times: RenewalTimes = AT_ONCE
) -> tuple[WikiRenewal, WikiRuns]:
    runs = shelf.runs(sources)
    wikis = await shelf.bus.follow(names.KV_WIKI, WikiRecord)
    return WikiRenewal(wikis, shelf.watched, runs, times), runs


async def test_a_wiki_is_renewed_by_itself_after_an_import(shelf):
    await shelf.serve(1)
    renewing, runs = await renewal(shelf, FakeSources())
    assert await renewing.round(datetime.now(UTC)) == []  # none was generated yet
    await shelf.generate(FakeSources())
    await shelf.serve(2)
    await renewing._wikis.catch_up()

    assert await renewing.round(datetime.now(UTC)) == [NAME]

    record = await shelf.ended(runs)
    assert (record.state, record.version) == (WikiState.COMPLETE, 2)
    await renewing._wikis.catch_up()
    assert await renewing.round(datetime.now(UTC)) == []


async def test_of_two_copies_one_renews_a_wiki(shelf):
    await shelf.generate(FakeSources())
    await shelf.serve(2)
    never = asyncio.get_running_loop().create_future()
    copies = [await renewal(shelf, FakeSources(before=lambda _: never)) for _ in range(2)]

    rounds = await asyncio.gather(*(renewing.round(datetime.now(UTC)) for renewing, _ in copies))

    assert sorted(rounds) == [[], [NAME]]
    for _, runs in copies:
        await runs.close()


async def test_a_stopped_run_is_resumed_by_another_copy(shelf):
    def kill(key: str) -> None:
        if key == "types":
            raise Killed

    await shelf.generate(FakeSources(before=kill))
    second = FakeSources()
    renewing, runs = await renewal(shelf, second)
    assert await renewing.round(datetime.now(UTC)) == []

    assert await renewing.round(datetime.now(UTC) + timedelta(seconds=SILENT_S)) == [NAME]

    assert (await shelf.ended(runs)).state is WikiState.COMPLETE
    assert second.asked == KEYS[KEYS.index("types") :]


async def test_a_run_reports_that_it_is_alive_until_it_ends(shelf, monkeypatch):
    monkeypatch.setattr(wiki_runs, "BEAT_S", 0.0)
    release = asyncio.get_running_loop().create_future()
    runs = shelf.runs(FakeSources(before=lambda _: release))
    begun = await runs.begin(await shelf.serve(1))

    async with asyncio.timeout(DEADLINE_S):
        while (await shelf.store.get(TENANT, REPO)).alive_at == begun.alive_at:
            await asyncio.sleep(0.01)
    release.set_result(None)

    assert (await shelf.ended(runs)).state is WikiState.COMPLETE


async def test_too_many_runs_are_refused(shelf, monkeypatch):
    monkeypatch.setattr(wiki_runs, "RUNS_MAX", 0)

    with pytest.raises(PrismError, match="Too many wikis"):
        await shelf.runs(FakeSources()).begin(await shelf.serve(1))


async def receipt_of(request: ReceiptRequest) -> Receipt:
    if request.repo.lower() not in {NAME, REPO} or not request.sees(NAME):
        raise PrismError(ErrorCode.REPO_NOT_FOUND, "no such repository")
    return Receipt.model_validate(GRAPH_RECEIPT.model_dump() | {"repo": NAME})


@pytest.fixture
async def handlers(shelf) -> AsyncIterator[WikiHandlers]:
    search = Bus("search", ServiceSettings(nats_url=shelf.bus._settings.nats_url))
    search.serve(RECEIPT, receipt_of, deadline_s=5)
    await search.start()
    runs = shelf.runs(FakeSources())
    yield WikiHandlers(shelf.bus, shelf.store, shelf.watched, runs)
    await runs.close()
    await search.stop()


ASKED = {"tenant": TENANT, "repo": NAME}


async def complete(handlers: WikiHandlers) -> WikiReply:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            reply = await handlers.list_pages(ListWikiPagesRequest(**ASKED))
            if reply.state is WikiState.COMPLETE:
                return reply
            await asyncio.sleep(0.02)


async def test_pages_are_listed_and_returned_with_their_commit(shelf, handlers):
    await shelf.serve(1)
    begun = await handlers.generate(GenerateWikiRequest(**ASKED))
    assert (begun.state, begun.commit) == (WikiState.PLANNING, "c1")

    listed = await complete(handlers)
    assert [page.key for page in listed.pages] == KEYS
    page = await handlers.page(GetWikiPageRequest(**ASKED, page="flows"))

    assert {one.commit for one in listed.pages} == {"c1"}
    assert page.content.startswith(
        "# Entry points and flows\n\n*Generated by Prism from commit `c1` of acme/depot"
    )
    assert not page.is_stale

    await shelf.serve(2)
    assert (await handlers.list_pages(ListWikiPagesRequest(**ASKED))).is_stale
    assert (
        "generate the wiki again" in (await handlers.page(GetWikiPageRequest(**ASKED, page="flows"))).content
    )


async def test_sections_are_found_by_their_words(shelf, handlers):
    await shelf.serve(1)
    await handlers.generate(GenerateWikiRequest(**ASKED))
    await complete(handlers)

    found = await handlers.list_pages(
        ListWikiPagesRequest(**ASKED, query="which commands does the Makefile declare?", limit=3)
    )
    hit = found.hits[0]
    page = await handlers.page(GetWikiPageRequest(**ASKED, page=hit.key))

    assert (hit.key, len(found.hits)) == ("run-and-test", 3)
    assert "make test" in hit.excerpt
    assert page.content.split("\n")[hit.start_line - 1] == hit.excerpt.split("\n")[0]
    await shelf.serve(2)  # the header of a stale page is longer
    stale = (
        await handlers.list_pages(
            ListWikiPagesRequest(**ASKED, query="which commands does the Makefile declare?")
        )
    ).hits[0]
    assert stale.start_line == hit.start_line + 2
    assert (await handlers.list_pages(ListWikiPagesRequest(**ASKED, query="zebra"))).hits == ()


async def test_an_older_text_is_returned_by_its_commit(shelf, handlers):
    await shelf.generate(FakeSources())
    orientation, _ = described()
    changed = replace(orientation, manifests={"Makefile": ("build: ## Build it",)})
    await shelf.generate(FakeSources(changed), version=2)
    asked = ASKED | {"page": "run-and-test"}

    now = await handlers.page(GetWikiPageRequest(**asked))
    older = await handlers.page(GetWikiPageRequest(**asked, commit="c1"))
    with pytest.raises(PrismError) as unknown:
        await handlers.page(GetWikiPageRequest(**asked, commit="c9"))

    assert ("make build" in now.content, [one.commit for one in now.versions]) == (True, ["c1"])
    assert ("make test" in older.content, older.commit, older.is_stale) == (True, "c1", True)
    assert unknown.value.body.details["commits"] == ["c2", "c1"]


async def test_what_does_not_exist_is_an_error_with_a_next_action(shelf, handlers):
    await shelf.serve(1)
    with pytest.raises(PrismError) as no_wiki:
        await handlers.list_pages(ListWikiPagesRequest(**ASKED))
    await handlers.generate(GenerateWikiRequest(**ASKED))
    await complete(handlers)
    with pytest.raises(PrismError) as no_page:
        await handlers.page(GetWikiPageRequest(**ASKED, page="x"))

    assert no_wiki.value.code is ErrorCode.WIKI_NOT_FOUND
    assert "generate_wiki" in no_wiki.value.body.next_action
    assert no_page.value.code is ErrorCode.WIKI_PAGE_NOT_FOUND
    assert no_page.value.body.details["pages"] == KEYS


async def test_a_caller_who_may_not_see_the_repository_learns_nothing_of_its_wiki(shelf, handlers):
    await shelf.serve(1)
    await handlers.generate(GenerateWikiRequest(**ASKED))
    hidden = ASKED | {"visible": frozenset({"acme/other"})}

    for ask in (
        partial(handlers.list_pages, ListWikiPagesRequest(**hidden)),
        partial(handlers.list_pages, ListWikiPagesRequest(**hidden, query="parcels")),
        partial(handlers.page, GetWikiPageRequest(**hidden, page="flows")),
        partial(handlers.generate, GenerateWikiRequest(**hidden)),
    ):
        with pytest.raises(PrismError) as refused:
            await ask()
        assert refused.value.code is ErrorCode.REPO_NOT_FOUND


FILES = {
    "README.md": "# Parcels\n\nParcels plans how parcels travel between warehouses.\n",
    "Makefile": "test: ## Run the tests\n\tpytest\n",
    "parcels/rates.py": '"""What parcels cost."""\n\n\ndef rate(zone):\n    """Return the price of a zone."""\n    return zone\n',
    "parcels/depot.py": (
        '"""Where parcels wait."""\n\nfrom .rates import rate\n\n\nclass Depot:\n    """A place for parcels."""\n\n'
        "    def close(self):\n        rate(1)\n"
    ),
    "parcels/tour.py": (
        "from .depot import Depot\nfrom .rates import rate\n\n\ndef main():\n    Depot().close()\n    rate(2)\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    ),
}


async def test_a_wiki_of_the_real_search_and_atlas(town):
    """Every page is written, and what it quotes is in the named line."""
    async with town.atlas(), town.search():
        await town.import_(1, FILES)
        await town.built(1)
        await town.answer(partial(town.ask, RECEIPT, ReceiptRequest(tenant=town.tenant)))
        store = await WikiStore.open(town.bus, replicas=1)
        watched = await town.bus.follow(names.KV_REPOSITORIES, Repository)
        repository = next(known for known in watched.values() if known.tenant == town.tenant)
        runs = WikiRuns(
            store, watched, lambda known: WikiSources(town.bus, known.tenant, known.repo, known.name)
        )

        await runs.begin(repository)
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.gather(*runs._tasks.values())

        record = await store.get(town.tenant, repository.repo)
        assert (record.state, record.failed_pages) == (WikiState.COMPLETE, ())
        texts = {key: await store.page(page.object) for key, page in record.pages.items()}
    assert texts["overview"].startswith(
        f"# {TOWN_NAME}\n\n> Parcels plans how parcels travel between warehouses."
    )
    assert "> — `README.md:3`" in texts["overview"]
    assert "| `make test` | Run the tests | `Makefile:1` |" in texts["run-and-test"]
    assert "`Depot.close`, `parcels/depot.py:9`" in texts["flows"]
    assert "A class in `parcels/depot.py:6-10`. A place for parcels." in texts["types"]
