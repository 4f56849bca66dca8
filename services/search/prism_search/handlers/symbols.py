"""Answers `definitions`: where symbols are defined."""

from prism_catalog.repositories import RepositoryCatalog
from prism_catalog.target import Target
from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.rpc.symbols import (
    Definition,
    DefinitionsReply,
    DefinitionsRequest,
    SymbolAnswer,
    UseCounts,
    UsesRequest,
)
from prism_runtime.packing import unpack_symbol_facts
from prism_search.adapters.definitions import Definitions
from prism_search.adapters.texts import read_text
from prism_search.adapters.uses import GraphUses
from prism_search.core.definitions import (
    DeclaredDefinition,
    NameMatch,
    corrections,
    definition_place,
    definition_reply,
    distinct_places,
    members_of,
    with_prototypes,
)
from prism_store.reader import Reader

DEFINITIONS_MAX = 20
BODY_LINES_MAX = 600


class SymbolHandlers:
    """Answers `definitions`."""

    def __init__(
        self,
        reader: Reader,
        repositories: RepositoryCatalog,
        definitions: Definitions,
        graph: GraphUses,
    ) -> None:
        self._reader = reader
        self._repositories = repositories
        self._definitions = definitions
        self._graph = graph

    async def definitions(self, request: DefinitionsRequest) -> DefinitionsReply:
        """Returns one answer per symbol, with similar names if there is no definition."""
        target = await self._repositories.target(request)
        answers = [await self._answer(target, symbol, request) for symbol in request.symbols]
        corrected = corrections(request.symbols, [answer.symbol for answer in answers])
        receipt = await self._repositories.receipt(target, corrected=corrected)
        return DefinitionsReply(answers=tuple(answers), receipt=receipt)

    async def _answer(self, target: Target, asked: str, request: DefinitionsRequest) -> SymbolAnswer:
        match = await self._definitions.match(target, asked, request.path)
        found = with_prototypes(distinct_places(match.found))
        definitions = [
            await self._describe(target, item, body=request.include_body) for item in found[:DEFINITIONS_MAX]
        ]
        return SymbolAnswer(
            symbol=match.name.spelled,
            definitions=tuple(definitions),
            total=len(found),
            suggestions=match.suggestions,
            matched=match.name.matched_suffix(match.found[0].fit) if match.found else "",
            unparsed=match.unparsed,
            uses=await self._uses(target, match, request) if request.count_uses else None,
        )

    async def _uses(self, target: Target, match: NameMatch, request: DefinitionsRequest) -> UseCounts | None:
        """Returns how often the definitions are used; None without any, in several repositories, or without a graph."""
        found = [one for one in match.found if one.symbol.kind in CALLABLE_KINDS | TYPE_KINDS]
        if not found or len(target.repositories) > 1:
            return None
        asked = UsesRequest(
            tenant=request.tenant,
            repo=target.repositories[0].repo,
            ref=request.ref,
            name=found[0].symbol.name,
            definitions=tuple(
                definition_place(one) for one in found if one.symbol.name == found[0].symbol.name
            ),
            one_overload=match.is_one_overload,
            limit=1,
        )
        reply = await self._graph.of(asked)
        return UseCounts(groups=reply.counts, by_name=reply.candidates) if reply else None

    async def _describe(self, target: Target, declared: DeclaredDefinition, *, body: bool) -> Definition:
        (point, symbol, _), prototypes = declared
        if not body:
            return definition_reply(target, point, symbol, prototypes=prototypes)
        lines = (await read_text(self._reader, target.scope, point)).text.split("\n")
        last = min(symbol.end_line, symbol.start_line + BODY_LINES_MAX - 1)
        text = "\n".join(lines[symbol.start_line - 1 : last])
        shown = definition_reply(target, point, symbol, text, prototypes)
        if symbol.kind not in TYPE_KINDS:
            return shown
        members = members_of(symbol, unpack_symbol_facts(point.text("symbols")))
        return shown.model_copy(update={"members": tuple(members)})
