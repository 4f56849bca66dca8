"""Measures every HTTP request: its route, its status, how long it took, how many bytes it moved."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prism_gateway.accounting.call_log import STATUS_LEFT, CallLog
from prism_gateway.accounting.traced_calls import BEGAN_KEY, EXEMPLAR_KEY
from prism_gateway.route_names import RouteNames
from prism_runtime.metrics import CALL_BUCKETS_S, OTHER

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STATUS_CRASHED = 500


class HttpMetrics:
    """HTTP requests that the gateway answered."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "prism_http_requests",
            "HTTP requests by template of the route (`other`: no route), method and status (499: the client "
            "left before its answer).",
            ["route", "method", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "prism_http_request_seconds",
            "Seconds from a request until the end of its answer, by route and method.",
            ["route", "method"],
            registry=registry,
            buckets=CALL_BUCKETS_S,
        )
        self.in_flight = Gauge(
            "prism_http_requests_in_flight", "HTTP requests that are not answered yet.", registry=registry
        )
        sizes = Counter(
            "prism_http_bytes",
            "Bytes of HTTP bodies by direction: in, out.",
            ["direction"],
            registry=registry,
        )
        self.bytes_in, self.bytes_out = sizes.labels("in"), sizes.labels("out")

    def observe(
        self, route: str, method: str, status: int, seconds: float, trace: dict[str, str] | None
    ) -> None:
        """Count a request that is over. `trace` is its exemplar."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds, trace)


class HttpTraffic:
    """ASGI middleware around all others, so that it also counts and logs what they refuse."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics, calls: CallLog, routes: RouteNames) -> None:
        self._app = app
        self._metrics = metrics
        self._calls = calls
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request and measure it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, metrics = time.perf_counter(), STATUS_LEFT, self._metrics
        scope.setdefault("state", {})[BEGAN_KEY] = time.time_ns()

        async def receive_counted() -> Message:
            message = await receive()
            if body := message.get("body"):
                metrics.bytes_in.inc(len(body))
            return message

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif body := message.get("body"):
                metrics.bytes_out.inc(len(body))
            await send(message)

        metrics.in_flight.inc()
        try:
            await self._app(scope, receive_counted, send_counted)
        except Exception:
            status = STATUS_CRASHED
            raise
        finally:
            metrics.in_flight.dec()
            method = scope["method"] if scope["method"] in METHODS else OTHER
            route, seconds = self._routes.of(scope), time.perf_counter() - began
            metrics.observe(route, method, status, seconds, scope["state"].get(EXEMPLAR_KEY))
            self._calls.write(scope, f"{method} {route}", status, seconds)
