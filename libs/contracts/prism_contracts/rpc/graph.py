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
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_contracts.rpc.symbols import Reconciliation
from prism_contracts.types import (
    Cursor,
    Diff,
    FilePath,
    SymbolName,
)

WALK_DEPTH_MAX = 5
WALK_LIMIT_MAX = 200
PATH_DEPTH_MAX = 12


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


CALL_HIERARCHY = Rpc("atlas.call_hierarchy", CallHierarchyRequest, CallHierarchyReply)
TYPE_HIERARCHY = Rpc("atlas.type_hierarchy", TypeHierarchyRequest, TypeHierarchyReply)
DEPENDENCIES = Rpc("atlas.dependencies", DependenciesRequest, DependenciesReply)
FIND_PATH = Rpc("atlas.find_path", FindPathRequest, FindPathReply)
IMPACT = Rpc("atlas.impact", ImpactRequest, ImpactReply)
