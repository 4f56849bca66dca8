"""Dependencies and dependents of a set of files. Edges within the set are ignored."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, NONE, Graph, Numbers
from prism_atlas.core.rendering import render_edges
from prism_atlas.core.traversal import follow, nodes_of, other_end, step, traverse
from prism_contracts.code import EdgeKind, EdgeStatus
from prism_contracts.rpc.graph import ExternalModule, FileDependency

SYMBOLS_SHOWN_MAX = 8
CYCLES_MAX = 5

RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)
IMPORTS = EDGE_KINDS.index(EdgeKind.IMPORTS)
REFERRING = tuple(kind for kind in EDGE_KINDS if kind is not EdgeKind.OVERRIDES)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The files on one side of the set. All columns are by position in `files`, in display order."""

    files: Numbers
    depth: Numbers
    through: Numbers  # the file on the path to it; NONE at depth 1
    # Edges between it and the set, in order of file; `starts` by file, only for depth 1.
    edges: Numbers
    starts: dict[int, tuple[int, int]]
    unsure: int  # omitted files that only candidate edges connect

    def __len__(self) -> int:
        return len(self.files)


def dependencies(
    graph: Graph, between: Graph, requested: Numbers, depth_max: int, *, forward: bool, candidates: bool
) -> Dependencies:
    """Returns the dependencies (forward) or dependents of files. `between` is the graph of files."""
    edges, others = _direct(graph, requested, forward=forward)
    known = len(np.unique(others))
    is_sure = graph.edges.status[edges] == RESOLVED
    sure = np.zeros(len(graph.files), np.bool_)
    sure[others[is_sure]] = True
    if not candidates:
        edges, others = edges[is_sure], others[is_sure]
    imported = np.zeros(len(graph.files), np.bool_)
    imported[others[graph.edges.kind[edges] == IMPORTS]] = True
    times = np.bincount(others, minlength=len(graph.files))
    near = np.unique(others)
    far, depth, through = _further(
        between, requested, near, depth_max, forward=forward, candidates=candidates
    )
    order = np.lexsort((near, -times[near], ~imported[near], ~sure[near]))
    files = np.concatenate([near[order], far]).astype(np.int32)
    return Dependencies(
        files,
        np.concatenate([np.ones(len(near), np.int32), depth]),
        np.concatenate([np.full(len(near), NONE, np.int32), through]),
        *_runs(edges, others),
        unsure=known - len(near),
    )


def tell(graph: Graph, found: Dependencies, start: int, count: int) -> Iterator[FileDependency]:
    """Yields `count` of them from `start` on."""
    for position in range(start, min(start + count, len(found))):
        file = int(found.files[position])
        first, end = found.starts.get(file, (0, 0)) if found.depth[position] == 1 else (0, 0)
        edges = found.edges[first:end]
        through = int(found.through[position])
        yield FileDependency(
            file_path=graph.path(file),
            depth=int(found.depth[position]),
            edges=render_edges(graph, edges),
            symbols=_names(graph, edges),
            through="" if through == NONE else graph.path(through),
        )


def cycles(between: Graph, requested: Numbers) -> tuple[tuple[str, ...], ...]:
    """Returns shortest import cycles through the files, each from one of them back to the set."""
    importing = step([EdgeKind.IMPORTS], forward=True)
    back = traverse(between, requested, [importing._replace(forward=False)], len(between.files))
    edges, imported = follow(between, requested, [importing])
    inside = np.isin(imported, requested)
    closing = np.flatnonzero(~inside & (back.distance[imported] != NONE))
    order = closing[np.lexsort((edges[closing], back.distance[imported[closing]]))]
    found = []
    for position in order[:CYCLES_MAX]:
        files = [int(between.edges.source[edges[position]]), int(imported[position])]
        while back.edge[files[-1]] != NONE:
            files.append(other_end(between, int(back.edge[files[-1]]), files[-1]))
        found.append(tuple(map(between.path, files)))
    return tuple(dict.fromkeys(found))


def externals(graph: Graph, requested: Numbers) -> list[ExternalModule]:
    """Returns the external modules that the files import, most imported first."""
    table = graph.externals
    inside = np.flatnonzero(np.isin(table.file, requested))
    modules, first, inverse = np.unique(table.module[inside], return_index=True, return_inverse=True)
    pairs = np.unique(np.stack([inverse, table.file[inside]]), axis=1)
    files = np.bincount(pairs[0], minlength=len(modules))
    found = []
    for position in np.lexsort((modules, -files)):
        one = inside[first[position]]
        found.append(
            ExternalModule(
                module=graph.strings[modules[position]],
                files=int(files[position]),
                file_path=graph.path(int(table.file[one])),
                line=int(table.line[one]),
            )
        )
    return found


def _direct(graph: Graph, requested: Numbers, *, forward: bool) -> tuple[Numbers, Numbers]:
    """Returns the edges that cross the border of the set, and the outer file of each."""
    nodes = np.concatenate([nodes_of(graph, int(file)) for file in requested])
    edges, others = follow(graph, nodes, [step(REFERRING, forward=forward, candidate_cost=1)])
    files = graph.files_of(others)
    outside = ~np.isin(files, requested)
    return edges[outside], files[outside]


def _further(
    between: Graph, requested: Numbers, near: Numbers, depth_max: int, *, forward: bool, candidates: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """Returns the files beyond depth 1, their depths, and the file on the path to each."""
    nothing = np.array([], np.int32)
    if depth_max == 1:
        return nothing, nothing, nothing
    direction = step(REFERRING, forward=forward, candidate_cost=int(candidates))
    reached = traverse(between, requested, [direction], depth_max)
    beyond = (reached.distance > 1) & ~np.isin(np.arange(len(reached.distance)), near)
    far = np.flatnonzero(beyond).astype(np.int32)
    far = far[np.lexsort((far, reached.distance[far]))]
    through = [other_end(between, int(reached.edge[file]), int(file)) for file in far]
    return far, reached.distance[far], np.array(through, np.int32)


def _runs(edges: Numbers, files: Numbers) -> tuple[Numbers, dict[int, tuple[int, int]]]:
    """Returns the edges in order of file, and by file where its edges begin and end."""
    order = np.argsort(files, kind="stable")
    names, starts = np.unique(files[order], return_index=True)
    ends = np.append(starts, len(files))[1:]
    return edges[order], {
        int(name): (int(first), int(end)) for name, first, end in zip(names, starts, ends, strict=True)
    }


def _names(graph: Graph, edges: Numbers) -> tuple[str, ...]:
    """Returns the names that edges point to, most used first. Edges to whole files have no name."""
    targets, times = np.unique(graph.edges.target[edges], return_counts=True)
    chosen = [target for target in targets[np.argsort(-times, kind="stable")] if not graph.is_file(target)]
    names = (graph.strings[graph.symbols.qualified_name[target]] for target in chosen)
    return tuple(dict.fromkeys(names))[:SYMBOLS_SHOWN_MAX]
