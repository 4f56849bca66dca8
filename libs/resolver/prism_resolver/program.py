"""The files of a program: resolves modules to files, and names to what each file exports."""

import re
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, VALUE_KINDS, Strategy, SymbolKind
from prism_resolver.expressions import ABSOLUTE
from prism_resolver.facts import FileFacts
from prism_resolver.languages import (
    C_FAMILY,
    ECMASCRIPT,
    EXPORTS,
    EXTENDED_FROM_OUTSIDE,
    FOLDER_PACKAGES,
    JVM,
    KEEPS_IMPORTS,
    LAST_IMPORT_WINS,
    MEMBERS_ANYWHERE,
    MEMBERS_IN_FOLDER,
    NODE_MODULES,
    NPM_PACKAGE,
    OPEN_TYPES,
    PACKAGES_ARE_DECLARED,
    REEXPORTS_MODULES,
    SAME_FOLDER,
    SEES_NO_NAMESPACE,
    family_of,
    is_standard,
)
from prism_resolver.manifests import PackageModule, PackageProvider, Packages
from prism_resolver.modules import Certainty, File, imports, key, keys, package_name_of
from prism_resolver.occurrences import DefinitionSite, Occurrences
from prism_resolver.parameters import without_marks
from prism_resolver.unit import (
    DEFAULT,
    MODULE_EXPORTS,
    WHOLE_MODULE,
    Import,
    Unit,
    UnitDefinition,
    dotted_namespace,
    extends_its_import,
    is_submodule,
    read_unit,
)
from prism_resolver.values import EXTERNAL, UNKNOWN, SymbolRef, Value, ValueKind

# The end of the name of a project file of C#: its folder is the project.
PROJECT_SUFFIX = ".csproj"
# Files that belong to every project below their folder.
SHARED_PROJECT_FILES = frozenset({"directory.build.props", "directory.build.targets"})
# What the files at the roots of crates are called, and the folders in which every file is one.
CRATE_ROOTS = frozenset({"lib.rs", "main.rs"})
CRATE_FOLDERS = frozenset({"benches", "bin", "examples", "tests"})
# Depth of re-exports.
STEPS_MAX = 40
# Depth of the nested types that an import may name.
NESTED_MAX = 3
# A member of one of these kinds that an import takes from a package of Kotlin is an extension.
_EXTENSION_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.PROPERTY})
# A definition inside one of these is visible by its bare name everywhere in it.
SCOPE_KINDS = frozenset({SymbolKind.NAMESPACE, SymbolKind.MODULE})
# Before the name of a member of a CommonJS module.
_EXPORTED = f"{EXPORTS}."
DEFAULTS = frozenset({DEFAULT, MODULE_EXPORTS})


class LocatedModule(NamedTuple):
    """The files that a module may mean, and with what certainty."""

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
        """Creates an empty program. `unloaded`: ids of files that exist but may not be loaded.

        `occurrences` are from compiler indexes, `packages` from the texts of manifests.
        """
        self.occurrences = occurrences or Occurrences()
        self._packages = packages or Packages()
        self._unloaded = unloaded
        # Packages derived from the loaded files alone, which show less of a manifest: providers by file id,
        # and the packages, built on demand.
        self._providers: dict[str, PackageProvider] = {}
        self._packages_of_loaded: Packages | None = None
        self.units: dict[str, Unit] = {}
        # A resolver's cache for names with many definitions, cleared when a file changes.
        self.candidates: dict[tuple[Hashable, ...], Sequence[SymbolRef]] = {}
        self._by_key: dict[str, dict[str, Unit]] = {}
        # Declared package -> its files.
        self._by_package: dict[str, dict[str, Unit]] = {}
        # Files that import namespaces of C# for all files of their project.
        self._importing_everywhere: dict[str, Unit] = {}
        self._projects: dict[str, Unit] = {}
        # Scope and folder -> the folder of its project. Cleared when a file changes, as is the next.
        self._project_folders: dict[tuple[str, str], str] = {}
        # File -> namespaces that others import for it.
        self._everywhere: dict[str, Sequence[str]] = {}
        # Name -> files that define it at the top level, or import it.
        self._exporters: dict[str, dict[str, Unit]] = {}
        # Name -> files that export a symbol under it that has another name.
        self._renaming: dict[str, dict[str, Unit]] = {}
        # Field -> files that store values in it.
        self._storing: dict[str, dict[str, Unit]] = {}
        # Cache of a resolver: name of a called field -> what it may hold. Cleared when a file changes.
        self.held: dict[str, tuple[SymbolRef, ...]] = {}
        # Cache of a resolver: definitions and arguments -> the overloads that these fit, and whether it is sure.
        self.chosen: dict[tuple[Hashable, ...], tuple[Sequence[SymbolRef], bool]] = {}
        # Cache of a resolver: definitions and arguments that fit none of them -> overloads of a base class.
        self.inherited_overloads: dict[tuple[Hashable, ...], tuple[SymbolRef, ...]] = {}
        self._by_name: dict[str, dict[SymbolRef, None]] = {}
        self._by_qualified_name: dict[str, dict[SymbolRef, None]] = {}
        # Scope, language, package and qualified name -> its definitions in any file, and the types among them.
        self._members_elsewhere: dict[tuple[str, ...], tuple[SymbolRef, ...]] = {}
        self._types: dict[tuple[str, ...], Sequence[SymbolRef]] = {}
        # Scope, package, language and name -> definitions in all files of the package.
        self._in_packages: dict[tuple[str, ...], tuple[SymbolRef, ...]] = {}
        self._located: dict[tuple[str, ...], LocatedModule] = {}
        self._exported_values: dict[tuple[str, str], Value] = {}
        # File -> imports by the names that the imported packages declare.
        self._package_imports: dict[str, Mapping[str, Sequence[Import]]] = {}
        self._imported_values: dict[tuple[str, str, str], Value] = {}
        self._wildcard_closures: dict[str, Mapping[str, Certainty]] = {}
        # File of Rust -> the enumerations and modules in braces that it opens.
        self._opened: dict[str, Sequence[str]] = {}
        # Whether a name is that of a crate, by file.
        self._crates: dict[tuple[str, str], bool] = {}
        # Parts of a path of Rust that lead to a file, by file and path.
        self._parts_of_paths: dict[tuple[str, str], int] = {}
        self._visible_usings: dict[str, Mapping[str, Sequence[str]]] = {}
        # Values that are being computed, to end cycles of imports. Cleared when the outermost lookup ends.
        self._in_progress: dict[tuple[str, str], Value] = {}
        self._is_incomplete = False
        self._is_final_pass = False
        self._depth = 0
        # Cache of `Inference`: class -> its base classes. Cleared when a file changes.
        self.lineages: dict[tuple[str, str], Sequence[tuple[Unit | None, str]]] = {}
        # Cache of `Inference`: alias -> its target.
        self.originals: dict[tuple[str, str], Value] = {}
        # Cache of `Inference`: function of JavaScript that declares no type -> what it returns.
        self.results: dict[tuple[str, str], Value] = {}
        # Modules that are no file of the program, with the files that import them.
        self.missing: dict[tuple[File, str], None] = {}
        # File id -> ids of the files that its imports have been resolved to since it was added.
        self._imported_files: dict[str, set[str]] = {}

    # Files.

    def set_packages(self, packages: Packages) -> None:
        """Replaces the packages."""
        self._clear_caches()
        self._packages = packages

    def add(self, facts: FileFacts) -> None:
        """Adds a file, or replaces its previous version."""
        self.add_unit(read_unit(facts))

    def add_unit(self, unit: Unit) -> None:
        """Adds a file that is already parsed, or replaces its previous version."""
        self.remove(unit.id)
        self.units[unit.id] = unit
        for files, name in self._entries(unit):
            files.setdefault(name, {})[unit.id] = unit
        for refs, name, ref in self._symbol_refs(unit):
            refs.setdefault(name, {})[ref] = None
        if unit.everywhere:
            self._importing_everywhere[unit.id] = unit
        if unit.file.path.endswith(PROJECT_SUFFIX):
            self._projects[unit.id] = unit
        if unit.manifest:
            self._providers[unit.id] = PackageProvider(unit.scope, unit.file.repo, unit.manifest)

    def remove(self, file: str) -> None:
        """Removes a file."""
        self._clear_caches()
        unit = self.units.pop(file, None)
        if unit is None:
            return
        for files, name in self._entries(unit):
            files[name].pop(unit.id, None)
        for refs, name, ref in self._symbol_refs(unit):
            refs[name].pop(ref, None)
        self._providers.pop(file, None)
        self._importing_everywhere.pop(file, None)
        self._projects.pop(file, None)
        self._imported_files.pop(file, None)

    def dependents(self, units: Iterable[Unit]) -> set[str]:
        """Returns the ids of all transitive dependents of the given units, and of the units themselves.

        A file depends on those that its imports resolve to, and on those that it sees without an import.
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
        """Returns the definition of a symbol."""
        return self.units[ref.file].definitions[ref.symbol]

    def defined_at(self, site: DefinitionSite) -> SymbolRef | None:
        """Returns the symbol that is defined at a site; None if there is none, or the file is not loaded.

        Raises LookupError if the file has changed since, or is gone.
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
        """Returns the definitions of a name in other files of the package, if the language shares these."""
        if unit.language not in SAME_FOLDER:
            return ()
        known = (unit.scope, unit.package, unit.root, _group_of(unit.language), name)
        if known not in self._in_packages:
            sharing = [other for other in self._exporters.get(name, {}).values() if _share_names(unit, other)]
            found = _nearest(unit, sharing)
            self._in_packages[known] = tuple(
                SymbolRef(other.id, position)
                for other in _ordered(found)
                for position in other.named.get(name, ())
            )
        refs = self._in_packages[known]
        return tuple(ref for ref in refs if ref.file != unit.id) if refs else refs

    def members_in_other_files(self, unit: Unit, qualified_name: str) -> tuple[SymbolRef, ...]:
        """Returns the definitions of a member in any file, in languages that allow it outside the class."""
        if unit.language not in MEMBERS_IN_FOLDER | MEMBERS_ANYWHERE:
            return ()
        refs = self._by_qualified_name.get(qualified_name)
        if not refs:
            return ()
        package = unit.package if unit.language in MEMBERS_IN_FOLDER else ""
        known = (unit.scope, unit.language, package, qualified_name)
        if known not in self._members_elsewhere:
            found = [ref for ref in refs if self._may_add_member(unit, ref)]
            found.sort(key=lambda ref: (self.units[ref.file].file.path, ref.symbol))
            self._members_elsewhere[known] = tuple(found)
        return self._members_elsewhere[known]

    def _may_add_member(self, unit: Unit, ref: SymbolRef) -> bool:
        """Returns whether a definition may be a member of the type of its qualified name in a file."""
        other = self.units[ref.file]
        if not _share_members(unit, other):
            return False
        # A member inside of a class belongs to that one, however a class of another package is called.
        is_outside = unit.language not in EXTENDED_FROM_OUTSIDE or self.definition(ref).parent < 0
        return is_outside or unit.declared == other.declared

    def types_named(self, unit: Unit, qualified_name: str) -> Sequence[SymbolRef]:
        """Returns a type's definitions in the repository, by path; only one of a namespace or module."""
        refs = self._by_qualified_name.get(qualified_name)
        if not refs:
            return ()
        package = unit.package if unit.language in MEMBERS_IN_FOLDER else ""
        known = (unit.scope, unit.language, package, qualified_name)
        if known not in self._types:
            self._types[known] = self._find_types(unit, refs)
        return self._types[known]

    def _find_types(self, unit: Unit, refs: Iterable[SymbolRef]) -> Sequence[SymbolRef]:
        found = [
            ref
            for ref in refs
            if self.definition(ref).kind in TYPE_KINDS and _share_members(unit, self.units[ref.file])
        ]
        found.sort(key=lambda ref: (len(self.units[ref.file].file.path), self.units[ref.file].file.path))
        is_scope = all(self.definition(ref).kind in SCOPE_KINDS for ref in found)
        return found[:1] if is_scope else found

    def free_functions(self, unit: Unit, name: str) -> tuple[SymbolRef, ...]:
        """Returns the functions of a name outside of types, in all files of the repository and language."""
        found = (
            ref
            for ref in self._by_qualified_name.get(name, ())
            if self.definition(ref).kind is SymbolKind.FUNCTION
            and self.units[ref.file].scope == unit.scope
            and self.units[ref.file].language == unit.language
        )
        return tuple(sorted(found, key=lambda ref: (self.units[ref.file].file.path, ref.symbol)))

    def named(self, name: str) -> Collection[SymbolRef]:
        """Returns all definitions of a name."""
        return self._by_name.get(name, ())

    def main_definitions(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Reduces to one definition per symbol: one of several overloads, the body for a declaration."""
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

    def overloads(self, refs: Sequence[SymbolRef]) -> Mapping[SymbolRef, Sequence[str]]:
        """Returns the distinct functions among definitions of a name, each with its parameters as they are declared.

        A declaration and its definition are one function, which either of them may describe: only the
        declaration has the defaults.
        """
        found: dict[SymbolRef, list[str]] = {}
        known: dict[tuple[str, str, str], SymbolRef] = {}
        for ref in refs:
            definition = self.definition(ref)
            body = self._body(ref) if definition.bodiless else ref
            symbol = (body.file, definition.qualified_name, without_marks(definition.parameters))
            described = definition.described_parameters
            found.setdefault(known.setdefault(symbol, body), []).append(described)
        return found

    def constructors(self, ref: SymbolRef) -> Sequence[SymbolRef]:
        """Returns what makes objects of a type: its constructors, and the type itself if it names parameters."""
        unit, own = self.units[ref.file], self.definition(ref)
        inside = tuple(
            SymbolRef(ref.file, at)
            for at, one in enumerate(unit.definitions)
            if one.parent == ref.symbol and one.kind is SymbolKind.CONSTRUCTOR
        )
        named = unit.definitions[inside[0].symbol].name if inside else own.name
        elsewhere = self.members_in_other_files(unit, f"{own.qualified_name}.{named}")
        makers = [one for one in elsewhere if self.definition(one).kind is SymbolKind.CONSTRUCTOR]
        primary = (ref,) if own.parameters else ()
        return tuple(dict.fromkeys((*primary, *inside, *makers)))

    def _is_better(self, ref: SymbolRef, other: SymbolRef) -> bool:
        """Returns whether `ref` is better: a body than a declaration, a function than its variable."""
        one, two = self.definition(ref), self.definition(other)
        return (one.bodiless, one.kind in VALUE_KINDS) < (two.bodiless, two.kind in VALUE_KINDS)

    def _body(self, ref: SymbolRef) -> SymbolRef:
        """Returns the body of a declaration, or the declaration itself if its body is not known."""
        unit, definition = self.units[ref.file], self.definition(ref)
        found = [
            other
            for other in self._by_qualified_name[definition.qualified_name]
            if not self.definition(other).bodiless and _share_members(unit, self.units[other.file])
        ]
        if len(found) > 1 and definition.parameters:
            wanted = without_marks(definition.parameters)
            found = [one for one in found if without_marks(self.definition(one).parameters) == wanted]
        is_shared = unit.language in MEMBERS_ANYWHERE
        return found[0] if len(found) == 1 and (is_shared or found[0].file == ref.file) else ref

    def _entries(self, unit: Unit) -> Iterator[tuple[dict[str, dict[str, Unit]], str]]:
        for one in keys(unit.file):
            yield self._by_key, one
        exported = (EXPORTS, *_whole_names(unit))
        for name in unit.named:
            if "." not in name:
                yield self._exporters, name
            elif any(name.startswith(f"{owner}.") for owner in exported):
                yield self._exporters, name.partition(".")[2]
        for name in (*unit.imports, *unit.aliases):
            yield self._exporters, name.removeprefix(_EXPORTED)
        for name in unit.aliases:
            if name not in unit.named:
                yield self._renaming, name.removeprefix(_EXPORTED)
        for field in unit.stored:
            yield self._storing, field
        for package in unit.namespaces or filter(None, [unit.declared]):
            yield self._by_package, package

    def is_other_name(self, name: str) -> bool:
        """Returns whether a file exports a symbol under this name that has another one: `exports.exist = check`."""
        return bool(self._renaming.get(name))

    def stored_in(self, field: str) -> Iterator[tuple[Unit, str]]:
        """Yields the values that files store in fields of this name, each with the file.

        Includes those that an initializer names by their position in the struct.
        """
        for place in dict.fromkeys((field, *self._positions(field))):
            for unit in _ordered(list(self._storing.get(place, {}).values())):
                yield from ((unit, name) for name in unit.stored[place])

    def fields_of(self, struct: str) -> set[str]:
        """Returns the names of the fields of all structs of a name."""
        found: set[str] = set()
        for ref in self.named(struct):
            definitions = self.units[ref.file].definitions
            found.update(
                one.name for one in definitions if one.kind is SymbolKind.FIELD and one.parent == ref.symbol
            )
        return found

    def _positions(self, field: str) -> Iterator[str]:
        """Yields `struct#position` of each field of this name."""
        for ref in self.named(field):
            definitions = self.units[ref.file].definitions
            owner = definitions[ref.symbol].parent
            if definitions[ref.symbol].kind is SymbolKind.FIELD and owner >= 0:
                before = definitions[owner : ref.symbol]
                position = sum(one.parent == owner and one.kind is SymbolKind.FIELD for one in before)
                yield from (f"{part}#{position}" for part in definitions[owner].qualified_name.split("."))

    def _symbol_refs(self, unit: Unit) -> Iterator[tuple[dict[str, dict[SymbolRef, None]], str, SymbolRef]]:
        for position, definition in enumerate(unit.definitions):
            ref = SymbolRef(unit.id, position)
            yield self._by_name, definition.name, ref
            yield self._by_qualified_name, definition.qualified_name, ref
        if unit.language in C_FAMILY:  # constants of enumerations have a second name, without them
            for name, positions in unit.named.items():
                for position in positions:
                    if unit.definitions[position].qualified_name != name:
                        yield self._by_qualified_name, name, SymbolRef(unit.id, position)

    def _clear_caches(self) -> None:
        kept = (self._located, self._exported_values, self._imported_values, self._wildcard_closures)
        self._package_imports.clear()
        for memory in (
            *kept,
            self._in_packages,
            self._everywhere,
            self._project_folders,
            self._members_elsewhere,
            self._types,
            self._visible_usings,
            self._opened,
            self._crates,
            self._parts_of_paths,
            self.lineages,
            self.originals,
            self.results,
            self.missing,
            self.candidates,
            self.held,
            self.chosen,
            self.inherited_overloads,
        ):
            memory.clear()
        self._packages_of_loaded = None

    # Modules.

    def locate(self, unit: Unit, module: str) -> LocatedModule:
        """Returns the files that an imported module certainly means, else those that it may mean."""
        start = unit.file.path if unit.language == "rust" else unit.folder
        known = (unit.scope, unit.language, start, module)
        if known not in self._located:
            self._located[known] = self._locate(unit, module)
        located = self._located[known]
        if located.units:
            self._imported_files.setdefault(unit.id, set()).update(one.id for one in located.units)
        return located

    def _locate(self, unit: Unit, module: str) -> LocatedModule:
        """Tries path mappings, paths and packages.

        Returns the first certain result, else the last possible one.
        """
        found = NOT_FOUND
        ways = [self._mapped, self._find, self._in_package]
        if unit.language == "rust":
            if module == "crate":
                return self._crate_root(unit)
            head = module.partition("::")[0]
            if any(map(is_submodule, unit.imports.get(head, ()))):
                inner = self._find(unit, f"self::{module}")  # `mod depot; use depot::Depot;`
                if inner.certainty is Certainty.YES:
                    return inner
            # A crate comes before a file of its name in another folder, unless the name is one of this file.
            if head not in unit.imports and head not in unit.named:
                ways = [self._in_package, self._find]
        for find in ways:
            located = find(unit, module)
            if located.certainty is Certainty.YES:
                return located
            found = located if located.units else found
        if not found.units:
            self.missing[unit.file, module] = None
        return found

    def _crate_root(self, unit: Unit) -> LocatedModule:
        """Returns the file at the root of a file's crate; of a library and a program that share it, both."""
        folder, name = unit.folder, unit.file.path.rpartition("/")[2]
        if name in CRATE_ROOTS or folder.rpartition("/")[2] in CRATE_FOLDERS:
            return LocatedModule((unit,), Certainty.YES)
        name = name.removesuffix(".rs")
        while True:
            prefix = f"{folder}/" if folder else ""
            paths = {f"{prefix}{one}" for one in CRATE_ROOTS}
            roots = [
                one
                for key in CRATE_ROOTS
                for one in self._by_key.get(key.removesuffix(".rs"), {}).values()
                if one.scope == unit.scope and one.file.path in paths
            ]
            owners = [one for one in roots if any(map(is_submodule, one.imports.get(name, ())))]
            if roots:
                return LocatedModule(tuple(_ordered(owners or roots)), Certainty.YES)
            if not folder:
                return NOT_FOUND
            folder, _, name = folder.rpartition("/")

    def _mapped(self, unit: Unit, module: str) -> LocatedModule:
        """Returns the files at the first mapped path that has any."""
        for candidate in self._packages.mapped(unit.scope, unit.file, module):
            if found := self._package_files(unit, candidate):
                return LocatedModule(found, Certainty.YES)
        return NOT_FOUND

    def _find(self, unit: Unit, module: str) -> LocatedModule:
        if unit.language in PACKAGES_ARE_DECLARED and (located := self._declaring(unit, module)).units:
            return located
        found: dict[Certainty, list[Unit]] = {Certainty.YES: [], Certainty.MAYBE: []}
        for other in self._by_key.get(key(unit.file, module), {}).values():
            if other.language not in family_of(unit.language) or _is_elsewhere(other, module):
                continue
            certainty = imports(unit.file, module, other.file)
            # A match in another repository is uncertain, unless the module names the repository.
            is_near = unit.scope == other.scope or unit.language in FOLDER_PACKAGES
            certainty = certainty if is_near else min(certainty, Certainty.MAYBE)
            if certainty:
                found[certainty].append(other)
        best = Certainty.YES if found[Certainty.YES] else Certainty.MAYBE
        return LocatedModule(tuple(_ordered(found[best])), best)

    def _declaring(self, unit: Unit, module: str) -> LocatedModule:
        """Returns the files that declare a package, or a type of one with its nested types: `a.Depot.Gate`."""
        parts = dotted_namespace(module).split(".")
        for count in range(len(parts), max(0, len(parts) - NESTED_MAX), -1):
            files = self._by_package.get(".".join(parts[:count]), {})
            owners = self._exporters.get(parts[count], {}) if count < len(parts) else files
            found = [
                other
                for file, other in files.items()
                if file in owners and _group_of(other.language) == _group_of(unit.language)
            ]
            near = [other for other in found if other.scope == unit.scope]
            if found:
                # A type of a package that one other repository declares is that one, whatever provides it.
                is_one = count in range(2, len(parts)) and len({other.scope for other in found}) == 1
                certainty = Certainty.YES if near or is_one else Certainty.MAYBE
                return LocatedModule(tuple(_ordered(near or found)), certainty)
        return NOT_FOUND

    def namespace(self, unit: Unit, name: str) -> Value:
        """Returns a namespace of PHP, by its name with dots, as a module; unknown without a file that declares it."""
        files = [one for one in self._by_package.get(name, {}).values() if one.language == unit.language]
        near = [one for one in files if one.scope == unit.scope]
        scopes = {one.scope for one in files}
        if not files:
            return UNKNOWN
        certainty = Certainty.YES if near or len(scopes) == 1 else Certainty.MAYBE
        self._imported_files.setdefault(unit.id, set()).update(one.id for one in near or files)
        return _module_value(LocatedModule(tuple(_ordered(near or files)), certainty))

    def outside_namespaces(self, unit: Unit, name: str) -> Value:
        """Returns what files of PHP define in no namespace, which all files see; uncertain if several do."""
        files = [
            one
            for one in self._exporters.get(name, {}).values()
            if one.language == unit.language and one.scope == unit.scope and not one.declared
        ]
        refs = tuple(SymbolRef(one.id, at) for one in _ordered(files) for at in one.named.get(name, ()))
        certainty = Certainty.YES if len(files) == 1 else Certainty.MAYBE
        return Value(ValueKind.SYMBOL, refs, certainty, Strategy.SAME_PACKAGE) if refs else UNKNOWN

    def nearest_value(self, unit: Unit, value: Value) -> Value:
        """Returns the part of a value in the source root nearest to a file; uncertain if several are as near."""
        if unit.language not in JVM or value.kind is not ValueKind.SYMBOL or not value.symbols[1:]:
            return value
        near = _nearest(unit, [self.units[ref.file] for ref in value.symbols])
        files = {one.id for one in near}
        is_one = len({one.root for one in near}) == 1
        return value._replace(
            symbols=tuple(ref for ref in value.symbols if ref.file in files),
            certainty=value.certainty if is_one else min(value.certainty, Certainty.MAYBE),
        )

    def imported_everywhere(self, unit: Unit) -> Sequence[str]:
        """Returns the namespaces that files of a project of C# import for a file of it."""
        if unit.id not in self._everywhere:
            sharing = [
                other
                for other in self._importing_everywhere.values()
                if other.scope == unit.scope and self._share_project(unit, other)
            ]
            found = [name for other in _ordered(sharing) for name in other.everywhere]
            self._everywhere[unit.id] = list(dict.fromkeys(found))
        return self._everywhere[unit.id]

    def _share_project(self, unit: Unit, other: Unit) -> bool:
        """Returns whether the project of a file is that of another one: the nearest project file above each."""
        if other.file.path.rpartition("/")[2].lower() in SHARED_PROJECT_FILES:
            return not other.folder or f"{unit.folder}/".startswith(f"{other.folder}/")
        return self._project_of(unit, unit.folder) == self._project_of(unit, other.folder)

    def _project_of(self, unit: Unit, folder: str) -> str:
        """Returns the nearest folder with a project file; without one, the root of the repository."""
        known = (unit.scope, folder)
        if known not in self._project_folders:
            folders = {one.folder for one in self._projects.values() if one.scope == unit.scope}
            while folder and folder not in folders:
                folder = folder.rpartition("/")[0]
            self._project_folders[known] = folder
        return self._project_folders[known]

    def _in_package(self, unit: Unit, module: str) -> LocatedModule:
        """Returns the files of a module in the known packages; uncertain with several providers."""
        for packages in self._known_packages():
            for candidate in packages.candidates(unit.scope, unit.file, module):
                if found := self._package_files(unit, candidate):
                    is_only = packages.is_only_provider(candidate)
                    # A crate that has the file means itself by its name, whatever samples of others are called.
                    is_own = unit.language == "rust" and candidate.contains(unit.scope, unit.file.path)
                    return LocatedModule(found, Certainty.YES if is_only or is_own else Certainty.MAYBE)
        return NOT_FOUND

    def packages_containing(self, unit: Unit) -> set[str]:
        """Returns the names of the packages whose folders contain a file."""
        return {
            name
            for packages in self._known_packages()
            for name in packages.containing(unit.scope, unit.file.path)
        }

    def module_names(self, unit: Unit) -> Iterator[str]:
        """Yields the names under which path mappings import a file, where they differ from its own."""
        return self._packages.module_names(unit.scope, unit.file)

    def _known_packages(self) -> tuple[Packages, Packages]:
        """Returns the packages of the manifests, and those of the files."""
        return self._packages, self._packages_of_files()

    def _packages_of_files(self) -> Packages:
        if self._packages_of_loaded is None:
            self._packages_of_loaded = Packages(self._providers.values())
        return self._packages_of_loaded

    def _package_files(self, unit: Unit, candidate: PackageModule) -> tuple[Unit, ...]:
        """Returns the files of a module in a package."""
        files = self._by_key.get(candidate.key, {}).values()
        found = [one for one in files if one.language in family_of(unit.language)]
        found = [one for one in found if candidate.is_file(one.scope, one.file)]
        if not found and candidate.provider.scope == unit.scope:
            self.missing[candidate.importer, candidate.module] = None
        return tuple(_ordered(found))

    def imports_as(self, unit: Unit, name: str) -> Sequence[Import]:
        """Returns the imports that bind a name.

        In Go, an import without an alias binds the name that the files of the folder declare.
        """
        imports = unit.imports.get(name, ())
        if imports or unit.language not in FOLDER_PACKAGES:
            return imports
        if unit.id not in self._package_imports:
            self._package_imports[unit.id] = self._imports_by_package(unit)
        return self._package_imports[unit.id].get(name, ())

    def _imports_by_package(self, unit: Unit) -> Mapping[str, Sequence[Import]]:
        found: dict[str, list[Import]] = {}
        for local, bound in unit.imports.items():
            for one in bound:
                if local == package_name_of(one.module):
                    located = self.locate(unit, one.module)
                    for name in {other.package_name for other in located.units} - {local, ""}:
                        found.setdefault(name, []).append(one)
        return found

    def imported_value(self, unit: Unit, one: Import) -> Value:
        """Returns the value that an import binds: a definition, or a module."""
        known = (unit.id, one.name, one.module)
        if known not in self._imported_values:
            is_outside = unit.language in SEES_NO_NAMESPACE and one.module == ABSOLUTE  # `use Depot;`
            value = (
                self.outside_namespaces(unit, one.name)
                if is_outside
                else self._find_imported_value(unit, one)
            )
            if self._in_progress:
                return value  # may be incomplete
            self._imported_values[known] = value
        return self._imported_values[known]

    def _find_imported_value(self, unit: Unit, one: Import) -> Value:
        if is_standard(unit.language, one.module):
            return EXTERNAL
        whole, joined = one.modules
        located = self.locate(unit, whole)
        if unit.language in FOLDER_PACKAGES:  # an import binds the package, whatever a type in it is called
            return _module_value(located)
        before, self._is_incomplete = self._is_incomplete, False
        if not located.units and unit.language in REEXPORTS_MODULES:
            located = self._reexported_module(unit, whole)
        is_whole = one.name == WHOLE_MODULE
        # A file of Java imports what is nested in its own types.
        own = None if unit.language in JVM else unit
        exported = UNKNOWN if is_whole else self.module_export(located, one.name, exclude=own)
        exported = self.nearest_value(unit, exported)
        if unit.language in JVM and (far := self._of_another_repository(unit, whole, one.name)).is_known:
            exported = exported if any(self._is_near(unit, ref) for ref in exported.symbols) else far
        is_incomplete, self._is_incomplete = self._is_incomplete, self._is_incomplete or before
        if exported.is_known or is_incomplete:
            return exported.with_strategy(Strategy.IMPORT) if exported.is_known else UNKNOWN
        member = self.member_of_imported_type(unit, whole, one.name)
        if member.is_known:
            return member
        named = located if _names_module(one) else self.locate(unit, joined)
        if located.units and not named.units and unit.language != "rust":
            # What a file imports from itself is what it else has of the name, which may come from a cycle of imports.
            is_certain = located.certainty is Certainty.YES and any(
                other is not own for other in located.units
            )
            return EXTERNAL if is_certain else UNKNOWN
        is_foreign = not named.units and (
            (unit.language in ECMASCRIPT and self._is_foreign(unit, one.module))
            or (unit.language == "python" and self._is_foreign_package(unit, one.module))
            or unit.language in SEES_NO_NAMESPACE
        )
        value = EXTERNAL if is_foreign else _module_value(named)
        return self._member_of_path(unit, one, value) if unit.language == "rust" else value

    def _member_of_path(self, unit: Unit, one: Import, module: Value) -> Value:
        """Returns what an import of Rust names inside a file, else the module of its name.

        A macro may define what no file does, and one that is exported is at the root of its crate.
        """
        member = UNKNOWN if is_submodule(one) else self._inside_module(unit, one.module, one.name)
        if member.is_known or module.is_known:
            return member if member.is_known else module
        return EXTERNAL if self.is_foreign_crate(unit, one.module) else UNKNOWN

    def is_crate(self, unit: Unit, name: str) -> bool:
        """Returns whether a name is that of a crate: `crate`, one of a repository, or one that a manifest lists."""
        if unit.language != "rust":
            return False
        known = (unit.id, name)
        if known not in self._crates:
            is_here = name == "crate" or bool(self._in_package(unit, name).units)
            self._crates[known] = is_here or self.is_foreign_crate(unit, name)
        return self._crates[known]

    def is_foreign_crate(self, unit: Unit, path: str) -> bool:
        """Returns whether a path of Rust begins with a crate that a manifest lists and no repository provides."""
        head = path.partition("::")[0]
        return any(one.is_foreign_crate(unit.scope, head) for one in self._known_packages())

    def _is_foreign_package(self, unit: Unit, module: str) -> bool:
        head = module.partition(".")[0]
        return any(one.is_foreign_package(unit.scope, head) for one in self._known_packages())

    def _inside_module(self, unit: Unit, path: str, name: str) -> Value:
        """Returns what a path of Rust names inside a file: a case of an enumeration, or a member of `mod gates { … }`."""
        parts = path.split("::")
        count = self._parts_in_files(unit, path)
        value = (
            _module_value(self.locate(unit, "::".join(parts[:count])))
            if count
            else self.exported_value(unit, parts[0])
        )
        for part in (*parts[count or 1 :], name):
            value = self._member_inside(value, part)
        return value

    def _parts_in_files(self, unit: Unit, path: str) -> int:
        """Returns how many parts of a path of Rust lead to a file; 0 if none does."""
        known = (unit.id, path)
        if known not in self._parts_of_paths:
            parts = path.split("::")
            counts = range(len(parts), 0, -1)
            self._parts_of_paths[known] = next(
                (count for count in counts if self.locate(unit, "::".join(parts[:count])).units), 0
            )
        return self._parts_of_paths[known]

    def _member_inside(self, value: Value, name: str) -> Value:
        """Returns what a file, an enumeration or a module in braces has under a name."""
        if value.kind is ValueKind.MODULE:
            units = tuple(self.units[ref.file] for ref in value.symbols)
            return self.module_export(LocatedModule(units, value.certainty), name)
        for ref in value.symbols if value.kind is ValueKind.SYMBOL else ():
            home = self.units[ref.file]
            whole = f"{home.definitions[ref.symbol].qualified_name}.{name}"
            if found := home.named.get(whole):
                return symbol_value(home, found).with_strategy(Strategy.IMPORT, value.certainty)
        return UNKNOWN

    def _of_another_repository(self, unit: Unit, package: str, name: str) -> Value:
        """Returns what files of other repositories define in a package of the JVM; sure if it is only one repository."""
        files, owners = self._by_package.get(package, {}), self._exporters.get(name, {})
        found = [one for file, one in files.items() if file in owners and one.scope != unit.scope]
        is_one = len({one.scope for one in found}) == 1 and "." in package
        certainty = Certainty.YES if is_one else Certainty.MAYBE
        return (
            self.module_export(LocatedModule(tuple(_ordered(found)), certainty), name) if found else UNKNOWN
        )

    def _is_near(self, unit: Unit, ref: SymbolRef) -> bool:
        return self.units[ref.file].scope == unit.scope

    def _is_foreign(self, unit: Unit, module: str) -> bool:
        """Returns whether a module that is no file of the program belongs to another package of npm.

        A name that no manifest lists may be an alias of a bundler.
        """
        package = NPM_PACKAGE.match(module)
        if package is None:
            return False
        if module.partition("/")[0] in NODE_MODULES:
            return True
        if any(one.is_own(unit.scope, package[1]) for one in self._known_packages()):
            return False
        listed = self._packages.dependencies(unit.scope)
        return package[1] in listed or f"@types/{package[1]}" in listed

    def _reexported_module(self, unit: Unit, module: str) -> LocatedModule:
        """Returns the files of a module that another one exports: `town::gates` after `pub use depot::gates`."""
        outer, separator, name = module.rpartition("::")
        if not separator:
            return NOT_FOUND
        located = self.locate(unit, outer)
        located = located if located.units else self._reexported_module(unit, outer)
        value = self.module_export(located, name, exclude=unit)
        if value.kind is not ValueKind.MODULE:
            return NOT_FOUND
        return LocatedModule(tuple(self.units[ref.file] for ref in value.symbols), value.certainty)

    def member_of_imported_type(self, unit: Unit, module: str, name: str) -> Value:
        """Returns a member or a nested type of a type that an import names as its module: `import static a.Depot.open`."""
        if unit.language not in JVM:
            return UNKNOWN
        if (extensions := self._extensions(unit, module, name)).is_known:
            return extensions
        parts = [part for part in module.split(".") if part != "Companion"]
        for count in range(len(parts), max(0, len(parts) - NESTED_MAX), -1):
            located = self.locate(unit, ".".join(parts[:count]))
            owner = ".".join(parts[count - 1 :])
            refs = tuple(
                SymbolRef(other.id, position)
                for other in located.units
                for position in other.named.get(f"{owner}.{name}", ())
            )
            if refs:
                return Value(ValueKind.SYMBOL, refs, located.certainty, Strategy.IMPORT)
        return UNKNOWN

    def _extensions(self, unit: Unit, module: str, name: str) -> Value:
        """Returns the extensions of a name in a package of Kotlin, whose qualified names begin with the extended type."""
        located = self.locate(unit, module)
        files = {other.id for other in located.units if other.language == "kotlin"}
        refs = tuple(
            ref
            for ref in self.named(name)
            if ref.file in files and self.definition(ref).kind in _EXTENSION_KINDS
        )
        return Value(ValueKind.SYMBOL, refs, located.certainty, Strategy.IMPORT) if refs else UNKNOWN

    def member_of_exports(self, unit: Unit, name: str) -> Value:
        """Returns what a CommonJS module exports by `exports.name = …` or `module.exports = { name: … }`."""
        exported = f"{_EXPORTED}{name}"
        for owner in (EXPORTS, *_whole_names(unit)):
            if own := unit.named.get(f"{owner}.{name}"):
                return symbol_value(unit, own).with_strategy(Strategy.SAME_FILE)
        value, alias = self._first_known(unit, exported), unit.aliases.get(exported)
        return self._exported_path(unit, alias.type) if alias and not value.is_known else value

    def exported_value(self, unit: Unit, name: str) -> Value:
        """Returns the value of a name in a file: a definition, an import, an alias, the default or a wildcard."""
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
        """Caches the values of the outermost lookup.

        In a cycle of imports, first repeats the lookups until no more values become known. Values that are
        unknown then stay unknown.
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
        """Repeats the lookup of all unknown values. Returns whether any became known."""
        unknown = [known for known, value in self._in_progress.items() if not value.is_known]
        found = {known: self._find_exported_value(self.units[known[0]], known[1]) for known in unknown}
        self._in_progress |= found
        return any(value.is_known for value in found.values())

    def _find_exported_value(self, unit: Unit, name: str) -> Value:
        value = self.member_of_exports(unit, name) if unit.language in ECMASCRIPT else UNKNOWN
        # What `exports.name = other` exports is no definition called `name`, even if `other` is not known.
        is_other = unit.language in ECMASCRIPT and f"{_EXPORTED}{name}" in unit.aliases
        if not value.is_known and not is_other and (own := unit.named.get(name)):
            value = symbol_value(unit, own).with_strategy(Strategy.SAME_FILE)
            if unit.language == "python" and not extends_its_import(unit, name):
                value = self._with_import(unit, name, value)
        if value.is_known or unit.language in KEEPS_IMPORTS:
            return value
        value = self._first_known(unit, name)
        if not value.is_known and name in unit.aliases:
            return self.exported_value(unit, unit.aliases[name].type)
        if value.is_known:
            return value
        if name in DEFAULTS:
            return self._default_of(unit, name)
        return self.wildcard_value(unit, name)

    def _with_import(self, unit: Unit, name: str, own: Value) -> Value:
        """Adds what a file imports under a name that it defines where the import fails: `except ImportError`.

        Only what the module itself defines, so that a cycle of imports has one result.
        """
        imported: list[SymbolRef] = []
        for one in unit.imports.get(name, ()):
            located = self.locate(unit, one.module)
            if located.certainty is Certainty.YES and not one.is_in_function:
                others = (other for other in located.units if other is not unit)
                imported += (
                    SymbolRef(other.id, at) for other in others for at in other.named.get(one.name, ())
                )
        return own._replace(symbols=tuple(dict.fromkeys((*imported, *own.symbols))))

    def _first_known(self, unit: Unit, local: str) -> Value:
        """Returns the value of the first import of a local name that is known."""
        values = (self.imported_value(unit, one) for one in unit.imports.get(local, ()))
        return next((value for value in values if value.is_known), UNKNOWN)

    def _exported_path(self, unit: Unit, path: str) -> Value:
        """Returns the value of a dotted path in a file: `depot.open` of `exports.open = depot.open`."""
        head, *rest = path.split(".")
        if path.startswith(_EXPORTED):
            return self.exported_value(unit, path.removeprefix(_EXPORTED)) if len(rest) == 1 else UNKNOWN
        value = self._name_in(unit, head)
        for name in rest:
            if value.kind is ValueKind.MODULE:
                units = tuple(self.units[ref.file] for ref in value.symbols)
                value = self.module_export(LocatedModule(units, value.certainty), name)
            elif value.kind is ValueKind.SYMBOL and len(value.symbols) == 1:
                home = self.units[value.symbols[0].file]
                owner = home.definitions[value.symbols[0].symbol].qualified_name
                found = home.named.get(f"{owner}.{name}")
                value = symbol_value(home, found).with_strategy(value.strategy) if found else UNKNOWN
            else:
                return UNKNOWN
        return value

    def _name_in(self, unit: Unit, name: str) -> Value:
        """Returns the value of a name outside of functions: a definition or an import of the file."""
        own = unit.named.get(name)
        found = symbol_value(unit, own).with_strategy(Strategy.SAME_FILE) if own else UNKNOWN
        return found if own else self._first_known(unit, name)

    def _default_of(self, unit: Unit, name: str) -> Value:
        """Returns the default export of a module; of a CommonJS module what it is as a whole."""
        spelled = next(iter(unit.variables.get(("", name), ())), None)
        if spelled:
            return self.exported_value(unit, spelled.type)
        return self.exported_value(unit, MODULE_EXPORTS) if name == DEFAULT else UNKNOWN

    def whole_export(self, value: Value) -> Value:
        """Returns what the modules of a value are as a whole in CommonJS, `module.exports`; unknown if they are not one."""
        for _ in range(STEPS_MAX):
            if value.kind is not ValueKind.MODULE:
                return value
            units = tuple(self.units[ref.file] for ref in value.symbols)
            value = self.module_export(LocatedModule(units, value.certainty), MODULE_EXPORTS)
        return UNKNOWN

    def module_export(self, located: LocatedModule, name: str, exclude: Unit | None = None) -> Value:
        """Returns the value that the files of a module export under a name, without the file `exclude`."""
        exporters = self._exporters.get(name, {})
        values = [
            self.exported_value(unit, name).with_strategy(Strategy.MODULE, located.certainty)
            for unit in located.units
            if (unit.id in exporters or unit.wildcards or name in DEFAULTS) and unit is not exclude
        ]
        value = _merged(value for value in values if value.is_known)
        roots = [] if value.is_known else [unit for unit in located.units if _is_crate_root(unit)]
        return self.macro_of_crate(roots[0], name) if roots else value

    def macro_of_crate(self, unit: Unit, name: str) -> Value:
        """Returns the macro of a name in the crate of a file, which sees it without an import or at the crate's root."""
        if unit.language != "rust":
            return UNKNOWN
        macros = [ref for ref in self.named(name) if self.definition(ref).kind is SymbolKind.MACRO]
        roots = self.locate(unit, "crate").units if macros else ()
        folders = [f"{root.folder}/" if root.folder else "" for root in roots]
        near = [self.units[ref.file] for ref in macros]
        found = [
            ref
            for ref, home in zip(macros, near, strict=True)
            if home.scope == unit.scope and any(map(home.file.path.startswith, folders))
        ]
        certainty = Certainty.YES if len(found) == 1 else Certainty.MAYBE
        return Value(ValueKind.SYMBOL, tuple(found), certainty, Strategy.SAME_PACKAGE) if found else UNKNOWN

    def wildcard_value(self, unit: Unit, name: str) -> Value:
        """Returns the value that wildcard imports (`from m import *`, `#include`) give a name, or UNKNOWN."""
        if not unit.wildcards or name in DEFAULTS:
            return UNKNOWN
        closure = self._wildcard_closure(unit)
        values = []
        for exporter in self._exporters_within(closure, unit, name):
            value = self.exported_value(exporter, name)
            values.append(value.with_strategy(Strategy.WILDCARD_IMPORT, closure[exporter.id]))
        if unit.language == "rust":
            inside = (self._inside_module(unit, module, name) for module in self._opened_inside(unit))
            values += [value.with_strategy(Strategy.WILDCARD_IMPORT, value.certainty) for value in inside]
        known_values = [value for value in values if value.is_known]
        return _merged(known_values, first_wins=unit.language in LAST_IMPORT_WINS)

    def _opened_inside(self, unit: Unit) -> Sequence[str]:
        """Returns what a file of Rust opens that is no file: `use self::Kind::*`."""
        if unit.id not in self._opened:
            opened = [
                one
                for one in unit.wildcards
                if not is_standard("rust", one) and not self.locate(unit, one).units
            ]
            self._opened[unit.id] = opened
        return self._opened[unit.id]

    def namespaced_names(self, unit: Unit, name: str, inside: str) -> Iterator[str]:
        """Yields the qualified names that a name may have in C++, the nearest namespace first."""
        usings = self._usings(unit)
        around = [inside]
        while around[-1]:
            around.append(around[-1].rpartition(".")[0])
        for outer in around:
            if (
                outer and outer.rpartition(".")[2] != name
            ):  # in its class, the name of a constructor is the class
                yield f"{outer}.{name}"
        yield from usings.get(name, ())
        yield name
        yield from (f"{namespace}.{name}" for namespace in usings.get(WHOLE_MODULE, ()))

    def names_within(self, namespace: str) -> set[str]:
        """Returns the names of what any namespace of this name has."""
        inside = f".{namespace}."
        return {whole.rpartition(".")[2] for whole in self._by_qualified_name if inside in f".{whole}"}

    def included_value(self, unit: Unit, qualified_name: str) -> Value:
        """Returns the definitions of a qualified name in a file of C++ and in those that it includes; else unknown."""
        refs = self._by_qualified_name.get(qualified_name)
        if not refs:
            return UNKNOWN
        closure = self._wildcard_closure(unit)
        found = {ref: closure.get(ref.file, Certainty.NO) for ref in refs if ref.file != unit.id}
        best = max(found.values(), default=Certainty.NO)
        kept = [ref for ref in refs if ref.file == unit.id or (best and found.get(ref) is best)]
        is_own = any(ref.file == unit.id for ref in kept)
        if not kept:
            return UNKNOWN
        kept.sort(key=lambda ref: (self.units[ref.file].file.path, ref.symbol))
        certainty = Certainty.YES if is_own else best
        strategy = Strategy.SAME_FILE if is_own and not best else Strategy.WILDCARD_IMPORT
        return Value(ValueKind.SYMBOL, tuple(kept), certainty, strategy)

    def declared_value(self, unit: Unit, qualified_name: str) -> Value:
        """Returns a type in a namespace of C++ that a file does not include: `class Depot;` declares it there.

        Unknown if several files define it.
        """
        refs = self.types_named(unit, qualified_name) if "." in qualified_name else ()
        kinds = {self.definition(ref).kind for ref in refs}
        if not refs or kinds & SCOPE_KINDS or len({ref.file for ref in refs}) > 1:
            return UNKNOWN
        return Value(ValueKind.SYMBOL, tuple(refs), strategy=Strategy.SAME_PACKAGE)

    def _usings(self, unit: Unit) -> Mapping[str, Sequence[str]]:
        """Returns what `using` makes visible in a file: its own declarations and those of the files that it includes."""
        if unit.id not in self._visible_usings:
            found: dict[str, list[str]] = {}
            for file in (unit.id, *self._wildcard_closure(unit)):
                for name, whole in self.units[file].usings.items():
                    found.setdefault(name, []).extend(whole)
            self._visible_usings[unit.id] = {name: list(dict.fromkeys(one)) for name, one in found.items()}
        return self._visible_usings[unit.id]

    def _exporters_within(self, closure: Mapping[str, Certainty], unit: Unit, name: str) -> Sequence[Unit]:
        """Returns the other files of a closure that export a name: in import order if the last import wins, else by path."""
        exporters = self._exporters.get(name, {})
        found = [
            exporter for exporter in exporters.values() if exporter.id in closure and exporter.id != unit.id
        ]
        if unit.language not in LAST_IMPORT_WINS:
            return _ordered(found)
        rank = {file: position for position, file in enumerate(closure)}
        return sorted(found, key=lambda exporter: rank[exporter.id])

    def _wildcard_closure(self, unit: Unit) -> Mapping[str, Certainty]:
        """Returns the files that a file transitively imports by wildcard, with the certainty of each.

        The last import of a file comes first, and a file comes before its own imports.
        """
        if unit.id not in self._wildcard_closures:
            found: dict[str, Certainty] = {}
            todo = [*self._wildcard_sources(unit, Certainty.YES)]
            while todo:
                one, certainty = todo.pop()
                if found.get(one.id, Certainty.NO) >= certainty:
                    continue
                found.pop(one.id, None)  # it moves to the rank of the more certain path
                found[one.id] = certainty
                if one.language not in KEEPS_IMPORTS:
                    reached = self._wildcard_sources(one, certainty)
                    todo += (other for other in reached if found.get(other[0].id, Certainty.NO) < other[1])
            self._wildcard_closures[unit.id] = found
        return self._wildcard_closures[unit.id]

    def _wildcard_sources(self, unit: Unit, certainty: Certainty) -> Iterator[tuple[Unit, Certainty]]:
        """Yields the files that a file itself imports by wildcard, with at most the given certainty."""
        for module in unit.wildcards:
            located = self.locate(unit, module)
            yield from ((other, min(certainty, located.certainty)) for other in located.units)


def _is_crate_root(unit: Unit) -> bool:
    return unit.language == "rust" and unit.file.path.rpartition("/")[2] in CRATE_ROOTS


def _visible_groups(unit: Unit) -> Iterator[Hashable]:
    """Yields the groups of files whose names a file sees without an import."""
    if unit.language in SAME_FOLDER | MEMBERS_IN_FOLDER:
        yield unit.scope, _group_of(unit.language), unit.package
    if unit.language in MEMBERS_ANYWHERE | OPEN_TYPES | SEES_NO_NAMESPACE:
        yield from ((unit.scope, language) for language in family_of(unit.language))


def _own_groups(unit: Unit) -> tuple[Hashable, Hashable]:
    """Returns the groups that a file belongs to."""
    return (unit.scope, _group_of(unit.language), unit.package), (unit.scope, unit.language)


def _whole_names(unit: Unit) -> Iterator[str]:
    """Yields the names of what a CommonJS module is as a whole: `depot` of `module.exports = depot`."""
    if unit.language in ECMASCRIPT:
        yield from (one.type for one in unit.variables.get(("", MODULE_EXPORTS), ()) if one.type)


def symbol_value(unit: Unit, positions: Sequence[int]) -> Value:
    """Returns a value with the definitions of a file at these positions."""
    return Value(ValueKind.SYMBOL, tuple(SymbolRef(unit.id, position) for position in positions))


def _module_value(located: LocatedModule) -> Value:
    """Returns located files as a module; unknown without any."""
    refs = tuple(SymbolRef(one.id, -1) for one in located.units)
    return Value(ValueKind.MODULE, refs, located.certainty, Strategy.IMPORT) if refs else UNKNOWN


def _ordered(units: Sequence[Unit]) -> Sequence[Unit]:
    """Sorts files by path, so that results do not depend on the order in which files were loaded."""
    return sorted(units, key=lambda unit: (unit.file.path, unit.scope))


def _merged(values: Iterable[Value], *, first_wins: bool = False) -> Value:
    """Merges values: keeps the most certain, and combines those of equal certainty and the same kind.

    With `first_wins`, a certain first value hides the others.
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
    """Returns whether an import names a whole module: `import a.b`, `import * as x from './x.js'`."""
    last = re.split(r"::|[/\\]", one.module)[-1]
    return one.name in {DEFAULT, WHOLE_MODULE, last, last.partition(".")[0], last.rpartition(".")[2]}


def _share_members(unit: Unit, other: Unit) -> bool:
    """Returns whether a member of a class in one file may be defined in the other."""
    if unit.scope != other.scope or other.language not in family_of(unit.language):
        return False
    return unit.package == other.package if unit.language in MEMBERS_IN_FOLDER else True


def _share_names(unit: Unit, other: Unit) -> bool:
    """Returns whether two files see each other's definitions without an import."""
    if unit.scope != other.scope or _group_of(unit.language) != _group_of(other.language):
        return False
    return unit.package == other.package or unit.package in other.namespaces


def _group_of(language: str) -> str:
    """Returns a name for all languages that share packages with one: Java and Kotlin do."""
    return "jvm" if language in JVM else language


def _is_elsewhere(other: Unit, module: str) -> bool:
    """Returns whether a file declares a package that an imported module is not in, whatever its folder is called."""
    return bool(other.declared) and not f"{dotted_namespace(module)}.".startswith(f"{other.declared}.")


def _nearest(unit: Unit, others: Sequence[Unit]) -> Sequence[Unit]:
    """Returns the files whose source root is nearest to that of a file: the same, or most folders in common."""
    if unit.language not in JVM or not others[1:]:
        return others
    closeness = {other.root: _closeness(unit.root, other.root) for other in others}
    best = max(closeness.values())
    return [other for other in others if closeness[other.root] == best]


def _closeness(one: str, other: str) -> int:
    if one == other:
        return STEPS_MAX + len(one)
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
