"""Answers `definitions`: where symbols are defined."""

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import Symbol
from prism_contracts.rpc.symbols import Definition, DefinitionsReply, DefinitionsRequest, SymbolAnswer
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.texts import read_text
from prism_search.core.definitions import corrections, definition_reply, distinct_places
from prism_store.reader import Reader, StoredPoint

DEFINITIONS_MAX = 20
BODY_LINES_MAX = 600


class SymbolHandlers:
    """Answers `definitions`."""

    def __init__(self, reader: Reader, repositories: RepositoryCatalog, definitions: Definitions) -> None:
        self._reader = reader
        self._repositories = repositories
        self._definitions = definitions

    async def definitions(self, request: DefinitionsRequest) -> DefinitionsReply:
        """Returns one answer per symbol, with similar names if there is no definition."""
        target = await self._repositories.target(request)
        answers = [await self._answer(target, symbol, request) for symbol in request.symbols]
        corrected = corrections(request.symbols, [answer.symbol for answer in answers])
        receipt = await self._repositories.receipt(target, corrected=corrected)
        return DefinitionsReply(answers=tuple(answers), receipt=receipt)

    async def _answer(self, target: Target, asked: str, request: DefinitionsRequest) -> SymbolAnswer:
        match = await self._definitions.match(target, asked, request.path)
        found = distinct_places(match.found)
        definitions = [
            await self._describe(target, item.point, item.symbol, body=request.include_body)
            for item in found[:DEFINITIONS_MAX]
        ]
        return SymbolAnswer(
            symbol=match.name.spelled,
            definitions=tuple(definitions),
            total=len(found),
            suggestions=match.suggestions,
            matched=match.name.matched_suffix(match.found[0].fit) if match.found else "",
            unparsed=match.unparsed,
        )

    async def _describe(
        self, target: Target, point: StoredPoint, symbol: Symbol, *, body: bool
    ) -> Definition:
        text = ""
        if body:
            lines = (await read_text(self._reader, target.scope, point)).text.split("\n")
            last = min(symbol.end_line, symbol.start_line + BODY_LINES_MAX - 1)
            text = "\n".join(lines[symbol.start_line - 1 : last])
        return definition_reply(target, point, symbol, text)
