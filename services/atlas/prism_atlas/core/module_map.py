"""The module map of a repository: its most depended-upon files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Codes, Graph, Numbers
from prism_atlas.core.links import FLAGGED_WEIGHT, Weights, flagged_files
from prism_atlas.core.ranking import DEFINITION_KINDS, TIERS, file_ranks, module_order
from prism_atlas.core.relevance import file_relevance, words_of
from prism_contracts.code import SymbolKind
from prism_contracts.rpc.maps import Tier
from prism_store.globs import compile_glob

# For a query, the random walk returns to its start often, so that distant dependencies count less.
QUERY_DAMPING = 0.5
# For a query, the share of the rank that a file's own names decide; the rest is what named files depend on.
NAMED_SHARE = 0.7
# Files below this share of the best rank are not relevant to a query.
RELEVANT_SHARE_MIN = 0.02
TOP_SYMBOLS = 5
# A module within a file only encloses other definitions.
SHOWN_KINDS = DEFINITION_KINDS - {SymbolKind.MODULE, SymbolKind.NAMESPACE}
_IS_SHOWN = np.array([kind in SHOWN_KINDS for kind in SYMBOL_KINDS])  # by code


class RankedFile(NamedTuple):
    """A file of the map."""

    file: int
    tier: Tier
    relative_score: float


@dataclass(frozen=True, slots=True)
class ModuleMap:
    """Files of a repository, best first."""

    files: Numbers
    rank: NDArray[np.floating]  # by file of the repository
    tier: Codes  # by file of the repository, of TIERS

    def page(self, start: int, end: int) -> list[RankedFile]:
        """Returns some entries. The tier is absolute, the score is relative to the best file."""
        best = self.rank[self.files[0]] if len(self.files) and self.rank[self.files[0]] > 0 else 1.0
        return [
            RankedFile(file, TIERS[self.tier[file]], round(float(self.rank[file] / best), 4))
            for file in self.files[start:end].tolist()
        ]

    def tiers(self) -> dict[Tier, int]:
        """Returns how many files each tier has."""
        counts = np.bincount(self.tier[self.files], minlength=len(TIERS))
        return dict(zip(TIERS, counts.tolist(), strict=True))


def modules(analysis: Analysis, query: str = "", path_filter: str = "") -> ModuleMap:
    """Returns the code files that match the glob; with a query only relevant ones, most relevant first."""
    graph, files = analysis.graph, analysis.modules
    rank: NDArray[np.floating] = analysis.ranks.file
    if words := words_of(query):
        rank = _personal_ranks(analysis, words)
        is_relevant = rank > RELEVANT_SHARE_MIN * rank.max(initial=0)
        files = module_order(graph, analysis.links, rank)
        files = files[is_relevant[files]]
    if path_filter:
        glob = compile_glob(path_filter)
        files = files[[glob.fullmatch(graph.path(file)) is not None for file in files.tolist()]]
    return ModuleMap(files, rank, analysis.ranks.tier)


def top_symbols(analysis: Analysis, files: Sequence[int], count: int = TOP_SYMBOLS) -> list[int]:
    """Returns the top-level definitions of these files with the most dependents.

    The files must be distinct. A class includes the dependents of its members.
    """
    graph = analysis.graph
    table = graph.symbols
    symbols = np.array([symbol for file in files for symbol in graph.symbols_of(file)], np.int32)
    parents = table.parent[symbols]
    rank = dict(zip(symbols.tolist(), analysis.ranks.node[symbols].tolist(), strict=True))
    for symbol, parent in zip(reversed(rank), reversed(parents.tolist()), strict=True):
        if parent in rank:
            rank[parent] += rank[symbol]
    is_top = (parents == NONE) & _IS_SHOWN[table.kind[symbols]]
    top = symbols[is_top]
    summed = np.array(list(rank.values()))[is_top]
    # On a tie, exported definitions come first, then the longest.
    lines = table.end_line[top] - table.start_line[top]
    order = np.lexsort((-lines, ~table.exported[top], -summed))
    return [int(symbol) for symbol in top[order[:count]]]


def symbol_label(graph: Graph, symbol: int) -> str:
    """Returns a symbol as it is shown: `class Session`."""
    kind = SYMBOL_KINDS[graph.symbols.kind[symbol]]
    return f"{kind.value} {graph.strings[graph.symbols.qualified_name[symbol]]}"


def _personal_ranks(analysis: Analysis, words: list[str]) -> Weights:
    """Returns ranks for a query: files that its words name, and what those depend on."""
    named = file_relevance(analysis.graph, words)
    named *= np.where(flagged_files(analysis.graph), FLAGGED_WEIGHT, 1.0)
    if not named.any():
        return named
    reached = file_ranks(analysis.links, named, QUERY_DAMPING)
    ranks: Weights = NAMED_SHARE * named / named.sum() + (1 - NAMED_SHARE) * reached
    return ranks
