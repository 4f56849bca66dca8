"""Dependencies between files: the edges between their symbols, added up."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import EDGE_KINDS, EDGE_STATUSES, NONE, STRATEGIES, Graph, Numbers
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy

# How much an edge says about its target's importance. An import comes with the uses that it is for.
IMPORT_WEIGHT = 0.5
# Shared by all candidates of one reference, of which at most one is meant. A name alone says nothing: `write` in
# any file would make the only class with that method important.
CANDIDATE_WEIGHT = 0.3
# For edges from flagged files, such as tests and generated code: they use everything.
FLAGGED_WEIGHT = 0.1

_IMPORTS = EDGE_KINDS.index(EdgeKind.IMPORTS)
_OVERRIDES = EDGE_KINDS.index(EdgeKind.OVERRIDES)
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)

_NAME_ONLY = [STRATEGIES.index(strategy) for strategy in (Strategy.NAME, Strategy.ONLY_DEFINITION)]

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Links:
    """Pairs of different files, of which the first uses the second, in order of both."""

    source: Numbers  # file
    target: Numbers  # file
    weight: NDArray[np.float32]  # sum over the edges between them
    resolved: Numbers  # number of resolved edges
    candidates: Numbers  # number of candidate edges

    def __len__(self) -> int:
        return len(self.source)


def users_of(links: Links, files: Iterable[int]) -> dict[int, int]:
    """Returns how many files surely use each of these, by file."""
    used = links.target[links.resolved > 0]
    return {file: int(np.count_nonzero(used == file)) for file in files}


def file_links(graph: Graph, weights: Weights) -> Links:
    """Returns the links of a graph. `weights` are those of its edges."""
    files = graph.node_files()
    source, target = files[graph.edges.source], files[graph.edges.target]
    between = np.flatnonzero((source != target) & (graph.edges.kind != _OVERRIDES))
    pairs = source[between].astype(np.int64) * len(graph.files) + target[between]
    distinct, pair = np.unique(pairs, return_inverse=True)
    is_resolved = graph.edges.status[between] == _RESOLVED
    count = len(distinct)
    return Links(
        source=(distinct // max(len(graph.files), 1)).astype(np.int32),
        target=(distinct % max(len(graph.files), 1)).astype(np.int32),
        weight=np.bincount(pair, weights[between], count).astype(np.float32),
        resolved=np.bincount(pair, is_resolved, count).astype(np.int32),
        candidates=np.bincount(pair, ~is_resolved, count).astype(np.int32),
    )


def edge_weights(graph: Graph) -> Weights:
    """Returns the weight of each edge: how strongly it counts toward the importance of its target."""
    edges = graph.edges
    weights = np.where(edges.kind == _IMPORTS, IMPORT_WEIGHT, 1.0)
    weights[edges.kind == _OVERRIDES] = 0.0  # not a use: it follows from inheritance
    weights *= np.where(edges.status == _RESOLVED, 1.0, CANDIDATE_WEIGHT / _alternatives(graph))
    weights[np.isin(edges.strategy, _NAME_ONLY)] = 0.0
    weights *= np.where(flagged_files(graph)[graph.node_files()[edges.source]], FLAGGED_WEIGHT, 1.0)
    return weights


def flagged_files(graph: Graph) -> NDArray[np.bool_]:
    """Returns by file whether it is flagged, as tests and generated code are: its uses count little."""
    distinct, flags = np.unique(graph.files.flags, return_inverse=True)
    flagged = [bool(graph.strings[string]) for string in distinct]
    return np.array(flagged, np.bool_)[flags]


def _alternatives(graph: Graph) -> Weights:
    """Returns by edge how many edges lead from its source and line to symbols of the same name."""
    edges = graph.edges
    names = np.concatenate([graph.symbols.name, -1 - np.arange(len(graph.files), dtype=np.int32)])
    # Edges are in order of source and line.
    begins = np.diff(edges.source, prepend=NONE).astype(np.bool_) | np.diff(edges.line, prepend=NONE).astype(
        np.bool_
    )
    place = np.cumsum(begins, dtype=np.int64)
    _, group, counts = np.unique(
        place << 32 | names[edges.target].astype(np.uint32), return_inverse=True, return_counts=True
    )
    alternatives: Weights = counts[group].astype(np.float64)
    return alternatives
