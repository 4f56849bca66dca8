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

    component: Numbers
    cycle: Numbers


def communities(links: Links, files: int, flagged: NDArray[np.bool_]) -> Communities:
    """Returns the components and cycles of files."""
    return Communities(component=components(links, files), cycle=cycles(links, files, flagged))


def components(links: Links, files: int) -> Numbers:
    """Leiden communities (Traag et al., 2019) by modularity; links count in both directions."""
    if not len(links):
        return np.full(files, NONE, np.int32)
    linked, ends = np.unique(np.concatenate([links.source, links.target]), return_inverse=True)
    source, target = np.split(ends, 2)
    indptr, indices, weights = _symmetric(source, target, links.weight, len(linked))
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
