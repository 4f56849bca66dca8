"""Walks over the symbol graph: hierarchies, dependencies, paths, impact."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from prism_contracts.base import Message
from prism_contracts.code import (
    EdgeKind,
    EdgeStatus,
    Strategy,
    SymbolKind,
)
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import EnclosingSymbol, GraphReceipt, ScopedRequest
from prism_contracts.rpc.symbols import Reconciliation, TextLine
from prism_contracts.types import (
    Cursor,
    Diff,
    FilePath,
    Glob,
    SymbolName,
)

WALK_DEPTH_MAX = 5
WALK_LIMIT_MAX = 200
PATH_DEPTH_MAX = 12


class GraphNode(Message):
    """A symbol, or the top level of a file (`symbol` is empty). `line` is the line of its name.

    `start_line` and `end_line` are the range of the symbol, 0 for a top level. `outer` is the outermost function
    around a symbol that is local to one; of a test that is a call with a title, the group of tests around it.
    """

    file_path: str
    line: int
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    kind: SymbolKind | None = None
    # Those of an overloaded function: `(String, boolean)`.
    parameters: str = ""
    test: bool = False
    outer: EnclosingSymbol | None = None
    marks: tuple[str, ...] = ()  # as in `EnclosingSymbol`

    @property
    def title(self) -> str:
        """The symbol, with its parameters if it is overloaded."""
        return f"{self.symbol}{self.parameters}"


class GraphEdge(Message):
    """All references of one kind from one node to another.

    The most certain one sets `status` and `strategy`.
    """

    edge: EdgeKind
    status: EdgeStatus
    strategy: Strategy
    lines: tuple[int, ...]  # the first lines, in the file of the using node
    total_lines: int = 1
    file_path: str = ""  # of the lines, in a tree where it differs from the file of the branch


class SourceLine(Message):
    """The text of a line that an edge refers to, without indentation.

    For an `impl` block in Rust, `text` is the whole header, and `end_line` is the last line of the block. `test` is the
    enclosing test, group or hook, if tests are calls with a title.
    """

    file_path: str
    line: int
    text: str
    end_line: int = 0
    test: EnclosingSymbol | None = None


class StopReason(StrEnum):
    """Why a walk did not go further."""

    DEPTH = "depth"  # the requested depth
    WIDTH = "width"  # the limit of neighbors per node
    NAME = "name"  # the edge fits by name only, and several definitions have that name
    VALUE = "value"  # a call of a stored value, or on an unknown receiver
    OUTSIDE = "outside"  # a call of something that the repository does not define


class StoredValue(Message):
    """A name that is called and is no function there: what it may hold, and where it is set or passed."""

    name: str
    functions: tuple[GraphNode, ...] = ()
    places: tuple[str, ...] = ()  # `file:line`


class WalkStop(Message):
    """Places at which a walk stopped for one reason, and the first of them.

    For a call without an edge, `lines` has its text (outside the repository: what it calls), `nodes` the
    functions around them in the same order. `stored` is what the called names hold, as far as it is in sight.
    """

    reason: StopReason
    count: int
    nodes: tuple[GraphNode, ...] = ()
    lines: tuple[SourceLine, ...] = ()
    stored: tuple[StoredValue, ...] = ()


class SymbolWalkRequest(ScopedRequest):
    """A question about a symbol:

    `Session.get`, `src/session.py:42`, or a file. `path` is the file of the definition.
    """

    symbol: SymbolName
    path: FilePath = ""
    include_candidates: bool = True
    source_only: bool = False  # leave out what is in tests
    # Add the lines of the calls, and compare the answer with the text.
    with_text: bool = False


class CallDirection(StrEnum):
    """The direction in which calls are followed."""

    CALLERS = "callers"
    CALLEES = "callees"


class TreeBranch(Message):
    """A node of a tree. A caller of an overridden member may run the override: that counts as an edge too."""

    node: GraphNode
    via: GraphEdge
    parent: int = -1  # position of its parent in the list, -1 for the root
    depth: int  # from 1
    # Position of the branch where the same node is expanded, and whether that is an ancestor.
    same_as: int = -1
    recursive: bool = False
    left_out: int = 0  # children that are not listed
    # Members that override members of its supertypes, if requested.
    overrides: tuple[GraphNode, ...] = ()


class CallHierarchyRequest(SymbolWalkRequest):
    """Finds callers or callees, as a tree.

    `limit` bounds the children of each node; the cursor pages those of the root.
    """

    direction: CallDirection = CallDirection.CALLERS
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 2
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 20
    cursor: Cursor = ""


class StoredPlace(Message):
    """A line that stores a function in a field, through which it may be called. `node` is around the line."""

    node: GraphNode
    line: int
    field: str  # its name, or the struct and a position: `cmd#1`


class ComparedLevels(Message):
    """The users of listed symbols, compared with the text like those of the requested symbol, except in tests.

    A symbol of level n is n uses, or calls, away from the requested one. All symbols of the first `levels` levels
    were compared; what is unexplained are lines of code that contain the name of one.
    """

    levels: int
    names: int  # that were compared
    names_left_out: int = 0  # of further levels, because they are too many
    text_lines: int = 0  # that contain one of the names
    by_name: int = 0  # lines with uses that match by name only, and that the reply does not list
    by_name_of: tuple[str, ...] = ()  # the names of these symbols, the most frequent first
    by_name_lines: tuple[TextLine, ...] = ()  # the first of them, calls first
    unexplained: int = 0
    unexplained_of: tuple[str, ...] = ()  # the names in these lines, the most frequent first
    unexplained_lines: tuple[TextLine, ...] = ()  # the first of them, those of rare names first
    files_left_out: int = 0  # as in `Reconciliation`


class CallHierarchyReply(Message):
    """A tree, level by level. `in_text` compares the callers with the text, if requested."""

    roots: tuple[GraphNode, ...]  # definitions of the symbol
    others: tuple[GraphNode, ...] = ()  # other definitions that the name matches
    matched: str = ""
    notes: tuple[str, ...] = ()  # that the symbol is inherited
    direction: CallDirection
    branches: tuple[TreeBranch, ...]
    total: int  # direct children of the root
    candidates: int = 0  # those of them that only the name supports
    tests_left_out: int = 0  # direct children in tests, with `source_only`
    stops: tuple[WalkStop, ...] = ()
    source_lines: tuple[SourceLine, ...] = ()
    stored: tuple[StoredPlace, ...] = ()  # where the symbol is stored in a field: the first places
    # Other uses of the symbol: as a type or value, imported, inherited from.
    other_uses: dict[EdgeKind, int] = {}
    in_text: Reconciliation | None = None
    levels_in_text: ComparedLevels | None = None  # of callers
    next_cursor: str = ""
    receipt: GraphReceipt


class TypeHierarchyRequest(SymbolWalkRequest):
    """Finds all supertypes and subtypes of a type.

    `path_filter` selects the files of the subtypes, where the repository does not define the type.
    """

    include_members: bool = False
    path_filter: Glob = ""
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50


class OutsideModule(Message):
    """A module that files import a type from, and how many of its subtypes they declare."""

    module: str  # empty if the files do not say
    types: int


class OutsideType(Message):
    """A type that the repository does not define, and where its subtypes have it from."""

    name: str
    modules: tuple[OutsideModule, ...]


class MacroSubtype(Message):
    """A type that a call of a macro declares as a subtype."""

    name: str  # the first name among the arguments
    file_path: str
    start_line: int
    end_line: int


class MacroSubtypes(Message):
    """A macro whose definition implements the type, and its calls at top level."""

    macro: GraphNode
    line: int  # in the definition, with its text
    text: str
    calls: tuple[MacroSubtype, ...]  # the first of them
    total: int


class TypeHierarchyReply(Message):
    """The supertypes and subtypes of a type, level by level. A type outside of the repository has no roots."""

    roots: tuple[GraphNode, ...]
    others: tuple[GraphNode, ...] = ()
    matched: str = ""
    supertypes: tuple[TreeBranch, ...]
    subtypes: tuple[TreeBranch, ...]
    total_supertypes: int
    total_subtypes: int
    tests_left_out: int = 0  # direct subtypes in tests, with `source_only`
    filtered_out: int = 0  # direct subtypes in files that `path_filter` leaves out
    below_left_out: int = (
        0  # subtypes of the direct subtypes beyond the bound of the tree, at the first level
    )
    # In a language where types implement implicitly: a sentence that says so, and the types that fit.
    note: str = ""
    structural: tuple[GraphNode, ...] = ()
    total_structural: int = 0
    by_macros: tuple[MacroSubtypes, ...] = ()  # in Rust: subtypes whose declarations are in macros
    embedded_outside: tuple[str, ...] = ()  # types whose methods it has too, but which no file defines
    outside: OutsideType | None = None
    in_text: Reconciliation | None = None
    source_lines: tuple[SourceLine, ...] = ()
    receipt: GraphReceipt


class FindPathRequest(ScopedRequest):
    """Finds paths from one symbol or file to another, spelled as in `SymbolWalkRequest`."""

    source: SymbolName
    target: SymbolName
    source_path: FilePath = ""
    target_path: FilePath = ""
    depth: Annotated[int, Field(ge=1, le=PATH_DEPTH_MAX)] = PATH_DEPTH_MAX
    include_candidates: bool = True
    with_text: bool = False  # add the lines of the edges


class OtherMeaning(Message):
    """Another definition of the name by which alone an edge of a path leads on."""

    edge: int  # its position among the edges of the path
    node: GraphNode
    resolved: bool = False  # resolved edges lead to it from the source


class GraphPath(Message):
    """A path: nodes, and the edge between each two."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    others: tuple[OtherMeaning, ...] = ()
    # By edge: how many members a call of a declaration may run, of which the path takes one; 0 for other edges.
    choices: tuple[int, ...] = ()


class PathSearch(Message):
    """One search for a path, and how far it reached."""

    forward: bool  # False: from the target to the source
    edges: str  # calls; uses: calls and all other uses; files: any use of one file by another
    candidates: bool
    visited: int  # nodes that reach the end
    found: int


class FindPathReply(Message):
    """The shortest paths, the most certain first.

    If there is none, `searches` and `backward` show what was searched.
    """

    source: tuple[GraphNode, ...]
    target: tuple[GraphNode, ...]
    paths: tuple[GraphPath, ...] = ()
    backward: tuple[GraphPath, ...] = ()
    searches: tuple[PathSearch, ...]
    notes: tuple[str, ...] = ()  # members that are inherited
    # If there is no path: where calls from the source stop, and the nearest nodes that reach the target.
    stops: tuple[WalkStop, ...] = ()
    reaching: tuple[GraphNode, ...] = ()
    source_lines: tuple[SourceLine, ...] = ()
    receipt: GraphReceipt


class DependencyDirection(StrEnum):
    """The direction of dependencies."""

    OUT = "out"  # what it depends on
    IN = "in"  # what depends on it
    BOTH = "both"


class DependenciesRequest(ScopedRequest):
    """Finds dependencies and dependents of a file, folder or package."""

    path: FilePath
    direction: DependencyDirection = DependencyDirection.BOTH
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 1
    include_candidates: bool = False
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50  # per direction
    cursor: Cursor = ""


class FileDependency(Message):
    """A dependency or dependent, with the edges to it. Beyond depth 1, `through` is the file in between."""

    file_path: str
    depth: int
    edges: tuple[GraphEdge, ...]
    symbols: tuple[str, ...] = ()  # the used symbols, the most used first
    through: str = ""


class ExternalModule(Message):
    """An imported module outside the repository."""

    module: str
    files: int
    file_path: str  # the first of the importing files
    line: int


class DependenciesReply(Message):
    """Files by direction, the nearest and most certain first."""

    files: tuple[str, ...]  # the first of the requested files
    total_files: int
    uses: tuple[FileDependency, ...] = ()
    used_by: tuple[FileDependency, ...] = ()
    total_uses: int = 0
    total_used_by: int = 0
    # Files reached by candidate edges only, if those were excluded.
    unsure_uses: int = 0
    unsure_used_by: int = 0
    externals: tuple[ExternalModule, ...] = ()
    total_externals: int = 0
    # Import cycles, each from a requested file back to it.
    cycles: tuple[tuple[str, ...], ...] = ()
    next_cursor: str = ""
    receipt: GraphReceipt


class ImpactRequest(ScopedRequest):
    """Finds the dependents of a symbol, or of the symbols that a unified diff touches.

    Exactly one of the two is set.
    """

    symbol: SymbolName = ""
    path: FilePath = ""
    diff: Diff = ""
    depth: Annotated[int, Field(ge=1, le=WALK_DEPTH_MAX)] = 3
    include_candidates: bool = True
    source_only: bool = False  # as in `SymbolWalkRequest`
    with_text: bool = False  # as in `SymbolWalkRequest`
    limit: Annotated[int, Field(ge=1, le=WALK_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class DiffState(StrEnum):
    """How a diff changes a file, or why it cannot be analyzed."""

    MODIFIED = "modified"
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    BINARY = "binary"
    NOT_INDEXED = "not_indexed"
    DOES_NOT_APPLY = "does_not_apply"


class DiffFile(Message):
    """A file of a diff. `applied`: the index already has the state after the diff."""

    file_path: str
    state: DiffState
    applied: bool = False
    detail: str = ""


class ChangedSymbol(Message):
    """A changed symbol, or the top level of its file. `used_by` counts its direct dependents."""

    node: GraphNode
    exported: bool
    signature: bool  # the diff touches the signature
    used_by: int


class AffectedNode(Message):
    """A dependent of a change.

    `status` is the least certain on the way; `via` is the last edge, to `uses`. `hook` is what holds the lines of this
    edge and runs for the test: `beforeEach(…)`.
    """

    node: GraphNode
    distance: int
    status: EdgeStatus
    via: GraphEdge
    uses: GraphNode
    hook: EnclosingSymbol | None = None


class RunCommand(Message):
    """A command that runs some tests and no others, in the root of the repository."""

    runner: str
    command: str
    tests: int


class ImpactReply(Message):
    """The dependents, nearest and most certain first; tests are separate. Counts include those not shown.

    A test is what a runner runs: helpers and fixtures are followed to the tests that use them. A test that a type
    inherits is listed in each type that runs it. `test_commands` run the listed tests.
    """

    files: tuple[DiffFile, ...] = ()
    changed: tuple[ChangedSymbol, ...]
    total_changed: int
    others: tuple[GraphNode, ...] = ()
    matched: str = ""
    notes: tuple[str, ...] = ()  # that the symbol is inherited
    affected: tuple[AffectedNode, ...]
    total_affected: int
    resolved_affected: int
    depth: int  # how many uses deep `affected` was searched
    tests: tuple[AffectedNode, ...]
    total_tests: int
    resolved_tests: int = 0
    test_depth: int  # the same for tests
    test_commands: tuple[RunCommand, ...] = ()
    tests_left_out: int = 0  # tests, with `source_only`
    by_file: dict[str, int] = {}  # the files with the most dependents
    in_text: Reconciliation | None = None
    levels_in_text: ComparedLevels | None = None
    stops: tuple[WalkStop, ...] = ()
    source_lines: tuple[SourceLine, ...] = ()
    next_cursor: str = ""
    receipt: GraphReceipt


CALL_HIERARCHY = Rpc("atlas.call_hierarchy", CallHierarchyRequest, CallHierarchyReply, reads=True)
TYPE_HIERARCHY = Rpc("atlas.type_hierarchy", TypeHierarchyRequest, TypeHierarchyReply, reads=True)
DEPENDENCIES = Rpc("atlas.dependencies", DependenciesRequest, DependenciesReply, reads=True)
FIND_PATH = Rpc("atlas.find_path", FindPathRequest, FindPathReply, reads=True)
IMPACT = Rpc("atlas.impact", ImpactRequest, ImpactReply, reads=True)
