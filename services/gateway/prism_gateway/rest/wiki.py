"""The wiki of a repository."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from prism_contracts import types
from prism_contracts.rpc.wiki import (
    GENERATE_WIKI,
    GET_WIKI_PAGE,
    LIST_WIKI_PAGES,
    WIKI_HITS_DEFAULT,
    WIKI_HITS_MAX,
    WIKI_KEY_CHARS_MAX,
    GenerateWikiRequest,
    GetWikiPageRequest,
    ListWikiPagesRequest,
    WikiPageReply,
    WikiReply,
)
from prism_contracts.types import RepoKey
from prism_gateway.rest.dependencies import Caller, Services
from prism_gateway.rest.replies import reply

PageKey = Annotated[str, Path(min_length=1, max_length=WIKI_KEY_CHARS_MAX)]

router = APIRouter(tags=["wiki"])


@router.get("/repos/{name:path}/wiki", response_model=WikiReply)
async def list_wiki_pages(
    *,
    name: RepoKey,
    caller: Caller,
    backend: Services,
    query: types.Query = "",
    limit: Annotated[int, Query(ge=1, le=WIKI_HITS_MAX)] = WIKI_HITS_DEFAULT,
) -> Response:
    """List the pages of a repository's wiki, and the state of its generation.

    With `query`, `hits` has the sections that match its words best, at most `limit`.
    """
    request = ListWikiPagesRequest(tenant=caller.tenant, repo=name, query=query, limit=limit)
    return reply(await backend.ask(LIST_WIKI_PAGES, request))


@router.get("/repos/{name:path}/wiki/{page}", response_model=WikiPageReply)
async def get_wiki_page(
    name: RepoKey, page: PageKey, caller: Caller, backend: Services, commit: types.CommitIdOrNone = ""
) -> Response:
    """Return a page of a repository's wiki as Markdown: the newest text, or the one of a commit in `versions`."""
    request = GetWikiPageRequest(tenant=caller.tenant, repo=name, page=page, commit=commit)
    return reply(await backend.ask(GET_WIKI_PAGE, request))


@router.post("/repos/{name:path}/wiki", response_model=WikiReply, status_code=202)
async def generate_wiki(name: RepoKey, caller: Caller, backend: Services) -> Response:
    """Write the pages that are missing, failed or older than the index.

    The answer has the table of contents; the pages follow within seconds. Repeat it to resume.
    """
    request = GenerateWikiRequest(tenant=caller.tenant, repo=name)
    return reply(await backend.ask(GENERATE_WIKI, request), status=202)
