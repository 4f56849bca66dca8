"""Finds what is to be edited: the lines of a file, and the symbol that they define."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import Symbol
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.guidance import EditContextRequest
from prism_contracts.rpc.symbols import Definition
from prism_runtime.packing import as_symbol
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.indexed_file import indexed_file
from prism_search.adapters.sources import Sources
from prism_search.core.definitions import definition_reply, distinct_places
from prism_search.core.documents import LineRange
from prism_search.core.edits import owner_of, symbol_at
from prism_search.core.references.edges import SourceFile
from prism_store.reader import Reader, StoredPoint


@dataclass(frozen=True)
class Focus:
    """Lines of a file. `target` is the repository of the file alone."""

    target: Target
    file: SourceFile
    lines: LineRange
    notes: Sequence[str] = field(default=(), kw_only=True)  # how the lines differ from the requested ones


@dataclass(frozen=True)
class SymbolFocus(Focus):
    """The lines of a symbol.

    `index` is its position among the symbols of its file. `matched` is the part of the name that matched, if
    not all. `name` is the name that was found, which differs from a misspelt one.
    """

    index: int
    matched: str = ""
    others: Sequence[Definition] = ()  # other definitions of the name
    name: str = ""

    @property
    def symbol(self) -> Symbol:
        """The symbol that the lines define."""
        return as_symbol(self.file.symbols[self.index])

    @property
    def owner(self) -> str:
        """The class of a member; empty if the symbol is not one."""
        return owner_of(self.file, self.index)

    @property
    def definition(self) -> Definition:
        """The symbol with its location."""
        return Definition(
            repo=self.target.repositories[0].name,
            file_path=self.file.path,
            language=self.file.language,
            symbol=self.symbol,
        )


class FocusFinder:
    """Finds what is to be edited by name, or by lines."""

    def __init__(
        self, reader: Reader, repositories: RepositoryCatalog, definitions: Definitions, sources: Sources
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._definitions = definitions
        self._sources = sources

    async def find(self, request: EditContextRequest) -> Focus:
        """Raises SYMBOL_NOT_FOUND with near names, FILE_NOT_FOUND, INVALID_ARGUMENT."""
        if request.symbol.strip():
            return await self._by_name(request)
        if request.path.strip() and request.start_line:
            return await self._by_lines(request)
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT,
            "A symbol, or lines of a file, are required.",
            "Give symbol, or file_path with start_line.",
        )

    async def _by_name(self, request: EditContextRequest) -> SymbolFocus:
        target = await self._repositories.target(request)
        match = await self._definitions.match(target, request.symbol, request.path)
        if not match.found:
            raise PrismError(
                ErrorCode.SYMBOL_NOT_FOUND,
                f"There is no definition of {match.name.spelled!r}.",
                "Try a name from details.suggestions, search_code, or file_path with start_line.",
                suggestions=list(match.suggestions),
            )
        best, *others = distinct_places(match.found)
        narrow = await self._repositories.target(request.model_copy(update={"repo": best.point.repo}))
        file = await self._read(narrow, best.point)
        index = _position(file, best.symbol)
        if index is None:
            raise _changing()
        return SymbolFocus(
            narrow,
            file,
            LineRange(best.symbol.start_line, best.symbol.end_line),
            index,
            match.name.matched_suffix(best.fit),
            [definition_reply(target, one.point, one.symbol) for one in others],
            match.name.spelled,
        )

    async def _by_lines(self, request: EditContextRequest) -> Focus:
        target = await self._repositories.target(request, single=True)
        file = await self._read(target, await indexed_file(self._reader, target, request.path))
        start, end = request.start_line, request.end_line or request.start_line
        if not start <= end or start > len(file.lines):
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT,
                f"The file has {len(file.lines)} lines; lines {start} to {end} do not exist.",
                f"Give lines between 1 and {len(file.lines)}.",
                line_count=len(file.lines),
            )
        asked = LineRange(start, end)
        index = symbol_at(file.symbols, *asked)
        if index < 0:
            there = LineRange(start, min(end, len(file.lines)))
            return Focus(target, file, there, notes=tuple(_past_the_end(asked, file)))
        symbol = file.symbols[index]
        lines = LineRange(symbol.start_line, symbol.end_line)
        notes = (*_past_the_end(asked, file), *_more_symbols(asked, lines, symbol.qualified_name))
        return SymbolFocus(target, file, lines, index, notes=notes)

    async def _read(self, target: Target, point: StoredPoint) -> SourceFile:
        files = await self._sources.read(target, [point])
        if not files:
            raise _changing()
        return files[0]


def _past_the_end(asked: LineRange, file: SourceFile) -> Iterator[str]:
    if asked.end > len(file.lines):
        yield f"Lines {asked.start} to {asked.end} were requested; the file ends with line {len(file.lines)}."


def _more_symbols(asked: LineRange, shown: LineRange, name: str) -> Iterator[str]:
    if asked.start < shown.start or asked.end > shown.end:
        yield (
            f"Lines {asked.start} to {asked.end} hold several symbols; only the first is shown, {name}. "
            "Request the others by name."
        )


def _changing() -> PrismError:
    return PrismError(
        ErrorCode.UNAVAILABLE, "The file keeps changing while it is read.", "Retry in a second."
    )


def _position(file: SourceFile, symbol: Symbol) -> int | None:
    place = (symbol.qualified_name, symbol.name_line)
    found = (at for at, one in enumerate(file.symbols) if (one.qualified_name, one.name_line) == place)
    return next(found, None)
