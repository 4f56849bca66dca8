"""Classes of Python that satisfy a protocol without naming it, by the names of their methods.

A protocol is a class with the base `Protocol`. Parameters are not compared. Neither are properties and attributes, which
a class may set in any method.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache

import numpy as np

from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph, Numbers
from prism_atlas.core.traversal import follow, step, traverse
from prism_contracts.code import EdgeKind, SymbolKind

LANGUAGE = "python"
HEIGHT_MAX = 10

_METHOD = SYMBOL_KINDS.index(SymbolKind.METHOD)
_CLASS = SYMBOL_KINDS.index(SymbolKind.CLASS)


class Protocols:
    """The protocols of a graph, and what satisfies them."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        bases = graph.outside_bases
        nodes = bases.node[bases.name == graph.strings.find("Protocol")]
        nodes = nodes[nodes < len(graph.symbols)]
        is_python = graph.files.language[graph.symbols.file[nodes]] == graph.strings.find(LANGUAGE)
        self.nodes = frozenset(nodes[is_python & (graph.symbols.kind[nodes] == _CLASS)].tolist())
        self._having = cache(self._find_having)
        self._fitting = cache(lambda protocol: frozenset(self.satisfying(protocol).tolist()))

    def satisfying(self, protocol: int) -> Numbers:
        """Returns the classes that have all methods of a protocol and do not extend it."""
        wanted = self._methods(protocol)
        if not wanted:
            return np.array([], np.int32)
        having = set.intersection(*(set(self._having(self._name(method))) for method in wanted))
        return np.array(sorted(having - self.nodes - self._with_subclasses({protocol})), np.int32)

    def satisfied(self, type_: int) -> Numbers:
        """Returns the protocols whose methods a class has, without those that it extends."""
        return np.array([one for one in sorted(self.nodes) if type_ in self.satisfying(one)], np.int32)

    def implemented(self, methods: Iterable[int]) -> list[int]:
        """Returns the methods of protocols that some methods implement: those of the name, if the class satisfies it."""
        symbols = self._graph.symbols
        found = []
        for method in methods:
            owner = int(symbols.parent[method])
            declared = self._owners(self._name(method)) if owner != NONE else {}
            found += [
                one
                for protocol, one in declared.items()
                if protocol in self.nodes
                and not self._with_subclasses({owner}).isdisjoint(self._fitting(protocol))
            ]
        return found

    def _methods(self, protocol: int) -> list[int]:
        """Returns the methods of a protocol and of those that it extends; with decorators only if all have some."""
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

    def _find_having(self, name: str) -> Collection[int]:
        return self._with_subclasses(set(self._owners(name)))

    def _owners(self, name: str) -> dict[int, int]:
        """Returns the methods of a name by their classes."""
        symbols = self._graph.symbols
        named = self._graph.named(name)
        named = named[(symbols.kind[named] == _METHOD) & (symbols.parent[named] != NONE)]
        return {int(symbols.parent[node]): int(node) for node in named.tolist()}

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
        found = np.flatnonzero(reached[: len(self._graph.symbols)])
        return set(found[self._graph.symbols.kind[found] == _CLASS].tolist())

    def _name(self, node: int) -> str:
        return self._graph.strings[self._graph.symbols.name[node]]
