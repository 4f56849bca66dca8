"""Answers `references`: who uses a symbol."""

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import (
    ReferencePage,
    ReferencesReply,
    ReferencesRequest,
    SymbolReferences,
)
from prism_search.core.definitions import corrections
from prism_search.operations.references import ReferenceFinder


class ReferencesHandler:
    """Answers `references`."""

    def __init__(self, repositories: RepositoryCatalog, references: ReferenceFinder) -> None:
        self._repositories = repositories
        self._references = references

    async def references(self, request: ReferencesRequest) -> ReferencesReply:
        """Returns one answer per symbol. A cursor continues one symbol alone."""
        if request.cursor and len(request.symbols) > 1:
            raise PrismError(
                ErrorCode.INVALID_ARGUMENT, "A cursor is valid for one symbol.", "Request that symbol only."
            )
        target = await self._repositories.target(request)
        answers = [await self._answer(target, symbol, request) for symbol in request.symbols]
        corrected = corrections(request.symbols, [answer.symbol for answer in answers])
        receipt = await self._repositories.receipt(target, corrected=corrected)
        return ReferencesReply(answers=tuple(answers), receipt=receipt)

    async def _answer(self, target: Target, symbol: str, request: ReferencesRequest) -> SymbolReferences:
        """Returns the references of a symbol. The first page of one repository says what others have."""
        found = await self._references.answer(target, symbol, request)
        is_filtered = bool(request.path_filter or request.reference_type)
        is_first = request.page is ReferencePage.MAIN and not request.cursor and not is_filtered
        around = self._repositories.around(target)
        if not is_first or target.ref or len(target.repositories) > 1 or len(around.repositories) == 1:
            return found
        return await self._references.beyond(found, target, around, request)
