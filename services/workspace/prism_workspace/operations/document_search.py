"""Searches documents in the index of their repository."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import DocumentHit, SearchDocumentsReply, SearchDocumentsRequest
from prism_contracts.rpc.search import SEARCH, SEARCH_LIMIT_MAX, Corpus, Hit, SearchRequest
from prism_runtime.bus import Bus
from prism_workspace.core.document_hits import is_filtered, joined, lowest_of
from prism_workspace.operations.documents import TeamDocuments

# Filters by metadata apply to hits, so a narrow filter needs more of them, and a document may have several hits.
PAGES_MAX = 3
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
        if find is None:
            return SearchDocumentsReply(results=(), total_found=0, query_embedding_time_ms=0)
        hits: list[Hit] = []
        # Every hit costs search the text around it.
        limit = SEARCH_LIMIT_MAX if is_filtered(request) else min(SEARCH_LIMIT_MAX, request.max_results)
        found: list[DocumentHit] = []
        cursor, embedding_ms = "", 0.0
        for _ in range(PAGES_MAX):
            wanted = SearchRequest(
                tenant=request.tenant,
                visible=request.visible,
                repo=self._repo,
                query=request.query,
                corpus=Corpus.DOCS,
                limit=limit,
                cursor=cursor,
            )
            try:
                page = await self._bus.ask(SEARCH, wanted, timeout_s=self._timeout_s)
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
            if page.results[-1].score < lowest_of(hits, request):  # so are all that follow
                break
        return SearchDocumentsReply(
            results=tuple(found[: request.max_results]),
            total_found=len(found),
            query_embedding_time_ms=round(embedding_ms),
        )
