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
from prism_resolver.manifests import Inside, Packages, Provider
from prism_resolver.modules import File, Sure, imports, key, keys
from prism_resolver.occurrences import Occurrences, Spot
from prism_resolver.unit import DEFAULT, Definition, Import, Unit, read_unit
from prism_resolver.values import FOREIGN, UNKNOWN, Place, Value, What

# Re-exports of re-exports.
STEPS_MAX = 40
# What is in them is known by its bare name in all of them.
SCOPE_KINDS = frozenset({SymbolKind.NAMESPACE, SymbolKind.MODULE})


class Located(NamedTuple):
    """The files that a module may mean, and how sure that is."""

    units: tuple[Unit, ...]
    sure: Sure


NOWHERE = Located((), Sure.NO)


class Program:
    """Files that may use each other: a repository, or several."""

    def __init__(
        self,
        occurrences: Occurrences | None = None,
        packages: Packages | None = None,
        unread: Container[str] = frozenset(),
    ) -> None:
        """What else is known of the files, where it is: `occurrences` by compilers' indexes, `packages` by the texts of manifests.
        `unread` are ids of files that there are, whether they are added or not.
        """
        self.occurrences = occurrences or Occurrences()
        self._packages = packages or Packages()
        self._unread = unread
        # The same by the manifests among the files, of which less is known: by id of the file, and made of these when asked for.
        self._providers: dict[str, Provider] = {}
        self._provided: Packages | None = None
        self.units: dict[str, Unit] = {}
        # What a resolver found out about names that many definitions have, for as long as no file changes.
        self.candidates: dict[tuple[Hashable, ...], Sequence[Place]] = {}
        self._by_key: dict[str, dict[str, Unit]] = {}
        # Name -> files that define it outside of all, or import it.
        self._givers: dict[str, dict[str, Unit]] = {}
        self._by_name: dict[str, dict[Place, None]] = {}
        self._by_qualified_name: dict[str, dict[Place, None]] = {}
        self._located: dict[tuple[str, ...], Located] = {}
        self._given: dict[tuple[str, str], Value] = {}
        self._brought: dict[tuple[str, str, str], Value] = {}
        self._reach: dict[str, Mapping[str, Sure]] = {}
        # What files import from each other in a circle is looked for once: here until the first question is answered.
        self._under_way: dict[tuple[str, str], Value] = {}
        self._is_cut = False
        self._is_settling = False
        self._depth = 0
        # Of a class, what it inherits from: found by `Inference`, kept here until a file changes.
        self.lineages: dict[tuple[str, str], Sequence[tuple[Unit | None, str]]] = {}
        # Of an alias, what it is another name of: the same.
        self.originals: dict[tuple[str, str], Value] = {}
        # Modules that were looked for and are no file of the program, with the files that import them.
        self.missing: dict[tuple[File, str], None] = {}
        # By id of a file, the ids of files that the modules which it names were found to be since it was added.
        self._read: dict[str, set[str]] = {}

    # Files.

    def know(self, packages: Packages) -> None:
        """Have other manifests say what packages there are."""
        self._forget()
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
        for places, name, place in self._places(unit):
            places.setdefault(name, {})[place] = None
        if unit.manifest:
            self._providers[unit.id] = Provider(unit.scope, unit.file.repo, unit.manifest)

    def remove(self, file: str) -> None:
        """Forget a file."""
        self._forget()
        unit = self.units.pop(file, None)
        if unit is None:
            return
        for files, name in self._entries(unit):
            files[name].pop(unit.id, None)
        for places, name, place in self._places(unit):
            places[name].pop(place, None)
        self._providers.pop(file, None)
        self._read.pop(file, None)

    def readers(self, units: Iterable[Unit]) -> set[str]:
        """The ids of files that may be told something by these: of themselves, of those whose imports were found to lead to one of them,
        of those that see one without an import, and of all that these tell in turn.
        """
        readers: dict[Hashable, list[Unit]] = {}
        for reader, read in self._read.items():
            for file in read:
                readers.setdefault(file, []).append(self.units[reader])
        for unit in self.units.values():
            for circle in _sees(unit):
                readers.setdefault(circle, []).append(unit)
        todo = list(units)
        found = {unit.id for unit in todo}
        while todo:
            unit = todo.pop()
            new = [one for place in (unit.id, *_seen_in(unit)) for one in readers.pop(place, ())]
            todo += (one for one in new if one.id not in found)
            found.update(one.id for one in new)
        return found

    def definition(self, place: Place) -> Definition:
        """The symbol at a place."""
        return self.units[place.file].definitions[place.symbol]

    def defined_at(self, spot: Spot) -> Place | None:
        """What is defined at a line under a name; None if there is no symbol of its own, or the file was not read. Raises
        LookupError if the file has changed since, or is gone.
        """
        unit = self.units.get(spot.file)
        if unit is None and spot.file in self._unread:
            return None
        if unit is None or unit.blob != spot.blob:
            raise LookupError(spot.file)
        here = (position for position, line in enumerate(unit.name_lines) if line == spot.line)
        named = (position for position in here if unit.definitions[position].name == spot.name)
        position = next(named, None)
        return None if position is None else Place(unit.id, position)

    def packaged(self, unit: Unit, name: str) -> tuple[Place, ...]:
        """What other files of the folder define under a name, in languages where that is enough to see it."""
        if unit.language not in SAME_FOLDER:
            return ()
        others = [
            other
            for other in self._givers.get(name, {}).values()
            if other.id != unit.id and _share_names(unit, other)
        ]
        return tuple(
            Place(other.id, position) for other in _ordered(others) for position in other.named.get(name, ())
        )

    def members_elsewhere(self, unit: Unit, qualified_name: str) -> tuple[Place, ...]:
        """Where else than in the file of its class a member is defined, in languages that allow it."""
        if unit.language not in MEMBERS_IN_FOLDER | MEMBERS_ANYWHERE:
            return ()
        places = self._by_qualified_name.get(qualified_name, ())
        found = [place for place in places if _share_members(unit, self.units[place.file])]
        return tuple(sorted(found, key=lambda place: (self.units[place.file].file.path, place.symbol)))

    def types(self, unit: Unit, qualified_name: str) -> Sequence[Place]:
        """The definitions of a type in all files of the repository that the language shares, by path; one if it only is a scope."""
        found = [
            place
            for place in self._by_qualified_name.get(qualified_name, ())
            if self.definition(place).kind in TYPE_KINDS and _share_members(unit, self.units[place.file])
        ]
        found.sort(
            key=lambda place: (len(self.units[place.file].file.path), self.units[place.file].file.path)
        )
        is_scope = all(self.definition(place).kind in SCOPE_KINDS for place in found)
        return found[:1] if is_scope else found

    def named(self, name: str) -> Collection[Place]:
        """All definitions of a name."""
        return self._by_name.get(name, ())

    def bodies(self, places: Sequence[Place]) -> Sequence[Place]:
        """One place a symbol: of overloads, and of what is announced and defined apart, the one that says most."""
        chosen: dict[tuple[str, str], Place] = {}
        for place in places:
            if place.symbol < 0:
                chosen[place.file, ""] = place
                continue
            body = self._body(place) if self.definition(place).bodiless else place
            symbol = (body.file, self.definition(body).qualified_name)
            if symbol not in chosen or self._says_more(body, chosen[symbol]):
                chosen[symbol] = body
        return tuple(chosen.values())

    def _says_more(self, place: Place, other: Place) -> bool:
        """A body says more than an announcement, and a function more than the variable that it may be kept in."""
        one, two = self.definition(place), self.definition(other)
        return (one.bodiless, one.kind in VALUE_KINDS) < (two.bodiless, two.kind in VALUE_KINDS)

    def _body(self, place: Place) -> Place:
        """Where what is announced at a place is defined, the place itself if that is not known."""
        unit, definition = self.units[place.file], self.definition(place)
        found = [
            other
            for other in self._by_qualified_name[definition.qualified_name]
            if not self.definition(other).bodiless and _share_members(unit, self.units[other.file])
        ]
        is_shared = unit.language in MEMBERS_ANYWHERE
        return found[0] if len(found) == 1 and (is_shared or found[0].file == place.file) else place

    def _entries(self, unit: Unit) -> Iterator[tuple[dict[str, dict[str, Unit]], str]]:
        for one in keys(unit.file):
            yield self._by_key, one
        for name in unit.named:
            if "." not in name:
                yield self._givers, name
        for name in (*unit.imports, *unit.aliases):
            yield self._givers, name

    def _places(self, unit: Unit) -> Iterator[tuple[dict[str, dict[Place, None]], str, Place]]:
        for position, definition in enumerate(unit.definitions):
            place = Place(unit.id, position)
            yield self._by_name, definition.name, place
            yield self._by_qualified_name, definition.qualified_name, place

    def _forget(self) -> None:
        kept = (self._located, self._given, self._brought, self._reach)
        for memory in (*kept, self.lineages, self.originals, self.missing, self.candidates):
            memory.clear()
        self._provided = None

    # Modules.

    def locate(self, unit: Unit, module: str) -> Located:
        """The files that a module is, as a file imports it: those that it means surely, else those that it may mean."""
        place = unit.file.path if unit.language == "rust" else unit.folder
        known = (unit.scope, unit.language, place, module)
        if known not in self._located:
            self._located[known] = self._locate(unit, module)
        located = self._located[known]
        if located.units:
            self._read.setdefault(unit.id, set()).update(one.id for one in located.units)
        return located

    def _locate(self, unit: Unit, module: str) -> Located:
        """By a path mapping, by its path or by the package that it is named after: the first that is sure, else the last that may be."""
        found = NOWHERE
        for way in (self._mapped, self._find, self._in_package):
            located = way(unit, module)
            if located.sure is Sure.YES:
                return located
            found = located if located.units else found
        if not found.units:
            self.missing[unit.file, module] = None
        return found

    def _mapped(self, unit: Unit, module: str) -> Located:
        """The files that a module is by the first path of a mapping that leads to any."""
        for inside in self._packages.mapped(unit.scope, unit.file, module):
            if found := self._inside(unit, inside):
                return Located(found, Sure.YES)
        return NOWHERE

    def _find(self, unit: Unit, module: str) -> Located:
        found: dict[Sure, list[Unit]] = {Sure.YES: [], Sure.MAYBE: []}
        for other in self._by_key.get(key(unit.file, module), {}).values():
            if other.language not in family_of(unit.language):
                continue
            sure = imports(unit.file, module, other.file)
            # Of another repository that is never sure, unless the module names it.
            is_near = unit.scope == other.scope or unit.language in FOLDER_PACKAGES
            sure = sure if is_near else min(sure, Sure.MAYBE)
            if sure:
                found[sure].append(other)
        best = Sure.YES if found[Sure.YES] else Sure.MAYBE
        return Located(tuple(_ordered(found[best])), best)

    def _in_package(self, unit: Unit, module: str) -> Located:
        """The files that a module is by what is known of packages; not sure if several provide one of its name."""
        for packages in (self._packages, self._packages_of_files()):
            for inside in packages.meant(unit.scope, unit.file, module):
                if found := self._inside(unit, inside):
                    return Located(found, Sure.YES if packages.is_one(inside) else Sure.MAYBE)
        return NOWHERE

    def packages_around(self, unit: Unit) -> set[str]:
        """The names of the packages in whose folders a file lies."""
        known = (self._packages, self._packages_of_files())
        return {name for packages in known for name in packages.around(unit.scope, unit.file.path)}

    def modules_of(self, unit: Unit) -> Iterator[str]:
        """As what path mappings have a file imported, where that is called otherwise than the file."""
        return self._packages.modules_of(unit.scope, unit.file)

    def _packages_of_files(self) -> Packages:
        if self._provided is None:
            self._provided = Packages(self._providers.values())
        return self._provided

    def _inside(self, unit: Unit, inside: Inside) -> tuple[Unit, ...]:
        """The files that are a module of a package."""
        files = self._by_key.get(inside.key, {}).values()
        found = [one for one in files if one.language in family_of(unit.language)]
        found = [one for one in found if inside.is_file(one.scope, one.file)]
        if not found and inside.provider.scope == unit.scope:
            self.missing[inside.importer, inside.module] = None
        return tuple(_ordered(found))

    def brought(self, unit: Unit, one: Import) -> Value:
        """What an import brings: a definition, or a module."""
        known = (unit.id, one.name, one.module)
        if known not in self._brought:
            value = self._find_brought(unit, one)
            if self._under_way:
                return value  # it may be less than what there is
            self._brought[known] = value
        return self._brought[known]

    def _find_brought(self, unit: Unit, one: Import) -> Value:
        if is_standard(unit.language, one.module):
            return FOREIGN
        whole, joined = one.modules
        located = self.locate(unit, whole)
        before, self._is_cut = self._is_cut, False
        given = self.given_by(located, one.name, besides=unit)
        is_cut, self._is_cut = self._is_cut, self._is_cut or before
        if given.is_told:
            return given.by(Strategy.IMPORT)
        if is_cut:
            return UNKNOWN
        named = located if _names_module(one) else self.locate(unit, joined)
        if named.units:
            places = tuple(Place(one.id, -1) for one in named.units)
            return Value(What.MODULE, places, named.sure, Strategy.IMPORT)
        return FOREIGN if located.units and located.sure is Sure.YES else UNKNOWN

    def given(self, unit: Unit, name: str) -> Value:
        """What a file gives to others under a name: what it defines, imports, or passes on."""
        known = (unit.id, name)
        if known in self._given:
            return self._given[known]
        if known in self._under_way or self._depth > STEPS_MAX:
            found = self._under_way.get(known, UNKNOWN)
            self._is_cut |= not found.is_told and not self._is_settling
            return found
        before, self._is_cut = self._is_cut, False
        self._under_way[known] = UNKNOWN
        self._depth += 1
        value = self._under_way[known] = self._find_given(unit, name)
        self._depth -= 1
        if self._depth == 0:
            self._settle()
            return self._given[known]
        if not self._is_cut:
            self._given[known] = value
        self._is_cut |= before
        return value

    def _settle(self) -> None:
        """Keep what was found. Where files import each other in a circle, look again until nobody learns more; what still is
        unknown then is unknown to all of them.
        """
        if self._is_cut:
            self._depth = 1
            while self._learn():
                pass
            self._is_settling = True
            self._learn()
            self._is_settling, self._depth = False, 0
        self._given.update(self._under_way)
        self._under_way.clear()
        self._is_cut = False

    def _learn(self) -> bool:
        """Look for all again that is not known yet; whether anything was found."""
        unknown = [known for known, value in self._under_way.items() if not value.is_told]
        found = {known: self._find_given(self.units[known[0]], known[1]) for known in unknown}
        self._under_way |= found
        return any(value.is_told for value in found.values())

    def _find_given(self, unit: Unit, name: str) -> Value:
        if own := unit.named.get(name):
            return symbols(unit, own).by(Strategy.SAME_FILE)
        if unit.language in KEEPS_IMPORTS:
            return UNKNOWN
        for one in unit.imports.get(name, ()):
            if (value := self.brought(unit, one)).is_told:
                return value
        if name in unit.aliases:
            return self.given(unit, unit.aliases[name].type)
        if name == DEFAULT:
            return self._default_of(unit)
        return self.passed_on(unit, name)

    def _default_of(self, unit: Unit) -> Value:
        """What a module exports by default."""
        spelled = next(iter(unit.variables.get(("", DEFAULT), ())), None)
        return self.given(unit, spelled.type) if spelled else UNKNOWN

    def given_by(self, located: Located, name: str, besides: Unit | None = None) -> Value:
        """What the files of a module give under a name, all but the one that asks."""
        givers = self._givers.get(name, {})
        values = [
            self.given(unit, name).by(Strategy.MODULE, located.sure)
            for unit in located.units
            if (unit.id in givers or unit.wildcards or name == DEFAULT) and unit is not besides
        ]
        return _joined(value for value in values if value.is_told)

    def passed_on(self, unit: Unit, name: str) -> Value:
        """What comes with all that other files have: `from m import *`, `#include`."""
        if not unit.wildcards or name == DEFAULT:
            return UNKNOWN
        reach = self._reach_of(unit)
        values = []
        for giver in self._givers_within(reach, unit, name):
            value = self.given(giver, name)
            values.append(value.by(Strategy.WILDCARD_IMPORT, reach[giver.id]))
        told = [value for value in values if value.is_told]
        return _joined(told, is_first_enough=unit.language in LAST_IMPORT_WINS)

    def _givers_within(self, reach: Mapping[str, Sure], unit: Unit, name: str) -> Sequence[Unit]:
        """The files of a reach that give a name: by precedence where the language has one, else by path."""
        givers = self._givers.get(name, {})
        found = [giver for giver in givers.values() if giver.id in reach and giver.id != unit.id]
        if unit.language not in LAST_IMPORT_WINS:
            return _ordered(found)
        rank = {file: position for position, file in enumerate(reach)}
        return sorted(found, key=lambda giver: rank[giver.id])

    def _reach_of(self, unit: Unit) -> Mapping[str, Sure]:
        """The files of which a file brings everything in, also through others, and how sure that is. The last import of a file
        comes first, and a file comes before what it imports itself.
        """
        if unit.id not in self._reach:
            found: dict[str, Sure] = {}
            todo = [*self._brought_whole(unit, Sure.YES)]
            while todo:
                one, sure = todo.pop()
                if found.get(one.id, Sure.NO) >= sure:
                    continue
                found.pop(one.id, None)  # it takes the rank of the surer path
                found[one.id] = sure
                if one.language not in KEEPS_IMPORTS:
                    reached = self._brought_whole(one, sure)
                    todo += (other for other in reached if found.get(other[0].id, Sure.NO) < other[1])
            self._reach[unit.id] = found
        return self._reach[unit.id]

    def _brought_whole(self, unit: Unit, sure: Sure) -> Iterator[tuple[Unit, Sure]]:
        """The files of which a file brings everything in itself, and how sure that is if the file itself is as sure as given."""
        for module in unit.wildcards:
            located = self.locate(unit, module)
            yield from ((other, min(sure, located.sure)) for other in located.units)


def _sees(unit: Unit) -> Iterator[Hashable]:
    """The circles of files of which a file sees something without an import."""
    if unit.language in SAME_FOLDER | MEMBERS_IN_FOLDER:
        yield unit.scope, unit.language, unit.folder
    if unit.language in MEMBERS_ANYWHERE | OPEN_TYPES:
        yield from ((unit.scope, language) for language in family_of(unit.language))


def _seen_in(unit: Unit) -> tuple[Hashable, Hashable]:
    """The circles in which a file is seen."""
    return (unit.scope, unit.language, unit.folder), (unit.scope, unit.language)


def symbols(unit: Unit, positions: Sequence[int]) -> Value:
    """The definitions of a file at these positions."""
    return Value(What.SYMBOL, tuple(Place(unit.id, position) for position in positions))


def _ordered(units: Sequence[Unit]) -> Sequence[Unit]:
    """Files by path: an answer must not depend on the order in which they were read."""
    return sorted(units, key=lambda unit: (unit.file.path, unit.scope))


def _joined(values: Iterable[Value], *, is_first_enough: bool = False) -> Value:
    """Of several, the surest; all of those that are as sure and of one kind. `is_first_enough`: the first of them hides the
    others, if it is sure.
    """
    found = sorted(values, key=lambda value: (value.what is not What.SYMBOL, -value.sure))
    if not found:
        return UNKNOWN
    first = found[0]
    if is_first_enough and first.sure is Sure.YES:
        return first
    same = [value for value in found if value.what is first.what and value.sure is first.sure]
    return first._replace(places=tuple(dict.fromkeys(place for value in same for place in value.places)))


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
