"""Errors of tools: a result with `isError`, the code for programs, and one line for readers."""

import logging

from mcp.types import CallToolResult, TextContent
from pydantic import ValidationError
from starlette.responses import Response

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, invalid_argument, shown
from prism_gateway.accounting.traced_calls import traced
from prism_gateway.mcp.tool import AnyTool
from prism_gateway.outages import NATS_OUTAGES, outage_body
from prism_gateway.rest.errors import error_response

NAMES_SHOWN_MAX = 10
# From the range that JSON-RPC 2.0 reserves for servers.
REFUSED = -32_001

log = logging.getLogger(__name__)


def error_result(body: ErrorBody) -> CallToolResult:
    """Returns an error as the result of a tool."""
    body = traced(body)
    return CallToolResult(
        content=[TextContent(type="text", text=error_text(body))],
        structured_content={"error": body.model_dump(mode="json")},
        is_error=True,
    )


def refusal(body: ErrorBody) -> Response:
    """Returns an error that occurs before a tool is called, with the HTTP status of its code.

    It is a JSON-RPC error, because clients show no other body.
    """
    error = {"code": REFUSED, "message": error_text(body), "data": body.model_dump(mode="json")}
    return error_response(body, content={"jsonrpc": "2.0", "id": None, "error": error})


def error_text(body: ErrorBody) -> str:
    """Returns the error as one line, with its details: many clients show only the text to their agent."""
    text = f"{body.code.value}: {body.message}"
    if body.next_action:
        text += f" — {body.next_action}"
    for key, value in body.details.items():
        if f"details.{key}" in body.next_action and isinstance(value, list | tuple):
            text += f" {key}: {', '.join(map(str, value[:NAMES_SHOWN_MAX]))}."
    return text


def to_body(tool: AnyTool, error: Exception) -> ErrorBody:
    """Returns the error to report for an exception of a tool. Only unexpected ones are logged."""
    if isinstance(error, PrismError):
        return error.body
    if isinstance(error, ValidationError):
        accepted = list(tool.arguments.model_fields)
        return invalid_argument(
            error.errors(include_url=False, include_input=False),
            f"{tool.name} accepts: {', '.join(accepted) or 'no arguments'}.",
            accepted=accepted,
        )
    if isinstance(error, NATS_OUTAGES):
        return outage_body(error)
    log.error("tool %s failed", tool.name, exc_info=error)
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message="Something went wrong inside the gateway. Its log has the details.",
        next_action="Retry. If the error persists, check `prism status` and the logs.",
    )


def unknown_tool(name: str, known: list[str]) -> ErrorBody:
    """Returns the error for an unknown tool."""
    return ErrorBody(
        code=ErrorCode.INVALID_ARGUMENT,
        message=f"There is no tool {shown(name)!r}.",
        next_action=f"Call one of: {', '.join(known)}.",
        details={"tools": known},
    )
