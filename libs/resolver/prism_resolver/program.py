"""The files of a program: in which of them a module lies, and what each gives to others."""

import re
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, VALUE_KINDS, Strategy, SymbolKind
from prism_resolver.facts import FileFacts
from prism_resolver.languages import (
    FOLDER_PACKAGES,
    KEEPS_IMPORTS,
    LAST_IMPORT_WINS,
    MEMBERS_ANYWHERE,
    MEMBERS_IN_FOLDER,
    OPEN_TYPES,
    SAME_FOLDER,
    family_of,
    is_standard,
)
from prism_resolver.manifests import PackageModule, PackageProvider, Packages
from prism_resolver.modules import Certainty, File, imports, key, keys
from prism_resolver.occurrences import DefinitionSite, Occurrences
from prism_resolver.unit import DEFAULT, Import, Unit, UnitDefinition, read_unit
from prism_resolver.values import EXTERNAL, UNKNOWN, SymbolRef, Value, ValueKind

# Re-exports of re-exports.
STEPS_MAX = 40
# What is in them is known by its bare name in all of them.
SCOPE_KINDS = frozenset({SymbolKind.NAMESPACE, SymbolKind.MODULE})


class LocatedModule(NamedTuple):
    """The files that a module may mean, and how sure that is."""

    units: tuple[Unit, ...]
    certainty: Certainty


NOT_FOUND = LocatedModule((), Certainty.NO)


class Program:
    """Files that may use each other: a repository, or several."""

    def __init__(
        self,
        occurrences: Occurrences | None = None,
        packages: Packages | None = None,
        unloaded: Container[str] = frozenset(),
    ) -> None:
        """What else is known of the files, where it is: `occurrences` by compilers' indexes, `packages` by the texts of manifests.
        `unread` are ids of files that there are, whether they are added or not.
        """
        self.occurrences = occurrences or Occurrences()
        self._packages = packages or Packages()
        self._unloaded = unloaded
        # The same by the manifests among the files, of which less is known: by id of the file, and made of these when asked for.
        self._providers: dict[str, PackageProvider] = {}
        self._packages_of_loaded: Packages | None = None
        self.units: dict[str, Unit] = {}
        # What a resolver found out about names that many definitions have, for as long as no file changes.
        self.candidates: dict[tuple[Hashable, ...], Sequence[SymbolRef]] = {}
        self._by_key: dict[str, dict[str, Unit]] = {}
        # Name -> files that define it outside of all, or import it.
        self._exporters: dict[str, dict[str, Unit]] = {}
        self._by_name: dict[str, dict[SymbolRef, None]] = {}
        self._by_qualified_name: dict[str, dict[SymbolRef, None]] = {}
        self._located: dict[tuple[str, ...], LocatedModule] = {}
        self._exported_values: dict[tuple[str, str], Value] = {}
        self._imported_values: dict[tuple[str, str, str], Value] = {}
        self._wildcard_closures: dict[str, Mapping[str, Certainty]] = {}
        # What files import from each other in a circle is looked for once: here until the first question is answered.
        self._in_progress: dict[tuple[str, str], Value] = {}
        self._is_incomplete = False
        self._is_final_pass = False
        self._depth = 0
        # Of a class, what it inherits from: found by `Inference`, kept here until a file changes.
        self.lineages: dict[tuple[str, str], Sequence[tuple[Unit | None, str]]] = {}
        # Of an alias, what it is another name of: the same.
        self.originals: dict[tuple[str, str], Value] = {}
        # Modules that were looked for and are no file of the program, with the files that import them.
        self.missing: dict[tuple[File, str], None] = {}
        # By id of a file, the ids of files that the modules which it names were found to be since it was added.
        self._imported_files: dict[str, set[str]] = {}

    # Files.

    def set_packages(self, packages: Packages) -> None:
        """Have other manifests say what packages there are."""
        self._clear_caches()
        self._packages = packages

    def add(self, facts: FileFacts) -> None:
        """A file with what it defines, imports and inherits, in the place of what it said before."""
        self.add_unit(read_unit(facts))

    def add_unit(self, unit: Unit) -> None:
        """The same of a file that was read before."""
        self.remove(unit.id)
        self.units[unit.id] = unit
        for files, name in self._entries(unit):
            files.setdefault(name, {})[unit.id] = unit
        for refs, name, ref in self._symbol_refs(unit):
            refs.setdefault(name, {})[ref] = None
        if unit.manifest:
            self._providers[unit.id] = PackageProvider(unit.scope, unit.file.repo, unit.manifest)

    def remove(self, file: str) -> None:
        """Forget a file."""
        self._clear_caches()
        unit = self.units.pop(file, None)
        if unit is None:
            return
        for files, name in self._entries(unit):
            files[name].pop(unit.id, None)
        for refs, name, ref in self._symbol_refs(unit):
            refs[name].pop(ref, None)
        self._providers.pop(file, None)
        self._imported_files.pop(file, None)

    def dependents(self, units: Iterable[Unit]) -> set[str]:
        """The ids of files that may be told something by these: of themselves, of those whose imports were found to lead to one of them,
        of those that see one without an import, and of all that these tell in turn.
        """
        readers: dict[Hashable, list[Unit]] = {}
        for reader, read in self._imported_files.items():
            for file in read:
                readers.setdefault(file, []).append(self.units[reader])
        for unit in self.units.values():
            for group in _visible_groups(unit):
                readers.setdefault(group, []).append(unit)
        todo = list(units)
        found = {unit.id for unit in todo}
        while todo:
            unit = todo.pop()
            new = [one for key in (unit.id, *_own_groups(unit)) for one in readers.pop(key, ())]
            todo += (one for one in new if one.id not in found)
            found.update(one.id for one in new)
        return found

    def definition(self, ref: SymbolRef) -> UnitDefinition:
        """The symbol at a place."""
        return self.units[ref.file].definitions[ref.symbol]

    def defined_at(self, site: DefinitionSite) -> SymbolRef | None:
        """What is defined at a line under a name; None if there is no symbol of its own, or the file was not read. Raises
        LookupError if the file has changed since, or is gone.
        """
        unit = self.units.get(site.file)
        if unit is None and site.file in self._unloaded:
            return None
        if unit is None or unit.blob != site.blob:
            raise LookupError(site.file)
        here = (position for position, line in enumerate(unit.name_lines) if line == site.line)
        named = (position for position in here if unit.definitions[position].name == site.name)
        position = next(named, None)
        return None if position is None else SymbolRef(unit.id, position)

    def same_package_definitions(self, unit: Unit, name: str) -> tuple[SymbolRef, ...]:
        """What other files of the folder define under a name, in languages where that is enough to see it."""
        if unit.language not in SAME_FOLDER:
            return ()
        others = [
            other
            for other in self._exporters.get(name, {}).values()
            if other.id != unit.id and _share_names(unit, other)
        ]
        return tuple(
            SymbolRef(other.id, position)
            for other in _ordered(others)
            for position in other.named.get(name, ())
        )

    def members_in_other_files(self, unit: Unit, qualified_name: str) -> tuple[SymbolRef, ...]:
        """Where else than in the file of its class a member is defined, in languages that allow it."""
        if unit.language not in MEMBERS_IN_FOLDER | MEMBERS_ANYWHERE:
            return ()
        refs = self._by_qualified_name.get(qualified_name, ())
        found = [ref for ref in refs if _share_members(unit, self.units[ref.file])]
        return tuple(sorted(found, key=lambda ref: (self.units[ref.file].file.path, ref.symbol)))

    def types_named(self, unit: Unit, qualified_name: str) -> Sequence[SymbolRef]:
        """The definitions of a type in all files of the repository that the language shares, by path; one if it only is a scope."""
        found = [
            ref
            for ref in self._by_qualified_name.get(qualified_name, ())
            if self.definition(ref).kind in TYPE_KINDS and _share_members(unit, self.units[ref.file])
        ]
        found.sort(key=lambda ref: (len(self.units[ref.file].file.path), self.units[ref.file].file.path))
        is_scope = all(self.definition(ref).kind in SCOPE_KINDS for ref in found)
        return found[:1] if is_scope else found

    def named(self, name: str) -> Collection[SymbolRef]:
        """All definitions of a name."""
        return self._by_name.get(name, ())

    def main_definitions(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """One place a symbol: of overloads, and of what is announced and defined apart, the one that says most."""
        chosen: dict[tuple[str, str], SymbolRef] = {}
        for ref in refs:
            if ref.symbol < 0:
                chosen[ref.file, ""] = ref
                continue
            body = self._body(ref) if self.definition(ref).bodiless else ref
            symbol = (body.file, self.definition(body).qualified_name)
            if symbol not in chosen or self._is_better(body, chosen[symbol]):
                chosen[symbol] = body
        return tuple(chosen.values())

    def _is_better(self, ref: SymbolRef, other: SymbolRef) -> bool:
        """A body says more than an announcement, and a function more than the variable that it may be kept in."""
        one, two = self.definition(ref), self.definition(other)
        return (one.bodiless, one.kind in VALUE_KINDS) < (two.bodiless, two.kind in VALUE_KINDS)

    def _body(self, ref: SymbolRef) -> SymbolRef:
        """Where what is announced at a place is defined, the place itself if that is not known."""
        unit, definition = self.units[ref.file], self.definition(ref)
        found = [
            other
            for other in self._by_qualified_name[definition.qualified_name]
            if not self.definition(other).bodiless and _share_members(unit, self.units[other.file])
        ]
        is_shared = unit.language in MEMBERS_ANYWHERE
        return found[0] if len(found) == 1 and (is_shared or found[0].file == ref.file) else ref

    def _entries(self, unit: Unit) -> Iterator[tuple[dict[str, dict[str, Unit]], str]]:
        for one in keys(unit.file):
            yield self._by_key, one
        for name in unit.named:
            if "." not in name:
                yield self._exporters, name
        for name in (*unit.imports, *unit.aliases):
            yield self._exporters, name

    def _symbol_refs(self, unit: Unit) -> Iterator[tuple[dict[str, dict[SymbolRef, None]], str, SymbolRef]]:
        for position, definition in enumerate(unit.definitions):
            ref = SymbolRef(unit.id, position)
            yield self._by_name, definition.name, ref
            yield self._by_qualified_name, definition.qualified_name, ref

    def _clear_caches(self) -> None:
        kept = (self._located, self._exported_values, self._imported_values, self._wildcard_closures)
        for memory in (*kept, self.lineages, self.originals, self.missing, self.candidates):
            memory.clear()
        self._packages_of_loaded = None

    # Modules.

    def locate(self, unit: Unit, module: str) -> LocatedModule:
        """The files that a module is, as a file imports it: those that it means surely, else those that it may mean."""
        start = unit.file.path if unit.language == "rust" else unit.folder
        known = (unit.scope, unit.language, start, module)
        if known not in self._located:
            self._located[known] = self._locate(unit, module)
        located = self._located[known]
        if located.units:
            self._imported_files.setdefault(unit.id, set()).update(one.id for one in located.units)
        return located

    def _locate(self, unit: Unit, module: str) -> LocatedModule:
        """By a path mapping, by its path or by the package that it is named after: the first that is sure, else the last that may be."""
        found = NOT_FOUND
        for find in (self._mapped, self._find, self._in_package):
            located = find(unit, module)
            if located.certainty is Certainty.YES:
                return located
            found = located if located.units else found
        if not found.units:
            self.missing[unit.file, module] = None
        return found

    def _mapped(self, unit: Unit, module: str) -> LocatedModule:
        """The files that a module is by the first path of a mapping that leads to any."""
        for module_in_package in self._packages.mapped(unit.scope, unit.file, module):
            if found := self._package_files(unit, module_in_package):
                return LocatedModule(found, Certainty.YES)
        return NOT_FOUND

    def _find(self, unit: Unit, module: str) -> LocatedModule:
        found: dict[Certainty, list[Unit]] = {Certainty.YES: [], Certainty.MAYBE: []}
        for other in self._by_key.get(key(unit.file, module), {}).values():
            if other.language not in family_of(unit.language):
                continue
            certainty = imports(unit.file, module, other.file)
            # Of another repository that is never sure, unless the module names it.
            is_near = unit.scope == other.scope or unit.language in FOLDER_PACKAGES
            certainty = certainty if is_near else min(certainty, Certainty.MAYBE)
            if certainty:
                found[certainty].append(other)
        best = Certainty.YES if found[Certainty.YES] else Certainty.MAYBE
        return LocatedModule(tuple(_ordered(found[best])), best)

    def _in_package(self, unit: Unit, module: str) -> LocatedModule:
        """The files that a module is by what is known of packages; not sure if several provide one of its name."""
        for packages in (self._packages, self._packages_of_files()):
            for module_in_package in packages.candidates(unit.scope, unit.file, module):
                if found := self._package_files(unit, module_in_package):
                    return LocatedModule(
                        found,
                        Certainty.YES if packages.is_only_provider(module_in_package) else Certainty.MAYBE,
                    )
        return NOT_FOUND

    def packages_containing(self, unit: Unit) -> set[str]:
        """The names of the packages in whose folders a file lies."""
        known = (self._packages, self._packages_of_files())
        return {name for packages in known for name in packages.containing(unit.scope, unit.file.path)}

    def module_names(self, unit: Unit) -> Iterator[str]:
        """As what path mappings have a file imported, where that is called otherwise than the file."""
        return self._packages.module_names(unit.scope, unit.file)

    def _packages_of_files(self) -> Packages:
        if self._packages_of_loaded is None:
            self._packages_of_loaded = Packages(self._providers.values())
        return self._packages_of_loaded

    def _package_files(self, unit: Unit, module_in_package: PackageModule) -> tuple[Unit, ...]:
        """The files that are a module of a package."""
        files = self._by_key.get(module_in_package.key, {}).values()
        found = [one for one in files if one.language in family_of(unit.language)]
        found = [one for one in found if module_in_package.is_file(one.scope, one.file)]
        if not found and module_in_package.provider.scope == unit.scope:
            self.missing[module_in_package.importer, module_in_package.module] = None
        return tuple(_ordered(found))

    def imported_value(self, unit: Unit, one: Import) -> Value:
        """What an import brings: a definition, or a module."""
        known = (unit.id, one.name, one.module)
        if known not in self._imported_values:
            value = self._find_imported_value(unit, one)
            if self._in_progress:
                return value  # it may be less than what there is
            self._imported_values[known] = value
        return self._imported_values[known]

    def _find_imported_value(self, unit: Unit, one: Import) -> Value:
        if is_standard(unit.language, one.module):
            return EXTERNAL
        whole, joined = one.modules
        located = self.locate(unit, whole)
        before, self._is_incomplete = self._is_incomplete, False
        exported = self.module_export(located, one.name, exclude=unit)
        is_incomplete, self._is_incomplete = self._is_incomplete, self._is_incomplete or before
        if exported.is_known:
            return exported.with_strategy(Strategy.IMPORT)
        if is_incomplete:
            return UNKNOWN
        named = located if _names_module(one) else self.locate(unit, joined)
        if named.units:
            refs = tuple(SymbolRef(one.id, -1) for one in named.units)
            return Value(ValueKind.MODULE, refs, named.certainty, Strategy.IMPORT)
        return EXTERNAL if located.units and located.certainty is Certainty.YES else UNKNOWN

    def exported_value(self, unit: Unit, name: str) -> Value:
        """What a file gives to others under a name: what it defines, imports, or passes on."""
        known = (unit.id, name)
        if known in self._exported_values:
            return self._exported_values[known]
        if known in self._in_progress or self._depth > STEPS_MAX:
            found = self._in_progress.get(known, UNKNOWN)
            self._is_incomplete |= not found.is_known and not self._is_final_pass
            return found
        before, self._is_incomplete = self._is_incomplete, False
        self._in_progress[known] = UNKNOWN
        self._depth += 1
        value = self._in_progress[known] = self._find_exported_value(unit, name)
        self._depth -= 1
        if self._depth == 0:
            self._finish_cycle()
            return self._exported_values[known]
        if not self._is_incomplete:
            self._exported_values[known] = value
        self._is_incomplete |= before
        return value

    def _finish_cycle(self) -> None:
        """Keep what was found. Where files import each other in a circle, look again until nobody learns more; what still is
        unknown then is unknown to all of them.
        """
        if self._is_incomplete:
            self._depth = 1
            while self._retry_unknown():
                pass
            self._is_final_pass = True
            self._retry_unknown()
            self._is_final_pass, self._depth = False, 0
        self._exported_values.update(self._in_progress)
        self._in_progress.clear()
        self._is_incomplete = False

    def _retry_unknown(self) -> bool:
        """Look for all again that is not known yet; whether anything was found."""
        unknown = [known for known, value in self._in_progress.items() if not value.is_known]
        found = {known: self._find_exported_value(self.units[known[0]], known[1]) for known in unknown}
        self._in_progress |= found
        return any(value.is_known for value in found.values())

    def _find_exported_value(self, unit: Unit, name: str) -> Value:
        if own := unit.named.get(name):
            return symbol_value(unit, own).with_strategy(Strategy.SAME_FILE)
        if unit.language in KEEPS_IMPORTS:
            return UNKNOWN
        for one in unit.imports.get(name, ()):
            if (value := self.imported_value(unit, one)).is_known:
                return value
        if name in unit.aliases:
            return self.exported_value(unit, unit.aliases[name].type)
        if name == DEFAULT:
            return self._default_of(unit)
        return self.wildcard_value(unit, name)

    def _default_of(self, unit: Unit) -> Value:
        """What a module exports by default."""
        spelled = next(iter(unit.variables.get(("", DEFAULT), ())), None)
        return self.exported_value(unit, spelled.type) if spelled else UNKNOWN

    def module_export(self, located: LocatedModule, name: str, exclude: Unit | None = None) -> Value:
        """What the files of a module give under a name, all but the one that asks."""
        exporters = self._exporters.get(name, {})
        values = [
            self.exported_value(unit, name).with_strategy(Strategy.MODULE, located.certainty)
            for unit in located.units
            if (unit.id in exporters or unit.wildcards or name == DEFAULT) and unit is not exclude
        ]
        return _merged(value for value in values if value.is_known)

    def wildcard_value(self, unit: Unit, name: str) -> Value:
        """What comes with all that other files have: `from m import *`, `#include`."""
        if not unit.wildcards or name == DEFAULT:
            return UNKNOWN
        closure = self._wildcard_closure(unit)
        values = []
        for exporter in self._exporters_within(closure, unit, name):
            value = self.exported_value(exporter, name)
            values.append(value.with_strategy(Strategy.WILDCARD_IMPORT, closure[exporter.id]))
        known_values = [value for value in values if value.is_known]
        return _merged(known_values, first_wins=unit.language in LAST_IMPORT_WINS)

    def _exporters_within(self, closure: Mapping[str, Certainty], unit: Unit, name: str) -> Sequence[Unit]:
        """The files of a reach that give a name: by precedence where the language has one, else by path."""
        exporters = self._exporters.get(name, {})
        found = [
            exporter for exporter in exporters.values() if exporter.id in closure and exporter.id != unit.id
        ]
        if unit.language not in LAST_IMPORT_WINS:
            return _ordered(found)
        rank = {file: position for position, file in enumerate(closure)}
        return sorted(found, key=lambda exporter: rank[exporter.id])

    def _wildcard_closure(self, unit: Unit) -> Mapping[str, Certainty]:
        """The files of which a file brings everything in, also through others, and how sure that is. The last import of a file
        comes first, and a file comes before what it imports itself.
        """
        if unit.id not in self._wildcard_closures:
            found: dict[str, Certainty] = {}
            todo = [*self._wildcard_sources(unit, Certainty.YES)]
            while todo:
                one, certainty = todo.pop()
                if found.get(one.id, Certainty.NO) >= certainty:
                    continue
                found.pop(one.id, None)  # it takes the rank of the surer path
                found[one.id] = certainty
                if one.language not in KEEPS_IMPORTS:
                    reached = self._wildcard_sources(one, certainty)
                    todo += (other for other in reached if found.get(other[0].id, Certainty.NO) < other[1])
            self._wildcard_closures[unit.id] = found
        return self._wildcard_closures[unit.id]

    def _wildcard_sources(self, unit: Unit, certainty: Certainty) -> Iterator[tuple[Unit, Certainty]]:
        """The files of which a file brings everything in itself, and how sure that is if the file itself is as sure as given."""
        for module in unit.wildcards:
            located = self.locate(unit, module)
            yield from ((other, min(certainty, located.certainty)) for other in located.units)


def _visible_groups(unit: Unit) -> Iterator[Hashable]:
    """The circles of files of which a file sees something without an import."""
    if unit.language in SAME_FOLDER | MEMBERS_IN_FOLDER:
        yield unit.scope, unit.language, unit.folder
    if unit.language in MEMBERS_ANYWHERE | OPEN_TYPES:
        yield from ((unit.scope, language) for language in family_of(unit.language))


def _own_groups(unit: Unit) -> tuple[Hashable, Hashable]:
    """The circles in which a file is seen."""
    return (unit.scope, unit.language, unit.folder), (unit.scope, unit.language)


def symbol_value(unit: Unit, positions: Sequence[int]) -> Value:
    """The definitions of a file at these positions."""
    return Value(ValueKind.SYMBOL, tuple(SymbolRef(unit.id, position) for position in positions))


def _ordered(units: Sequence[Unit]) -> Sequence[Unit]:
    """Files by path: an answer must not depend on the order in which they were read."""
    return sorted(units, key=lambda unit: (unit.file.path, unit.scope))


def _merged(values: Iterable[Value], *, first_wins: bool = False) -> Value:
    """Of several, the surest; all of those that are as sure and of one kind. `is_first_enough`: the first of them hides the
    others, if it is sure.
    """
    found = sorted(values, key=lambda value: (value.kind is not ValueKind.SYMBOL, -value.certainty))
    if not found:
        return UNKNOWN
    first = found[0]
    if first_wins and first.certainty is Certainty.YES:
        return first
    same = [value for value in found if value.kind is first.kind and value.certainty is first.certainty]
    return first._replace(symbols=tuple(dict.fromkeys(ref for value in same for ref in value.symbols)))


def _names_module(one: Import) -> bool:
    """Whether an import names a module as a whole: `import a.b`, `import * as x from './x.js'`."""
    last = re.split(r"::|[/\\]", one.module)[-1]
    return one.name in {DEFAULT, last, last.partition(".")[0], last.rpartition(".")[2]}


def _share_members(unit: Unit, other: Unit) -> bool:
    """Whether a member of a class of one file may be defined in the other."""
    if unit.scope != other.scope or other.language not in family_of(unit.language):
        return False
    return unit.folder == other.folder if unit.language in MEMBERS_IN_FOLDER else True


def _share_names(unit: Unit, other: Unit) -> bool:
    """Whether each sees what the other defines, without an import."""
    return (unit.scope, unit.folder, unit.language) == (other.scope, other.folder, other.language)
