"""From the references of a file to edges: what each means, and how that is known.

A reference is *resolved* if imports, scopes, receivers or inheritance lead from it to a definition, a *candidate* if the name
is all that speaks for one and nothing against it. What leads elsewhere is no edge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    TYPE_KINDS,
    VALUE_KINDS,
    Binding,
    EdgeStatus,
    Reference,
    ReferenceKind,
    Strategy,
    SymbolKind,
)
from prism_resolver.expressions import OWN_OBJECT, steps_of
from prism_resolver.facts import FileFacts
from prism_resolver.inference import STEPS_MAX, Inference, Where
from prism_resolver.languages import ECMASCRIPT, IMPLICIT_OBJECT, family_of
from prism_resolver.modules import Sure
from prism_resolver.occurrences import Spot
from prism_resolver.program import Program
from prism_resolver.unit import INHERITS, Definition, Import, Spelled, Unit, callable_around
from prism_resolver.values import LOCAL, UNKNOWN, Place, Value, What

# Of a name that more definitions have, no one is more likely than another.
CANDIDATES_MAX = 8
# What a name may be that is used so, if the name is all that is known.
KINDS: Mapping[ReferenceKind, frozenset[SymbolKind]] = {
    ReferenceKind.CALL: CALLABLE_KINDS | TYPE_KINDS,
    ReferenceKind.IMPORT: CALLABLE_KINDS | TYPE_KINDS | VALUE_KINDS,
    ReferenceKind.EXTENDS: TYPE_KINDS,
    ReferenceKind.IMPLEMENTS: TYPE_KINDS,
    ReferenceKind.TYPE: TYPE_KINDS,
    ReferenceKind.ASSIGN: VALUE_KINDS,
    ReferenceKind.ALIAS: CALLABLE_KINDS | TYPE_KINDS | VALUE_KINDS,
    ReferenceKind.VALUE: CALLABLE_KINDS | TYPE_KINDS | VALUE_KINDS,
}


class Edge(NamedTuple):
    """A reference and a definition, or a file, that it means or may mean."""

    reference: int  # position in the references of its file
    target: Place
    status: EdgeStatus
    strategy: Strategy


class Sought(Enum):
    """Among what a name is looked for that nothing else is known of."""

    NOTHING = auto()
    OUTSIDE = auto()  # what stands outside of classes
    MEMBERS = auto()
    ALL = auto()


class NamedUse(NamedTuple):
    """A reference of which nothing is known but its name, by what decides which definitions it may mean."""

    language: str
    kind: ReferenceKind
    sought: Sought
    has_qualifier: bool


class Candidate(NamedTuple):
    """A definition of the name of a reference, by what decides whether it may be meant."""

    language: str
    kind: SymbolKind
    is_member: bool
    is_local: bool  # stands in a function


class Meaning(NamedTuple):
    """What a reference means: places that were found, or a name that is all there is."""

    places: tuple[Place, ...] = ()
    status: EdgeStatus = EdgeStatus.RESOLVED
    strategy: Strategy = Strategy.NAME
    sought: Sought = Sought.NOTHING


def edges(program: Program, facts: FileFacts) -> Iterator[Edge]:
    """The edges of a file that was added to the program: at most CANDIDATES_MAX of a reference that only has a name."""
    resolver = Resolver(program, facts)
    for position, reference in enumerate(facts.references):
        yield from resolver.edges(position, reference, resolver.meaning(reference))


def may_mean(use: NamedUse, candidate: Candidate) -> bool:
    """Whether a definition may be what a reference to its name means."""
    if candidate.language not in family_of(use.language) or candidate.kind not in KINDS[use.kind]:
        return False
    if use.sought is Sought.NOTHING or (candidate.is_local and not _is_returned(candidate, use)):
        return False
    return use.sought is Sought.ALL or candidate.is_member == (use.sought is Sought.MEMBERS)


class Resolver:
    """Says what the references of one file mean. The program has the file."""

    def __init__(self, program: Program, facts: FileFacts) -> None:
        self._program = program
        self._inference = Inference(program)
        self._facts = facts
        self._unit: Unit = program.units[facts.id]
        self._depth = 0
        self._bound: dict[tuple[int, str], list[Binding]] = {}
        for binding in facts.bindings:
            around = callable_around(facts, binding.symbol)
            if around >= 0:
                self._bound.setdefault((around, binding.name), []).append(binding)

    def meaning(self, reference: Reference) -> Meaning:
        """What a reference of the file means: what a compiler's index says of it, or else what its rules lead to."""
        spots = self._spots(reference)
        if spots is None:
            return self._read(reference)
        if not spots:
            return self._outside(self._read(reference))
        try:
            places = tuple(self._made_by(place, reference) for place in self._defined_at(spots))
        except LookupError:
            return self._read(reference)
        return Meaning(places, strategy=Strategy.SCIP)

    def implementations(self) -> Iterator[tuple[Reference, Meaning]]:
        """What definitions of the file implement without a word of it, as in Go, by what an index says: as references that stand
        there, without a name, for none is written.
        """
        said = {(one.name, one.symbol) for one in self._facts.references if one.kind in INHERITS}
        for one in self._program.occurrences.implementations(self._facts.id, self._facts.blob):
            try:
                place = self._program.defined_at(Spot(self._facts.id, self._facts.blob, one.line, one.name))
                implemented = tuple(self._defined_at(one.implemented))
            except LookupError:
                continue
            if place is None or not implemented:
                continue
            name = self._program.definition(implemented[0]).name
            if (name, place.symbol) not in said:
                kind = ReferenceKind.IMPLEMENTS
                reference = Reference(name="", kind=kind, line=one.line, symbol=place.symbol)
                yield reference, Meaning(implemented, strategy=Strategy.SCIP)

    def _defined_at(self, spots: Iterable[Spot]) -> Iterator[Place]:
        """The symbols there. Raises LookupError if one of the files has changed since."""
        return (place for spot in spots if (place := self._program.defined_at(spot)) is not None)

    def _spots(self, reference: Reference) -> Sequence[Spot] | None:
        """Where an index says that a reference is defined; None if it says nothing of it. It knows no other names of imports."""
        find = partial(self._program.occurrences.find, self._facts.id, self._facts.blob, reference.line)
        known = map(find, [reference.name, *(one.name for one in self._unit.imports.get(reference.name, ()))])
        return next((spots for spots in known if spots is not None), None)

    def _outside(self, meaning: Meaning) -> Meaning:
        """What is left of a meaning if it is in no file of the repository."""
        units = self._program.units
        places = tuple(place for place in meaning.places if units[place.file].scope != self._unit.scope)
        return meaning._replace(places=places, sought=Sought.NOTHING)

    def _made_by(self, place: Place, reference: Reference) -> Place:
        """The class whose constructor is called by its name."""
        definition = self._program.definition(place)
        owner = definition.parent
        is_own = definition.kind is SymbolKind.CONSTRUCTOR and owner >= 0
        named = self._program.definition(Place(place.file, owner)).name if is_own else ""
        return Place(place.file, owner) if named == reference.name else place

    def _read(self, reference: Reference) -> Meaning:
        if reference.kind is ReferenceKind.IMPORT:
            return self._of_import(reference)
        if reference.qualifier:
            return self._of_member(reference)
        return self._of_name(reference)

    def edges(self, position: int, reference: Reference, meaning: Meaning) -> Iterator[Edge]:
        """The edges that follow from what a reference means, which has this position in its file."""
        for place in self._program.bodies(meaning.places):
            yield Edge(position, place, meaning.status, meaning.strategy)
        if meaning.sought is not Sought.NOTHING:
            yield from self._candidate_edges(position, reference, meaning.sought)
        if reference.kind is ReferenceKind.IMPORT:
            known = set(meaning.places)
            yield from (edge for edge in self._modules(position, reference) if edge.target not in known)

    def _candidate_edges(self, position: int, reference: Reference, sought: Sought) -> Iterator[Edge]:
        places = self._candidates(reference, sought)
        strategy = Strategy.ONLY_DEFINITION if len(places) == 1 else Strategy.NAME
        if len(places) <= CANDIDATES_MAX:
            yield from (Edge(position, place, EdgeStatus.CANDIDATE, strategy) for place in places)

    def _candidates(self, reference: Reference, sought: Sought) -> Sequence[Place]:
        """The definitions that have the name of a reference and may be what it means; of many, one more than CANDIDATES_MAX."""
        named = self._program.named(reference.name)
        if len(named) <= CANDIDATES_MAX:
            return self._bodies_of(named, reference, sought)
        # All that `may_mean` asks of a reference: a name that thousands have is looked through once a language.
        alike = (reference.name, reference.kind, sought, self._unit.language, bool(reference.qualifier))
        memory = self._program.candidates
        if alike not in memory:
            memory[alike] = self._bodies_of(named, reference, sought)[: CANDIDATES_MAX + 1]
        return memory[alike]

    def _bodies_of(self, named: Iterable[Place], reference: Reference, sought: Sought) -> Sequence[Place]:
        return self._program.bodies(tuple(filter(partial(self.may_mean, reference, sought), named)))

    def may_mean(self, reference: Reference, sought: Sought, place: Place) -> bool:
        """Whether a definition of the name may be what a reference means of which nothing else is known."""
        unit, definition = self._program.units[place.file], self._program.definition(place)
        use = NamedUse(self._unit.language, reference.kind, sought, bool(reference.qualifier))
        is_member = "." in definition.qualified_name
        is_local = _is_local(unit, definition)
        return may_mean(use, Candidate(unit.language, definition.kind, is_member, is_local))

    def _modules(self, position: int, reference: Reference) -> Iterator[Edge]:
        """The file that an import names, be it for one of its names. A package of many files is shown by its first."""
        located = self._program.locate(self._unit, reference.qualifier)
        others = [unit for unit in located.units if unit.id != self._facts.id]
        if others:
            place = Place(others[0].id, -1)
            value = Value(What.MODULE, (place,), located.sure, Strategy.IMPORT)
            if located.sure is Sure.YES:
                yield Edge(position, place, EdgeStatus.RESOLVED, self._strategy(value))
            else:
                yield Edge(position, place, EdgeStatus.CANDIDATE, Strategy.IMPORT)

    def _of_import(self, reference: Reference) -> Meaning:
        local = reference.alias or reference.name
        one = Import(local, reference.name, reference.qualifier, range(0))
        value = self._program.brought(self._unit, one)
        if value.what is What.MODULE:
            return Meaning()  # `modules` has it
        return self._told(value, Sought.OUTSIDE)

    def _of_name(self, reference: Reference) -> Meaning:
        where = self._where(reference.symbol, reference.line)
        value = self._inference.name_at(reference.name, where)
        return self._told(value, Sought.ALL if self._may_be_own(where) else Sought.OUTSIDE)

    def _may_be_own(self, where: Where) -> bool:
        """Whether a name without an object may be a member of the class around."""
        return self._unit.language in IMPLICIT_OBJECT and bool(where.inside)

    def _of_member(self, reference: Reference) -> Meaning:
        steps = steps_of(reference.qualifier)
        value = self._inference.value_of(steps, self._where(reference.symbol, reference.line))
        member = self._inference.member_of(value, reference.name)
        is_own = len(steps) == 1 and steps[0].name in OWN_OBJECT  # a class below may have what its own lacks
        if not member.is_told and not is_own and self._inference.lacks(value, reference.name):
            return Meaning()
        is_object = is_own or value.what in {What.OBJECT, What.BASES}
        return self._told(member, Sought.MEMBERS if is_object else Sought.ALL)

    def _told(self, value: Value, otherwise: Sought) -> Meaning:
        if value.what is What.SYMBOL:
            if value.sure is Sure.YES:
                return Meaning(value.places, EdgeStatus.RESOLVED, self._strategy(value))
            return Meaning(value.places, EdgeStatus.CANDIDATE, Strategy.NAME)
        if value.what is What.UNKNOWN:
            return Meaning(status=EdgeStatus.CANDIDATE, sought=otherwise)
        return Meaning()

    def _strategy(self, value: Value) -> Strategy:
        """How it was found; what lies in another repository, by the package that this one depends on."""
        is_far = any(self._program.units[place.file].scope != self._unit.scope for place in value.places)
        return Strategy.PACKAGE if is_far else value.strategy

    def _where(self, symbol: int, line: int) -> Where:
        inside = self._facts.symbols[symbol].qualified_name if symbol >= 0 else ""
        return Where(self._unit, inside, line, partial(self._local, symbol, line))

    def _local(self, symbol: int, line: int, name: str) -> Value | None:
        """What a variable of the functions around a symbol is known to hold on a line; None if there is no such variable."""
        while symbol >= 0:
            before = [one for one in self._bound.get((symbol, name), ()) if one.line <= line]
            if before:
                value = self._made(max(before, key=lambda one: one.line))
                return value if value.is_told else LOCAL
            symbol = self._facts.symbols[symbol].parent
        if (
            name not in self._unit.imports
            and name not in self._unit.named
            and ("", name) in self._unit.variables
        ):
            return self._inference.variable_at(name, Where(self._unit, line=line))
        return None

    def _made(self, binding: Binding) -> Value:
        if self._depth > STEPS_MAX:
            return UNKNOWN  # `x = x.next()`, a hundred times
        self._depth += 1
        value = self._find_made(binding)
        self._depth -= 1
        return value

    def _find_made(self, binding: Binding) -> Value:
        where = self._where(binding.symbol, binding.line)._replace(
            local=partial(self._local, binding.symbol, binding.line - 1)
        )
        return self._inference.made(Spelled(binding.type, binding.made_by, binding.line, where.inside), where)


def _is_returned(candidate: Candidate, use: NamedUse) -> bool:
    """Whether a function in a function may be what a reference means elsewhere: a member of the object that is returned."""
    return candidate.language in ECMASCRIPT and use.has_qualifier


def _is_local(unit: Unit, definition: Definition) -> bool:
    """Whether a definition stands in a function, and is known there only."""
    parent = definition.parent
    return parent >= 0 and unit.definitions[parent].kind in CALLABLE_KINDS
