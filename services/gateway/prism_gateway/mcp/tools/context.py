"""The tool get_context: what one needs to know to answer a question, gathered in one call."""

from typing import Annotated

from pydantic import Field

from prism_contracts.rpc.context import (
    ANSWER_CONTEXT,
    ROUNDS_MAX,
    ContextMode,
    ContextReply,
    ContextRequest,
    Domain,
)
from prism_contracts.types import QUERY_CHARS_MAX, Word
from prism_gateway.context import rounds_of
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
    reply = await _gathered(call, request)
    if reply.can_answer:
        reply = await call.backend.ask(ANSWER_CONTEXT, request)
        await _report(call, ROUNDS_MAX + 1, ROUNDS_MAX + 1, _answered(reply))
    return context.answer(reply, arguments.max_tokens)


async def _gathered(call: Call, request: ContextRequest) -> ContextReply:
    """Returns the context. Each of its rounds is reported."""
    await _report(call, 0, ROUNDS_MAX, "searching the domains")
    rounds = 0
    async for reply in rounds_of(call.backend, request):
        rounds += 1
        last = reply.is_complete or rounds == ROUNDS_MAX
        message = _told(reply) + ("; a language model answers" if last and reply.can_answer else "")
        await _report(call, ROUNDS_MAX if last else rounds, ROUNDS_MAX + reply.can_answer, message)
    return reply


async def _report(call: Call, done: int, total: int, message: str) -> None:
    if call.report:
        await call.report(done, total, message)


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
