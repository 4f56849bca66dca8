"""Searches documents in the index of their repository."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import (
    DocumentFilter,
    DocumentHit,
    SearchDocumentsReply,
    SearchDocumentsRequest,
)
from prism_contracts.rpc.search import (
    SEARCH,
    SEARCH_LIMIT_MAX,
    SEARCH_PATHS_MAX,
    Corpus,
    Hit,
    SearchRequest,
)
from prism_runtime.bus import Bus
from prism_workspace.core.document_hits import filter_of, joined, lowest_of
from prism_workspace.core.documents import matching
from prism_workspace.operations.documents import TeamDocuments

# A filter that many documents pass applies to hits, so it needs more of them, and a document may have several hits.
PAGES_MAX = 3
HITS_A_DOCUMENT = 2
EMBEDDING_TIME = "embed"


class DocumentSearch:
    """Asks search for hits, and adds what the records know of their documents."""

    def __init__(self, documents: TeamDocuments, bus: Bus, repo: str, *, timeout_s: float) -> None:
        """`repo`: the name of the repository that holds the documents. `timeout_s` is for one page of hits."""
        self._documents = documents
        self._bus = bus
        self._repo = repo
        self._timeout_s = timeout_s

    async def search(self, request: SearchDocumentsRequest) -> SearchDocumentsReply:
        """Returns the documents that match, the best first. Raises UNAVAILABLE.

        Nothing is found before the first document is indexed. `total_found` counts the documents among the hits
        that were read: at most 300, and fewer if these are enough.
        """
        find = await self._documents.finder(request)
        wanted = filter_of(request)
        is_filtered = wanted != DocumentFilter()
        passing = matching(await self._documents.listed(request, wanted.tags), wanted) if is_filtered else []
        if find is None or (is_filtered and not passing):
            return SearchDocumentsReply(results=(), total_found=0, query_embedding_time_ms=0)
        paths = tuple(sorted(one.path for one in passing)) if len(passing) <= SEARCH_PATHS_MAX else ()
        # Every hit costs search the text around it.
        hits_each = HITS_A_DOCUMENT if paths else SEARCH_LIMIT_MAX if is_filtered else 1
        limit = min(SEARCH_LIMIT_MAX, request.max_results * hits_each)
        hits: list[Hit] = []
        found: list[DocumentHit] = []
        cursor, embedding_ms = "", 0.0
        for _ in range(PAGES_MAX):
            question = SearchRequest(
                tenant=request.tenant,
                visible=request.visible,
                repo=self._repo,
                query=request.query,
                corpus=Corpus.DOCS,
                paths=paths,
                limit=limit,
                cursor=cursor,
            )
            try:
                page = await self._bus.ask(SEARCH, question, timeout_s=self._timeout_s)
            except PrismError as error:
                if error.code is ErrorCode.REPO_NOT_FOUND:
                    break
                raise
            hits += page.results
            embedding_ms += page.timings_ms.get(EMBEDDING_TIME, 0.0)
            cursor = page.next_cursor
            found = joined(hits, find, request)
            if not cursor or len(found) >= request.max_results:
                break
            if page.results[-1].score < lowest_of(found, request):  # so are all that follow
                break
        return SearchDocumentsReply(
            results=tuple(found[: request.max_results]),
            total_found=len(found),
            query_embedding_time_ms=round(embedding_ms),
        )
