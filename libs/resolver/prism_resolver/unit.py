"""The public view of a file: its definitions, imports, base classes and variable types."""

import re
import sys
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    GLOBAL_USING,
    OBJECT_TYPE,
    PACKAGE,
    TYPE_KINDS,
    VALUE_KINDS,
    Binding,
    Reference,
    ReferenceKind,
    Symbol,
    SymbolFact,
    SymbolKind,
)
from prism_resolver.facts import FileFacts
from prism_resolver.languages import (
    C_FAMILY,
    CALLS_WHAT_IS_HELD,
    ECMASCRIPT,
    EXPORTS,
    FOLDER_PACKAGES,
    JVM,
    SOURCE_ROOT,
    WILDCARD_IMPORTS,
)
from prism_resolver.manifests import Manifest, named_manifest
from prism_resolver.modules import File, is_version_suffix, package_name_of
from prism_resolver.parameters import (
    NAMED_ARGUMENTS,
    OVERLOADS,
    held_parameters,
    labelled_parameters,
    parameters_of,
)

WHOLE_MODULE = "*"
# The name of a module's default export.
DEFAULT = "default"
# The name of what a CommonJS module is as a whole: the value of `require`.
MODULE_EXPORTS = "module.exports"
# What may be around a constant of C that is visible without it, and an enumeration whose constants are not.
_ENUMERATIONS = frozenset({SymbolKind.ENUM, SymbolKind.TYPE})
_SCOPED_ENUM = re.compile(r"(?:typedef\s+)?enum\s+(?:class|struct)\b")
_GETTER = re.compile(r"(?:[a-z]+\s+)*get\s+[\w$#\[]")
INHERITS = frozenset({ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS})
# A variable of the object on which a method is called.
OWN_VARIABLE = re.compile(r"(?:(?:self|this|cls|\$this|Self)(?:\.|->|::)|@{1,2})(#?\w+)")


class UnitDefinition(NamedTuple):
    """A symbol, reduced to what other files need."""

    name: str
    qualified_name: str
    kind: SymbolKind
    parent: int
    bodiless: bool
    exported: bool
    # Those of a function, of what makes a type, or of a property that holds a function, where names are overloaded: as in `parameters.py`.
    parameters: str = ""
    # The same with their names, where a call may name its arguments.
    labelled: str = ""

    @property
    def described_parameters(self) -> str:
        """The parameters with all that chooses among overloads."""
        return self.labelled or self.parameters


EVERY_LINE = range(1, 1 << 31)


class Import(NamedTuple):
    """A name that a file imports from a module, and its local name."""

    local: str
    name: str
    module: str
    lines: range  # the lines where the import applies: those of the enclosing function

    @property
    def is_in_function(self) -> bool:
        """Whether it binds a name in a function only, so that the name of the file means something else."""
        return self.lines != EVERY_LINE

    @property
    def modules(self) -> Sequence[str]:
        """The modules it may refer to: `from a import b` imports b from a, or the module a.b."""
        joiner = "" if self.module.endswith((".", "/")) else "::" if "::" in self.module else "."
        return (self.module, f"{self.module}{joiner}{self.name}")


class UnresolvedType(NamedTuple):
    """A type or an initial value as written, with the qualified name of the enclosing symbol."""

    type: str
    made_by: str
    line: int
    inside: str = ""
    is_interface: bool = False  # whether a base is an interface that the class implements


@dataclass(frozen=True, slots=True)
class Unit:
    """A file as the rest of a program sees it: a compilation unit."""

    id: str
    scope: str
    file: File
    definitions: Sequence[UnitDefinition]
    named: Mapping[str, Sequence[int]]  # qualified name -> positions in `definitions`
    imports: Mapping[str, Sequence[Import]]  # local name -> imports that may bind it
    wildcards: Sequence[str]  # modules whose names are all imported
    # Qualified name of a class -> what it extends or implements.
    bases: Mapping[str, Sequence[UnresolvedType]]
    # (class or "", variable) -> its types and initial values.
    variables: Mapping[tuple[str, str], Sequence[UnresolvedType]]
    # Qualified name of a callable -> what it is declared to return, or the values that it returns.
    returns: Mapping[str, Sequence[UnresolvedType]]
    aliases: Mapping[str, UnresolvedType]  # qualified name of an alias or an export -> its target
    # Qualified name of a function or variable -> what classes without a name in it extend or implement, by line.
    anonymous: Mapping[str, Sequence[UnresolvedType]] = field(default_factory=dict)
    folder: str = ""
    package: str = ""  # files of one package see each other's names, where the language has such packages
    declared: str = ""  # the package that the file says it is in
    # The name by which imports of the folder are used, where its path need not end with it: in Go.
    package_name: str = ""
    namespaces: Sequence[str] = ()  # all that it says, if it is a file of PHP with several
    # The folder below which the folders of packages begin, or the module that it belongs to.
    root: str = ""
    # Namespaces of C# that the file imports for all files of its project.
    everywhere: Sequence[str] = ()
    manifest: Manifest | None = None  # the package that the file declares, as far as the parser extracts it
    name_lines: Sequence[int] = ()  # lines of the definitions' names, 1-based
    blob: str = ""  # hash of the content
    # Qualified names of functions that make objects: in JavaScript, those with methods.
    makers: frozenset[str] = frozenset()
    # Qualified names of the getters of JavaScript, whose results are read like fields.
    getters: frozenset[str] = frozenset()
    # Field of a struct -> the names of values that the file stores in it.
    stored: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Qualified name of a variable -> the names in its initial value: `weigh` of `TABLE = {"w": weigh}`.
    held: Mapping[str, Sequence[UnresolvedType]] = field(default_factory=dict)
    # Names of C++ that `using` makes visible, as qualified names; namespaces under WHOLE_MODULE.
    usings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    # The language of the file, which is read too often for a property.
    language: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", self.file.language)


def read_unit(facts: FileFacts) -> Unit:
    """Builds the public view of a file."""
    reader = _UnitReader(facts)
    wildcards, imports = reader.imports()
    variables, returns = reader.variables()
    packages = reader.declared_packages()
    stated = packages[0] if packages else ""
    declared = "" if facts.language in FOLDER_PACKAGES else stated
    folder = facts.path.rpartition("/")[0]
    return Unit(
        id=facts.id,
        scope=facts.scope,
        file=File(facts.path, facts.language, facts.repo),
        definitions=reader.definitions,
        named=reader.named(),
        imports=imports,
        wildcards=wildcards,
        bases=reader.bases(),
        anonymous=reader.anonymous(),
        variables=variables,
        returns=returns,
        aliases=reader.aliases(),
        stored=reader.stored(),
        makers=reader.makers,
        getters=reader.getters(),
        held=reader.held(),
        usings=reader.usings(),
        name_lines=array("i", (symbol.name_line for symbol in facts.symbols)),
        blob=facts.blob,
        folder=folder,
        package=declared or _package(facts),
        declared=declared,
        package_name="" if declared else stated,
        namespaces=packages if packages[1:] else (),
        root=_root(folder, declared) if facts.language in JVM else "",
        everywhere=reader.everywhere(),
        manifest=named_manifest(facts.path, facts.symbols),
    )


def _package(facts: FileFacts) -> str:
    """Returns the folder, without the source root where tests of a package have one of their own."""
    folder = facts.path.rpartition("/")[0]
    root = SOURCE_ROOT.match(folder) if facts.language in JVM else None
    return f"{root['module']}:{root['package']}" if root else folder


def _root(folder: str, declared: str) -> str:
    """Returns the folder below which the folders of packages begin; of sources of Maven or Gradle, their module."""
    parts = declared.split(".")
    for count in range(len(parts), 0, -1):
        last = "/".join(parts[-count:])
        if f"/{folder}".endswith(f"/{last}"):
            folder = folder[: len(folder) - len(last)].rstrip("/")
            break
    root = SOURCE_ROOT.match(folder)
    return root["module"] if root else folder


def is_submodule(one: Import) -> bool:
    """Returns whether an import is Rust's `mod depot;`."""
    return one.module == "self"


def is_shared(language: str, signature: str) -> bool:
    """Returns whether definitions with one qualified name in several files are one symbol.

    In C, a declaration and a body in another file are.
    """
    return language in C_FAMILY and not signature.startswith("static")


class Site(NamedTuple):
    """A definition of some name, reduced to what decides whether another one with the name is the same symbol."""

    file: Hashable
    qualified_name: str
    is_shared: bool
    has_body: bool  # whether the function or macro has a body
    is_declaration: bool  # whether it only declares a C or C++ function that is defined elsewhere


def same_symbol(asked: Sequence[Site], among: Iterable[Site]) -> list[bool]:
    """Returns by definition whether it is of one of the symbols that are asked for.

    Definitions of one qualified name in a file are one symbol. So are those that files share, except functions outside of
    types with a body in each: programs of one repository define them again. A declaration, also a static one in a header,
    is the symbol of the only body.
    """
    others = list(among)
    bodies = Counter(name for _, name in {(one.file, one.qualified_name) for one in others if one.has_body})
    return [any(_is_same(one, other, bodies) for one in asked) for other in others]


def _is_same(asked: Site, other: Site, bodies: Mapping[str, int]) -> bool:
    name = asked.qualified_name
    if name != other.qualified_name or asked.file == other.file:
        return name == other.qualified_name
    if asked.has_body and other.has_body and "." not in name:
        return False
    is_body = other.has_body if asked.is_declaration else asked.has_body and other.is_declaration
    return (asked.is_shared and other.is_shared) or (is_body and bodies[name] == 1)


def parameters_in(language: str, symbol: Symbol | SymbolFact) -> str:
    """Returns the parameters of a definition in a language with overloads; empty for any other.

    Those of a property are the ones of the function that it holds, if its type says so.
    """
    if language not in OVERLOADS:
        return ""
    if symbol.kind in VALUE_KINDS:
        return sys.intern(held_parameters(language, symbol.signature))
    return sys.intern(parameters_of(language, symbol.name, symbol.signature))


def _labelled_in(language: str, symbol: Symbol | SymbolFact) -> str:
    if language not in NAMED_ARGUMENTS or symbol.kind in VALUE_KINDS:
        return ""
    return sys.intern(labelled_parameters(language, symbol.name, symbol.signature))


def enclosing_callable(facts: FileFacts, symbol: int) -> int:
    """Returns the innermost callable that is or encloses a symbol; -1 if none, or a class is nearer."""
    while symbol >= 0 and facts.symbols[symbol].kind not in CALLABLE_KINDS:
        if facts.symbols[symbol].kind in TYPE_KINDS:
            return -1
        symbol = facts.symbols[symbol].parent
    return symbol


def enclosing_type(facts: FileFacts, symbol: int) -> str:
    """Returns the qualified name of the class that is or encloses a symbol; empty if there is none."""
    while symbol >= 0:
        found = facts.symbols[symbol]
        if found.kind in TYPE_KINDS:
            return found.qualified_name
        owner = found.qualified_name.rpartition(".")[0]
        if found.parent < 0 and owner:
            return owner  # `impl S { fn f }`, `func (s *S) F`: the class is defined elsewhere
        symbol = found.parent
    return ""


def dotted_namespace(path: str) -> str:
    r"""Returns a package or namespace with dots between its parts: `Town.Shop` of `\Town\Shop`."""
    return path.lstrip("\\").replace("::", ".").replace("\\", ".") if "\\" in path or "::" in path else path


def extends_its_import(unit: "Unit", name: str) -> bool:
    """Returns whether a class has a base of its own name: `class Depot(Depot)` after `from town import Depot`."""
    return name in unit.imports and any(base.type == name for base in unit.bases.get(name, ()))


def given_name(alias: str) -> str:
    """Returns the name that an alias gives: `open` for `exports.open` of a CommonJS module."""
    return alias.removeprefix(f"{EXPORTS}.")


def own_variable(name: str) -> str:
    """Returns the variable of the object itself, `depot` for `self.depot`; empty for any other name."""
    found = OWN_VARIABLE.fullmatch(name)
    return found[1] if found else ""


class _UnitReader:
    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self.definitions = [
            UnitDefinition(
                s.name,
                s.qualified_name,
                s.kind,
                s.parent,
                s.bodiless,
                s.exported,
                parameters_in(facts.language, s),
                _labelled_in(facts.language, s),
            )
            for s in facts.symbols
        ]
        # Field and line -> the type that has it, where an extension of a type of another file declares it.
        self._owners_elsewhere = {
            (one.name, one.name_line): one.qualified_name.rpartition(".")[0]
            for one in facts.symbols
            if one.parent < 0 and one.kind in VALUE_KINDS and "." in one.qualified_name
        }
        self.makers = self._makers() if facts.language in ECMASCRIPT else frozenset()

    def _makers(self) -> frozenset[str]:
        """Returns the functions that make objects: those with methods, and those that return an object of functions."""
        returning = {
            one.symbol
            for one in self._facts.bindings
            if one.type == OBJECT_TYPE and not one.name and one.symbol >= 0
        }
        owners = {
            self.definitions[one.parent].qualified_name for one in self.definitions if one.parent in returning
        }
        return _makers(self.definitions) | owners

    def getters(self) -> frozenset[str]:
        if self._facts.language not in ECMASCRIPT:
            return frozenset()
        return frozenset(
            one.qualified_name
            for one in self._facts.symbols
            if one.kind is SymbolKind.METHOD and _GETTER.match(one.signature)
        )

    def declared_packages(self) -> list[str]:
        """Returns the package, with dots; a file of PHP may have several."""
        found = (one.type for one in self._facts.bindings if one.name == PACKAGE and one.symbol < 0)
        return list(dict.fromkeys(map(dotted_namespace, found)))

    def everywhere(self) -> list[str]:
        return [one.type for one in self._facts.bindings if one.name == GLOBAL_USING and one.symbol < 0]

    def named(self) -> dict[str, list[int]]:
        """Excludes variables that are imports: `const depot = require("./depot")`."""
        found: dict[str, list[int]] = {}
        imported = {
            (reference.alias, reference.line)
            for reference in self._facts.references
            if reference.kind is ReferenceKind.IMPORT and reference.alias
        }
        for position, symbol in enumerate(self._facts.symbols):
            if symbol.kind not in VALUE_KINDS or (symbol.qualified_name, symbol.name_line) not in imported:
                found.setdefault(symbol.qualified_name, []).append(position)
        for name, position in (*self.enumerators(), *self.namespaced()):
            found.setdefault(name, []).append(position)
        return found

    def namespaced(self) -> Iterator[tuple[str, int]]:
        """Yields what is in the braces of a namespace of PHP, by its name there.

        Without braces, a namespace is not part of the names.
        """
        symbols = self._facts.symbols if self._facts.language == "php" else ()
        outer = ""
        for position, symbol in enumerate(symbols):
            if symbol.kind is SymbolKind.NAMESPACE:
                outer = f"{symbol.qualified_name}."
            elif outer and symbol.qualified_name.startswith(outer):
                yield symbol.qualified_name.removeprefix(outer), position

    def enumerators(self) -> Iterator[tuple[str, int]]:
        """Yields the constants of C that the scope around their enumeration sees, by their qualified name there."""
        symbols = self._facts.symbols
        for position, symbol in enumerate(symbols if self._facts.language in C_FAMILY else ()):
            around = symbol.parent if symbol.kind is SymbolKind.CONSTANT else -1
            if around >= 0 and symbols[around].kind is SymbolKind.ENUM:
                while around >= 0 and symbols[around].kind in _ENUMERATIONS:
                    if _SCOPED_ENUM.match(symbols[around].signature):
                        break
                    around = symbols[around].parent
                else:
                    outer = f"{symbols[around].qualified_name}." if around >= 0 else ""
                    yield f"{outer}{symbol.name}", position

    def imports(self) -> tuple[list[str], dict[str, list[Import]]]:
        wildcards: list[str] = []
        named: dict[str, list[Import]] = {}
        for reference in self._facts.references:
            if reference.kind is not ReferenceKind.IMPORT or self._is_using(reference):
                continue
            is_wildcard = reference.name == WHOLE_MODULE and not reference.alias
            if is_wildcard or self._facts.language in WILDCARD_IMPORTS:
                wildcards.append(reference.qualifier)
                continue
            local = reference.alias or self._bound_name(reference)
            one = Import(local, reference.name, reference.qualifier, self._lines_of_import(reference))
            named.setdefault(local, []).append(one)
            # `mod job; pub use job::job;`: a call means the function.
            named[local].sort(key=is_submodule)
            # After `import a.b.c`, code uses the full name.
            if not reference.alias and _last_part(reference.qualifier) == reference.name:
                named.setdefault(reference.qualifier, []).append(one)
        return wildcards, named

    def _bound_name(self, reference: Reference) -> str:
        """Returns the name that an import without an alias binds: `depot` of `example.org/depot/v2` in Go."""
        is_version = self._facts.language in FOLDER_PACKAGES and is_version_suffix(reference.name)
        return package_name_of(reference.qualifier) if is_version else reference.name

    def usings(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for reference in self._facts.references:
            if reference.kind is ReferenceKind.IMPORT and self._is_using(reference):
                named = reference.qualifier.strip(":").replace("::", ".")
                is_whole = reference.name == WHOLE_MODULE
                whole = named if is_whole else f"{named}.{reference.name}"
                inside = self._name_of(reference.symbol)
                while inside:  # the name is looked up in the namespaces around the declaration
                    found.setdefault(reference.name, []).append(f"{inside}.{whole}")
                    inside = inside.rpartition(".")[0]
                found.setdefault(reference.name, []).append(whole)
        return found

    def _is_using(self, reference: Reference) -> bool:
        """Whether an import is `using` in C++, which names no file."""
        if self._facts.language not in C_FAMILY:
            return False
        return reference.name == WHOLE_MODULE or _last_file(reference.qualifier) != reference.name

    def bases(self) -> dict[str, list[UnresolvedType]]:
        found: dict[str, list[UnresolvedType]] = {}
        for reference in self._facts.references:
            if reference.kind in INHERITS and not self._is_anonymous_heir(reference.symbol):
                owner = self._type_around(reference.symbol)
                around = owner.rpartition(".")[0]
                is_interface = reference.kind is ReferenceKind.IMPLEMENTS
                base = UnresolvedType(_dotted(reference), "", reference.line, around, is_interface)
                found.setdefault(owner, []).append(base)
        return found

    def anonymous(self) -> dict[str, list[UnresolvedType]]:
        found: dict[str, list[UnresolvedType]] = {}
        for reference in self._facts.references:
            if reference.kind in INHERITS and self._is_anonymous_heir(reference.symbol):
                around = self._name_of(reference.symbol)
                base = UnresolvedType(_dotted(reference), "", reference.line, around)
                found.setdefault(around, []).append(base)
        return found

    def _is_anonymous_heir(self, symbol: int) -> bool:
        """Whether a class without a name inherits, in a function or a variable: `return class extends Depot {}`."""
        if symbol < 0 or self._facts.symbols[symbol].kind in TYPE_KINDS:
            return False
        around = self._facts.symbols[symbol].qualified_name
        return around not in self.makers and enclosing_type(self._facts, symbol) != around

    def aliases(self) -> dict[str, UnresolvedType]:
        found: dict[str, UnresolvedType] = {}
        for reference in self._facts.references:
            if reference.kind is ReferenceKind.ALIAS:
                inside = self._name_of(reference.symbol)
                one = UnresolvedType(_dotted(reference), "", reference.line, inside)
                found[reference.alias or inside] = one
        return found

    def stored(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for reference in self._facts.references:
            if reference.kind is ReferenceKind.VALUE and reference.alias:
                names = found.setdefault(reference.alias, [])
                if reference.name not in names:
                    names.append(reference.name)
        return found

    def held(self) -> dict[str, list[UnresolvedType]]:
        found: dict[str, list[UnresolvedType]] = {}
        if self._facts.language not in CALLS_WHAT_IS_HELD:
            return found
        for reference in self._facts.references:
            at = reference.symbol
            if reference.kind is ReferenceKind.VALUE and at >= 0:
                variable = self._facts.symbols[at]
                if variable.kind in VALUE_KINDS:
                    one = UnresolvedType(_dotted(reference), "", reference.line)
                    found.setdefault(variable.qualified_name, []).append(one)
        return found

    def variables(
        self,
    ) -> tuple[dict[tuple[str, str], list[UnresolvedType]], dict[str, list[UnresolvedType]]]:
        variables: dict[tuple[str, str], list[UnresolvedType]] = {}
        returns: dict[str, list[UnresolvedType]] = {}
        for binding in self._facts.bindings:
            unresolved = UnresolvedType(
                binding.type, binding.made_by, binding.line, self._name_of(binding.symbol)
            )
            if not binding.name:
                returned = returns.setdefault(self._name_of(binding.symbol), [])
                if binding.type and self._facts.language == "python":
                    returned.clear()  # what `@overload` describes comes before the function itself
                returned.append(unresolved)
            elif (variable := self._variable_key(binding)) is not None:
                variables.setdefault(variable, []).append(unresolved)
        return variables, returns

    def _variable_key(self, binding: Binding) -> tuple[str, str] | None:
        """Returns the class and the name of a variable that outlives a call; None for a local variable."""
        own = own_variable(binding.name)
        if own:  # a field of a type without a name has no owner
            owner = self._type_around(binding.symbol) or self._owners_elsewhere.get((own, binding.line), "")
            return (owner, own) if owner else None
        if binding.until or enclosing_callable(self._facts, binding.symbol) >= 0:
            return None
        return enclosing_type(self._facts, binding.symbol), binding.name

    def _type_around(self, symbol: int) -> str:
        """Returns the class, or the function that makes objects, around a symbol; empty if there is none."""
        if self.makers and symbol >= 0:
            name = self._facts.symbols[symbol].qualified_name
            for owner in (name, name.rpartition(".")[0]):
                if owner in self.makers:
                    return owner
        return enclosing_type(self._facts, symbol)

    def _name_of(self, symbol: int) -> str:
        return self._facts.symbols[symbol].qualified_name if symbol >= 0 else ""

    def _lines_of_import(self, reference: Reference) -> range:
        """Returns where an import applies. In a function of Python, its parameters have types from outside."""
        lines = self._lines_of(reference.symbol)
        is_inside = self._facts.language == "python" and lines != EVERY_LINE
        return range(reference.line, lines.stop) if is_inside else lines

    def _lines_of(self, symbol: int) -> range:
        symbol = enclosing_callable(self._facts, symbol)
        if symbol < 0:
            return EVERY_LINE
        return range(self._facts.symbols[symbol].start_line, self._facts.symbols[symbol].end_line + 1)


def _makers(definitions: Sequence[UnitDefinition]) -> frozenset[str]:
    """Returns the functions that have methods: `Depot` of `Depot.prototype.open = …` and `this.open = …`."""
    owners = {one.qualified_name.rpartition(".")[0] for one in definitions if one.kind is SymbolKind.METHOD}
    callables = (one.qualified_name for one in definitions if one.kind in CALLABLE_KINDS)
    return frozenset(owners.intersection(callables)) if owners else frozenset()


def _dotted(reference: Reference) -> str:
    return f"{reference.qualifier}.{reference.name}" if reference.qualifier else reference.name


def _last_file(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _last_part(module: str) -> str:
    return re.split(r"::|[./\\]", module)[-1]
