"""What the names and expressions of a program stand for, outside of functions.

Names are followed from where they are used to where they are defined: through the classes around, imports and what passes them
on, what classes inherit, and what variables are declared or made to be. What cannot be followed is unknown; it is never guessed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, VALUE_KINDS, Strategy
from prism_resolver.expressions import CALL, OWN_OBJECT, Step, steps_of
from prism_resolver.languages import (
    BARE_IN_BODY,
    BASE_OBJECTS,
    BUILTIN,
    EXPORTS,
    IMPLICIT_OBJECT,
    MODULE_PATHS,
    NESTED_TYPES,
    OBJECT_MODULES,
    OPEN_TYPES,
)
from prism_resolver.modules import Sure
from prism_resolver.program import SCOPE_KINDS, Located, Program, symbols
from prism_resolver.unit import Spelled, Unit
from prism_resolver.values import FOREIGN, UNKNOWN, Place, Value, What

# Bases of bases, what a call of a call returns.
STEPS_MAX = 12
LINEAGE_MAX = 50


class Members(NamedTuple):
    """The definitions of a member. `is_whole`: all bases were looked at, so that none means that there is none."""

    places: tuple[Place, ...]
    is_inherited: bool
    is_whole: bool
    sure: Sure = Sure.YES

    def value(self, strategy: Strategy, sure: Sure = Sure.YES) -> Value:
        """As the value of an expression."""
        strategy = Strategy.INHERITED if self.is_inherited and strategy is Strategy.RECEIVER else strategy
        return Value(What.SYMBOL, self.places, min(self.sure, sure), strategy)


class Where(NamedTuple):
    """A place in the code: a file, the qualified name of what is around, and the line (0: anywhere in it)."""

    unit: Unit
    inside: str = ""
    line: int = 0
    # What the variables of the functions around are known to be: None if there is no such variable.
    local: Callable[[str], Value | None] = lambda _: None


class Inference:
    """Reads names and expressions of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def name_at(self, name: str, where: Where) -> Value:
        """What a name without a qualifier stands for."""
        for find in (_local, self._around, self._imported, self._own, self._of_package, self._of_program):
            value = find(name, where)
            if value is not None:
                return value
        value = self._program.passed_on(where.unit, name)
        is_builtin = name in BUILTIN.get(where.unit.language, ()) and not where.unit.wildcards
        return FOREIGN if is_builtin and not value.is_told else value

    def _around(self, name: str, where: Where) -> Value | None:
        """A function in a function around, or a member that needs no object before it."""
        unit, inside = where.unit, where.inside
        is_innermost = True
        while inside:
            positions = unit.named.get(inside, ())
            is_class = not positions or unit.definitions[positions[0]].kind in TYPE_KINDS - SCOPE_KINDS
            is_seen = not is_class or is_innermost or unit.language in IMPLICIT_OBJECT
            if is_seen and (found := _members_in(unit, inside, name)):
                return symbols(unit, found).by(Strategy.RECEIVER if is_class else Strategy.SAME_FILE)
            if is_class and unit.language in IMPLICIT_OBJECT:
                members = self.members(unit, inside, name)
                if members.places:
                    return members.value(Strategy.RECEIVER)
            is_innermost &= unit.language in BARE_IN_BODY and _is_value(unit, positions)
            inside = inside.rpartition(".")[0]
        return None

    def _imported(self, name: str, where: Where) -> Value | None:
        """What an import binds the name to, on the line: the narrowest one. Unknown if it leads to nothing that is indexed."""
        unit = where.unit
        holding = [one for one in unit.imports.get(name, ()) if where.line == 0 or where.line in one.within]
        values = [
            self._program.brought(unit, one) for one in sorted(holding, key=lambda one: len(one.within))
        ]
        if not values:
            return None
        value = next((value for value in values if value.is_told), values[0])
        if not value.is_told and unit.language in OPEN_TYPES:
            return None  # it names a type, not a file
        return _either(value, self._own(name, where))

    def _own(self, name: str, where: Where) -> Value | None:
        found = where.unit.named.get(name)
        return symbols(where.unit, found).by(Strategy.SAME_FILE) if found else None

    def _of_package(self, name: str, where: Where) -> Value | None:
        places = self._program.packaged(where.unit, name)
        return Value(What.SYMBOL, places, strategy=Strategy.SAME_PACKAGE) if places else None

    def _of_program(self, name: str, where: Where) -> Value | None:
        """A type that all files see by its name, dotted or not: of the innermost scope around, or of what is imported.

        Outside of all scopes several files may have one each, of programs of their own: then none is meant.
        """
        if where.unit.language not in OPEN_TYPES or not name[:1].isupper():
            return None
        for qualified_name in _spelled_out(name, where):
            places = self._program.types(where.unit, qualified_name)
            if places and ("." in qualified_name or len({place.file for place in places}) == 1):
                return Value(What.SYMBOL, tuple(places), strategy=Strategy.SAME_PACKAGE)
        return None

    # Expressions.

    def value_of(self, steps: Sequence[Step], where: Where, depth: int = 0) -> Value:
        """What an expression stands for."""
        if not steps or depth > STEPS_MAX:
            return UNKNOWN
        value, rest = self._head(steps, where)
        if value.what is What.LOCAL:
            return UNKNOWN
        value = self._original(value, depth)
        for step in rest:
            if value.what in {What.UNKNOWN, What.FOREIGN}:
                return value
            value = (
                self._called(value, depth)
                if step is CALL or not step.name
                else self.member_of(value, step.name, depth)
            )
            value = self._original(value, depth)
        return value

    def _original(self, value: Value, depth: int) -> Value:
        """What an alias is another name of; any other value, and what cannot be followed, as it is."""
        if value.what is not What.SYMBOL or len(value.places) > 1:
            return value  # of several, `if` or `try` decides which one it is
        place = value.places[0]
        unit, name = self._program.units[place.file], self._program.definition(place).qualified_name
        if name not in unit.aliases:
            return value
        originals, known = self._program.originals, (unit.id, name)
        if known not in originals:
            spelled = unit.aliases[name]
            where = Where(unit, spelled.inside, spelled.line)
            found = self.value_of(steps_of(spelled.type), where, depth + 1)
            originals[known] = found if found.is_told else value
        return originals[known].by(value.strategy, value.sure)

    def _head(self, steps: Sequence[Step], where: Where) -> tuple[Value, Sequence[Step]]:
        """What the first steps stand for, and the steps behind them."""
        name, unit = steps[0].name, where.unit
        if name in OWN_OBJECT:
            return self._own_object(where, What.OBJECT), steps[1:]
        if name == BASE_OBJECTS.get(unit.language, "super"):
            return self._own_object(where, What.BASES), steps[2:] if steps[1:2] == (CALL,) else steps[1:]
        for count in range(len(steps), 1, -1):
            dotted = ".".join(step.name for step in steps[:count])
            if dotted in unit.imports and (value := self._imported(dotted, where)) is not None:
                return value, steps[count:]
            if (value := self._of_program(dotted, where)) is not None:
                return value, steps[count:]
        value = self.name_at(name, where)
        if not value.is_told and len(steps) > 1 and unit.language in MODULE_PATHS:
            return self._path(steps, where)
        return value, steps[1:]

    def _path(self, steps: Sequence[Step], where: Where) -> tuple[Value, Sequence[Step]]:
        """`crate::depot::Depot`: the longest beginning that is a module."""
        for count in range(len(steps), 0, -1):
            if all(step.name for step in steps[:count]):
                located = self._program.locate(where.unit, "::".join(step.name for step in steps[:count]))
                if located.units:
                    places = tuple(Place(one.id, -1) for one in located.units)
                    return Value(What.MODULE, places, located.sure, Strategy.MODULE), steps[count:]
        return UNKNOWN, steps[1:]

    def _own_object(self, where: Where, what: What) -> Value:
        inside = where.inside
        while inside:
            positions = where.unit.named.get(inside, ())
            if positions and where.unit.definitions[positions[0]].kind in TYPE_KINDS:
                return Value(
                    what, tuple(Place(where.unit.id, one) for one in positions), strategy=Strategy.RECEIVER
                )
            if not positions:
                # `impl S { fn f }`, `func (s *S) F`: the class is elsewhere.
                value = self.name_at(inside, where._replace(inside="", line=0))
                return (
                    value._replace(what=what, strategy=Strategy.RECEIVER)
                    if self._is_class(value)
                    else UNKNOWN
                )
            inside = inside.rpartition(".")[0]
        return UNKNOWN

    def member_of(self, value: Value, name: str, depth: int = 0) -> Value:
        """What `.name` behind a value stands for."""
        if value.what is What.MODULE:
            return self._member_of_module(value, name)
        if value.what is What.SYMBOL and not self._is_class(value):
            value = self.typed(value, depth + 1)
        if value.what not in {What.SYMBOL, What.OBJECT, What.BASES}:
            return value
        members = self._members_of(value, name)
        if members.places:
            return members.value(
                _HOW[value.what] if value.strategy is not Strategy.RECEIVER else Strategy.RECEIVER, value.sure
            )
        return self._variable_of(value, name, depth + 1)

    def lacks(self, value: Value, name: str) -> bool:
        """Whether it is known that an object or a class has no such member: all that it inherits from is known."""
        if value.what not in {What.OBJECT, What.SYMBOL} or value.sure is not Sure.YES:
            return False
        if self._program.units[value.places[0].file].language in OPEN_TYPES:
            return False
        if value.what is What.SYMBOL and not self._is_class(value):
            return False
        return self._members_of(value, name).is_whole and not self._members_of(value, "__getattr__").places

    def _member_of_module(self, value: Value, name: str) -> Value:
        units = tuple(self._program.units[place.file] for place in value.places)
        given = self._program.given_by(Located(units, value.sure), name)
        if given.is_told:
            return given.by(Strategy.MODULE) if given.what is What.SYMBOL else given
        if any(unit.language in OBJECT_MODULES for unit in units):
            return _member_of_objects(units, name, value.sure)
        inner = [self._program.locate(unit, f".{name}") for unit in units if unit.language == "python"]
        places = tuple(Place(unit.id, -1) for one in inner for unit in one.units)
        return Value(What.MODULE, places, value.sure, Strategy.MODULE) if places else FOREIGN

    def _called(self, value: Value, depth: int) -> Value:
        """What a call of a value gives."""
        if value.what is not What.SYMBOL:
            return UNKNOWN
        if self._is_class(value):
            return value._replace(what=What.OBJECT, strategy=Strategy.RECEIVER_TYPE)
        for place in value.places:
            unit = self._program.units[place.file]
            spelled = unit.returns.get(unit.definitions[place.symbol].qualified_name)
            if spelled is not None:
                return self.made(spelled, Where(unit), depth + 1).by(Strategy.RECEIVER_TYPE, value.sure)
        return UNKNOWN

    def made(self, spelled: Spelled, where: Where, depth: int = 0) -> Value:
        """The object that a variable holds, by its declared type or by what makes it."""
        if depth > STEPS_MAX or not (spelled.type or spelled.made_by):
            return UNKNOWN
        where = where._replace(inside=spelled.inside, line=spelled.line)
        if not spelled.type:
            return self._called(self.value_of(steps_of(spelled.made_by), where, depth + 1), depth + 1)
        value = self.value_of(steps_of(spelled.type), where, depth + 1)
        if value.what is What.SYMBOL and self._is_class(value):
            return value._replace(what=What.OBJECT, strategy=Strategy.RECEIVER_TYPE)
        return value if value.what in {What.FOREIGN, What.OBJECT} else UNKNOWN

    def typed(self, value: Value, depth: int = 0) -> Value:
        """The object that a variable outside of functions holds."""
        for place in value.places:
            unit, definition = self._program.units[place.file], self._program.definition(place)
            owner = definition.qualified_name.rpartition(".")[0]
            found = self._agreed(unit, unit.variables.get((owner, definition.name), ()), depth)
            if found.is_told:
                return found.by(Strategy.RECEIVER_TYPE, value.sure)
        return UNKNOWN

    def variable_at(self, name: str, where: Where) -> Value:
        """What a variable outside of functions that is no symbol holds: the last that it was made to be before the line."""
        spelled = where.unit.variables.get(("", name), ())
        before = [one for one in spelled if one.line <= where.line] or spelled
        return self.made(before[-1], Where(where.unit)) if before else UNKNOWN

    def _variable_of(self, value: Value, name: str, depth: int) -> Value:
        """What a variable of an object holds."""
        for unit, owner in self._lineage(value):
            found = self._agreed(unit, unit.variables.get((owner, name), ()), depth)
            if found.is_told:
                return found.by(Strategy.RECEIVER_TYPE, value.sure)
        return UNKNOWN

    def _agreed(self, unit: Unit, spelled: Sequence[Spelled], depth: int) -> Value:
        """What all that says something of a variable says alike; a declaration says more than what makes it."""
        declared = [one for one in spelled if one.type]
        told = {(one.type, one.made_by): one for one in declared or spelled if one.type or one.made_by}
        values = {self.made(one, Where(unit), depth) for one in told.values()}
        return values.pop() if len(values) == 1 else UNKNOWN

    def _is_class(self, value: Value) -> bool:
        return value.what is What.SYMBOL and self._program.definition(value.places[0]).kind in TYPE_KINDS

    # Members.

    def _members_of(self, value: Value, name: str) -> Members:
        found = [
            self.members(
                self._program.units[place.file],
                self._program.definition(place).qualified_name,
                name,
                is_base=value.what is What.BASES,
            )
            for place in value.places
        ]
        return next((one for one in found if one.places), found[0])

    def members(self, unit: Unit, owner: str, name: str, *, is_base: bool = False) -> Members:
        """The definitions of a member of a class, of its own or of what it inherits from; `is_base`: of the latter only."""
        is_whole = True
        for at, owner_name in self._lineage_of(unit, owner):
            if at is None:
                is_whole = False
            elif is_base and at is unit and owner_name == owner:
                continue
            elif places := self._members_here(at, owner_name, name):
                is_inherited = not (at is unit and owner_name == owner)
                # What stands between it and a base that is not known may define it as well.
                return Members(places, is_inherited, is_whole, Sure.YES if is_whole else Sure.MAYBE)
        return Members((), is_inherited=False, is_whole=is_whole)

    def _members_here(self, unit: Unit, owner: str, name: str) -> tuple[Place, ...]:
        if found := _members_in(unit, owner, name):
            return symbols(unit, found).places
        return (
            () if _is_constructor(owner, name) else self._program.members_elsewhere(unit, f"{owner}.{name}")
        )

    def _lineage(self, value: Value) -> Iterator[tuple[Unit, str]]:
        """The classes of an object and what they inherit from, nearest first, as far as they are known."""
        for place in value.places:
            for unit, owner in self._lineage_of(
                self._program.units[place.file], self._program.definition(place).qualified_name
            ):
                if unit is not None:
                    yield unit, owner

    def _lineage_of(self, unit: Unit, owner: str) -> Sequence[tuple[Unit | None, str]]:
        """A class and what it inherits from, nearest first; without a file for a base that is not known."""
        known = (unit.id, owner)
        if known not in self._program.lineages:
            # While it is climbed, a base may be looked for in the class itself: `class Depot(Depot.Base)`.
            self._program.lineages[known] = ((unit, owner),)
            self._program.lineages[known] = tuple(self._climb(unit, owner))
        return self._program.lineages[known]

    def _climb(self, unit: Unit, owner: str) -> Iterator[tuple[Unit | None, str]]:
        todo: list[tuple[Unit, str]] = [(unit, owner)]
        seen: set[tuple[str, str]] = set()
        while todo and len(seen) <= LINEAGE_MAX:
            at, name = todo.pop(0)
            if (at.id, name) in seen:
                continue
            seen.add((at.id, name))
            yield at, name
            for base in at.bases.get(name, ()):
                value = self.value_of(steps_of(base.type), Where(at, base.inside, base.line))
                if self._is_class(value) and value.sure is Sure.YES:
                    todo += [
                        (self._program.units[one.file], self._program.definition(one).qualified_name)
                        for one in value.places
                    ]
                elif value.what is not What.FOREIGN:
                    yield None, base.type


_HOW: Mapping[What, Strategy] = {
    What.SYMBOL: Strategy.CLASS_NAME,
    What.OBJECT: Strategy.RECEIVER_TYPE,
    What.BASES: Strategy.INHERITED,
}


def _spelled_out(name: str, where: Where) -> Iterator[str]:
    """The qualified names that a name of a type may stand for, nearest first."""
    inside = where.inside if where.unit.language in NESTED_TYPES else ""
    while inside:
        yield f"{inside}.{name}"
        inside = inside.rpartition(".")[0]
    head, dot, rest = name.partition(".")
    for one in where.unit.imports.get(head, ()):
        whole = one.module if one.module.rpartition(".")[2] == one.name else f"{one.module}.{one.name}"
        yield f"{whole}{dot}{rest}"
    if where.unit.language in NESTED_TYPES:
        for imports in where.unit.imports.values():
            yield from (f"{one.module}.{name}" for one in imports)
    yield name


def _members_in(unit: Unit, owner: str, name: str) -> Sequence[int]:
    return () if _is_constructor(owner, name) else unit.named.get(f"{owner}.{name}", ())


def _is_value(unit: Unit, positions: Sequence[int]) -> bool:
    return bool(positions) and unit.definitions[positions[0]].kind in VALUE_KINDS


def _is_constructor(owner: str, name: str) -> bool:
    """Whether a member is called like its class: by that name the class is meant."""
    return owner.rpartition(".")[2] == name


def _either(value: Value, other: Value | None) -> Value:
    """What a name stands for that a file both imports and defines, as it does for another system."""
    if other is None:
        return value
    places = value.places if value.what is What.SYMBOL else ()
    return other._replace(places=(*places, *other.places), sure=Sure.MAYBE)


def _local(name: str, where: Where) -> Value | None:
    return where.local(name)


def _member_of_objects(units: Iterable[Unit], name: str, sure: Sure) -> Value:
    """A member of the object that a module is, whatever it is called inside: `M.add`, `exports.add`. Unknown if it has none."""
    members = [
        (unit, position, one.qualified_name.partition(".")[0])
        for unit in units
        for position, one in enumerate(unit.definitions)
        if one.qualified_name.count(".") == 1 and one.parent < 0
    ]
    found = [
        (unit, position, owner)
        for unit, position, owner in members
        if unit.definitions[position].name == name
    ]
    if not found:
        return UNKNOWN
    # Which object a file gives away is not known but by its name, or if there is no other.
    owners = {(unit.id, owner) for unit, _, owner in members}
    unit, _, owner = found[0]
    is_given = len(found) == 1 and (owner == EXPORTS or (unit.language != "javascript" and len(owners) == 1))
    places = tuple(Place(unit.id, position) for unit, position, _ in found)
    return Value(What.SYMBOL, places, sure if is_given else Sure.MAYBE, Strategy.MODULE)
