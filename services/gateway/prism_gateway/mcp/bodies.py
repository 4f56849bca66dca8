"""Finds the source of a symbol, for the tools that show it."""

from collections.abc import Sequence
from typing import NamedTuple

from prism_contracts.code import CALLABLE_KINDS, TYPE_KINDS
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.symbols import DEFINITIONS, Definition, DefinitionsRequest, SymbolAnswer
from prism_gateway.mcp.answers import symbols
from prism_gateway.mcp.answers.files import ShownPlace
from prism_gateway.mcp.arguments import ScopedArguments
from prism_gateway.mcp.tool import Call

BODY_KINDS = CALLABLE_KINDS | TYPE_KINDS
OTHERS_SHOWN_MAX = 5


class Body(NamedTuple):
    """A definition with its source, and the other definitions of its name."""

    best: Definition
    others: Sequence[Definition]
    receipt: Receipt

    def excerpt(self, asked: str) -> ShownPlace:
        """Returns the source as an excerpt."""
        symbol = self.best.symbol
        declared = [f"{one.file_path}:{one.start_line}" for one in self.best.declared]
        places = [f"{one.file_path}:{one.symbol.start_line}" for one in self.others[:OTHERS_SHOWN_MAX]]
        notes = {"declared in": declared, "also defined at": places}
        return ShownPlace(
            asked,
            self.best.repo,
            self.best.file_path,
            symbol.start_line,
            self.best.body,
            symbol.qualified_name,
            "; ".join(f"{what} {', '.join(where)}" for what, where in notes.items() if where),
            symbol.end_line,
            members=self.best.members,
        )


async def find_body(call: Call, arguments: ScopedArguments, symbol: str, path: str) -> Body:
    """Returns the best definition of a symbol with its source. Raises SYMBOL_NOT_FOUND."""
    request = call.request(DefinitionsRequest, arguments, symbols=[symbol], path=path, include_body=True)
    reply = await call.backend.ask(DEFINITIONS, request)
    answer = reply.answers[0]
    # Functions and classes come before variables of the same name. Otherwise the order of the service is
    # kept.
    found = sorted(answer.definitions, key=lambda definition: definition.symbol.kind not in BODY_KINDS)
    if not found:
        raise _not_found(answer)
    return Body(found[0], found[1:], reply.receipt)


def _not_found(answer: SymbolAnswer) -> PrismError:
    shown = (f"There is no definition of {answer.symbol!r}.", symbols.unparsed_sentence(answer.unparsed))
    return PrismError(
        ErrorCode.SYMBOL_NOT_FOUND,
        " ".join(filter(None, shown)),
        "Try a name from details.suggestions, or search_code." if answer.suggestions else "Try search_code.",
        suggestions=list(answer.suggestions),
    )
