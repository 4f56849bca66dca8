"""The program of a repository and its graph, updated file by file.

`add` stores what a file defines, `connect` resolves the references of the files that are `stale`. Both are
kept, so that after a change of one file only few others are resolved again.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.builder import EdgeRow, ExternalRow, FileRow, GraphBuilder, OutsideBaseRow
from prism_atlas.core.entries import entries_of
from prism_atlas.core.go_methods import contracts_of
from prism_atlas.core.graph import Graph
from prism_atlas.core.invalidation import ChangedNames, Dependents, changed_names, derived_names, names_used
from prism_atlas.core.overriding import CONSTRUCTOR_NAMES
from prism_atlas.core.references import ReferenceRow
from prism_atlas.core.roles import decorated_lines, roles_of
from prism_contracts.code import (
    CALLABLE_KINDS,
    EDGE_KINDS,
    TYPE_KINDS,
    VALUE_KINDS,
    EdgeKind,
    Reference,
    ReferenceKind,
)
from prism_resolver.facts import FileFacts, with_qualifier_uses
from prism_resolver.manifests import Packages
from prism_resolver.occurrences import Occurrences
from prism_resolver.parameters import OVERLOADS, without_marks
from prism_resolver.program import Program
from prism_resolver.resolution import UNTRACED, ReferenceEdge, Resolver
from prism_resolver.unit import DEFAULT, WHOLE_MODULE, Unit

_NUMBERS = np.int32
_SEPARATOR = re.compile(r"[./:\\]+")
_INHERITS = frozenset({ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS})


class ProgramFile(NamedTuple):
    """An indexed file, as the graph needs it."""

    facts: FileFacts
    generation: str
    lines: int


class Assembly:
    """Everything that the next graph of a repository is built from."""

    def __init__(self) -> None:
        self._program = Program()
        self._builder = GraphBuilder()
        self._numbers: dict[str, int] = {}
        self._used_names: dict[str, NDArray[np.int32]] = {}  # by file id
        self._derived_names: dict[str, NDArray[np.int32]] = {}  # pairs, by file id
        self._changed_units: dict[str, Unit] = {}  # by file id; removed files as they were
        self._changed_names: ChangedNames = {dependents: set() for dependents in Dependents}
        self._stale_files: set[str] = set()

    def set_packages(self, packages: Packages) -> None:
        """Replace the known packages. Every import may resolve differently now, so all files become stale."""
        self._program.set_packages(packages)
        self._stale_files |= set(self._used_names)

    def set_occurrences(self, occurrences: Occurrences) -> None:
        """Replace the compiler indexes, which override the rules. The files of changed ones become stale."""
        before, self._program.occurrences = self._program.occurrences, occurrences
        self._stale_files |= self._used_names.keys() & before.changed_files(occurrences)

    def add(self, file: ProgramFile) -> None:
        """Add a file with its definitions, or replace it."""
        facts = file.facts
        before = self._program.units.get(facts.id)
        self._program.add(facts)
        unit = self._program.units[facts.id]
        self._record_change(before, unit)
        self._used_names[facts.id] = self._numbered(names_used(unit, facts))
        pairs = [self._numbered(pair) for pair in set(derived_names(unit))]
        self._derived_names[facts.id] = np.array(pairs, _NUMBERS).reshape(-1, 2)
        self._stale_files.add(facts.id)
        self._builder.add(
            FileRow(file.lines, facts.path, facts.id, file.generation, facts.language, facts.flags),
            facts.symbols,
            entries_of(facts),
            _parameters(unit) if unit.language in OVERLOADS else contracts_of(facts),
            roles_of(facts),
        )

    def remove(self, file: str) -> None:
        """Remove a file."""
        before = self._program.units.get(file)
        if before is None:
            return
        self._record_change(before, None)
        self._program.remove(file)
        self._builder.remove(file)
        self._stale_files.discard(file)
        del self._used_names[file], self._derived_names[file]

    def stale(self) -> set[str]:
        """Returns the files to resolve: added ones, and those that the changes affect."""
        if self._changed_units:
            self._stale_files |= self._affected_files()
            # Indexes refer to lines: their targets may vanish or reappear without any change of names.
            occurrences = self._program.occurrences
            using = occurrences.using(self._changed_units) | occurrences.implementing(self._changed_units)
            self._stale_files |= self._used_names.keys() & using
            self._changed_units.clear()
            self._changed_names = {dependents: set() for dependents in Dependents}
        return set(self._stale_files)

    def connect(self, facts: FileFacts) -> None:
        """Resolve the references of a stale file."""
        resolver = Resolver(self._program, facts)
        # The parser's references come first. A use before a dot becomes an edge only if it calls the class: `Depot.new`.
        every = with_qualifier_uses(facts)
        rows = [ReferenceRow(reference, resolver.meaning(reference)) for reference in every.references]
        implementing = [ReferenceRow(*one) for one in resolver.implementations()]
        found = [
            edge
            for position, (reference, meaning) in enumerate(rows)
            if position < len(facts.references) or reference.kind is ReferenceKind.CALL
            for edge in resolver.edges(position, reference, meaning)
        ]
        for position, meaning in resolver.implied_calls([row.meaning for row in rows]):
            rows.append(ReferenceRow(facts.references[position], meaning))
            found += resolver.edges(position, facts.references[position], meaning)
        rows += implementing
        self._builder.connect(
            facts.id,
            (*_edge_rows(every, found), *self._implementing_rows(facts, implementing)),
            _external_rows(facts, found),
            filter(self._is_relevant, rows),
            _outside_bases(facts, self._program.units[facts.id], found),
        )
        self._stale_files.discard(facts.id)

    def graph(self) -> Graph:
        """Returns the graph. Call it when no file is stale."""
        return self._builder.build()

    def _record_change(self, before: Unit | None, after: Unit | None) -> None:
        unit = after or before
        if unit is None or len(self._stale_files) == len(self._used_names):  # all files are stale anyway
            return
        self._changed_units[unit.id] = unit
        for dependents, names in changed_names(self._program, before, after).items():
            self._changed_names[dependents] |= names

    def _is_relevant(self, row: ReferenceRow) -> bool:
        """Whether a reference resolves within the repository, or its name or alias is defined or exported there."""
        reference, meaning = row
        if meaning == UNTRACED:
            return False
        named = self._program.named
        is_named = named(reference.name) or (reference.alias and named(reference.alias))
        return bool(meaning.targets or is_named or self._program.is_other_name(reference.name))

    def _implementing_rows(self, facts: FileFacts, rows: Iterable[ReferenceRow]) -> Iterator[EdgeRow]:
        """Types implement types; members override members, except constructors."""
        for reference, meaning in rows:
            symbol = facts.symbols[reference.symbol]
            kind = EdgeKind.IMPLEMENTS if symbol.kind in TYPE_KINDS else EdgeKind.OVERRIDES
            if kind is EdgeKind.IMPLEMENTS or symbol.name not in CONSTRUCTOR_NAMES:
                for place in self._program.main_definitions(meaning.targets):
                    yield EdgeRow(
                        reference.symbol, place, kind, meaning.status, meaning.strategy, reference.line
                    )

    def _numbered(self, names: Iterable[str]) -> NDArray[np.int32]:
        numbers = self._numbers
        return np.array([numbers.setdefault(name, len(numbers)) for name in names], _NUMBERS)

    def _affected_files(self) -> set[str]:
        """Returns the files that use a name which may resolve differently now."""
        files = list(self._used_names)
        owner = np.repeat(np.arange(len(files)), [len(used) for used in self._used_names.values()])
        used_names = _joined(self._used_names.values())

        def users_of(names: NDArray[np.bool_]) -> set[str]:
            return {files[file] for file in np.unique(owner[names[used_names]]).tolist()}

        potential_readers = users_of(self._named(self._changed_names[Dependents.POTENTIAL_READERS]))
        units = self._program.units
        readers = self._program.dependents(
            [*self._changed_units.values(), *(units[file] for file in potential_readers)]
        )
        affected_readers = readers & users_of(self._affected_names(readers))
        users = users_of(self._named(self._changed_names[Dependents.USERS]))
        return potential_readers | users | affected_readers

    def _named(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Returns by number of a name whether it is one of `names`."""
        is_named = np.zeros(len(self._numbers), np.bool_)
        is_named[[self._numbers[name] for name in names if name in self._numbers]] = True
        return is_named

    def _affected_names(self, readers: Iterable[str]) -> NDArray[np.bool_]:
        """Returns by number of a name whether it may resolve differently in readers of a changed file."""
        touched = self._named(set().union(*self._changed_names.values()))
        pairs = _joined(self._derived_names[file] for file in readers if file in self._derived_names).reshape(
            -1, 2
        )
        while True:
            reached = pairs[touched[pairs[:, 0]] & ~touched[pairs[:, 1]], 1]
            if not reached.size:
                return touched
            touched[reached] = True


def _parameters(unit: Unit) -> list[str]:
    """Returns the parameters of each function of a file, and of what holds one; empty for other symbols."""
    called = CALLABLE_KINDS | VALUE_KINDS
    callables = (one if one.kind in called else None for one in unit.definitions)
    return [without_marks(one.parameters) if one else "" for one in callables]


def _joined(parts: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, _NUMBERS), *(part.ravel() for part in parts)])


def _edge_rows(facts: FileFacts, found: Iterable[ReferenceEdge]) -> Iterator[EdgeRow]:
    # What decorates a symbol is used by it: `@cached`, `@Uses(Depot.class)`, the cases of `@parametrize(…)`.
    decorated = decorated_lines(facts)
    for edge in found:
        reference = facts.references[edge.reference]
        yield EdgeRow(
            decorated.get(reference.line, reference.symbol),
            edge.target,
            EDGE_KINDS[reference.kind],
            edge.status,
            edge.strategy,
            reference.line,
        )


def _outside_bases(facts: FileFacts, unit: Unit, found: Iterable[ReferenceEdge]) -> Iterator[OutsideBaseRow]:
    """Yields the supertypes that the file declares and that have no edge."""
    answered = {edge.reference for edge in found}
    for position, reference in enumerate(facts.references):
        if reference.kind in _INHERITS and position not in answered:
            name, module = _imported(unit, reference)
            kind = EDGE_KINDS[reference.kind]
            yield OutsideBaseRow(reference.symbol, name, module, reference.line, kind)


def _imported(unit: Unit, reference: Reference) -> tuple[str, str]:
    """Returns the name of a type where it is defined, and the module that the file imports it from."""
    imports = unit.imports.get(reference.qualifier or reference.name, ())
    one = next((one for one in imports if reference.line in one.lines), None)
    if one is None:
        return reference.name, reference.qualifier
    if reference.qualifier:
        is_module = one.name in {WHOLE_MODULE, "", *_SEPARATOR.split(one.module)[-1:]}
        joiner = "::" if unit.language == "rust" else "."
        return reference.name, one.module if is_module else f"{one.module}{joiner}{one.name}"
    return (reference.name if one.name in {WHOLE_MODULE, DEFAULT, ""} else one.name), one.module


def _external_rows(facts: FileFacts, found: Iterable[ReferenceEdge]) -> Iterator[ExternalRow]:
    """Returns the imports that have no edge."""
    answered = {edge.reference for edge in found}
    outside = {
        ExternalRow(reference.qualifier or reference.name, reference.line)
        for position, reference in enumerate(facts.references)
        if reference.kind is ReferenceKind.IMPORT and position not in answered
    }
    yield from sorted(outside)
