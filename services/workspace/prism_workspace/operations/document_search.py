"""Searches documents in the index of their repository."""

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.documents import DocumentHit, SearchDocumentsReply, SearchDocumentsRequest
from prism_contracts.rpc.search import (
    SEARCH,
    SEARCH_LIMIT_MAX,
    SEARCH_PATHS_MAX,
    Corpus,
    Hit,
    SearchRequest,
)
from prism_runtime.bus import Bus
from prism_workspace.core.document_hits import is_filtered, joined, lowest_of, passes
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
        paths = await self._passing(request) if find and is_filtered(request) else ()
        if find is None or paths is None:
            return SearchDocumentsReply(results=(), total_found=0, query_embedding_time_ms=0)
        hits: list[Hit] = []
        limit = min(SEARCH_LIMIT_MAX, request.max_results * _hits_a_result(request, paths))
        found: list[DocumentHit] = []
        cursor, embedding_ms = "", 0.0
        for _ in range(PAGES_MAX):
            wanted = SearchRequest(
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
            if page.results[-1].score < lowest_of(found, request):  # so are all that follow
                break
        return SearchDocumentsReply(
            results=tuple(found[: request.max_results]),
            total_found=len(found),
            query_embedding_time_ms=round(embedding_ms),
        )

    async def _passing(self, request: SearchDocumentsRequest) -> tuple[str, ...] | None:
        """Returns the paths to search in, in order: empty if they are too many to name, None if no document passes."""
        found = sorted(one.path for one in await self._documents.listed(request) if passes(one, request))
        if not found:
            return None
        return tuple(found) if len(found) <= SEARCH_PATHS_MAX else ()


def _hits_a_result(request: SearchDocumentsRequest, paths: tuple[str, ...]) -> int:
    """Returns how many hits to ask for at once. Every hit costs search the text around it."""
    if paths:
        return HITS_A_DOCUMENT
    return SEARCH_LIMIT_MAX if is_filtered(request) else 1
