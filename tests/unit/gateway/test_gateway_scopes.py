"""Permissions of tokens by scope."""

import pytest
from fastapi.routing import iter_route_contexts
from visibility_cases import ABSENT, requests_to, route_cases, unknown_arguments

from prism_contracts.errors import ErrorCode, PrismError
from prism_gateway.app import rest_router
from prism_gateway.callers import Caller
from prism_gateway.mcp.tool import Effect
from prism_gateway.mcp.toolsets import TOOLS
from prism_gateway.scopes import ADMIN, ANY, OPEN_ROUTES, OPERATOR, READ, ROUTES, WRITE, check_scope
from prism_gateway.scopes import TOOLS as TOOL_SCOPES


def caller(*scopes: str) -> Caller:
    return Caller("acme", frozenset(scopes), "token:0123456789ab", "ci")


def test_every_route_has_a_scope() -> None:
    routes = {
        f"{method} {context.original_route.path}"
        for context in iter_route_contexts(rest_router().routes)
        for method in context.original_route.methods
    }
    assert routes == ROUTES.keys() | OPEN_ROUTES


def test_every_tool_has_a_scope() -> None:
    assert {tool.name for tool in TOOLS} == TOOL_SCOPES.keys()


def test_every_route_and_tool_has_a_case_of_what_it_hides() -> None:
    """`tests/system/test_visibility.py` makes the calls of these cases."""
    assert route_cases(ABSENT).keys() == ROUTES.keys() | OPEN_ROUTES
    for route in route_cases(ABSENT):
        assert list(requests_to(route, ABSENT)), route
    missing = {tool.name: unknown_arguments(tool.definition(structured=True).input_schema) for tool in TOOLS}
    assert not {name: arguments for name, arguments in missing.items() if arguments}


# A reader may say whether an answer was useful. It changes nothing that others read.
FEEDBACK = {"send_feedback", "POST /feedback"}
# A person may sign in with any token, and may then do what it allows.
SIGN_IN = "POST /sign-in-codes"


def test_a_writing_tool_needs_the_scope_write_or_admin() -> None:
    for tool in TOOLS:
        is_writing = tool.effect is not Effect.READS and tool.name not in FEEDBACK
        assert (TOOL_SCOPES[tool.name] in {WRITE, ADMIN}) is is_writing, tool.name


def test_a_writing_route_needs_more_than_read() -> None:
    tags = "POST /documents/{document}/tags"
    questions = {
        "POST /search",
        "POST /grep",
        "POST /context",
        "POST /documents/search",
        tags,
        SIGN_IN,
        *FEEDBACK,
    }
    for route, needed in ROUTES.items():
        is_writing = not route.startswith("GET ") and route not in questions
        assert READ.isdisjoint(needed) or not is_writing, route


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (("read", "write"), {READ, WRITE, ANY}),
        (("read",), {READ, ANY}),
        (("write",), {WRITE, ANY}),
        ((), set()),
        (("admin",), {ADMIN}),
        (("operator",), {ADMIN, OPERATOR}),
        (("read", "write", "admin", "operator"), {READ, WRITE, ANY, ADMIN, OPERATOR}),
        (("everything",), set()),
    ],
)
def test_a_token_is_limited_to_its_scopes(scopes, allowed) -> None:
    for needed in (READ, WRITE, ANY, ADMIN, OPERATOR):
        if needed in allowed:
            check_scope(caller(*scopes), needed)
            continue
        with pytest.raises(PrismError) as caught:
            check_scope(caller(*scopes), needed)
        assert caught.value.code is ErrorCode.FORBIDDEN
        assert caught.value.body.next_action


def test_no_route_or_tool_is_open_without_a_scope() -> None:
    with pytest.raises(PrismError):
        check_scope(caller("read", "write", "admin", "operator"), frozenset())
