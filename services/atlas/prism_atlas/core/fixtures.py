"""Edges from tests to the fixtures of pytest that they ask for by name.

A name means the nearest fixture: of the class and its base classes, of the file, of what the file imports, of the
`conftest.py` files from its folder up. A fixture elsewhere, as of a plugin, is a candidate if no other has its name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    NONE,
    ROLES,
    STRATEGIES,
    SymbolTable,
)
from prism_atlas.core.overriding import INHERITS
from prism_atlas.core.roles import Role
from prism_atlas.core.rows import Rows, rows_of
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy

CONFTEST = "conftest.py"
EDGE_COLUMNS = 6
BASES_MAX = 50

_CALLS = EDGE_KINDS.index(EdgeKind.CALLS)
_RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)
_CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)
_FIXTURE = STRATEGIES.index(Strategy.FIXTURE)


class _Requester(NamedTuple):
    """What asks for a fixture: its node, its type or NONE, its file, and the line of its name."""

    node: int
    owner: int
    file: int
    line: int


def fixture_rows(symbols: SymbolTable, paths: Sequence[str], roles: Rows, edges: Rows) -> Rows:
    """Returns edge rows from what asks for fixtures to the fixtures.

    `roles` has node, role and the number of a name; `edges` has source, target, kind, status, strategy, line.
    """
    fixtures: dict[int, list[int]] = {}
    for node, _, name in roles[roles[:, 1] == ROLES.index(Role.FIXTURE)].tolist():
        fixtures.setdefault(name, []).append(node)
    scopes = _Scopes(symbols, paths, edges, fixtures)
    rows = [
        (one.node, found, _CALLS, status, _FIXTURE, one.line)
        for node, _, name in roles[roles[:, 1] == ROLES.index(Role.REQUEST)].tolist()
        for one in [scopes.requester(node)]
        for found, status in scopes.find(one, fixtures.get(name, ()))
    ]
    return np.unique(rows_of(rows, EDGE_COLUMNS), axis=0)


class _Scopes:
    """Where a fixture is visible."""

    def __init__(
        self,
        symbols: SymbolTable,
        paths: Sequence[str],
        edges: Rows,
        fixtures: Mapping[int, Sequence[int]],
    ) -> None:
        self._symbols = symbols
        self._paths = paths
        inherits = edges[INHERITS[edges[:, 2]]]
        self._bases: dict[int, list[int]] = {}
        for source, target in inherits[:, :2].tolist():
            self._bases.setdefault(source, []).append(target)
        every = np.array([node for found in fixtures.values() for node in found], np.int32)
        imported = edges[np.isin(edges[:, 1], every) & (edges[:, 0] >= len(symbols))]
        self._imported = {(source, target) for source, target in imported[:, :2].tolist()}

    def requester(self, node: int) -> _Requester:
        """Returns what asks, at a node."""
        symbols = self._symbols
        if node >= len(symbols):
            return _Requester(node, NONE, node - len(symbols), 1)
        owner = int(symbols.parent[node])
        return _Requester(node, owner, int(symbols.file[node]), int(symbols.name_line[node]))

    def find(self, one: _Requester, named: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yields the fixture that a name means, with the status of the edge."""
        others = [node for node in named if node != one.node]
        if not others:
            return
        for scope in (self._of_types(one, others), self._of_file(one, others), self._of_folders(one, others)):
            if scope:
                yield scope[-1], _RESOLVED
                return
        if len(others) == 1:
            yield others[0], _CANDIDATE

    def _of_types(self, one: _Requester, named: Sequence[int]) -> list[int]:
        types, position = [one.node, one.owner], 0
        while position < len(types) < BASES_MAX:
            types += [base for base in self._bases.get(types[position], ()) if base not in types]
            position += 1
        found = [node for node in named if self._owner(node) in types and self._owner(node) != NONE]
        # The last is the nearest: bases come after what extends them.
        return sorted(found, key=lambda node: -types.index(self._owner(node)))

    def _owner(self, node: int) -> int:
        return int(self._symbols.parent[node])

    def _of_file(self, one: _Requester, named: Sequence[int]) -> list[int]:
        file = len(self._symbols) + one.file
        imported = [node for node in named if (file, node) in self._imported]
        own = [node for node in named if self._symbols.file[node] == one.file and self._owner(node) == NONE]
        return imported + own

    def _of_folders(self, one: _Requester, named: Sequence[int]) -> list[int]:
        """Returns those of the `conftest.py` files around, the nearest last."""
        path = self._paths[one.file]
        found = [
            (len(folder), node)
            for node in named
            for folder, _, name in [self._paths[self._symbols.file[node]].rpartition("/")]
            if name == CONFTEST and (not folder or path.startswith(f"{folder}/"))
        ]
        return [node for _, node in sorted(found)]
