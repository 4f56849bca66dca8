"""Builds graphs by hand: one line per file, symbol or edge."""

from prism_atlas.core.builder import EdgeRow, FileRow, GraphBuilder
from prism_atlas.core.graph import NONE, Graph
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind

CALLS, IMPORTS, EXTENDS = EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS
CLASS, METHOD, FUNCTION = SymbolKind.CLASS, SymbolKind.METHOD, SymbolKind.FUNCTION
LINES = 10  # a top-level symbol has so many; a member's position is within its owner


class Sketch:
    """Symbols are named `path:Qualified.name`, files by their path. Symbol n starts at line 10 n + 1."""

    def __init__(self) -> None:
        self._files: dict[str, FileRow] = {}
        self._symbols: dict[str, list[Symbol]] = {}
        self._positions: dict[str, dict[str, int]] = {}
        self._edges: dict[str, list[EdgeRow]] = {}

    def file(self, path: str, *symbols: str, flags: str = "", language: str = "python") -> "Sketch":
        """Add a file. Capitalized names are classes, unless they end in `()`; `Owner.name` is a member."""
        self._files[path] = FileRow(LINES * len(symbols) + 1, path, path, language=language, flags=flags)
        self._symbols[path] = [self._symbol(symbols, position) for position in range(len(symbols))]
        self._positions[path] = {name: position for position, name in enumerate(symbols)} | {"": NONE}
        self._edges[path] = []
        return self

    def edge(
        self,
        source: str,
        target: str,
        kind: EdgeKind = CALLS,
        line: int = 1,
        *,
        sure: bool = True,
        strategy: Strategy | None = None,
    ) -> "Sketch":
        file, symbol = self._end(source)
        status = EdgeStatus.RESOLVED if sure else EdgeStatus.CANDIDATE
        strategy = strategy or (Strategy.IMPORT if sure else Strategy.ONLY_DEFINITION)
        self._edges[file].append(EdgeRow(symbol, self._end(target), kind, status, strategy, line))
        return self

    def graph(self) -> Graph:
        builder = GraphBuilder()
        for path, file in self._files.items():
            builder.add(file, self._symbols[path])
            builder.connect(path, self._edges[path])
        return builder.build()

    def _symbol(self, names: tuple[str, ...], position: int) -> Symbol:
        owner, _, name = names[position].rpartition(".")
        is_type = name[:1].isupper() and not name.endswith("()")
        start = LINES * position + 1
        inside = sum(other.startswith(f"{names[position]}.") for other in names) if is_type else 0
        return Symbol(
            name=name.removesuffix("()"),
            qualified_name=names[position].removesuffix("()"),
            kind=CLASS if is_type else METHOD if owner else FUNCTION,
            start_line=start,
            end_line=start + LINES * (1 + inside) - 1,
            name_line=start,
            parent=names.index(owner) if owner in names else NONE,
            exported=not name.startswith("_"),
        )

    def _end(self, spelled: str) -> tuple[str, int]:
        path, _, name = spelled.partition(":")
        return path, self._positions[path][name]


def node(graph: Graph, spelled: str) -> int:
    """Returns the node of a symbol or file, named as in `Sketch`."""
    path, _, name = spelled.partition(":")
    file = graph.find_file(path)
    if not name:
        return graph.file_node(file)
    return next(
        symbol
        for symbol in graph.symbols_of(file)
        if graph.strings[graph.symbols.qualified_name[symbol]] == name
    )


def spelled(graph: Graph, number: int) -> str:
    """The inverse of `node`."""
    path = graph.path(graph.file_of(number))
    if graph.is_file(number):
        return path
    return f"{path}:{graph.strings[graph.symbols.qualified_name[number]]}"
