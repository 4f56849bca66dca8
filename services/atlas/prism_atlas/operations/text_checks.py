"""What only search knows about a name that the graph lacks: definitions in the index, lines in the text."""

from prism_atlas.adapters.search import SearchClient
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import ScopedRequest
from prism_contracts.rpc.graph import CallHierarchyReply, CallHierarchyRequest

# Listed among a receipt's missing legs when search could not check the answer against the text.
TEXT = "text"


class TextChecks:
    """Compares answers of the graph with the index."""

    def __init__(self, search: SearchClient) -> None:
        self._search = search

    async def with_text(self, request: CallHierarchyRequest, reply: CallHierarchyReply) -> CallHierarchyReply:
        """Adds where the text mentions the root. If search fails, the receipt lists the text as missing."""
        root = reply.roots[0]
        try:
            in_text = await self._search.in_text(request, root.symbol, root.file_path)
        except PrismError:
            receipt = reply.receipt.model_copy(update={"missing_legs": (*reply.receipt.missing_legs, TEXT)})
            return reply.model_copy(update={"receipt": receipt})
        return reply.model_copy(update={"in_text": in_text})

    async def not_found(self, request: ScopedRequest, symbol: str) -> PrismError:
        """Returns the error for a symbol that the graph lacks, with what the index knows of its name."""
        known = await self._search.definition(request, symbol, "")
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
            "Try a name from details.suggestions, or search_code."
            if known.suggestions
            else "Try search_code.",
            suggestions=list(known.suggestions),
            unparsed=list(known.unparsed),
        )
