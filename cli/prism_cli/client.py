"""A client of the REST API: one method per request, typed replies, errors as CommandError."""

import asyncio
import gzip
import hashlib
import json
import ssl
from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx
from pydantic import BaseModel, ValidationError

from prism_cli.exits import CommandError, Exit
from prism_cli.patience import Patience
from prism_cli.target import ServerTarget
from prism_contracts.errors import ErrorBody, ErrorCode
from prism_contracts.records import Job
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import CoverageReply, FileEntry, ListFilesReply
from prism_contracts.rpc.imports import OpenSnapshotReply, OpenSnapshotRequest, StoreScipReply
from prism_contracts.rpc.search import Detail, SearchReply

API = "/api/v1"
MCP_REVISION = "2026-07-28"
META = "io.modelcontextprotocol"
# Longer than the gateway waits for a service, so that its error names the slow service.
TIMEOUT = httpx.Timeout(75.0, connect=5.0)
# The gateway waits three seconds for the parts of the status, in parallel. Short, because a user of
# `prism status` may suspect a hang.
STATUS_TIMEOUT = httpx.Timeout(6.0, connect=2.0)
SCIP_TIMEOUT = httpx.Timeout(310.0, connect=5.0)
# Statuses after which a retry may succeed.
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504, 507})
# Codes that a retry does not change: the index needs a repair.
LASTING = frozenset({ErrorCode.INDEX_LOST, ErrorCode.STORE_DAMAGED})
# How long a step of a long task is retried, to survive a restart of the stack. A service that dies during the
# request costs one full timeout, so this allows two. Interactive requests are not retried.
TASK_PATIENCE_S = 180.0
GZIP_LEVEL = 3
BODY_CHARS_SHOWN = 200


class OpenedOverlay(BaseModel):
    """An overlay with its expiry, and the job that makes it searchable, if there is one."""

    handle: str
    expires_at: datetime | None = None
    job: Job | None = None


class ToolAnswer(NamedTuple):
    """What a tool returns: a text for readers, and data for programs."""

    text: str
    data: dict[str, Any]


def authorities_for(url: str) -> ssl.SSLContext | bool:
    """Returns which authorities vouch for the server at a URL, as the `verify` of a client.

    A client loads those of the machine even for a URL without TLS, which takes about 90 ms of CPU.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.startswith("http://") else True


class Prism:
    """A connection to one Prism. An async context manager."""

    def __init__(self, target: ServerTarget, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.target = target
        headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
        self._http = httpx.AsyncClient(
            base_url=target.url,
            headers=headers,
            timeout=TIMEOUT,
            transport=transport,
            verify=authorities_for(target.url),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def search(
        self,
        query: str,
        repo: str,
        limit: int,
        *,
        ref: str = "",
        explain: bool = False,
        detail: Detail = Detail.FULL,
    ) -> SearchReply:
        """Search. With `explain`, each hit has the contribution of every signal to its score."""
        body = {
            "query": query,
            "repo": repo,
            "ref": ref,
            "limit": limit,
            "explain": explain,
            "detail": detail,
        }
        answer = await self._ask("POST", f"{API}/search", json=body)
        return SearchReply.model_validate_json(answer.content)

    async def coverage(self, repo: str) -> CoverageReply:
        """Returns the coverage of a repository."""
        answer = await self._ask("GET", f"{API}/repos/{repo}/coverage")
        return CoverageReply.model_validate_json(answer.content)

    async def receipt(self, repo: str, ref: str = "") -> Receipt:
        """Returns the receipt of a repository's base, or of one of its layers."""
        answer = await self._ask("GET", f"{API}/repos/{repo}/receipt", params={"ref": ref})
        return Receipt.model_validate_json(answer.content)

    async def files(self, repo: str, ref: str = "") -> list[FileEntry]:
        """Returns all files, searchable or not."""
        found: list[FileEntry] = []
        cursor = ""
        while True:
            query = {"ref": ref, "cursor": cursor}
            answer = await self._ask("GET", f"{API}/repos/{repo}/files", params=query)
            page = ListFilesReply.model_validate_json(answer.content)
            found += page.files
            cursor = page.next_cursor
            if not cursor:
                return found

    async def open_overlay(self, body: dict[str, Any]) -> OpenedOverlay:
        """Open an overlay, or replace the edits of an open one. Idempotent."""
        answer = await self._ask("POST", f"{API}/overlays", json=body)
        return OpenedOverlay.model_validate_json(answer.content)

    async def close_overlay(self, repo: str, handle: str) -> None:
        """Delete an overlay."""
        await self._ask("DELETE", f"{API}/overlays/{handle}", params={"repo": repo})

    async def clone(self, url: str, name: str, ref: str) -> Job:
        """Have the server clone and index a git URL."""
        answer = await self._ask("POST", f"{API}/repos", json={"url": url, "name": name, "ref": ref})
        return _job(answer)

    async def keep_secrets(self, repo: str, secrets: dict[str, str]) -> None:
        """Store secrets of a repository. Omitted ones stay unchanged."""
        await self._ask("PUT", f"{API}/repos/{repo}/secrets", json=secrets)

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        """Start an upload. The reply lists the files whose contents are needed. Idempotent."""
        body = await asyncio.to_thread(_compressed, request)
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        answer = await self._ask(
            "POST", f"{API}/ingest/snapshots", content=body, headers=headers, patience_s=TASK_PATIENCE_S
        )
        return OpenSnapshotReply.model_validate_json(answer.content)

    async def send_pack(self, job: str, pack: bytes) -> None:
        """Upload contents. Returns once they are stored. Idempotent."""
        headers = {
            "Content-Type": "application/octet-stream",
            "X-Prism-Pack": hashlib.sha256(pack).hexdigest(),
        }
        path = f"{API}/ingest/snapshots/{job}/packs"
        await self._ask("POST", path, content=pack, headers=headers, patience_s=TASK_PATIENCE_S)

    async def send_scip(self, index: AsyncIterator[bytes], query: dict[str, str]) -> StoreScipReply:
        """Upload a SCIP index. The reply reports what was stored. Idempotent."""
        headers = {"Content-Type": "application/octet-stream"}
        path = f"{API}/ingest/scip"
        answer = await self._ask(
            "POST", path, content=index, params=query, headers=headers, timeout=SCIP_TIMEOUT
        )
        return StoreScipReply.model_validate_json(answer.content)

    async def job(self, job: str, patience_s: float = TASK_PATIENCE_S) -> Job:
        """Returns a job."""
        return _job(await self._ask("GET", f"{API}/jobs/{job}", patience_s=patience_s))

    async def status(self) -> dict[str, Any]:
        """Returns streams, dead letters, points, repositories and jobs. A part that failed is None."""
        answer: dict[str, Any] = (await self._ask("GET", f"{API}/status", timeout=STATUS_TIMEOUT)).json()
        return answer

    async def manage(self, method: str, path: str, **arguments: Any) -> dict[str, Any]:
        """Returns the JSON reply of an endpoint that manages tokens, tenants, groups or repositories."""
        answer: dict[str, Any] = (await self._ask(method, path, **arguments)).json()
        return answer

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> "ToolAnswer":
        """Call an MCP tool, as agents do. Raises CommandError with the tool's error."""
        meta = {f"{META}/protocolVersion": MCP_REVISION, f"{META}/clientCapabilities": {}}
        params = {"name": name, "arguments": arguments, "_meta": meta}
        answer = await self._ask(
            "POST",
            "/mcp?structured=true",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
            headers={
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": MCP_REVISION,
                "Mcp-Method": "tools/call",
                "Mcp-Name": name,
            },
        )
        return _tool_answer(answer)

    async def _ask(
        self, method: str, path: str, *, patience_s: float = 0.0, **arguments: Any
    ) -> httpx.Response:
        patience = Patience(patience_s)
        while True:
            failure, asked_s = CommandError(""), None
            try:
                answer = await self._http.request(method, path, **arguments)
            except httpx.TransportError as error:
                failure = unreachable(self.target, error)
            except httpx.InvalidURL as error:
                raise unreachable(self.target, error) from None
            else:
                if answer.is_success:
                    return answer
                failure, asked_s = error_of(answer), _retry_after(answer)
                if answer.status_code not in RETRIED_STATUSES or failure.code in LASTING:
                    raise failure
            pause_s = patience.next_pause(asked_s)
            if pause_s is None:
                raise failure
            await asyncio.sleep(pause_s)


def unreachable(target: ServerTarget, error: Exception) -> CommandError:
    """Returns the error for a Prism that does not answer."""
    reason = str(error) or type(error).__name__
    next_action = (
        "Check `prism status` and `prism doctor`. `prism up` starts it."
        if target.local
        else "Check PRISM_URL and the network."
    )
    return CommandError(
        f"Prism does not answer at {target.url}: {reason}",
        next_action,
        code=ErrorCode.UNAVAILABLE.value,
        exit_code=Exit.NOT_RUNNING,
    )


def error_of(answer: httpx.Response) -> CommandError:
    """Returns the error of a response, in readable form even if it is not from Prism."""
    try:
        body = ErrorBody.model_validate(answer.json()["error"])
    except (ValueError, KeyError, TypeError, ValidationError):
        return CommandError(
            f"{answer.request.url} answered {answer.status_code}: {answer.text[:BODY_CHARS_SHOWN]!r}",
            "Check that PRISM_URL is the address of a Prism gateway of this version.",
            code=f"http_{answer.status_code}",
        )
    next_action = body.next_action
    if body.code is ErrorCode.UNAUTHENTICATED:
        next_action = next_action or "Set PRISM_TOKEN to a token of this Prism."
    return CommandError(body.message, next_action, code=body.code.value, details=body.details)


def _tool_answer(answer: httpx.Response) -> ToolAnswer:
    """Returns the result in a response, which is JSON or, for a slow tool, an event stream that ends with it."""
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        text = [line for line in text.splitlines() if line.startswith("data:")][-1].removeprefix("data:")
    reply = json.loads(text)
    if "error" in reply:
        raise CommandError(reply["error"]["message"], code="mcp_failed")
    result = reply["result"]
    data = result.get("structuredContent") or {}
    if result.get("isError"):
        body = ErrorBody.model_validate(data["error"])
        raise CommandError(body.message, body.next_action, code=body.code.value, details=body.details)
    return ToolAnswer("\n".join(block.get("text", "") for block in result["content"]), data)


def _retry_after(answer: httpx.Response) -> float | None:
    """Returns `Retry-After` in seconds. Prism does not use the date form."""
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _compressed(request: OpenSnapshotRequest) -> bytes:
    return gzip.compress(request.model_dump_json(exclude={"tenant", "visible"}).encode(), GZIP_LEVEL)


def _job(answer: httpx.Response) -> Job:
    return Job.model_validate(answer.json()["job"])
