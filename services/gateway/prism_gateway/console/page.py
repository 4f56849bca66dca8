"""What each page has at hand: the request, the caller, the services as that caller may use them, and rendering."""

import asyncio
import gzip
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from prism_contracts import names
from prism_contracts.base import Message
from prism_contracts.errors import ErrorBody, ErrorCode, PrismError, http_status, invalid_argument
from prism_contracts.registry import Rpc
from prism_contracts.rpc.common import CallerRequest
from prism_gateway.accounting.facts import CallFacts, facts_of
from prism_gateway.backend import Backend, BackendServices
from prism_gateway.callers import Caller, caller_of
from prism_gateway.console import formats
from prism_gateway.console.assets import asset_url, takes_gzip
from prism_gateway.console.same_origin import cookie_name, is_secure
from prism_gateway.outages import NATS_OUTAGES, outage_body
from prism_gateway.rates.policies import CLASS_OF_ROUTE, CLASS_OF_TOOL, CallClass
from prism_gateway.route_names import TEMPLATE_KEY
from prism_gateway.scopes import ROUTES, TOOLS, TokenScope, check_scope, granted
from prism_gateway.settings import GatewaySettings
from prism_runtime.bus import Bus

TEMPLATES: Final = Path(__file__).with_name("templates")
# A script asks for the changing part of a page with it.
FRAGMENT_HEADER: Final = "x-prism-fragment"
GZIP_BYTES_MIN: Final = 1_400
FORM_FIELDS_MAX: Final = 50
DIGITS_MAX: Final = 9
ERROR_STATUS_MIN: Final = 400
SEE_OTHER: Final = 303
# What the count of dead letters in the menu needs, and how long a page waits for it.
LETTERS_CALL: Final = "GET /status"
LETTERS_S: Final = 0.5

RequestT = TypeVar("RequestT", bound=CallerRequest)
ReplyT = TypeVar("ReplyT", bound=Message)
BodyT = TypeVar("BodyT", bound=BaseModel)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PageView:
    """A page, or what a form on a page does.

    `call` is the route or the tool that asks the same. It decides the scope, the limits, and how the call is
    counted and recorded.
    """

    path: str
    call: str
    run: Callable[["Visit"], Awaitable[Response]]
    method: str = "GET"


@dataclass(frozen=True)
class Visit:
    """One request for a page by somebody who is signed in."""

    request: Request
    view: PageView
    backend: Backend
    facts: CallFacts
    letters: int = 0  # messages that were given up, for the menu

    @property
    def caller(self) -> Caller:
        """Who is signed in."""
        return self.backend.caller

    @property
    def tenant(self) -> str:
        """The caller's tenant."""
        return self.caller.tenant

    @property
    def parts(self) -> Any:
        """The parts of the gateway, see `GatewayParts`."""
        return self.request.app.state.parts

    @property
    def settings(self) -> GatewaySettings:
        """The settings of the gateway."""
        return cast("GatewaySettings", self.request.app.state.settings)

    @property
    def bus(self) -> Bus:
        """The connection to NATS."""
        return cast("Bus", self.request.app.state.bus)

    @property
    def is_fragment(self) -> bool:
        """Whether a script asks for the changing part of the page."""
        return FRAGMENT_HEADER in self.request.headers

    @property
    def cookie(self) -> str:
        """The secret of the session."""
        return cookie_of(self.request, self.settings.public_url)

    @cached_property
    def query(self) -> Mapping[str, str]:
        """The parameters of the address."""
        return self.request.query_params

    def part(self, name: str) -> str:
        """Returns a part of the path."""
        return str(self.request.path_params.get(name, ""))

    def may(self, call: str) -> bool:
        """Whether the token allows a route or tool."""
        return allows(self.caller, call)

    async def ask(self, rpc: Rpc[RequestT, ReplyT], /, **fields: object) -> ReplyT:
        """Send a request to its service. Raises PrismError, also for fields that are not valid."""
        try:
            request = rpc.request.model_validate({"tenant": self.tenant, **fields})
        except ValidationError as error:
            raise invalid(error) from error
        return await self.backend.ask(rpc, request)

    async def form(self) -> dict[str, str]:
        """Returns the fields of a form, without empty ones."""
        return dict(await form_fields(self.request))

    def noted(self, error: PrismError) -> ErrorBody:
        """Returns what the page says about an error, which counts as the outcome of the call."""
        self.facts.code = error.code.value
        return error.body

    def number(self, name: str, default: int = 0, *, digits: int = DIGITS_MAX) -> int:
        """Returns a parameter of the address as a number; the default for anything else."""
        return number_in(self.query.get(name, ""), default, digits=digits)

    def show(self, template: str, /, *, status: int = 200, **values: object) -> Response:
        """Render a page for the caller."""
        shared = {"me": self.caller, "may": self.may, "letters": self.letters}
        return render(self.request, template, status=status, **{**shared, **values})


def body_as(model: type[BodyT], fields: Mapping[str, object]) -> BodyT:
    """Returns fields of a form as the body of the route that takes the same. Raises PrismError."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise invalid(error) from error


def cookie_of(request: Request, public_url: str) -> str:
    """Returns the secret of a session; empty without one."""
    return request.cookies.get(cookie_name(is_secure=is_secure(request.url.scheme, public_url)), "")


def number_in(text: str, default: int = 0, *, digits: int = DIGITS_MAX) -> int:
    """Returns a text as a whole number; the default for one that is none, or has more digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= digits
    return int(text) if is_number else default


async def form_fields(request: Request) -> list[tuple[str, str]]:
    """Returns the fields of a form, in order, without empty ones."""
    try:
        body = (await request.body()).decode()
        fields = parse_qsl(body, max_num_fields=FORM_FIELDS_MAX)
    except ValueError as error:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT, "The form cannot be read.", "Load the page again, and send it again."
        ) from error
    return [(name, value.strip()) for name, value in fields if value.strip()]


def allows(caller: Caller | None, call: str) -> bool:
    """Whether a caller's token allows a route or tool."""
    return caller is not None and not scopes_of(call).isdisjoint(granted(caller.scopes))


def scopes_of(call: str) -> frozenset[TokenScope]:
    """Returns the scopes that a route or tool needs."""
    return ROUTES.get(call) or TOOLS.get(call) or frozenset()


async def visit(request: Request, view: PageView) -> Visit:
    """Admit a request as the call of its view. Raises PrismError if the token or its limits do not allow it."""
    caller, facts = caller_of(request), facts_of(request)
    call_class = CLASS_OF_ROUTE.get(view.call) or CLASS_OF_TOOL.get(view.call, CallClass.OTHER)
    facts.call = view.call
    check_scope(caller, scopes_of(view.call))
    facts.admission = await request.app.state.parts.limiter.admit(caller, call_class)
    facts.admission.check()
    services = cast("BackendServices", request.app.state.backend)
    made = Visit(request, view, services.of(caller, facts), facts)
    return replace(made, letters=await _letters(made))


async def _letters(visit: Visit) -> int:
    """Returns how many messages of the tenant were given up, if the menu of the page shows it."""
    sees_all = visit.backend.visible is None and visit.may(LETTERS_CALL)
    if visit.view.method != "GET" or visit.is_fragment or not sees_all:
        return 0
    subjects = names.dead_letter_subject(visit.tenant, "*", "*")
    try:
        async with asyncio.timeout(LETTERS_S):
            info = await visit.bus.js.stream_info(names.DEAD_LETTERS, subjects_filter=subjects)
    except TimeoutError:
        return 0
    except NATS_OUTAGES:
        return 0
    return sum((info.state.subjects or {}).values())


async def answer(request: Request, view: PageView) -> Response:
    """Answer a request for a view, errors included."""
    request.scope["state"][TEMPLATE_KEY] = view.path
    try:
        return await view.run(await visit(request, view))
    except Exception as error:  # noqa: BLE001 - every error is a page
        return show_error(request, body_of(error))


def show_error(request: Request, body: ErrorBody) -> Response:
    """Render an error as a page: what happened, and what to do next."""
    state = request.scope.get("state", {})
    if facts := state.get("call"):
        facts.code = body.code.value
    me: Caller | None = state.get("caller")
    template = "_error.html" if FRAGMENT_HEADER in request.headers else "error.html"
    status = http_status(body.code)
    return render(request, template, status=status, me=me, error=body, may=partial(allows, me))


def body_of(error: Exception) -> ErrorBody:
    """Returns what a page says about an exception."""
    if isinstance(error, PrismError):
        return error.body
    if isinstance(error, NATS_OUTAGES):
        return outage_body(error)
    if isinstance(error, HTTPException) and error.status_code == 413:  # noqa: PLR2004
        return ErrorBody(
            code=ErrorCode.PAYLOAD_TOO_LARGE, message="The form is too large.", next_action="Send less."
        )
    log.error("a page failed", exc_info=error)
    return ErrorBody(
        code=ErrorCode.INTERNAL,
        message="Something went wrong inside the gateway. Its log has the details.",
        next_action="Load the page again. If the error persists, check `prism status` and the logs.",
    )


def invalid(error: ValidationError) -> PrismError:
    """Returns the error for fields that are not valid."""
    problems = error.errors(include_url=False, include_input=False)
    body = invalid_argument(problems, "Correct the field, and send it again.")
    return PrismError(body.code, body.message, body.next_action, **body.details)


def render(request: Request, template: str, *, status: int = 200, **values: object) -> Response:
    """Render a template. Pages are never cached: they are of one person, and of one moment."""
    html = environment().get_template(template).render(path=request.url.path, **values)
    headers = {"Cache-Control": "no-store"}
    content = html.encode(errors="replace")
    # What is shown once is not compressed: the length of a page must say nothing about a secret on it.
    if len(content) >= GZIP_BYTES_MIN and not values.get("secret") and takes_gzip(request):
        content = gzip.compress(content, compresslevel=3, mtime=0)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return HTMLResponse(content, status_code=status, headers=headers)


def redirect(path: str) -> Response:
    """Go to another page, with GET."""
    return RedirectResponse(path, SEE_OTHER, headers={"Cache-Control": "no-store"})


def fragment(template: str, **values: object) -> str:
    """Render a part of a page, for a stream."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """Returns the templates. Everything that a template prints is escaped."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["asset"] = asset_url
    made.globals |= formats.GLOBALS
    made.filters |= formats.FILTERS
    return made
