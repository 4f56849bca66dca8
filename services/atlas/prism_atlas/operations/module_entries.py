"""The files of a module map or of a component, each with its summary, top symbols and recent commits."""

from collections.abc import Sequence

from prism_atlas.adapters.summaries import Summaries, SummarizedFile
from prism_atlas.core.graph import Graph
from prism_atlas.core.module_map import RankedFile, symbol_label, top_symbols
from prism_atlas.operations.served_graphs import ServedGraph
from prism_catalog.histories import Histories
from prism_contracts.rpc.guidance import RecentChanges
from prism_contracts.rpc.maps import ModuleEntry


class ModuleEntries:
    """Describes ranked files with facts from the graph, the index and the histories."""

    def __init__(self, summaries: Summaries, histories: Histories) -> None:
        self._summaries = summaries
        self._histories = histories

    async def of(self, served: ServedGraph, page: Sequence[RankedFile]) -> tuple[ModuleEntry, ...]:
        """Returns one entry per file, in the same order."""
        graph = served.snapshot.graph
        symbols = {module.file: top_symbols(served.snapshot.analysis, [module.file]) for module in page}
        summarized = {file: _summarized(graph, file, top) for file, top in symbols.items()}
        summaries = await self._summaries.get(served.target.scope, list(summarized.values()))
        changes = {file: await self._histories.changes(served.target, graph.path(file)) for file in symbols}
        return tuple(
            ModuleEntry(
                file_path=graph.path(file),
                language=graph.strings[graph.files.language[file]],
                lines=int(graph.files.lines[file]),
                tier=tier,
                relative_score=score,
                summary=summaries[summarized[file].id],
                top_symbols=tuple(symbol_label(graph, symbol) for symbol in symbols[file]),
                commits_90_days=_velocity(changes[file]),
            )
            for file, tier, score in page
        )


def _summarized(graph: Graph, file: int, top: Sequence[int]) -> SummarizedFile:
    main = graph.strings[graph.symbols.qualified_name[top[0]]] if top else ""
    strings, files = graph.strings, graph.files
    return SummarizedFile(strings[files.id[file]], strings[files.generation[file]], main)


def _velocity(changes: RecentChanges | None) -> int | None:
    return changes.commits_90_days if changes else None
