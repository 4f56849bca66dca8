"""Which overload of a function a line calls, and which constructor makes an object.

A reference means a function with all its overloads. Its edge leads to the overload that the arguments fit, if they
decide, and to all that they may fit, if they do not. Objects are made by calling their type.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    REFERENCE_KINDS,
    STRATEGIES,
    SYMBOL_KINDS,
    Graph,
    Numbers,
)
from prism_atlas.core.hierarchy import constructed, with_constructors
from prism_atlas.core.overriding import CONSTRUCTOR_NAMES
from prism_atlas.core.uses import UseTable
from prism_contracts.code import CALLABLE_KINDS, EdgeKind, EdgeStatus, ReferenceKind, Strategy, SymbolKind
from prism_resolver.parameters import OVERLOADS

_CALLS = EDGE_KINDS.index(EdgeKind.CALLS)
_CALL = REFERENCE_KINDS.index(ReferenceKind.CALL)
_IMPORT = REFERENCE_KINDS.index(ReferenceKind.IMPORT)
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)
_CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)
_OVERLOAD = STRATEGIES.index(Strategy.OVERLOAD)
_CONSTRUCTOR = SYMBOL_KINDS.index(SymbolKind.CONSTRUCTOR)
_CALLABLE = np.isin(SYMBOL_KINDS, list(CALLABLE_KINDS))


class _Reached(NamedTuple):
    """The definitions that a line of a function calls for sure, and those that it may call."""

    sure: set[int]
    possible: set[int]


class Overloads:
    """The definitions of one or several functions, and which of them each line calls."""

    def __init__(self, graph: Graph, definitions: Sequence[int]) -> None:
        self._graph = graph
        symbols = graph.symbols
        self._functions = [node for node in definitions if _CALLABLE[symbols.kind[node]]]
        parameters: dict[int, set[int]] = {}
        for node in filter(self._is_overloaded, self._functions):
            parameters.setdefault(int(symbols.qualified_name[node]), set()).add(int(symbols.contract[node]))
        self.are_several = any(len(found) > 1 for found in parameters.values())
        self.types = self._types_made_by(definitions)
        self._reached = self._lines([*definitions, *self.types]) if self.are_several or self.types else {}

    def wanted(self, asked: Sequence[int]) -> set[int]:
        """Returns all definitions of the overloads that are asked for: a declaration and its body are one."""
        symbols = self._graph.symbols
        known = {(int(symbols.qualified_name[node]), int(symbols.contract[node])) for node in asked}
        return {
            node
            for node in self._functions
            if (int(symbols.qualified_name[node]), int(symbols.contract[node])) in known
        }

    def narrowed(self, uses: UseTable, wanted: set[int]) -> UseTable:
        """Returns the uses of some definitions, and as candidates those that may be theirs."""
        graph = self._graph
        meant, others = self._meaning(wanted), self._meaning({*self._functions, *self.types} - wanted)
        sources = graph.references.source[uses.reference].tolist()
        lines = graph.references.line[uses.reference].tolist()
        kinds = graph.references.kind[uses.reference].tolist()
        is_only_maker = not self._has_other_makers(wanted)
        status, strategy, kept = uses.status.copy(), uses.strategy.copy(), []
        for row, (reference, source, line, kind) in enumerate(
            zip(uses.reference.tolist(), sources, lines, kinds, strict=True)
        ):
            reached = self._reached.get((source, line)) if kind == _CALL else None
            if reached and (reached.sure | reached.possible) - self.types:
                if not wanted & (reached.sure | reached.possible):
                    continue
                is_sure = bool(wanted & reached.sure)
            elif self.types and reference not in meant:
                if kind != _CALL:
                    continue
                is_sure = is_only_maker
            elif (reference not in meant and reference not in others) or kind == _IMPORT:
                is_sure = True  # by its name only, or under an alias: as it was
            elif reference not in meant:
                continue
            else:
                is_sure = reference not in others
            kept.append(row)
            if not is_sure and status[row] == _RESOLVED:
                status[row], strategy[row] = _CANDIDATE, _OVERLOAD
        rows = np.array(kept, np.int64)
        found = uses._replace(status=status, strategy=strategy).at(rows)
        order = np.lexsort((np.arange(len(rows)), found.status == _CANDIDATE))
        return found.at(order)

    def reached_by(self, reference: int) -> tuple[str, ...]:
        """Returns the overloads that the line of a reference calls for sure, as `file:line`."""
        graph = self._graph
        if not self.are_several or graph.references.kind[reference] != _CALL:
            return ()
        at = (int(graph.references.source[reference]), int(graph.references.line[reference]))
        reached = self._reached.get(at)
        return tuple(self._place(node) for node in sorted(reached.sure - self.types)) if reached else ()

    def _place(self, node: int) -> str:
        graph = self._graph
        return f"{graph.path(int(graph.symbols.file[node]))}:{int(graph.symbols.name_line[node])}"

    def _is_overloaded(self, node: int) -> bool:
        graph = self._graph
        return graph.strings[graph.files.language[graph.symbols.file[node]]] in OVERLOADS

    def _types_made_by(self, definitions: Sequence[int]) -> set[int]:
        """Returns the types of definitions that are all constructors; none otherwise."""
        graph, symbols = self._graph, self._graph.symbols
        if not all(
            symbols.kind[node] == _CONSTRUCTOR or graph.strings[symbols.name[node]] in CONSTRUCTOR_NAMES
            for node in definitions
        ):  # the common case
            return set()
        makers = np.array(definitions, np.int32)
        found = constructed(self._graph, makers)
        owners = self._graph.symbols.parent[makers]
        return set(found.tolist()) if len(makers) and np.isin(owners, found).all() else set()

    def _has_other_makers(self, wanted: set[int]) -> bool:
        """Whether the types have another constructor than the wanted ones."""
        symbols = self._graph.symbols
        contracts = {int(symbols.contract[node]) for node in wanted}
        return any(
            int(symbols.contract[node]) not in contracts
            for type_ in self.types
            for node in with_constructors(self._graph, type_).tolist()
            if node != type_
        )

    def _lines(self, definitions: Sequence[int]) -> dict[tuple[int, int], _Reached]:
        edges = self._graph.edges
        found: dict[tuple[int, int], _Reached] = {}
        for node in definitions:
            into = self._graph.edges_in(node)
            into = into[edges.kind[into] == _CALLS]
            for source, line, status in zip(
                edges.source[into].tolist(),
                edges.line[into].tolist(),
                edges.status[into].tolist(),
                strict=True,
            ):
                reached = found.setdefault((source, line), _Reached(set(), set()))
                (reached.sure if status == _RESOLVED else reached.possible).add(node)
        return found

    def _meaning(self, nodes: set[int]) -> set[int]:
        parts: list[Numbers] = [self._graph.meaning(node) for node in nodes]
        return set(np.concatenate(parts).tolist()) if parts else set()
