"""Resolves the references of a file to edges, each with its status and the strategy that found it.

A reference is *resolved* if imports, scopes, receivers or inheritance lead from it to a definition. It is a
*candidate* if only the name supports the definition and nothing contradicts it. A reference to anything else
has no edge.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cached_property, partial
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    LAMBDA_TYPE,
    TYPE_KINDS,
    UNKNOWN_TYPE,
    VALUE_KINDS,
    Binding,
    EdgeStatus,
    Reference,
    ReferenceKind,
    Strategy,
    SymbolKind,
)
from prism_resolver.expressions import ABSOLUTE, OWN_VARIABLE, TOP, Step, is_own_object, steps_of
from prism_resolver.facts import FileFacts
from prism_resolver.fixtures import fixture_parameters, modules_around
from prism_resolver.inference import STEPS_MAX, Inference, Location
from prism_resolver.languages import (
    BASE_OBJECTS,
    BASES_ARE_NAMED,
    BLOCKS_HAVE_OBJECTS,
    BUILTIN,
    C_FAMILY,
    CALL_METHODS,
    CALLS_WHAT_IS_HELD,
    ECMASCRIPT,
    EXPORTS,
    EXTENDS_FOREIGN_TYPES,
    IMPLICIT_OBJECT,
    JVM,
    LOCALS_HIDE_NO_MODULE,
    METHODS_APART,
    METHODS_ARE_CALLED,
    ONLY_MEMBERS_OF_RESULTS,
    PROPERTIES_ARE_CALLED,
    READS_OF_LOCALS,
    READS_UNKNOWN,
    SEES_NO_NAMESPACE,
    TYPES_APART,
    family_of,
)
from prism_resolver.modules import Certainty
from prism_resolver.occurrences import DefinitionSite
from prism_resolver.parameters import OVERLOADS, best_fitting, fits, types_given_functions
from prism_resolver.program import LocatedModule, Program, symbol_value
from prism_resolver.unit import (
    INHERITS,
    WHOLE_MODULE,
    Import,
    Unit,
    UnitDefinition,
    UnresolvedType,
    enclosing_callable,
)
from prism_resolver.values import EXTERNAL, LOCAL, UNKNOWN, SymbolRef, Value, ValueKind

# A string, an array or a regular expression, whose members are the language's.
_LITERAL = re.compile(r"""['"`\[/]""")
# `method.getAnnotation(Depot.class)` in Java.
_ANNOTATION = re.compile(r"(?:.+\.)?get(?:Declared)?Annotation\(\s*([\w.]+)\.class\s*\)", re.DOTALL)
# The start of a name in the standard library of C++.
_IN_STANDARD = re.compile(r"(?:::)?std\b")
# Raised when the same code gets other edges, so that stored graphs are built again.
RULES = 28
# More than a file has.
LINES_MAX = 1 << 31
# If more definitions share a name, none is likely enough to report.
CANDIDATES_MAX = 8
# The same for a member that is read from a variable of unknown type.
READ_CANDIDATES_MAX = 3
# Functions that a called field may hold: a table of commands has hundreds.
STORED_MAX = 500
# The kinds of symbols that a reference may mean if only its name is known.
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


# Calls of another constructor, of the class or of its base class, by language.
_CONSTRUCTOR_CALLS: Mapping[str, frozenset[str]] = {
    "csharp": frozenset({"base", "this"}),
    "java": frozenset({"super", "this"}),
    "kotlin": frozenset({"super", "this"}),
}


# Types that take no function, which interfaces and delegates do.
_CLASSES = frozenset({SymbolKind.CLASS, SymbolKind.STRUCT, SymbolKind.ENUM})


# Types of TypeScript that no value has the name of.
_TYPES_ONLY = frozenset({SymbolKind.INTERFACE, SymbolKind.TYPE})


class ReferenceEdge(NamedTuple):
    """A reference, and a definition or file that it means or may mean."""

    reference: int  # position in the references of its file
    target: SymbolRef
    status: EdgeStatus
    strategy: Strategy


class LookupKind(Enum):
    """The definitions among which a name is looked up if nothing else is known about it."""

    NOTHING = auto()
    OUTSIDE = auto()  # definitions outside of classes
    MEMBERS = auto()
    ALL = auto()


class NamedUse(NamedTuple):
    """An unresolved reference, reduced to what decides which definitions it may mean."""

    language: str
    kind: ReferenceKind
    lookup: LookupKind
    has_qualifier: bool


class CandidateDefinition(NamedTuple):
    """A definition with the name of a reference, reduced to what decides whether it may be meant."""

    language: str
    kind: SymbolKind
    is_member: bool
    is_local: bool  # defined in a function
    is_called: bool = False  # a value that holds a function, as its type says


class Meaning(NamedTuple):
    """What a reference means: the targets that were found, or where to look its name up."""

    targets: tuple[SymbolRef, ...] = ()
    status: EdgeStatus = EdgeStatus.RESOLVED
    strategy: Strategy = Strategy.NAME
    lookup: LookupKind = LookupKind.NOTHING


# A member that is read from a variable of unknown type: too many have its name for any to be worth a guess.
UNTRACED = Meaning(status=EdgeStatus.CANDIDATE)


def edges(program: Program, facts: FileFacts) -> Iterator[ReferenceEdge]:
    """Yields the edges of a file of the program: at most CANDIDATES_MAX for a reference with only a name."""
    resolver = Resolver(program, facts)
    meanings = [resolver.meaning(reference) for reference in facts.references]
    for position, reference in enumerate(facts.references):
        yield from resolver.edges(position, reference, meanings[position])
    for position, meaning in resolver.implied_calls(meanings):
        yield from resolver.edges(position, facts.references[position], meaning)


def may_mean(use: NamedUse, candidate: CandidateDefinition) -> bool:
    """Returns whether a reference may mean a definition of its name."""
    if candidate.language not in family_of(use.language):
        return False
    is_property = candidate.kind is SymbolKind.PROPERTY and use.language in PROPERTIES_ARE_CALLED
    is_called = (candidate.is_called or is_property) and use.kind is ReferenceKind.CALL
    if candidate.kind not in KINDS[use.kind] and not is_called:
        return False
    if use.lookup is LookupKind.NOTHING or (candidate.is_local and not _is_returned(candidate, use)):
        return False
    return use.lookup is LookupKind.ALL or candidate.is_member == (use.lookup is LookupKind.MEMBERS)


def is_member(language: str, kind: SymbolKind, qualified_name: str) -> bool:
    """Returns whether a definition belongs to a type or an object: its name follows a dot.

    The object of a method in JavaScript may have no name: `run({ open() {} })`.
    """
    return "." in qualified_name or (kind is SymbolKind.METHOD and language in ECMASCRIPT)


class Resolver:
    """Resolves the references of one file of a program."""

    def __init__(self, program: Program, facts: FileFacts) -> None:
        self._program = program
        self._inference = Inference(program)
        self._facts = facts
        self._unit: Unit = program.units[facts.id]
        self._base_object = Step(BASE_OBJECTS.get(facts.language, "super"))
        self._depth = 0
        self._bound_values: dict[int, Value] = {}  # by identity of a binding of the file
        self._local_bindings: dict[tuple[int, str], list[Binding]] = {}
        for binding in facts.bindings:
            around = enclosing_callable(facts, binding.symbol)
            if around < 0 and binding.until:
                around = binding.symbol  # the closure is outside any function
            if around >= 0 or binding.until:
                self._local_bindings.setdefault((around, binding.name), []).append(binding)

    def meaning(self, reference: Reference) -> Meaning:
        """Resolves a reference of the file by a compiler's index, or else by the rules of the language."""
        sites = self._sites(reference) if self._program.occurrences.indexes else None
        if sites is None:
            return self._by_rules(reference)
        if not sites:
            own = self._by_rules(reference)
            # An indexer that finds an installed copy of the package calls the repository's own code external.
            is_own = bool(own.targets) and own.status is EdgeStatus.RESOLVED
            return own if is_own else self._outside_repository(own)
        try:
            refs = tuple(self._constructed_class(ref, reference) for ref in self._defined_at(sites))
        except LookupError:
            return self._by_rules(reference)
        return Meaning(refs, strategy=Strategy.SCIP)

    def implementations(self) -> Iterator[tuple[Reference, Meaning]]:
        """Yields what definitions of the file implement implicitly, as in Go, by a compiler's index.

        Each is a reference at the definition, with an empty name because the source has none.
        """
        declared = {(one.name, one.symbol) for one in self._facts.references if one.kind in INHERITS}
        for one in self._program.occurrences.implementations(self._facts.id, self._facts.blob):
            try:
                ref = self._program.defined_at(
                    DefinitionSite(self._facts.id, self._facts.blob, one.line, one.name)
                )
                implemented = tuple(self._defined_at(one.implemented))
            except LookupError:
                continue
            if ref is None or not implemented:
                continue
            name = self._program.definition(implemented[0]).name
            if (name, ref.symbol) not in declared:
                kind = ReferenceKind.IMPLEMENTS
                reference = Reference(name="", kind=kind, line=one.line, symbol=ref.symbol)
                yield reference, Meaning(implemented, strategy=Strategy.SCIP)

    def _defined_at(self, sites: Iterable[DefinitionSite]) -> Iterator[SymbolRef]:
        """Yields the symbols defined at the sites.

        Raises LookupError if one of the files has changed since.
        """
        return (ref for site in sites if (ref := self._program.defined_at(site)) is not None)

    def _sites(self, reference: Reference) -> Sequence[DefinitionSite] | None:
        """Returns where an index locates the definitions of a reference; None if it lacks the reference.

        An index uses the original name of an import, so this looks up aliases by both names.
        """
        find = partial(self._program.occurrences.find, self._facts.id, self._facts.blob, reference.line)
        known = map(find, [reference.name, *(one.name for one in self._unit.imports.get(reference.name, ()))])
        return next((sites for sites in known if sites is not None), None)

    def _outside_repository(self, meaning: Meaning) -> Meaning:
        """Returns the part of a meaning that is outside the repository."""
        units = self._program.units
        refs = tuple(ref for ref in meaning.targets if units[ref.file].scope != self._unit.scope)
        return meaning._replace(targets=refs, lookup=LookupKind.NOTHING)

    def _constructed_class(self, ref: SymbolRef, reference: Reference) -> SymbolRef:
        """Returns the class of a constructor that is called by the class name, else the symbol itself."""
        definition = self._program.definition(ref)
        owner = definition.parent
        is_own = definition.kind is SymbolKind.CONSTRUCTOR and owner >= 0
        named = self._program.definition(SymbolRef(ref.file, owner)).name if is_own else ""
        return SymbolRef(ref.file, owner) if named == reference.name else ref

    def _by_rules(self, reference: Reference) -> Meaning:
        if reference.kind is ReferenceKind.IMPORT:
            return self._import_meaning(reference)
        meaning = self._member_meaning(reference) if reference.qualifier else self._name_meaning(reference)
        if reference.kind is ReferenceKind.CALL and self._unit.language in OVERLOADS:
            inherited = self._inherited_overload(meaning.targets, reference.arguments)
            return meaning._replace(targets=inherited) if inherited else meaning
        return meaning

    def edges(self, position: int, reference: Reference, meaning: Meaning) -> Iterator[ReferenceEdge]:
        """Yields the edges of a reference, given its position in the file and its meaning."""
        refs, status = self.called(reference, meaning)
        for ref in refs:
            if not self._is_definition(reference, ref):
                yield ReferenceEdge(position, ref, status, meaning.strategy)
        if meaning.lookup is not LookupKind.NOTHING:
            yield from self._candidate_edges(position, reference, meaning.lookup)
        # A namespace of PHP is no file.
        if reference.kind is ReferenceKind.IMPORT and self._unit.language not in SEES_NO_NAMESPACE:
            known = set(meaning.targets)
            yield from (edge for edge in self._modules(position, reference) if edge.target not in known)

    def _is_definition(self, reference: Reference, ref: SymbolRef) -> bool:
        """Whether an assignment is what defines its target: `exports.open = function () {}`."""
        is_here = reference.kind is ReferenceKind.ASSIGN and ref.file == self._facts.id and ref.symbol >= 0
        return is_here and self._unit.name_lines[ref.symbol] == reference.line

    def called(self, reference: Reference, meaning: Meaning) -> tuple[Sequence[SymbolRef], EdgeStatus]:
        """Returns the definitions that a reference leads to: of overloads, those that its arguments fit.

        Several that fit, or none, are candidates. An object is made by the one constructor that fits; if several
        fit, only its type is sure.
        """
        program, refs = self._program, meaning.targets
        is_call = reference.kind is ReferenceKind.CALL and self._unit.language in OVERLOADS
        if not is_call or not refs or meaning.strategy is Strategy.SCIP:
            return program.main_definitions(refs), meaning.status
        known = (self._unit.language, reference.arguments, refs)
        if known not in program.chosen:
            program.chosen[known] = self._chosen(refs, reference.arguments)
        chosen, is_sure = program.chosen[known]
        return chosen, meaning.status if is_sure else EdgeStatus.CANDIDATE

    def _chosen(self, refs: tuple[SymbolRef, ...], arguments: str) -> tuple[Sequence[SymbolRef], bool]:
        """Returns the overloads that arguments fit, and whether they are sure."""
        program = self._program
        if program.definition(refs[0]).kind in TYPE_KINDS:
            makers = program.constructors(refs[0]) if arguments else ()
            chosen = self._fitting(makers, arguments) if len(makers) > 1 else ()
            if not chosen and self._unit.language == "kotlin":
                chosen = self._invoked(refs[0], arguments)
            return chosen if len(chosen) == 1 else program.main_definitions(refs), True
        everywhere = self._with_overloads_elsewhere(refs)
        known = program.overloads(everywhere)
        if len(known) == 1:
            return program.main_definitions(refs), True
        chosen = self._fitting(everywhere, arguments)
        return chosen or tuple(known), len(chosen) == 1

    def _invoked(self, ref: SymbolRef, arguments: str) -> Sequence[SymbolRef]:
        """Returns the `invoke` of a Kotlin class's companion, if a call of the class fits it and no constructor."""
        definition = self._program.definition(ref)
        if not arguments or fits("kotlin", definition.described_parameters or "()", arguments):
            return ()
        name = f"{definition.qualified_name}.invoke"
        inside = self._program.units[ref.file].named.get(name, ())
        return self._fitting([SymbolRef(ref.file, at) for at in inside], arguments)

    def _fitting(self, refs: Sequence[SymbolRef], arguments: str) -> Sequence[SymbolRef]:
        """Returns the functions among definitions of a name that arguments fit best."""
        known = self._program.overloads(refs)
        if LAMBDA_TYPE in arguments:
            known = {ref: every for ref, every in known.items() if self._may_take_functions(every, arguments)}
        functions = list(known)
        return tuple(
            functions[at] for at in best_fitting(self._unit.language, list(known.values()), arguments)
        )

    def _may_take_functions(self, declared: Sequence[str], arguments: str) -> bool:
        """Whether a function that is given as an argument may be taken: a class or a structure of the program is none."""
        types = types_given_functions(self._unit.language, declared[0], arguments)
        return not any(map(self._is_only_class, types))

    def _is_only_class(self, name: str) -> bool:
        """Whether all definitions of a name are classes that no function is converted to."""
        refs = self._program.named(name)
        return bool(refs) and all(self._program.definition(ref).kind in _CLASSES for ref in refs)

    def _with_overloads_elsewhere(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Adds the overloads of a member that other files define, in languages that allow it."""
        unit, definition = self._program.units[refs[0].file], self._program.definition(refs[0])
        if "." not in definition.qualified_name:
            return refs
        others = self._program.members_in_other_files(unit, definition.qualified_name)
        return tuple(dict.fromkeys((*refs, *(one for one in others if self._is_callable(one)))))

    def _inherited_overload(self, refs: tuple[SymbolRef, ...], arguments: str) -> tuple[SymbolRef, ...]:
        """Returns the overloads of the nearest base class that arguments fit, if they fit none of a class's own."""
        if not refs or not arguments:
            return ()
        known, inherited = (self._unit.language, arguments, refs), self._program.inherited_overloads
        if known not in inherited:
            inherited[known] = self._find_inherited_overload(refs, arguments)
        return inherited[known]

    def _find_inherited_overload(self, refs: tuple[SymbolRef, ...], arguments: str) -> tuple[SymbolRef, ...]:
        own = self._program.definition(refs[0])
        owner = own.qualified_name.rpartition(".")[0]
        if not owner or own.kind is not SymbolKind.METHOD:
            return ()
        if self._fitting(self._with_overloads_elsewhere(refs), arguments):
            return ()
        unit = self._program.units[refs[0].file]
        found = [
            ref
            for ref in self._inference.inherited_members(unit, owner, own.name)
            if fits(self._unit.language, self._program.definition(ref).described_parameters, arguments)
        ]
        owners = [(ref.file, self._program.definition(ref).qualified_name) for ref in found]
        return tuple(ref for ref, one in zip(found, owners, strict=True) if one == owners[0])

    def _is_callable(self, ref: SymbolRef) -> bool:
        return self._program.definition(ref).kind in CALLABLE_KINDS

    def _candidate_edges(
        self, position: int, reference: Reference, lookup: LookupKind
    ) -> Iterator[ReferenceEdge]:
        refs = self._candidates(reference, lookup)
        if reference.kind is ReferenceKind.IMPORT:
            refs = [ref for ref in refs if ref.file != self._facts.id]
        if steps_of(reference.qualifier)[:1] == (self._base_object,):
            refs = [ref for ref in refs if not self._is_of_class_around(ref, reference)]
        strategy = Strategy.ONLY_DEFINITION if len(refs) == 1 else Strategy.NAME
        # Too many properties share a name for one that is read from an unknown object to be worth a guess.
        is_read = reference.kind is ReferenceKind.VALUE and bool(reference.qualifier)
        # One without its type, as `.open` in Swift, is likely a case of an enumeration.
        is_read &= reference.qualifier != "." and not all(map(self._is_case, refs))
        if is_read and self._unit.language in READS_UNKNOWN:
            refs = self._read_members(reference, refs)
        elif is_read and self._unit.language in OVERLOADS:
            refs = refs if len(refs) == 1 else ()
        if len(refs) <= CANDIDATES_MAX:
            yield from (ReferenceEdge(position, ref, EdgeStatus.CANDIDATE, strategy) for ref in refs)

    def _is_of_class_around(self, ref: SymbolRef, reference: Reference) -> bool:
        """Whether a definition is a member of the class around a reference: what `super()` never means."""
        own = self._inference.own_class(self._location_of(reference.symbol, reference.line))
        owner = self._program.definition(ref).parent
        return own.kind is ValueKind.SYMBOL and SymbolRef(ref.file, owner) in own.symbols

    def _read_members(self, reference: Reference, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Returns what may be read from a variable of unknown type: no type, and none of many of a name."""
        if not reference.qualifier[:1].isupper():
            refs = [ref for ref in refs if self._program.definition(ref).kind not in TYPE_KINDS]
        return refs if len(refs) <= READ_CANDIDATES_MAX else ()

    def _is_case(self, ref: SymbolRef) -> bool:
        return self._program.definition(ref).kind is SymbolKind.CONSTANT

    def _candidates(self, reference: Reference, lookup: LookupKind) -> Sequence[SymbolRef]:
        """Returns the definitions that a reference may mean by name, at most CANDIDATES_MAX + 1."""
        named = self._program.named(reference.name)
        if len(named) <= CANDIDATES_MAX:
            return self._possible_definitions(named, reference, lookup)
        # Everything that `may_mean` reads of a reference, and its arguments: thousands of definitions are filtered
        # once per group.
        language, arguments = self._unit.language, reference.arguments
        group = (reference.name, reference.kind, lookup, language, bool(reference.qualifier), arguments)
        memory = self._program.candidates
        if group not in memory:
            memory[group] = self._possible_definitions(named, reference, lookup)[: CANDIDATES_MAX + 1]
        return memory[group]

    def _possible_definitions(
        self, named: Iterable[SymbolRef], reference: Reference, lookup: LookupKind
    ) -> Sequence[SymbolRef]:
        possible = tuple(filter(partial(self.may_mean, reference, lookup), named))
        if reference.arguments:
            possible = self._fitting_candidates(possible, reference.arguments)
        return self._program.main_definitions(possible)

    def _fitting_candidates(self, refs: Sequence[SymbolRef], arguments: str) -> tuple[SymbolRef, ...]:
        """Returns the functions whose parameters arguments fit, and other definitions, which have none.

        A class lists one of its overloads that fit.
        """
        language, definition = self._unit.language, self._program.definition
        return tuple(
            ref
            for ref in refs
            if not definition(ref).parameters
            or definition(ref).kind in TYPE_KINDS
            or fits(language, definition(ref).described_parameters, arguments)
        )

    def may_mean(self, reference: Reference, lookup: LookupKind, ref: SymbolRef) -> bool:
        """Returns whether an unresolved reference may mean a definition of its name."""
        unit, definition = self._program.units[ref.file], self._program.definition(ref)
        use = NamedUse(self._unit.language, reference.kind, lookup, bool(reference.qualifier))
        is_owned = is_member(unit.language, definition.kind, definition.qualified_name)
        is_local = _is_local(unit, definition)
        is_called = bool(definition.parameters) and definition.kind in VALUE_KINDS
        candidate = CandidateDefinition(unit.language, definition.kind, is_owned, is_local, is_called)
        return may_mean(use, candidate)

    def _modules(self, position: int, reference: Reference) -> Iterator[ReferenceEdge]:
        """Yields an edge to the file that an import names; for a package, to its first file."""
        located = self._program.locate(self._unit, reference.qualifier)
        if self._unit.language == "rust" and reference.name != WHOLE_MODULE:
            one = Import(reference.name, reference.name, reference.qualifier, range(0))
            named = self._program.imported_value(self._unit, one)
            if named.kind is ValueKind.MODULE:  # `mod depot;`, `use crate::depot;`
                located = LocatedModule(
                    tuple(self._program.units[ref.file] for ref in named.symbols), named.certainty
                )
        others = [unit for unit in located.units if unit.id != self._facts.id]
        if others:
            ref = SymbolRef(others[0].id, -1)
            value = Value(ValueKind.MODULE, (ref,), located.certainty, Strategy.IMPORT)
            if located.certainty is Certainty.YES:
                yield ReferenceEdge(position, ref, EdgeStatus.RESOLVED, self._strategy(value))
            else:
                yield ReferenceEdge(position, ref, EdgeStatus.CANDIDATE, Strategy.IMPORT)

    def _import_meaning(self, reference: Reference) -> Meaning:
        local = reference.alias or reference.name
        one = Import(local, reference.name, reference.qualifier, range(0))
        value = self._program.imported_value(self._unit, one)
        if self._unit.language == "csharp" and not value.is_known:
            value = self._inference.imported_type(reference.qualifier, self._unit)
        if self._unit.language == "cpp" and not value.is_known:  # `using shop::Depot;`
            value = self._program.included_value(self._unit, _dotted(reference).strip(":").replace("::", "."))
        if reference.alias or self._unit.language in ECMASCRIPT:
            value = self._whole(value)
        if value.kind is ValueKind.MODULE:
            return Meaning()  # `_modules` yields its edge
        return self._as_meaning(value, LookupKind.OUTSIDE)

    def _name_meaning(self, reference: Reference) -> Meaning:
        makers = _CONSTRUCTOR_CALLS.get(self._unit.language, ())
        if reference.kind is ReferenceKind.CALL and reference.name in makers:
            return self._constructor_call(reference)
        location = self._location_of(reference.symbol, reference.line)
        is_call = reference.kind is ReferenceKind.CALL and self._unit.language in METHODS_APART
        if is_call or (reference.kind is ReferenceKind.TYPE and self._unit.language in TYPES_APART):
            location = Location(self._unit, location.inside, location.line)
        value = self._whole(self._inference.name_at(reference.name, location))
        if self._is_only_type(value, reference):
            return Meaning()
        if is_call:
            value = self._method_around(value, reference.name, location)
        return self._as_meaning(
            value, LookupKind.ALL if self._may_be_member(location) else LookupKind.OUTSIDE
        )

    def _is_only_type(self, value: Value, reference: Reference) -> bool:
        """Whether a value of TypeScript is none of a type of its name: `new Response()` beside `interface Response`."""
        kinds = _TYPES_ONLY if self._unit.language in ECMASCRIPT and value.kind is ValueKind.SYMBOL else None
        if not kinds or any(self._program.definition(ref).kind not in kinds for ref in value.symbols):
            return False
        is_value = reference.kind is ReferenceKind.VALUE or (
            reference.kind is ReferenceKind.EXTENDS and self._is_class(reference.symbol)
        )
        is_builtin = reference.name in BUILTIN[self._unit.language]
        return reference.kind is ReferenceKind.CALL or (is_value and is_builtin)

    def _is_class(self, symbol: int) -> bool:
        return symbol >= 0 and self._facts.symbols[symbol].kind is SymbolKind.CLASS

    def _method_around(self, value: Value, name: str, location: Location) -> Value:
        """Returns the method of a class further out, if the nearest member of the name is a field: it is not called."""
        while value.kind is ValueKind.SYMBOL and all(map(self._is_field, value.symbols)):
            field = self._program.definition(value.symbols[0])
            owner = field.qualified_name.rpartition(".")[0]
            around = owner.rpartition(".")[0]
            if not around or value.symbols[0].file != self._unit.id:
                return value
            value = self._inference.name_at(name, location._replace(inside=around))
        return value

    def _is_field(self, ref: SymbolRef) -> bool:
        return ref.symbol >= 0 and self._program.definition(ref).kind in VALUE_KINDS

    def _constructor_call(self, reference: Reference) -> Meaning:
        """Resolves `this(…)` and `super(…)` in a constructor: they make the object by another constructor."""
        location = self._location_of(reference.symbol, reference.line)
        own = self._inference.own_class(location)
        if own.kind is not ValueKind.SYMBOL:
            return Meaning()
        value = own if reference.name == "this" else self._inference.base_class(own)
        return Meaning(value.symbols, strategy=Strategy.INHERITED) if value.symbols else Meaning()

    def _whole(self, value: Value) -> Value:
        """Returns what a CommonJS module is as a whole, for a value that is such a module."""
        whole = self._program.whole_export(value)
        return whole if whole.kind is ValueKind.SYMBOL else value

    def _may_be_member(self, location: Location) -> bool:
        """Returns whether a name without an object may be a member: of the class around, or of a block's object in Ruby."""
        is_inside = bool(location.inside) or self._unit.language in BLOCKS_HAVE_OBJECTS
        return self._unit.language in IMPLICIT_OBJECT and is_inside

    def _member_meaning(self, reference: Reference) -> Meaning:
        if reference.qualifier == ABSOLUTE:
            location = self._location_of(reference.symbol, reference.line)
            outside = self._inference.outside_namespaces(reference.name, location)
            return self._as_meaning(outside, LookupKind.NOTHING)
        if reference.qualifier == TOP and self._unit.language == "ruby":
            return self._as_meaning(self._inference.top_type(reference.name, self._unit), LookupKind.OUTSIDE)
        if reference.qualifier == OWN_VARIABLE:
            return self._property_of_variable(reference)
        is_assigned = reference.kind is ReferenceKind.ASSIGN and self._unit.language in ECMASCRIPT
        if is_assigned and reference.qualifier.removeprefix("module.") == EXPORTS:
            exported = self._program.member_of_exports(self._unit, reference.name)
            return self._as_meaning(exported, LookupKind.NOTHING)
        meaning = self._by_qualifier(reference)
        if self._unit.language == "cpp" and reference.kind is ReferenceKind.ASSIGN and not meaning.targets:
            meaning = self._base_made_by(reference) or meaning
        if _IN_STANDARD.match(reference.qualifier) and self._unit.language == "cpp" and meaning.targets:
            # What a repository adds to the standard library is seldom all that has the name.
            meaning = meaning._replace(status=EdgeStatus.CANDIDATE, strategy=Strategy.NAME)
        # In C, what a struct has are fields: `gate->open()` calls no function `open`.
        is_field = reference.kind is ReferenceKind.CALL and self._unit.language == "c"
        return meaning._replace(lookup=LookupKind.NOTHING) if is_field else meaning

    def _property_of_variable(self, reference: Reference) -> Meaning:
        """Returns the property that a variable of the own object in Ruby holds: `attr_reader :size` for `@size`."""
        location = self._location_of(reference.symbol, reference.line)
        own = self._inference.own_class(location)
        if own.kind is not ValueKind.SYMBOL:
            return Meaning()
        found = self._inference.member_of(own._replace(kind=ValueKind.INSTANCE), reference.name)
        kinds = {self._program.definition(ref).kind for ref in found.symbols}
        is_held = found.kind is ValueKind.SYMBOL and kinds == {SymbolKind.PROPERTY}
        return self._as_meaning(found, LookupKind.NOTHING) if is_held else Meaning()

    def _base_made_by(self, reference: Reference) -> Meaning | None:
        """Returns the base class that a constructor of C++ makes by its name: `Depot() : store(3) {}`."""
        if reference.qualifier != "this":
            return None
        value = self._inference.name_at(reference.name, self._location_of(reference.symbol, reference.line))
        is_type = (
            value.kind is ValueKind.SYMBOL and self._program.definition(value.symbols[0]).kind in TYPE_KINDS
        )
        return self._as_meaning(value, LookupKind.NOTHING) if is_type else None

    def implied_calls(self, meanings: Sequence[Meaning]) -> Iterator[tuple[int, Meaning]]:
        """Yields what calls run besides the symbol that they name, by position of the reference.

        That is the functions that a field in C or a table holds, and the method by which an object is called.
        `meanings` are those of the references.
        """
        yield from self.stored_calls()
        if self._unit.language in CALLS_WHAT_IS_HELD or self._unit.language in CALL_METHODS:
            for position, reference in enumerate(self._facts.references):
                if reference.kind is ReferenceKind.CALL and self._may_call_through(meanings[position]):
                    yield from ((position, meaning) for meaning in self._calls_through(reference))

    def _may_call_through(self, meaning: Meaning) -> bool:
        """Returns whether a call, by its meaning, may be one of an object or a variable."""
        if meaning.targets:
            ref = meaning.targets[0]
            return ref.symbol >= 0 and self._program.definition(ref).kind in VALUE_KINDS
        method = CALL_METHODS.get(self._unit.language)
        return (
            meaning.lookup is LookupKind.NOTHING and method is not None and bool(self._program.named(method))
        )

    def _calls_through(self, reference: Reference) -> Iterator[Meaning]:
        """Yields the meanings of a call of an object or of a variable of the program."""
        location = self._location_of(reference.symbol, reference.line)
        value = self._inference.value_of(steps_of(_dotted(reference)), location)
        if value.kind is ValueKind.SYMBOL:
            definitions = [
                (self._program.units[ref.file], self._program.definition(ref)) for ref in value.symbols
            ]
            if any(one.kind not in VALUE_KINDS for _, one in definitions):
                return
            held = [
                ref
                for unit, one in definitions
                for name in unit.held.get(one.qualified_name, ())[:STORED_MAX]
                for ref in self._function_named(name, unit)
            ]
            if held:
                yield Meaning(tuple(dict.fromkeys(held))[:STORED_MAX], EdgeStatus.CANDIDATE, Strategy.STORED)
            value = self._inference.variable_value(value)
        method = CALL_METHODS.get(self._unit.language)
        if method and value.kind is ValueKind.INSTANCE:
            called = self._inference.member_of(value, method)
            if called.kind is ValueKind.SYMBOL:
                yield self._as_meaning(called, LookupKind.NOTHING)

    def _function_named(self, name: UnresolvedType, unit: Unit) -> Sequence[SymbolRef]:
        """Returns the functions that a name in the initial value of a variable means."""
        value = self._inference.value_of(steps_of(name.type), Location(unit, name.inside, name.line))
        if value.kind is not ValueKind.SYMBOL:
            return ()
        return [ref for ref in value.symbols if self._program.definition(ref).kind in CALLABLE_KINDS]

    def stored_calls(self) -> Iterator[tuple[int, Meaning]]:
        """Yields the calls of fields in C that may run functions stored in them, by position of the reference."""
        if self._unit.language not in C_FAMILY:
            return
        for position, reference in enumerate(self._facts.references):
            if (
                reference.kind is ReferenceKind.CALL
                and reference.qualifier
                and (held := self._held(reference.name))
            ):
                yield position, Meaning(held, EdgeStatus.CANDIDATE, Strategy.STORED)

    def _held(self, field: str) -> tuple[SymbolRef, ...]:
        """Returns the functions that code stores in fields of a name."""
        if field not in self._program.held:
            values = (
                self._inference.name_at(name, Location(unit)) for unit, name in self._program.stored_in(field)
            )
            found = [ref for value in values if value.kind is ValueKind.SYMBOL for ref in value.symbols]
            functions = [ref for ref in found if self._program.definition(ref).kind in CALLABLE_KINDS]
            self._program.held[field] = tuple(dict.fromkeys(functions))[:STORED_MAX]
        return self._program.held[field]

    def _by_qualifier(self, reference: Reference) -> Meaning:
        if self._unit.language in ECMASCRIPT and _LITERAL.match(reference.qualifier):
            return Meaning()
        given = _ANNOTATION.fullmatch(reference.qualifier) if self._unit.language in JVM else None
        qualifier = f"{given[1]}()" if given else reference.qualifier  # an object of that type
        steps = steps_of(qualifier, subscripts=self._unit.language == "cpp")
        location = self._location_of(reference.symbol, reference.line)
        value = self._inference.value_of(steps, location)
        is_module = value.kind is ValueKind.MODULE
        module = self._module_behind(steps, location) if len(steps) == 1 and not is_module else UNKNOWN
        if module.is_known and not self._inference.member_of(value, reference.name).is_known:
            found = self._inference.member_of(module, reference.name)
            if found.kind is ValueKind.SYMBOL:  # `let depot = depot::open();`
                return self._as_meaning(found, LookupKind.ALL)
        if not value.is_known and self._is_read_from_local(reference, steps):
            return UNTRACED
        member = self._inference.member_of(value, reference.name)
        member = self._outside_type(member, value, reference, location)
        if value.kind is ValueKind.SUPER and not member.is_known and self._unit.language in BASES_ARE_NAMED:
            return Meaning()  # `super.reset()`: a base class of another repository has it
        # A subclass may have what this class lacks.
        is_own = len(steps) == 1 and is_own_object(steps[0].name, self._unit.language)
        is_missing = not member.is_known and not is_own and self._inference.lacks(value, reference.name)
        if is_missing or (value.kind is ValueKind.EXTERNAL and self._unit.language in EXTENDS_FOREIGN_TYPES):
            return self._added_member(reference)
        if value.kind is ValueKind.INSTANCE and self._unit.language in METHODS_ARE_CALLED:
            member = self._field_or_method(member, reference.kind)
        is_object = (
            is_own
            or value.kind in {ValueKind.INSTANCE, ValueKind.SUPER}
            or self._is_field_of_local(reference, steps, location)
            or (self._unit.language in ONLY_MEMBERS_OF_RESULTS and reference.qualifier.rstrip().endswith(")"))
        )
        member = self._whole(member)
        return self._as_meaning(member, LookupKind.MEMBERS if is_object else LookupKind.ALL)

    def _outside_type(self, member: Value, value: Value, reference: Reference, location: Location) -> Value:
        """Returns what a name after a dot means besides a member: an extension, or a name in a package or a namespace."""
        language, steps = self._unit.language, steps_of(reference.qualifier)
        found = UNKNOWN
        if language in SEES_NO_NAMESPACE and member.kind is not ValueKind.SYMBOL:
            found = self._inference.in_namespace(steps, reference.name, location)
        if language == "csharp" and not self._takes(member, reference):
            found = self._inference.extension_of(value, reference.name)
        if value.kind is ValueKind.UNKNOWN and language in JVM and reference.name[:1].isupper():
            return self._inference.value_of((*steps, Step(reference.name)), location)  # `town.shop.Depot`
        return found if found.is_known else member

    def _module_behind(self, steps: Sequence[Step], location: Location) -> Value:
        """Returns the module that a name means beside a variable of its name; unknown without one."""
        if self._unit.language not in LOCALS_HIDE_NO_MODULE or location.local(steps[0].name) is None:
            return UNKNOWN
        outside = self._inference.value_of(steps, Location(self._unit, location.inside, location.line))
        return outside if outside.kind is ValueKind.MODULE else UNKNOWN

    def _added_member(self, reference: Reference) -> Meaning:
        """Returns what may be called on an object whose type has no such member, by its name.

        That is a method of a trait of Rust, `impl<T> Walk for T`, or an extension of Kotlin, `fun <T> T.walk()`.
        """
        language = self._unit.language
        is_path = language == "rust" and (reference.qualifier[:1].isupper() or "::" in reference.qualifier)
        if language not in EXTENDS_FOREIGN_TYPES or reference.kind is not ReferenceKind.CALL or is_path:
            return Meaning()
        found = tuple(ref for ref in self._program.named(reference.name) if self._may_be_added(ref))
        if not found or len(found) > CANDIDATES_MAX:
            return Meaning()
        return Meaning(found, EdgeStatus.CANDIDATE, Strategy.NAME)

    def _may_be_added(self, ref: SymbolRef) -> bool:
        unit, definition = self._program.units[ref.file], self._program.definition(ref)
        if unit.language == "kotlin":
            return definition.kind is SymbolKind.FUNCTION and "." in definition.qualified_name
        return definition.parent >= 0 and unit.definitions[definition.parent].kind is SymbolKind.TRAIT

    def _takes(self, member: Value, reference: Reference) -> bool:
        """Whether a member is known, and is no function that the arguments of a call surely do not fit."""
        if member.kind is not ValueKind.SYMBOL or reference.kind is not ReferenceKind.CALL:
            return member.is_known
        if not reference.arguments or not all(map(self._is_callable, member.symbols)):
            return True
        everywhere = self._with_overloads_elsewhere(member.symbols)
        return bool(
            self._fitting(everywhere, reference.arguments)
            or self._inherited_overload(member.symbols, reference.arguments)
        )

    def _is_read_from_local(self, reference: Reference, steps: Sequence[Step]) -> bool:
        """Whether a member is read from a local variable, without a call."""
        if (
            reference.kind is not ReferenceKind.VALUE
            or self._unit.language not in READS_OF_LOCALS
            or not steps
        ):
            return False
        symbol = reference.symbol
        while symbol >= 0:
            if self._binding_at(symbol, steps[0].name, reference.line):
                return True
            symbol = self._facts.symbols[symbol].parent
        if self._binding_at(-1, steps[0].name, reference.line):
            return True
        # In JavaScript, the variables of a callback may be in no symbol.
        return self._unit.language in ECMASCRIPT and ("", steps[0].name) in self._unit.variables

    def _binding_at(self, symbol: int, name: str, line: int) -> Binding | None:
        """Returns the binding of a symbol that is in force on a line: the last one, or the one of the smallest block."""
        known = self._local_bindings.get((symbol, name))
        if known is None:
            return None
        found = [one for one in known if one.line <= line and (line <= one.until or not one.until)]
        return max(found, key=_force, default=None)

    def _field_or_method(self, member: Value, kind: ReferenceKind) -> Value:
        """Returns the methods of a member for a call, and its fields for any other use."""
        if member.kind is not ValueKind.SYMBOL:
            return member
        is_field = [self._program.definition(ref).kind in VALUE_KINDS for ref in member.symbols]
        wanted = kind is not ReferenceKind.CALL
        kept = tuple(ref for ref, field in zip(member.symbols, is_field, strict=True) if field is wanted)
        return member._replace(symbols=kept) if kept else EXTERNAL if wanted else member

    def _is_field_of_local(self, reference: Reference, steps: Sequence[Step], location: Location) -> bool:
        """Whether a name is read from a local variable, as in `depot.weigh` without a call."""
        if self._unit.language not in METHODS_ARE_CALLED or reference.kind is ReferenceKind.CALL or not steps:
            return False
        return self._inference.name_at(steps[0].name, location).kind is ValueKind.LOCAL

    def _as_meaning(self, value: Value, fallback: LookupKind) -> Meaning:
        if value.kind is ValueKind.SYMBOL:
            if value.certainty is Certainty.YES:
                return Meaning(value.symbols, EdgeStatus.RESOLVED, self._strategy(value))
            return Meaning(value.symbols, EdgeStatus.CANDIDATE, Strategy.NAME)
        if value.kind is ValueKind.UNKNOWN:
            return Meaning(status=EdgeStatus.CANDIDATE, lookup=fallback)
        return Meaning()

    def _strategy(self, value: Value) -> Strategy:
        """Returns the value's strategy, or PACKAGE if it is defined in another repository."""
        is_far = any(self._program.units[ref.file].scope != self._unit.scope for ref in value.symbols)
        return Strategy.PACKAGE if is_far else value.strategy

    def _location_of(self, symbol: int, line: int) -> Location:
        inside = self._facts.symbols[symbol].qualified_name if symbol >= 0 else ""
        return Location(self._unit, inside, line, partial(self._local_value, symbol, line))

    def _local_value(self, symbol: int, line: int, name: str) -> Value | None:
        """Returns a variable's value at a line in the enclosing functions; None without such a variable."""
        while True:
            binding = self._binding_at(symbol, name, line)
            if binding and (symbol, name, binding.line) in self._local_functions:
                return None  # `const weigh: Scale = (one) => …` is a definition
            is_parameter = binding is None or not (binding.type or binding.made_by or binding.until)
            if is_parameter and name in self._fixture_parameters.get(symbol, ()):
                value = self._fixture_value(symbol, name)
                return value if value.is_known else LOCAL
            if binding:
                if binding.type == UNKNOWN_TYPE:
                    return UNKNOWN
                value = self._bound_value(binding)
                return value if value.is_known else LOCAL
            if symbol < 0:
                break
            symbol = self._facts.symbols[symbol].parent
        if (
            name not in self._unit.imports
            and name not in self._unit.named
            and ("", name) in self._unit.variables
        ):
            value = self._inference.variable_at(name, Location(self._unit, line=line))
            return LOCAL if not value.is_known and self._unit.language in ECMASCRIPT else value
        return None

    @cached_property
    def _local_functions(self) -> Container[tuple[int, str, int]]:
        """The functions in functions, by the symbol around them, name and line."""
        return {
            (one.parent, one.name, one.name_line)
            for one in self._facts.symbols
            if one.parent >= 0 and one.kind in CALLABLE_KINDS
        }

    @cached_property
    def _fixture_parameters(self) -> Mapping[int, frozenset[str]]:
        return fixture_parameters(self._facts)

    def _fixture_value(self, symbol: int, name: str) -> Value:
        """Returns what the nearest fixture of a name returns or yields; unknown without one that says so."""
        own = self._facts.symbols[symbol].qualified_name
        owner = own.rpartition(".")[0]
        places = [(self._unit, f"{owner}.{name}" if owner else name), (self._unit, name)]
        for module in modules_around(self._unit.folder):
            places += [(unit, name) for unit in self._program.locate(self._unit, module).units]
        for unit, qualified_name in places:
            positions = unit.named.get(qualified_name, ())
            if positions and (unit.id, qualified_name) != (self._unit.id, own):
                return self._inference.called(symbol_value(unit, positions))
            if qualified_name == name in unit.imports:
                return self._inference.called(self._inference.name_at(name, Location(unit)))
        return UNKNOWN

    def _bound_value(self, binding: Binding) -> Value:
        if (known := self._bound_values.get(id(binding))) is not None:
            return known
        if self._depth > STEPS_MAX:
            return UNKNOWN  # `x = x.next()`, a hundred times
        self._depth += 1
        value = self._find_bound_value(binding)
        self._depth -= 1
        if self._depth == 0:  # deeper in, steps may have run out
            self._bound_values[id(binding)] = value
        return value

    def _find_bound_value(self, binding: Binding) -> Value:
        location = self._location_of(binding.symbol, binding.line)._replace(
            local=partial(self._local_value, binding.symbol, binding.line - 1)
        )
        return self._inference.created_value(
            UnresolvedType(binding.type, binding.made_by, binding.line, location.inside), location
        )


def _force(binding: Binding) -> tuple[int, bool, int]:
    """Returns a key by which bindings override each other."""
    return binding.line, binding.type == UNKNOWN_TYPE, -(binding.until or LINES_MAX)


def _dotted(reference: Reference) -> str:
    return f"{reference.qualifier}.{reference.name}" if reference.qualifier else reference.name


def _is_returned(candidate: CandidateDefinition, use: NamedUse) -> bool:
    """Returns whether a nested function may be a member of the object that its parent returns."""
    return candidate.language in ECMASCRIPT and use.has_qualifier


def _is_local(unit: Unit, definition: UnitDefinition) -> bool:
    """Returns whether a definition is inside a function, and visible only there."""
    parent = definition.parent
    return parent >= 0 and unit.definitions[parent].kind in CALLABLE_KINDS
