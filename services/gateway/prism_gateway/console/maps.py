"""The page of the architecture: components by rank, what they need, cycles, and where programs begin."""

import asyncio
from typing import Final

from starlette.responses import Response

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    ARCHITECTURE_LIMIT_MAX,
    MODULE_MAP,
    ModuleMapReply,
    Overview,
)
from prism_gateway.console.drawing.layered import NODES_MAX, MapDrawing, MapLink, MapNode, draw
from prism_gateway.console.drawing.treemap import CELLS_MAX, TreeDrawing, TreeFile, draw_tree
from prism_gateway.console.formats import ref_of
from prism_gateway.console.page import PageView, Visit

# Applies to each list. The picture of the overview takes more dependencies.
LISTED: Final = 60
FILES: Final = 40  # in the table; the picture has up to CELLS_MAX


async def show_map(visit: Visit) -> Response:
    """All components, or one of them."""
    name, ref = visit.part("name"), ref_of(visit.part("ref"))
    component = visit.query.get("component", "")
    by_folder = visit.query.get("by") == "folder"
    has_guesses = visit.query.get("guesses") == "drawn"
    found = modules = error = None
    try:
        found = await visit.ask(
            ARCHITECTURE,
            repo=name,
            ref=ref,
            component=component,
            by_folder=by_folder,
            limit=LISTED if component else ARCHITECTURE_LIMIT_MAX,
        )
        if not component:
            modules = await visit.ask(MODULE_MAP, repo=name, ref=ref, limit=CELLS_MAX)
    except PrismError as problem:
        if problem.code in (ErrorCode.REPO_NOT_FOUND, ErrorCode.REF_NOT_FOUND):
            raise
        error = visit.noted(problem)
    overview = _shown(found.overview) if found and found.overview else None
    # In a thread, so that other requests go on meanwhile: 60 components take a tenth of a second.
    drawing, nodes = (
        await asyncio.to_thread(_drawing, overview, has_guesses=has_guesses) if overview else (None, [])
    )
    return visit.show(
        "map.html",
        name=name,
        ref=ref,
        component=component,
        by_folder=by_folder,
        has_guesses=has_guesses,
        found=found,
        overview=overview,
        drawing=drawing,
        nodes=nodes,
        modules=modules,
        tree=_tree(modules) if modules else None,
        listed=FILES,
        error=error,
    )


def _shown(overview: Overview) -> Overview:
    """Returns the overview with shorter lists, and with dependencies between components that are listed."""
    components = overview.components[:NODES_MAX]
    names = {one.name for one in components}
    return overview.model_copy(
        update={
            "components": components,
            "dependencies": tuple(
                one for one in overview.dependencies if one.source in names and one.target in names
            ),
            "entry_points": overview.entry_points[:LISTED],
            "file_cycles": overview.file_cycles[:LISTED],
            "component_cycles": overview.component_cycles[:LISTED],
        }
    )


def _drawing(overview: Overview, *, has_guesses: bool) -> tuple[MapDrawing, list[MapNode]]:
    nodes = [MapNode(one.name, one.files) for one in overview.components]
    place = {node.name: number for number, node in enumerate(nodes)}
    links = [
        MapLink(place[one.source], place[one.target], one.references, one.candidates)
        for one in overview.dependencies
        if one.references or has_guesses
    ]
    return draw(nodes, links), nodes


def _tree(modules: ModuleMapReply) -> TreeDrawing:
    return draw_tree([TreeFile(one.file_path, one.relative_score) for one in modules.entries])


VIEWS: Final = (PageView("/r/{name:repository}/-/map/{ref}", "get_architecture", show_map),)
