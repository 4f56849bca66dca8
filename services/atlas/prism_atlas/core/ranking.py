"""How much of a repository hangs on a file or a symbol: PageRank over what uses what.

The rank of a node is what a walker's time at it is worth that follows uses, and now and then starts anew somewhere. What a
node gets from such starts says nothing about it and is taken off: a file that nothing uses has rank 0, and all ranks of
files add up to 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import SYMBOL_KINDS, Codes, Graph, Numbers
from prism_atlas.core.links import QUIET_WEIGHT, Links, Weights, quiet_files
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.rpc.maps import Tier

DAMPING = 0.85
TOLERANCE = 1e-6  # of all rank, from one step to the next
ITERATIONS_MAX = 200
# Of all rank, what files of a tier and of those above it have together.
CORE_SHARE = 0.5
SIGNIFICANT_SHARE = 0.9


TIERS = tuple(Tier)
DEFINITION_KINDS = CALLABLE_KINDS | TYPE_KINDS


@dataclass(frozen=True, slots=True)
class Ranks:
    """Shares that add up to 1, or are all 0."""

    file: NDArray[np.float32]
    node: NDArray[np.float32]  # of symbols and of files' top levels: what they get from other files
    tier: Codes  # by file, of TIERS


def ranks_of_files(graph: Graph, links: Links) -> NDArray[np.float32]:
    """The ranks of files by what files use them."""
    return file_ranks(links, _starts(graph)).astype(np.float32)


def ranks_of_nodes(graph: Graph, weights: Weights) -> NDArray[np.float32]:
    """The ranks of nodes by what nodes of other files use them. `weights` are those of edges."""
    return _node_ranks(graph, weights, _starts(graph)).astype(np.float32)


def _starts(graph: Graph) -> Weights:
    return np.where(quiet_files(graph), QUIET_WEIGHT, 1.0)


def _node_ranks(graph: Graph, weights: Weights, starts: Weights) -> Weights:
    """Helpers get all of the rank of who alone uses them: what comes from the same file says nothing to others."""
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
    """The ranks of files for a walker that starts at files in these proportions."""
    return earned_ranks(links.source, links.target, links.weight, starts, damping)


def earned_ranks(
    source: Numbers,
    target: Numbers,
    weight: NDArray[np.floating],
    starts: Weights,
    damping: float = DAMPING,
) -> Weights:
    """PageRank (Page et al., 1999) of nodes, without what each gets from starts. `starts` has a weight a node."""
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
    # A node that is only started at has the least rank for its starts.
    floor = (rank[started] / own[started]).min()
    earned[nodes] = np.maximum(rank - floor * own, 0)
    total = earned.sum()
    return earned / total if total else earned


def tiers(file_rank: NDArray[np.floating]) -> Codes:
    """The tier of each file, of TIERS. Files of rank 0 are peripheral."""
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
    """The files of code by rank, the highest first; of equal ones those last that say little about what matters."""
    order = np.lexsort((quiet_files(graph), -rank))
    return order[_has_code(graph, links)[order]].astype(np.int32)


def _has_code(graph: Graph, links: Links) -> NDArray[np.bool_]:
    """By file, whether it defines something, or something hangs on it or it on something."""
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
    """Of nodes from 0 on, by power iteration, up to a factor. Weights of edges between the same nodes add up.

    A walker that comes to a node without edges starts anew, in the proportions `own`: that raises all ranks by one factor.
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
