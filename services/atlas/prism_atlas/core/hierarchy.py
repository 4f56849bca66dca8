"""Trees of callers, callees, supertypes and subtypes.

Breadth first and bounded: each node is expanded once. The most certain children are shown, others counted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import EDGE_STATUSES, NONE, SYMBOL_KINDS, Graph, Mask, Numbers
from prism_atlas.core.overriding import CONSTRUCTOR_NAMES, INHERITS
from prism_atlas.core.traversal import BY_NAME, TraversalStep, follow, step, within
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, EdgeKind, EdgeStatus, SymbolKind

# For a whole tree, at any depth.
BRANCHES_MAX = 400

IS_TYPE = np.isin(SYMBOL_KINDS, list(TYPE_KINDS))
CALLABLE = np.isin(SYMBOL_KINDS, list(CALLABLE_KINDS))
CONSTRUCTOR = SYMBOL_KINDS.index(SymbolKind.CONSTRUCTOR)
MACRO = SYMBOL_KINDS.index(SymbolKind.MACRO)
CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)


class Expansion(NamedTuple):
    """How a tree grows: the edges to follow, and the nodes whose edges count as a node's own."""

    steps: tuple[TraversalStep, ...]
    origins: Callable[[Graph, int], Numbers]
    tests: bool = True  # also to nodes in tests
    # A file that exports a type under another name is no subtype.
    types: bool = False


class MergedEdge(NamedTuple):
    """All edges between a branch and its parent, merged. `edge` is the most certain of them."""

    node: int
    edge: int
    lines: tuple[int, ...]  # of the edges, ascending


@dataclass(slots=True)
class Branch:
    """A node at one place of a tree."""

    link: MergedEdge
    parent: int  # position of the parent branch; NONE for children of the root
    depth: int  # from 1
    # Position of the branch that expands the same node; NONE if that is this one, or none does.
    same: int = NONE
    recursive: bool = False  # an ancestor is the same node
    left_out: int = 0  # children that are not shown


@dataclass(slots=True)
class Tree:
    """A root's descendants. A branch comes after its parent."""

    total: int  # children of the root, shown or not
    candidates: int  # those of them that no resolved edge reaches
    tests_left_out: int = 0  # further children of the root, in tests
    branches: list[Branch] = field(default_factory=list)
    # Branches that were not expanded although they have children: too deep, or matched by name only.
    too_deep: list[int] = field(default_factory=list)
    by_name: list[int] = field(default_factory=list)


def callers(*, candidates: bool, tests: bool = True) -> Expansion:
    """Expands to the callers of a symbol, and to the callers of what it overrides."""
    calls = _steps([EdgeKind.CALLS], candidates=candidates, forward=False)
    overridden = _steps([EdgeKind.OVERRIDES], candidates=candidates, forward=True)
    return Expansion((calls, overridden), called_nodes, tests)


def callees(*, candidates: bool, tests: bool = True) -> Expansion:
    """Expands to what a symbol calls, and to overrides that may run instead."""
    calls = _steps([EdgeKind.CALLS], candidates=candidates, forward=True)
    overriding = _steps([EdgeKind.OVERRIDES], candidates=candidates, forward=False)
    return Expansion((calls, overriding), executed_nodes, tests)


def supertypes(*, candidates: bool, tests: bool = True) -> Expansion:
    """Expands to what a type extends or implements, and to the type that it is another name for."""
    return Expansion(
        (_steps(INHERITANCE, candidates=candidates, forward=True),), only_itself, tests, types=True
    )


def subtypes(*, candidates: bool, tests: bool = True) -> Expansion:
    """Expands to what extends or implements a type, and to its other names."""
    return Expansion(
        (_steps(INHERITANCE, candidates=candidates, forward=False),), only_itself, tests, types=True
    )


def grow(
    graph: Graph,
    roots: Numbers,
    expansion: Expansion,
    depth_max: int,
    *,
    width: int,
    start: int = 0,
    definitions: Numbers | None = None,
) -> Tree:
    """Returns the tree below some nodes that are one symbol, among them its `definitions`.

    `width` bounds the children of each node; the root's children are shown from the one at `start` on.
    """
    below = _Children(graph, roots, expansion, roots[:0] if definitions is None else definitions)
    tree = Tree(len(below), below.candidates, below.tests_left_out)
    _add(tree, below.shown(start, width), NONE, 1)
    expanded = dict.fromkeys(roots.tolist(), NONE)
    # The list grows while it is read.
    for position, branch in enumerate(tree.branches):
        node = branch.link.node
        if node in expanded:
            branch.same = expanded[node]
            branch.recursive = branch.same == NONE or branch.same in _above(tree, position)
        elif not _leads_on(graph, branch.link.edge):
            tree.by_name.append(position)
        elif branch.depth >= depth_max + _is_macro(graph, node):  # a macro runs where it is expanded
            tree.too_deep.append(position)
        else:
            expanded[node] = position
            below = _Children(graph, expansion.origins(graph, node), expansion, np.array([node]))
            room = min(width, BRANCHES_MAX - len(tree.branches))
            branch.left_out = max(0, len(below) - room)
            _add(tree, below.shown(0, room), position, branch.depth + 1)
    return replace(
        tree,
        by_name=_with_children(graph, tree, tree.by_name, expansion),
        too_deep=_with_children(graph, tree, tree.too_deep, expansion),
    )


def _is_macro(graph: Graph, node: int) -> bool:
    return not graph.is_file(node) and bool(graph.symbols.kind[node] == MACRO)


def only_itself(_: Graph, node: int) -> Numbers:
    """Returns the node alone."""
    return np.array([node], np.int32)


def with_constructors(graph: Graph, node: int) -> Numbers:
    """Returns a type with its constructors: callers create objects by calling either."""
    return np.append(np.int32(node), _constructors(graph, node))


def called_nodes(graph: Graph, node: int) -> Numbers:
    """Returns what callers name to run a node: a type and its constructors are called by either."""
    return np.append(with_constructors(graph, node), constructed(graph, np.array([node], np.int32)))


def constructed(graph: Graph, nodes: Numbers) -> Numbers:
    """Returns the types of those nodes that are constructors."""
    symbols = graph.symbols
    members = nodes[nodes < len(symbols)]
    parents = symbols.parent[members]
    members, parents = members[parents != NONE], parents[parents != NONE]
    return np.unique(parents[_makes(graph, members) & IS_TYPE[symbols.kind[parents]]])


def executed_nodes(graph: Graph, node: int) -> Numbers:
    """Returns the nodes that run when a symbol is called: all in it, or the constructors of a type."""
    if not graph.is_file(node) and IS_TYPE[graph.symbols.kind[node]]:
        return with_constructors(graph, node)
    return within(graph, node)


INHERITANCE = (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS, EdgeKind.ALIAS)


def _steps(kinds: Iterable[EdgeKind], *, candidates: bool, forward: bool) -> TraversalStep:
    return step(kinds, forward=forward, candidate_cost=int(candidates))


def _constructors(graph: Graph, node: int) -> Numbers:
    if graph.is_file(node) or not IS_TYPE[graph.symbols.kind[node]]:
        return np.array([], np.int32)
    inside = np.asarray(graph.symbols_of(graph.file_of(node)), np.int32)
    return np.compress((graph.symbols.parent[inside] == node) & _makes(graph, inside), inside)


def _makes(graph: Graph, members: Numbers) -> Mask:
    """Returns by member whether it is named as a constructor, or is one."""
    names = [graph.strings.find(name) for name in CONSTRUCTOR_NAMES]
    is_constructor: Mask = graph.symbols.kind[members] == CONSTRUCTOR
    return is_constructor | np.isin(graph.symbols.name[members], names)


def _with_children(graph: Graph, tree: Tree, positions: Sequence[int], expansion: Expansion) -> list[int]:
    """Returns the branches whose nodes have edges to follow."""
    nodes = np.array([tree.branches[position].link.node for position in positions], np.int32)
    going_on: set[int] = set()
    for one in expansion.steps:
        edges, others = follow(graph, nodes, [one])
        edges = edges[expansion.tests | ~_in_test(graph, others)]
        going_on.update((graph.edges.source if one.forward else graph.edges.target)[edges].tolist())
    return [position for position in positions if tree.branches[position].link.node in going_on]


def _in_test(graph: Graph, nodes: Numbers) -> Mask:
    return graph.in_tests()[nodes]


def _add(tree: Tree, links: Iterable[MergedEdge], parent: int, depth: int) -> None:
    tree.branches.extend(Branch(link, parent, depth) for link in links)


def _leads_on(graph: Graph, edge: int) -> bool:
    """Whether to expand the target of an edge. Ambiguous matches by name are shown but not expanded."""
    return int(graph.edges.strategy[edge]) != BY_NAME


def _above(tree: Tree, position: int) -> Iterator[int]:
    while (position := tree.branches[position].parent) != NONE:
        yield position


class _Children:
    """The nodes that one step reaches: most certain first, then code before tests, then by path and line."""

    def __init__(self, graph: Graph, nodes: Numbers, expansion: Expansion, definitions: Numbers) -> None:
        edges, others = follow(graph, nodes, expansion.steps)
        # Edges within the set are shown only if they are recursive: from a node to itself, or from an overload or
        # a nested function to the function.
        source, target = graph.edges.source[edges], graph.edges.target[edges]
        functions = definitions[definitions < len(graph.symbols)]
        functions = functions[CALLABLE[graph.symbols.kind[functions]]]
        is_shown = ~np.isin(others, nodes) | (source == target) | np.isin(target, functions)
        edges, others = edges[is_shown], others[is_shown]
        if expansion.types:
            # `impl Trait for &T` belongs to no type of the repository, so its file is the subtype.
            is_type = (others < len(graph.symbols)) | INHERITS[graph.edges.kind[edges]]
            edges, others = edges[is_type], others[is_type]
        is_wanted = expansion.tests | ~_in_test(graph, others)
        self.tests_left_out = len(np.unique(others[~is_wanted]))
        edges, others = edges[is_wanted], others[is_wanted]
        status = graph.edges.status[edges]
        order = np.lexsort((edges, status, others))
        self._graph = graph
        self._edges = edges[order]
        self._nodes, self._starts = np.unique(others[order], return_index=True)
        best = self._edges[self._starts]
        self._order = np.lexsort((best, _in_test(graph, self._nodes), graph.edges.status[best]))
        self.candidates = int((graph.edges.status[best] == CANDIDATE).sum())

    def __len__(self) -> int:
        return len(self._nodes)

    def shown(self, start: int, count: int) -> list[MergedEdge]:
        """Returns `count` of them from `start` on."""
        return [self._link(int(position)) for position in self._order[start : start + max(count, 0)]]

    def _link(self, position: int) -> MergedEdge:
        ends = np.append(self._starts[1:], len(self._edges))
        edges = self._edges[self._starts[position] : ends[position]]
        lines = np.unique(self._graph.edges.line[edges])
        return MergedEdge(int(self._nodes[position]), int(edges[0]), tuple(lines.tolist()))
