"""What the index holds of the places that documents and tasks name. Raises only PrismError."""

from collections.abc import Collection, Mapping, Sequence

from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.files import (
    LINES,
    MANIFEST,
    OUTLINE,
    FileRange,
    LinesRequest,
    ManifestEntry,
    ManifestRequest,
    OutlineRequest,
)
from prism_contracts.rpc.symbols import DEFINITIONS, SYMBOLS_BATCH_MAX, DefinitionsRequest, SymbolAnswer
from prism_runtime.bus import Bus
from prism_workspace.core.anchors import IndexedFile

TIMEOUT_S = 5.0


class Places:
    """A client of the search service."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def entries(self, tenant: str, repo: str, paths: Collection[str]) -> Mapping[str, ManifestEntry]:
        """Returns the indexed or skipped files among some paths of a repository's followed branch, by path."""
        found: dict[str, ManifestEntry] = {}
        cursor = ""
        while paths:
            request = ManifestRequest(tenant=tenant, repo=repo, paths=tuple(sorted(paths)), cursor=cursor)
            reply = await self._bus.ask(MANIFEST, request, timeout_s=TIMEOUT_S)
            found |= {entry.path: entry for entry in reply.entries}
            cursor = reply.next_cursor
            if not cursor:
                break
        return found

    async def file(self, tenant: str, repo: str, entry: ManifestEntry) -> IndexedFile | None:
        """Returns a file with its symbols and lines; None if the index holds another version by now.

        The lines are asked for last and of this version, so that the symbols before them are of no other.
        """
        try:
            outline = await self._bus.ask(
                OUTLINE, OutlineRequest(tenant=tenant, repo=repo, path=entry.path), timeout_s=TIMEOUT_S
            )
        except PrismError as error:
            if error.code in {ErrorCode.FILE_NOT_FOUND, ErrorCode.FILE_SKIPPED}:
                return None
            raise
        whole = FileRange(
            file_path=entry.path,
            start_line=1,
            end_line=max(1, outline.line_count),
            generation=entry.generation,
        )
        request = LinesRequest(tenant=tenant, repo=repo, ranges=(whole,))
        text = (await self._bus.ask(LINES, request, timeout_s=TIMEOUT_S)).texts[0]
        if text is None:
            return None
        return IndexedFile(
            path=entry.path, blob=entry.blob, symbols=outline.symbols, lines=tuple(text.split("\n"))
        )

    async def definitions(
        self, caller: CallerRequest, symbols: Sequence[str], *, repo: str = "", path: str = ""
    ) -> list[SymbolAnswer]:
        """Returns where symbols are defined, one answer each, in what the caller sees."""
        answers: list[SymbolAnswer] = []
        for start in range(0, len(symbols), SYMBOLS_BATCH_MAX):
            request = DefinitionsRequest(
                tenant=caller.tenant,
                visible=caller.visible,
                repo=repo,
                path=path,
                symbols=tuple(symbols[start : start + SYMBOLS_BATCH_MAX]),
            )
            answers += (await self._bus.ask(DEFINITIONS, request, timeout_s=TIMEOUT_S)).answers
        return answers
