"""Resolves which references among a set of files mean a symbol."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    EdgeStatus,
    Flag,
    Reference,
    ReferenceKind,
    Strategy,
    Symbol,
    SymbolFact,
    SymbolKind,
)
from prism_contracts.rpc.symbols import REFERENCE_GROUPS, ReferenceGroup
from prism_resolver.facts import FileFacts
from prism_resolver.inference import Inference
from prism_resolver.languages import C_FAMILY
from prism_resolver.modules import File
from prism_resolver.parameters import OVERLOADS, count, without_marks
from prism_resolver.program import Program
from prism_resolver.resolution import Meaning, Resolver
from prism_resolver.unit import (
    DEFAULT,
    MODULE_EXPORTS,
    WHOLE_MODULE,
    Site,
    Unit,
    given_name,
    is_shared,
    same_symbol,
)
from prism_resolver.values import SymbolRef

PROSE = "p"

ORDER = list(ReferenceGroup)
# Members that may override one of a base class; making an object of a base never runs the constructor of a subclass.
OVERRIDING_KINDS = frozenset({SymbolKind.METHOD, SymbolKind.FUNCTION, SymbolKind.PROPERTY})


@dataclass(frozen=True)
class SourceFile:
    """An indexed file: what its parser found, what it exports, and its lines without line ends."""

    facts: FileFacts
    unit: Unit
    lines: Sequence[str]

    @property
    def id(self) -> str:
        """The id of the file point."""
        return self.facts.id

    @property
    def path(self) -> str:
        """The path, relative to the repository."""
        return self.facts.path

    @property
    def language(self) -> str:
        """The language, as indexed."""
        return self.facts.language

    @property
    def flags(self) -> str:
        """The letters of its flags, and PROSE."""
        return self.facts.flags

    @property
    def symbols(self) -> Sequence[Symbol | SymbolFact]:
        """The symbols that it defines."""
        return self.facts.symbols

    @property
    def references(self) -> Sequence[Reference]:
        """The references that it makes."""
        return self.facts.references


class DefinedSymbol(NamedTuple):
    """A symbol and the file that defines it."""

    file: SourceFile
    symbol: Symbol | SymbolFact


class Edge(NamedTuple):
    """A reference that resolves to the symbol, or may."""

    file: SourceFile
    reference: Reference
    status: EdgeStatus
    strategy: Strategy
    reaches: tuple[str, ...] = ()  # as in `ReferenceEntry`


class Module(NamedTuple):
    """A module as a file imports it."""

    importer: File
    name: str


class Uses:
    """The references to a symbol among a set of files.

    Definitions of one qualified name in one file are one symbol, as are a declaration and its definition: see
    `same_symbol`.
    """

    def __init__(
        self,
        definitions: Sequence[DefinedSymbol],
        files: Sequence[SourceFile],
        program: Program | None = None,
        *,
        one_overload: bool = False,
    ) -> None:
        """`program` has no files yet; it may have compilers' indexes and manifests.

        With `one_overload`, other overloads of the definitions do not count.
        """
        self._files = files
        self._name = definitions[0].symbol.name
        self._is_settled = True
        self._program = program or Program()
        self.learn(files)
        # Names under which a whole module is imported that is the symbol.
        self._modules = [name for one in definitions for name in _module_names(one.file)]
        named = [
            (SymbolRef(file.id, position), _site(DefinedSymbol(file, symbol)))
            for file in files
            for position, symbol in enumerate(file.symbols)
            if symbol.name == self._name
        ]
        is_asked = same_symbol([_site(one) for one in definitions], [site for _, site in named])
        self._targets = {ref for ref, _ in compress(named, is_asked)}
        self._overloads = self._program.overloads(sorted(filter(self._is_overloaded, self._targets)))
        # Objects are made by calling a type.
        self._types = {
            SymbolRef(ref.file, self._program.definition(ref).parent)
            for ref in self._targets
            if self._program.definition(ref).kind is SymbolKind.CONSTRUCTOR
        }
        own = {(one.file.id, one.symbol.name_line, one.symbol.qualified_name) for one in definitions}
        self._wanted = self._overload_at(own) if one_overload else self._targets
        self._overridden: set[SymbolRef] = set()

    def learn(self, files: Iterable[SourceFile]) -> None:
        """Adds files whose definitions and imports help to resolve, but whose references are not searched."""
        for file in files:
            self._program.add_unit(file.unit)
        self._inference = Inference(self._program)  # it keeps what it finds

    def missing(self) -> Iterable[Module]:
        """Returns the modules that `edges` looked up and no file provides."""
        return [Module(importer, name) for importer, name in self._program.missing]

    @property
    def is_settled(self) -> bool:
        """Whether `edges` found a sure definition for each reference by the name: no other file can change the edges.

        What a call on an object of a file that was not read means looks like a name of another repository.
        """
        return self._is_settled

    def edges(self) -> list[Edge]:
        """Returns the edges to any of the definitions, one per reference, in the order to show them."""
        self._is_settled = True
        self._overridden = self._find_overridden()
        names = _names_of(self._name, self._files, self._modules)
        is_only_one = len(self._program.main_definitions(tuple(self._program.named(self._name)))) == 1
        by_name = Strategy.ONLY_DEFINITION if is_only_one else Strategy.NAME
        exported = {given for file in self._files for given in self._exported_names(file)} - {self._name}
        found = (
            edge
            for file in self._files
            for edge in self._edges_of(
                file, names, by_name, exported if exported and self._imports_home(file) else frozenset()
            )
        )
        return sorted(found, key=_order)

    def _exported_names(self, file: SourceFile) -> Iterator[str]:
        """Yields other names under which a file exports the symbol: `exist` of `exports.exist = check`."""
        resolver = None
        for reference in file.references:
            is_alias = reference.kind is ReferenceKind.ALIAS and bool(reference.alias)
            if is_alias and reference.name == self._name:
                resolver = resolver or Resolver(self._program, file.facts)
                if self._is_meant(reference, resolver.meaning(reference)):
                    yield given_name(reference.alias)

    def _imports_home(self, file: SourceFile) -> bool:
        """Whether a file imports one that defines the symbol."""
        homes = {ref.file for ref in self._targets}
        return any(
            reference.kind is ReferenceKind.IMPORT
            and not homes.isdisjoint(
                one.id for one in self._program.locate(file.unit, reference.qualifier).units
            )
            for reference in file.references
        )

    def _edges_of(
        self, file: SourceFile, names: Sequence[str], by_name: Strategy, exported: Collection[str]
    ) -> Iterator[Edge]:
        """Yields the edges of a file. By names in `exported`, unresolved references may mean the symbol too."""
        resolver = Resolver(self._program, file.facts)
        for reference in file.references:
            if reference.name not in names and reference.name not in exported:
                continue
            meaning = resolver.meaning(reference)
            self._is_settled &= bool(meaning.targets) and meaning.status is EdgeStatus.RESOLVED
            if self._is_meant(reference, meaning):
                strategy = by_name if meaning.status is EdgeStatus.CANDIDATE else meaning.strategy
                edge = Edge(file, reference, meaning.status, strategy)
                yield from self._of_overload(edge, meaning, resolver)
            elif self._may_run_override(file, reference, meaning, resolver):
                yield Edge(file, reference, EdgeStatus.CANDIDATE, Strategy.OVERRIDDEN)
            elif (
                self._types.isdisjoint(meaning.targets)
                and (reference.name == self._name or reference.name in exported)
                and any(resolver.may_mean(reference, meaning.lookup, place) for place in self._targets)
            ):
                yield Edge(file, reference, EdgeStatus.CANDIDATE, by_name)
        for position, meaning in resolver.stored_calls():
            if not self._targets.isdisjoint(meaning.targets):
                yield Edge(file, file.references[position], meaning.status, meaning.strategy)
        for reference, meaning in resolver.implementations():
            if not self._targets.isdisjoint(meaning.targets):
                yield Edge(file, reference, meaning.status, meaning.strategy)

    def _is_meant(self, reference: Reference, meaning: Meaning) -> bool:
        """Whether a reference means a definition, or makes an object of its type."""
        is_made = reference.kind is ReferenceKind.CALL and not self._types.isdisjoint(meaning.targets)
        return is_made or not self._targets.isdisjoint(meaning.targets)

    def _find_overridden(self) -> set[SymbolRef]:
        """Returns the members of base classes that the wanted ones override. Unsettled if a base is not known."""
        found = {one for ref in self._wanted for one in self._inherited(ref)} - self._targets
        for ref in (*self._wanted, *found):
            owner, name = self._owner_and_name(ref)
            if owner:
                unit = self._program.units[ref.file]
                self._is_settled &= self._inference.members(unit, owner, name, is_base=True).is_complete
        return found

    def _inherited(self, ref: SymbolRef) -> Iterator[SymbolRef]:
        """Yields the members of base classes that a member overrides: where names are overloaded, of as many parameters."""
        owner, name = self._owner_and_name(ref)
        unit, own = self._program.units[ref.file], self._program.definition(ref)
        inherited = self._inference.inherited_members(unit, owner, name) if owner else ()
        for one in inherited:
            other = self._program.definition(one)
            is_overloaded = unit.language in OVERLOADS and own.kind in CALLABLE_KINDS
            if not is_overloaded or count(own.parameters) == count(other.parameters):
                yield one

    def _owner_and_name(self, ref: SymbolRef) -> tuple[str, str]:
        """Returns the type of a member that may override another and its name; no type for anything else."""
        definition = self._program.definition(ref)
        if definition.kind not in OVERRIDING_KINDS:
            return "", definition.name
        return definition.qualified_name.rpartition(".")[0], definition.name

    def _may_run_override(
        self, file: SourceFile, reference: Reference, meaning: Meaning, resolver: Resolver
    ) -> bool:
        """Whether a reference surely calls a member that the symbol overrides, and not as that of a base class."""
        if reference.kind is not ReferenceKind.CALL or meaning.status is not EdgeStatus.RESOLVED:
            return False
        if self._overridden.isdisjoint(meaning.targets):
            return False
        called, status = resolver.called(reference, meaning)
        if status is not EdgeStatus.RESOLVED or self._overridden.isdisjoint(called):
            return False
        # `super().open()` in an override runs the overridden one; `self._depot.open()` may run any.
        is_of_base = meaning.strategy in {Strategy.INHERITED, Strategy.CLASS_NAME} and reference.symbol >= 0
        is_inside = is_of_base and file.symbols[reference.symbol].name == self._name
        return not is_inside or self._overridden.isdisjoint(
            self._inherited(SymbolRef(file.id, reference.symbol))
        )

    def _of_overload(self, edge: Edge, meaning: Meaning, resolver: Resolver) -> Iterator[Edge]:
        """Yields the edge if it may lead to what is asked for: an overload, or a constructor.

        Unless one overload is asked for, the edge names those that it leads to.
        """
        is_narrow = self._wanted != self._targets or bool(self._types)
        if len(self._overloads) <= 1 and not is_narrow:
            yield edge
            return
        is_call = edge.reference.kind is ReferenceKind.CALL
        called, status = resolver.called(edge.reference, meaning)
        called = [one for one in called if one not in self._types] if is_call else ()
        is_sure = bool(called) and status is EdgeStatus.RESOLVED
        if len(self._overloads) > 1 and self._wanted == self._targets and is_sure:
            edge = edge._replace(reaches=self._places(called))
        if called and not is_narrow:
            yield edge
        elif called and self._wanted.isdisjoint(called):
            return
        elif is_narrow and not is_sure and not self._is_only_meaning(edge.reference, meaning):
            is_known = edge.status is EdgeStatus.RESOLVED
            yield (
                edge._replace(status=EdgeStatus.CANDIDATE, strategy=Strategy.OVERLOAD) if is_known else edge
            )
        else:
            yield edge

    def _is_only_meaning(self, reference: Reference, meaning: Meaning) -> bool:
        """Whether a reference can mean nothing else: what imports a name gets all overloads."""
        if reference.kind is ReferenceKind.IMPORT:
            return True
        if self._types.isdisjoint(meaning.targets):
            return self._wanted.issuperset(meaning.targets)
        makers = [one for type_ in self._types for one in self._program.constructors(type_)]
        return len(self._program.overloads(makers)) <= 1 or self._wanted.issuperset(makers)

    def _is_overloaded(self, ref: SymbolRef) -> bool:
        unit, kind = self._program.units[ref.file], self._program.definition(ref).kind
        return unit.language in OVERLOADS and kind in CALLABLE_KINDS

    def _overload_at(self, places: Collection[tuple[str, int, str]]) -> set[SymbolRef]:
        """Returns all definitions of the overloads at these places: a declaration and its body are one."""
        described = {ref: self._program.definition(ref) for ref in self._targets}
        known = {
            (one.qualified_name, without_marks(one.parameters))
            for ref, one in described.items()
            if (ref.file, self._program.units[ref.file].name_lines[ref.symbol], one.qualified_name) in places
        }
        return {
            ref
            for ref, one in described.items()
            if (one.qualified_name, without_marks(one.parameters)) in known
        }

    def _places(self, refs: Iterable[SymbolRef]) -> tuple[str, ...]:
        units = self._program.units
        return tuple(
            f"{units[ref.file].file.path}:{units[ref.file].name_lines[ref.symbol]}" for ref in sorted(refs)
        )


def _module_names(file: SourceFile) -> Iterator[str]:
    """Yields the names of a file that CommonJS imports as a whole: `require("./depot")`, `require("./depot.js")`."""
    if any(binding.name == MODULE_EXPORTS for binding in file.facts.bindings):
        folder, _, name = file.path.rpartition("/")
        yield from (name, name.partition(".")[0], folder.rpartition("/")[2], WHOLE_MODULE)


def _names_of(name: str, files: Sequence[SourceFile], modules: Iterable[str]) -> Sequence[str]:
    """Returns the name, those of the module that it is, and their aliases in imports and exports."""
    aliases: dict[str, set[str]] = {}
    for file in files:
        for reference in file.references:
            if reference.alias:
                aliases.setdefault(reference.name, set()).add(given_name(reference.alias))
    names = [name, DEFAULT, *modules]
    for known in names:
        names += aliases.pop(known, ())
    return names


def group_of(edge: Edge) -> ReferenceGroup:
    """Returns the group that lists an edge."""
    return ReferenceGroup.TESTS if Flag.TEST in edge.file.flags else REFERENCE_GROUPS[edge.reference.kind]


def count_groups(edges: Iterable[Edge]) -> dict[ReferenceGroup, int]:
    """Returns the number of edges by group, in the order of groups."""
    counts = Counter(map(group_of, edges))
    return {group: counts[group] for group in ORDER if counts[group]}


def count_elsewhere(name: str, files: Iterable[SourceFile], edges: Iterable[Edge]) -> int:
    """Counts the references by a name that mean another symbol, except in prose."""
    ids = {id(edge.reference) for edge in edges}
    own = (one for file in files if PROSE not in file.flags for one in naming(name, file))
    return sum(id(reference) not in ids for reference in own)


def naming(name: str, file: SourceFile) -> Iterator[Reference]:
    """Returns the references by a name, or to it: `import { toll as rate }` is both."""
    return (one for one in file.references if name in (one.name, given_name(one.alias)))


def _site(definition: DefinedSymbol) -> Site:
    file, symbol = definition
    is_callable = symbol.kind in CALLABLE_KINDS
    return Site(
        file.id,
        symbol.qualified_name,
        is_shared(file.language, symbol.signature),
        is_callable and not symbol.bodiless,
        is_callable and symbol.bodiless and file.language in C_FAMILY,
    )


def _order(edge: Edge) -> tuple[object, ...]:
    is_candidate = edge.status is EdgeStatus.CANDIDATE
    return (
        is_candidate,
        ORDER.index(group_of(edge)),
        edge.file.path,
        edge.file.facts.scope,
        edge.reference.line,
    )
