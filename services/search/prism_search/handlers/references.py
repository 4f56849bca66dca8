"""Answers `references`: who uses a symbol."""

from prism_catalog.repositories import RepositoryCatalog
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.symbols import ReferencesReply, ReferencesRequest
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
        answers = [await self._references.answer(target, symbol, request) for symbol in request.symbols]
        corrected = corrections(request.symbols, [answer.symbol for answer in answers])
        receipt = await self._repositories.receipt(target, corrected=corrected)
        return ReferencesReply(answers=tuple(answers), receipt=receipt)
