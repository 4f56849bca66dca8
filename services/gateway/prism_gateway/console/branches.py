"""The page of branches and overlays: what they change, cost, and when they end; index a ref, or forget one."""

import asyncio
from typing import Final

from starlette.responses import Response

from prism_contracts.errors import ErrorBody, PrismError
from prism_contracts.rpc.imports import JOBS
from prism_contracts.rpc.layers import CREATE_LAYER, DELETE_LAYER
from prism_contracts.rpc.repositories import REPOSITORY_STATUS
from prism_gateway.console.comparing import served_refs
from prism_gateway.console.formats import repo_url
from prism_gateway.console.page import PageView, Visit, redirect


async def branches(visit: Visit) -> Response:
    """The layers of a repository."""
    return await _show(visit)


async def create_branch(visit: Visit) -> Response:
    """Index a branch, tag, commit or pull request as the remote has it now."""
    ref = (await visit.form()).get("ref", "")
    try:
        await visit.ask(CREATE_LAYER, repo=visit.part("name"), ref=ref)
    except PrismError as error:
        return await _show(visit, status=422, ref=ref, error=visit.noted(error))
    return redirect(repo_url(visit.part("name"), "branches"))


async def forget_branch(visit: Visit) -> Response:
    """Delete the index of a branch."""
    await visit.ask(DELETE_LAYER, repo=visit.part("name"), ref=(await visit.form()).get("ref", ""))
    return redirect(repo_url(visit.part("name"), "branches"))


async def _show(
    visit: Visit, *, status: int = 200, ref: str = "", error: ErrorBody | None = None
) -> Response:
    found, known = await asyncio.gather(
        visit.ask(REPOSITORY_STATUS, repo=visit.part("name")), visit.ask(JOBS, limit=1)
    )
    repository = found.repository
    layers = [layer for layer in known.layers if layer.repo == repository.repo]
    return visit.show(
        "branches.html",
        status=status,
        repository=repository,
        layers=layers,
        refs=served_refs(repository, layers),
        ref=ref,
        error=error,
    )


VIEWS: Final = (
    PageView("/r/{name:repository}/-/branches", "GET /repos/{name:path}/status", branches),
    PageView("/r/{name:repository}/-/branches", "POST /layers", create_branch, method="POST"),
    PageView("/r/{name:repository}/-/branches/forget", "DELETE /layers", forget_branch, method="POST"),
)
