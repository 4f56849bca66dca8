"""The toolset `feedback`: what an agent says about an answer."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_gateway.mcp.arguments import Arguments
from prism_gateway.mcp.schema import BOOLEAN, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset


class SendFeedback(Arguments):
    useful: bool
    # A list, because strict validation takes no array for a tuple.
    hits: Annotated[
        list[types.FeedbackHit],
        Field(
            max_length=types.FEEDBACK_HITS_MAX,
            description="ids or path:line of hits; default: the whole answer",
        ),
    ] = []
    query: Annotated[types.Query, Field(description="the question")] = ""
    comment: Annotated[types.ShortText, Field(description="what was missing")] = ""


async def send_feedback(call: Call, arguments: SendFeedback) -> Answer:
    await call.history.keep_feedback(
        call.caller,
        useful=arguments.useful,
        hits=arguments.hits,
        query=arguments.query,
        comment=arguments.comment,
    )
    return Answer({"stored": True}, "Stored. Thank you.")


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "send_feedback",
        Toolset.FEEDBACK,
        "Say whether an answer, or some of its hits, was useful.",
        SendFeedback,
        record(stored=BOOLEAN),
        send_feedback,
        effect=Effect.TAKES,
    ),
)
