"""Classes of Python that satisfy a protocol without naming it, by the names of their methods.

A protocol is a class with the base `Protocol` of `typing`. Parameters are not compared. Neither are methods with a
decorator, such as properties, if there are others, nor attributes, which a class may set in any method.
"""

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Numbers
from prism_atlas.core.traversal import follow, step, traverse
from prism_contracts.code import EdgeKind, SymbolKind

LANGUAGE = "python"
MODULES = ("typing", "typing_extensions")
HEIGHT_MAX = 10

_METHOD = SYMBOL_KINDS.index(SymbolKind.METHOD)
_CLASS = SYMBOL_KINDS.index(SymbolKind.CLASS)


class Protocols:
    """The protocols of a graph, and what satisfies them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        bases = graph.outside_bases
        modules = [graph.strings.find(name) for name in MODULES]
        is_protocol = (bases.name == graph.strings.find("Protocol")) & np.isin(bases.module, modules)
        nodes = bases.node[is_protocol]
        nodes = nodes[nodes < len(graph.symbols)]
        self.nodes = frozenset(nodes[self._is_class(nodes)].tolist())
        self._owners = cache(self._find_owners)
        self._having = cache(lambda name: frozenset(self._with_subclasses(set(self._owners(name)))))
        self._fitting = cache(lambda protocol: frozenset(self.satisfying(protocol).tolist()))

    def satisfying(self, protocol: int) -> Numbers:
        """Returns the classes that have all methods of a protocol and do not extend it."""
        wanted = self._methods(protocol)
        if not wanted:
            return np.array([], np.int32)
        having = frozenset.intersection(*(self._having(self._name(method)) for method in wanted))
        return np.array(sorted(having - self.nodes - self._with_subclasses({protocol})), np.int32)

    def satisfied(self, type_: int) -> Numbers:
        """Returns the protocols whose methods a class has, without those that it extends."""
        return np.array([one for one in sorted(self.nodes) if type_ in self.satisfying(one)], np.int32)

    def implemented(self, methods: Iterable[int]) -> list[int]:
        """Returns the methods of protocols that some methods implement: those of the name, if the class satisfies it."""
        if not self.nodes:
            return []
        found: list[int] = []
        for method in methods:
            owners = self._owners(self._name(method))
            owner = int(self._graph.symbols.parent[method])
            declared = [(one, node) for one, node in owners.items() if one in self.nodes]
            below = self._with_subclasses({owner}) if declared and owner in owners else set()
            found += [node for one, node in declared if not below.isdisjoint(self._fitting(one))]
        return found

    def _methods(self, protocol: int) -> list[int]:
        """Returns the methods of a protocol and of those that it extends; decorated ones only if there are no others."""
        symbols = self._graph.symbols
        owners = [one for one in self._lineage(protocol) if one in self.nodes]
        inside = [
            node
            for owner in owners
            for node in self._graph.symbols_of(int(symbols.file[owner]))
            if symbols.parent[node] == owner and symbols.kind[node] == _METHOD
        ]
        plain = [node for node in inside if symbols.start_line[node] == symbols.name_line[node]]
        return plain or inside

    def _find_owners(self, name: str) -> dict[int, int]:
        """Returns the methods of a name by their classes of Python."""
        symbols = self._graph.symbols
        named = self._graph.named(name)
        named = named[(symbols.kind[named] == _METHOD) & (symbols.parent[named] != NONE)]
        named = named[self._is_class(symbols.parent[named])]
        return {int(symbols.parent[node]): int(node) for node in named.tolist()}

    def _is_class(self, nodes: Numbers) -> NDArray[np.bool_]:
        """Returns whether each node is a class of Python."""
        symbols, files = self._graph.symbols, self._graph.files
        language = self._graph.strings.find(LANGUAGE)
        is_python = files.language[symbols.file[nodes]] == language
        found: NDArray[np.bool_] = is_python & (symbols.kind[nodes] == _CLASS)
        return found

    def _lineage(self, node: int) -> Iterator[int]:
        """Yields a class and its base classes, the nearest first."""
        level, seen = [node], set[int]()
        for _ in range(HEIGHT_MAX):
            yield from level
            seen.update(level)
            above = follow(
                self._graph, np.array(level, np.int32), [step([EdgeKind.EXTENDS], forward=True)]
            ).nodes
            level = [one for one in dict.fromkeys(above.tolist()) if one not in seen]
            if not level:
                return

    def _with_subclasses(self, classes: set[int]) -> set[int]:
        steps = [step([EdgeKind.EXTENDS], forward=False)]
        reached = (
            traverse(self._graph, np.array(sorted(classes), np.int32), steps, HEIGHT_MAX).distance != NONE
        )
        found = np.flatnonzero(reached[: len(self._graph.symbols)]).astype(np.int32)
        return set(found[self._is_class(found)].tolist())

    def _name(self, node: int) -> str:
        return self._graph.strings[self._graph.symbols.name[node]]
