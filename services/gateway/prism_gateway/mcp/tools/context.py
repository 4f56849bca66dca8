"""The tool get_context: what one needs to know to answer a question, gathered in one call."""

from typing import Annotated

from pydantic import Field

from prism_contracts.rpc.context import (
    ANSWER_CONTEXT,
    CONTEXT,
    ROUNDS_MAX,
    ContextMode,
    ContextReply,
    ContextRequest,
    Domain,
)
from prism_contracts.types import QUERY_CHARS_MAX, Word
from prism_gateway.mcp.answers import context
from prism_gateway.mcp.answers.places import several
from prism_gateway.mcp.arguments import BudgetedArguments, OneOf
from prism_gateway.mcp.schema import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    PLACE,
    RECEIPT,
    STRING,
    STRINGS,
    TRUNCATED,
    array,
    record,
)
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

DomainName = Annotated[Word, OneOf(Domain)]


class GetContext(BudgetedArguments):
    question: Annotated[str, Field(min_length=1, max_length=QUERY_CHARS_MAX)]
    mode: Annotated[Word, OneOf(ContextMode)] = ContextMode.AUTO.value
    domains: Annotated[list[DomainName], Field(max_length=len(Domain))] = []


async def get_context(call: Call, arguments: GetContext) -> Answer:
    request = call.request(ContextRequest, arguments)
    reply = await (_round_by_round(call, request) if call.report else call.backend.ask(CONTEXT, request))
    if reply.can_answer:
        reply = await call.backend.ask(ANSWER_CONTEXT, request)
        if call.report:
            await call.report(ROUNDS_MAX + 1, ROUNDS_MAX + 1, _answered(reply))
    return context.answer(reply, arguments.max_tokens)


async def _round_by_round(call: Call, request: ContextRequest) -> ContextReply:
    """Asks for one round more each time, and reports each: the searches of earlier rounds are cached."""
    assert call.report is not None
    await call.report(0, ROUNDS_MAX, "searching the domains")
    rounds = 1
    while True:
        reply = await call.backend.ask(CONTEXT, request.model_copy(update={"rounds": rounds}))
        last = reply.is_complete or rounds == ROUNDS_MAX
        total = ROUNDS_MAX + reply.can_answer
        message = _told(reply) + ("; a language model answers" if last and reply.can_answer else "")
        await call.report(ROUNDS_MAX if last else rounds, total, message)
        if last:
            return reply
        rounds += 1


def _answered(reply: ContextReply) -> str:
    return f"answered by {reply.model}" if reply.model else "no language model answered"


def _told(reply: ContextReply) -> str:
    done = reply.rounds[-1] if reply.rounds else None
    if done is None:
        return "no round was completed"
    missing = f"; missing: {', '.join(done.missing)}" if done.missing else ""
    return f"round {done.number}: {several(done.places, 'new place')}{missing}"


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "get_context",
        Toolset.CONTEXT,
        "The places that a question touches: code, documents, process. deep follows the graph.",
        GetContext,
        record(
            mode=STRING,
            reason=STRING,
            items=array(
                record(
                    domain=STRING,
                    **PLACE,
                    symbol=STRING,
                    kind=STRING,
                    content=STRING,
                    why=STRING,
                    round=INTEGER,
                    score=NUMBER,
                )
            ),
            rounds=array(
                record(number=INTEGER, calls=INTEGER, cached=INTEGER, places=INTEGER, missing=STRINGS)
            ),
            is_complete=BOOLEAN,
            missing=STRINGS,
            notes=STRINGS,
            can_answer=BOOLEAN,
            answer=array(record(text=STRING, sources=array(record(**PLACE)))),
            model=STRING,
            dropped_sentences=INTEGER,
            without_model=STRING,
            **TRUNCATED,
            **RECEIPT,
        ),
        get_context,
    ),
)
