"""The map of a repository: its files by how much hangs on them."""

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph
from prism_atlas.core.links import QUIET_WEIGHT, Weights, quiet_files
from prism_atlas.core.ranking import file_ranks, tiers
from prism_atlas.core.relevance import file_relevance, words_of
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS, SymbolKind
from prism_contracts.rpc import Tier

# A walker who asked for something goes back to it often: what it finds on the way counts less.
QUERY_DAMPING = 0.5
# Of a file's rank for a question, what its own names decide; the rest is what hangs on it among what is named.
NAMED_SHARE = 0.7
# Of the best one's rank: what has less has nothing to do with the question.
RELEVANT_SHARE_MIN = 0.02
TOP_SYMBOLS = 5
DEFINITION_KINDS = CALLABLE_KINDS | TYPE_KINDS
# A module within a file says only what is around.
SHOWN_KINDS = DEFINITION_KINDS - {SymbolKind.MODULE, SymbolKind.NAMESPACE}


class Module(NamedTuple):
    """A file of the map."""

    file: int
    tier: Tier
    relative_score: float


def modules(analysis: Analysis, query: str, keeps: Callable[[str], bool]) -> list[Module]:
    """Files of code that a filter of paths keeps, best first; with a query those alone that have to do with it.

    The tier is that within the whole repository, the score is relative to the best file of the answer.
    """
    graph = analysis.graph
    tier = tiers(analysis.ranks.file)
    rank = analysis.ranks.file.astype(np.float64)
    is_module = _has_code(analysis)
    if words := words_of(query):
        rank = _personal_ranks(analysis, words)
        is_module &= rank > RELEVANT_SHARE_MIN * rank.max(initial=0)
    order = np.lexsort((quiet_files(graph), -rank))
    files = [file for file in order.tolist() if is_module[file] and keeps(graph.path(file))]
    best = rank[files[0]] if files and rank[files[0]] > 0 else 1.0
    return [Module(file, tier[file], round(float(rank[file] / best), 4)) for file in files]


def top_symbols(analysis: Analysis, files: Sequence[int], count: int = TOP_SYMBOLS) -> list[int]:
    """The definitions outside of others that most hangs on; that of a class counts what hangs on its members."""
    graph = analysis.graph
    rank = {symbol: float(analysis.ranks.node[symbol]) for file in files for symbol in graph.symbols_of(file)}
    for symbol in reversed(rank):
        parent = int(graph.symbols.parent[symbol])
        if parent in rank:
            rank[parent] += rank[symbol]
    # Of equal ones those that can be used from outside, then the longest.
    return heapq.nsmallest(
        count,
        (symbol for symbol in rank if _is_top(graph, symbol)),
        key=lambda symbol: (-rank[symbol], not graph.symbols.exported[symbol], -_lines(graph, symbol)),
    )


def spelled(graph: Graph, symbol: int) -> str:
    """A symbol as it is told: `class Session`."""
    kind = SYMBOL_KINDS[graph.symbols.kind[symbol]]
    return f"{kind.value} {graph.strings[graph.symbols.qualified_name[symbol]]}"


def _personal_ranks(analysis: Analysis, words: list[str]) -> Weights:
    """What the words name, and what hangs together with it."""
    named = file_relevance(analysis.graph, words)
    named *= np.where(quiet_files(analysis.graph), QUIET_WEIGHT, 1.0)
    if not named.any():
        return named
    reached = file_ranks(analysis.links, named, QUERY_DAMPING)
    ranks: Weights = NAMED_SHARE * named / named.sum() + (1 - NAMED_SHARE) * reached
    return ranks


def _has_code(analysis: Analysis) -> NDArray[np.bool_]:
    """By file, whether it defines something, or something hangs on it or it on something."""
    graph, links = analysis.graph, analysis.links
    codes = [code for code, kind in enumerate(SYMBOL_KINDS) if kind in DEFINITION_KINDS]
    has_code = np.zeros(len(graph.files), np.bool_)
    has_code[graph.symbols.file[np.isin(graph.symbols.kind, codes)]] = True
    has_code[links.source] = has_code[links.target] = True
    return has_code


def _is_top(graph: Graph, symbol: int) -> bool:
    kind = SYMBOL_KINDS[graph.symbols.kind[symbol]]
    return bool(graph.symbols.parent[symbol] == NONE) and kind in SHOWN_KINDS


def _lines(graph: Graph, symbol: int) -> int:
    return int(graph.symbols.end_line[symbol] - graph.symbols.start_line[symbol])
