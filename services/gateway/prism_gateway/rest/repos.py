"""The caller, and its repositories."""

import asyncio
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import Repository
from prism_contracts.rpc.changes import CHANGES, CHANGES_LIMIT_MAX, ChangesReply, ChangesRequest
from prism_contracts.rpc.common import RECEIPT, Receipt, ReceiptRequest
from prism_contracts.rpc.files import (
    COVERAGE,
    LIST_FILES,
    LIST_LIMIT_MAX,
    CoverageReply,
    CoverageRequest,
    ListFilesReply,
    ListFilesRequest,
)
from prism_contracts.rpc.imports import JOBS, JobReply, JobsRequest
from prism_contracts.rpc.repositories import (
    CLEAR_CACHE,
    REGISTER,
    REINDEX,
    REMOVE_REPOSITORY,
    REPOSITORY_STATUS,
    UPDATE_REPOSITORY,
    ClearCacheRequest,
    ReindexRequest,
    RemoveRepositoryReply,
    RemoveRepositoryRequest,
    RepositoryStatusRequest,
)
from prism_contracts.types import CommitIdOrNone, Cursor, FilePath, RefOrNone, RepoKey
from prism_gateway.backend import Backend
from prism_gateway.rest import replies
from prism_gateway.rest.bodies import ReindexBody, RepositoryBody, RepositoryPatch, SecretsBody
from prism_gateway.rest.dependencies import (
    Caller,
    NameBook,
    RepositorySecrets,
    Services,
    Settings,
    ThisChange,
)
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply
from prism_gateway.scopes import ADMIN, check_scope

PROBLEMS_DEFAULT = 200
CHANGES_DEFAULT = 100

RefQuery = Annotated[
    RefOrNone,
    Query(description="Branch, tag, pull request or overlay; empty for the followed branch."),
]

router = APIRouter(tags=["repositories"], route_class=IdempotentRoute)


@router.get("/whoami", response_model=replies.WhoAmI)
async def whoami(caller: Caller) -> Response:
    """Return the tenant, label and scopes of the token."""
    return reply(replies.WhoAmI(tenant=caller.tenant, label=caller.label, scopes=sorted(caller.scopes)))


@router.get("/repos", response_model=replies.Repositories)
async def repos(caller: Caller, backend: Services) -> Response:
    """List the tenant's repositories."""
    known = await backend.ask(JOBS, JobsRequest(tenant=caller.tenant, limit=1))
    return reply(replies.Repositories(repositories=known.repositories))


@router.post(
    "/repos",
    response_model=replies.Registered,
    status_code=202,
    dependencies=[IDEMPOTENT],
    responses={
        200: {"description": "The repository was registered before.", "model": replies.Registered},
        201: {"description": "The repository is registered.", "model": replies.Registered},
    },
)
async def register_repository(
    *,
    body: RepositoryBody,
    caller: Caller,
    backend: Services,
    vault: RepositorySecrets,
    change: ThisChange,
) -> Response:
    """Register a git URL, and import it unless `index` is false.

    If storing `webhook_secret` fails, the repository stays registered. Repeat the request.
    """
    found = await backend.ask(REGISTER, body.request(caller.tenant))
    if body.webhook_secret is not None:
        change.describe(fields="webhook_secret")
        await vault.change(caller.tenant, found.repository.repo, {"webhook_secret": body.webhook_secret})
    status = 202 if found.job else 201 if found.created else 200
    registered = replies.Registered(repository=found.repository, job=found.job)
    return reply(registered, status=status, exclude=replies.JOB if found.job else None)


@router.patch("/repos/{name:path}", response_model=replies.Changed)
async def update_repository(
    name: RepoKey, body: RepositoryPatch, caller: Caller, backend: Services
) -> Response:
    """Change settings of a repository, which the next import applies, or rename it.

    Tokens and groups that list the old name no longer mean it.
    """
    if body.name is not None:
        check_scope(caller, ADMIN)
    found = await backend.ask(UPDATE_REPOSITORY, body.request(caller.tenant, name))
    return reply(replies.Changed(repository=found.repository))


@router.post("/repos/{name:path}/cache/clear", response_model=replies.Changed)
async def clear_cache(name: RepoKey, caller: Caller, backend: Services) -> Response:
    """Drop the cached answers of a repository, in every copy of Prism."""
    request = ClearCacheRequest(tenant=caller.tenant, repo=name)
    found = await backend.ask(CLEAR_CACHE, request)
    return reply(replies.Changed(repository=found.repository))


@router.get("/repos/{name:path}/status", response_model=replies.RepositoryReport)
async def repository_status(name: RepoKey, caller: Caller, backend: Services, settings: Settings) -> Response:
    """Return the state of a repository, its served commit, its running import, and why the last one failed."""
    found = await backend.ask(REPOSITORY_STATUS, RepositoryStatusRequest(tenant=caller.tenant, repo=name))
    files = await _file_counts(backend, found.repository, settings.status_timeout_s)
    return reply(replies.RepositoryReport.of(found, files), exclude=replies.STATUS)


@router.get("/repos/{name:path}/changes", response_model=ChangesReply)
async def changes(
    name: RepoKey,
    *,
    caller: Caller,
    backend: Services,
    path: Annotated[FilePath, Query(description="A file, or a folder with all below it.")] = "",
    since: Annotated[datetime | None, Query(description="ISO time; without a zone it is UTC.")] = None,
    limit: Annotated[int, Query(ge=1, le=CHANGES_LIMIT_MAX)] = CHANGES_DEFAULT,
    cursor: Cursor = "",
) -> Response:
    """List which files imports of the followed branch added, changed and removed, the newest first.

    A page may have fewer changes than `limit`. `next_cursor` is empty at the end of the list. Changes are kept
    for 90 days, and those of at most 1,000 imports.
    """
    request = ChangesRequest(
        tenant=caller.tenant, repo=name, path=path, since=since, limit=limit, cursor=cursor
    )
    return reply(await backend.ask(CHANGES, request))


@router.post("/repos/{name:path}/index", response_model=JobReply, status_code=202, dependencies=[IDEMPOTENT])
async def reindex_repository(
    name: RepoKey, caller: Caller, backend: Services, body: ReindexBody | None = None
) -> Response:
    """Fetch the repository, and index what differs from the index.

    Returns the running job if it reads at least these files; the remote is then fetched again when it ends.
    """
    wanted = body or ReindexBody()
    request = ReindexRequest(tenant=caller.tenant, repo=name, full=wanted.full, force=wanted.force)
    return reply(await backend.ask(REINDEX, request), status=202, exclude=replies.JOB)


@router.delete("/repos/{name:path}", response_model=RemoveRepositoryReply)
async def remove_repository(name: RepoKey, caller: Caller, backend: Services) -> Response:
    """Remove a repository with everything that is stored of it, and cancel its jobs.

    Nothing answers for it any more, and its name can be indexed again at once. Its data is deleted in the
    background.
    """
    request = RemoveRepositoryRequest(tenant=caller.tenant, repo=name)
    return reply(await backend.ask(REMOVE_REPOSITORY, request))


@router.put("/repos/{name:path}/secrets", response_model=replies.SecretsKept)
async def set_secrets(
    name: RepoKey,
    *,
    body: SecretsBody,
    backend: Services,
    vault: RepositorySecrets,
    names: NameBook,
    change: ThisChange,
) -> Response:
    """Store the webhook secret of a repository, or the login of its git server.

    Omitted fields stay unchanged.
    """
    change.subject = name
    change.describe(fields=", ".join(sorted(body.model_fields_set)))
    if not backend.sees(name):
        raise PrismError(
            ErrorCode.FORBIDDEN,
            f"The token is limited to some repositories, and {shown(name)} is none of them.",
            "Use a token with this repository, or without a list of repositories.",
        )
    tenant = backend.caller.tenant
    kept = await vault.change(tenant, await names.id_of(tenant, name), body.model_dump(exclude_none=True))
    stored = replies.SecretsKept(
        webhook_secret=bool(kept.webhook_secret), git_password=bool(kept.git_password)
    )
    return reply(stored)


@router.get("/repos/{name:path}/coverage", response_model=CoverageReply)
async def coverage(
    name: RepoKey,
    caller: Caller,
    backend: Services,
    limit: Annotated[int, Query(ge=1, le=LIST_LIMIT_MAX)] = PROBLEMS_DEFAULT,
) -> Response:
    """Report which files of a repository are searchable, and why others are not."""
    request = CoverageRequest(tenant=caller.tenant, repo=name, limit=limit)
    return reply(await backend.ask(COVERAGE, request))


@router.get("/repos/{name:path}/receipt", response_model=Receipt)
async def receipt(
    name: RepoKey,
    *,
    caller: Caller,
    backend: Services,
    ref: RefQuery = "",
    wait_for_commit: Annotated[
        CommitIdOrNone, Query(description="Wait until this commit is served, up to 20 s.")
    ] = "",
) -> Response:
    """Return the freshness and completeness of a repository's answers."""
    request = ReceiptRequest(tenant=caller.tenant, repo=name, ref=ref, wait_for_commit=wait_for_commit)
    return reply(await backend.ask(RECEIPT, request))


@router.get("/repos/{name:path}/files", response_model=ListFilesReply)
async def files(
    name: RepoKey,
    *,
    caller: Caller,
    backend: Services,
    ref: RefQuery = "",
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=LIST_LIMIT_MAX)] = LIST_LIMIT_MAX,
) -> Response:
    """List all files of a repository with their git blob hashes, by path, including those that are not
    searchable.
    """
    request = ListFilesRequest(
        tenant=caller.tenant,
        repo=name,
        ref=ref,
        include_skipped=True,
        limit=limit,
        cursor=cursor,
    )
    return reply(await backend.ask(LIST_FILES, request))


async def _file_counts(
    backend: Backend, repository: Repository, timeout_s: float
) -> replies.FilesByStatus | None:
    """Returns the counts of the base's files; None if nothing is served, or if search does not answer."""
    if repository.served is None:
        return None
    request = ReceiptRequest(tenant=repository.tenant, repo=repository.name)
    try:
        async with asyncio.timeout(timeout_s):
            known = await backend.ask(RECEIPT, request)
    except (PrismError, TimeoutError):
        return None
    return replies.FilesByStatus(
        indexed=known.files_indexed, skipped=known.files_skipped, failed=known.files_failed
    )
