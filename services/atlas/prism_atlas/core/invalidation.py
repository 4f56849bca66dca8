"""Finds the files whose references may resolve differently after one file changed.

What a reference resolves to depends on the definitions of its name anywhere, and on the names around it, as
far as imports lead. So a file is resolved again if it uses a name that the changed file defines differently.
It is also resolved again if its imports lead to the changed file, directly or transitively, and it uses a
name about which that file states something new, or a name derived from one by import, inheritance,
construction or declaration. Names are compared without their locations: more files than necessary may be
resolved again, never fewer.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from prism_contracts.code import ReferenceKind, SymbolKind
from prism_resolver.facts import FileFacts
from prism_resolver.languages import C_FAMILY, CALL_METHODS
from prism_resolver.modules import key, keys
from prism_resolver.program import Program
from prism_resolver.unit import MODULE_EXPORTS, WHOLE_MODULE, Unit

_NAME = re.compile(r"[^\W\d]\w*")
# Prefix of the last part of a module, which is not a name in the program.
_MODULE = "import "
_WHOLE_FILES_MAX = 1_000


class Dependents(Enum):
    """The files that a statement concerns."""

    READERS = auto()  # files that read this one, as in `Program.dependents`
    # All files that use one of the names: the name alone may make them refer to the definition.
    USERS = auto()
    # All files that use one of the names: they may start or stop reading this file.
    POTENTIAL_READERS = auto()


class Statement(NamedTuple):
    """Something that a file states to others, without line numbers."""

    names: frozenset[str]  # that it is about
    content: tuple[Hashable, ...]
    dependents: Dependents = Dependents.READERS
    module: str = ""  # the imported module, for a wildcard import


ChangedNames = dict[Dependents, set[str]]


def changed_names(program: Program, before: Unit | None, after: Unit | None) -> ChangedNames:
    """Returns the names about which a file states something new. None means that the file does not exist."""
    old, new = _statements(program, before), _statements(program, after)
    names: ChangedNames = {dependents: set() for dependents in Dependents}
    for statement in (old - new) + (new - old):
        names[statement.dependents] |= statement.names
        if statement.module and (unit := after or before):
            names[statement.dependents] |= _wildcard_names(program, unit, statement.module)
    return names


def names_used(unit: Unit, facts: FileFacts) -> set[str]:
    """Returns the identifiers that a file uses, and the keys of the modules that it imports."""
    names: set[str] = set()
    for reference in facts.references:
        names |= _parts(reference.name) | _parts(reference.qualifier) | _parts(reference.alias)
        if reference.kind is ReferenceKind.IMPORT:
            names.add(_MODULE + key(unit.file, reference.qualifier))
            names.add(_MODULE + reference.name)
    for binding in facts.bindings:
        names |= _parts(binding.type) | _parts(binding.made_by)
    if method := CALL_METHODS.get(facts.language):
        names.add(method)
    return names


def derived_names(unit: Unit) -> Iterator[tuple[str, str]]:
    """Yields pairs of names: what the second refers to depends on the first."""
    for local, imports in unit.imports.items():
        for taken in imports:
            modules = {_MODULE + key(unit.file, taken.module), _MODULE + taken.name}
            yield from product(_parts(taken.name) | modules, _parts(local))
    spelled = [
        *((owner, one) for owner, bases in unit.bases.items() for one in bases),
        *((name, one) for (_, name), made in unit.variables.items() for one in made),
        *((name, one) for name, values in unit.returns.items() for one in values),
        *unit.aliases.items(),
        *((name, one) for name, held in unit.held.items() for one in held),
    ]
    if MODULE_EXPORTS in unit.imports:  # what imports this file depends on what this file imports
        yield from product(_parts(MODULE_EXPORTS), _module_names(unit))
    for name, one in spelled:
        yield from product(_parts(one.type) | _parts(one.made_by), _last(name))


def _statements(program: Program, unit: Unit | None) -> Counter[Statement]:
    if unit is None:
        return Counter()
    return Counter(
        (
            *_of_file(program, unit),
            *_of_imports(program, unit),
            *_of_projects(program, unit),
            *_of_values(unit),
            *_of_fields(program, unit),
        )
    )


def _of_file(program: Program, unit: Unit) -> Iterator[Statement]:
    stem = unit.file.path.rpartition("/")[2].partition(".")[0]
    modules = (part for one in keys(unit.file) for part in (_MODULE + one, *_parts(one)))
    yield Statement(
        frozenset({*modules, *_parts(stem)}),
        (unit.file, unit.scope, unit.package_name),
        Dependents.POTENTIAL_READERS,
    )
    for name in program.packages_containing(unit):
        yield Statement(_parts(name), ("inside", name), Dependents.POTENTIAL_READERS)
    for module in program.module_names(unit):
        yield Statement(
            frozenset({_MODULE + key(unit.file, module)}), ("mapped", module), Dependents.POTENTIAL_READERS
        )
    if unit.manifest:
        yield Statement(
            _parts(unit.manifest.name), ("package", unit.manifest.name), Dependents.POTENTIAL_READERS
        )
    for definition in unit.definitions:
        content = ("definition", definition._replace(parent=-1), unit.language)
        yield Statement(_parts(definition.name), content, Dependents.USERS)


def _module_names(unit: Unit) -> frozenset[str]:
    """Returns the names that importers of a whole file depend on."""
    return frozenset(_MODULE + one for one in keys(unit.file))


def _of_imports(program: Program, unit: Unit) -> Iterator[Statement]:
    for local, imports in unit.imports.items():
        names = _last(local) | (_module_names(unit) if local == MODULE_EXPORTS else frozenset())
        for one in imports:
            yield Statement(names, ("import", local, one.name, one.module))
    for module in unit.wildcards:
        yield Statement(frozenset(), ("wildcard", module), module=module)
    for name, usings in unit.usings.items():
        for whole in usings:
            yield Statement(_using_names(program, name, whole), ("using", name, whole))


def _of_projects(program: Program, unit: Unit) -> Iterator[Statement]:
    """What a file of C# or of its project imports for all files of the project: they use names without any import."""
    for whole in unit.everywhere:
        names = frozenset(program.names_within(whole))
        yield Statement(names, ("everywhere", whole), Dependents.USERS)


def _using_names(program: Program, name: str, whole: str) -> frozenset[str]:
    """Returns the names that `using` makes visible in C++: one, or those that a namespace has."""
    return _parts(name) if name != WHOLE_MODULE else frozenset(program.names_within(whole))


def _of_values(unit: Unit) -> Iterator[Statement]:
    for owner, bases in unit.bases.items():
        for one in bases:
            yield Statement(_last(owner), ("base", owner, one.type, one.inside))
    for place, made in unit.variables.items():
        names = _parts(place[1]) | (_module_names(unit) if place[1] == MODULE_EXPORTS else frozenset())
        for one in made:
            yield Statement(names, ("variable", place, one.type, one.made_by, one.inside))
    for name, values in unit.returns.items():
        for one in values:
            yield Statement(_last(name), ("return", name, one.type, one.made_by))
    for name in unit.getters:
        yield Statement(_last(name), ("getter", name))
    for name, held in unit.held.items():
        yield Statement(_last(name), ("held", name, *(one.type for one in held)))
    for name, one in unit.aliases.items():
        yield Statement(_last(name), ("alias", name, one.type, one.inside))


def _of_fields(program: Program, unit: Unit) -> Iterator[Statement]:
    """What a file stores in fields, and the positions of the fields that it defines: any file may call them."""
    for field, names in unit.stored.items():
        struct, _, position = field.partition("#")
        called = program.fields_of(struct) if position else {field}
        for name in names:
            yield Statement(frozenset(called), ("stored", field, name), Dependents.USERS)
    if unit.language in C_FAMILY:
        fields = [one for one in unit.definitions if one.kind is SymbolKind.FIELD]
        for number, one in enumerate(fields):
            yield Statement(_parts(one.name), ("field", number, one.qualified_name), Dependents.USERS)


def _wildcard_names(program: Program, unit: Unit, module: str) -> set[str]:
    """Returns the names that a wildcard import of a module introduces."""
    names: set[str] = set()
    todo, seen = [(unit, module)], set[str]()
    while todo and len(seen) <= _WHOLE_FILES_MAX:
        importer, wanted = todo.pop()
        for other in program.locate(importer, wanted).units:
            if other.id not in seen:
                seen.add(other.id)
                names |= {part for name in other.imports for part in _parts(name)}
                names |= {part for definition in other.definitions for part in _parts(definition.name)}
                todo += [(other, further) for further in other.wildcards]
    return names


def _last(name: str) -> frozenset[str]:
    return _parts(name.rpartition(".")[2])


@lru_cache(maxsize=50_000)
def _parts(text: str) -> frozenset[str]:
    """Returns the identifiers in a text. Uses and definitions of Ruby's `open?` both become `open`."""
    return frozenset((text,)) if text.isidentifier() else frozenset(_NAME.findall(text))
