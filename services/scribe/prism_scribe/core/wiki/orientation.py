"""What is known of a repository before a page is planned, and what one page needs besides."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prism_contracts.code import TYPE_KINDS, Symbol, SymbolKind
from prism_contracts.rpc.files import FileEntry, OutlineReply
from prism_contracts.rpc.graph import CallHierarchyReply, TypeHierarchyReply
from prism_contracts.rpc.guidance import ContextSection, Convention, RulesDocument
from prism_contracts.rpc.maps import ComponentDetail, EntryPoint, ModuleEntry, Overview

# Folders whose code shows, measures or tests what a repository does. Those of benchmarks have the flag of tests.
_SHOWN = re.compile(
    r"(?:^|/)(?:_?examples?|samples?|demos?|performance|docs?|tests?|specs?|fixtures|"
    r"\w*test(?:ing)?[-_]?(?:utils?|data|helpers?|support|kit|suite|lib)?|mocks?)/",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Prose:
    """A document of the repository, with its headings as symbols. `section` is None for a guide."""

    path: str
    section: ContextSection | None
    lines: tuple[str, ...]
    headings: tuple[Symbol, ...] = ()


@dataclass(frozen=True)
class Orientation:
    """A repository at one commit."""

    repo: str
    overview: Overview
    modules: tuple[ModuleEntry, ...]  # the most depended-upon files, best first
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    documents: tuple[Prose, ...] = ()
    # Files that say how the repository is built and run: their lines by path.
    manifests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conventions: tuple[Convention, ...] = ()
    rules: tuple[RulesDocument, ...] = ()

    def is_test(self, path: str) -> bool:
        """Whether a file is a test."""
        known = self.files.get(path)
        return known is not None and known.flags.test

    def is_own(self, path: str) -> bool:
        """Whether a file is source code of the repository: no test, example, document or generated file."""
        known = self.files.get(path)
        if known is None:
            return False
        flags = known.flags
        aside = flags.test or flags.documentation or flags.generated or flags.vendored or flags.minified
        return not aside and not _SHOWN.search(path) and not path.startswith(".")

    def summary(self, path: str) -> str:
        """Returns what a file says of itself; empty if it says nothing, or is not among the modules."""
        return next((entry.summary for entry in self.modules if entry.file_path == path), "")

    def own_entry_points(self) -> list[EntryPoint]:
        """Returns the entry points of the repository's own source; those of its examples if it has none."""
        entries = [entry for entry in self.overview.entry_points if not self.is_test(entry.file_path)]
        return [entry for entry in entries if self.is_own(entry.file_path)] or entries


@dataclass(frozen=True)
class Evidence:
    """What was collected for one page."""

    component: ComponentDetail | None = None
    outlines: Mapping[str, OutlineReply] = field(default_factory=dict)
    # The lines of source files, by path.
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    calls: tuple[CallHierarchyReply, ...] = ()
    # The relatives of types, by path and line of the name.
    types: Mapping[tuple[str, int], TypeHierarchyReply] = field(default_factory=dict)

    def symbol(self, path: str, qualified_name: str) -> Symbol | None:
        """Returns a symbol of an outlined file."""
        outline = self.outlines.get(path)
        symbols = outline.symbols if outline else ()
        return next((symbol for symbol in symbols if symbol.qualified_name == qualified_name), None)

    def line(self, path: str, number: int) -> str:
        """Returns a line of a source file without its indentation; empty if it is unknown."""
        text = self.texts.get(path, ())
        return text[number - 1].strip() if 0 < number <= len(text) else ""


@dataclass(frozen=True)
class TypeInFile:
    """A type with its members, as its file outlines it."""

    path: str
    symbol: Symbol
    fields: tuple[Symbol, ...]
    methods: tuple[Symbol, ...]
    constructor: Symbol | None = None


def types_of(path: str, symbols: Sequence[Symbol]) -> list[TypeInFile]:
    """Returns the exported types of a file that are no modules, in order."""
    found = []
    inside = members_by_type(symbols)
    for position, symbol in enumerate(symbols):
        if symbol.kind not in TYPE_KINDS or symbol.kind in _SPACES or not symbol.exported or symbol.bodiless:
            continue
        members = inside.get(position, [])
        found.append(
            TypeInFile(
                path,
                symbol,
                fields=tuple(member for member in members if member.kind in _FIELDS),
                methods=tuple(member for member in members if member.kind in _METHODS and member.exported),
                constructor=next((one for one in members if one.kind is SymbolKind.CONSTRUCTOR), None),
            )
        )
    return found


def members_by_type(symbols: Sequence[Symbol]) -> Mapping[int, list[Symbol]]:
    """Returns what is directly in each symbol, by the position of that symbol."""
    inside: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        inside.setdefault(symbol.parent, []).append(symbol)
    return inside


_SPACES = frozenset({SymbolKind.MODULE, SymbolKind.NAMESPACE})
_FIELDS = frozenset({SymbolKind.FIELD, SymbolKind.PROPERTY, SymbolKind.VARIABLE, SymbolKind.CONSTANT})
_METHODS = frozenset({SymbolKind.METHOD, SymbolKind.FUNCTION, SymbolKind.CONSTRUCTOR})
