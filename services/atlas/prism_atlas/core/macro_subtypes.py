"""Subtypes that calls of macros declare: `impl Gate for $name` in a definition, `gate!(Barrier, …)` where it is called.

In: lines that name the type and were not resolved, and the text of the calls. Out: a subtype per call, by its lines.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from prism_atlas.core.answering.common import nodes_at
from prism_atlas.core.graph import NONE, SYMBOL_KINDS, Graph
from prism_atlas.core.rendering import UsingLine, render_node
from prism_contracts.code import SymbolKind
from prism_contracts.rpc.graph import GraphNode, MacroSubtype, MacroSubtypes
from prism_contracts.rpc.symbols import TextLine
from prism_resolver.macro_calls import call_at

# Calls of one macro whose text is read.
CALLS_MAX = 60

_MACRO = SYMBOL_KINDS.index(SymbolKind.MACRO)
_LANGUAGE = "rust"


class ImplementingMacro(NamedTuple):
    """A macro that implements a type, where it does so, and the lines of its calls at top level."""

    node: int
    line: TextLine
    calls: Sequence[UsingLine]


def lines_in_macros(graph: Graph, root: GraphNode) -> list[UsingLine]:
    """Returns the lines in definitions of macros that resolve to a type."""
    references, symbols = graph.references, graph.symbols
    found = [int(one) for node in nodes_at(graph, [root]) for one in graph.meaning(node)]
    return [
        UsingLine(graph.path(graph.file_of(source)), int(references.line[one]))
        for one in found
        for source in [int(references.source[one])]
        if not graph.is_file(source) and symbols.kind[source] == _MACRO
    ]


def implementing_macros(
    graph: Graph, root: GraphNode, lines: Iterable[TextLine]
) -> Iterator[ImplementingMacro]:
    """Yields the macros whose definitions implement the type for one of their parameters."""
    name = root.symbol.rpartition(".")[2]
    implementing = re.compile(rf"\s*(?:unsafe\s+)?impl\b.*\b{re.escape(name)}\b.*\sfor\s.*\$\w")
    known: set[int] = set()
    for line in lines:
        node = _macro_at(graph, line) if implementing.match(line.text) else NONE
        if node != NONE and node not in known:
            known.add(node)
            yield ImplementingMacro(node, line, _calls(graph, node))


def macro_subtypes(graph: Graph, macro: ImplementingMacro, texts: Sequence[str | None]) -> MacroSubtypes:
    """Returns the subtypes. `texts` begin at the calls, in their order; None where one could not be read."""
    calls = []
    for place, text in zip(macro.calls, texts, strict=False):
        found = call_at(text.split("\n"), 1, _LANGUAGE) if text is not None else None
        calls.append(
            MacroSubtype(
                name=found.argument if found else "",
                file_path=place.path,
                start_line=place.number,
                end_line=place.number + (found.last - 1 if found else 0),
            )
        )
    node = render_node(graph, macro.node)
    return MacroSubtypes(
        macro=node, line=macro.line.line, text=macro.line.text, calls=tuple(calls), total=len(macro.calls)
    )


def _macro_at(graph: Graph, line: TextLine) -> int:
    """Returns the macro whose definition contains a line; NONE if none does."""
    file, symbols = graph.find_file(line.file_path), graph.symbols
    for node in graph.symbols_of(file) if file != NONE else ():
        if symbols.kind[node] == _MACRO and symbols.start_line[node] <= line.line <= symbols.end_line[node]:
            return int(node)
    return NONE


def _calls(graph: Graph, macro: int) -> list[UsingLine]:
    """Returns the lines at top level that call a macro, by file."""
    references = graph.references
    meaning = np.unique(graph.meaning(macro))
    sources = references.source[meaning]
    top = meaning[sources >= len(graph.symbols)]
    places = {
        UsingLine(graph.path(graph.file_of(int(references.source[one]))), int(references.line[one]))
        for one in top.tolist()
    }
    own = int(graph.symbols.start_line[macro]), int(graph.symbols.end_line[macro])
    path = graph.path(graph.file_of(macro))
    return sorted(one for one in places if one.path != path or not own[0] <= one.number <= own[1])
