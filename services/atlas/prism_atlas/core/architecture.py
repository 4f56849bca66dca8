"""The architecture of a repository: its components, their dependencies, and its entry points."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.cycles import shortest_cycle
from prism_atlas.core.folders import component_files, component_names, divergence
from prism_atlas.core.graph import ENTRY_KINDS, NONE, Numbers
from prism_atlas.core.links import flagged_files
from prism_atlas.core.module_map import symbol_label, top_symbols
from prism_atlas.core.partitions import partitions
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.rpc.maps import (
    ComponentDependency,
    ComponentSummary,
    Cycle,
    EntryKind,
    EntryPoint,
    Interface,
    Overview,
)

MAIN_FILES = 5
MAIN_SYMBOLS = 8
# The top symbols of a component are looked for in its top files.
FILES_SEARCHED_MAX = 100
# A file that no file uses is an entry point if it uses at least this many files.
ROOT_USES_MIN = 5
NAMES_SHOWN_MAX = 50
ID = re.compile(r"[0-9]{1,9}")

_ORDER = list(EntryKind)


class Architecture:
    """A repository as components."""

    def __init__(self, analysis: Analysis, names: Sequence[str] | None = None) -> None:
        """`names` are the component names, if known: computing them takes as long as any question."""
        self._analysis = analysis
        self._graph = analysis.graph
        self._links = analysis.links
        self.names = component_names(analysis) if names is None else names
        self.files = component_files(analysis)

    def find(self, component: str) -> int:
        """Returns the component with this name or id. Raises COMPONENT_NOT_FOUND with the known names."""
        if component in self.names:
            return self.names.index(component)
        number = component.removeprefix("#")
        if ID.fullmatch(number) and int(number) < len(self.names):
            return int(number)
        raise PrismError(
            ErrorCode.COMPONENT_NOT_FOUND,
            f"There is no component {shown(component)!r}.",
            "Give a name or id from details.components.",
            components=list(self.names[:NAMES_SHOWN_MAX]),
        )

    def overview(self, limit: int) -> Overview:
        """Returns the overview, each list cut at `limit`.

        Entry points are cut per kind, so that `balanced_by_kind` can choose.
        """
        entries = self.entry_points(range(len(self._graph.files)))
        dependencies = self.dependencies()
        file_cycles, component_cycles = self.file_cycles(), self.component_cycles()
        parts = partitions([self._graph.path(file) for file in range(len(self._graph.files))])
        return Overview(
            entry_points=tuple(entry for group in _by_kind(entries) for entry in group[:limit]),
            components=tuple(map(self.summary, range(min(limit, len(self.files))))),
            dependencies=tuple(dependencies[:limit]),
            file_cycles=tuple(file_cycles[:limit]),
            component_cycles=tuple(component_cycles[:limit]),
            divergence=divergence(self._analysis, self.names, limit),
            partitions=tuple(parts[:limit]),
            totals={
                "files": len(self._graph.files),
                "files_in_components": sum(map(len, self.files)),
                "entry_points": len(entries),
                "components": len(self.files),
                "dependencies": len(dependencies),
                "file_cycles": len(file_cycles),
                "component_cycles": len(component_cycles),
                "partitions": len(parts),
            },
        )

    def summary(self, component: int) -> ComponentSummary:
        """Returns the summary of a component."""
        files = self.files[component]
        symbols = top_symbols(self._analysis, files[:FILES_SEARCHED_MAX], MAIN_SYMBOLS)
        return ComponentSummary(
            id=component,
            name=self.names[component],
            files=len(files),
            lines=int(self._graph.files.lines[files].sum()),
            rank=round(float(self._analysis.ranks.file[files].sum()), 4),
            main_files=tuple(map(self._graph.path, files[:MAIN_FILES])),
            main_symbols=tuple(symbol_label(self._graph, symbol) for symbol in symbols),
        )

    def entry_points(self, files: Iterable[int]) -> list[EntryPoint]:
        """Returns the entry points of files, by kind, highest rank first."""
        graph, wanted = self._graph, set(files)
        found = [
            (kind, graph.file_of(node), int(line), node)
            for node, kind, line in zip(
                graph.entries.node.tolist(), graph.entries.kind.tolist(), graph.entries.line, strict=True
            )
            if graph.file_of(node) in wanted
        ]
        known = {file for _, file, _, _ in found}
        root = ENTRY_KINDS.index(EntryKind.ROOT)
        found += [(root, file, 1, graph.file_node(file)) for file in self._roots() if file in wanted - known]
        rank = self._analysis.ranks.file
        found.sort(key=lambda entry: (entry[0], -rank[entry[1]], *entry[1:]))
        return [
            EntryPoint(
                kind=ENTRY_KINDS[kind], file_path=graph.path(file), line=line, symbol=self._symbol(node)
            )
            for kind, file, line, node in found
        ]

    def dependencies(self, component: int = NONE) -> list[ComponentDependency]:
        """Returns the dependencies between components, or of one of them, most references first."""
        of_file = self._analysis.communities.component
        source, target = of_file[self._links.source], of_file[self._links.target]
        is_between = (source != target) & (source != NONE) & (target != NONE)
        if component != NONE:
            is_between &= (source == component) | (target == component)
        between = np.flatnonzero(is_between)
        pairs = source[between].astype(np.int64) * len(self.names) + target[between]
        distinct, pair = np.unique(pairs, return_inverse=True)
        resolved = np.bincount(pair, self._links.resolved[between], len(distinct))
        candidates = np.bincount(pair, self._links.candidates[between], len(distinct))
        # The strongest link of each pair; of equal links the first.
        order = np.lexsort((-self._links.weight[between], pair))
        strongest = between[order[np.searchsorted(pair[order], np.arange(len(distinct)))]]
        found = [
            ComponentDependency(
                source=self.names[both // len(self.names)],
                target=self.names[both % len(self.names)],
                references=int(resolved[number]),
                candidates=int(candidates[number]),
                example=self._ends(strongest[number]),
            )
            for number, both in enumerate(distinct.tolist())
        ]
        return sorted(found, key=lambda one: (-one.references, -one.candidates, one.source, one.target))

    def file_cycles(self, component: int = NONE) -> list[Cycle]:
        """Returns groups of files that all reach each other, or those of a component, largest first."""
        group = self._analysis.communities.cycle
        is_inside = (group[self._links.source] == group[self._links.target]) & (
            group[self._links.source] != NONE
        )
        surely = np.flatnonzero(is_inside & (self._links.resolved > 0))
        targets = _targets(self._links.source[surely], self._links.target[surely])
        wanted = np.unique(group[self.files[component]] if component != NONE else group)
        return [
            self._cycle(np.flatnonzero(group == number).tolist(), targets)
            for number in wanted.tolist()
            if number != NONE
        ]

    def component_cycles(self) -> list[Cycle]:
        """Returns cycles of two or more components, ordered by the strength of their weakest dependency."""
        needs: dict[int, dict[int, int]] = {}
        number = {name: position for position, name in enumerate(self.names)}
        for dependency in self.dependencies():
            if dependency.references:
                needs.setdefault(number[dependency.source], {})[number[dependency.target]] = (
                    dependency.references
                )
        cycles: dict[frozenset[int], list[int]] = {}
        for start in sorted(needs):
            if cycle := shortest_cycle(start, {node: sorted(targets) for node, targets in needs.items()}):
                cycles.setdefault(frozenset(cycle), cycle)

        def strength(cycle: Sequence[int]) -> int:
            return min(needs[one][other] for one, other in pairwise(cycle))

        ordered = sorted(cycles.values(), key=lambda cycle: (-strength(cycle), cycle))
        return [
            Cycle(members=len(cycle) - 1, path=tuple(self.names[component] for component in cycle))
            for cycle in ordered
        ]

    def interface(self, component: int) -> list[Interface]:
        """Returns what other components use of a component, by resolved references, most used first."""
        graph = self._graph
        nodes = self._analysis.communities.component[graph.node_files()]
        edges = graph.edges
        is_inward = (
            (nodes[edges.target] == component) & (nodes[edges.source] != component) & (edges.status == 0)
        )
        is_inward &= ~flagged_files(graph)[graph.node_files()[edges.source]]
        uses = Counter(edges.target[is_inward].tolist())
        ordered = sorted(uses.items(), key=lambda use: (-use[1], use[0]))
        return [
            Interface(
                file_path=graph.path(graph.file_of(node)),
                line=1 if graph.is_file(node) else int(graph.symbols.name_line[node]),
                symbol=self._symbol(node),
                references=count,
            )
            for node, count in ordered
        ]

    def external_modules(self, component: int) -> dict[str, int]:
        """Returns the external modules of a component with the number of importing files, most first."""
        externals = self._graph.externals
        pairs = {
            (file, int(externals.module[position]))
            for file in self.files[component]
            for position in range(int(externals.first[file]), int(externals.first[file + 1]))
        }
        counts = Counter(self._graph.strings[module] for _, module in pairs)
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))

    def _symbol(self, node: int) -> str:
        if self._graph.is_file(node):
            return ""
        return self._graph.strings[self._graph.symbols.qualified_name[node]]

    def _roots(self) -> Iterator[int]:
        """Files that use many others, and that only tests, generated files and the like use."""
        flagged = flagged_files(self._graph)
        uses = np.bincount(self._links.source, self._links.resolved > 0, minlength=len(flagged))
        unflagged = ~flagged[self._links.source]
        used = np.bincount(self._links.target[unflagged], minlength=len(flagged))
        yield from np.flatnonzero((uses >= ROOT_USES_MIN) & (used == 0) & ~flagged).tolist()

    def _ends(self, link: np.intp) -> tuple[str, str]:
        return self._graph.path(self._links.source[link]), self._graph.path(self._links.target[link])

    def _cycle(self, files: Sequence[int], targets: dict[int, list[int]]) -> Cycle:
        start = max(files, key=lambda file: (self._analysis.ranks.file[file], -file))
        return Cycle(members=len(files), path=tuple(map(self._graph.path, shortest_cycle(start, targets))))


def _targets(source: Numbers, target: Numbers) -> dict[int, list[int]]:
    targets: dict[int, list[int]] = {}
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        targets.setdefault(one, []).append(other)
    return targets


def balanced_by_kind(entries: Sequence[EntryPoint], limit: int) -> tuple[EntryPoint, ...]:
    """Take entry points from each kind in turn: hundreds of routes must not hide the main function."""
    by_kind = _by_kind(entries)
    turns = [entry for row in range(limit) for group in by_kind for entry in group[row : row + 1]]
    return tuple(sorted(turns[:limit], key=lambda entry: _ORDER.index(entry.kind)))


def _by_kind(entries: Sequence[EntryPoint]) -> list[list[EntryPoint]]:
    return [[entry for entry in entries if entry.kind is kind] for kind in _ORDER]
