"""The page of the architecture: components by rank, what they need, cycles, and where programs begin."""

from typing import Final

from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.maps import ARCHITECTURE, MODULE_MAP
from prism_gateway.console.formats import ref_of
from prism_gateway.console.page import PageView, Visit

COMPONENTS: Final = 60
FILES: Final = 40


async def show_map(visit: Visit) -> Response:
    """All components, or one of them."""
    name, ref = visit.part("name"), ref_of(visit.part("ref"))
    component = visit.query.get("component", "")
    by_folder = visit.query.get("by") == "folder"
    found = modules = error = None
    try:
        found = await visit.ask(
            ARCHITECTURE, repo=name, ref=ref, component=component, by_folder=by_folder, limit=COMPONENTS
        )
        if not component:
            modules = await visit.ask(MODULE_MAP, repo=name, ref=ref, limit=FILES)
    except PrismError as problem:
        if problem.code in (ErrorCode.REPO_NOT_FOUND, ErrorCode.REF_NOT_FOUND):
            raise
        error = visit.noted(problem)
    return visit.show(
        "map.html",
        name=name,
        ref=ref,
        component=component,
        by_folder=by_folder,
        found=found,
        modules=modules,
        error=error,
    )


VIEWS: Final = (PageView("/r/{name:repository}/-/map/{ref}", "get_architecture", show_map),)
