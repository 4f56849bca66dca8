"""What a change of one file can change in what the references of others mean.

What a reference means depends on definitions of its name, wherever they are, and on what the names around it stand for, as far as
imports and the like lead. So a file is looked at again if it holds a name that the changed file defines otherwise than before;
or if its imports lead to the changed file, directly or through others, and it holds a name of which something else is said there, or
a name that stands for such a name, because it is imported, inherits, is made or declared of it. Names are compared without
their places: more files than needed may be looked at, never fewer.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from prism_contracts.code import ReferenceKind
from prism_resolver.facts import FileFacts
from prism_resolver.modules import key, keys
from prism_resolver.program import Program
from prism_resolver.unit import Unit

_NAME = re.compile(r"[^\W\d]\w*")
# Before the last part of a module, which is no name of the program.
_MODULE = "import "
_WHOLE_FILES_MAX = 1_000


class Dependents(Enum):
    """Whom it concerns what a file says."""

    READERS = auto()  # files that read this one, as `Program.readers` has it
    USERS = (
        auto()
    )  # whoever else holds one of the names: it may mean the definition, if the name is all that is known
    POTENTIAL_READERS = (
        auto()
    )  # whoever holds one of the names: it may come to read this file, or not to any more


class Statement(NamedTuple):
    """Something that a file tells others, without its lines."""

    names: frozenset[str]  # that it is about
    content: tuple[Hashable, ...]
    dependents: Dependents = Dependents.READERS
    module: str = ""  # of which everything is brought in


ChangedNames = dict[Dependents, set[str]]


def changed_names(program: Program, before: Unit | None, after: Unit | None) -> ChangedNames:
    """The names of which a file says something else than before. None stands for a file that is not there."""
    old, new = _statements(program, before), _statements(program, after)
    names: ChangedNames = {dependents: set() for dependents in Dependents}
    for statement in (old - new) + (new - old):
        names[statement.dependents] |= statement.names
        if statement.module and (unit := after or before):
            names[statement.dependents] |= _wildcard_names(program, unit, statement.module)
    return names


def names_used(unit: Unit, facts: FileFacts) -> set[str]:
    """The names that a file uses, and the modules that it looks for."""
    held: set[str] = set()
    for reference in facts.references:
        held |= _parts(reference.name) | _parts(reference.qualifier) | _parts(reference.alias)
        if reference.kind is ReferenceKind.IMPORT:
            held.add(_MODULE + key(unit.file, reference.qualifier))
            held.add(_MODULE + reference.name)
    for binding in facts.bindings:
        held |= _parts(binding.type) | _parts(binding.made_by)
    return held


def derived_names(unit: Unit) -> Iterator[tuple[str, str]]:
    """Pairs of names: what the first stands for decides what the second does."""
    for local, imports in unit.imports.items():
        for taken in imports:
            modules = {_MODULE + key(unit.file, taken.module), _MODULE + taken.name}
            yield from product(_parts(taken.name) | modules, _parts(local))
    spelled = [
        *((owner, one) for owner, bases in unit.bases.items() for one in bases),
        *((name, one) for (_, name), made in unit.variables.items() for one in made),
        *unit.returns.items(),
        *unit.aliases.items(),
    ]
    for name, one in spelled:
        yield from product(_parts(one.type) | _parts(one.made_by), _last(name))


def _statements(program: Program, unit: Unit | None) -> Counter[Statement]:
    if unit is None:
        return Counter()
    return Counter((*_of_file(program, unit), *_of_imports(unit), *_of_values(unit)))


def _of_file(program: Program, unit: Unit) -> Iterator[Statement]:
    stem = unit.file.path.rpartition("/")[2].partition(".")[0]
    modules = (part for one in keys(unit.file) for part in (_MODULE + one, *_parts(one)))
    yield Statement(
        frozenset({*modules, *_parts(stem)}), (unit.file, unit.scope), Dependents.POTENTIAL_READERS
    )
    for name in program.packages_around(unit):
        yield Statement(_parts(name), ("inside", name), Dependents.POTENTIAL_READERS)
    for module in program.modules_of(unit):
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


def _of_imports(unit: Unit) -> Iterator[Statement]:
    for local, imports in unit.imports.items():
        for one in imports:
            yield Statement(_last(local), ("import", local, one.name, one.module))
    for module in unit.wildcards:
        yield Statement(frozenset(), ("wildcard", module), module=module)


def _of_values(unit: Unit) -> Iterator[Statement]:
    for owner, bases in unit.bases.items():
        for one in bases:
            yield Statement(_last(owner), ("base", owner, one.type, one.inside))
    for place, made in unit.variables.items():
        for one in made:
            yield Statement(_parts(place[1]), ("variable", place, one.type, one.made_by, one.inside))
    for name, one in unit.returns.items():
        yield Statement(_last(name), ("return", name, one.type, one.made_by))
    for name, one in unit.aliases.items():
        yield Statement(_last(name), ("alias", name, one.type, one.inside))


def _wildcard_names(program: Program, unit: Unit, module: str) -> set[str]:
    """The names that come in with all that a module has."""
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
    """The identifiers in what is written: `open` of Ruby's `open?` as well, whoever holds or tells it."""
    return frozenset((text,)) if text.isidentifier() else frozenset(_NAME.findall(text))
