"""Which symbols of an answer to compare with the text beside its root, and what the text adds about their users."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.answering.common import nodes_at
from prism_atlas.core.graph import EDGE_STATUSES, REFERENCE_KINDS, STRATEGIES, Graph, Numbers
from prism_atlas.core.rendering import UsingLine, render_node
from prism_atlas.core.uses import find_uses
from prism_contracts.code import EdgeStatus, ReferenceKind, Strategy, SymbolKind
from prism_contracts.rpc.common import EnclosingSymbol
from prism_contracts.rpc.graph import (
    CallHierarchyReply,
    ComparedLevels,
    GraphNode,
    ImpactReply,
    TreeBranch,
)
from prism_contracts.rpc.symbols import Reconciliation, TextLine

# Names of one answer that are compared with the text.
NAMES_MAX = 20
UNEXPLAINED_SHOWN_MAX = 8
BY_NAME_SHOWN_MAX = 20

_CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)
_BY_NAME = [STRATEGIES.index(one) for one in (Strategy.NAME, Strategy.ONLY_DEFINITION)]
_CALL = REFERENCE_KINDS.index(ReferenceKind.CALL)


class ListedUser(NamedTuple):
    """A symbol that an answer lists; `sure` if resolved edges alone lead to it."""

    node: GraphNode
    distance: int
    sure: bool


class ListedUsers(NamedTuple):
    """The symbols of an answer. Uses of `roots` other than calls are not among them if `calls_only`."""

    roots: Sequence[GraphNode]
    users: Sequence[ListedUser]
    depth: int
    calls_only: bool = False


class SoughtLevels(NamedTuple):
    """The names of whole levels, as many as fit: the qualified names of their symbols, by last name."""

    symbols: dict[str, list[ListedUser]]
    levels: int
    left_out: int  # names of further levels


class UnlistedUses(NamedTuple):
    """Uses that only a name supports and that an answer does not list: their number by name, and their lines."""

    counts: Counter[str]
    total: int  # number of lines
    lines: list[TextLine]  # without their text, the first ones


def affected_listing(reply: ImpactReply) -> ListedUsers:
    """Returns what an impact lists."""
    users = [ListedUser(one.node, one.distance, one.status is EdgeStatus.RESOLVED) for one in reply.affected]
    return ListedUsers([one.node for one in reply.changed], users, reply.depth)


def callers_listing(reply: CallHierarchyReply, depth: int) -> ListedUsers:
    """Returns what a tree of callers lists."""
    sure: list[bool] = []
    for branch in reply.branches:
        above = branch.parent < 0 or sure[branch.parent]
        sure.append(above and branch.via.status is EdgeStatus.RESOLVED)
    users = [
        ListedUser(branch.node, branch.depth, is_sure and _is_followed(branch))
        for branch, is_sure in zip(reply.branches, sure, strict=True)
    ]
    return ListedUsers(reply.roots, users, depth, calls_only=True)


def _is_followed(branch: TreeBranch) -> bool:
    # Callers of tests are not followed into the text: it is read without tests.
    return not branch.node.test


def sought_levels(listing: ListedUsers) -> SoughtLevels:
    """Returns the symbols of an answer whose users are listed too: the sure ones before the last level."""
    chosen: dict[str, list[ListedUser]] = {}
    for level in range(1, listing.depth):
        found: dict[str, list[ListedUser]] = {}
        for one in listing.users:
            if one.distance == level and one.sure and one.node.symbol:
                found.setdefault(_last(_named(one.node)), []).append(one)
        if len(chosen.keys() | found.keys()) > NAMES_MAX:
            further = {_last(_named(one.node)) for one in _followed(listing) if one.distance >= level}
            return SoughtLevels(chosen, level - 1, len(further - chosen.keys()))
        for name, symbols in found.items():
            chosen.setdefault(name, []).extend(symbols)
    return SoughtLevels(chosen, max(0, listing.depth - 1), 0)


def names_of(sought: SoughtLevels) -> list[str]:
    """Returns a qualified name for each name."""
    return [_named(symbols[0].node) for symbols in sought.symbols.values()]


def compared_levels(
    graph: Graph, listing: ListedUsers, sought: SoughtLevels, texts: Sequence[Reconciliation]
) -> ComparedLevels:
    """Returns what the text and the graph say of the users of some symbols. `texts` are in order of their names."""
    by_name = unlisted_uses(graph, listing, sought)
    unexplained = Counter({text.name: text.unexplained for text in texts if text.unexplained})
    # A word that many lines have is seldom the symbol.
    rarest = sorted(texts, key=lambda text: text.unexplained)
    every = [line for text in rarest for line in text.unexplained_lines]
    lines = list(_each_once(every))
    return ComparedLevels(
        levels=sought.levels,
        names=len(sought.symbols),
        names_left_out=sought.left_out,
        text_lines=sum(text.text_lines for text in texts),
        by_name=by_name.total,
        by_name_of=tuple(name for name, _ in by_name.counts.most_common()),
        by_name_lines=tuple(by_name.lines),
        # A line may contain several of the names.
        unexplained=unexplained.total() - (len(every) - len(lines)),
        unexplained_of=tuple(name for name, _ in unexplained.most_common()),
        unexplained_lines=tuple(lines[:UNEXPLAINED_SHOWN_MAX]),
        files_left_out=max((text.files_left_out for text in texts), default=0),
    )


def by_name_lines(compared: ComparedLevels) -> list[UsingLine]:
    """Returns the places of the uses by name only."""
    return [UsingLine(line.file_path, line.line) for line in compared.by_name_lines]


def unlisted_uses(graph: Graph, listing: ListedUsers, sought: SoughtLevels) -> UnlistedUses:
    """Returns the uses that only the name supports, of functions that the answer does not list and no test has."""
    counts: Counter[str] = Counter()
    found: dict[str, Numbers] = {}
    asked = _asked(graph, listing, sought)
    listed = _listed(graph, listing) if asked else np.array([], np.int32)
    in_tests = graph.in_tests()
    for name, symbols in asked.items():
        targets = [
            _owner(graph, node) if _is_maker(one) else node
            for one in symbols
            for node in nodes_at(graph, [one])
        ]
        if targets:
            uses = find_uses(graph, name, targets)
            references = uses.reference[uses.status == _CANDIDATE]
            sources = graph.references.source[references]
            references = references[~np.isin(sources, listed) & ~in_tests[sources]]
            if name not in sought.symbols:
                references = references[graph.references.kind[references] != _CALL]
            counts[name] += len(references)
            found[name] = references
    # A name that few lines have is more often the symbol; a call of it, more often than another use.
    ordered = [
        int(one)
        for name in sorted(found, key=lambda name: counts[name])
        for one in found[name][np.argsort(graph.references.kind[found[name]] != _CALL, kind="stable")]
    ]
    files = graph.files_of(graph.references.source[ordered])
    # Each line once, where its first reference is.
    places = files.astype(np.int64) << 32 | graph.references.line[ordered]
    first = np.sort(np.unique(places, return_index=True)[1])
    shown = [ordered[position] for position in first[:BY_NAME_SHOWN_MAX].tolist()]
    return UnlistedUses(+counts, len(first), [_line(graph, one) for one in shown])


def _listed(graph: Graph, listing: ListedUsers) -> Numbers:
    """Returns the nodes of an answer, top levels of files included."""
    shown = [*(one.node for one in listing.users), *listing.roots]
    files = [graph.file_node(graph.find_file(node.file_path)) for node in shown if not node.symbol]
    return np.array([*nodes_at(graph, shown), *files], np.int32)


def _asked(graph: Graph, listing: ListedUsers, sought: SoughtLevels) -> dict[str, list[GraphNode]]:
    """Returns by name the symbols whose uses by name are sought: of a tree of calls those of the root too.

    A root has such uses only if its name is used by name in other ways than by calls.
    """
    asked = {name: [one.node for one in users] for name, users in sought.symbols.items()}
    for root in listing.roots if listing.calls_only else ():
        name = _last(_named(root))
        references = graph.references_to(name)
        is_other = graph.references.kind[references] != _CALL
        is_other &= np.isin(graph.references.strategy[references], _BY_NAME)
        if root.symbol and name not in sought.symbols and is_other.any():
            asked.setdefault(name, []).append(root)
    return asked


def _line(graph: Graph, reference: int) -> TextLine:
    source = int(graph.references.source[reference])
    node = render_node(graph, source)
    around = EnclosingSymbol(
        name=node.title, start_line=node.start_line, end_line=node.end_line, outer=node.outer
    )
    return TextLine(
        repo="",
        file_path=node.file_path,
        line=int(graph.references.line[reference]),
        text="",
        enclosing=around if node.symbol else None,
    )


def _followed(listing: ListedUsers) -> Iterable[ListedUser]:
    return (one for one in listing.users if one.distance < listing.depth and one.sure and one.node.symbol)


def _named(node: GraphNode) -> str:
    """Returns the qualified name under which a symbol is used: that of its class for a constructor."""
    return node.symbol.rpartition(".")[0] if _is_maker(node) else node.symbol


def _is_maker(node: GraphNode) -> bool:
    return node.kind is SymbolKind.CONSTRUCTOR and "." in node.symbol


def _owner(graph: Graph, node: int) -> int:
    parent = int(graph.symbols.parent[node])
    return parent if parent >= 0 else node


def _each_once(lines: Iterable[TextLine]) -> Iterable[TextLine]:
    return {(line.file_path, line.line): line for line in lines}.values()


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
