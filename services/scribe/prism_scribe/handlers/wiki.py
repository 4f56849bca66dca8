"""Requests about wikis: list the pages, return one, generate them."""

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import OlderWikiPage, Repository, WikiPageState, WikiRecord, WikiTocEntry
from prism_contracts.rpc.common import RECEIPT, SEVERAL_REPOSITORIES, Receipt, ReceiptRequest, ScopedRequest
from prism_contracts.rpc.wiki import (
    GenerateWikiRequest,
    GetWikiPageRequest,
    ListWikiPagesRequest,
    WikiHit,
    WikiPageReply,
    WikiPageSummary,
    WikiPageVersion,
    WikiReply,
)
from prism_runtime.bus import Bus
from prism_runtime.records import WatchedRecords
from prism_scribe.adapters.wiki_store import WikiStore
from prism_scribe.core.wiki.header import lines_of_header, short_commit, with_header
from prism_scribe.operations.wiki_runs import WikiRuns
from prism_scribe.operations.wiki_search import WikiSearch

TIMEOUT_S = 10.0
KEYS_SHOWN_MAX = 60


class WikiHandlers:
    """Answers requests about the wikis of repositories that the caller may see."""

    def __init__(
        self, bus: Bus, store: WikiStore, repositories: WatchedRecords[Repository], runs: WikiRuns
    ) -> None:
        self._bus = bus
        self._store = store
        self._repositories = repositories
        self._runs = runs
        self._search = WikiSearch(store)

    async def list_pages(self, request: ListWikiPagesRequest) -> WikiReply:
        """Returns the table of contents, and for a query the best sections. Raises WIKI_NOT_FOUND."""
        repository, receipt = await self._repository(request)
        record = await self._record(repository)
        hits = await self._hits(repository, record, request) if request.query.strip() else ()
        return _reply(repository, record, receipt).model_copy(update={"hits": hits})

    async def _hits(
        self, repository: Repository, record: WikiRecord, request: ListWikiPagesRequest
    ) -> tuple[WikiHit, ...]:
        pages = {entry.key: _summary(repository, record, entry) for entry in record.toc}
        found = await self._search.search(record, request.query, request.limit)
        return tuple(
            WikiHit(
                key=hit.section.page,
                title=pages[hit.section.page].title,
                heading=hit.section.heading,
                start_line=hit.line + lines_of_header(is_stale=pages[hit.section.page].is_stale)
                if hit.line > 1
                else 1,
                excerpt=hit.excerpt,
                score=hit.score,
            )
            for hit in found
        )

    async def page(self, request: GetWikiPageRequest) -> WikiPageReply:
        """Returns a page. Raises WIKI_NOT_FOUND, WIKI_PAGE_NOT_FOUND."""
        repository, receipt = await self._repository(request)
        record = await self._record(repository)
        entry = next((one for one in record.toc if one.key == request.page), None)
        state = record.pages.get(request.page)
        if entry is None or state is None:
            raise _no_page(record, request.page)
        summary = _summary(repository, record, entry)
        wanted = _version(state, request.commit)
        if wanted is not state:
            update = {"commit": wanted.commit, "written_at": wanted.written_at, "is_stale": True}
            summary = summary.model_copy(update=update)
        text = await self._store.page(wanted.object)
        if text is None:  # the oldest texts are deleted as newer ones are written
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"The page {entry.key} is being written.", "Ask again in a second."
            )
        return WikiPageReply(
            **summary.model_dump(),
            repo=repository.name,
            content=with_header(text, repository.name, summary),
            versions=tuple(
                WikiPageVersion(commit=one.commit, written_at=one.written_at) for one in state.older
            ),
            receipt=receipt,
        )

    async def generate(self, request: GenerateWikiRequest) -> WikiReply:
        """Begins or resumes a wiki. Raises REPO_NOT_INDEXED, RATE_LIMITED."""
        repository, receipt = await self._repository(request)
        return _reply(repository, await self._runs.begin(repository), receipt)

    async def _repository(self, request: ScopedRequest) -> tuple[Repository, Receipt]:
        """Returns the repository of a request: search decides which one a name means, and who may see it.

        Raises REPO_NOT_FOUND, REPO_AMBIGUOUS.
        """
        asked = ReceiptRequest(tenant=request.tenant, visible=request.visible, repo=request.repo)
        receipt = await self._bus.ask(RECEIPT, asked, timeout_s=TIMEOUT_S)
        for known in self._repositories.values():
            if known.tenant == request.tenant and known.name == receipt.repo:
                return known, receipt
        if receipt.repo != SEVERAL_REPOSITORIES:
            raise PrismError(
                ErrorCode.UNAVAILABLE, f"{receipt.repo} is not known here yet.", "Try again in a second."
            )
        raise PrismError(
            ErrorCode.REPO_AMBIGUOUS,
            "A wiki describes one repository, and several match.",
            "Name one of them as `repo`: list_repos lists them.",
        )

    async def _record(self, repository: Repository) -> WikiRecord:
        record = await self._store.get(repository.tenant, repository.repo)
        if record is None:
            raise PrismError(
                ErrorCode.WIKI_NOT_FOUND,
                f"{repository.name} has no wiki yet.",
                "Generate it with generate_wiki. It takes seconds.",
            )
        return record


def _reply(repository: Repository, record: WikiRecord, receipt: Receipt) -> WikiReply:
    return WikiReply(
        repo=repository.name,
        state=record.state,
        commit=record.commit,
        is_stale=_is_stale(repository, record.version),
        pages=tuple(_summary(repository, record, entry) for entry in record.toc),
        failed_pages=record.failed_pages,
        error=record.error,
        started_at=record.started_at,
        finished_at=record.finished_at,
        receipt=receipt,
    )


def _summary(repository: Repository, record: WikiRecord, entry: WikiTocEntry) -> WikiPageSummary:
    state = record.pages.get(entry.key)
    return WikiPageSummary(
        key=entry.key,
        title=entry.title,
        kind=entry.kind,
        commit=state.commit if state else "",
        written_at=state.written_at if state else None,
        is_stale=state is not None and _is_stale(repository, state.version),
        generated_by=state.model if state else "",
    )


def _is_stale(repository: Repository, version: int) -> bool:
    return repository.served is not None and repository.served.version != version


def _version(state: WikiPageState, commit: str) -> WikiPageState | OlderWikiPage:
    """Returns the text of a page at a commit; the newest for none. Raises WIKI_PAGE_NOT_FOUND."""
    known: tuple[WikiPageState | OlderWikiPage, ...] = (state, *state.older)
    for one in known:
        if one.commit.startswith(commit) or short_commit(one.commit) == commit:
            return one
    commits = [short_commit(one.commit) for one in known]
    raise PrismError(
        ErrorCode.WIKI_PAGE_NOT_FOUND,
        f"The page has no text of commit {shown(commit)}.",
        f"Choose one of: {', '.join(commits)}.",
        commits=commits,
    )


def _no_page(record: WikiRecord, key: str) -> PrismError:
    written = [entry.key for entry in record.toc if entry.key in record.pages][:KEYS_SHOWN_MAX]
    failed = next((one for one in record.failed_pages if one.key == key), None)
    if failed:
        return PrismError(
            ErrorCode.WIKI_PAGE_NOT_FOUND,
            f"The page {failed.key} failed after {failed.attempts} attempts: {failed.error}",
            "Call generate_wiki to try it again.",
            pages=written,
        )
    return PrismError(
        ErrorCode.WIKI_PAGE_NOT_FOUND,
        f"The wiki has no page {shown(key)} yet.",
        f"Choose one of: {', '.join(written)}." if written else "Wait for the run, or call generate_wiki.",
        pages=written,
    )
