"""Which affected symbols of an impact to compare with the text, and what the text adds about their users."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.answering.common import nodes_at
from prism_atlas.core.graph import EDGE_STATUSES, Graph
from prism_atlas.core.uses import find_uses
from prism_contracts.code import EdgeStatus, SymbolKind
from prism_contracts.rpc.graph import AffectedNode, ComparedLevels, ImpactReply
from prism_contracts.rpc.symbols import Reconciliation, TextLine

# Names of one impact that are compared with the text.
NAMES_MAX = 20
UNEXPLAINED_SHOWN_MAX = 8
NAMES_SHOWN_MAX = 3

_CANDIDATE = EDGE_STATUSES.index(EdgeStatus.CANDIDATE)


class SoughtLevels(NamedTuple):
    """The names of whole levels, as many as fit: the qualified names of their symbols, by last name."""

    symbols: dict[str, list[AffectedNode]]
    levels: int
    left_out: int  # names of further levels


def sought_levels(reply: ImpactReply) -> SoughtLevels:
    """Returns the symbols of a reply whose users are affected too: the sure ones before the last level."""
    chosen: dict[str, list[AffectedNode]] = {}
    for level in range(1, reply.depth):
        found: dict[str, list[AffectedNode]] = {}
        for one in reply.affected:
            if one.distance == level and one.status is EdgeStatus.RESOLVED and one.node.symbol:
                found.setdefault(_last(_named(one)), []).append(one)
        if len(chosen.keys() | found.keys()) > NAMES_MAX:
            further = {_last(_named(one)) for one in _followed(reply) if one.distance >= level}
            return SoughtLevels(chosen, level - 1, len(further - chosen.keys()))
        for name, symbols in found.items():
            chosen.setdefault(name, []).extend(symbols)
    return SoughtLevels(chosen, max(0, reply.depth - 1), 0)


def names_of(sought: SoughtLevels) -> list[str]:
    """Returns a qualified name for each name."""
    return [_named(symbols[0]) for symbols in sought.symbols.values()]


def compared_levels(
    graph: Graph, reply: ImpactReply, sought: SoughtLevels, texts: Sequence[Reconciliation]
) -> ComparedLevels:
    """Returns what the text and the graph say of the users of some symbols. `texts` are in order of their names."""
    by_name = _unlisted(graph, reply, sought)
    unexplained = Counter({text.name: text.unexplained for text in texts if text.unexplained})
    # A word that many lines have is seldom the symbol.
    rarest = sorted(texts, key=lambda text: text.unexplained)
    lines = list(_each_once(line for text in rarest for line in text.unexplained_lines))
    return ComparedLevels(
        levels=sought.levels,
        names=len(sought.symbols),
        names_left_out=sought.left_out,
        text_lines=sum(text.text_lines for text in texts),
        by_name=by_name.total(),
        by_name_of=tuple(name for name, _ in by_name.most_common(NAMES_SHOWN_MAX)),
        unexplained=unexplained.total(),
        unexplained_of=tuple(name for name, _ in unexplained.most_common(NAMES_SHOWN_MAX)),
        unexplained_lines=tuple(lines[:UNEXPLAINED_SHOWN_MAX]),
        files_left_out=max((text.files_left_out for text in texts), default=0),
    )


def _unlisted(graph: Graph, reply: ImpactReply, sought: SoughtLevels) -> Counter[str]:
    """Counts by name the uses that only the name supports, of functions that the reply does not list and no test has."""
    shown = [*(one.node for one in reply.affected), *(one.node for one in reply.changed)]
    files = [graph.file_node(graph.find_file(node.file_path)) for node in shown if not node.symbol]
    listed = np.array([*nodes_at(graph, shown), *files], np.int32)
    in_tests = graph.in_tests()
    counts: Counter[str] = Counter()
    for name, symbols in sought.symbols.items():
        targets = [
            _owner(graph, node) if _is_maker(one) else node
            for one in symbols
            for node in nodes_at(graph, [one.node])
        ]
        if targets:
            uses = find_uses(graph, name, targets)
            sources = graph.references.source[uses.reference[uses.status == _CANDIDATE]]
            counts[name] += int(np.count_nonzero(~np.isin(sources, listed) & ~in_tests[sources]))
    return +counts


def _followed(reply: ImpactReply) -> Iterable[AffectedNode]:
    return (
        one
        for one in reply.affected
        if one.distance < reply.depth and one.status is EdgeStatus.RESOLVED and one.node.symbol
    )


def _named(one: AffectedNode) -> str:
    """Returns the qualified name under which a symbol is used: that of its class for a constructor."""
    return one.node.symbol.rpartition(".")[0] if _is_maker(one) else one.node.symbol


def _is_maker(one: AffectedNode) -> bool:
    return one.node.kind is SymbolKind.CONSTRUCTOR and "." in one.node.symbol


def _owner(graph: Graph, node: int) -> int:
    parent = int(graph.symbols.parent[node])
    return parent if parent >= 0 else node


def _each_once(lines: Iterable[TextLine]) -> Iterable[TextLine]:
    return {(line.file_path, line.line): line for line in lines}.values()


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]
