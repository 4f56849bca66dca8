"""Groups of files: components, which use each other tightly, and cycles, whose files all reach each other."""

from dataclasses import dataclass

import graspologic_native  # type: ignore[import-untyped]
import numpy as np
import rustworkx
from numpy.typing import NDArray

from prism_atlas.core.graph import NONE, Numbers
from prism_atlas.core.links import Links, Weights

# A fixed seed: the same graph always has the same components.
SEED = 1
ITERATIONS = 2
# Smaller groups are not components.
COMPONENT_FILES_MIN = 2


@dataclass(frozen=True, slots=True)
class Communities:
    """Group numbers by file, NONE for files in no group. Number 0 is the largest component or cycle."""

    component: Numbers  # layers have the last numbers
    cycle: Numbers


def communities(links: Links, layer: Numbers, flagged: NDArray[np.bool_]) -> Communities:
    """Returns the components and cycles of files. `layer` is that of each file, NONE for sources."""
    files = len(layer)
    return Communities(component=components(links, layer), cycle=cycles(links, files, flagged))


def components(links: Links, layer: Numbers) -> Numbers:
    """Leiden communities (Traag et al., 2019) of sources by modularity, then one component per layer.

    Links count in both directions; those that only names support count nothing.
    """
    is_source = layer == NONE
    counted = (links.weight > 0) & is_source[links.source] & is_source[links.target]
    found = _communities(links.source[counted], links.target[counted], links.weight[counted], len(layer))
    number = int(found.max(initial=NONE)) + 1
    linked = np.unique(np.concatenate([links.source, links.target]))
    for one in np.unique(layer[layer != NONE]).tolist():
        members = linked[layer[linked] == one]
        if len(members) >= COMPONENT_FILES_MIN:
            found[members] = number
            number += 1
    return found


def _communities(source: Numbers, target: Numbers, weight: NDArray[np.float32], files: int) -> Numbers:
    if not len(source):
        return np.full(files, NONE, np.int32)
    linked, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    first, second = np.split(ends, 2)
    indptr, indices, weights = _symmetric(first, second, weight, len(linked))
    _, found = graspologic_native.leiden_csr(
        indptr, indices, weights, len(linked), seed=SEED, iterations=ITERATIONS
    )
    community = np.full(files, NONE, np.int32)
    community[linked] = [found[node] for node in range(len(linked))]
    return _by_size(community, COMPONENT_FILES_MIN)


def cycles(links: Links, files: int, flagged: NDArray[np.bool_]) -> Numbers:
    """Strongly connected files over resolved links, without tests, generated files and the like."""
    surely = (links.resolved > 0) & ~flagged[links.source] & ~flagged[links.target]
    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(files))
    graph.add_edges_from_no_data(
        list(zip(links.source[surely].tolist(), links.target[surely].tolist(), strict=True))
    )
    cycle = np.full(files, NONE, np.int32)
    for number, group in enumerate(rustworkx.strongly_connected_components(graph)):
        if len(group) > 1:
            cycle[list(group)] = number
    return _by_size(cycle, 2)


def _symmetric(
    source: NDArray[np.int64], target: NDArray[np.int64], weight: NDArray[np.float32], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], Weights]:
    """Returns the symmetric matrix of links as rows: where each begins, columns, weights."""
    cells = np.concatenate([source * nodes + target, target * nodes + source])
    distinct, cell = np.unique(cells, return_inverse=True)
    weights = np.bincount(cell, np.concatenate([weight, weight])).astype(np.float64)
    starts = np.searchsorted(distinct, np.arange(nodes + 1) * nodes)
    return starts.astype(np.int64), (distinct % nodes).astype(np.int32), weights


def _by_size(group: Numbers, files_min: int) -> Numbers:
    """Renumber groups, largest first, then by their first file. Small groups become NONE."""
    distinct, first, counts = np.unique(group, return_index=True, return_counts=True)
    kept = np.flatnonzero((distinct != NONE) & (counts >= files_min))
    order = kept[np.lexsort((first[kept], -counts[kept]))]
    numbers = np.full(len(distinct), NONE, np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers[np.searchsorted(distinct, group)]
