"""Answers search questions about one symbol from the graph: its callers, tests, definition or implementations.

The graph's answer comes first, cut short, and a few hits follow. A name that nothing defines is left to the search.
"""

import re
from enum import Enum, auto
from typing import NamedTuple

from prism_contracts.errors import PrismError
from prism_contracts.rpc.graph import IMPACT, TYPE_HIERARCHY, ImpactRequest, TypeHierarchyRequest
from prism_contracts.rpc.symbols import DEFINITIONS, REFERENCES, DefinitionsRequest, ReferencesRequest
from prism_gateway.mcp.answers import impacts, references, symbols, types
from prism_gateway.mcp.arguments import ScopedArguments
from prism_gateway.mcp.tool import Answer, Call

LINES_MAX = 12
TOKENS_MAX = 400
_NAME = r"`?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?:\(\))?`?\s*\??$"


class Asked(Enum):
    """What a question asks about a symbol."""

    CALLERS = auto()
    TESTS = auto()
    DEFINITION = auto()
    SUBTYPES = auto()


_QUESTIONS = {
    Asked.CALLERS: (
        rf"(?:who|what|which functions?) (?:calls?|uses?|invokes?) {_NAME}",
        rf"(?:callers|usages?|uses|references) (?:of|to) {_NAME}",
        rf"where is (?:called|used) {_NAME}",
    ),
    Asked.TESTS: (
        rf"(?:the )?tests? (?:of|for|that (?:use|cover|exercise)) {_NAME}",
        rf"(?:who|what) tests {_NAME}",
    ),
    Asked.DEFINITION: (rf"(?:definition of|define|where (?:is|do we define)) {_NAME}",),
    Asked.SUBTYPES: (
        rf"(?:implementations?|implementers|subtypes|subclasses) of {_NAME}",
        rf"(?:who|what|which (?:classes|types)) (?:implements?|extends?) {_NAME}",
    ),
}
_PATTERNS = [
    (asked, re.compile(f"^{pattern}", re.IGNORECASE))
    for asked, known in _QUESTIONS.items()
    for pattern in known
]
# `where is X defined`, `where is X used`: the verb behind the name.
_TRAILING = re.compile(
    r"^where is (?P<name>\S+) (?P<verb>defined|declared|called|used)\s*\??$", re.IGNORECASE
)


class GraphQuestion(NamedTuple):
    """A question about one symbol."""

    asked: Asked
    symbol: str


def read_question(query: str) -> GraphQuestion | None:
    """Returns what a query asks about a symbol, if it asks nothing else."""
    text = " ".join(query.split())
    trailing = _TRAILING.match(text)
    if trailing:
        is_definition = trailing["verb"].lower() in {"defined", "declared"}
        symbol = trailing["name"].strip("`").removesuffix("()")
        return GraphQuestion(Asked.DEFINITION if is_definition else Asked.CALLERS, symbol)
    for asked, pattern in _PATTERNS:
        if found := pattern.match(text):
            return GraphQuestion(asked, found["name"])
    return None


async def graph_answer(call: Call, question: GraphQuestion, arguments: ScopedArguments) -> Answer | None:
    """Returns the graph's answer in short; None if it has none."""
    try:
        return await _answer(call, question, arguments)
    except PrismError:
        return None


async def _answer(call: Call, question: GraphQuestion, arguments: ScopedArguments) -> Answer | None:
    symbol, ask = question.symbol, call.backend.ask
    scope = ScopedArguments(repo=arguments.repo, ref=arguments.ref)
    match question.asked:
        case Asked.TESTS:
            impact = call.request(ImpactRequest, scope, symbol=symbol, with_text=True)
            return impacts.impact(await ask(IMPACT, impact), TOKENS_MAX)
        case Asked.SUBTYPES:
            hierarchy = call.request(TypeHierarchyRequest, scope, symbol=symbol, with_text=True)
            return types.type_hierarchy(await ask(TYPE_HIERARCHY, hierarchy), TOKENS_MAX)
        case Asked.DEFINITION:
            defined = await ask(DEFINITIONS, call.request(DefinitionsRequest, scope, symbols=[symbol]))
            return symbols.definitions(defined, TOKENS_MAX) if defined.answers[0].definitions else None
        case Asked.CALLERS:
            request = call.request(ReferencesRequest, scope, symbols=[symbol], limit=LINES_MAX)
            used = await ask(REFERENCES, request)
            return references.answer(used, request) if used.answers[0].definitions else None
