"""The overlay routes of a server, in memory: served refs, overlays by handle, jobs that end at once."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from cli_server import NOW, job_json, make_job

from prism_cli.client import Prism
from prism_cli.target import ServerTarget
from prism_contracts.errors import ErrorCode, PrismError, http_status
from prism_contracts.records import JobState
from prism_contracts.rpc.common import Receipt
from prism_contracts.rpc.files import FileEntry, ListFilesReply
from prism_source.snapshot import blob_hash

API = "/api/v1"
REPO = "acme/app"
URL = "http://prism.test"
AWAY = "away"


class Served:
    """The contents of a ref."""

    def __init__(self, commit: str, files: dict[str, str] | None = None, **receipt: Any) -> None:
        self.commit = commit
        self.files = files or {}
        self.receipt = receipt


class OverlayServer:
    """Serves refs (the empty one is the base) and accepts overlays."""

    def __init__(self) -> None:
        self.served: dict[str, Served] = {}
        self.overlays: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.is_away = False
        # Events for tests: the handle of each overlay that became searchable, and AWAY for each failed call.
        self.news: asyncio.Queue[str] = asyncio.Queue()
        self._newest = ""

    def prism(self) -> Prism:
        return Prism(ServerTarget(URL, "secret"), httpx.MockTransport(self.handle))

    def contents(self, handle: str) -> dict[str, str | None]:
        """The files of an overlay by path; None: it hides the file."""
        return {file["path"]: file.get("content") for file in self.overlays[handle]["files"]}

    def take_asked(self) -> list[str]:
        """Returns the requests since the last call."""
        asked, self.asked = self.asked, []
        return asked

    def handle(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            self.news.put_nowait(AWAY)
            raise httpx.ConnectError("connection refused")
        path = request.url.path.removeprefix(API)
        self.asked.append(f"{request.method} {path}")
        try:
            return httpx.Response(200, json=self._answer(request, path))
        except PrismError as error:
            return refusal(error)

    def _answer(self, request: httpx.Request, path: str) -> dict[str, Any]:
        ref = request.url.params.get("ref", "")
        if path == f"/repos/{REPO}/receipt":
            return self._receipt(ref).model_dump(mode="json")
        if path == f"/repos/{REPO}/files":
            return self._files(ref, request.url.params["cursor"]).model_dump(mode="json")
        if path == "/overlays":
            return self._open(json.loads(request.content))
        if path.startswith("/overlays/"):
            assert request.url.params["repo"] == REPO
            if self.overlays.pop(path.removeprefix("/overlays/"), None) is None:
                raise refused(ErrorCode.REF_NOT_FOUND)
            return {}
        if path.startswith("/jobs/"):
            self.news.put_nowait(self._newest)
            return job_json(make_job(JobState.COMPLETE))
        raise refused(ErrorCode.REPO_NOT_FOUND)

    def _served(self, ref: str) -> Served:
        if ref not in self.served:
            raise refused(ErrorCode.REF_NOT_FOUND)
        return self.served[ref]

    def _receipt(self, ref: str) -> Receipt:
        served = self._served(ref)
        facts = {"dirty": False, "corpus_version": 1} | served.receipt
        return Receipt(
            repo=REPO,
            ref=ref,
            indexed_commit=served.commit,
            head_commit=served.commit,
            lag_seconds=0,
            indexed_at=NOW,
            files_indexed=len(served.files),
            files_skipped=0,
            files_failed=0,
            **facts,
        )

    def _files(self, ref: str, cursor: str) -> ListFilesReply:
        """Returns one file per page."""
        paths = sorted(path for path in self._served(ref).files if path > cursor)
        content = self._served(ref).files
        page = [FileEntry(file_path=path, blob=blob_hash(content[path].encode())) for path in paths[:1]]
        return ListFilesReply(
            repo=REPO,
            files=tuple(page),
            next_cursor=paths[0] if len(paths) > 1 else "",
            total=len(content),
            receipt=self._receipt(ref),
        )

    def _open(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["base_commit"] != self._served(body["base_ref"]).commit:
            raise refused(ErrorCode.BASE_MISMATCH)
        if body["handle"] and body["handle"] not in self.overlays:
            raise refused(ErrorCode.REF_NOT_FOUND)
        handle = body["handle"] or f"ov-{len(self.overlays) + 1}"
        self.overlays[handle] = body
        self._newest = handle
        return {"handle": handle, "expires_at": NOW.isoformat(), **job_json(make_job())}


def refused(code: ErrorCode) -> PrismError:
    return PrismError(code, f"refused: {code}", "")


def refusal(error: PrismError) -> httpx.Response:
    """Returns the HTTP form of an error."""
    return httpx.Response(http_status(error.code), json={"error": error.body.model_dump(mode="json")})


@contextmanager
def away(server: OverlayServer) -> Iterator[None]:
    """Fails to connect."""
    server.is_away = True
    try:
        yield
    finally:
        server.is_away = False
