"""Where symbols are defined and used."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    EdgeKind,
    EdgeStatus,
    ReferenceKind,
    Strategy,
    Symbol,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import EnclosingSymbol, Receipt, ScopedRequest
from prism_contracts.rpc.files import FileRange
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
# The most definitions of one name in a repository that a graph request lists.
DEFINITIONS_MAX = 100_000


class ReferenceGroup(StrEnum):
    """The groups of references, in the order in which they are listed."""

    CALLERS = "callers"
    SUBTYPES = "subtypes"
    TYPES = "types"
    VALUES = "values"  # passed or read
    ASSIGNMENTS = "assignments"  # written or renamed
    IMPORTS = "imports"
    OVERRIDES = "overrides"  # members that override it, if they are asked for
    TESTS = "tests"  # any kind, in a test file


class DefinitionsRequest(ScopedRequest):
    """Finds definitions.

    A symbol is a bare or qualified name in any language's spelling (`get`, `Session::get`).
    """

    symbols: Annotated[tuple[SymbolName, ...], Field(min_length=1, max_length=SYMBOLS_BATCH_MAX)]
    path: FilePath = ""
    include_body: bool = False
    count_uses: bool = False


class UseCounts(Message):
    """How often the graph knows a symbol to be used. `by_name` of these fit by name only."""

    groups: dict[ReferenceGroup, int]
    by_name: int = 0


class Definition(Message):
    """One definition of a symbol."""

    repo: str
    file_path: str
    language: str
    symbol: Symbol
    body: str = ""
    # The prototypes of a function of the C family, in this repository.
    declared: tuple[FileRange, ...] = ()
    # The functions and types directly in a type, if its body was requested.
    members: tuple[EnclosingSymbol, ...] = ()
    # Those of a function, in languages where they choose among functions of one name: `(String, boolean=)`.
    parameters: str = ""


class OverloadChoice(Message):
    """That a name was narrowed to one overload of a function, or why it was not."""

    total: int  # overloads of the function
    parameters: str = ""  # as the request spells them, if none of the overloads has them


class SymbolAnswer(Message):
    """The definitions of one requested symbol, best first; similar names if there are none."""

    symbol: str
    definitions: tuple[Definition, ...]
    total: int
    suggestions: tuple[str, ...] = ()
    # The part of the name that was found, if its qualifier was not: `close` for `self.close`.
    matched: str = ""
    # If there is no definition: files that contain the name and whose parser failed.
    unparsed: tuple[str, ...] = ()
    # The uses of all definitions, if they were requested and the graph is built.
    uses: UseCounts | None = None


class DefinitionsReply(Message):
    """One answer per symbol, in the order of the request."""

    answers: tuple[SymbolAnswer, ...]
    receipt: Receipt


REFERENCE_GROUPS: Mapping[ReferenceKind, ReferenceGroup] = {
    ReferenceKind.CALL: ReferenceGroup.CALLERS,
    ReferenceKind.IMPORT: ReferenceGroup.IMPORTS,
    ReferenceKind.EXTENDS: ReferenceGroup.SUBTYPES,
    ReferenceKind.IMPLEMENTS: ReferenceGroup.SUBTYPES,
    ReferenceKind.ASSIGN: ReferenceGroup.ASSIGNMENTS,
    ReferenceKind.ALIAS: ReferenceGroup.ASSIGNMENTS,
    ReferenceKind.TYPE: ReferenceGroup.TYPES,
    ReferenceKind.VALUE: ReferenceGroup.VALUES,
}


class ReferencePage(StrEnum):
    """What an answer lists."""

    MAIN = "main"  # the references of the symbol
    OTHER = "other"  # the lines that contain its name and mean another symbol
    UNRESOLVED = "unresolved"  # the lines of code that contain its name and that nothing explains


class ReferencesRequest(ScopedRequest):
    """Finds references. `path` is the file of the definition, `path_filter` selects the files that use it."""

    symbols: Annotated[tuple[SymbolName, ...], Field(min_length=1, max_length=REFERENCES_BATCH_MAX)]
    path: FilePath = ""
    path_filter: Glob = ""
    reference_type: EdgeKind | None = None
    source_only: bool = False
    include_candidates: bool = True
    page: ReferencePage = ReferencePage.MAIN
    limit: Annotated[int, Field(ge=1, le=REFERENCES_LIMIT_MAX)] = 50  # a symbol
    cursor: Cursor = ""


class ReferenceEntry(Message):
    """A place that uses a symbol, or may use it. `symbol` is the enclosing symbol, empty at top level."""

    repo: str
    file_path: str
    line: int
    symbol: str
    group: ReferenceGroup
    edge: EdgeKind
    status: EdgeStatus
    strategy: Strategy
    text: str  # of the line
    stored: str = ""  # the field in which the line stores the symbol, as in `StoredPlace`
    reaches: tuple[str, ...] = ()  # if the symbol has overloads: `file:line` of those that the line calls
    enclosing: EnclosingSymbol | None = None  # `symbol` with its range, as far as the index knows


class PlacedSymbol(Message):
    """A symbol and its file."""

    file_path: str
    symbol: EnclosingSymbol


class HelpedTests(Message):
    """A fixture or another helper of tests that uses a symbol, and the tests that run it, at any distance."""

    helper: PlacedSymbol
    tests: tuple[PlacedSymbol, ...]  # the first of them
    total: int


class TextLine(Message):
    """A line that contains a name."""

    repo: str
    file_path: str
    line: int
    text: str
    enclosing: EnclosingSymbol | None = None
    test: bool = False  # in a test file, as far as the answering service knows
    form: str = ""  # what the name is there, if it cannot mean the symbol: `a key or parameter`


class Reconciliation(Message):
    """Compares references with the text: where the name occurs, and how much of that the references explain.

    Lines are those of the files that pass `path_filter` and `source_only`, whatever they do with the symbol. Prose
    counts only in the fields for prose. `resolved`, `candidates` and `elsewhere` ignore all filters.
    """

    name: str = ""  # that the lines contain as a whole word
    resolved: int  # references that resolve to the symbol
    candidates: int  # references that may resolve to it
    elsewhere: int  # references of that name to something else
    text_lines: int  # that contain the name
    # Lines of code that contain the name without a known definition or reference.
    unexplained: int
    unexplained_lines: tuple[
        TextLine, ...
    ] = ()  # the first of them; those that match the path filter come first
    # How the lines of `text_lines` divide, each line once: definitions of the symbol, its resolved references by
    # group, those matched by name only, and lines that define or mean another symbol of the name. The rest is in
    # `unexplained` and `mentions`.
    definition_lines: int = 0
    lines_by_group: dict[ReferenceGroup, int] = {}
    candidate_lines: int = 0
    other_lines: int = 0
    other: tuple[TextLine, ...] = ()  # the first of `other_lines`
    alias_lines: int = (
        0  # lines that use the symbol without its name: under an alias, or through a default export
    )
    # Lines that contain the name in comments and strings only, and the first of them.
    mentions: int = 0
    mention_lines: tuple[TextLine, ...] = ()
    files: int  # files of `text_lines`
    outside_lines: int = 0  # lines of code that contain the name in files that the filters leave out
    outside_test_lines: int = 0  # those of `outside_lines` in tests
    prose_lines: int = 0  # lines of Markdown and other prose that contain the name
    prose_files: int = 0  # files of `prose_lines`
    # Files that may contain the name and were not read, because there are too many.
    files_left_out: int = 0


class ImportSource(Message):
    """A module that files import an undefined name from."""

    module: str  # as the source names it: `functools`, `kombu.utils`, `react`
    files: int  # that import the name from it


class SymbolReferences(Message):
    """The references of one symbol, resolved ones first in each group. Similar names if it is not defined."""

    symbol: str
    definitions: tuple[Definition, ...]
    total_definitions: int
    entries: tuple[ReferenceEntry, ...] = ()
    counts: dict[ReferenceGroup, int] = {}  # on all pages
    reconciliation: Reconciliation | None = None
    next_cursor: str = ""
    suggestions: tuple[str, ...] = ()
    matched: str = ""
    unparsed: tuple[str, ...] = ()
    overload: OverloadChoice | None = None
    # For an undefined name: the modules that it is imported from, and its definitions in other repositories.
    imported_from: tuple[ImportSource, ...] = ()
    defined_elsewhere: tuple[Definition, ...] = ()
    # By repository: how many lines in other repositories import and use the symbol, and how many files may do so in
    # repositories with too many to read.
    other_repositories: dict[str, int] = {}
    unread_repositories: dict[str, int] = {}
    helped: tuple[HelpedTests, ...] = ()  # on the first page, of the references that it counts
    helped_left_out: int = 0  # further helpers that tests run


class ReferencesReply(Message):
    """One answer per symbol, in the order of the request."""

    answers: tuple[SymbolReferences, ...]
    receipt: Receipt


class DefinitionPlace(Message):
    """The place of a definition."""

    file_path: FilePath
    qualified_name: IndexedName
    name_line: LineOrNone


class UsesRequest(ScopedRequest):
    """Finds references in the graph, for known definitions of one name. Skips the first `start` edges.

    With `one_overload`, other overloads of the definitions do not count.
    """

    name: IndexedName
    definitions: Annotated[tuple[DefinitionPlace, ...], Field(min_length=1, max_length=DEFINITIONS_MAX)]
    one_overload: bool = False
    path_filter: Glob = ""
    reference_type: EdgeKind | None = None
    source_only: bool = False
    include_candidates: bool = True
    limit: Annotated[int, Field(ge=1, le=REFERENCES_LIMIT_MAX)] = 50
    start: Count = 0


class UsesReply(Message):
    """References of a symbol from the graph, and the other uses of its name."""

    graph_version: int = 0  # version of the import that the graph was built after; it lacks later imports
    graph_indexes: tuple[str, ...] = ()  # objects of the SCIP indexes that it includes
    entries: tuple[ReferenceEntry, ...] = ()  # without the text of their lines
    counts: dict[ReferenceGroup, int] = {}  # that match the filter
    resolved: int  # including those that do not match it
    candidates: int
    elsewhere: int  # references of that name to something else
    helped: tuple[HelpedTests, ...] = ()
    helped_left_out: int = 0
    used: str = ""  # packed: the lines of all references, by `group<tab>status<tab>path`
    explained: str = ""  # packed: by path, the lines that define or use something of that name, or use the symbol under an alias


DEFINITIONS = Rpc("search.definitions", DefinitionsRequest, DefinitionsReply, reads=True)
REFERENCES = Rpc("search.references", ReferencesRequest, ReferencesReply, reads=True)
USES = Rpc("atlas.uses", UsesRequest, UsesReply, reads=True)
