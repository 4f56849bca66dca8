"""The page of health: whether the parts answer, the queues, and what was given up on."""

import asyncio
from typing import Final, NamedTuple

from starlette.responses import Response

from prism_gateway.console.page import PageView, Visit
from prism_gateway.status import status_of
from prism_runtime.health import Check

SEARCH: Final = "search"


class CheckedPart(NamedTuple):
    """A part of Prism, and why it does not answer; empty if it does."""

    name: str
    what: str
    problem: str


async def health(visit: Visit) -> Response:
    """What answers and what waits. A part that fails shows its own reason."""
    timeout_s = visit.settings.status_timeout_s

    async def part(name: str, what: str, check: Check) -> CheckedPart:
        try:
            async with asyncio.timeout(timeout_s):
                await check()
        except Exception as error:  # noqa: BLE001 - shown as the reason
            return CheckedPart(name, what, str(error) or type(error).__name__)
        return CheckedPart(name, what, "")

    *parts, report = await asyncio.gather(
        part("NATS", "the bus and the records", visit.bus.check),
        part("Tokens", "their bucket can be read", visit.parts.tokens.check),
        part("Search", "answers questions", lambda: visit.bus.ping(SEARCH)),
        status_of(visit.backend, visit.bus.js, timeout_s),
    )
    return visit.show("health.html", parts=parts, report=report)


VIEWS: Final = (PageView("/health", "GET /status", health),)
