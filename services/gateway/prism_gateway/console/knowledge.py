"""The pages of documents, tasks and wikis: lists, search, and reading."""

import re
from typing import Final

from starlette.responses import Response

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError
from prism_contracts.records import PlanningReference
from prism_contracts.rpc.documents import GET_DOCUMENT, LIST_DOCUMENTS, SEARCH_DOCUMENTS
from prism_contracts.rpc.imports import JOBS
from prism_contracts.rpc.tasks import GET_TASK, LIST_TASKS, UPDATE_TASK, ReferenceType, TaskStatus
from prism_contracts.rpc.wiki import GET_WIKI_PAGE, LIST_WIKI_PAGES
from prism_gateway.console.formats import blob_url, symbol_url
from prism_gateway.console.page import PageView, Visit, number_in, redirect
from prism_gateway.console.prose import markdown

LISTED: Final = 50
FOUND: Final = 20
TASKS: Final = 100
ADDRESSES: Final = ("https://", "http://")
DOCUMENT_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def documents(visit: Visit) -> Response:
    """The documents, or those that answer a search."""
    query, tag = visit.query.get("q", "").strip(), visit.query.get("tag", "").strip()
    offset = visit.number("offset")
    known = hits = error = None
    try:
        if query:
            hits = await visit.ask(SEARCH_DOCUMENTS, query=query, max_results=FOUND)
        else:
            tags = {"tags": [tag]} if tag else {}
            known = await visit.ask(LIST_DOCUMENTS, filter=tags, limit=LISTED, offset=offset)
    except PrismError as problem:
        error = visit.noted(problem)
    return visit.show(
        "documents.html",
        query=query,
        tag=tag,
        known=known,
        hits=hits,
        offset=offset,
        listed=LISTED,
        error=error,
    )


async def document(visit: Visit) -> Response:
    """One document, as it reads."""
    found = await visit.ask(GET_DOCUMENT, document_id=visit.part("document"))
    return visit.show(
        "document.html",
        found=found,
        html=markdown(found.content),
        documents_repo=visit.settings.documents_repo,
    )


async def tasks(visit: Visit) -> Response:
    """The tasks by status, or those that answer a search. The name of a repository finds its tasks."""
    query, repo, status = (visit.query.get(field, "").strip() for field in ("q", "repo", "status"))
    names = await _names(visit)
    if query in names and not repo:
        query, repo = "", query
    known, error = None, None
    try:
        known = await visit.ask(LIST_TASKS, query=query, repo=repo, status=status, limit=TASKS)
    except PrismError as problem:
        error = visit.noted(problem)
    columns = [
        (one.value, [task for task in known.tasks if task.status == one.value] if known else [])
        for one in TaskStatus
        if status in ("", one.value)
    ]
    return visit.show(
        "tasks.html",
        query=query,
        repo=repo,
        chosen=status,
        statuses=[one.value for one in TaskStatus],
        names=names,
        known=known,
        columns=columns,
        error=error,
    )


async def _names(visit: Visit) -> list[str]:
    """Returns the names of the repositories; none while ingest is down."""
    try:
        known = await visit.ask(JOBS, limit=1)
    except PrismError:
        return []
    return sorted(repository.name for repository in known.repositories)


async def task(visit: Visit) -> Response:
    """One task with its history."""
    return await _show_task(visit, None)


async def change_task(visit: Visit) -> Response:
    """Change the status of a task, unless it changed since the page was loaded."""
    form = await visit.form()
    key = visit.part("task")
    try:
        await visit.ask(
            UPDATE_TASK,
            task_id=key,
            status=form.get("status", ""),
            expected_version=number_in(form.get("version", "")),
            by=visit.caller.label,
        )
    except PrismError as problem:
        if problem.code not in (ErrorCode.TASK_CONFLICT, ErrorCode.INVALID_STATUS):
            raise
        return await _show_task(visit, visit.noted(problem))
    return redirect(f"/tasks/{key}")


async def _show_task(visit: Visit, error: ErrorBody | None) -> Response:
    found = await visit.ask(GET_TASK, task_id=visit.part("task"))
    return visit.show(
        "task.html",
        status=409 if error else 200,
        found=found,
        description=markdown(found.description),
        notes=markdown(found.notes),
        references=[(one, _url_of(one, found.repo)) for one in found.planning_references],
        statuses=[one.value for one in TaskStatus],
        error=error,
    )


def _url_of(reference: PlanningReference, repo: str) -> str:
    """Returns where a reference of a task leads; empty if that is not known."""
    named, kind = reference.file_path, reference.reference_type
    if kind == ReferenceType.URL:
        return named if named.lower().startswith(ADDRESSES) else ""
    if DOCUMENT_ID.fullmatch(named):
        return f"/documents/{named}"
    if not repo:
        return ""
    if kind == ReferenceType.SYMBOL:
        return symbol_url(repo, "", named)
    path, _, lines = named.partition(":")
    first, _, last = lines.partition("-")
    return blob_url(repo, "", path, number_in(first), number_in(last))


async def wikis(visit: Visit) -> Response:
    """The repositories, each with its wiki."""
    known = await visit.ask(JOBS, limit=1)
    names = sorted(repository.name for repository in known.repositories if repository.served)
    return visit.show("wikis.html", names=names)


async def wiki(visit: Visit) -> Response:
    """The pages of a wiki, or the sections that answer a search."""
    name, query = visit.part("name"), visit.query.get("q", "").strip()
    found = error = None
    try:
        found = await visit.ask(LIST_WIKI_PAGES, repo=name, query=query)
    except PrismError as problem:
        if problem.code is ErrorCode.REPO_NOT_FOUND:
            raise
        error = visit.noted(problem)
    return visit.show("wiki.html", name=name, query=query, found=found, error=error)


async def wiki_page(visit: Visit) -> Response:
    """One page of a wiki."""
    name = visit.part("name")
    found = await visit.ask(GET_WIKI_PAGE, repo=name, page=visit.part("page"))
    return visit.show("wiki_page.html", name=name, found=found, html=markdown(found.content))


VIEWS: Final = (
    PageView("/documents", "GET /documents", documents),
    PageView("/documents/{document}", "GET /documents/{document}", document),
    PageView("/tasks", "GET /tasks", tasks),
    PageView("/tasks/{task}", "GET /tasks/{task}", task),
    PageView("/tasks/{task}", "PATCH /tasks/{task}", change_task, method="POST"),
    PageView("/wiki", "GET /repos", wikis),
    PageView("/r/{name:repository}/-/wiki", "GET /repos/{name:path}/wiki", wiki),
    PageView("/r/{name:repository}/-/wiki/{page}", "GET /repos/{name:path}/wiki/{page}", wiki_page),
)
