"""All routes of the console."""

from functools import cache, partial

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from prism_gateway.console import (
    accounts,
    branches,
    comparing,
    files,
    finding,
    health,
    knowledge,
    maps,
    repositories,
    sign_in,
    symbols,
    token_pages,
)
from prism_gateway.console.assets import PREFIX, serve_asset
from prism_gateway.console.page import PageView, answer, redirect
from prism_gateway.console.same_origin import HOME
from prism_gateway.console.sessions import Sessions
from prism_gateway.console.sign_in import SignInDesk
from prism_gateway.rates.strangers import Strangers
from prism_gateway.signon.door import SignOn

VIEWS: tuple[PageView, ...] = (
    *repositories.VIEWS,
    *finding.VIEWS,
    *files.VIEWS,
    *symbols.VIEWS,
    *branches.VIEWS,
    *comparing.VIEWS,
    *maps.VIEWS,
    *knowledge.VIEWS,
    *accounts.VIEWS,
    *token_pages.VIEWS,
    *health.VIEWS,
    repositories.REPOSITORY,  # last: its name may hold anything
)


class _NameConvertor(StringConvertor):
    """The name of a repository in a path: as few parts as possible, up to `/-/`."""

    regex = ".+?"


register_url_convertor("repository", _NameConvertor())


def console_routes(sessions: Sessions, strangers: Strangers, sign_on: SignOn) -> list[BaseRoute]:
    """Returns the routes of pages, forms, sign-in and assets."""
    return [
        Route("/", _home),
        Route(PREFIX + "{name}", serve_asset),
        *sign_in.routes(SignInDesk(sessions, strangers, sign_on)),
        *_views(),
    ]


@cache
def _views() -> tuple[BaseRoute, ...]:
    return tuple(Route(view.path, partial(_answer, view), methods=[view.method]) for view in VIEWS)


async def _home(_: Request) -> Response:
    return redirect(HOME)


async def _answer(view: PageView, request: Request) -> Response:
    return await answer(request, view)
