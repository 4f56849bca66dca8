"""`/livez` (the process runs), `/readyz` (its dependencies answer) and `/metrics` of a service."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from prism_runtime.metrics import OK, ReadyMetrics

LIVE_PATH, READY_PATH, METRICS_PATH = "/livez", "/readyz", "/metrics"
READY_TIMEOUT_S = 2.0
# A scrape repeats the checks if no one asked /readyz for so long.
READY_SHOWN_S = 5.0

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
    return OK


class Readiness:
    """The checks of a service, and their last results as a metric.

    A service is ready without what `optional` checks.
    """

    def __init__(
        self, checks: Mapping[str, Check], optional: Mapping[str, Check], metrics: ReadyMetrics
    ) -> None:
        self._checks = checks
        self._optional = optional
        self._metrics = metrics
        self._looked_at = float("-inf")

    async def look(self) -> dict[str, str]:
        """Run all checks and return `ok` or the reason for each."""
        results = await run_checks({**self._optional, **self._checks})
        self._looked_at = time.monotonic()
        self._metrics.show(results)
        return results

    async def refresh(self) -> None:
        """The same, unless the results are recent."""
        if time.monotonic() - self._looked_at > READY_SHOWN_S:
            await self.look()


def health_routes(
    service: str,
    checks: Mapping[str, Check],
    metrics: CollectorRegistry,
    optional: Mapping[str, Check] = MappingProxyType({}),
) -> list[Route]:
    """Returns the three routes, to mount in an app or in `health_app`. `optional`: see `Readiness`."""
    readiness = Readiness(checks, optional, ReadyMetrics(metrics))

    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "ok", "service": service})

    async def readyz(_: Request) -> Response:
        results = await readiness.look()
        ready = all(results[check] == OK for check in checks)
        body: dict[str, object] = {
            "status": "ok" if ready else "unavailable",
            "checks": {check: results[check] for check in checks},
        }
        if optional:
            body["optional"] = {check: results[check] for check in optional}
        return JSONResponse(body, status_code=200 if ready else 503)

    async def show_metrics(request: Request) -> Response:
        await readiness.refresh()
        # OpenMetrics, which has the trace ids of slow calls, for a client that asks for it.
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(metrics), media_type=content_type)

    return [Route(LIVE_PATH, livez), Route(READY_PATH, readyz), Route(METRICS_PATH, show_metrics)]


def health_app(
    service: str,
    checks: Mapping[str, Check],
    metrics: CollectorRegistry,
    optional: Mapping[str, Check] = MappingProxyType({}),
) -> Starlette:
    """Returns the HTTP app of a service without other endpoints."""
    return Starlette(routes=health_routes(service, checks, metrics, optional))
