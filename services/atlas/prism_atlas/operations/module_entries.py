"""The files of a module map or of a component, each with its description, top symbols and recent commits."""

from collections.abc import Iterable, Sequence

from prism_atlas.core.graph import NONE, Graph
from prism_atlas.core.links import users_of
from prism_atlas.core.module_map import RankedFile, symbol_label, top_symbols
from prism_atlas.operations.served_graphs import ServedGraph
from prism_catalog.descriptions import Descriptions, IndexedVersion
from prism_catalog.histories import Histories
from prism_contracts.rpc.guidance import RecentChanges
from prism_contracts.rpc.maps import ModuleEntry


class ModuleEntries:
    """Describes ranked files with facts from the graph, the index and the histories."""

    def __init__(self, descriptions: Descriptions, histories: Histories) -> None:
        self._descriptions = descriptions
        self._histories = histories

    async def of(self, served: ServedGraph, page: Sequence[RankedFile]) -> tuple[ModuleEntry, ...]:
        """Returns one entry per file, in the same order."""
        graph = served.snapshot.graph
        symbols = {module.file: top_symbols(served.snapshot.analysis, [module.file]) for module in page}
        versions = {file: _version(graph, file) for file in symbols}
        descriptions = await self._descriptions.of(served.target.scope, list(versions.values()))
        users = users_of(served.snapshot.analysis.links, symbols)
        changes = {file: await self._histories.changes(served.target, graph.path(file)) for file in symbols}
        return tuple(
            ModuleEntry(
                file_path=graph.path(file),
                language=graph.strings[graph.files.language[file]],
                lines=int(graph.files.lines[file]),
                tier=tier,
                relative_score=score,
                summary=descriptions[versions[file].id],
                content=versions[file].generation,
                used_by=users[file],
                top_symbols=tuple(symbol_label(graph, symbol) for symbol in symbols[file]),
                commits_90_days=_velocity(changes[file]),
            )
            for file, tier, score in page
        )

    async def descriptions(self, served: ServedGraph, paths: Iterable[str]) -> dict[str, str]:
        """Returns the descriptions of files, by path."""
        graph = served.snapshot.graph
        files = {path: graph.find_file(path) for path in paths}
        versions = {path: _version(graph, file) for path, file in files.items() if file != NONE}
        found = await self._descriptions.of(served.target.scope, list(versions.values()))
        return {path: found[version.id] for path, version in versions.items()}


def _version(graph: Graph, file: int) -> IndexedVersion:
    strings, files = graph.strings, graph.files
    return IndexedVersion(strings[files.id[file]], strings[files.generation[file]])


def _velocity(changes: RecentChanges | None) -> int | None:
    return changes.commits_90_days if changes else None
