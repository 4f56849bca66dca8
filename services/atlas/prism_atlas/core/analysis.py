"""Figures about a whole graph: links between files, ranks, communities."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from prism_atlas.core.communities import Communities, communities
from prism_atlas.core.graph import Graph, Numbers
from prism_atlas.core.layers import layers_of
from prism_atlas.core.links import Links, Weights, edge_weights, file_links, flagged_files
from prism_atlas.core.ranking import Ranks, module_order, ranks_of_files, ranks_of_nodes, tiers


@dataclass(frozen=True, slots=True)
class Analysis:
    """A graph with the links, ranks and communities of its files and symbols. Immutable arrays throughout."""

    graph: Graph
    links: Links
    ranks: Ranks
    communities: Communities
    modules: Numbers  # files with code, highest rank first

    @classmethod
    def of(cls, graph: Graph, before: "Analysis | None" = None) -> "Analysis":
        """Analyze a graph. Results of `before` with equal inputs are reused: most edits change no link."""
        weights = edge_weights(graph)
        links = file_links(graph, weights)
        if (
            before
            and _is_same(links, before.links)
            and _is_same(flagged_files(graph), flagged_files(before.graph))
        ):
            by_file, groups = before.ranks.file, before.communities
        else:
            by_file = ranks_of_files(graph, links)
            groups = communities(links, layers_of(graph), flagged_files(graph))
        if before and _has_same_edges(graph, weights, before.graph):
            by_node = before.ranks.node
        else:
            by_node = ranks_of_nodes(graph, weights)
        ranks = Ranks(by_file, by_node, tiers(by_file))
        return cls(graph, links, ranks, groups, module_order(graph, links, by_file))


def _has_same_edges(graph: Graph, weights: Weights, other: Graph) -> bool:
    """Whether two graphs are equal in everything that the ranks of nodes depend on."""
    tables = [
        (one.edges.source, one.edges.target, one.edges.kind, one.files.first_symbol, flagged_files(one))
        for one in (graph, other)
    ]
    is_alike = all(map(np.array_equal, *tables))
    return is_alike and np.array_equal(weights, edge_weights(other))  # compared last: it costs the most


def _is_same(one: Any, other: Any) -> bool:
    """Whether two arrays or two tables of arrays are equal."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return all(_is_same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
