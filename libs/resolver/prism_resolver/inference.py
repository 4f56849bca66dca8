"""Infers the values of names and expressions of a program, outside of functions.

Follows a name from its use to its definition: through enclosing classes, imports and re-exports, inheritance,
and the declared types or initial values of variables. A name that cannot be followed is unknown, never
guessed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, OBJECT_TYPE, TYPE_KINDS, VALUE_KINDS, Strategy, SymbolKind
from prism_resolver.expressions import ABSOLUTE, CALL, ITEM, REQUIRED, TOP, Step, is_own_object, steps_of
from prism_resolver.languages import (
    BARE_IN_BODY,
    BASE_OBJECTS,
    BUILTIN,
    C_FAMILY,
    DECLARED_ELSEWHERE,
    ECMASCRIPT,
    EMBEDDED_ARE_FIELDS,
    EXPORTS,
    FOREIGN_BASES,
    IMPLICIT_OBJECT,
    JVM,
    MADE_BEFORE_CALLS,
    MAKES_BUILTIN,
    MAKES_OBJECT,
    MEMBERS_NEED_OBJECT,
    MODULE_PATHS,
    NESTED_TYPES,
    NO_CONSTRUCTORS,
    OBJECT_MODULES,
    OPEN_TYPES,
    RETURNS_OBJECT,
    SEES_NO_NAMESPACE,
    is_final,
)
from prism_resolver.modules import Certainty
from prism_resolver.parameters import object_of
from prism_resolver.program import SCOPE_KINDS, LocatedModule, Program, symbol_value
from prism_resolver.unit import (
    MODULE_EXPORTS,
    Import,
    Unit,
    UnresolvedType,
    dotted_namespace,
    extends_its_import,
)
from prism_resolver.values import EXTERNAL, UNKNOWN, SymbolRef, Value, ValueKind

# Depth of base classes of base classes, and of calls of returned values.
STEPS_MAX = 12
# The name of the class that RSpec describes.
DESCRIBED = "described_class"
# The object of the class before it, in Java.
OWN = Step("this")
# What `with` and `async with` of Python call.
ENTERED, ENTERED_ASYNC = Step("__enter__"), Step("__aenter__")
LINEAGE_MAX = 50
# Returned values of a function that are looked at.
RETURNED_MAX = 20


_ABSTRACT = frozenset({SymbolKind.INTERFACE, SymbolKind.TRAIT})
# Languages in which code adds members to functions and classes.
_OBJECTS_HAVE_MEMBERS = OBJECT_MODULES | ECMASCRIPT


class Members(NamedTuple):
    """The definitions of a member.

    `is_complete`: all base classes are known, so no result means no member.
    """

    symbols: tuple[SymbolRef, ...]
    is_inherited: bool
    is_complete: bool
    certainty: Certainty = Certainty.YES

    def value(self, strategy: Strategy, certainty: Certainty = Certainty.YES) -> Value:
        """Returns the member as the value of an expression."""
        strategy = Strategy.INHERITED if self.is_inherited and strategy is Strategy.RECEIVER else strategy
        return Value(ValueKind.SYMBOL, self.symbols, min(self.certainty, certainty), strategy)


class Location(NamedTuple):
    """A location in code: a file, the qualified name of the enclosing symbol, and the line (0: any line)."""

    unit: Unit
    inside: str = ""
    line: int = 0
    # Returns the value of a variable of the enclosing functions, None if there is no such variable.
    local: Callable[[str], Value | None] = lambda _: None


class Inference:
    """Evaluates names and expressions of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        # Names in enclosing symbols, by file, symbol, name and, in files with anonymous classes, line. Lineages in progress lack bases: nothing is kept then.
        self._enclosing: dict[tuple[str, str, str, int], Value | None] = {}
        self._lineages_in_progress = 0
        # Functions whose results are being found, and whether one was asked for that is among them.
        self._results_in_progress: set[tuple[str, str]] = set()
        self._is_result_cut = False
        self._global_types: dict[tuple[str, str, str], Value | None] = {}
        # Names of C++ in the namespaces around, and members of namespaces that many files open.
        self._namespaced: dict[tuple[str, str, str], Value | None] = {}
        self._members: dict[tuple[tuple[SymbolRef, ...], str, bool], Members] = {}

    def name_at(self, name: str, location: Location) -> Value:
        """Returns the value of a name without a qualifier."""
        for find in (
            _local,
            self._in_enclosing,
            self._imported,
            self._in_file,
            self._in_package,
            self._in_namespace,
            self._in_no_namespace,
            self._global_type,
            self._module_function,
        ):
            value = find(name, location)
            if value is not None:
                return value
        if (value := self._in_imported_types(name, location)) is not None:
            return value
        value = self._program.wildcard_value(location.unit, name)
        value = value if value.is_known else self._program.macro_of_crate(location.unit, name)
        is_seen = not location.unit.wildcards or location.unit.language == "rust"
        is_builtin = is_seen and name in BUILTIN.get(location.unit.language, ())
        return EXTERNAL if is_builtin and not value.is_known else value

    def _in_enclosing(self, name: str, location: Location) -> Value | None:
        """Finds a function nested in an enclosing function, or a member that is used without an object."""
        line = location.line if location.unit.anonymous else 0
        known = (location.unit.id, location.inside, name, line)
        if known in self._enclosing:
            return self._enclosing[known]
        found = self._find_in_enclosing(name, location.unit, location.inside, line)
        if not self._lineages_in_progress:
            self._enclosing[known] = found
        return found

    def _find_in_enclosing(self, name: str, unit: Unit, inside: str, line: int) -> Value | None:
        is_innermost, is_in_method = True, False
        while inside:
            positions = unit.named.get(inside, ())
            kind = unit.definitions[positions[0]].kind if positions else None
            is_class = kind in TYPE_KINDS - SCOPE_KINDS if kind else not _is_around_namespace(unit, inside)
            is_seen = is_innermost and unit.language not in MEMBERS_NEED_OBJECT
            is_seen |= not is_class or unit.language in IMPLICIT_OBJECT
            if is_seen and (found := _seen_members(unit, inside, name, is_class=is_class)):
                value = self._with_other_parts(symbol_value(unit, found), unit)
                return value.with_strategy(Strategy.RECEIVER if is_class else Strategy.SAME_FILE)
            if is_class and unit.language in IMPLICIT_OBJECT:
                members = self.members(unit, inside, name)
                if members.symbols:
                    return members.value(Strategy.RECEIVER)
            if is_in_method and (found_in_base := self._in_anonymous_base(name, unit, inside, line)):
                return found_in_base
            is_in_method = bool(positions) and unit.definitions[positions[0]].kind is SymbolKind.METHOD
            is_innermost &= unit.language in BARE_IN_BODY and _is_value(unit, positions)
            inside = inside.rpartition(".")[0]
        return None

    def _in_anonymous_base(self, name: str, unit: Unit, around: str, line: int) -> Value | None:
        """Finds a member of what the class without a name inherits that has the method at a line: `new Depot() { … }`."""
        before = [one for one in unit.anonymous.get(around, ()) if one.line <= line]
        if not before or unit.language not in IMPLICIT_OBJECT:
            return None
        base = self.value_of(steps_of(before[-1].type), Location(unit, before[-1].inside, before[-1].line))
        members = self._members_of(base, name) if self._is_class(base) else None
        return members.value(Strategy.INHERITED, base.certainty) if members and members.symbols else None

    def _with_other_parts(self, value: Value, unit: Unit) -> Value:
        """Adds the parts of a partial class in other files, and its namesakes with other type parameters."""
        if unit.language not in DECLARED_ELSEWHERE:
            return value
        if not self._is_class(value):
            return self._with_other_overloads(value, unit)
        name = self._program.definition(value.symbols[0]).qualified_name
        others = self._program.types_named(unit, name)
        return value._replace(symbols=tuple(dict.fromkeys((*value.symbols, *others))))

    def _with_other_overloads(self, value: Value, unit: Unit) -> Value:
        """Adds the overloads of a method of C++ that the header has, or the source."""
        definition = self._program.definition(value.symbols[0])
        if definition.kind is not SymbolKind.METHOD or unit.language != "cpp":
            return value
        others = self._program.members_in_other_files(unit, definition.qualified_name)
        return value._replace(symbols=tuple(dict.fromkeys((*value.symbols, *others))))

    def _imported(self, name: str, location: Location) -> Value | None:
        """Returns the value of the narrowest import on the line; unknown if its target is not indexed."""
        unit = location.unit
        imported = self._program.imports_as(unit, name)
        if not imported:
            return None
        holding = [one for one in imported if location.line == 0 or location.line in one.lines]
        values = [
            (self._program.imported_value(unit, one), one)
            for one in sorted(holding, key=lambda one: len(one.lines))
        ]
        if not values:
            return None
        value, binding = next((one for one in values if one[0].is_known), values[0])
        if not value.is_known and unit.language in OPEN_TYPES:
            return None  # the import names a type, not a file
        own = self._in_file(name, location)
        if own is not None and binding.is_in_function:
            return value if location.line else own
        if own is not None and extends_its_import(unit, name):
            return value if _is_before_class(name, location) else own
        return _imported_or_own(value, own)

    def _in_file(self, name: str, location: Location) -> Value | None:
        found: Sequence[int] = location.unit.named.get(name, ())
        if location.unit.language in ECMASCRIPT:
            # A method of an object literal has no name of its own.
            found = [one for one in found if location.unit.definitions[one].kind is not SymbolKind.METHOD]
        return symbol_value(location.unit, found).with_strategy(Strategy.SAME_FILE) if found else None

    def _in_package(self, name: str, location: Location) -> Value | None:
        refs = self._program.same_package_definitions(location.unit, name)
        if not refs:
            return None
        value = Value(ValueKind.SYMBOL, refs, strategy=Strategy.SAME_PACKAGE)
        return self._program.nearest_value(location.unit, value)

    def _in_namespace(self, name: str, location: Location) -> Value | None:
        """Finds a name of C++ in the enclosing namespaces and those that `using` names, in the files that are included."""
        unit = location.unit
        if unit.language != "cpp":
            return None
        known = (unit.id, location.inside, name)
        if known not in self._namespaced:
            names = list(self._program.namespaced_names(unit, name, location.inside))
            values = (self._program.included_value(unit, one) for one in names)
            declared = (self._program.declared_value(unit, one) for one in names)
            self._namespaced[known] = next((value for value in (*values, *declared) if value.is_known), None)
        return self._namespaced[known]

    def _in_no_namespace(self, name: str, location: Location) -> Value | None:
        """Finds a name of PHP in no namespace. Code in a namespace sees functions and constants there, and no class."""
        unit = location.unit
        if unit.language not in SEES_NO_NAMESPACE:
            return None
        value = self._program.outside_namespaces(unit, name)
        is_seen = value.is_known and not (unit.declared and self._is_class(value))
        return value if is_seen else None

    def _in_imported_types(self, name: str, location: Location) -> Value | None:
        """Finds a static member of a type whose members are imported: `import static a.Depot.*`, `using static a.Depot`."""
        unit = location.unit
        for module in unit.wildcards if unit.language in JVM else ():
            value = self._program.member_of_imported_type(unit, module, name)
            if value.is_known:
                return value
        if unit.language == "csharp":
            own = {one.module for imports in unit.imports.values() for one in imports}
            for module in (*own, *self._program.imported_everywhere(unit)):
                if found := self._program.members_in_other_files(unit, f"{module}.{name}"):
                    owners = self._program.types_named(unit, module)
                    kinds = {self._program.definition(ref).kind for ref in owners}
                    if kinds and not kinds & SCOPE_KINDS:
                        return Value(ValueKind.SYMBOL, found, strategy=Strategy.IMPORT)
        return None

    def imported_type(self, qualified_name: str, unit: Unit) -> Value:
        """Returns the type that an import of C# names, `using static Town.Depot`; unknown for a namespace."""
        refs = self._program.types_named(unit, qualified_name)
        is_scope = any(self._program.definition(ref).kind in SCOPE_KINDS for ref in refs)
        return (
            Value(ValueKind.SYMBOL, tuple(refs), strategy=Strategy.IMPORT)
            if refs and not is_scope
            else UNKNOWN
        )

    def extension_of(self, value: Value, name: str) -> Value:
        """Returns the extension methods of C# for an instance: those whose first parameter is its class or a base."""
        if value.kind is not ValueKind.INSTANCE:
            return UNKNOWN
        owners: set[str] = set()
        for ref in value.symbols:
            definition = self._program.definition(ref)
            for _, owner in self._lineage_of(self._program.units[ref.file], definition.qualified_name):
                owners.add(owner.rpartition(".")[2])
        found = [
            ref
            for ref in self._program.named(name)
            if object_of(self._program.definition(ref).parameters) in owners
        ]
        return (
            Value(ValueKind.SYMBOL, tuple(found), value.certainty, Strategy.RECEIVER_TYPE)
            if found
            else UNKNOWN
        )

    def _global_type(self, name: str, location: Location) -> Value | None:
        """Finds a type that is visible in all files: in the innermost enclosing or an imported scope.

        Several files that define it outside of all scopes belong to separate programs: then nothing is found.
        """
        if location.unit.language not in OPEN_TYPES or not name[:1].isupper():
            return None
        known = (location.unit.id, location.inside, name)
        if known not in self._global_types:
            self._global_types[known] = self._find_global_type(name, location)
        return self._global_types[known]

    def _find_global_type(self, name: str, location: Location) -> Value | None:
        everywhere = (
            self._program.imported_everywhere(location.unit) if location.unit.language == "csharp" else ()
        )
        for qualified_name in (*_qualified_names(name, location), *(f"{one}.{name}" for one in everywhere)):
            refs = self._program.types_named(location.unit, qualified_name)
            if refs and ("." in qualified_name or len({ref.file for ref in refs}) == 1):
                return Value(ValueKind.SYMBOL, tuple(refs), strategy=Strategy.SAME_PACKAGE)
        return None

    def _module_function(self, name: str, location: Location) -> Value | None:
        """Finds a function of Swift outside of types, which all files of its module see.

        Several files that define it may belong to separate modules: then nothing is found.
        """
        if location.unit.language != "swift":
            return None
        refs = self._program.free_functions(location.unit, name)
        is_one = len({ref.file for ref in refs}) == 1
        return Value(ValueKind.SYMBOL, refs, strategy=Strategy.SAME_PACKAGE) if is_one else None

    # Expressions.

    def value_of(self, steps: Sequence[Step], location: Location, depth: int = 0) -> Value:
        """Returns the value of an expression."""
        if not steps or depth > STEPS_MAX:
            return UNKNOWN
        value, rest = self._head(steps, location)
        if value.kind is ValueKind.LOCAL:
            return UNKNOWN
        value = self._original(value, depth)
        for step in rest:
            if value.kind in {ValueKind.UNKNOWN, ValueKind.EXTERNAL}:
                is_held = location.unit.language == "rust" and any(
                    one.name in RETURNS_OBJECT for one in steps
                )
                return UNKNOWN if is_held else value  # `Mutex::new(depot).lock()`
            before = value
            if step == ITEM:
                value = self._item_of(value, depth)
            elif step is CALL or not step.name:
                value = self.called(value, depth)
            else:
                value = self.member_of(value, step.name, depth)
            if value.kind is not ValueKind.SYMBOL and location.unit.language == "rust":
                value = self._kept(before, step.name, depth) or value  # `depot.clone()`
            value = self._original(value, depth)
        return value

    def _kept(self, value: Value, name: str, depth: int) -> Value | None:
        """Returns the object that a member of Rust's library returns: `clone`, or `unwrap` of a result with the object."""
        if value.kind is ValueKind.SYMBOL and name in RETURNS_OBJECT and not self._is_class(value):
            value = self.variable_value(value, depth + 1)
        is_object = value.kind is ValueKind.INSTANCE and self._language_of(value) == "rust"
        return value if is_object and (not name or name in RETURNS_OBJECT) else None

    def _item_of(self, value: Value, depth: int) -> Value:
        """Returns an item of an object of C++: by the operator of its class, or of an array of them."""
        if value.kind is ValueKind.SYMBOL and not self._is_class(value):
            value = self.variable_value(value, depth + 1)
        if value.kind is not ValueKind.INSTANCE:
            return UNKNOWN
        operator = self.member_of(value, ITEM.name, depth + 1)
        if operator.kind is ValueKind.SYMBOL:
            return self.called(operator, depth + 1)
        return value if self.lacks(value, ITEM.name) else UNKNOWN

    def _original(self, value: Value, depth: int) -> Value:
        """Returns the target of an alias. Any other value, or an alias of unknown target, is unchanged."""
        if value.kind is not ValueKind.SYMBOL or (value.symbols[1:] and not self._is_one_alias(value)):
            return value  # several definitions: `if` or `try` selects one at run time
        ref = value.symbols[0]
        unit, name = self._program.units[ref.file], self._program.definition(ref).qualified_name
        if name not in unit.aliases:
            return value
        originals, known = self._program.originals, (unit.id, name)
        if known not in originals:
            unresolved = unit.aliases[name]
            location = Location(unit, unresolved.inside, unresolved.line)
            found = self.value_of(steps_of(unresolved.type), location, depth + 1)
            originals[known] = found if found.is_known else value
        return originals[known].with_strategy(value.strategy, value.certainty)

    def _is_one_alias(self, value: Value) -> bool:
        """Whether several definitions give one type the same name, as headers of C and C++ do."""
        originals = set()
        for ref in value.symbols:
            unit, name = self._program.units[ref.file], self._program.definition(ref).qualified_name
            known = unit.aliases.get(name) if unit.language in C_FAMILY else None
            originals.add(known.type if known else None)
        return len(originals) == 1 and None not in originals

    def _head(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]]:
        """Returns the value of the first steps, and the remaining steps."""
        unit = location.unit
        start = self._object(steps, location) or self._outer_object(steps, location)
        if start is None and unit.language in SEES_NO_NAMESPACE:
            start = self._in_namespaces(steps, location)
        if start is not None:
            return start
        for count in range(len(steps), 1, -1):
            dotted = ".".join(step.name for step in steps[:count])
            if dotted in unit.imports and (value := self._imported(dotted, location)) is not None:
                return value, steps[count:]
            if (value := self._global_type(dotted, location)) is not None:
                return value, steps[count:]
        value = self.name_at(steps[0].name, location)
        is_path = len(steps) > 1 and unit.language in MODULE_PATHS
        if not value.is_known and (is_path or self._program.is_crate(unit, steps[0].name)):
            return self._path(steps, location)
        if value.kind is ValueKind.UNKNOWN and unit.language in JVM:
            return self._in_named_package(steps, location) or (value, steps[1:])
        if unit.language == "rust" and self._is_callable(value) and steps[1:2] != (CALL,):
            value = self._imported_module(steps[0].name, unit) or value
        return value, steps[1:]

    def _object(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]] | None:
        """Returns the value of `self`, `super` and the like, and the remaining steps; None for other names."""
        name, language = steps[0].name, location.unit.language
        if language == "rust" and name in {"self", "super"}:
            return self._rust_start(steps, location)
        if language in ECMASCRIPT and (start := self._module_object(steps, location)) is not None:
            return start
        if is_own_object(name, language):
            return self._own_object(location, ValueKind.INSTANCE), steps[1:]
        if language == "ruby" and (name == DESCRIBED or name.startswith(("@", TOP))):
            return self._ruby_start(steps, location)
        if name == BASE_OBJECTS.get(language, "super"):
            rest = steps[2:] if steps[1:2] == (CALL,) else steps[1:]
            return self._own_object(location, ValueKind.SUPER), rest
        return None

    def _ruby_start(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]]:
        """Resolves a variable of the own object, or the class that RSpec describes."""
        name = steps[0].name
        if name == DESCRIBED:
            return self._described(location), steps[1:]
        if name.startswith(TOP):
            return self.top_type(name.removeprefix(TOP), location.unit), steps[1:]
        return self._own_object(location, ValueKind.INSTANCE), (Step(name.lstrip("@")), *steps[1:])

    def top_type(self, name: str, unit: Unit) -> Value:
        """Returns the class or module of Ruby that is in no module; unknown if no file defines it."""
        refs = self._program.types_named(unit, name)
        return Value(ValueKind.SYMBOL, tuple(refs), strategy=Strategy.SAME_PACKAGE) if refs else UNKNOWN

    def _described(self, location: Location) -> Value:
        """Returns the class that a file of RSpec describes last before a line: `describe Shop::Depot`."""
        described = location.unit.variables.get(("", DESCRIBED), ())
        before = [one for one in described if one.line <= location.line] or described
        return self.value_of(steps_of(before[-1].type), Location(location.unit)) if before else UNKNOWN

    def _outer_object(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]] | None:
        """Returns the object of a class around, in Java: `Depot.this`."""
        if steps[1:2] != (OWN,) or location.unit.language not in JVM:
            return None
        value = self.name_at(steps[0].name, location)
        own = value._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER)
        return (own, steps[2:]) if self._is_class(value) else None

    def _module_object(
        self, steps: Sequence[Step], location: Location
    ) -> tuple[Value, Sequence[Step]] | None:
        """Resolves `exports`, `module.exports` and `require("./depot")` at the start of an expression."""
        name, unit = steps[0].name, location.unit
        if name.startswith(REQUIRED):
            located = self._program.locate(unit, name.removeprefix(REQUIRED))
            refs = tuple(SymbolRef(one.id, -1) for one in located.units)
            value = Value(ValueKind.MODULE, refs, located.certainty, Strategy.MODULE) if refs else UNKNOWN
            return value, steps[1:]
        is_module = name == "module" and steps[1:2] == (Step(EXPORTS),)
        if not (is_module or name == EXPORTS) or name in unit.named or location.local(name) is not None:
            return None
        own = Value(ValueKind.MODULE, (SymbolRef(unit.id, -1),), strategy=Strategy.MODULE)
        return own, steps[2:] if is_module else steps[1:]

    def _rust_start(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]]:
        """Resolves `self` and `super`: the object of a method, or the start of a path."""
        if steps[0].name == "self":
            own = self._own_object(location, ValueKind.INSTANCE)
            return (own, steps[1:]) if own.is_known else self._path(steps, location)
        around = location.inside.split(".")
        modules = [
            count
            for count in range(1, len(around))
            if self._is_module(location.unit, ".".join(around[:count]))
        ]
        if modules == [1] and (len(steps) == 1 or steps[1].name != "super"):  # `mod tests` in the file
            return Value(
                ValueKind.MODULE, (SymbolRef(location.unit.id, -1),), strategy=Strategy.MODULE
            ), steps[1:]
        return (UNKNOWN, steps[1:]) if modules else self._path(steps, location)

    def _imported_module(self, name: str, unit: Unit) -> Value | None:
        """Returns the module that a file imports under a name that means a function too."""
        values = (self._program.imported_value(unit, one) for one in unit.imports.get(name, ()))
        return next((value for value in values if value.kind is ValueKind.MODULE), None)

    def _path(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]]:
        """Resolves the longest prefix that is a module: `crate::depot` of `crate::depot::Depot`."""
        for count in range(len(steps), 0, -1):
            if all(step.name for step in steps[:count]):
                located = self._program.locate(location.unit, "::".join(step.name for step in steps[:count]))
                if located.units:
                    refs = tuple(SymbolRef(one.id, -1) for one in located.units)
                    return Value(ValueKind.MODULE, refs, located.certainty, Strategy.MODULE), steps[count:]
        is_foreign = location.unit.language == "rust" and self._program.is_foreign_crate(
            location.unit, steps[0].name
        )
        return (EXTERNAL if is_foreign else UNKNOWN), steps[1:]

    def _in_namespaces(self, steps: Sequence[Step], location: Location) -> tuple[Value, Sequence[Step]]:
        """Returns the value of the first steps of a name of PHP, and the remaining steps."""
        if steps[0].name.startswith(ABSOLUTE):
            bare = (Step(steps[0].name.removeprefix(ABSOLUTE)), *steps[1:])
            return self._namespaced_name(bare, location, [""])
        value = self.name_at(steps[0].name, location)
        imported = location.unit.imports.get(steps[0].name, ()) if len(steps) > 1 else ()
        for one in imported:  # `use Town\Shop;`: a class, a namespace, or both
            outer = dotted_namespace(f"{one.module}\\{one.name}")
            module = self._program.namespace(location.unit, outer)
            if module.is_known and (found := self.member_of(module, steps[1].name)).kind is ValueKind.SYMBOL:
                return found, steps[2:]
        if value.is_known or len(steps) == 1:
            return value, steps[1:]
        return self._namespaced_name(steps, location, [f"{location.unit.declared}.", ""])

    def _namespaced_name(
        self, steps: Sequence[Step], location: Location, outer: Sequence[str]
    ) -> tuple[Value, Sequence[Step]]:
        """Resolves a name of PHP with its namespace, and returns the remaining steps.

        A class comes before a namespace of its name. `outer` are what may be before the first step.
        """
        named = [step.name for step in takewhile(lambda step: step is not CALL and step.name, steps)]
        for before in outer:
            for count in range(len(named) - 1, 0, -1):
                module = self._program.namespace(location.unit, f"{before}{'.'.join(named[:count])}")
                if (
                    module.is_known
                    and (found := self.member_of(module, named[count])).kind is ValueKind.SYMBOL
                ):
                    return found, steps[count + 1 :]
            for count in range(len(named), 0, -1):
                module = self._program.namespace(location.unit, f"{before}{'.'.join(named[:count])}")
                if module.is_known:
                    return module, steps[count:]
        return self._program.outside_namespaces(location.unit, named[0]), steps[1:]

    def in_namespace(self, steps: Sequence[Step], name: str, location: Location) -> Value:
        """Returns what the namespace of PHP that some steps spell has under a name."""
        path = ".".join(step.name for step in steps)
        imported = location.unit.imports.get(steps[0].name, ()) if steps else ()
        if imported:
            outer = dotted_namespace(f"{imported[0].module}\\{imported[0].name}")
            path = ".".join([ABSOLUTE + outer, *(step.name for step in steps[1:])])
        before = [""] if path.startswith(ABSOLUTE) else [f"{location.unit.declared}.", ""]
        modules = (self._program.namespace(location.unit, f"{one}{path.lstrip(ABSOLUTE)}") for one in before)
        found = (self.member_of(module, name) for module in modules if module.is_known)
        return next((one for one in found if one.kind is ValueKind.SYMBOL), UNKNOWN)

    def outside_namespaces(self, name: str, location: Location) -> Value:
        r"""Returns what is in no namespace of PHP under a name: `\Depot`."""
        value = self._program.outside_namespaces(location.unit, name)
        return value if value.is_known else EXTERNAL

    def _in_named_package(
        self, steps: Sequence[Step], location: Location
    ) -> tuple[Value, Sequence[Step]] | None:
        """Resolves `town.shop.Depot`, a type with its package, at the start of an expression."""
        at = next((at for at, step in enumerate(steps) if step.name[:1].isupper()), 0)
        if not at or CALL in steps[:at]:
            return None
        name, package = steps[at].name, ".".join(step.name for step in steps[:at])
        value = self._program.imported_value(location.unit, Import(name, name, package, range(0)))
        return (value, steps[at + 1 :]) if value.kind is not ValueKind.UNKNOWN else None

    def _own_object(self, location: Location, kind: ValueKind) -> Value:
        inside = location.inside
        while inside:
            positions = location.unit.named.get(inside, ())
            own = location.unit.definitions[positions[0]].kind if positions else None
            # A method that returns an object is called on another one.
            is_maker = own is not SymbolKind.METHOD and inside in location.unit.makers
            if positions and (own in TYPE_KINDS or is_maker):
                return Value(
                    kind,
                    tuple(SymbolRef(location.unit.id, one) for one in positions),
                    strategy=Strategy.RECEIVER,
                )
            if location.unit.language in ECMASCRIPT and not positions:
                return self._object_around(inside, location)
            if positions and _is_object(location.unit, positions):
                return symbol_value(location.unit, positions).with_strategy(Strategy.RECEIVER)
            if not positions:
                # `impl S { fn f }`, `func (s *S) F`: the class is defined elsewhere.
                value = self._class_elsewhere(inside, location)
                return (
                    value._replace(kind=kind, strategy=Strategy.RECEIVER)
                    if self._is_class(value)
                    else UNKNOWN
                )
            inside = inside.rpartition(".")[0]
        return UNKNOWN

    def _object_around(self, inside: str, location: Location) -> Value:
        """Returns what `this` is in a member of `exports`, of a class of another file, or of an unknown object."""
        if inside == EXPORTS:
            return Value(ValueKind.MODULE, (SymbolRef(location.unit.id, -1),), strategy=Strategy.RECEIVER)
        value = self.name_at(inside.partition(".")[0], location._replace(inside="", line=0))
        if "." not in inside and self._is_class(value):
            return value._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER)
        return UNKNOWN

    def _class_elsewhere(self, qualified_name: str, location: Location) -> Value:
        """Returns the class of a member that is defined outside of it, as in `void S::f() {}`."""
        if location.unit.language == "cpp":
            return self._program.included_value(location.unit, qualified_name)
        return self.name_at(qualified_name, location._replace(inside="", line=0))

    def member_of(self, value: Value, name: str, depth: int = 0) -> Value:
        """Returns the value of the member `name` of a value."""
        if self._is_getter(value):
            value = self.called(value, depth + 1)
        if value.kind is ValueKind.MODULE:
            return self._member_of_module(value, name, depth)
        if value.kind is ValueKind.SYMBOL and (found := self._member_of_function(value, name)):
            return found
        if (made := self._made_or_class(value, name)) is not None:
            return made
        if value.kind is ValueKind.SYMBOL and not self._is_class(value):
            value = self.variable_value(value, depth + 1)
        if value.kind not in {ValueKind.SYMBOL, ValueKind.INSTANCE, ValueKind.SUPER}:
            return value
        members = self._members_of(value, name)
        if members.symbols:
            return members.value(
                _MEMBER_STRATEGY[value.kind]
                if value.strategy is not Strategy.RECEIVER
                else Strategy.RECEIVER,
                value.certainty,
            )
        return self._member_variable(value, name, depth + 1)

    def _made_or_class(self, value: Value, name: str) -> Value | None:
        """Returns the object of `Depot.new`, or the class of `depot.class`; None for another member."""
        makers = MAKES_OBJECT.get(self._language_of(value), ())
        if name in makers and self._is_class(value):
            return value._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER_TYPE)
        if makers and name == "class" and value.kind is ValueKind.INSTANCE:
            return value._replace(kind=ValueKind.SYMBOL)
        return None

    def _is_getter(self, value: Value) -> bool:
        if value.kind is not ValueKind.SYMBOL:
            return False
        ref = value.symbols[0]
        unit = self._program.units[ref.file]
        return bool(unit.getters) and unit.definitions[ref.symbol].qualified_name in unit.getters

    def _language_of(self, value: Value) -> str:
        return self._program.units[value.symbols[0].file].language if value.symbols else ""

    def lacks(self, value: Value, name: str) -> bool:
        """Returns whether an instance or a class surely lacks a member: all of its base classes are known."""
        if value.kind not in {ValueKind.INSTANCE, ValueKind.SYMBOL} or value.certainty is not Certainty.YES:
            return False
        unit = self._program.units[value.symbols[0].file]
        if unit.language in SEES_NO_NAMESPACE and value.kind is ValueKind.INSTANCE:
            return False  # after `instanceof`, a variable has the members of another type
        is_made = self._program.definition(value.symbols[0]).qualified_name in unit.makers
        if unit.language in OPEN_TYPES or is_made:  # code may add members to what a function makes
            return False
        if value.kind is ValueKind.SYMBOL and not self._is_class(value):
            return False
        return (
            self._members_of(value, name).is_complete and not self._members_of(value, "__getattr__").symbols
        )

    def _member_of_function(self, value: Value, name: str) -> Value | None:
        """Returns what code adds to a function or class, as to any object: `depot.open = …`, `exports.open = …`."""
        for ref in value.symbols:
            unit, own = self._program.units[ref.file], self._program.definition(ref).qualified_name
            if unit.language == "rust" and _is_value(unit, (ref.symbol,)):
                if fields := unit.named.get(f"{own}.{name}"):  # an enum case
                    return symbol_value(unit, fields).with_strategy(Strategy.CLASS_NAME, value.certainty)
            elif unit.language in _OBJECTS_HAVE_MEMBERS:
                is_whole = any(one.type == own for one in unit.variables.get(("", MODULE_EXPORTS), ()))
                owners = [own, EXPORTS] if is_whole else [own]
                found = [at for owner in owners for at in unit.named.get(f"{owner}.{name}", ())]
                if found:
                    return symbol_value(unit, found).with_strategy(Strategy.MODULE, value.certainty)
                if is_whole and (exported := self._program.member_of_exports(unit, name)).is_known:
                    return exported.with_strategy(Strategy.MODULE, value.certainty)
        return None

    def _member_of_module(self, value: Value, name: str, depth: int) -> Value:
        units = tuple(self._program.units[ref.file] for ref in value.symbols)
        exported = self._program.module_export(LocatedModule(units, value.certainty), name)
        if exported.is_known:
            return exported.with_strategy(Strategy.MODULE) if exported.kind is ValueKind.SYMBOL else exported
        whole = self._program.whole_export(value)
        if whole.is_known and depth <= STEPS_MAX:
            member = self.member_of(whole, name, depth + 1)
            if member.is_known:
                return member
        if any(unit.language in OBJECT_MODULES for unit in units):
            return _member_of_objects(units, name, value.certainty)
        inner = [self._program.locate(unit, f".{name}") for unit in units if unit.language == "python"]
        refs = tuple(SymbolRef(unit.id, -1) for one in inner for unit in one.units)
        return Value(ValueKind.MODULE, refs, value.certainty, Strategy.MODULE) if refs else EXTERNAL

    def called(self, value: Value, depth: int = 0) -> Value:
        """Returns the value of a call."""
        value = self._program.whole_export(value)
        if value.kind is ValueKind.INSTANCE and self._language_of(value) in MADE_BEFORE_CALLS:
            return value  # `Depot.new` has made it, `depot.clone` is it
        if value.kind is not ValueKind.SYMBOL:
            return UNKNOWN
        if self._is_class(value):
            return value._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER_TYPE)
        for ref in value.symbols:
            unit = self._program.units[ref.file]
            if returned := unit.returns.get(unit.definitions[ref.symbol].qualified_name):
                is_inferred = unit.language in ECMASCRIPT and (returned[1:] or returned[0].made_by)
                if is_inferred:
                    found = self._result(unit, unit.definitions[ref.symbol].qualified_name, returned)
                elif returned[0].type or len({(one.type, one.made_by) for one in returned}) == 1:
                    found = self.created_value(returned[0], Location(unit), depth + 1)
                else:
                    found = UNKNOWN  # it hands out several
                return found.with_strategy(Strategy.RECEIVER_TYPE, value.certainty)
        return UNKNOWN

    def _result(self, unit: Unit, name: str, returned: Sequence[UnresolvedType]) -> Value:
        """Returns the instance that a function returns, by the values that it returns: the one that all known ones are.

        A function that is asked for again in the meantime, by a cycle, is unknown then, and only the outermost is kept.
        """
        results, known = self._program.results, (unit.id, name)
        if known in results:
            return results[known]
        if known in self._results_in_progress or len(self._results_in_progress) > STEPS_MAX:
            self._is_result_cut = True
            return UNKNOWN
        before, self._is_result_cut = self._is_result_cut, False
        self._results_in_progress.add(known)
        values = [self.created_value(one, Location(unit), 1) for one in returned[:RETURNED_MAX]]
        self._results_in_progress.discard(known)
        instances = [one for one in values if one.kind is ValueKind.INSTANCE]
        distinct = {one.symbols for one in instances}
        found = instances[0] if len(distinct) == 1 or (instances and returned[0].type) else UNKNOWN
        if not self._is_result_cut or not self._results_in_progress:
            results[known] = found
        self._is_result_cut |= before
        return found

    def created_value(self, unresolved: UnresolvedType, location: Location, depth: int = 0) -> Value:
        """Returns the instance that a variable holds, by its declared type or its initial value."""
        if depth > STEPS_MAX or not (unresolved.type or unresolved.made_by):
            return UNKNOWN
        location = location._replace(inside=unresolved.inside, line=unresolved.line)
        if not unresolved.type:
            return self._made_value(steps_of(unresolved.made_by), location, depth + 1)
        steps = steps_of(unresolved.type)
        is_object = unresolved.type == OBJECT_TYPE
        value = self._object_in(location) if is_object else self.value_of(steps, location, depth + 1)
        is_field = value.kind is ValueKind.SYMBOL and not self._is_class(value)
        if is_field and location.inside and location.unit.language in C_FAMILY:  # `struct gate gate;`
            value = self.value_of(steps, location._replace(inside=""), depth + 1)
        if is_field and location.unit.language in JVM:  # `Lock Lock;`: a field and a type may share a name
            value = value._replace(symbols=self._types_among(value.symbols) or value.symbols)
        if is_field and location.unit.language in ECMASCRIPT:  # `const gate = this.gate`
            value = self._read(value, depth + 1)
        if not value.is_known and is_final(location.unit.language, unresolved.type):
            return EXTERNAL
        if value.kind is ValueKind.SYMBOL and self._is_class(value):
            value = value._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER_TYPE)
        elif value.kind is ValueKind.SYMBOL and location.unit.language == "python" and "." in unresolved.type:
            value = self.variable_value(value, depth + 1)  # `gate = depot.gate`
        elif value.kind is ValueKind.EXTERNAL and location.unit.language in SEES_NO_NAMESPACE:
            value = UNKNOWN  # a class of the repository may implement an interface of a package
        return value if value.kind in {ValueKind.EXTERNAL, ValueKind.INSTANCE} else UNKNOWN

    def _made_value(self, steps: Sequence[Step], location: Location, depth: int) -> Value:
        """Returns what a call gives."""
        if steps[-1:] == (ENTERED,):
            return self._entered(steps[:-1], location, depth)
        made = self.called(value := self.value_of(steps, location, depth), depth)
        is_foreign = value.kind is ValueKind.EXTERNAL and _makes_no_own_object(steps, location.unit)
        return EXTERNAL if is_foreign else made

    def _object_in(self, location: Location) -> Value:
        """Returns the object that a function of JavaScript makes, with the functions in it as its methods."""
        if location.inside not in location.unit.makers:
            return UNKNOWN
        made = symbol_value(location.unit, location.unit.named.get(location.inside, ()))
        return made._replace(kind=ValueKind.INSTANCE, strategy=Strategy.RECEIVER_TYPE)

    def _read(self, value: Value, depth: int) -> Value:
        """Returns the instance that a field, a variable or a getter holds."""
        return self.called(value, depth) if self._is_getter(value) else self.variable_value(value, depth)

    def _entered(self, steps: Sequence[Step], location: Location, depth: int) -> Value:
        """Returns what `with` of Python binds: the result of the object's method, or the object itself."""
        made = self.value_of(steps, location, depth)
        if made.kind is not ValueKind.INSTANCE:
            called = self.value_of(steps[:-1], location, depth)
            is_foreign = called.kind is ValueKind.EXTERNAL and _makes_no_own_object(steps[:-1], location.unit)
            return EXTERNAL if is_foreign else made
        for method in (ENTERED, ENTERED_ASYNC):
            entered = self.member_of(made, method.name, depth)
            if entered.kind is ValueKind.SYMBOL and (value := self.called(entered, depth)).is_known:
                return value
        return made

    def _types_among(self, refs: Iterable[SymbolRef]) -> tuple[SymbolRef, ...]:
        return tuple(ref for ref in refs if self._program.definition(ref).kind in TYPE_KINDS)

    def variable_value(self, value: Value, depth: int = 0) -> Value:
        """Returns the instance that a variable outside of functions holds."""
        for ref in value.symbols:
            unit, definition = self._program.units[ref.file], self._program.definition(ref)
            if definition.kind is SymbolKind.CONSTANT and definition.parent >= 0:
                enum = SymbolRef(ref.file, definition.parent)
                if self._program.definition(enum).kind is SymbolKind.ENUM:
                    return Value(ValueKind.INSTANCE, (enum,), value.certainty, Strategy.RECEIVER_TYPE)
            is_method = definition.kind is SymbolKind.METHOD and unit.language == "python"
            if is_method and definition.qualified_name in unit.returns:  # a property
                return self.called(value, depth + 1)
            owner = definition.qualified_name.rpartition(".")[0]
            found = self._agreed_value(unit, _declared_in(unit, owner, definition.name), depth)
            if found.is_known:
                return found.with_strategy(Strategy.RECEIVER_TYPE, value.certainty)
        return UNKNOWN

    def variable_at(self, name: str, location: Location) -> Value:
        """Returns the last value before the line of a top-level variable that is not a symbol."""
        unresolved = location.unit.variables.get(("", name), ())
        before = [one for one in unresolved if one.line <= location.line] or unresolved
        return self.created_value(before[-1], Location(location.unit)) if before else UNKNOWN

    def _member_variable(self, value: Value, name: str, depth: int) -> Value:
        """Returns the value of a variable of an instance."""
        for unit, owner in self._lineage(value):
            found = self._agreed_value(unit, _declared_in(unit, owner, name), depth)
            if found.is_known:
                return found.with_strategy(Strategy.RECEIVER_TYPE, value.certainty)
        return self._embedded(value, name, depth)

    def _embedded(self, value: Value, name: str, depth: int) -> Value:
        """Returns the part of an instance that embeds a type: in Go, `depot.Gate` of `struct { *Gate }`."""
        for unit, owner in self._lineage(value):
            if unit.language not in EMBEDDED_ARE_FIELDS or depth > STEPS_MAX:
                return UNKNOWN
            for base in unit.bases.get(owner, ()):
                if base.type.rpartition(".")[2] == name:
                    return self.created_value(base, Location(unit), depth).with_strategy(
                        Strategy.RECEIVER_TYPE, value.certainty
                    )
        return UNKNOWN

    def _agreed_value(self, unit: Unit, unresolved: Sequence[UnresolvedType], depth: int) -> Value:
        """Returns the value on which all bindings agree. Declared types override initial values."""
        declared = [one for one in unresolved if one.type]
        distinct = {(one.type, one.made_by): one for one in declared or unresolved if one.type or one.made_by}
        values = {self.created_value(one, Location(unit), depth) for one in distinct.values()}
        return values.pop() if len(values) == 1 else UNKNOWN

    def _is_module(self, unit: Unit, qualified_name: str) -> bool:
        positions = unit.named.get(qualified_name, ())
        return bool(positions) and unit.definitions[positions[0]].kind is SymbolKind.MODULE

    def _is_callable(self, value: Value) -> bool:
        return (
            value.kind is ValueKind.SYMBOL
            and self._program.definition(value.symbols[0]).kind in CALLABLE_KINDS
        )

    def _is_class(self, value: Value) -> bool:
        if value.kind is not ValueKind.SYMBOL:
            return False
        unit, definition = (
            self._program.units[value.symbols[0].file],
            self._program.definition(value.symbols[0]),
        )
        return definition.kind in TYPE_KINDS or definition.qualified_name in unit.makers

    # Members.

    def _members_of(self, value: Value, name: str) -> Members:
        if len(value.symbols) == 1:
            return self._find_members(value, name)
        known = (value.symbols, name, value.kind is ValueKind.SUPER)
        if known in self._members:
            return self._members[known]
        found = self._find_members(value, name)
        if not self._lineages_in_progress:
            self._members[known] = found
        return found

    def _find_members(self, value: Value, name: str) -> Members:
        found = [
            self.members(
                self._program.units[ref.file],
                self._program.definition(ref).qualified_name,
                name,
                is_base=value.kind is ValueKind.SUPER,
            )
            for ref in value.symbols
        ]
        return next((one for one in found if one.symbols), found[0])

    def members(self, unit: Unit, owner: str, name: str, *, is_base: bool = False) -> Members:
        """Returns the definitions of a member in a class or its bases; with `is_base`, only in its bases."""
        is_complete = True
        for at, owner_name in self._lineage_of(unit, owner):
            if at is None:
                is_complete = False
            elif is_base and at is unit and owner_name == owner:
                continue
            elif refs := self._members_here(at, owner_name, name):
                is_inherited = not (at is unit and owner_name == owner)
                # An unknown base that comes before this class may define the member too.
                return Members(
                    refs, is_inherited, is_complete, Certainty.YES if is_complete else Certainty.MAYBE
                )
        return Members((), is_inherited=False, is_complete=is_complete)

    def inherited_members(self, unit: Unit, owner: str, name: str) -> tuple[SymbolRef, ...]:
        """Returns the definitions of a member in all base classes of a class that are known."""
        return tuple(
            ref
            for at, owner_name in self._lineage_of(unit, owner)
            if at is not None and (at is not unit or owner_name != owner)
            for ref in self._members_here(at, owner_name, name)
        )

    def own_class(self, location: Location) -> Value:
        """Returns the class around a location."""
        own = self._own_object(location, ValueKind.INSTANCE)
        return own._replace(kind=ValueKind.SYMBOL) if own.is_known else own

    def base_class(self, value: Value) -> Value:
        """Returns the base class of a class, as far as it is known; no interface."""
        for ref in value.symbols:
            unit, owner = self._program.units[ref.file], self._program.definition(ref).qualified_name
            for place, base in self._bases_of(unit, owner):
                found = self.value_of(steps_of(base.type), Location(place, base.inside, base.line))
                is_class = self._is_class(found) and found.certainty is Certainty.YES
                if is_class and self._program.definition(found.symbols[0]).kind not in _ABSTRACT:
                    return found
        return UNKNOWN

    def _members_here(self, unit: Unit, owner: str, name: str) -> tuple[SymbolRef, ...]:
        if found := _members_in(unit, owner, name):
            return symbol_value(unit, found).symbols
        return (
            ()
            if _is_constructor(owner, name, unit)
            else self._program.members_in_other_files(unit, f"{owner}.{name}")
        )

    def _lineage(self, value: Value) -> Iterator[tuple[Unit, str]]:
        """Yields the known classes and base classes of a value, nearest first."""
        for ref in value.symbols:
            for unit, owner in self._lineage_of(
                self._program.units[ref.file], self._program.definition(ref).qualified_name
            ):
                if unit is not None:
                    yield unit, owner

    def _lineage_of(self, unit: Unit, owner: str) -> Sequence[tuple[Unit | None, str]]:
        """Returns a class and its bases, nearest first; an unknown base has no file.

        Unknown interfaces come last: members of classes override theirs.
        """
        known = (unit.id, owner)
        if known not in self._program.lineages:
            # Prevents recursion: the lookup of a base may lead to the class, as in `class A(A.Base)`.
            self._program.lineages[known] = ((unit, owner),)
            self._lineages_in_progress += 1
            self._program.lineages[known] = tuple(self._walk_lineage(unit, owner))
            self._lineages_in_progress -= 1
        return self._program.lineages[known]

    def _walk_lineage(self, unit: Unit, owner: str) -> Iterator[tuple[Unit | None, str]]:
        todo: list[tuple[Unit, str]] = [(unit, owner)]
        seen: set[tuple[str, str]] = set()
        unknown_interfaces: list[str] = []
        while todo and len(seen) <= LINEAGE_MAX:
            at, name = todo.pop(0)
            if (at.id, name) in seen:
                continue
            seen.add((at.id, name))
            yield at, name
            for place, base in self._bases_of(at, name):
                value = self.value_of(steps_of(base.type), Location(place, base.inside, base.line))
                whole = self._program.whole_export(value)
                value = whole if whole.is_known else value
                if self._is_class(value) and value.certainty is Certainty.YES:
                    todo += [
                        (self._program.units[one.file], self._program.definition(one).qualified_name)
                        for one in value.symbols
                    ]
                elif (mixed := self._mixed_in(value)) is not None:
                    todo.append(mixed)
                elif value.kind is ValueKind.EXTERNAL or _is_foreign_base(value, at, base.type):
                    continue
                elif base.is_interface:
                    unknown_interfaces.append(base.type)
                else:
                    yield None, base.type
        yield from ((None, one) for one in unknown_interfaces)

    def _mixed_in(self, value: Value) -> tuple[Unit, str] | None:
        """Returns the object or module whose functions are mixed into a prototype, as a file and a name."""
        if value.certainty is not Certainty.YES or len(value.symbols) != 1:
            return None
        ref = value.symbols[0]
        unit = self._program.units[ref.file]
        if unit.language not in ECMASCRIPT:
            return None
        if value.kind is ValueKind.MODULE:
            return unit, EXPORTS
        is_object = value.kind is ValueKind.SYMBOL and _is_value(unit, (ref.symbol,))
        return (unit, self._program.definition(ref).qualified_name) if is_object else None

    def _bases_of(self, unit: Unit, name: str) -> Iterator[tuple[Unit, UnresolvedType]]:
        """Yields the bases of a class, each with its file: other files may declare them, as for a partial class."""
        yield from ((unit, base) for base in unit.bases.get(name, ()))
        if unit.language in DECLARED_ELSEWHERE:
            others = {ref.file for ref in self._program.types_named(unit, name)} - {unit.id}
            for one in sorted(others):
                other = self._program.units[one]
                yield from ((other, base) for base in other.bases.get(name, ()))


_MEMBER_STRATEGY: Mapping[ValueKind, Strategy] = {
    ValueKind.SYMBOL: Strategy.CLASS_NAME,
    ValueKind.INSTANCE: Strategy.RECEIVER_TYPE,
    ValueKind.SUPER: Strategy.INHERITED,
}


def _makes_no_own_object(steps: Sequence[Step], unit: Unit) -> bool:
    """Returns whether an external callee is a class or a builtin: what it returns has no member of the program.

    `create(ours)` may return an object of ours, `new Map()` and `set()` do not.
    """
    name = steps[-1].name
    if unit.language in ECMASCRIPT:
        return name[:1].isupper()
    is_class = name[:1].isupper() and not name.isupper()
    return unit.language == "python" and (is_class or (len(steps) == 1 and name in MAKES_BUILTIN))


def _declared_in(unit: Unit, owner: str, name: str) -> Sequence[UnresolvedType]:
    """Returns the types and initial values of a variable; in TypeScript only the types that its class declares, if any."""
    known = unit.variables.get((owner, name), ())
    declared = (
        [one for one in known if one.type and one.inside == owner] if unit.language in ECMASCRIPT else []
    )
    return declared or known


def _qualified_names(name: str, location: Location) -> Iterator[str]:
    """Yields the qualified names that a type name may mean, nearest first."""
    inside = location.inside if location.unit.language in NESTED_TYPES else ""
    while inside:
        yield f"{inside}.{name}"
        inside = inside.rpartition(".")[0]
    head, dot, rest = name.partition(".")
    for one in location.unit.imports.get(head, ()):
        whole = one.module if one.module.rpartition(".")[2] == one.name else f"{one.module}.{one.name}"
        yield f"{whole}{dot}{rest}"
    if location.unit.language in NESTED_TYPES:
        for imports in location.unit.imports.values():
            yield from (f"{one.module}.{name}" for one in imports)
    yield name


def _members_in(unit: Unit, owner: str, name: str) -> Sequence[int]:
    return () if _is_constructor(owner, name, unit) else unit.named.get(f"{owner}.{name}", ())


def _seen_members(unit: Unit, owner: str, name: str, *, is_class: bool) -> Sequence[int]:
    """Returns the members that code in their owner can use without an object.

    In JavaScript a function sees what is declared in it, and no member of the object that it is or makes.
    """
    if unit.language not in ECMASCRIPT or is_class:
        return _members_in(unit, owner, name)
    found = unit.named.get(f"{owner}.{name}", ())  # `function memoize() { function memoize() {} }`
    around = unit.named.get(owner, ())
    return [
        one
        for one in found
        if unit.definitions[one].parent in around and unit.definitions[one].kind is not SymbolKind.METHOD
    ]


def _is_around_namespace(unit: Unit, name: str) -> bool:
    """Returns whether a name is that of a namespace of C# around the file's: `Town` around `namespace Town.Shop;`.

    The types of the inner one come first, in whichever file they are.
    """
    return unit.language == "csharp" and any(
        one.kind in SCOPE_KINDS and one.qualified_name.startswith(f"{name}.") for one in unit.definitions
    )


def _is_object(unit: Unit, positions: Sequence[int]) -> bool:
    """Returns whether a name is an object of functions in JavaScript: `const depot = { open() {} }`."""
    return unit.language in ECMASCRIPT and _is_value(unit, positions)


def _is_value(unit: Unit, positions: Sequence[int]) -> bool:
    return bool(positions) and unit.definitions[positions[0]].kind in VALUE_KINDS


def _is_foreign_base(value: Value, unit: Unit, name: str) -> bool:
    return not value.is_known and name in FOREIGN_BASES.get(unit.language, ())


def _is_constructor(owner: str, name: str, unit: Unit) -> bool:
    """Returns whether a member has the name of its class: the name means the class then, where classes have constructors."""
    return owner.rpartition(".")[2] == name and unit.language not in NO_CONSTRUCTORS


def _is_before_class(name: str, location: Location) -> bool:
    """Returns whether a location runs before a class of a name is bound: in its head, its body or above."""
    if location.inside:
        return location.inside == name
    bases = location.unit.bases[name]
    return 0 < location.line <= max(base.line for base in bases if base.type == name)


def _imported_or_own(value: Value, other: Value | None) -> Value:
    """Returns the value of a name that a file both imports and defines, for example per operating system."""
    if other is None:
        return value
    refs = value.symbols if value.kind is ValueKind.SYMBOL else ()
    if set(refs) == set(other.symbols):  # `use super::Depot` in a module in braces of its file
        return value
    return other._replace(symbols=(*refs, *other.symbols), certainty=Certainty.MAYBE)


def _local(name: str, location: Location) -> Value | None:
    return location.local(name)


def _member_of_objects(units: Iterable[Unit], name: str, certainty: Certainty) -> Value:
    """Returns a member of a module object of any name (`M.add`, `exports.add`); unknown if there is none."""
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
    # The exported object is certain only by its name, or if the file has no other object.
    owners = {(unit.id, owner) for unit, _, owner in members}
    unit, _, owner = found[0]
    is_exported = len(found) == 1 and (
        owner == EXPORTS or (unit.language != "javascript" and len(owners) == 1)
    )
    refs = tuple(SymbolRef(unit.id, position) for unit, position, _ in found)
    return Value(ValueKind.SYMBOL, refs, certainty if is_exported else Certainty.MAYBE, Strategy.MODULE)
