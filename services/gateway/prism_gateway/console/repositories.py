"""The pages of repositories: the list with its running imports, one repository, and what can be done with it."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import Final

from starlette.responses import Response, StreamingResponse

from prism_contracts.code import SkipReason
from prism_contracts.errors import PrismError
from prism_contracts.records import FINAL_STATES, Job, Repository
from prism_contracts.rpc.documents import (
    DOCUMENTS_LIMIT_MAX,
    GET_DOCUMENT_METADATA,
    LIST_DOCUMENTS,
    DocumentOrder,
)
from prism_contracts.rpc.files import COVERAGE, CoverageReply
from prism_contracts.rpc.imports import CANCEL_JOB, JOBS
from prism_contracts.rpc.repositories import REGISTER, REINDEX, REMOVE_REPOSITORY, REPOSITORY_STATUS
from prism_gateway.console.comparing import served_refs
from prism_gateway.console.formats import commit
from prism_gateway.console.listing import Row, rows_of
from prism_gateway.console.page import PageView, Visit, body_as, fragment, redirect
from prism_gateway.console.progress import LiveJobs
from prism_gateway.rest.bodies import RepositoryBody

JOBS_SHOWN: Final = 20
PROBLEMS_SHOWN: Final = 200
STREAM_S: Final = 300.0
NOTHING: Final = "data:\n"
# How often a stream looks whether its session goes on.
CHECKED_EVERY_S: Final = 2.5
EXPLAINED: Final[Mapping[str, str]] = {
    SkipReason.BINARY: "not text, so there is nothing to search",
    SkipReason.TOO_LARGE: "over the limit of bytes of a file",
    SkipReason.LINE_TOO_LONG: "a line is over the limit, as in minified code",
    SkipReason.SYMLINK: "links are not followed",
    SkipReason.SUBMODULE: "another repository, which can be added on its own",
    SkipReason.SPECIAL: "a socket, a device or a pipe",
    SkipReason.UNREADABLE: "could not be opened",
    SkipReason.PATH_INVALID: "its path cannot be stored",
    SkipReason.LFS_POINTER: "its content is in Git LFS",
    SkipReason.SECRET_FILE: "holds keys or passwords, which are not indexed",
}


async def list_repositories(visit: Visit) -> Response:
    """The list, and the imports that run."""
    known = await visit.ask(JOBS, limit=JOBS_SHOWN)
    return visit.show(
        "repositories.html",
        running=running(known.jobs),
        rows=rows_of(known, {}).values(),
        documents_repo=visit.settings.documents_repo,
    )


async def events(visit: Visit) -> Response:
    """The imports that run, as they go on, and the rows of the list that changed.

    A copy of the gateway asks once for all who watch the same.
    """
    jobs: LiveJobs = visit.parts.live_jobs

    async def stream() -> AsyncIterator[str]:
        last, checked_at = "", time.monotonic()
        sent: Mapping[str, Row] = {}
        # The page connects again after a time, and its session is checked again.
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_S), jobs.watch(visit.backend) as updates:
                async for known, rows in updates:
                    if time.monotonic() - checked_at >= CHECKED_EVERY_S:
                        if await visit.parts.sessions.caller(visit.cookie) is None:
                            return
                        checked_at = time.monotonic()
                    html = fragment(
                        "_live.html",
                        running=running(known.jobs),
                        rows=[row for repo, row in rows.items() if sent.get(repo) is not row],
                        gone=sent.keys() - rows.keys(),
                        may=visit.may,
                        documents_repo=visit.settings.documents_repo,
                    )
                    sent = rows
                    # An event without a line of data does not reach the page: it would never see the end of an import.
                    shown = (
                        "".join(f"data: {line}\n" for line in html.splitlines() if line.strip()) or NOTHING
                    )
                    yield f"{shown}\n" if shown != last else ": same\n\n"
                    last = shown

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def new_repository(visit: Visit) -> Response:
    """The form for a git URL."""
    return visit.show("new_repository.html", fields={}, error=None)


async def add_repository(visit: Visit) -> Response:
    """Register a git URL, and import it. Problems are shown above the form."""
    fields = await visit.form()
    try:
        body = body_as(RepositoryBody, fields)
        await visit.backend.ask(REGISTER, body.request(visit.tenant))
    except PrismError as error:
        return visit.show("new_repository.html", status=422, fields=fields, error=visit.noted(error))
    return redirect("/repos")


async def show_repository(visit: Visit) -> Response:
    """One repository: what it serves, its last import, and which files are left out and why."""
    name = visit.part("name")
    found, known = await asyncio.gather(visit.ask(REPOSITORY_STATUS, repo=name), visit.ask(JOBS, limit=200))
    repository = found.repository
    return visit.show(
        "repository.html",
        found=found,
        repository=repository,
        coverage=await _coverage(visit, repository),
        jobs=[job for job in known.jobs if job.repo == repository.repo][:JOBS_SHOWN],
        layers=[layer for layer in known.layers if layer.repo == repository.repo],
        refs=served_refs(repository, known.layers),
        documents_repo=visit.settings.documents_repo,
        written=await _written(visit) if repository.name == visit.settings.documents_repo else "",
        reasons=EXPLAINED,
    )


async def reindex(visit: Visit) -> Response:
    """Fetch a repository again, and index what differs."""
    name = visit.part("name")
    await visit.ask(REINDEX, repo=name, force=(await visit.form()).get("force") == "on")
    return redirect("/repos")


async def ask_removal(visit: Visit) -> Response:
    """Ask whether a repository should be removed."""
    found = await visit.ask(REPOSITORY_STATUS, repo=visit.part("name"))
    return visit.show("remove_repository.html", repository=found.repository, error="")


async def remove(visit: Visit) -> Response:
    """Remove a repository whose name was typed."""
    name = visit.part("name")
    if (await visit.form()).get("name") != name:
        found = await visit.ask(REPOSITORY_STATUS, repo=name)
        problem = f"Type {found.repository.name} to remove it."
        visit.facts.code = "invalid_argument"
        return visit.show("remove_repository.html", status=422, repository=found.repository, error=problem)
    await visit.ask(REMOVE_REPOSITORY, repo=name)
    return redirect("/repos")


async def cancel(visit: Visit) -> Response:
    """Cancel an import."""
    await visit.ask(CANCEL_JOB, job=visit.part("job"))
    return redirect("/repos")


def running(jobs: Iterable[Job]) -> list[Job]:
    """Returns the jobs that have not ended."""
    return [job for job in jobs if job.state not in FINAL_STATES]


async def _written(visit: Visit) -> str:
    """Returns what is committed of the documents, such as `4106f52 and 1 draft`; empty if that is not known."""
    try:
        known = await visit.ask(LIST_DOCUMENTS, sort_by=DocumentOrder.MODIFIED_AT, limit=DOCUMENTS_LIMIT_MAX)
        committed = next((one for one in known.documents if not one.is_draft), None)
        newest = (
            await visit.ask(GET_DOCUMENT_METADATA, document_id=committed.document_id) if committed else None
        )
    except PrismError:
        return ""
    drafts = sum(one.is_draft for one in known.documents)
    parts = [commit(newest.metadata.commit)] if newest else []
    if drafts:
        more = " or more" if known.total > len(known.documents) else ""
        parts.append(f"{drafts}{more} draft{'s' if drafts > 1 or more else ''}")
    return " and ".join(parts)


async def _coverage(visit: Visit, repository: Repository) -> CoverageReply | None:
    if repository.served is None:
        return None
    try:
        return await visit.ask(COVERAGE, repo=repository.name, limit=PROBLEMS_SHOWN)
    except PrismError:
        return None


VIEWS: Final = (
    PageView("/repos", "GET /repos", list_repositories),
    PageView("/repos/events", "GET /jobs", events),
    PageView("/repos/new", "GET /repos", new_repository),
    PageView("/repos/new", "POST /repos", add_repository, method="POST"),
    PageView("/repos/jobs/{job}/cancel", "DELETE /jobs/{job}", cancel, method="POST"),
    PageView("/r/{name:repository}/-/reindex", "POST /repos/{name:path}/index", reindex, method="POST"),
    PageView("/r/{name:repository}/-/remove", "GET /repos/{name:path}/status", ask_removal),
    PageView("/r/{name:repository}/-/remove", "DELETE /repos/{name:path}", remove, method="POST"),
)
REPOSITORY: Final = PageView("/r/{name:path}", "GET /repos/{name:path}/status", show_repository)
