"""`/livez` (the process runs), `/readyz` (its dependencies answer) and `/metrics` of a service."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

READY_TIMEOUT_S = 2.0

log = logging.getLogger(__name__)

# A check raises if something is wrong.
Check = Callable[[], Awaitable[None]]


def cached(check: Check, for_s: float) -> Check:
    """Returns the check with its result cached for `for_s` seconds, because anyone may call /readyz."""
    last: tuple[float, Exception | None] | None = None

    async def ask() -> None:
        nonlocal last
        now = time.monotonic()
        if last is None or now - last[0] > for_s:
            last = (now, await _outcome(check))
        if last[1] is not None:
            raise last[1]

    return ask


async def _outcome(check: Check) -> Exception | None:
    try:
        await check()
    except Exception as error:  # noqa: BLE001 - raised to every caller
        return error
    return None


async def run_checks(checks: Mapping[str, Check], timeout_s: float = READY_TIMEOUT_S) -> dict[str, str]:
    """Run all checks in parallel. The result has `ok` or the reason for each."""
    results = await asyncio.gather(*(_run_check(check, timeout_s) for check in checks.values()))
    return dict(zip(checks, results, strict=True))


async def _run_check(check: Check, timeout_s: float) -> str:
    try:
        async with asyncio.timeout(timeout_s):
            await check()
    except TimeoutError:
        return f"no answer within {timeout_s} s"
    except Exception as error:  # noqa: BLE001 - the reason is the answer
        return f"{type(error).__name__}: {error}"[:200]
    return "ok"


def health_routes(service: str, checks: Mapping[str, Check]) -> list[Route]:
    """Returns the three routes, to mount in an app or in `health_app`."""

    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "ok", "service": service})

    async def readyz(_: Request) -> Response:
        results = await run_checks(checks)
        ready = all(result == "ok" for result in results.values())
        status = "ok" if ready else "unavailable"
        return JSONResponse({"status": status, "checks": results}, status_code=200 if ready else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    return [Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)]


def health_app(service: str, checks: Mapping[str, Check]) -> Starlette:
    """Returns the HTTP app of a service without other endpoints."""
    return Starlette(routes=health_routes(service, checks))
