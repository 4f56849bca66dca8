"""What others can see of a file: what it defines, imports, inherits, and says of its variables."""

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prism_contracts.code import (
    CALLABLE_KINDS,
    TYPE_KINDS,
    VALUE_KINDS,
    Binding,
    Reference,
    ReferenceKind,
    SymbolKind,
)
from prism_resolver.facts import FileFacts
from prism_resolver.languages import C_FAMILY, WILDCARD_IMPORTS
from prism_resolver.manifests import Manifest, named_manifest
from prism_resolver.modules import File

WHOLE_MODULE = "*"
# The name under which a module gives what it exports by default.
DEFAULT = "default"
INHERITS = frozenset({ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS})
# A variable of the object that a method belongs to.
OWN_VARIABLE = re.compile(r"(?:(?:self|this|cls|\$this|Self)(?:\.|->|::)|@{1,2})(\w+)")


class UnitDefinition(NamedTuple):
    """A symbol, by what others need to know of it."""

    name: str
    qualified_name: str
    kind: SymbolKind
    parent: int
    bodiless: bool
    exported: bool


class Import(NamedTuple):
    """A name that a file takes from a module, and what it calls it."""

    local: str
    name: str
    module: str
    lines: range  # lines in which it holds: those of the function that it stands in

    @property
    def modules(self) -> Sequence[str]:
        """The modules that it may mean: `from a import b` takes b from a, or the module a.b."""
        joiner = "" if self.module.endswith((".", "/")) else "::" if "::" in self.module else "."
        return (self.module, f"{self.module}{joiner}{self.name}")


class UnresolvedType(NamedTuple):
    """A type or what makes a value, as a file spells it, and the qualified name of what it stands in."""

    type: str
    made_by: str
    line: int
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A file as the rest of a program sees it."""

    id: str
    scope: str
    file: File
    definitions: Sequence[UnitDefinition]
    named: Mapping[str, Sequence[int]]  # qualified name -> positions in `definitions`
    imports: Mapping[str, Sequence[Import]]  # local name -> what it may bring
    wildcards: Sequence[str]  # modules of which everything is brought in
    bases: Mapping[
        str, Sequence[UnresolvedType]
    ]  # qualified name of a class -> what it extends or implements
    variables: Mapping[
        tuple[str, str], Sequence[UnresolvedType]
    ]  # (class or "", variable) -> what it is made to be
    returns: Mapping[str, UnresolvedType]  # qualified name of a callable -> what it is declared to return
    aliases: Mapping[str, UnresolvedType]  # qualified name of an alias, or that of an export -> what it names
    folder: str = ""
    manifest: Manifest | None = None  # what it says of a package, as far as its parser saw that
    name_lines: Sequence[int] = ()  # of the definitions, 1-based
    blob: str = ""  # of the content

    @property
    def language(self) -> str:
        """Of the file."""
        return self.file.language


def read_unit(facts: FileFacts) -> Unit:
    """What others can see of a file."""
    reader = _UnitReader(facts)
    wildcards, imports = reader.imports()
    variables, returns = reader.variables()
    return Unit(
        id=facts.id,
        scope=facts.scope,
        file=File(facts.path, facts.language, facts.repo),
        definitions=reader.definitions,
        named=reader.named(),
        imports=imports,
        wildcards=wildcards,
        bases=reader.bases(),
        variables=variables,
        returns=returns,
        aliases=reader.aliases(),
        name_lines=array("i", (symbol.name_line for symbol in facts.symbols)),
        blob=facts.blob,
        folder=facts.path.rpartition("/")[0],
        manifest=named_manifest(facts.path, facts.symbols),
    )


def is_shared(language: str, signature: str) -> bool:
    """Whether definitions of one qualified name in several files are one symbol: in C a declaration and its body elsewhere."""
    return language in C_FAMILY and not signature.startswith("static")


def enclosing_callable(facts: FileFacts, symbol: int) -> int:
    """The innermost callable around a symbol of the file, itself included; -1 outside of all or if a class is nearer."""
    while symbol >= 0 and facts.symbols[symbol].kind not in CALLABLE_KINDS:
        if facts.symbols[symbol].kind in TYPE_KINDS:
            return -1
        symbol = facts.symbols[symbol].parent
    return symbol


def enclosing_type(facts: FileFacts, symbol: int) -> str:
    """Qualified name of the class around a symbol of the file, itself included; empty outside of all."""
    while symbol >= 0:
        found = facts.symbols[symbol]
        if found.kind in TYPE_KINDS:
            return found.qualified_name
        owner = found.qualified_name.rpartition(".")[0]
        if found.parent < 0 and owner:
            return owner  # `impl S { fn f }`, `func (s *S) F`: the class is elsewhere
        symbol = found.parent
    return ""


def own_variable(name: str) -> str:
    """The variable of the object itself that a name means, `depot` of `self.depot`; empty for any other name."""
    found = OWN_VARIABLE.fullmatch(name)
    return found[1] if found else ""


class _UnitReader:
    def __init__(self, facts: FileFacts) -> None:
        self._facts = facts
        self.definitions = [
            UnitDefinition(s.name, s.qualified_name, s.kind, s.parent, s.bodiless, s.exported)
            for s in facts.symbols
        ]

    def named(self) -> dict[str, list[int]]:
        """Without variables that are imports: `const depot = require("./depot")`."""
        found: dict[str, list[int]] = {}
        imported = {
            (reference.alias, reference.line)
            for reference in self._facts.references
            if reference.kind is ReferenceKind.IMPORT and reference.alias
        }
        for position, symbol in enumerate(self._facts.symbols):
            if symbol.kind not in VALUE_KINDS or (symbol.qualified_name, symbol.name_line) not in imported:
                found.setdefault(symbol.qualified_name, []).append(position)
        return found

    def imports(self) -> tuple[list[str], dict[str, list[Import]]]:
        wildcards: list[str] = []
        named: dict[str, list[Import]] = {}
        for reference in self._facts.references:
            if reference.kind is not ReferenceKind.IMPORT:
                continue
            if reference.name == WHOLE_MODULE or self._facts.language in WILDCARD_IMPORTS:
                wildcards.append(reference.qualifier)
                continue
            local = reference.alias or reference.name
            one = Import(local, reference.name, reference.qualifier, self._lines_of(reference.symbol))
            named.setdefault(local, []).append(one)
            # `import a.b.c` is used by all of its name.
            if not reference.alias and _last_part(reference.qualifier) == reference.name:
                named.setdefault(reference.qualifier, []).append(one)
        return wildcards, named

    def bases(self) -> dict[str, list[UnresolvedType]]:
        found: dict[str, list[UnresolvedType]] = {}
        for reference in self._facts.references:
            if reference.kind in INHERITS:
                owner = enclosing_type(self._facts, reference.symbol)
                around = owner.rpartition(".")[0]
                base = UnresolvedType(_dotted(reference), "", reference.line, around)
                found.setdefault(owner, []).append(base)
        return found

    def aliases(self) -> dict[str, UnresolvedType]:
        found: dict[str, UnresolvedType] = {}
        for reference in self._facts.references:
            if reference.kind is ReferenceKind.ALIAS:
                inside = self._name_of(reference.symbol)
                one = UnresolvedType(_dotted(reference), "", reference.line, inside)
                found[reference.alias or inside] = one
        return found

    def variables(self) -> tuple[dict[tuple[str, str], list[UnresolvedType]], dict[str, UnresolvedType]]:
        variables: dict[tuple[str, str], list[UnresolvedType]] = {}
        returns: dict[str, UnresolvedType] = {}
        for binding in self._facts.bindings:
            unresolved = UnresolvedType(
                binding.type, binding.made_by, binding.line, self._name_of(binding.symbol)
            )
            if not binding.name:
                returns.setdefault(self._name_of(binding.symbol), unresolved)
            elif (variable := self._variable_key(binding)) is not None:
                variables.setdefault(variable, []).append(unresolved)
        return variables, returns

    def _variable_key(self, binding: Binding) -> tuple[str, str] | None:
        """The class and the name of a variable that outlives a call; None for a local one."""
        own = own_variable(binding.name)
        if own:
            return enclosing_type(self._facts, binding.symbol), own
        if enclosing_callable(self._facts, binding.symbol) >= 0:
            return None
        return enclosing_type(self._facts, binding.symbol), binding.name

    def _name_of(self, symbol: int) -> str:
        return self._facts.symbols[symbol].qualified_name if symbol >= 0 else ""

    def _lines_of(self, symbol: int) -> range:
        symbol = enclosing_callable(self._facts, symbol)
        if symbol < 0:
            return range(1, 1 << 31)
        return range(self._facts.symbols[symbol].start_line, self._facts.symbols[symbol].end_line + 1)


def _dotted(reference: Reference) -> str:
    return f"{reference.qualifier}.{reference.name}" if reference.qualifier else reference.name


def _last_part(module: str) -> str:
    return re.split(r"::|[./\\]", module)[-1]
