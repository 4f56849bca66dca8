"""Questions about a whole repository: its module map and its architecture."""

import asyncio
from collections.abc import Sequence

from prism_atlas.core.architecture import Architecture
from prism_atlas.core.component_descriptions import described
from prism_atlas.core.folder_parts import by_folder
from prism_atlas.core.module_map import RankedFile, modules
from prism_atlas.core.ranking import TIERS
from prism_atlas.core.report import ArchitectureReport
from prism_atlas.operations.module_entries import ModuleEntries
from prism_atlas.operations.served_graphs import ServedGraph, ServedGraphs
from prism_contracts.rpc.maps import (
    ArchitectureReply,
    ArchitectureRequest,
    ComponentDetail,
    ModuleMapReply,
    ModuleMapRequest,
    Overview,
)
from prism_runtime.cursors import read_cursor, write_cursor


class MapHandlers:
    """Answers from the graph. Slow work runs on a thread, so that the event loop stays free."""

    def __init__(self, graphs: ServedGraphs, entries: ModuleEntries) -> None:
        self._graphs = graphs
        self._entries = entries

    async def module_map(self, request: ModuleMapRequest) -> ModuleMapReply:
        """Returns a page of the most depended-upon files. A cursor is valid for one state of the graph."""
        served = await self._graphs.get(request)
        question = f"{served.state} {request.model_dump_json(exclude={'cursor', 'limit'})}"
        start = int(read_cursor(question, request.cursor, (int,))[0]) if request.cursor else 0
        found = await asyncio.to_thread(modules, served.snapshot.analysis, request.query, request.path_filter)
        total = len(found.files)
        end = min(start + request.limit, total)
        return ModuleMapReply(
            repo=served.repo,
            entries=await self._entries.of(served, found.page(start, end)),
            total=total,
            tiers=found.tiers(),
            next_cursor=write_cursor(question, end) if end < total else "",
            receipt=served.receipt,
        )

    async def architecture(self, request: ArchitectureRequest) -> ArchitectureReply:
        """Returns an overview of all components, or the details of one."""
        served = await self._graphs.get(request)
        if not request.component:
            found = await asyncio.to_thread(_overview, served, request)
            overview = await self._with_descriptions(served, found)
            return ArchitectureReply(repo=served.repo, overview=overview, receipt=served.receipt)
        architecture = await asyncio.to_thread(_architecture, served, request)
        number = architecture.find(request.component)
        return ArchitectureReply(
            repo=served.repo,
            component=await self._detail(served, architecture, number, request.limit),
            receipt=served.receipt,
        )

    async def _with_descriptions(self, served: ServedGraph, overview: Overview) -> Overview:
        files = await self._entries.descriptions(
            served, [path for component in overview.components for path in component.main_files]
        )
        components = (described(one, overview.dependencies, files) for one in overview.components)
        return overview.model_copy(update={"components": tuple(components)})

    async def _detail(
        self, served: ServedGraph, architecture: Architecture, number: int, limit: int
    ) -> ComponentDetail:
        name, files = architecture.names[number], architecture.files[number]
        dependencies = architecture.dependencies(number)
        uses = [dependency for dependency in dependencies if dependency.source == name]
        used_by = [dependency for dependency in dependencies if dependency.target == name]
        interface = architecture.interface(number)
        external = architecture.external_modules(number)
        entry_points = architecture.entry_points(files)
        cycles = architecture.file_cycles(number)
        summary = architecture.summary(number)
        descriptions = await self._entries.descriptions(served, summary.main_files)
        return ComponentDetail(
            summary=described(summary, used_by, descriptions),
            files=await self._entries.of(served, _members(served, files[:limit])),
            interface=tuple(interface[:limit]),
            uses=tuple(uses[:limit]),
            used_by=tuple(used_by[:limit]),
            external_modules=dict(list(external.items())[:limit]),
            entry_points=tuple(entry_points[:limit]),
            cycles=tuple(cycles[:limit]),
            totals={
                "files": len(files),
                "interface": len(interface),
                "uses": len(uses),
                "used_by": len(used_by),
                "external_modules": len(external),
                "entry_points": len(entry_points),
                "cycles": len(cycles),
            },
        )


def _overview(served: ServedGraph, request: ArchitectureRequest) -> Overview:
    if request.by_folder:
        return ArchitectureReport.of(*by_folder(served.snapshot.analysis)).overview(request.limit)
    return served.snapshot.read_report().overview(request.limit)


def _architecture(served: ServedGraph, request: ArchitectureRequest) -> Architecture:
    if request.by_folder:
        return Architecture(*by_folder(served.snapshot.analysis))
    return Architecture(served.snapshot.analysis, served.snapshot.read_report().names)


def _members(served: ServedGraph, files: Sequence[int]) -> list[RankedFile]:
    """Returns the files of a component, with scores relative to the whole repository."""
    ranks = served.snapshot.analysis.ranks
    best = float(ranks.file.max(initial=0)) or 1.0
    return [
        RankedFile(file, TIERS[ranks.tier[file]], round(float(ranks.file[file]) / best, 4)) for file in files
    ]
