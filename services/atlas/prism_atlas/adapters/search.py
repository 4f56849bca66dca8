"""What search knows and the graph does not: file texts and similar names. Raises only PrismError."""

from collections.abc import Sequence
from typing import Any

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.files import LINES, READ_FILE, FileRange, LinesRequest, ReadFileRequest
from prism_contracts.rpc.search import GREP, GrepMatch, GrepRequest
from prism_contracts.rpc.symbols import (
    DEFINITIONS,
    REFERENCES,
    DefinitionsRequest,
    Reconciliation,
    ReferencesRequest,
    SymbolAnswer,
)
from prism_contracts.rpc.unused import NAME_LINES, NameLinesReply, NameLinesRequest
from prism_runtime.bus import Bus

# After this, the reply omits what the text would have added.
TIMEOUT_S = 5.0
# Reads every file of a repository.
NAMES_TIMEOUT_S = 60.0


class SearchClient:
    """A client of the search service that forwards the caller, its repository and ref."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def definition(self, request: ScopedRequest, symbol: str, path: str) -> SymbolAnswer:
        """Returns the definition of a symbol in the index, or similar names."""
        query = DefinitionsRequest(**_scope(request), symbols=(symbol,), path=path)
        reply = await self._bus.ask(DEFINITIONS, query, timeout_s=TIMEOUT_S)
        return reply.answers[0]

    async def in_text(
        self, request: ScopedRequest, symbol: str, path: str, *, source_only: bool, path_filter: str = ""
    ) -> Reconciliation | None:
        """Returns where the text contains the name of a symbol."""
        query = ReferencesRequest(
            **_scope(request),
            symbols=(symbol,),
            path=path,
            path_filter=path_filter,
            source_only=source_only,
            limit=1,
        )
        reply = await self._bus.ask(REFERENCES, query, timeout_s=TIMEOUT_S)
        return reply.answers[0].reconciliation

    async def all_in_text(self, request: ScopedRequest, symbols: Sequence[str]) -> list[Reconciliation]:
        """Returns where the text, without tests, contains the names of symbols of any file."""
        query = ReferencesRequest(**_scope(request), symbols=tuple(symbols), source_only=True, limit=1)
        reply = await self._bus.ask(REFERENCES, query, timeout_s=TIMEOUT_S)
        return [one.reconciliation for one in reply.answers if one.reconciliation]

    async def texts(self, request: ScopedRequest, ranges: Sequence[FileRange]) -> Sequence[str | None]:
        """Returns the text of each range; None where the index has another version of the file."""
        query = LinesRequest(**_scope(request), ranges=tuple(ranges))
        return (await self._bus.ask(LINES, query, timeout_s=TIMEOUT_S)).texts

    async def lines(self, request: ScopedRequest, path: str) -> list[str]:
        """Returns all lines of a file as indexed; an empty list if the file no longer exists."""
        lines: list[str] = []
        while True:
            query = ReadFileRequest(**_scope(request), path=path, start_line=len(lines) + 1)
            try:
                page = await self._bus.ask(READ_FILE, query, timeout_s=TIMEOUT_S)
            except PrismError as error:
                if error.code is ErrorCode.FILE_NOT_FOUND:
                    return []
                raise
            lines += page.content.removesuffix("\n").split("\n")
            if page.end_line >= page.line_count:
                return lines

    async def name_lines(self, request: ScopedRequest, names: Sequence[str]) -> NameLinesReply:
        """Returns the lines of the repository that contain each name."""
        query = NameLinesRequest(**_scope(request), names=tuple(names))
        return await self._bus.ask(NAME_LINES, query, timeout_s=NAMES_TIMEOUT_S)

    async def first_match(self, request: ScopedRequest, pattern: str, language: str) -> GrepMatch | None:
        """Returns the first line of source code that matches a regular expression."""
        query = GrepRequest(
            **_scope(request), pattern=pattern, regex=True, language=language, source_only=True, limit=1
        )
        found = await self._bus.ask(GREP, query, timeout_s=TIMEOUT_S)
        return found.matches[0] if found.matches else None


def _scope(request: ScopedRequest) -> dict[str, Any]:
    return request.model_dump(include={"tenant", "visible", "repo", "ref"})
