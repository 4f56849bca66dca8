"""What the names of a file stand for: what it defines, imports, and says about its variables."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, Reference, ReferenceKind, Symbol
from prism_search.core.references.modules import File

WHOLE_MODULE = "*"
# What stands for the object that a method belongs to, and for what that inherits.
OWN_OBJECT = frozenset({"self", "this", "cls", "$this", "Self"})
BASE_OBJECTS: Mapping[str, str] = {"python": "super()", "csharp": "base", "php": "parent"}
INHERITS = frozenset({ReferenceKind.EXTENDS, ReferenceKind.IMPLEMENTS})
# `func (s *Server) Serve()`: the receiver's own name.
GO_RECEIVER = re.compile(r"^func\s*\(\s*(\w+)\s")
LINES_BEFORE_MAX = 400
COMMENT = re.compile(r"(?:^|\s)(?://|#(?!\[|include)).*$")


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

    @cached_property
    def bases(self) -> Mapping[str, Sequence[Reference]]:
        """What each class of the file extends or implements."""
        found: dict[str, list[Reference]] = {}
        for reference in self.references:
            if reference.kind in INHERITS:
                found.setdefault(self.owner_at(reference.symbol), []).append(reference)
        return found

    @cached_property
    def members(self) -> frozenset[str]:
        """Qualified names of all that the file defines."""
        return frozenset(symbol.qualified_name for symbol in self.symbols)

    def is_base_object(self, qualifier: str) -> bool:
        """Whether the qualifier stands for what the class around inherits from."""
        return qualifier == BASE_OBJECTS.get(self.file.language, "super")

    def is_shadowed(self, name: str, reference: Reference) -> bool:
        """Whether a function around a reference has a parameter or a function of its own of that name."""
        around = self._callables_around(reference.symbol)
        return self.is_parameter(name, reference) or any(
            f"{symbol.qualified_name}.{name}" in self.members for symbol in around
        )

    def is_parameter(self, name: str, reference: Reference) -> bool:
        """Whether a function around a reference has a parameter of that name."""
        parameter = _parameter(name)
        return any(parameter.search(symbol.signature) for symbol in self._callables_around(reference.symbol))

    def _callables_around(self, symbol: int) -> Sequence[Symbol]:
        around: list[Symbol] = []
        while symbol >= 0:
            if self.symbols[symbol].kind in CALLABLE_KINDS:
                around.append(self.symbols[symbol])
            symbol = self.symbols[symbol].parent
        return around

    def is_assigned(self, name: str, reference: Reference) -> bool:
        """Whether the function around a reference gives the name a value before it."""
        lines = self.lines_of(reference.symbol)
        given = re.compile(
            rf"^\s*(?:let\s+|const\s+|var\s+)?(?:mut\s+)?{re.escape(name)}\s*(?::[^=]*)?:?=(?!=)"
        )
        return any(given.search(line) for line in self._code_with(name, lines.start, reference.line))

    def is_own_object(self, qualifier: str, symbol: int) -> bool:
        """Whether the qualifier stands for the object whose method the symbol is."""
        if qualifier in OWN_OBJECT:
            return True
        receiver = GO_RECEIVER.match(self.symbols[symbol].signature) if symbol >= 0 else None
        return receiver is not None and receiver[1] == qualifier

    def is_of_type(self, variable: str, type_name: str, reference: Reference) -> bool:
        """Whether a variable is declared or made to be of a type: the nearest line before the reference that gives it a value
        decides, then the signature around. Of an attribute, every line of its class that gives it a value has to agree.
        """
        told, assigned = _declaration(variable, type_name), _assignment(variable)
        if "." in variable:
            owner = self.owner_at(reference.symbol)
            around = next(
                (self.lines_of(at) for at, s in enumerate(self.symbols) if s.qualified_name == owner), None
            )
            lines = around or self.lines_of(-1)
            given = self._code_with(variable, lines.start, lines.stop - 1)
            declared = [
                bool(told.search(line)) for line in given if told.search(line) or assigned.search(line)
            ]
            return bool(declared) and all(declared)
        first = max(self.lines_of(reference.symbol).start, reference.line - LINES_BEFORE_MAX)
        if reference.symbol < 0:
            first = max(first, self._last_callable_line(reference.line) + 1)
        for line in reversed(self._code_with(variable, first, reference.line)):
            if told.search(line):
                return True
            if assigned.search(line):
                return False
        signature = self.symbols[reference.symbol].signature if reference.symbol >= 0 else ""
        return told.search(signature) is not None

    def _code_with(self, name: str, first: int, last: int) -> Sequence[str]:
        """The lines that hold a name, without the comments at their ends."""
        return [COMMENT.sub("", line) for line in self.lines[first - 1 : last] if name in line]

    def _last_callable_line(self, line: int) -> int:
        """The last line of the functions that end before a line."""
        return max(
            (s.end_line for s in self.symbols if s.kind in CALLABLE_KINDS and s.end_line < line), default=0
        )


def is_made(expression: str, type_name: str) -> bool:
    """Whether an expression makes an object of the type: `T(…)`, `new T(…)`, `T::new(…)`."""
    made = rf"\(?(?:new\s+)?{_spelled(type_name)}(?:::new)?\([^()]*\)\)?"
    return re.fullmatch(made, expression) is not None


@lru_cache(maxsize=1_000)
def _declaration(variable: str, type_name: str) -> re.Pattern[str]:
    """`v: T`, `v = T(…)`, `v := &T{…}`, `let v = T::new()`, `const v = new T()`, `with T() as v`, `T v`, `v *T`."""
    name, kind = rf"(?<![\w.]){re.escape(variable)}", _spelled(type_name)
    *folders, last = type_name.split(".")
    made = "".join(f"{re.escape(folder)}(?:\\.|::)" for folder in folders) + f"(?:New)?{re.escape(last)}"
    ends = r"(?!\s*(?:\.|::)\s*\w)"
    whole = r"(?=\s*\([^()]*\)\s*[;,)]*\s*$|\s*\{|\s*<[^<>]*>\s*[({]|::(?:new|default)\([^()]*\)\s*;?\s*$)"
    return re.compile(
        rf"{name}\s*\??:\s*[&*'\"]*(?:mut\s+)?(?:Optional\[|Option<|Arc<|Box<)?{kind}\b{ends}"
        rf"|{name}\s*(?::\s*[\w.<>\[\], ]+)?:?=\s*(?:await\s+)?(?:new\s+)?&?{made}\b{whole}"
        rf"|\bwith\s+{kind}\([^()]*\)\s+as\s+{re.escape(variable)}\b"
        rf"|(?<![\w.]){kind}(?:<[^<>]*>)?[\s*&]+{re.escape(variable)}\b(?!\s*\()"
        rf"|{name}\s+\*?{kind}\b{ends}"
    )


@lru_cache(maxsize=1_000)
def _assignment(variable: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.]){re.escape(variable)}\s*(?::[^=]*)?:?=(?!=)|\bas\s+{re.escape(variable)}\b"
    )


@lru_cache(maxsize=1_000)
def _parameter(name: str) -> re.Pattern[str]:
    return re.compile(rf"[(,]\s*(?:[\w.<>\[\]]+\s+)?[*&]{{0,2}}{re.escape(name)}\s*[:=,)]")


def _spelled(type_name: str) -> str:
    """A dotted name, with either separator."""
    return r"(?:\.|::)".join(map(re.escape, type_name.split(".")))
