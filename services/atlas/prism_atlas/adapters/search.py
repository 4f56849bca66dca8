"""What search knows and the graph does not: texts, and names that are near others. Raises PrismError, nothing else."""

from prism_contracts import names, rpc
from prism_contracts.errors import ErrorCode, PrismError
from prism_runtime.bus import Bus
from prism_runtime.rpc import call

# An answer waits so long for what the text knows, and goes without it then.
TIMEOUT_S = 5.0


class Search:
    """The search service, asked in the name of whoever asks."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def definition(self, request: rpc.ScopedRequest, symbol: str, path: str) -> rpc.SymbolAnswer:
        """Where a symbol is defined by the index, or what is near its name."""
        asked = rpc.DefinitionsRequest(**_scope(request), symbols=(symbol,), path=path)
        reply = await call(self._bus, names.RPC_DEFINITIONS, asked, rpc.DefinitionsReply, timeout_s=TIMEOUT_S)
        return reply.answers[0]

    async def in_text(self, request: rpc.ScopedRequest, symbol: str, path: str) -> rpc.Reconciliation | None:
        """Where the text holds the name of a symbol."""
        asked = rpc.ReferencesRequest(**_scope(request), symbols=(symbol,), path=path, limit=1)
        reply = await call(self._bus, names.RPC_REFERENCES, asked, rpc.ReferencesReply, timeout_s=TIMEOUT_S)
        return reply.answers[0].reconciliation

    async def lines(self, request: rpc.ScopedRequest, path: str) -> list[str]:
        """All lines of a file as indexed; none if it is not there any more."""
        lines: list[str] = []
        while True:
            asked = rpc.ReadFileRequest(**_scope(request), path=path, start_line=len(lines) + 1)
            try:
                page = await call(
                    self._bus, names.RPC_READ_FILE, asked, rpc.ReadFileReply, timeout_s=TIMEOUT_S
                )
            except PrismError as error:
                if error.code is ErrorCode.FILE_NOT_FOUND:
                    return []
                raise
            lines += page.content.removesuffix("\n").split("\n")
            if page.end_line >= page.line_count:
                return lines


def _scope(request: rpc.ScopedRequest) -> dict[str, str]:
    return {"tenant": request.tenant, "repo": request.repo, "ref": request.ref}
