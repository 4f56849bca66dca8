"""What the text says of a definition without a use: each line with its name is explained, or a reason to doubt."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph
from prism_atlas.core.unused.reach import RESOLVED, export_lists
from prism_atlas.core.unused.rules import pieces_of
from prism_atlas.core.uses import references_by_name
from prism_contracts.code import Flag, SymbolKind
from prism_contracts.rpc.unused import DoubtReason, NamedIn, UnusedGroup, UseDoubt

# What configuration and prose define: the key of a line says nothing of its value.
DATA_KINDS = frozenset({SymbolKind.KEY, SymbolKind.SECTION, SymbolKind.RULE})
# Doubts because of which a definition is not called unused.
OPEN = frozenset(
    {
        DoubtReason.TEXT,
        DoubtReason.COMPUTED_NAME,
        DoubtReason.CROWDED,
        DoubtReason.REGISTERED,
        DoubtReason.INHERITED,
        DoubtReason.IMPLICIT,
        DoubtReason.NOT_READ,
    }
)


class TextPlace(NamedTuple):
    """A line with a name."""

    path: str
    line: int
    place: NamedIn


class NameLines:
    """Lines by name."""

    def __init__(self, lines: Mapping[str, Iterable[int]], crowded: Iterable[str]) -> None:
        """`lines` are by name, place and path, separated by tabs."""
        self._of: dict[str, list[TextPlace]] = defaultdict(list)
        for key, numbers in lines.items():
            name, place, path = key.split("\t", 2)
            self._of[name] += [TextPlace(path, number, NamedIn(place)) for number in numbers]
        self.crowded = frozenset(crowded)

    def of(self, name: str) -> list[TextPlace]:
        """Returns the lines with a name."""
        return self._of.get(name, [])


class UseEvidence(NamedTuple):
    """What was looked at for a definition."""

    doubts: tuple[UseDoubt, ...]
    text_lines: int  # of code and strings
    mentions: int  # of comments and prose
    namesakes: int
    references_elsewhere: int


def sought_names(name: str) -> list[str]:
    """Returns the words of text that may mean a definition: its name, and the pieces that code may compose it from."""
    return [name, *pieces_of(name)]


class TextEvidence:
    """Compares definitions with the text."""

    def __init__(self, graph: Graph, lines: NameLines) -> None:
        self._graph = graph
        self._lines = lines
        self._explained: dict[str, frozenset[tuple[str, int]]] = {}
        self._has_meaning = np.zeros(len(graph.references), np.bool_)
        self._has_meaning[graph.meanings.reference] = True
        self._export_lists = export_lists(graph)

    def of(self, node: int, group: UnusedGroup) -> UseEvidence:
        """Returns what the text says of a definition that the graph puts in a group."""
        graph = self._graph
        name = graph.strings[graph.symbols.name[node]]
        places = self._lines.of(name)
        text = [one for one in places if one.place in {NamedIn.CODE, NamedIn.STRING}]
        open_ = [one for one in text if not self._is_explained(one, node, name, group)]
        doubts = [_doubt(DoubtReason.TEXT, open_)] if open_ else []
        composed = [
            one
            for piece in pieces_of(name)
            for one in self._lines.of(piece)
            if one.place is NamedIn.STRING and not self._is_own(one, node)
        ]
        if composed:
            doubts.append(_doubt(DoubtReason.COMPUTED_NAME, composed))
        if name in self._lines.crowded:
            doubts.append(UseDoubt(reason=DoubtReason.CROWDED))
        elsewhere = len(graph.references_to(name)) - len(graph.meaning(node))
        if elsewhere > 0:
            doubts.append(UseDoubt(reason=DoubtReason.NAMESAKE, total=elsewhere))
        return UseEvidence(
            tuple(doubts),
            text_lines=len(text),
            mentions=len(places) - len(text),
            namesakes=len(graph.named(name)) - 1,
            references_elsewhere=max(0, elsewhere),
        )

    def _is_explained(self, one: TextPlace, node: int, name: str, group: UnusedGroup) -> bool:
        if (one.path, one.line) in self._lines_of_graph(name) or self._is_own(one, node):
            return True
        if group is UnusedGroup.TESTS_ONLY and self._is_test(one.path):
            return True
        return any(first <= one.line <= last for first, last in self._export_lists.get(one.path, ()))

    def _is_own(self, one: TextPlace, node: int) -> bool:
        """Whether a line is in the definition itself."""
        symbols = self._graph.symbols
        is_inside = symbols.start_line[node] <= one.line <= symbols.end_line[node]
        return bool(is_inside) and self._graph.path(self._graph.file_of(node)) == one.path

    def _is_test(self, path: str) -> bool:
        file = self._graph.find_file(path)
        return file != NONE and Flag.TEST in self._graph.strings[self._graph.files.flags[file]]

    def _lines_of_graph(self, name: str) -> frozenset[tuple[str, int]]:
        """Returns the lines that define the name or refer to it: the walk took each of them for what it means.

        What a reference to something outside of the repository means is no proof: its import may not have been found.
        """
        if name not in self._explained:
            graph = self._graph
            references = references_by_name(graph, name)
            outside = (graph.references.status[references] == RESOLVED) & ~self._has_meaning[references]
            references = references[~outside]
            files = graph.files_of(graph.references.source[references]).tolist()
            lines = graph.references.line[references].tolist()
            defined = [
                (graph.path(graph.file_of(node)), int(graph.symbols.name_line[node]))
                for node in graph.named(name).tolist()
                if SYMBOL_KINDS[graph.symbols.kind[node]] not in DATA_KINDS
            ]
            used = [(graph.path(file), line) for file, line in zip(files, lines, strict=True)]
            self._explained[name] = frozenset([*defined, *used])
        return self._explained[name]


def _doubt(reason: DoubtReason, places: list[TextPlace]) -> UseDoubt:
    first = places[0]
    return UseDoubt(reason=reason, file_path=first.path, line=first.line, total=len(places))
