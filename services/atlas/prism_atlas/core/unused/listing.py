"""Definitions without a use in the graph, by group, and which of them use each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import rustworkx

from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Mask, Numbers
from prism_atlas.core.hierarchy import CALLABLE, IS_TYPE
from prism_atlas.core.roles import Role
from prism_atlas.core.unused.reach import Links, UseLinks, special_members, use_links
from prism_atlas.core.unused.rules import CALLED_NAMES, EXAMINED, LISTED_KINDS
from prism_contracts.code import Flag
from prism_contracts.rpc.unused import UnusedGroup

IS_LISTED = np.isin(SYMBOL_KINDS, list(LISTED_KINDS))


class Findings(NamedTuple):
    """What nothing uses, as masks by symbol."""

    unused: Mask
    exported: Mask
    tests_only: Mask

    def group_of(self, node: int) -> UnusedGroup:
        """Returns the group of a node that one of them has."""
        if self.tests_only[node]:
            return UnusedGroup.TESTS_ONLY
        return UnusedGroup.EXPORTED if self.exported[node] else UnusedGroup.UNUSED

    @property
    def every(self) -> Numbers:
        """All nodes, in order."""
        return np.flatnonzero(self.unused | self.exported | self.tests_only).astype(np.int32)


@dataclass(frozen=True)
class Unreached:
    """The walks over a graph. `public` has the symbols that other repositories can import."""

    graph: Graph
    links: UseLinks
    examined: Mask  # symbols that may be listed
    public: Mask
    in_tests: Mask

    def findings(self, doubted: Sequence[int] = ()) -> Findings:
        """Returns what nothing uses. What the doubted definitions use counts as used, and they are left out."""
        symbols = len(self.graph.symbols)
        by_code = self.links.reached(np.append(self._code(), np.asarray(doubted, np.int64)).astype(np.int64))
        public = np.append(np.flatnonzero(self.public & self.examined), self._imported()).astype(np.int64)
        by_exports = self.links.reached(np.append(public, np.flatnonzero(by_code)).astype(np.int64))
        by_tests = self.links.reached(np.flatnonzero(self.in_tests).astype(np.int64))
        is_public = np.zeros(symbols, np.bool_)
        is_public[public] = True
        open_ = self.examined & ~by_code[:symbols]
        exported = open_ & is_public & ~self._used_by_exports(by_code, by_exports)
        left = exported | (open_ & ~by_exports[:symbols])
        tests_only = left & by_tests[:symbols]
        return Findings(left & ~exported & ~tests_only, exported & ~tests_only, tests_only)

    def _code(self) -> Numbers:
        """Returns what runs by itself: the top level of files, entry points, and what is not examined."""
        graph = self.graph
        symbols = graph.symbols
        top_levels = len(symbols) + np.flatnonzero(~graph.flagged(Flag.TEST))
        written_elsewhere = (graph.files.flags != graph.strings.find(""))[symbols.file]
        alone = ~self.examined & (written_elsewhere | (symbols.parent == NONE))
        others = np.flatnonzero(alone & ~self.in_tests[: len(symbols)])
        return np.concatenate([top_levels, others, graph.entries.node]).astype(np.int32)

    def _imported(self) -> Numbers:
        """Returns what files import, outside of tests: they may import it only to export it."""
        sources, targets = self.links.imports
        return np.unique(targets[~self.in_tests[sources]]).astype(np.int32)

    def _used_by_exports(self, by_code: Mask, by_exports: Mask) -> Mask:
        """Returns by symbol whether an exported definition uses it, other than those that it uses itself."""
        inside = by_exports & ~by_code
        nodes = np.flatnonzero(inside)
        position = np.full(self.links.nodes, NONE, np.int64)
        position[nodes] = np.arange(len(nodes))
        pairs = self.links.pairs_within(inside)
        group = _cycles(len(nodes), position[pairs.source], position[pairs.target])
        apart = group[position[pairs.source]] != group[position[pairs.target]]
        used = pairs.target[apart]
        # What is in a type leads to the type: that is no use of it.
        within = _is_within(self.graph, pairs.source[apart], used)
        found = np.zeros(len(self.graph.symbols), np.bool_)
        used = used[~within]
        found[used[used < len(found)]] = True
        return found


def unreached(graph: Graph, is_public: Callable[[Graph], Mask]) -> Unreached:
    """Returns the walks over a graph."""
    in_tests = np.zeros(graph.nodes + 2 * len(graph.strings), np.bool_)
    in_tests[: graph.nodes] = graph.in_tests()
    in_tests[graph.with_role(Role.TEST)] = True
    examined = _examined(graph, in_tests)
    return Unreached(graph, use_links(graph, examined), examined, is_public(graph), in_tests)


def _examined(graph: Graph, in_tests: Mask) -> Mask:
    """Returns the symbols that may be listed: of known languages, written here, and run by no name of their own."""
    symbols, files = graph.symbols, graph.files
    languages = [number for number in np.unique(files.language) if graph.strings[number] in EXAMINED]
    in_file = np.isin(files.language, languages) & (files.flags == graph.strings.find(""))
    found: Mask = (
        in_file[symbols.file] & IS_LISTED[symbols.kind] & ~symbols.bodiless & ~in_tests[: len(symbols)]
    )
    found &= ~special_members(graph)
    has_parent = symbols.parent != NONE
    is_value = ~CALLABLE[symbols.kind] & ~IS_TYPE[symbols.kind]
    found &= ~(is_value & has_parent)
    for number in languages:
        pattern = CALLED_NAMES.get(graph.strings[number])
        if pattern is not None:
            own = np.flatnonzero(found & (files.language[symbols.file] == number))
            named = [node for node in own.tolist() if pattern.match(graph.strings[symbols.name[node]])]
            found[named] = False
    found &= symbols.name != graph.strings.find("")
    return found


def _cycles(count: int, source: Links, target: Links) -> Links:
    """Returns by node the number of its group of nodes that use each other."""
    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(count))
    graph.add_edges_from_no_data(list(zip(source.tolist(), target.tolist(), strict=True)))
    found = np.zeros(count, np.int64)
    for number, group in enumerate(rustworkx.strongly_connected_components(graph)):
        found[list(group)] = number
    return found


def _is_within(graph: Graph, source: Links, target: Links) -> Mask:
    """Returns by use whether its source is in its target."""
    symbols = graph.symbols
    found = np.zeros(len(source), np.bool_)
    both = np.flatnonzero((source < len(symbols)) & (target < len(symbols)))
    same_file = symbols.file[source[both]] == symbols.file[target[both]]
    inner, outer = source[both], target[both]
    found[both] = (
        same_file
        & (symbols.start_line[inner] >= symbols.start_line[outer])
        & (symbols.end_line[inner] <= symbols.end_line[outer])
    )
    return found
