"""What is used from where: everything that may be a use leads on, however uncertain.

A use is a reference that resolves to a definition, or may mean it; an override, in both directions; a symbol in another;
a member that the language calls by itself. A name with many definitions has no edges, so each unresolved reference leads
to its name, and the name to all of its definitions.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prism_atlas.core.graph import (
    EDGE_KINDS,
    EDGE_STATUSES,
    NONE,
    REFERENCE_KINDS,
    SYMBOL_KINDS,
    Graph,
    Mask,
    Numbers,
)
from prism_atlas.core.unused.rules import NOMINAL, SHARED_IN_FOLDER, SPECIAL_NAMES, is_special
from prism_contracts.code import EdgeKind, EdgeStatus, ReferenceKind, SymbolKind

IMPORTS = EDGE_KINDS.index(EdgeKind.IMPORTS)
OVERRIDES = EDGE_KINDS.index(EdgeKind.OVERRIDES)
IMPORT = REFERENCE_KINDS.index(ReferenceKind.IMPORT)
RESOLVED = EDGE_STATUSES.index(EdgeStatus.RESOLVED)

# The list of what a module exports: a name in it is no use.
EXPORT_LISTS = frozenset({"__all__"})
METHOD = SYMBOL_KINDS.index(SymbolKind.METHOD)

Links = NDArray[np.int64]


class UsePairs(NamedTuple):
    """Uses: the node that uses, and the used one."""

    source: Links
    target: Links


@dataclass(frozen=True)
class UseLinks:
    """The uses of a graph, in order of their source. Names are nodes behind those of the graph."""

    first: Links  # by node, plus one: where its uses begin
    target: Links
    imports: UsePairs  # what imports a symbol, and the symbol: an import alone is no use

    @property
    def nodes(self) -> int:
        """The number of nodes, with those of names."""
        return len(self.first) - 1

    def reached(self, starts: Numbers | Links) -> Mask:
        """Returns by node whether uses lead to it from any of the starts, which are included."""
        found = np.zeros(self.nodes, np.bool_)
        frontier = np.unique(starts).astype(np.int64)
        found[frontier] = True
        while frontier.size:
            targets = np.unique(self.target[_positions(self.first[frontier], self.first[frontier + 1])])
            frontier = targets[~found[targets]]
            found[frontier] = True
        return found

    def pairs_within(self, inside: Mask) -> UsePairs:
        """Returns the uses between nodes of a set."""
        source = np.repeat(np.arange(self.nodes), np.diff(self.first))
        kept = inside[source] & inside[self.target]
        return UsePairs(source[kept], self.target[kept])


def use_links(graph: Graph, examined: Mask) -> UseLinks:
    """Returns everything that may be a use. What is not `examined` runs with what it is in."""
    edges = graph.edges
    is_import = (edges.kind == IMPORTS) & (edges.target < len(graph.symbols))
    is_import |= in_export_lists(graph, edges.source, edges.line) & (edges.target < len(graph.symbols))
    is_override = edges.kind == OVERRIDES
    parts = [
        UsePairs(edges.source[~is_import].astype(np.int64), edges.target[~is_import].astype(np.int64)),
        UsePairs(edges.target[is_override].astype(np.int64), edges.source[is_override].astype(np.int64)),
        _meanings(graph),
        *_containment(graph, examined),
        *_alternatives(graph),
        *_by_name(graph),
    ]
    source = np.concatenate([part.source for part in parts])
    target = np.concatenate([part.target for part in parts])
    order = np.argsort(source, kind="stable")
    nodes = graph.nodes + 2 * len(graph.strings)
    first = np.searchsorted(source[order], np.arange(nodes + 1))
    return UseLinks(
        first.astype(np.int64),
        target[order],
        UsePairs(edges.source[is_import].astype(np.int64), edges.target[is_import].astype(np.int64)),
    )


def _meanings(graph: Graph) -> UsePairs:
    """References that resolve to a symbol, also those without an edge: `DEPOTS` in `DEPOTS.close()`."""
    reference = graph.meanings.reference
    is_use = uses(graph)[reference]
    source = graph.references.source[reference[is_use]]
    return UsePairs(source.astype(np.int64), graph.meanings.target[is_use].astype(np.int64))


def _containment(graph: Graph, examined: Mask) -> Iterable[UsePairs]:
    """A used symbol needs what is around it, and runs what is in it, except what is listed separately."""
    symbols = graph.symbols
    inner = np.flatnonzero(symbols.parent != NONE)
    outer = symbols.parent[inner].astype(np.int64)
    yield UsePairs(inner, outer)
    taken = ~examined[inner]
    yield UsePairs(outer[taken], inner[taken])


def _alternatives(graph: Graph) -> Iterable[UsePairs]:
    """Definitions of one name in one place are one symbol: overloads, and versions for several platforms."""
    symbols, files = graph.symbols, graph.files
    languages = graph.files.language
    shares = np.isin(languages, [graph.strings.find(name) for name in SHARED_IN_FOLDER])
    folders: dict[str, int] = {}
    place = np.array(
        [
            folders.setdefault(graph.path(file).rpartition("/")[0], len(folders))
            if shares[file]
            else -1 - file
            for file in range(len(files))
        ],
        np.int64,
    )
    if not len(symbols):
        return
    key = np.column_stack([place[symbols.file], symbols.qualified_name.astype(np.int64)])
    order = np.lexsort((key[:, 1], key[:, 0]))
    same = np.flatnonzero((key[order[1:]] == key[order[:-1]]).all(axis=1))
    first, second = order[same].astype(np.int64), order[same + 1].astype(np.int64)
    yield UsePairs(first, second)
    yield UsePairs(second, first)


def uses(graph: Graph) -> Mask:
    """Returns by reference whether it is a use: imports and lists of exports are none by themselves."""
    references = graph.references
    found: Mask = references.kind != IMPORT
    found &= ~in_export_lists(graph, references.source, references.line)
    return found


def in_export_lists(graph: Graph, source: Numbers, line: Numbers) -> Mask:
    """Returns by reference whether it is in a list of what a module exports."""
    files = graph.files_of(source)
    found = np.zeros(len(source), np.bool_)
    for path, ranges in export_lists(graph).items():
        own = files == graph.find_file(path)
        for first, last in ranges:
            found |= own & (line >= first) & (line <= last)
    return found


def export_lists(graph: Graph) -> Mapping[str, list[tuple[int, int]]]:
    """Returns the lines of lists of exports, by path."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name in EXPORT_LISTS:
        for node in graph.named(name).tolist():
            lines = int(graph.symbols.start_line[node]), int(graph.symbols.end_line[node])
            found.setdefault(graph.path(graph.file_of(node)), []).append(lines)
    return found


def members(graph: Graph) -> Mask:
    """Returns by symbol whether it belongs to a type, which may be defined in another file."""
    found: Mask = (graph.symbols.parent != NONE) | (graph.symbols.kind == METHOD)
    return found


def special_members(graph: Graph) -> Mask:
    """Returns by symbol whether the language or a runtime calls it without naming it."""
    symbols, files = graph.symbols, graph.files
    names = np.unique(symbols.name)
    languages = {int(number): graph.strings[number] for number in np.unique(files.language)}
    dunder = np.array([number for number in names.tolist() if is_special(graph.strings[number])], np.int32)
    found: Mask = np.isin(symbols.name, dunder)
    of_language = files.language[symbols.file]
    for number, language in languages.items():
        special = [graph.strings.find(name) for name in SPECIAL_NAMES.get(language, ())]
        found |= (of_language == number) & np.isin(symbols.name, special)
    return found


def _by_name(graph: Graph) -> Iterable[UsePairs]:
    """References that resolve to nothing lead to their name; those to members, to all members of the name.

    Where objects need no declared type, a call on one type may run the member of another with the same name.
    """
    symbols, references = graph.symbols, graph.references
    names = graph.nodes + references.name.astype(np.int64)
    member_names = names + len(graph.strings)
    source = references.source.astype(np.int64)
    is_use = uses(graph)
    unresolved = is_use & (references.status != RESOLVED)
    yield UsePairs(source[unresolved], names[unresolved])
    language = graph.files.language[graph.files_of(references.source)]
    nominal = np.isin(language, [graph.strings.find(name) for name in NOMINAL])
    on_member = is_use & references.has_qualifier & ~nominal
    yield UsePairs(source[on_member], member_names[on_member])
    defined = np.arange(len(symbols), dtype=np.int64)
    yield UsePairs(graph.nodes + symbols.name.astype(np.int64), defined)
    owned = defined[members(graph)]
    yield UsePairs(graph.nodes + len(graph.strings) + symbols.name[owned].astype(np.int64), owned)


def _positions(starts: Links, ends: Links) -> Links:
    """Returns all numbers from each start to its end."""
    lengths = ends - starts
    shifts = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    found: Links = shifts + np.arange(len(shifts))
    return found
