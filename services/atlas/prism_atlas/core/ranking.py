"""PageRank of files and symbols over their uses: how much of a repository depends on them.

The random walk follows uses, and now and then restarts at a random node. The share of rank that comes from
restarts says nothing about a node and is subtracted: unused files have rank 0, and the ranks of all files add
up to 1.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import SYMBOL_KINDS, Codes, Graph, Numbers
from prism_atlas.core.links import FLAGGED_WEIGHT, Links, Weights, flagged_files
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.rpc.maps import Tier

DAMPING = 0.85
TOLERANCE = 1e-6  # share of all rank that may move in the last iteration
ITERATIONS_MAX = 200
# Share of all rank that a tier has, together with the tiers above it.
CORE_SHARE = 0.5
SIGNIFICANT_SHARE = 0.9


TIERS = tuple(Tier)
DEFINITION_KINDS = CALLABLE_KINDS | TYPE_KINDS


@dataclass(frozen=True, slots=True)
class Ranks:
    """Shares that add up to 1, or are all 0."""

    file: NDArray[np.float32]
    node: NDArray[np.float32]  # of symbols and of files' top levels: what they receive from other files
    tier: Codes  # by file, of TIERS


def ranks_of_files(graph: Graph, links: Links) -> NDArray[np.float32]:
    """Returns the ranks of files by the files that use them: half PageRank, half the share of direct uses.

    PageRank alone gives a helper the whole rank of the file that uses nothing else.
    """
    walked = file_ranks(_one_way(links), _starts(graph))
    direct = np.bincount(links.target, links.weight, len(graph.files))
    total = direct.sum()
    return ((walked + direct / total) / 2 if total else walked).astype(np.float32)


def _one_way(links: Links) -> Links:
    """Returns the links with what two files give back to each other taken off: a walk would go to and fro."""
    size = int(max(links.source.max(initial=0), links.target.max(initial=0))) + 1
    there = links.source.astype(np.int64) * size + links.target
    back = links.target.astype(np.int64) * size + links.source
    if not len(there):
        return links
    at = np.minimum(np.searchsorted(there, back), len(there) - 1)  # links are in order of both ends
    returned = np.where(there[at] == back, links.weight[at], 0)
    return replace(links, weight=np.maximum(links.weight - returned, 0).astype(np.float32))


def ranks_of_nodes(graph: Graph, weights: Weights) -> NDArray[np.float32]:
    """Returns the ranks of nodes by the nodes of other files that use them. `weights` are those of edges."""
    return _node_ranks(graph, weights, _starts(graph)).astype(np.float32)


def _starts(graph: Graph) -> Weights:
    return np.where(flagged_files(graph), FLAGGED_WEIGHT, 1.0)


def _node_ranks(graph: Graph, weights: Weights, starts: Weights) -> Weights:
    """A helper receives the whole rank of its only user. Only rank from other files is counted in the end."""
    files = graph.node_files()
    weighted = np.flatnonzero(weights)
    source, target = graph.edges.source[weighted], graph.edges.target[weighted]
    weight: Weights = weights[weighted]
    if not len(source):
        return np.zeros(graph.nodes)
    begun = starts[files] / starts[files].sum()
    rank = earned_ranks(source, target, weight, begun) + begun
    passed = rank[source] * weight / np.bincount(source, weight)[source]
    from_others = files[source] != files[target]
    given = np.bincount(target[from_others], passed[from_others], graph.nodes).astype(np.float64)
    total = given.sum()
    return given / total if total else given


def file_ranks(links: Links, starts: Weights, damping: float = DAMPING) -> Weights:
    """Returns the ranks of files for a random walk that starts at files in these proportions."""
    return earned_ranks(links.source, links.target, links.weight, starts, damping)


def earned_ranks(
    source: Numbers,
    target: Numbers,
    weight: NDArray[np.floating],
    starts: Weights,
    damping: float = DAMPING,
) -> Weights:
    """PageRank (Page et al., 1999) without the share from starts. `starts` has a weight per node.

    Edges without weight lead nowhere.
    """
    counted = weight > 0
    source, target, weight = source[counted], target[counted], weight[counted]
    has_edge = np.zeros(len(starts), np.bool_)
    has_edge[source] = has_edge[target] = True
    nodes = np.flatnonzero(has_edge)
    earned = np.zeros(len(starts))
    if not nodes.size or not starts[nodes].any():
        return earned
    own = starts[nodes] / starts[nodes].sum()
    position = np.cumsum(has_edge) - 1
    rank = _page_rank(position[source], position[target], weight, own, damping)
    started = own > 0
    # The least ratio belongs to a node that receives nothing but its starts.
    floor = (rank[started] / own[started]).min()
    earned[nodes] = np.maximum(rank - floor * own, 0)
    total = earned.sum()
    return earned / total if total else earned


def tiers(file_rank: NDArray[np.floating]) -> Codes:
    """Returns the tier of each file, of TIERS. Files of rank 0 are peripheral."""
    order = np.argsort(-file_rank, kind="stable")
    above = np.empty(len(file_rank))
    above[order] = np.cumsum(file_rank[order], dtype=np.float64) - file_rank[order]
    is_of = {
        Tier.PERIPHERAL: file_rank <= 0,
        Tier.CORE: above < CORE_SHARE,
        Tier.SIGNIFICANT: above < SIGNIFICANT_SHARE,
    }
    codes = [TIERS.index(tier) for tier in is_of]
    return np.select(list(is_of.values()), codes, TIERS.index(Tier.PERIPHERAL)).astype(np.uint8)


def module_order(graph: Graph, links: Links, rank: NDArray[np.floating]) -> Numbers:
    """Returns the files with code, highest rank first; among equal ones flagged files come last."""
    order = np.lexsort((flagged_files(graph), -rank))
    return order[_has_code(graph, links)[order]].astype(np.int32)


def _has_code(graph: Graph, links: Links) -> NDArray[np.bool_]:
    """Returns by file whether it has a definition, a dependency or a dependent."""
    codes = [code for code, kind in enumerate(SYMBOL_KINDS) if kind in DEFINITION_KINDS]
    has_code = np.zeros(len(graph.files), np.bool_)
    has_code[graph.symbols.file[np.isin(graph.symbols.kind, codes)]] = True
    has_code[links.source] = has_code[links.target] = True
    return has_code


def _page_rank(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.floating],
    own: Weights,
    damping: float,
) -> Weights:
    """Power iteration over nodes numbered from 0. Weights of parallel edges add up; ranks are not normalized.

    At a node without edges, the walk restarts in the proportions `own`: that scales all ranks alike.
    """
    share = damping * weight / np.bincount(source, weight, len(own))[source]
    begun = (1 - damping) * own
    rank = begun
    for _ in range(ITERATIONS_MAX):
        before = rank
        rank = begun + np.bincount(target, share * before[source], len(own))
        if np.abs(rank - before).sum() < TOLERANCE * rank.sum():
            break
    return rank
