"""From the arguments of a tool to requests of other services, and to pages that fit."""

from dataclasses import replace
from typing import cast

import pytest

from prism_contracts.base import Message
from prism_contracts.registry import Rpc
from prism_contracts.rpc.files import ListFilesRequest, OutlineRequest
from prism_contracts.rpc.symbols import ReferencesRequest
from prism_gateway.accounting.history import HistoryLog
from prism_gateway.backend import Backend, BackendServices
from prism_gateway.callers import Caller
from prism_gateway.mcp.tool import Call, ask_for_what_fits
from prism_gateway.mcp.tools.code import FindReferences, GetFileOutline

CALLER = Caller("acme", frozenset({"read"}), "token:0123456789ab", "")
HISTORY = cast("HistoryLog", None)
CALL = Call(
    Backend(cast("BackendServices", None), CALLER, None), "acme/header", "topic", "c0ffee1", 1, HISTORY
)


@pytest.mark.parametrize(("given", "asked"), [("", "acme/header"), ("acme/app", "acme/app")])
def test_the_repo_argument_wins_over_the_header(given, asked) -> None:
    request = CALL.request(OutlineRequest, GetFileOutline(repo=given, file_path="a.py"))
    assert request == OutlineRequest(
        tenant="acme", repo=asked, ref="topic", wait_for_commit="c0ffee1", path="a.py"
    )


@pytest.mark.parametrize(("given", "asked"), [("", "topic"), ("pull/7", "pull/7")])
def test_the_ref_argument_wins_over_the_header(given, asked) -> None:
    request = CALL.request(OutlineRequest, GetFileOutline(ref=given, file_path="a.py"))
    assert (request.ref, request.wait_for_commit) == (asked, "c0ffee1")


def test_arguments_map_to_fields_with_other_names() -> None:
    arguments = FindReferences(symbols=["get"], file_path="a.py", reference_type="calls", limit=7)
    request = CALL.request(ReferencesRequest, arguments, symbols=["set"])
    assert (request.path, request.reference_type, request.limit) == ("a.py", "calls", 7)
    assert request.symbols == ("set",)


class Page(Message):
    """A reply of numbers."""

    items: tuple[int, ...]


NUMBERS = Rpc("search.numbers", ListFilesRequest, Page)


class NumbersServices(BackendServices):
    def __init__(self) -> None:
        pass

    async def ask(self, rpc: Rpc[ListFilesRequest, Page], request: ListFilesRequest) -> Page:
        return rpc.reply(items=tuple(range(min(request.limit, 9))))


@pytest.mark.parametrize(("fitting", "shown", "cut_off"), [(8, 8, True), (9, 9, False), (10, 9, False)])
async def test_a_page_that_does_not_fit_is_requested_smaller(fitting, shown, cut_off) -> None:
    request = ListFilesRequest(tenant="acme")
    call = replace(CALL, backend=Backend(NumbersServices(), CALLER, None))
    page, more = await ask_for_what_fits(
        call, NUMBERS, request, lambda reply: len(reply.items), lambda _: fitting
    )
    assert (len(page.items), more) == (shown, cut_off)
