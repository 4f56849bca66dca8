"""Errors as agents read them."""

import asyncio
import logging

import httpx2
import pytest
from fastapi import FastAPI
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import ServiceUnavailableError
from pydantic import ValidationError

from prism_contracts.errors import ErrorBody, ErrorCode
from prism_gateway.mcp.errors import error_text, to_body
from prism_gateway.mcp.tools.code import TOOLS
from prism_gateway.rest import errors

SEARCH = TOOLS[0]


def test_names_mentioned_by_next_action_are_in_the_text() -> None:
    body = ErrorBody(
        code=ErrorCode.REPO_NOT_FOUND,
        message="No such repository.",
        next_action="Use one of details.repositories.",
        details={"repositories": [f"acme/{number}" for number in range(30)], "limit": 3},
    )
    text = error_text(body)
    assert text.startswith("repo_not_found: No such repository. — Use one of details.repositories.")
    assert text.endswith("acme/8, acme/9.")


def test_an_unknown_argument_error_lists_the_accepted_ones() -> None:
    try:
        SEARCH.arguments.model_validate({"query": "x", "branch": "main"})
    except ValidationError as error:
        body = to_body(SEARCH, error)
    assert body.message == "branch: is not known here"
    assert body.details["fields"] == ["branch"]
    assert body.next_action.startswith("search_code accepts: ")
    assert "query" in body.details["accepted"]


def test_a_crash_is_logged_and_hidden_from_the_caller(caplog) -> None:
    caplog.set_level(logging.ERROR)
    body = to_body(SEARCH, RuntimeError("secret detail"))
    assert body.code is ErrorCode.INTERNAL
    assert "secret" not in body.model_dump_json()
    assert "secret detail" in caplog.text


OUTAGES = (NatsTimeoutError(), ServiceUnavailableError(code=503, err_code=10008), NoRespondersError())


@pytest.mark.parametrize("outage", OUTAGES, ids=lambda error: type(error).__name__)
def test_an_outage_of_nats_is_no_bug(outage: Exception) -> None:
    assert to_body(SEARCH, outage).code is ErrorCode.UNAVAILABLE
    app = FastAPI()
    errors.install(app)

    @app.get("/")
    async def fail() -> None:
        raise outage

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as http:
            return await http.get("/")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert answer.headers["Retry-After"]
