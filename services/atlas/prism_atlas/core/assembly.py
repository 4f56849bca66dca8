"""The program of a repository and the graph that grows from it, file by file.

First every file says what it defines (`add`), then the references of those that are `stale` are looked up (`connect`). What
was said stays, so that after a change of one file few others are looked at again.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.builder import EdgeRow, ExternalRow, FileRow, GraphBuilder
from prism_atlas.core.entries import entries_of
from prism_atlas.core.graph import Graph
from prism_atlas.core.outside import names_held, names_passed_on, touched_names
from prism_atlas.core.overriding import MAKERS
from prism_atlas.core.references import ReferenceRow
from prism_contracts.code import EDGE_KINDS, TYPE_KINDS, EdgeKind, ReferenceKind
from prism_graph.facts import FileFacts, with_uses_before_dots
from prism_graph.manifests import Packages
from prism_graph.occurrences import Occurrences
from prism_graph.program import Program
from prism_graph.resolution import Edge, Resolver
from prism_graph.unit import Unit

_NUMBERS = np.int32


class SourceFile(NamedTuple):
    """A file as the index has it."""

    facts: FileFacts
    generation: str
    lines: int


class Assembly:
    """Everything that the next graph of a repository is made of."""

    def __init__(self) -> None:
        self._program = Program()
        self._builder = GraphBuilder()
        self._numbers: dict[str, int] = {}
        self._held: dict[str, NDArray[np.int32]] = {}  # by id of the file
        self._passed_on: dict[str, NDArray[np.int32]] = {}  # by id of the file, two a row
        self._touched: set[str] = set()  # names
        self._rewritten: set[str] = set()  # ids of files
        self._unconnected: set[str] = set()

    def know(self, packages: Packages) -> None:
        """Have other manifests say what packages there are: every import may mean something else now."""
        self._program.know(packages)
        self._unconnected |= set(self._held)

    def learn(self, occurrences: Occurrences) -> None:
        """Have these indexes of compilers go before the rules: in the files of those that are new or gone."""
        before, self._program.occurrences = self._program.occurrences, occurrences
        self._unconnected |= self._held.keys() & before.files_unlike(occurrences)

    def add(self, file: SourceFile) -> None:
        """A file with what it defines, in the place of what it was before."""
        facts = file.facts
        before = self._program.units.get(facts.id)
        self._program.add(facts)
        unit = self._program.units[facts.id]
        self._touch(facts.id, before, unit)
        self._held[facts.id] = self._numbered(names_held(unit, facts))
        pairs = [self._numbered(pair) for pair in set(names_passed_on(unit))]
        self._passed_on[facts.id] = np.array(pairs, _NUMBERS).reshape(-1, 2)
        self._unconnected.add(facts.id)
        self._builder.add(
            FileRow(file.lines, facts.path, facts.id, file.generation, facts.language, facts.flags),
            facts.symbols,
            entries_of(facts),
        )

    def remove(self, file: str) -> None:
        """Forget a file."""
        before = self._program.units.get(file)
        if before is None:
            return
        self._touch(file, before, None)
        self._program.remove(file)
        self._builder.remove(file)
        self._unconnected.discard(file)
        del self._held[file], self._passed_on[file]

    def stale(self) -> set[str]:
        """The files whose references have to be looked up: those that were added, and those that use what they changed."""
        if self._touched:
            self._unconnected |= self._users()
            self._touched.clear()
        if self._rewritten:
            # An index speaks of lines: what it says leads nowhere, or somewhere again, whatever the names there.
            occurrences = self._program.occurrences
            using = occurrences.using(self._rewritten) | occurrences.implementing(self._rewritten)
            self._unconnected |= self._held.keys() & using
            self._rewritten.clear()
        return set(self._unconnected)

    def connect(self, facts: FileFacts) -> None:
        """Look up the references of a file that is stale."""
        resolver = Resolver(self._program, facts)
        # Those of the parser come first: they make edges, uses before dots do not.
        references = with_uses_before_dots(facts).references
        told = [ReferenceRow(reference, resolver.meaning(reference)) for reference in references]
        implementing = [ReferenceRow(*one) for one in resolver.implementations()]
        found = [
            edge
            for position, (reference, meaning) in enumerate(told[: len(facts.references)])
            for edge in resolver.edges(position, reference, meaning)
        ]
        told += implementing
        self._builder.connect(
            facts.id,
            (*_edge_rows(facts, found), *self._implementing_rows(facts, implementing)),
            _external_rows(facts, found),
            (row for row in told if row.meaning.places or self._program.named(row.reference.name)),
        )
        self._unconnected.discard(facts.id)

    def graph(self) -> Graph:
        """The graph of what was added, when nothing is stale any more."""
        return self._builder.build()

    def _touch(self, file: str, before: Unit | None, after: Unit | None) -> None:
        if len(self._unconnected) < len(self._held):  # else all are to be looked at anyway
            self._touched |= touched_names(self._program, before, after)
            self._rewritten.add(file)

    def _implementing_rows(self, facts: FileFacts, rows: Iterable[ReferenceRow]) -> Iterator[EdgeRow]:
        """Types implement types; members override members, unless they make an object."""
        for reference, meaning in rows:
            symbol = facts.symbols[reference.symbol]
            kind = EdgeKind.IMPLEMENTS if symbol.kind in TYPE_KINDS else EdgeKind.OVERRIDES
            if kind is EdgeKind.IMPLEMENTS or symbol.name not in MAKERS:
                for place in self._program.bodies(meaning.places):
                    yield EdgeRow(
                        reference.symbol, place, kind, meaning.status, meaning.strategy, reference.line
                    )

    def _numbered(self, names: Iterable[str]) -> NDArray[np.int32]:
        numbers = self._numbers
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], _NUMBERS)

    def _users(self) -> set[str]:
        """The files that hold a name that may mean something else now."""
        files = list(self._held)
        owner = np.repeat(np.arange(len(files)), [len(held) for held in self._held.values()])
        touched = self._all_touched()[_joined(self._held.values())]
        return {files[file] for file in np.unique(owner[touched]).tolist()}

    def _all_touched(self) -> NDArray[np.bool_]:
        """By number of a name, whether it may mean something else now."""
        touched = np.zeros(len(self._numbers), np.bool_)
        touched[[self._numbers[name] for name in self._touched if name in self._numbers]] = True
        pairs = _joined(self._passed_on.values()).reshape(-1, 2)
        while True:
            reached = pairs[touched[pairs[:, 0]] & ~touched[pairs[:, 1]], 1]
            if not reached.size:
                return touched
            touched[reached] = True


def _joined(parts: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, _NUMBERS), *(part.ravel() for part in parts)])


def _edge_rows(facts: FileFacts, found: Iterable[Edge]) -> Iterator[EdgeRow]:
    for edge in found:
        reference = facts.references[edge.reference]
        yield EdgeRow(
            reference.symbol,
            edge.target,
            EDGE_KINDS[reference.kind],
            edge.status,
            edge.strategy,
            reference.line,
        )


def _external_rows(facts: FileFacts, found: Iterable[Edge]) -> Iterator[ExternalRow]:
    """The imports that no edge comes from."""
    answered = {edge.reference for edge in found}
    outside = {
        ExternalRow(reference.qualifier or reference.name, reference.line)
        for position, reference in enumerate(facts.references)
        if reference.kind is ReferenceKind.IMPORT and position not in answered
    }
    yield from sorted(outside)
