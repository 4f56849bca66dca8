"""Search and tags of documents, on a real NATS server. A stand-in answers for search."""

from collections.abc import AsyncIterator

import pytest
from workspace_stack import DOCUMENTS, TENANT, Desk, desk

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.documents import (
    GENERATE_TAGS,
    RELATED_DOCUMENTS,
    SEARCH_DOCUMENTS,
    UPDATE_DOCUMENT,
    DocumentUpdates,
    GenerateTagsRequest,
    RelatedDocumentsRequest,
    SearchDocumentsRequest,
    UpdateDocumentRequest,
)
from prism_contracts.rpc.search import SEARCH, Corpus, Hit, Intent, SearchReply, SearchRequest
from prism_runtime.bus import Bus
from prism_workspace.operations import document_search
from prism_workspace.settings import WorkspaceSettings

RECEIPT = Receipt(
    repo=DOCUMENTS,
    corpus_version=1,
    indexed_commit="",
    head_commit="",
    lag_seconds=0,
    indexed_at=None,
    files_indexed=1,
    files_skipped=0,
    files_failed=0,
)


class SearchStandIn:
    """Finds pages of paths, or nothing at all."""

    def __init__(self) -> None:
        self.pages: list[list[str]] = []
        self.scores: dict[str, float] = {}
        self.is_indexed = True
        self.asked: list[SearchRequest] = []

    async def search(self, request: SearchRequest) -> SearchReply:
        self.asked.append(request)
        if not self.is_indexed:
            raise PrismError(ErrorCode.REPO_NOT_FOUND, "There is no such repository.", "Index it.")
        number = int(request.cursor or 0)
        hits = tuple(
            Hit(
                repo=DOCUMENTS,
                file_path=path,
                start_line=3,
                end_line=4,
                content="Text.",
                score=self.scores.get(path, 0.8),
            )
            for path in self.pages[number]
        )
        return SearchReply(
            results=hits,
            confidence="high",
            query_intent=Intent.GENERAL,
            next_cursor=str(number + 1) if number + 1 < len(self.pages) else "",
            receipt=RECEIPT,
            timings_ms={"embed": 1.6},
        )


@pytest.fixture
async def place(nats_server) -> AsyncIterator[tuple[Desk, SearchStandIn]]:
    async with desk(nats_server.url, documents_settle_s=0) as made:
        fake, bus = SearchStandIn(), Bus("search", WorkspaceSettings(nats_url=nats_server.url))
        bus.serve(SEARCH, fake.search)
        await bus.start()
        yield made, fake
        await bus.stop()


async def search(place: Desk, **fields: object):
    request = SearchDocumentsRequest(**({"tenant": TENANT, "query": "retries"} | fields))
    return await place.ask(SEARCH_DOCUMENTS, request)


async def test_hits_come_with_the_metadata_of_their_documents(place) -> None:
    here, fake = place
    made = await here.create("Retries", tags=("delivery",))
    fake.pages = [[made.path, "generated/gone.md"]]
    reply = await search(here)
    (hit,) = reply.results
    assert (hit.document_id, hit.title, hit.metadata.tags) == (made.document_id, "Retries", ("delivery",))
    assert (reply.total_found, reply.query_embedding_time_ms) == (1, 2)
    (asked,) = fake.asked
    assert (asked.repo, asked.tenant, asked.corpus) == (DOCUMENTS, TENANT, Corpus.DOCS)


async def test_a_filter_that_few_documents_pass_searches_these_alone(place) -> None:
    here, fake = place
    wanted = await here.create("Retries", tags=("delivery",))
    other = await here.create("Deliveries")
    fake.pages = [[wanted.path]]
    assert [hit.path for hit in (await search(here, filter_tags=("Delivery",))).results] == [wanted.path]
    assert (await search(here, filter_tags=("unused",))).total_found == 0
    await search(here)
    assert [asked.paths for asked in fake.asked] == [(wanted.path,), ()]
    assert other.path not in fake.asked[0].paths


async def test_a_filter_that_many_documents_pass_applies_to_hits(place, monkeypatch) -> None:
    monkeypatch.setattr(document_search, "SEARCH_PATHS_MAX", 1)
    here, fake = place
    made = [await here.create(f"Retries {number}", tags=("delivery",)) for number in range(2)]
    other = await here.create("Deliveries")
    fake.pages = [[other.path, made[1].path]]
    assert [hit.path for hit in (await search(here, filter_tags=("delivery",))).results] == [made[1].path]
    assert [asked.paths for asked in fake.asked] == [()]


async def test_the_threshold_is_a_share_of_the_best_that_passes(place) -> None:
    here, fake = place
    best = await here.create("Retries")
    low, lowest = [await here.create(f"Note {number}", tags=("note",)) for number in range(2)]
    fake.scores = {best.path: 0.9, low.path: 0.4, lowest.path: 0.1}
    fake.pages = [[best.path, low.path, lowest.path]]
    assert [hit.path for hit in (await search(here)).results] == [best.path]
    assert [hit.path for hit in (await search(here, filter_tags=("note",))).results] == [low.path]


async def test_related_documents_have_a_similar_text(place) -> None:
    here, fake = place
    made = await here.create("Retries", "How often a delivery is retried.\n", tags=("delivery", "queue"))
    near = await here.create("Dead letters", tags=("Delivery",))
    far = await here.create("Colors")
    fake.scores = {near.path: 0.6, far.path: 0.2}
    fake.pages = [[made.path, near.path, far.path]]
    request = RelatedDocumentsRequest(tenant=TENANT, document_id=made.document_id)
    reply = await here.ask(RELATED_DOCUMENTS, request)
    (one,) = reply.related
    assert (one.document_id, one.score, one.shared_tags) == (near.document_id, 0.6, ("Delivery",))
    assert fake.asked[0].query == "Retries\nHow often a delivery is retried."
    hidden = request.model_copy(update={"visible": frozenset({"acme/shop"})})
    with pytest.raises(PrismError) as refused:
        await here.ask(RELATED_DOCUMENTS, hidden)
    assert refused.value.code is ErrorCode.DOCUMENT_NOT_FOUND


async def test_a_filter_reads_further_pages(place) -> None:
    here, fake = place
    others = [await here.create(f"Note {number}") for number in range(3)]
    wanted = await here.create("Retries", tags=("delivery",))
    fake.pages = [[one.path for one in others], [wanted.path]]
    assert [hit.path for hit in (await search(here, filter_tags=("delivery",))).results] == [wanted.path]
    assert len(fake.asked) == 2
    assert len((await search(here, max_results=2)).results) == 2
    assert len(fake.asked) == 3


async def test_pages_whose_hits_score_too_low_are_not_read(place) -> None:
    here, fake = place
    best, other = await here.create("Retries"), await here.create("Deliveries")
    fake.pages, fake.scores = [[best.path, other.path], [other.path]], {other.path: 0.4}
    assert [hit.path for hit in (await search(here)).results] == [best.path]
    assert len(fake.asked) == 1
    assert len((await search(here, similarity_threshold=0.5)).results) == 2
    assert len(fake.asked) == 3


async def test_a_search_without_filters_reads_fewer_hits(place) -> None:
    here, fake = place
    made = await here.create("Retries", tags=("delivery",))
    fake.pages = [[made.path]]
    await search(here, max_results=5)
    await search(here, max_results=5, filter_tags=("delivery",))
    await search(here, max_results=100)
    assert [asked.limit for asked in fake.asked] == [5, 10, 100]


async def test_nothing_is_found_before_a_document_is_indexed(place) -> None:
    here, fake = place
    assert (await search(here)).results == ()
    assert fake.asked == []
    await here.create("Retries")
    fake.is_indexed = False
    assert (await search(here)).total_found == 0


async def test_a_token_for_other_repositories_finds_no_documents(place) -> None:
    here, fake = place
    made = await here.create("Retries")
    fake.pages = [[made.path]]
    assert (await search(here, visible=frozenset({"acme/shop"}))).results == ()
    assert (await search(here, tenant="other")).results == ()
    assert (await search(here)).total_found == 1


async def test_tags_are_proposed_and_nothing_is_changed(place) -> None:
    here, _ = place
    await here.create("Deliveries", tags=("delivery",))
    for number in range(9):
        await here.create(f"Minutes {number}", tags=("minutes",))
    made = await here.create("Delivery", "# Delivery\n\nA delivery is retried.\n", tags=("draft",))
    request = GenerateTagsRequest(tenant=TENANT, document_id=made.document_id)
    merged = await here.ask(GENERATE_TAGS, request)
    assert merged.generated_tags[0] == "delivery"
    assert merged.existing_tags == ("draft",)
    assert merged.final_tags == ("draft", *merged.generated_tags)
    alone = await here.ask(GENERATE_TAGS, request.model_copy(update={"merge_with_existing": False}))
    assert (alone.existing_tags, alone.final_tags) == ((), merged.generated_tags)
    assert (await here.get(made.document_id)).metadata.tags == ("draft",)


async def test_tags_are_suggested_for_new_and_changed_texts_and_not_set(place) -> None:
    here, _ = place
    await here.create("Deliveries", tags=("delivery",))
    for number in range(30):
        await here.create(f"Minutes {number}", tags=("minutes",))
    text = "# Delivery\n\nA delivery is retried.\n"
    made = await here.create("Delivery", text, tags=("minutes",), auto_process=True)
    assert "delivery" in made.processing_results.tags_generated
    own = await here.create("Delivery", text, tags=("delivery",), auto_process=True)
    assert "delivery" not in own.processing_results.tags_generated
    quiet = await here.create("Delivery", text)
    assert quiet.processing_results.tags_generated == ()
    request = UpdateDocumentRequest(
        tenant=TENANT, document_id=quiet.document_id, updates={"content": f"{text}\nTwice.\n"}
    )
    assert "delivery" in (await here.ask(UPDATE_DOCUMENT, request)).tags_generated
    renamed = request.model_copy(update={"updates": DocumentUpdates(title="Delivery")})
    assert (await here.ask(UPDATE_DOCUMENT, renamed)).tags_generated == ()
    assert (await here.get(made.document_id)).metadata.tags == ("minutes",)
    assert (await here.get(quiet.document_id)).metadata.tags == ()


async def test_tags_of_an_unknown_document_are_refused(place) -> None:
    here, _ = place
    with pytest.raises(PrismError) as caught:
        await here.ask(GENERATE_TAGS, GenerateTagsRequest(tenant=TENANT, document_id="none"))
    assert caught.value.code is ErrorCode.DOCUMENT_NOT_FOUND
