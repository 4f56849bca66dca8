"""Requests and replies. A reply on the wire is a `Reply` with either `ok` or `error`; see prism_runtime.rpc."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from prism_contracts.base import BASE_LAYER, Lane, Message
from prism_contracts.code import (
    EdgeKind,
    EdgeStatus,
    FileFlags,
    SkipReason,
    Strategy,
    Symbol,
    SymbolKind,
)
from prism_contracts.errors import ErrorBody
from prism_contracts.records import UPLOAD, History, HistoryCommit, Job, Layer, Repository
from prism_contracts.types import (
    BlobHash,
    CommitId,
    CommitIdOrNone,
    Count,
    Cursor,
    Diff,
    EditDiff,
    FileBytes,
    FilePath,
    GitUrl,
    Glob,
    IndexedName,
    JobId,
    JobIdOrNone,
    Language,
    LayerId,
    Line,
    LineOrNone,
    ModelText,
    Pattern,
    PointId,
    Query,
    Ref,
    RefName,
    RefOrNone,
    RepoKey,
    RepoKeyOrNone,
    RepoName,
    RepoNameOrNone,
    ShortText,
    SymbolName,
    TenantId,
    TenantIdOrNone,
)

SEARCH_LIMIT_MAX = 100
GREP_LIMIT_MAX = 2_000
LIST_LIMIT_MAX = 5_000
SYMBOLS_BATCH_MAX = 20
REFERENCES_BATCH_MAX = 10
REFERENCES_LIMIT_MAX = 500
READ_LINES_MAX = 5_000
CONTEXT_LINES_MAX = 20
WALK_DEPTH_MAX = 5
WALK_LIMIT_MAX = 200
PATH_DEPTH_MAX = 12
EXISTING_MAX = 5
EDIT_FILES_MAX = 1_000
SNAPSHOT_FILES_MAX = 500_000
# Definitions of one name in a repository.
DEFINITIONS_MAX = 100_000
WAIT_MAX_S = 20.0
OVERLAY_TTL_MIN_S = 60
OVERLAY_TTL_DEFAULT_S = 8 * 3600
OVERLAY_TTL_MAX_S = 7 * 24 * 3600

# In the place of a name in a receipt: the answer is of all of the tenant's repositories.
SEVERAL_REPOSITORIES = "*"

SearchLimit = Annotated[int, Field(ge=1, le=SEARCH_LIMIT_MAX)]


class ScopedRequest(Message):
    """A question of a tenant about a repository (or all of the tenant's, if `repo` is empty)."""

    tenant: TenantId
    repo: RepoKeyOrNone = ""  # owner/name as the caller says it
    # Branch, tag, pull request (`pull/12`), commit of a layer, or handle of an overlay; empty for what the repository follows.
    ref: RefOrNone = ""
    # Answer only when this commit is served, or say that it is not after `WAIT_MAX_S`.
    wait_for_commit: CommitIdOrNone = ""


class Receipt(Message):
    """How fresh and how complete an answer is."""

    repo: str
    ref: str = ""  # the layer that answered; empty for the base
    indexed_commit: str
    head_commit: str
    lag_seconds: float
    indexed_at: datetime | None
    corpus_version: int
    files_indexed: int
    files_skipped: int
    files_failed: int
    skipped_reasons: dict[str, int] = {}
    # Retrieval legs that could not be asked: the answer holds without them, and may lack their hits.
    missing_legs: tuple[str, ...] = ()
    dirty: bool = False
    # Of a layer: files that it has otherwise than the base, and whose content Prism was not sent. They are told as the base has them.
    files_missing: int = 0
    # The rest of the reply was found out before, for the same question and the same state of the index.
    cached: bool = False
    # The running import, or the last one if it failed: some files may be newer than `indexed_commit`. Empty if none are.
    mixed_with_job: str = ""


class GraphReceipt(Receipt):
    """The same of an answer from the graph, which is built behind the index."""

    graph_commit: str
    graph_version: int  # of the import that it was built after, or at a ref of the layer
    graph_built_at: datetime
    # Since when the index serves a newer state than the graph knows, in seconds; 0 if it serves no newer one.
    graph_lag_seconds: float = 0.0


class Intent(StrEnum):
    """What kind of question it is."""

    DEFINITION = "definition"
    CALLERS = "callers"
    USAGE = "usage"
    TEST = "test"
    SCHEMA = "schema"
    ARCHITECTURE = "architecture"
    GENERAL = "general"


class Corpus(StrEnum):
    """Which files a search looks at."""

    CODE = "code"  # everything, prose ranked low
    DOCS = "docs"  # Markdown and other prose only


class Detail(StrEnum):
    """How much of each hit an answer has."""

    FULL = "full"
    COMPACT = "compact"  # where it is and what it is called, without the lines


class SearchRequest(ScopedRequest):
    """Find the lines that answer a question."""

    query: Query
    corpus: Corpus = Corpus.CODE
    limit: SearchLimit = 10
    path_filter: Glob = ""  # glob, `**` crosses folders
    language: Language = ""
    kind: SymbolKind | None = None
    source_only: bool = False
    detail: Detail = Detail.FULL
    include_file_context: bool = False  # tell what else the file of a hit defines
    cursor: Cursor = ""
    explain: bool = False  # tell each signal's share of each score


class FileContext(Message):
    """What a hit stands among: the definitions of its file, in order, each as `12-40 class Session`."""

    lines: int
    definitions: tuple[str, ...]
    definitions_left_out: int = 0


class Hit(Message):
    """One answer. Scores compare within one reply only."""

    repo: str
    file_path: str
    start_line: int
    end_line: int
    content: str
    symbol: str = ""
    kind: str = ""
    language: str = ""
    score: float
    # The legs that found it, with the rank (from 1) that each gave it.
    legs: dict[str, int] = {}
    # What each signal added to the score, if asked for.
    signals: dict[str, float] = {}
    # If asked for.
    file_context: FileContext | None = None


class SearchAnswer(Message):
    """What a question and the state of the index decide between them. Hits, best first.

    `confidence` is that of the first hit of the first page (docs/quality.md has what each level means).
    """

    results: tuple[Hit, ...]
    confidence: str  # high, medium, low, none
    query_intent: Intent
    next_actions: tuple[str, ...] = ()
    diagnostics: dict[str, object] = {}
    next_cursor: str = ""


class SearchReply(SearchAnswer):
    """An answer, how fresh it is, and how long it took."""

    truncated: bool = False  # cut to fit into the budget that was asked for
    receipt: Receipt
    timings_ms: dict[str, float] = {}


class OutputMode(StrEnum):
    """What an exact search answers with."""

    CONTENT = "content"  # the matching lines
    FILES_WITH_MATCHES = "files_with_matches"  # the files that have one
    COUNT = "count"  # those files, and how many of their lines match


class GrepRequest(ScopedRequest):
    """Find every line that matches, in order of path and line. `limit` counts lines, or files where files are the answer."""

    pattern: Pattern
    regex: bool = False
    case_sensitive: bool = True
    word: bool = False
    output_mode: OutputMode = OutputMode.CONTENT
    path_filter: Glob = ""
    language: Language = ""
    context_lines: Annotated[int, Field(ge=0, le=CONTEXT_LINES_MAX)] = 0
    limit: Annotated[int, Field(ge=1, le=GREP_LIMIT_MAX)] = 100
    cursor: Cursor = ""


class GrepMatch(Message):
    """One matching line, without its line end."""

    repo: str
    file_path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class FileMatches(Message):
    """A file that has matching lines. `lines` is how many, if they were counted.

    A file that a time limit cut is on two pages, each with the lines that were counted for it: they add up.
    """

    repo: str
    file_path: str
    lines: int | None = None


class GrepReply(Message):
    """A page of matches, or of files that have some, and where to go on.

    `complete` is False if a limit cut the scan; `note` then says which. The totals are those of all pages, on each of them;
    None where nobody counted: of lines in content, and of what was not looked at before a time limit.
    """

    matches: tuple[GrepMatch, ...] = ()
    files: tuple[FileMatches, ...] = ()
    total_files: int | None = None
    total_lines: int | None = None
    next_cursor: str = ""
    complete: bool
    note: str = ""
    files_scanned: int
    receipt: Receipt


class ReadFileRequest(ScopedRequest):
    """Lines of a file. `end_line` 0 means to the end."""

    path: FilePath
    start_line: Line = 1
    end_line: LineOrNone = 0


class ReadFileReply(Message):
    """The text of the lines, exactly as indexed (secrets redacted)."""

    repo: str
    file_path: str
    start_line: int
    end_line: int
    line_count: int
    content: str
    language: str
    blob: str
    truncated: bool = False
    note: str = ""  # which of the lines that were asked for the file does not have
    receipt: Receipt


class ListFilesRequest(ScopedRequest):
    """Files by glob, in order of path."""

    glob: Glob = ""
    language: Language = ""
    include_skipped: bool = False
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 500
    cursor: Cursor = ""


class FileEntry(Message):
    """A file as the index knows it."""

    file_path: str
    blob: str = ""
    language: str = ""
    size_bytes: int = 0
    lines: int = 0
    flags: FileFlags = FileFlags()
    skipped: SkipReason | None = None


class ListFilesReply(Message):
    """Files, and where to go on."""

    repo: str
    files: tuple[FileEntry, ...]
    next_cursor: str = ""
    total: int
    receipt: Receipt


class OutlineRequest(ScopedRequest):
    """The symbols of a file, in order."""

    path: FilePath


class OutlineReply(Message):
    """Symbols nest by `parent`, a position in the list."""

    repo: str
    file_path: str
    language: str
    line_count: int
    symbols: tuple[Symbol, ...]
    parse: str
    receipt: Receipt


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


class GraphNode(Message):
    """A symbol, or the top level of a file, whose `symbol` is empty. `line` is that of its name."""

    file_path: str
    line: int
    symbol: str = ""
    kind: SymbolKind | None = None
    test: bool = False


class GraphEdge(Message):
    """All references of a kind by which one node uses another, as one. The surest says how it was found."""

    edge: EdgeKind
    status: EdgeStatus
    strategy: Strategy
    lines: tuple[int, ...]  # in the file of the one that uses the other; the first of them
    total_lines: int = 1


class SymbolWalkRequest(ScopedRequest):
    """A question that starts at a symbol: `Session.get`, `src/session.py:42`, or a file. `path` is that of the definition."""

    symbol: SymbolName
    path: FilePath = ""
    include_candidates: bool = True


class CallDirection(StrEnum):
    """Which way calls are followed."""

    CALLERS = "callers"
    CALLEES = "callees"


class TreeBranch(Message):
    """A node below another one. What calls an overridden member may run the one that overrides it: that is an edge too."""

    node: GraphNode
    via: GraphEdge
    parent: int = -1  # position of the branch above it in the list, -1 for the root
    depth: int  # from 1
    # Position of the branch where the same node is expanded, and whether that, or the root, is above.
    same_as: int = -1
    recursive: bool = False
    left_out: int = 0  # children that are not in the list
    # Members that override members of the types above, if asked for.
    overrides: tuple[GraphNode, ...] = ()


class CallHierarchyRequest(SymbolWalkRequest):
    """Who calls a symbol, or what it calls. `limit` bounds the children of each node; a cursor goes on with the root's."""

    direction: CallDirection = CallDirection.CALLERS
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 2
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 20
    cursor: Cursor = ""


class CallHierarchyReply(Message):
    """A tree, level by level. Without branches, `in_text` says what the text knows of the name: none is not claimed else."""

    roots: tuple[GraphNode, ...]  # definitions of the one symbol
    others: tuple[GraphNode, ...] = ()  # definitions that the name fits as well
    matched: str = ""
    direction: CallDirection
    branches: tuple[TreeBranch, ...]
    total: int  # directly below the root
    # How the symbol is used in other ways: as a type or value, imported, inherited from.
    other_uses: dict[EdgeKind, int] = {}
    in_text: Reconciliation | None = None
    next_cursor: str = ""
    receipt: GraphReceipt


class TypeHierarchyRequest(SymbolWalkRequest):
    """What is above and below a type, all the way."""

    include_members: bool = False
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50


class TypeHierarchyReply(Message):
    """Two trees, level by level, of one type."""

    roots: tuple[GraphNode, ...]
    others: tuple[GraphNode, ...] = ()
    matched: str = ""
    supertypes: tuple[TreeBranch, ...]
    subtypes: tuple[TreeBranch, ...]
    total_supertypes: int
    total_subtypes: int
    # What the graph cannot know of such types, and types that have all the members all the same.
    note: str = ""
    structural: tuple[GraphNode, ...] = ()
    total_structural: int = 0
    receipt: GraphReceipt


class FindPathRequest(ScopedRequest):
    """How one symbol or file comes to another. Spelled as in `SymbolWalkRequest`."""

    source: SymbolName
    target: SymbolName
    source_path: FilePath = ""
    target_path: FilePath = ""
    depth: Annotated[int, Field(ge=1, le=PATH_DEPTH_MAX)] = PATH_DEPTH_MAX
    include_candidates: bool = True


class GraphPath(Message):
    """Nodes, and between each two of them the edge."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class PathSearch(Message):
    """One way of looking for a path, and how far it came."""

    forward: bool  # False: from the target to the source
    edges: str  # calls; uses: calls and all other uses; files: whatever one file uses of another
    candidates: bool
    visited: int  # nodes from which the end can be reached
    found: int


class FindPathReply(Message):
    """The shortest paths, the surest first. Without any, `searches` says what was looked at; a path the other way is told."""

    source: tuple[GraphNode, ...]
    target: tuple[GraphNode, ...]
    paths: tuple[GraphPath, ...] = ()
    backward: tuple[GraphPath, ...] = ()
    searches: tuple[PathSearch, ...]
    receipt: GraphReceipt


class DependencyDirection(StrEnum):
    """Which way files use each other."""

    OUT = "out"  # what it uses
    IN = "in"  # what uses it
    BOTH = "both"


class DependenciesRequest(ScopedRequest):
    """What a file, a folder or a package uses, and what uses it."""

    path: FilePath
    direction: DependencyDirection = DependencyDirection.BOTH
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 1
    include_candidates: bool = False
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50  # a direction
    cursor: Cursor = ""


class FileDependency(Message):
    """A file on the other side, and the edges between. Beyond depth 1, `through` is the file that leads to it."""

    file_path: str
    depth: int
    edges: tuple[GraphEdge, ...]
    symbols: tuple[str, ...] = ()  # that are used, the most used first
    through: str = ""


class ExternalModule(Message):
    """A module that is imported and is no file of the repository."""

    module: str
    files: int
    file_path: str  # the first of those files
    line: int


class DependenciesReply(Message):
    """Files by direction, the nearest and surest first."""

    files: tuple[str, ...]  # what was asked about, the first of them
    total_files: int
    uses: tuple[FileDependency, ...] = ()
    used_by: tuple[FileDependency, ...] = ()
    total_uses: int = 0
    total_used_by: int = 0
    # Files that only candidates lead to, if those were not asked for.
    unsure_uses: int = 0
    unsure_used_by: int = 0
    externals: tuple[ExternalModule, ...] = ()
    total_externals: int = 0
    # Paths of files that import each other in a circle, from one that was asked about back to it.
    cycles: tuple[tuple[str, ...], ...] = ()
    next_cursor: str = ""
    receipt: GraphReceipt


class ImpactRequest(ScopedRequest):
    """What hangs on a symbol, or on what a unified diff touches: exactly one of the two is set."""

    symbol: SymbolName = ""
    path: FilePath = ""
    diff: Diff = ""
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 3
    include_candidates: bool = True
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class DiffState(StrEnum):
    """What a diff does with a file, or why nothing is known of it."""

    MODIFIED = "modified"
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    BINARY = "binary"
    NOT_INDEXED = "not_indexed"
    DOES_NOT_APPLY = "does_not_apply"


class DiffFile(Message):
    """A file of a diff. `applied` says that what is indexed is the state after it."""

    file_path: str
    state: DiffState
    applied: bool = False
    detail: str = ""


class ChangedSymbol(Message):
    """What changes, or its file's top level. `used_by` is how many use it directly."""

    node: GraphNode
    exported: bool
    signature: bool  # the change is, also, in the lines that say how it is called
    used_by: int


class AffectedNode(Message):
    """What uses what changes. `status` is that of the least sure edge of the way; `via` is the last edge, to `uses`."""

    node: GraphNode
    distance: int
    status: EdgeStatus
    via: GraphEdge
    uses: GraphNode


class ImpactReply(Message):
    """Who is affected, the nearest and surest first; tests apart. The counts are of all, shown or not."""

    files: tuple[DiffFile, ...] = ()
    changed: tuple[ChangedSymbol, ...]
    total_changed: int
    others: tuple[GraphNode, ...] = ()
    matched: str = ""
    affected: tuple[AffectedNode, ...]
    total_affected: int
    resolved_affected: int
    depth: int  # over how many uses in a row `affected` was looked for
    tests: tuple[AffectedNode, ...]
    total_tests: int
    test_depth: int  # the same of tests
    by_file: dict[str, int] = {}  # the files with most
    next_cursor: str = ""
    receipt: GraphReceipt


class CoverageRequest(ScopedRequest):
    """What of a repository is searchable, and what is not, with reasons."""

    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = 200


class CoverageProblem(Message):
    """A file that is not searchable."""

    file_path: str
    status: str  # skipped, failed
    reason: str
    detail: str = ""
    size_bytes: int = 0


class UnparsedFile(Message):
    """A file that is searchable and has no symbols, as its parser gave it up. `parse` says how."""

    file_path: str
    language: str
    parse: str


class RedactedFile(Message):
    """A file that secrets were taken out of, and the rules that found them."""

    file_path: str
    rules: tuple[str, ...]


class CoverageReply(Message):
    """Counts add up: files = indexed + skipped + failed."""

    repo: str
    files: int
    indexed: int
    skipped: int
    failed: int
    by_reason: dict[str, int]
    by_language: dict[str, int]
    by_parse: dict[str, int]
    redacted_files: int
    redactions: dict[str, int]
    problems: tuple[CoverageProblem, ...]
    unparsed: tuple[UnparsedFile, ...] = ()
    redacted: tuple[RedactedFile, ...] = ()
    deep: int = 0  # indexed files that have a vector of the deep model that runs
    scip: int = 0  # indexed files of which a SCIP index speaks as they are now
    receipt: Receipt


class ReceiptRequest(ScopedRequest):
    """How fresh and how complete answers are now."""


class ManifestRequest(Message):
    """What the index holds of a layer, in pages: for ingest, to find what changed."""

    tenant: TenantId
    repo: RepoKey
    layer: LayerId = BASE_LAYER
    paths: Annotated[
        tuple[FilePath, ...], Field(max_length=SNAPSHOT_FILES_MAX)
    ] = ()  # only these files; empty: all
    # Ids of file points, of whatever layers of the repository: only these, in the place of the files of `layer`.
    files: Annotated[tuple[PointId, ...], Field(max_length=SNAPSHOT_FILES_MAX)] = ()
    cursor: Cursor = ""


class ManifestEntry(Message):
    """One indexed (or skipped, or failed) file. `generation` is empty unless it is indexed."""

    path: str
    blob: str
    generation: str
    status: str
    version: int = 0  # of the import that wrote it
    file: str = ""  # id of the file point
    reason: str = ""  # why it is skipped


class ManifestReply(Message):
    """A page of entries. `address` is how generations are made now: if it changed, nothing is up to date."""

    entries: tuple[ManifestEntry, ...]
    next_cursor: str = ""


class PointCountsRequest(Message):
    """How many points a tenant has, by repository and layer."""

    tenant: TenantId
    repo: RepoKeyOrNone = ""  # only this one, by its id


class LayerPoints(Message):
    """Points of one layer: of the base all, of another what it has in the base's place."""

    repo: str
    layer: str
    ref: str = ""  # what the layer is called
    points: int
    files: int
    lost: Count = 0  # files that were indexed and that the store no longer has


class PointCountsReply(Message):
    """Points of the tenant. What several layers share is counted in each of them, and once elsewhere."""

    total: int
    repositories: dict[str, int] = {}  # by id
    layers: tuple[LayerPoints, ...]


# The graph of a repository as a whole: what it hangs on, and what it consists of.

MODULES_LIMIT_MAX = 500
ARCHITECTURE_LIMIT_MAX = 200


class Tier(StrEnum):
    """How much hangs on a file: half of all rank is in the core, nine tenths in the core and what is significant."""

    CORE = "core"
    SIGNIFICANT = "significant"
    PERIPHERAL = "peripheral"


class ModuleMapRequest(ScopedRequest):
    """The files that most hangs on; with a query, those that what it names hangs on."""

    query: Query = ""
    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=MODULES_LIMIT_MAX)] = 30
    cursor: Cursor = ""


class ModuleEntry(Message):
    """A file. `relative_score` is its rank as a share of the best one's."""

    file_path: str
    language: str
    lines: int
    tier: Tier
    relative_score: float
    summary: str = ""  # what it says of itself
    top_symbols: tuple[str, ...] = ()  # each as `class Session`, the ones first that most hangs on
    commits_90_days: int | None = None  # None: nothing is known of when it changed


class ModuleMapReply(Message):
    """Files, best first. `total` and `tiers` count all that the path filter lets through."""

    repo: str
    entries: tuple[ModuleEntry, ...]
    total: int
    tiers: dict[Tier, int]
    next_cursor: str = ""
    receipt: GraphReceipt


class EntryKind(StrEnum):
    """How the outside comes in."""

    MAIN = "main"  # where a program begins
    SCRIPT = "script"  # a file that is run
    COMMAND = "command"  # of a command line
    ROUTE = "route"  # of HTTP
    ROOT = "root"  # a file that uses many others and that none uses


class EntryPoint(Message):
    """A place where the outside comes in. `symbol` is empty for a file as a whole."""

    kind: EntryKind
    file_path: str
    line: int
    symbol: str = ""


class ComponentSummary(Message):
    """Files that use each other more than others. `rank` is their share of all rank."""

    id: int
    name: str
    files: int
    lines: int
    rank: float
    main_files: tuple[str, ...]
    main_symbols: tuple[str, ...]


class ComponentDependency(Message):
    """One component uses another. `example` is the pair of files with the most references between them."""

    source: str
    target: str
    references: int  # resolved
    candidates: int
    example: tuple[str, str]


class Cycle(Message):
    """Files or components each of which needs all others. `path` is a shortest way around, back to where it began."""

    members: int
    path: tuple[str, ...]


class Spread(Message):
    """What is in several: a folder over components, or a component over folders. `over` counts files, most first."""

    name: str
    files: int
    over: dict[str, int]


class Outlier(Message):
    """A file that uses and is used by another component than most of its folder."""

    file_path: str
    component: str
    folder_component: str


class Divergence(Message):
    """How far folders and components agree: normalized mutual information, 1 if they are the same, and where they differ."""

    agreement: float
    folders: tuple[Spread, ...]
    components: tuple[Spread, ...]
    outliers: tuple[Outlier, ...]


class Partition(Message):
    """A part of a monorepo that is built by itself: the folder of a manifest."""

    folder: str
    manifest: str
    files: int


class Interface(Message):
    """A symbol, or a file, of a component that others use."""

    file_path: str
    line: int
    symbol: str
    references: int


class Overview(Message):
    """A repository by its components. `totals` counts what the lists are the first of."""

    entry_points: tuple[EntryPoint, ...]
    components: tuple[ComponentSummary, ...]
    dependencies: tuple[ComponentDependency, ...]
    file_cycles: tuple[Cycle, ...]
    component_cycles: tuple[Cycle, ...]
    divergence: Divergence
    partitions: tuple[Partition, ...]
    totals: dict[str, int]


class ComponentDetail(Message):
    """One component from inside. `totals` counts what the lists are the first of."""

    summary: ComponentSummary
    files: tuple[ModuleEntry, ...]
    interface: tuple[Interface, ...]
    uses: tuple[ComponentDependency, ...]
    used_by: tuple[ComponentDependency, ...]
    external_modules: dict[str, int]  # by files that import them
    entry_points: tuple[EntryPoint, ...]
    cycles: tuple[Cycle, ...]
    totals: dict[str, int]


class ArchitectureRequest(ScopedRequest):
    """What a repository consists of, or one of its components by name or id. `limit` is that of each list."""

    component: FilePath = ""
    limit: Annotated[int, Field(ge=1, le=ARCHITECTURE_LIMIT_MAX)] = 20


class ArchitectureReply(Message):
    """Exactly one of the two is set."""

    repo: str
    overview: Overview | None = None
    component: ComponentDetail | None = None
    receipt: GraphReceipt


class EmbedQueryRequest(Message):
    """Texts to turn into query vectors."""

    texts: Annotated[tuple[ModelText, ...], Field(min_length=1, max_length=16)]


class EmbedQueryReply(Message):
    """One vector a text."""

    model: str  # fingerprint of the weights
    vectors: tuple[tuple[float, ...], ...]


class SnapshotFile(Message):
    """One file of a snapshot, known by hash before its content is sent."""

    path: FilePath
    blob: BlobHash
    size_bytes: Count
    skipped: SkipReason | None = None
    detail: ShortText = ""
    flags: FileFlags = FileFlags()
    language: Language = ""


class OpenSnapshotRequest(Message):
    """Bring a repository, or a layer of it, to this set of files. `snapshot` makes a repeated request the same request."""

    tenant: TenantIdOrNone  # empty on its way from a client: the token decides it
    repo_name: RepoName
    layer_ref: RefName = ""  # branch whose layer it is; empty for the base
    snapshot: ShortText
    source: Literal["upload"] = UPLOAD
    commit: CommitId
    ref: RefName = ""
    dirty: bool = False
    lane: Lane = Lane.BULK
    files: Annotated[tuple[SnapshotFile, ...], Field(max_length=SNAPSHOT_FILES_MAX)]
    history: History | None = None  # of a git work tree


class OpenSnapshotReply(Message):
    """The job, and the ordinals of the files whose contents are wanted (positions in the request's `files`)."""

    job: Job
    needed: tuple[int, ...]


class StoreScipRequest(Message):
    """Take a SCIP index in: made of a commit that was indexed, of the whole repository or of a folder of it."""

    tenant: TenantId
    repo: RepoKey  # owner/name

    commit: CommitId
    root: FilePath = ""  # the folder that the paths of the index begin at
    object: ShortText  # in OBJECTS_CLAIMS: the index, as it is or gzipped


class LeftOutDocument(Message):
    """A document of a SCIP index of which nothing was taken: `outside`, `not_indexed`, `changed` or `repeated`."""

    path: str
    reason: str


class StoreScipReply(Message):
    """What was taken from a SCIP index. Documents are those of files that are still as the commit has them."""

    repo: str
    commit: str
    indexer: str
    # False if an index of a newer commit is kept already.
    stored: bool
    documents: int
    files: int
    definitions: int
    uses: int
    implementations: int
    left_out: dict[str, int] = {}
    examples: tuple[LeftOutDocument, ...] = ()
    # Occurrences at positions that no text has.
    unreadable: int = 0


class CloneRequest(Message):
    """Clone or fetch a git URL and index a ref of it (the default branch if empty)."""

    tenant: TenantId
    url: GitUrl
    repo_name: RepoNameOrNone = ""
    ref: RefName = ""
    lane: Lane = Lane.BULK


class FileEdit(Message):
    """A file as it is to be."""

    path: FilePath
    content: FileBytes | None  # None: the file is gone
    # The blob that the edit was made from, empty if there was no such file; None: whatever is there.
    base_blob: BlobHash | None = None


class EditRequest(Message):
    """Change some files of a repository: those given, and those that a unified diff makes of what is indexed."""

    tenant: TenantId
    repo_name: RepoKey
    base_commit: CommitIdOrNone = ""  # that must be served; empty: whatever is
    commit: CommitIdOrNone = ""  # whose tree the files then are; empty: none, there are uncommitted changes
    files: Annotated[tuple[FileEdit, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    lane: Lane = Lane.LIVE


class CreateLayerRequest(Message):
    """Make a layer of a branch, a tag or a commit of a repository that Prism fetches, or bring it up to date."""

    tenant: TenantId
    repo: RepoKey  # owner/name
    ref: Annotated[RefName, Field(min_length=1)]
    lane: Lane = Lane.LIVE


class DeleteLayerRequest(Message):
    """Let a layer be forgotten."""

    tenant: TenantId
    repo: RepoKey
    ref: Ref


class LayerReply(Message):
    """A layer as it is now, and the job that works on it, if one does."""

    layer: Layer
    job: Job | None = None


class OpenOverlayRequest(Message):
    """Lay uncommitted edits on a layer. With the handle of an overlay its edits are replaced by these."""

    tenant: TenantId
    repo: RepoKey
    base_ref: RefOrNone = ""  # the layer below; empty for the base
    handle: RefOrNone = ""
    base_commit: CommitIdOrNone = (
        ""  # that the edits were made on; the layer below must serve it, unless it is empty
    )
    files: Annotated[tuple[FileEdit, ...], Field(max_length=EDIT_FILES_MAX)] = ()
    diff: EditDiff = ""
    ttl_s: Annotated[int, Field(ge=OVERLAY_TTL_MIN_S, le=OVERLAY_TTL_MAX_S)] = OVERLAY_TTL_DEFAULT_S


class CloseOverlayRequest(Message):
    """Forget an overlay."""

    tenant: TenantId
    repo: RepoKey
    handle: Ref


class CommitFileRequest(Message):
    """The text of a file at a commit that the repository's mirror holds, secrets redacted."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref  # or a branch or tag, as the remote had it when it was fetched
    path: FilePath


class CommitFileReply(Message):
    """The text, and which commit it is of."""

    commit: str
    blob: str
    text: str
    size_bytes: int


class CommitFilesRequest(Message):
    """The files of a commit that the repository's mirror holds."""

    tenant: TenantId
    repo: RepoKey
    commit: Ref


class CommitFilesReply(Message):
    """Paths with their sizes, in order, and which commit they are of."""

    commit: str
    files: tuple[SnapshotFile, ...]


class AdmitUploadRequest(Message):
    """Asks whether a tenant may upload contents for a job."""

    tenant: TenantId
    job: JobId


class AdmitUploadReply(Message):
    """What a job of the tenant still accepts."""

    is_open: bool  # False: the job has ended and needs no contents
    bytes_max: Count = 0  # the total size of the files whose contents the job needs


class JobRequest(Message):
    """The state of a job; or of a repository's newest job, if only `repo` is given."""

    tenant: TenantId
    job: JobIdOrNone = ""
    repo: RepoKeyOrNone = ""


class JobReply(Message):
    """The job."""

    job: Job


class JobsRequest(Message):
    """The newest jobs of a tenant."""

    tenant: TenantId
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class JobsReply(Message):
    """Jobs, newest first, and the tenant's repositories with their layers."""

    jobs: tuple[Job, ...]
    repositories: tuple[Repository, ...]
    layers: tuple[Layer, ...] = ()  # by their refs; those that have expired are left out


# Before an edit, and about a repository as a whole.


class EditContextRequest(ScopedRequest):
    """What to know before a symbol is changed. `path` is that of its definition; with a line it stands in the symbol's place."""

    symbol: SymbolName = ""
    path: FilePath = ""
    start_line: LineOrNone = 0
    end_line: LineOrNone = 0  # 0: the same line


class EditRisk(StrEnum):
    """Why a change may break what does not show in the file."""

    EXPORTED = "exported"
    IMPLEMENTS = "implements"  # an interface or a base class asks for it
    OVERRIDDEN = "overridden"  # classes below define it again, or are derived from it
    OTHER_REPOSITORIES = "other_repositories"


class EditWarning(Message):
    """A risk in a sentence, with definitions or places that show it (`path:line name`)."""

    risk: EditRisk
    text: str
    places: tuple[str, ...] = ()


class ReachingTest(Message):
    """A test that uses the symbol; if `via` names a caller, through it. `status` is that of the less sure edge."""

    file_path: str
    line: int
    symbol: str
    status: EdgeStatus
    via: str = ""


class SiblingKind(StrEnum):
    """Why a definition probably has to change too."""

    COUNTERPART = "counterpart"  # a declaration of the same, or its body
    SAME_METHOD = "same_method"  # the method in a class with the same base


class Sibling(Message):
    """A definition that probably has to change too."""

    kind: SiblingKind
    definition: Definition


class Document(Message):
    """Lines of a document for people or agents, quoted. `headings` are those of all of it: `12 ## Style`."""

    file_path: str
    line_count: int
    start_line: int
    end_line: int
    content: str
    headings: tuple[str, ...] = ()


class RulesDocument(Document):
    """Rules for a path; `applies` says why they hold there."""

    applies: str


class RecentChanges(Message):
    """What changed in a file lately, as far as its history is known: `note` says what limits it."""

    commits_90_days: int
    commits_12_months: int
    last: HistoryCommit
    note: str = ""


class EditContextReply(Message):
    """What to know before an edit, the most important first. Without `symbol` the lines belong to no definition."""

    repo: str
    file_path: str
    language: str
    start_line: int
    end_line: int
    content: str  # of the lines, at most so many as one reads at once
    symbol: Symbol | None = None
    matched: str = ""
    others: tuple[Definition, ...] = ()  # other definitions of the name
    total_others: int = 0
    warnings: tuple[EditWarning, ...] = ()
    references: SymbolReferences | None = None
    tests: tuple[ReachingTest, ...] = ()
    test_counts: dict[EdgeStatus, int] = {}  # of all tests
    test_depth: int = 0  # over how many uses in a row they were looked for
    # How many the graph knows, and over how many uses; None if it was not asked or does not answer. `impact` lists them.
    graph_tests: int | None = None
    graph_test_depth: int = 0
    test_files: tuple[str, ...] = ()  # that are named after the file
    siblings: tuple[Sibling, ...] = ()
    rules: tuple[RulesDocument, ...] = ()
    changes: RecentChanges | None = None  # None: none are known
    notes: tuple[
        str, ...
    ] = ()  # what was not looked at, and what of the lines that were asked for is not here
    receipt: Receipt


class ExistingRequest(ScopedRequest):
    """Is there something already that does this? The intent is words, or a signature that somebody is about to write."""

    intent: Query
    language: Language = ""
    limit: Annotated[int, Field(ge=1, le=EXISTING_MAX)] = EXISTING_MAX


class Verdict(StrEnum):
    """How much speaks for it that a definition is what was meant."""

    LIKELY = "likely"
    MAYBE = "maybe"
    NONE = "none"


class ExistingDefinition(Message):
    """A definition that may do what was meant, and what speaks for it. Scores are from 0 to 1 and compare between questions."""

    definition: Definition
    verdict: Verdict
    score: float
    reasons: tuple[str, ...]


class ExistingReply(Message):
    """Definitions, best first. The verdict is that of the first; `none` with definitions: they are near, and no more."""

    verdict: Verdict
    existing: tuple[ExistingDefinition, ...]
    receipt: Receipt


class ConventionsRequest(ScopedRequest):
    """How code is written in a repository; of one language, or of all."""

    language: Language = ""


class ConventionExample(Message):
    """A place that keeps to a convention."""

    file_path: str
    line: int
    text: str


class Convention(Message):
    """What most of the code does: `count` of `total`. An empty language: whatever the language."""

    topic: str
    language: str = ""
    statement: str
    count: int
    total: int
    examples: tuple[ConventionExample, ...] = ()


class ConventionsReply(Message):
    """Conventions by topic, and the rules that the repository has written down. Where there is no majority nothing is said."""

    repo: str
    conventions: tuple[Convention, ...]
    rules: tuple[RulesDocument, ...]
    files_read: int
    files: int  # of code, generated and vendored ones left out
    receipt: Receipt


class ContextSection(StrEnum):
    """What documents of a repository are about."""

    VISION = "vision"
    README = "readme"
    ARCHITECTURE = "architecture"
    DECISIONS = "decisions"
    CONTRIBUTING = "contributing"
    CHANGELOG = "changelog"


class RepoContextRequest(ScopedRequest):
    """What a repository says of itself; of one section, or of all."""

    section: ContextSection | None = None


class ContextDocument(Document):
    """Lines of a document of a section."""

    section: ContextSection


class RepoContextReply(Message):
    """Documents by section, the most telling first. `missing` are sections of which no document is indexed."""

    repo: str
    documents: tuple[ContextDocument, ...]
    missing: tuple[ContextSection, ...] = ()
    left_out: int = 0  # documents beside these
    receipt: Receipt


class Reply(Message):
    """What travels back: exactly one of the two is set. `ok` is the JSON of the reply model."""

    ok: dict[str, object] | None = None
    error: ErrorBody | None = None
