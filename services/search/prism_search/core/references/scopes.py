"""What the names of a file stand for: what it defines, imports, and says about its variables."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from prism_contracts.code import TYPE_KINDS, Reference, ReferenceKind, Symbol
from prism_search.core.references.modules import File

WHOLE_MODULE = "*"
# What stands for the object that a method belongs to.
OWN_OBJECT = frozenset({"self", "this", "cls", "$this", "Self", "static", "@"})
BASE_OBJECT = frozenset({"super", "super()", "base", "parent"})
INHERITS = frozenset({ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS})
# `func (s *Server) Serve()`: the receiver's own name.
GO_RECEIVER = re.compile(r"^func\s*\(\s*(\w+)\s")
LINES_BEFORE_MAX = 400


class Import(NamedTuple):
    """A name that a file takes from a module, and what it calls it."""

    local: str
    name: str
    module: str
    within: range  # lines in which it holds: those of the function that it stands in

    def is_named(self, qualifier: str) -> bool:
        """Whether a qualifier is what the import brought: `np`, or the whole `a.b.c` of `import a.b.c`."""
        return qualifier == self.local or (self.local == self.name and qualifier == self.module)

    def leads(self, qualifier: str) -> bool:
        """Whether a qualifier begins with what the import brought: `os.environ`."""
        return self.is_named(qualifier) or qualifier.startswith(
            (f"{self.local}.", f"{self.local}::", f"{self.local}(")
        )

    @property
    def modules(self) -> Sequence[str]:
        """The modules that it may mean: `from a import b` takes b from a, or the module a.b."""
        joined = (
            f"{self.module}{self.name}" if self.module.endswith((".", "/")) else f"{self.module}.{self.name}"
        )
        return (self.module, joined)


@dataclass
class SourceFile:
    """An indexed file with what its parser found. `lines` are its lines, without ends."""

    id: str
    scope: str
    file: File
    symbols: Sequence[Symbol]
    references: Sequence[Reference]
    lines: Sequence[str]
    flags: str = ""

    @property
    def path(self) -> str:
        """Relative to the repository."""
        return self.file.path

    @cached_property
    def folder(self) -> str:
        """Of the path."""
        return posixpath.dirname(self.path)

    @cached_property
    def imports(self) -> Sequence[Import]:
        """What the file imports, wildcards too (`name` is `*`)."""
        return [
            Import(
                reference.alias or reference.name,
                reference.name,
                reference.qualifier,
                self.lines_of(reference.symbol),
            )
            for reference in self.references
            if reference.kind is ReferenceKind.IMPORT
        ]

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names that the file defines outside of all classes and functions."""
        return frozenset(symbol.name for symbol in self.symbols if symbol.name == symbol.qualified_name)

    def lines_of(self, symbol: int) -> range:
        """The lines of a symbol of the file; all of them for -1."""
        if symbol < 0:
            return range(1, len(self.lines) + 1)
        return range(self.symbols[symbol].start_line, self.symbols[symbol].end_line + 1)

    def is_imported(self, name: str, line: int) -> bool:
        """Whether an import binds the name on a line."""
        return any(one.local == name and line in one.within for one in self.imports)

    def owner_at(self, symbol: int) -> str:
        """Qualified name of the class around a symbol of the file, itself included; empty outside of all."""
        while symbol >= 0:
            found = self.symbols[symbol]
            if found.kind in TYPE_KINDS:
                return found.qualified_name
            owner = found.qualified_name.rpartition(".")[0]
            if found.parent < 0 and owner:
                return owner  # `impl S { fn f }`, `func (s *S) F`: the class is elsewhere
            symbol = found.parent
        return ""

    def bases_of(self, owner: str) -> Iterator[Reference]:
        """What a class of the file extends or implements."""
        for reference in self.references:
            if reference.kind in INHERITS and self.owner_at(reference.symbol) == owner:
                yield reference

    def has_member(self, owner: str, name: str) -> bool:
        """Whether the file defines the member in that class."""
        return any(symbol.qualified_name == f"{owner}.{name}" for symbol in self.symbols)

    def is_own_object(self, qualifier: str, symbol: int) -> bool:
        """Whether the qualifier stands for the object whose method the symbol is."""
        if qualifier in OWN_OBJECT:
            return True
        receiver = GO_RECEIVER.match(self.symbols[symbol].signature) if symbol >= 0 else None
        return receiver is not None and receiver[1] == qualifier

    def is_of_type(self, variable: str, type_name: str, reference: Reference) -> bool:
        """Whether the signature around a reference, or a line before it, says that a variable is of a type."""
        told = _declarations(variable, type_name)
        symbol = self.symbols[reference.symbol] if reference.symbol >= 0 else None
        if symbol is not None and told.search(symbol.signature):
            return True
        # An attribute is set in another method of its class.
        first = symbol.start_line if symbol is not None and "." not in variable else 1
        first = max(first, reference.line - LINES_BEFORE_MAX)
        return any(told.search(line) for line in self.lines[first - 1 : reference.line])


def is_made(expression: str, type_name: str) -> bool:
    """Whether an expression makes an object of the type: `T(…)`, `new T(…)`, `T::new(…)`."""
    made = rf"\(?(?:new\s+)?(?:\w+(?:\.|::))*{re.escape(type_name)}(?:::new)?\([^()]*\)\)?"
    return re.fullmatch(made, expression) is not None


@lru_cache(maxsize=1_000)
def _declarations(variable: str, type_name: str) -> re.Pattern[str]:
    """`v: T`, `v = T(…)`, `v := &T{…}`, `let v = T::new()`, `const v = new T()`, `T v`, `v *T`."""
    name, kind = re.escape(variable), re.escape(type_name)
    before = r"(?<![\w.])"
    owner = r"(?:\w+(?:\.|::))*"
    return re.compile(
        rf"{before}{name}\s*\??:\s*[&*'\"]*(?:mut\s+)?(?:Optional\[|Option<|Arc<|Box<)?{owner}{kind}\b"
        rf"|{before}{name}\s*(?::\s*[\w.<>\[\], ]+)?:?=\s*(?:await\s+)?(?:new\s+)?&?{owner}(?:New)?{kind}\b(?=\s*[({{<:])"
        rf"|{before}{kind}(?:<[^<>]*>)?[\s*&]+{name}\b"
        rf"|{before}{name}\s+\*?{owner}{kind}\b"
    )
