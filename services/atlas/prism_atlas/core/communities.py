"""Files that belong together: components by how tightly they use each other, and cycles, in which each needs all others."""

from dataclasses import dataclass

import graspologic_native  # type: ignore[import-untyped]
import numpy as np
import rustworkx
from numpy.typing import NDArray

from prism_atlas.core.graph import NONE, Numbers
from prism_atlas.core.links import Links, Weights

# The same graph always falls into the same components.
SEED = 1
ITERATIONS = 2
# A component of fewer files is no part of an architecture.
COMPONENT_FILES_MIN = 2


@dataclass(frozen=True, slots=True)
class Communities:
    """By file, NONE for one that is in none. The largest component, and the largest cycle, is 0."""

    component: Numbers
    cycle: Numbers


def communities(links: Links, files: int, quiet: NDArray[np.bool_]) -> Communities:
    """The components and cycles of files."""
    return Communities(component=components(links, files), cycle=cycles(links, files, quiet))


def components(links: Links, files: int) -> Numbers:
    """Leiden's communities (Traag et al., 2019) by modularity, links counted in both directions."""
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


def cycles(links: Links, files: int, quiet: NDArray[np.bool_]) -> Numbers:
    """Strongly connected files, by resolved links only; tests and the like are left out."""
    surely = (links.resolved > 0) & ~quiet[links.source] & ~quiet[links.target]
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
    """A matrix of links in both directions, by rows: where each row begins, columns, weights."""
    cells = np.concatenate([source * nodes + target, target * nodes + source])
    distinct, cell = np.unique(cells, return_inverse=True)
    weights = np.bincount(cell, np.concatenate([weight, weight])).astype(np.float64)
    starts = np.searchsorted(distinct, np.arange(nodes + 1) * nodes)
    return starts.astype(np.int64), (distinct % nodes).astype(np.int32), weights


def _by_size(group: Numbers, files_min: int) -> Numbers:
    """The same groups, numbered from the largest on; of equal ones that of the first file first. Small ones are none."""
    distinct, first, counts = np.unique(group, return_index=True, return_counts=True)
    kept = np.flatnonzero((distinct != NONE) & (counts >= files_min))
    order = kept[np.lexsort((first[kept], -counts[kept]))]
    numbers = np.full(len(distinct), NONE, np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return numbers[np.searchsorted(distinct, group)]
