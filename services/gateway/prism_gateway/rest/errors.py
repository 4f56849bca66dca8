"""Errors over HTTP: always `{"error": ErrorBody}`, with the status of the code."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, http_status, invalid_argument, shown
from prism_gateway.accounting.facts import FACTS_KEY
from prism_gateway.accounting.traced_calls import traced
from prism_gateway.outages import NATS_OUTAGES, outage_body

RETRY_AFTER_S = 2
ERROR_STATUS_MIN = 400
CODES_BY_STATUS = {
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
    429: ErrorCode.RATE_LIMITED,
    503: ErrorCode.UNAVAILABLE,
}


def error_response(body: ErrorBody, status: int = 0, content: dict[str, object] | None = None) -> Response:
    """Returns the HTTP response of an error. `content` replaces the standard body."""
    headers, body = {}, traced(body)
    if body.code is ErrorCode.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    if body.code in (ErrorCode.RATE_LIMITED, ErrorCode.UNAVAILABLE, ErrorCode.REQUEST_IN_PROGRESS):
        headers["Retry-After"] = str(body.details.get("retry_after_s", RETRY_AFTER_S))
    content = content or {"error": body.model_dump(mode="json")}
    return JSONResponse(content, status_code=status or http_status(body.code), headers=headers)


def install(app: FastAPI) -> None:
    """Give every error of the app the same shape."""
    app.add_exception_handler(PrismError, _on_prism_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(ValidationError, _on_invalid_model)
    app.add_exception_handler(PydanticSerializationError, _on_half_character)
    app.add_exception_handler(HTTPException, _on_http_error)
    for outage in NATS_OUTAGES:
        app.add_exception_handler(outage, _on_nats_outage)
    app.add_exception_handler(Exception, _on_crash)


async def _on_prism_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PrismError)
    return _answer(request, error.body)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # A location starts with the part of the request: body, query, path, header.
    problems = [{**problem, "loc": problem["loc"][1:]} for problem in error.errors()]
    return _answer(request, invalid_argument(problems, "Correct the request. /docs describes it."))


async def _on_invalid_model(request: Request, error: Exception) -> Response:
    """Handles values that the route accepts and the request to the service does not.

    An invalid reply is a bug of Prism.
    """
    assert isinstance(error, ValidationError)
    if not error.title.endswith("Request"):
        raise error
    problems = error.errors(include_url=False, include_input=False)
    return _answer(request, invalid_argument(problems, "Correct the request. /docs describes it."))


async def _on_half_character(request: Request, __: Exception) -> Response:
    """Handles lone surrogates: JSON can contain them, and UTF-8 cannot."""
    body = ErrorBody(
        code=ErrorCode.INVALID_ARGUMENT,
        message="The request contains a lone surrogate, which is not a character.",
        next_action="Send text that UTF-8 can encode.",
    )
    return _answer(request, body)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = ErrorBody(
        code=CODES_BY_STATUS.get(error.status_code, ErrorCode.INVALID_ARGUMENT),
        message=f"{request.method} {shown(request.url.path)}: {error.detail}",
        next_action="Send a smaller message." if error.status_code == 413 else "/docs lists all endpoints.",  # noqa: PLR2004
    )
    return _answer(request, body, error.status_code)


async def _on_nats_outage(request: Request, error: Exception) -> Response:
    return _answer(request, outage_body(error))


async def _on_crash(_: Request, __: Exception) -> Response:
    # The server logs the exception after this response is sent.
    return error_response(
        ErrorBody(
            code=ErrorCode.INTERNAL,
            message="Something went wrong inside the gateway. Its log has the details.",
            next_action="Retry. If the error persists, check `prism status` and the logs.",
        )
    )


def _answer(request: Request, body: ErrorBody, status: int = 0) -> Response:
    """Returns the response of an error, whose code usage and audit take."""
    if facts := request.scope.get("state", {}).get(FACTS_KEY):
        facts.code = body.code.value
    return error_response(body, status)
