"""What only search knows about a name that the graph lacks: definitions in the index, lines in the text."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from prism_atlas.adapters.search import SearchClient
from prism_atlas.core.graph import NONE, Graph
from prism_atlas.core.hierarchy import IS_TYPE
from prism_atlas.core.impl_blocks import read_block
from prism_atlas.core.level_checks import ListedUsers, by_name_lines, compared_levels, names_of, sought_levels
from prism_atlas.core.macro_subtypes import (
    CALLS_MAX,
    implementing_macros,
    lines_in_macros,
    macro_subtypes,
)
from prism_atlas.core.named_tests import TitleTexts, titled_test_files
from prism_atlas.core.rendering import UsingLine
from prism_atlas.core.unresolved_calls import unresolved_stops
from prism_contracts.code import Flag
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import GraphReceipt, ScopedRequest
from prism_contracts.rpc.files import RANGES_MAX, FileRange
from prism_contracts.rpc.graph import (
    ComparedLevels,
    GraphNode,
    ImpactRequest,
    MacroSubtypes,
    SourceLine,
    SymbolWalkRequest,
    TypeHierarchyRequest,
    WalkStop,
)
from prism_contracts.rpc.symbols import REFERENCES_BATCH_MAX, Reconciliation, SymbolAnswer, TextLine
from prism_resolver.test_blocks import TestBlock, blocks_of, innermost_block

# Listed among a receipt's missing legs when search could not check the answer against the text.
TEXT = "text"
# Lines that are searched for the end of an `impl` block, and of all blocks of an answer.
BLOCK_ROWS_MAX, BLOCKS_ROWS_MAX = 400, 4_000
RUST = ".rs"
# Functions that are searched for calls without an edge, and lines of each.
FUNCTIONS_MAX = 20
FUNCTION_LINES_MAX = 600


class TextFindings(NamedTuple):
    """What the text adds to an answer of the graph."""

    source_lines: tuple[SourceLine, ...]
    in_text: Reconciliation | None
    missing: bool  # search did not answer

    def fields(self, receipt: GraphReceipt) -> dict[str, object]:
        """Returns the fields of a reply."""
        return {
            "in_text": self.in_text,
            "source_lines": self.source_lines,
            "receipt": self.receipt(receipt),
        }

    def receipt(self, receipt: GraphReceipt) -> GraphReceipt:
        """Returns the receipt, which lists the text as missing if it is."""
        legs = (*receipt.missing_legs, TEXT) if self.missing else receipt.missing_legs
        return receipt.model_copy(update={"missing_legs": legs})


class TextChecks:
    """Compares answers of the graph with the index."""

    def __init__(self, search: SearchClient) -> None:
        self._search = search

    async def find(
        self, request: ScopedRequest, graph: Graph, root: GraphNode | None, lines: Iterable[UsingLine]
    ) -> TextFindings:
        """Returns the texts of some lines, and where else the text contains the name of the root.

        Without a named root only the lines are read. If search fails, `missing` is true.
        """
        checked = root if root and root.symbol else None
        found = await asyncio.gather(
            self._source_lines(request, graph, sorted(set(lines))),
            self._in_text(request, graph, checked),
            return_exceptions=True,
        )
        texts, in_text = found
        for one in found:
            if isinstance(one, BaseException) and not isinstance(one, PrismError):
                raise one
        return TextFindings(
            () if isinstance(texts, BaseException) else texts,
            None if isinstance(in_text, BaseException) else in_text,
            missing=any(isinstance(one, BaseException) for one in found),
        )

    async def _source_lines(
        self, request: ScopedRequest, graph: Graph, lines: Sequence[UsingLine]
    ) -> tuple[SourceLine, ...]:
        is_types = isinstance(request, TypeHierarchyRequest)
        titled = [] if is_types else titled_test_files(graph, lines[:RANGES_MAX])
        lines = lines[: RANGES_MAX - len(titled)]
        rows = min(BLOCK_ROWS_MAX, BLOCKS_ROWS_MAX // max(1, len(lines))) if is_types else 0
        ranges = [
            FileRange(
                file_path=line.path,
                start_line=line.number,
                end_line=line.number + (rows if line.path.endswith(RUST) else 0),
                generation=graph.strings[graph.files.generation[graph.find_file(line.path)]],
            )
            for line in lines
        ]
        wholes = [_whole(graph, path) for path in titled]
        texts = await self._search.texts(request, [*ranges, *wholes]) if ranges else ()
        files = dict(zip((one.file_path for one in wholes), texts[len(ranges) :], strict=True))
        blocks = {path: blocks_of(text.split("\n")) for path, text in files.items() if text is not None}
        return tuple(
            _source_line(line, text, blocks.get(line.path, ()))
            for line, text in zip(lines, texts, strict=False)
            if text is not None
        )

    async def _in_text(
        self, request: ScopedRequest, graph: Graph, root: GraphNode | None
    ) -> Reconciliation | None:
        if root is None:
            return None
        source_only = isinstance(request, SymbolWalkRequest | ImpactRequest) and request.source_only
        path_filter = request.path_filter if isinstance(request, TypeHierarchyRequest) else ""
        found = await self._search.in_text(
            request, root.symbol, root.file_path, source_only=source_only, path_filter=path_filter
        )
        if found is None:
            return None
        return found.model_copy(update={"unexplained_lines": _with_tests(graph, found.unexplained_lines)})

    async def by_macros(
        self, request: ScopedRequest, graph: Graph, root: GraphNode, lines: Iterable[TextLine]
    ) -> tuple[MacroSubtypes, ...]:
        """Returns the subtypes that calls of macros declare; `lines` were not resolved; nothing if search fails."""
        found = []
        try:
            inside = await self._source_lines(request, graph, lines_in_macros(graph, root))
        except PrismError:
            return ()
        known = [TextLine(repo="", file_path=one.file_path, line=one.line, text=one.text) for one in inside]
        for macro in implementing_macros(graph, root, [*known, *lines]):
            rows = min(BLOCK_ROWS_MAX, BLOCKS_ROWS_MAX // max(1, len(macro.calls[:CALLS_MAX])))
            ranges = [
                FileRange(
                    file_path=line.path,
                    start_line=line.number,
                    end_line=line.number + rows,
                    generation=graph.strings[graph.files.generation[graph.find_file(line.path)]],
                )
                for line in macro.calls[:CALLS_MAX]
            ]
            try:
                texts = await self._search.texts(request, ranges) if ranges else ()
            except PrismError:
                return ()
            found.append(macro_subtypes(graph, macro, texts))
        return tuple(found)

    async def levels(
        self, request: ScopedRequest, graph: Graph, listing: ListedUsers
    ) -> ComparedLevels | None:
        """Returns how the users of listed symbols compare with the text; None if search fails."""
        sought = sought_levels(listing)
        names = names_of(sought)
        try:
            found = await asyncio.gather(
                *(
                    self._search.all_in_text(request, names[first : first + REFERENCES_BATCH_MAX])
                    for first in range(0, len(names), REFERENCES_BATCH_MAX)
                )
            )
            texts = [one for batch in found for one in batch]
            compared = await asyncio.to_thread(compared_levels, graph, listing, sought, texts)
            lines = await self._source_lines(request, graph, by_name_lines(compared))
        except PrismError:
            return None
        known = {(line.file_path, line.line): line.text for line in lines}
        named = tuple(
            line.model_copy(update={"text": known.get((line.file_path, line.line), "")})
            for line in compared.by_name_lines
        )
        return compared.model_copy(update={"by_name_lines": named})

    async def read_titles(self, request: ScopedRequest, texts: TitleTexts) -> bool:
        """Read the wanted test files; returns whether any could be read. The others stay without titles."""
        found = await asyncio.gather(*(self._lines(request, path) for path in texts.wanted))
        texts.lines.update({path: lines for path, lines in zip(texts.wanted, found, strict=True) if lines})
        texts.wanted.clear()
        return any(found)

    async def _lines(self, request: ScopedRequest, path: str) -> list[str]:
        try:
            return await self._search.lines(request, path)
        except PrismError:
            return []

    async def stops(
        self, request: ScopedRequest, graph: Graph, nodes: Sequence[int], wanted: Collection[str] = ()
    ) -> tuple[WalkStop, ...]:
        """Returns the calls without an edge in some functions, those of wanted names first; nothing if search fails."""
        functions = [
            node for node in nodes if not graph.is_file(node) and not IS_TYPE[graph.symbols.kind[node]]
        ][:FUNCTIONS_MAX]
        ranges = [_range(graph, node) for node in functions]
        try:
            texts = await self._search.texts(request, ranges) if ranges else ()
        except PrismError:
            return ()
        known = [(node, text) for node, text in zip(functions, texts, strict=True) if text is not None]
        return await asyncio.to_thread(unresolved_stops, graph, known, wanted)

    async def corrected(self, request: ScopedRequest, symbol: str) -> str:
        """Returns the name that was meant by one that the graph lacks.

        Raises SYMBOL_NOT_FOUND with what the index knows of the name.
        """
        known = await self._search.definition(request, symbol, "")
        if known.definitions and known.symbol != symbol.strip():
            return known.symbol
        raise _not_found(symbol, known)


def _whole(graph: Graph, path: str) -> FileRange:
    """Returns all lines of a file, as the graph knows it."""
    file = graph.find_file(path)
    return FileRange(
        file_path=path,
        start_line=1,
        end_line=max(1, int(graph.files.lines[file])),
        generation=graph.strings[graph.files.generation[file]],
    )


def _source_line(line: UsingLine, text: str, blocks: Sequence[TestBlock]) -> SourceLine:
    block = read_block(text)
    if block is None:
        first = text.partition("\n")[0].strip()
        test = innermost_block(blocks, line.number)
        return SourceLine(
            file_path=line.path, line=line.number, text=first, test=test.symbol() if test else None
        )
    return SourceLine(
        file_path=line.path, line=line.number, text=block.header, end_line=line.number + block.rows - 1
    )


def _not_found(symbol: str, known: SymbolAnswer) -> PrismError:
    if known.definitions:
        first = known.definitions[0]
        return PrismError(
            ErrorCode.SYMBOL_NOT_FOUND,
            f"The graph has no definition of {symbol!r}; the index has one at"
            f" {first.file_path}:{first.symbol.name_line}.",
            "Omit file_path, or retry when the graph is up to date. Meanwhile find_references answers.",
        )
    return PrismError(
        ErrorCode.SYMBOL_NOT_FOUND,
        f"There is no definition of {symbol!r}.",
        "Try a name from details.suggestions, or search_code." if known.suggestions else "Try search_code.",
        suggestions=list(known.suggestions),
        unparsed=list(known.unparsed),
    )


def _range(graph: Graph, node: int) -> FileRange:
    file, first = graph.file_of(node), int(graph.symbols.start_line[node])
    last = min(int(graph.symbols.end_line[node]), first + FUNCTION_LINES_MAX)
    generation = graph.strings[graph.files.generation[file]]
    return FileRange(file_path=graph.path(file), start_line=first, end_line=last, generation=generation)


def _with_tests(graph: Graph, lines: Iterable[TextLine]) -> tuple[TextLine, ...]:
    """Returns lines with whether each is in a test."""
    return tuple(line.model_copy(update={"test": _is_test(graph, line.file_path)}) for line in lines)


def _is_test(graph: Graph, path: str) -> bool:
    file = graph.find_file(path)
    return file != NONE and Flag.TEST in graph.strings[graph.files.flags[file]]
