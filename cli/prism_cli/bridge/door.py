"""The way to the gateway: an HTTP transport that finds it for each request, and waits while it is unavailable.

In: requests of the SDK's client. Out: responses, never an exception: after one, that client answers "Connection
closed" for ever. A failure is a JSON-RPC error with the code of the gateway's own refusals. A request is sent
again only if no byte of it was sent.
"""

import asyncio
import json
import time
from collections.abc import Callable

import httpx2

from prism_cli.exits import CommandError
from prism_cli.stack.layout import DataDir, data_dir
from prism_cli.stack.lock import holder
from prism_cli.target import NOT_RUNNING, ServerTarget

# A gateway on another machine, or a local stack that may come up.
CONNECT_PATIENCE_S = 10.0
# A supervisor that runs restarts its gateway: within seconds, or half a minute on a busy machine. Clients give a
# call up after 60 s, and its answer needs some of them.
RESTART_PATIENCE_S = 45.0
CONNECT_S_MAX = 3.0
RETRY_S = 0.2
# The gateway answers or reports progress sooner: the longest tool waits for an import.
SILENCE_S_MAX = 300.0
# The JSON-RPC code of refusals, as in prism_gateway.mcp.errors.
REFUSED = -32_001
# The transport replaces it by the address of the gateway.
ANY_URL = "http://prism/mcp"

NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout)


class GatewayDoor(httpx2.AsyncBaseTransport):
    """Sends each request to the gateway that runs at that moment, with its token."""

    def __init__(
        self,
        find: Callable[[], ServerTarget],
        inner: httpx2.AsyncBaseTransport | None = None,
        patience_s: float = CONNECT_PATIENCE_S,
        restart_patience_s: float = RESTART_PATIENCE_S,
    ) -> None:
        self._find = find
        self._inner = inner or httpx2.AsyncHTTPTransport()
        self._patience_s = patience_s
        self._restart_patience_s = max(patience_s, restart_patience_s)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Returns the gateway's response, or an error as JSON-RPC."""
        try:
            response = await self._send_when_possible(request)
            if response.headers.get("content-type", "").startswith("application/json"):
                await response.aread()
        except CommandError as error:
            return _refusal(f"{error.code}: {error.message}", error.next_action)
        except httpx2.TimeoutException:
            return _refusal(f"deadline_exceeded: Prism sent nothing for {SILENCE_S_MAX:g} s.", LOST_ADVICE)
        except httpx2.HTTPError as error:
            return _refusal(
                f"connection_lost: The connection to Prism ended before it answered ({_name(error)}).",
                LOST_ADVICE,
            )
        return response

    async def _send_when_possible(self, request: httpx2.Request) -> httpx2.Response:
        began_at = time.monotonic()
        while True:
            try:
                return await self._inner.handle_async_request(_aim(request, self._find()))
            except NOT_SENT as error:
                target = self._find()
                if self._is_over(began_at, target.local):
                    raise _unreachable(target, error) from error
            except CommandError as error:  # the local stack does not run, or not yet
                if self._is_over(began_at, data_dir() if error.code == NOT_RUNNING else None):
                    raise
            await asyncio.sleep(RETRY_S)

    def _is_over(self, began_at: float, local: DataDir | None) -> bool:
        """Whether a request has waited long enough. It waits longer while a supervisor runs."""
        waited_s = time.monotonic() - began_at
        if waited_s <= self._patience_s:
            return False
        is_supervised = local is not None and holder(local.lock_file) is not None
        return not is_supervised or waited_s > self._restart_patience_s

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


LOST_ADVICE = "It was not sent again, because it is unknown whether Prism carried it out. A call that only reads can be repeated."


def _aim(request: httpx2.Request, target: ServerTarget) -> httpx2.Request:
    """Returns the request for the address and token of the target."""
    headers = request.headers.copy()
    if target.token:
        headers["Authorization"] = f"Bearer {target.token}"
    url = httpx2.URL(target.mcp_url)
    headers["Host"] = url.netloc.decode()
    return httpx2.Request(
        request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
    )


def _unreachable(target: ServerTarget, error: Exception) -> CommandError:
    where = "Check `prism status`." if target.local else "Check PRISM_URL and the network."
    return CommandError(
        f"Prism at {target.url} cannot be reached ({_name(error)}).", where, code="unavailable"
    )


def _name(error: Exception) -> str:
    return str(error) or type(error).__name__


def _refusal(message: str, next_action: str) -> httpx2.Response:
    error = {"code": REFUSED, "message": " — ".join(filter(None, (message, next_action)))}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    return httpx2.Response(503, headers={"content-type": "application/json"}, content=body)
