"""The wiki of a repository: its pages, and their generation.

A wiki describes the followed branch. A `ref` in a request has no effect.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from prism_contracts.base import Message
from prism_contracts.records import FailedWikiPage, WikiPageKind, WikiState
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import Receipt, ScopedRequest
from prism_contracts.types import CommitIdOrNone, Query

WIKI_KEY_CHARS_MAX = 100
WIKI_HITS_MAX = 50
WIKI_HITS_DEFAULT = 10

WikiPageKey = Annotated[str, StringConstraints(min_length=1, max_length=WIKI_KEY_CHARS_MAX)]


class ListWikiPagesRequest(ScopedRequest):
    """Lists the pages of a repository's wiki. With a query, its sections that match best, too."""

    query: Query = ""
    limit: int = Field(WIKI_HITS_DEFAULT, ge=1, le=WIKI_HITS_MAX)  # sections


class WikiPageSummary(Message):
    """A page of the table of contents.

    `commit` is the one that it was last compared with; empty until the page is written.
    """

    key: str
    title: str
    kind: WikiPageKind
    commit: str = ""
    written_at: datetime | None = None  # when its text changed last
    is_stale: bool = False  # the index serves a newer state of the repository
    generated_by: str = ""  # the language model that wrote its introduction


class WikiHit(Message):
    """A section of a page that matches a query."""

    key: str
    title: str
    heading: str  # empty for the beginning of a page
    start_line: int  # first line of the excerpt, counted as `get_wiki_page` counts
    excerpt: str  # Markdown: the lines of the section that match best
    score: float  # BM25


class WikiReply(Message):
    """A wiki: its state, and its pages in reading order."""

    repo: str
    state: WikiState
    commit: str  # the commit that the wiki describes, or is planned for
    is_stale: bool = False  # the index serves a newer state of the repository
    pages: tuple[WikiPageSummary, ...]
    failed_pages: tuple[FailedWikiPage, ...] = ()
    error: str = ""  # why no page could be planned
    started_at: datetime
    finished_at: datetime | None = None  # None: it is running
    hits: tuple[WikiHit, ...] = ()  # for a query, the best first
    receipt: Receipt


class GetWikiPageRequest(ScopedRequest):
    """Returns a page of a repository's wiki, as it is now or as it was at a commit of `versions`."""

    page: WikiPageKey
    commit: CommitIdOrNone = ""  # or its beginning


class WikiPageVersion(Message):
    """An older text of a page, and the last commit that it described."""

    commit: str
    written_at: datetime


class WikiPageReply(WikiPageSummary):
    """A page as Markdown, with a header that says how it was made."""

    repo: str
    content: str
    versions: tuple[WikiPageVersion, ...] = ()  # older texts, the newest first
    receipt: Receipt


class GenerateWikiRequest(ScopedRequest):
    """Generates the pages that are missing, failed, or older than the index.

    Returns once the run is stored; the table of contents and the pages follow. Repeating it resumes what was
    interrupted.
    """


LIST_WIKI_PAGES = Rpc("scribe.list_wiki_pages", ListWikiPagesRequest, WikiReply, reads=True)
GET_WIKI_PAGE = Rpc("scribe.get_wiki_page", GetWikiPageRequest, WikiPageReply, reads=True)
GENERATE_WIKI = Rpc("scribe.generate_wiki", GenerateWikiRequest, WikiReply, writes=True)
