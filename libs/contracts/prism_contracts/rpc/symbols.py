"""Where symbols are defined and used."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    EdgeKind,
    EdgeStatus,
    Strategy,
    Symbol,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import Receipt, ScopedRequest
from prism_contracts.types import (
    Count,
    Cursor,
    FilePath,
    Glob,
    IndexedName,
    LineOrNone,
    SymbolName,
)

SYMBOLS_BATCH_MAX = 20
REFERENCES_BATCH_MAX = 10
REFERENCES_LIMIT_MAX = 500
# Definitions of one name in a repository.
DEFINITIONS_MAX = 100_000


class DefinitionsRequest(ScopedRequest):
    """Where symbols are defined. A symbol is a bare or a qualified name in any language's spelling (`get`, `Session::get`)."""

    symbols: Annotated[tuple[SymbolName, ...], Field(min_length=1, max_length=SYMBOLS_BATCH_MAX)]
    path: FilePath = ""
    include_body: bool = False


class Definition(Message):
    """One definition of a symbol."""

    repo: str
    file_path: str
    language: str
    symbol: Symbol
    body: str = ""


class SymbolAnswer(Message):
    """The definitions of one asked symbol, best first; near names if there are none."""

    symbol: str
    definitions: tuple[Definition, ...]
    total: int
    suggestions: tuple[str, ...] = ()
    # The end of the name that was found, if nothing speaks for what stands before it: `close` for `self.close`.
    matched: str = ""
    # If there is no definition: files that hold the name and have no symbols, as their parser gave them up.
    unparsed: tuple[str, ...] = ()


class DefinitionsReply(Message):
    """One answer a symbol, in the order asked."""

    answers: tuple[SymbolAnswer, ...]
    receipt: Receipt


class ReferenceGroup(StrEnum):
    """How references are listed, in this order."""

    CALLERS = "callers"
    SUBTYPES = "subtypes"
    TYPES = "types"
    ASSIGNMENTS = "assignments"
    IMPORTS = "imports"
    TESTS = "tests"  # whatever it is, in a file of tests


REFERENCE_GROUPS: Mapping[EdgeKind, ReferenceGroup] = {
    EdgeKind.CALLS: ReferenceGroup.CALLERS,
    EdgeKind.IMPORTS: ReferenceGroup.IMPORTS,
    EdgeKind.EXTENDS: ReferenceGroup.SUBTYPES,
    EdgeKind.IMPLEMENTS: ReferenceGroup.SUBTYPES,
    EdgeKind.ASSIGNS: ReferenceGroup.ASSIGNMENTS,
    EdgeKind.ALIAS: ReferenceGroup.ASSIGNMENTS,
    EdgeKind.REFERENCES: ReferenceGroup.TYPES,
}


class ReferencesRequest(ScopedRequest):
    """Who uses symbols. `path` is that of the definition, `path_filter` of the files that use it."""

    symbols: Annotated[tuple[SymbolName, ...], Field(min_length=1, max_length=REFERENCES_BATCH_MAX)]
    path: FilePath = ""
    path_filter: Glob = ""
    reference_type: EdgeKind | None = None
    source_only: bool = False
    limit: Annotated[int, Field(ge=1, le=REFERENCES_LIMIT_MAX)] = 50  # a symbol
    cursor: Cursor = ""


class ReferenceEntry(Message):
    """A place that uses a symbol, or may, and how that was found. `symbol` is what encloses it, empty outside of all."""

    repo: str
    file_path: str
    line: int
    symbol: str
    group: ReferenceGroup
    edge: EdgeKind
    status: EdgeStatus
    strategy: Strategy
    text: str  # of the line


class TextLine(Message):
    """A line that holds a name."""

    repo: str
    file_path: str
    line: int
    text: str


class Reconciliation(Message):
    """The edges beside the text: where the name occurs, and how much of that is explained. Of all that was asked in, whatever the filter
    of a request; outside of prose, but for what says so.
    """

    resolved: int  # references that mean the symbol
    candidates: int  # references that may mean it
    elsewhere: int  # references of that name that mean something else
    text_lines: int  # that hold the name
    # Lines that hold the name, and no definition or reference of it that the parser knows: comments, strings, plain values.
    unexplained: int
    unexplained_lines: tuple[
        TextLine, ...
    ] = ()  # the first of them; those that a path filter lets through come first
    files: int  # that have the lines of `text_lines`
    prose_lines: int = 0  # of Markdown and other text for people that hold the name
    prose_files: int = 0  # that have them
    # Files that may hold the name and were not looked at, as there are too many.
    files_left_out: int = 0


class SymbolReferences(Message):
    """Who uses one asked symbol: resolved before candidates within a group. Near names if it is not defined."""

    symbol: str
    definitions: tuple[Definition, ...]
    total_definitions: int
    entries: tuple[ReferenceEntry, ...] = ()
    counts: dict[ReferenceGroup, int] = {}  # of all pages
    reconciliation: Reconciliation | None = None
    next_cursor: str = ""
    suggestions: tuple[str, ...] = ()
    matched: str = ""
    unparsed: tuple[str, ...] = ()


class ReferencesReply(Message):
    """One answer a symbol, in the order asked."""

    answers: tuple[SymbolReferences, ...]
    receipt: Receipt


class DefinitionPlace(Message):
    """A definition, by where it stands."""

    file_path: FilePath
    qualified_name: IndexedName
    name_line: LineOrNone


class UsesRequest(ScopedRequest):
    """Who uses a symbol, by the graph: as `ReferencesRequest`, of definitions of one name that are known. `start` edges are
    left out.
    """

    name: IndexedName
    definitions: Annotated[tuple[DefinitionPlace, ...], Field(min_length=1, max_length=DEFINITIONS_MAX)]
    path_filter: Glob = ""
    reference_type: EdgeKind | None = None
    source_only: bool = False
    limit: Annotated[int, Field(ge=1, le=REFERENCES_LIMIT_MAX)] = 50
    start: Count = 0


class UsesReply(Message):
    """Who uses a symbol, and what is known of its name elsewhere."""

    graph_version: int = 0  # of the import that the graph was built after; what later ones wrote is not in it
    graph_indexes: tuple[str, ...] = ()  # objects of the SCIP indexes that it was built with
    entries: tuple[ReferenceEntry, ...] = ()  # without texts
    counts: dict[ReferenceGroup, int] = {}  # of all that pass the filter
    resolved: int  # with those that do not
    candidates: int
    elsewhere: int  # references of that name that mean something else
    explained: str = ""  # packed: by path the lines that define or refer to something of that name, or use the symbol under another


DEFINITIONS = Rpc("search.definitions", DefinitionsRequest, DefinitionsReply)
REFERENCES = Rpc("search.references", ReferencesRequest, ReferencesReply)
USES = Rpc("atlas.uses", UsesRequest, UsesReply)
