"""A whole Prism of real processes, driven from outside: the `prism` command, HTTP, MCP, NATS, signals."""

import asyncio
import hashlib
import json
import os
import signal
import ssl
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import nats
import zstandard
from forked_processes import run_prism
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from nats.aio.client import Client as NatsClient
from nats.js import JetStreamContext

from prism_contracts.names import KV_TENANTS, KV_TOKENS
from prism_contracts.records import Tenant, Token

PRISM = str(Path(sys.executable).with_name("prism"))
# Only what is broken waits as long as these: work of a second takes a minute while others use every core.
COMMAND_SECONDS_MAX = 300
WAIT_SECONDS_MAX = 180.0
CALL_SECONDS_MAX = 90
POLL_S = 0.05
# Otherwise each client loads the machine's authorities, which takes about 90 ms of CPU.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# The default redelivers a message 20 s after its process was killed.
ACK_WAIT_S = "3"
SERVICES = (
    "nats",
    "qdrant",
    "ingest",
    "chunker",
    "embedder",
    "indexer",
    "search",
    "atlas",
    "workspace",
    "scribe",
    "gateway",
)
FINAL = frozenset({"complete", "complete_with_errors", "failed", "abandoned"})
LOG_LINES_SHOWN = 12
LINE_CHARS_SHOWN = 2_000
SCROLL_POINTS = 2_000

Json = dict[str, Any]


class Agent:
    """A connected MCP client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> Json:
        """Returns the structured answer; an error fails the test."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, arguments, result.content)
        return result.structured_content

    async def fails(self, tool: str, **arguments: Any) -> Json:
        """Returns the error; an answer fails the test."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, (tool, arguments, result.structured_content)
        error = result.structured_content["error"]
        assert error["message"], error
        return error

    async def until(self, is_right: Callable[[Json], bool], tool: str, **arguments: Any) -> Json:
        """Repeats a call until its answer is right, and returns that answer."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not is_right(answer := await self.ask(tool, **arguments)):
            assert time.monotonic() < deadline, (tool, arguments, answer)
            await asyncio.sleep(POLL_S)
        return answer

    async def outcome(self, tool: str, **arguments: Any) -> tuple[Json | None, str]:
        """Returns the answer, or the code of the error."""
        result = await self.client.call_tool(tool, arguments)
        content = result.structured_content
        return (None, content["error"]["code"]) if result.is_error else (content, "")


class RunningStack:
    """A data folder and the stack that runs on it."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self._settings = {"PRISM_ACK_WAIT_S": ACK_WAIT_S, **settings}
        self.url = self.token = ""

    # The command line.

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRISM_")}
        own = {"PRISM_CONFIG": os.devnull, "PRISM_DATA_DIR": str(self.data)}
        return kept | own | self._settings

    def prism(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_prism(arguments, self.environment(), COMMAND_SECONDS_MAX)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the command in the background."""
        return subprocess.Popen(
            [PRISM, *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def prism_json(self, *arguments: str, exit_code: int = 0) -> Json:
        done = self.prism(*arguments, "--json")
        assert done.returncode == exit_code, (arguments, done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def up(self) -> Json:
        facts = self.prism_json("up", "--detach", "--port", "0")
        self.url, self.token = facts["url"], facts["token"]
        return facts

    def down(self) -> None:
        done = self.prism("down")
        assert done.returncode == 0, done.stderr

    def index(self, source: Path | str, *arguments: str, exit_code: int = 0) -> Json:
        """Indexes, waits, and returns the ended job."""
        answer = self.prism_json("index", str(source), "--wait", *arguments, exit_code=exit_code)
        job = answer["job"]
        check_counts(job)
        return {**job, "nothing_changed": answer["nothing_changed"], "sent": answer["sent"]}

    async def of_tenant(self, tenant: str) -> "RunningStack":
        """Returns the same stack for a new tenant, isolated from the others."""
        token = f"prism_{uuid.uuid4().hex}"
        record = Token(tenant=tenant, label="test", created_at=datetime.now(UTC))
        async with self.jetstream() as js:
            bucket = await js.key_value(KV_TOKENS)
            tenants = await js.key_value(KV_TENANTS)
            known = Tenant(tenant=tenant, plan="laptop", created_at=record.created_at)
            await tenants.put(tenant, known.model_dump_json().encode())
            await bucket.put(hashlib.sha256(token.encode()).hexdigest(), record.model_dump_json().encode())
        other = RunningStack(self.data, **self._settings, PRISM_TOKEN=token)
        other.url, other.token = self.url, token
        await until(other.is_known, what="the gateway knows the token")
        return other

    def is_known(self) -> bool:
        """Returns whether the gateway accepts the token."""
        with self.http() as http:
            return http.get("/api/v1/repos").status_code == 200

    # Agents and programs.

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} | more

    @asynccontextmanager
    async def agent(self, repo: str = "", mode: str = "auto") -> AsyncIterator[Agent]:
        headers = self.headers(**({"X-Prism-Repo": repo} if repo else {}))
        async with (
            httpx2.AsyncClient(headers=headers, timeout=CALL_SECONDS_MAX, verify=NO_TLS) as http,
            Client(
                streamable_http_client(f"{self.url}/mcp?toolsets=all&structured=true", http_client=http),
                mode=mode,
            ) as client,
        ):
            yield Agent(client)

    @contextmanager
    def http(self, **headers: str) -> Iterator[httpx2.Client]:
        with httpx2.Client(
            base_url=self.url, headers=self.headers(**headers), timeout=CALL_SECONDS_MAX, verify=NO_TLS
        ) as client:
            yield client

    def get(self, path: str) -> Json:
        with self.http() as http:
            answer = http.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def job(self, job: str) -> Json:
        return self.get(f"/api/v1/jobs/{job}")["job"]

    def newest_job(self, repo_name: str) -> Json | None:
        jobs = self.get("/api/v1/jobs")["jobs"]
        return next((job for job in jobs if job["repo_name"] == repo_name), None)

    def ended_job(self, job: str, seconds: float = WAIT_SECONDS_MAX) -> Json:
        """Waits until the job has ended, and returns it."""
        wait_until(lambda: self.job(job)["state"] in FINAL, seconds, f"job {job} ends")
        return self.job(job)

    # Programs that send files themselves.

    def send(self, repo: str, files: dict[str, bytes], lane: str = "live") -> Json:
        """Sets the files of a repository as `prism index` does, but faster; returns the ended job."""
        job, needed = self.open_snapshot(repo, files, lane)
        contents = list(files.values())
        if needed:
            self.send_pack(job["job"], {ordinal: contents[ordinal] for ordinal in needed}, lane)
        return self.ended_job(job["job"])

    def open_snapshot(self, repo: str, files: dict[str, bytes], lane: str = "live") -> tuple[Json, list[int]]:
        body = {
            "repo_name": repo,
            "snapshot": uuid.uuid4().hex,
            "commit": f"tree:{uuid.uuid4().hex}",
            "lane": lane,
            "files": [
                {"path": path, "blob": blob_of(content), "size_bytes": len(content)}
                for path, content in files.items()
            ],
        }
        with self.http() as http:
            answer = http.post("/api/v1/ingest/snapshots", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["job"], answer.json()["needed"]

    def send_pack(self, job: str, contents: dict[int, bytes], lane: str = "live") -> None:
        """Builds a pack as documented: magic, version, files, raw bytes, then zstd of ordinal, length and
        content of each.
        """
        raw = b"".join(
            struct.pack(">II", ordinal, len(content)) + content
            for ordinal, content in sorted(contents.items())
        )
        pack = struct.pack(">4sBII", b"PRPK", 2, len(contents), len(raw)) + zstandard.compress(raw)
        with self.http() as http:
            answer = http.post(
                f"/api/v1/ingest/snapshots/{job}/packs?lane={lane}",
                content=pack,
                headers={"X-Prism-Pack": hashlib.sha256(pack).hexdigest()},
            )
        assert answer.status_code == 202, answer.text

    # The content of the store.

    def points(self, scope_repo: str = "") -> dict[str, Json]:
        """Returns points by id with payload and vector: those of one repository (its id), or all."""
        with self.qdrant() as http:
            found: dict[str, Json] = {}
            offset: Any = None
            while True:
                body = {"limit": SCROLL_POINTS, "with_payload": True, "with_vector": True, "offset": offset}
                answer = http.post("/collections/prism_default/points/scroll", json=body)
                assert answer.status_code == 200, answer.text
                result = answer.json()["result"]
                found |= {str(point["id"]): point for point in result["points"]}
                offset = result["next_page_offset"]
                if offset is None:
                    break
        return {
            key: point
            for key, point in found.items()
            if point["payload"]["scope"].startswith(f"{scope_repo}/" if scope_repo else "")
        }

    @contextmanager
    def qdrant(self) -> Iterator[httpx2.Client]:
        port = self.state()["services"]["qdrant"]["port"]
        key = (self.data / "secrets" / "qdrant").read_text().strip()
        with httpx2.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"api-key": key},
            timeout=CALL_SECONDS_MAX,
            verify=NO_TLS,
        ) as client:
            yield client

    # The bus.

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[NatsClient]:
        port = self.state()["services"]["nats"]["port"]
        token = (self.data / "secrets" / "nats").read_text().strip()
        connection = await nats.connect(f"nats://127.0.0.1:{port}", token=token)
        try:
            yield connection
        finally:
            await connection.close()

    @asynccontextmanager
    async def jetstream(self) -> AsyncIterator[JetStreamContext]:
        async with self.connection() as connection:
            yield connection.jetstream()

    # Processes.

    def state(self) -> Json:
        return json.loads((self.data / "run" / "supervisor.json").read_text())

    def pid(self, service: str) -> int:
        pid = self.state()["services"][service]["pid"]
        assert pid, f"{service} does not run"
        return int(pid)

    def kill(self, service: str) -> None:
        os.kill(self.pid(service), signal.SIGKILL)

    @contextmanager
    def stopped(self, service: str) -> Iterator[None]:
        """Suspends the service; its connections stay open."""
        pid = self.pid(service)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def wait_restarted(self, service: str, restarts: int) -> None:
        wait_until(
            lambda: (facts := self.state()["services"][service])["ready"] and facts["restarts"] >= restarts,
            what=f"{service} is back",
        )

    def logs(self, *, whole: bool = False) -> str:
        """Returns the last lines of each log for a failure report, or whole logs."""
        parts = []
        for log in sorted((self.data / "logs").glob("*.log")):
            lines = log.read_text(errors="replace").splitlines()
            shown = lines if whole else [line[:LINE_CHARS_SHOWN] for line in lines[-LOG_LINES_SHOWN:]]
            parts.append("\n".join([f"--- {log.name}", *shown]))
        return "\n".join(parts)


def blob_of(content: bytes) -> str:
    """Returns the git blob hash of the content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def check_counts(job: Json) -> None:
    """Checks the sum that holds for every ended job."""
    counts = job["counts"]
    if job["state"] in ("complete", "complete_with_errors"):
        parts = counts["unchanged"] + counts["indexed"] + counts["skipped"] + counts["failed"]
        assert counts["seen"] == parts, counts
        assert (job["state"] == "complete") is (counts["failed"] == 0), job


def wait_until(is_true: Callable[[], bool], seconds: float = WAIT_SECONDS_MAX, what: str = "it") -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(POLL_S)


async def until(is_true: Callable[[], bool], seconds: float = WAIT_SECONDS_MAX, what: str = "it") -> None:
    """Like `wait_until`, but lets other tasks run meanwhile."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        await asyncio.sleep(POLL_S)


def comparable(points: dict[str, Json]) -> dict[str, Json]:
    """Returns points without the fields that depend on the time of the write."""
    return {
        key: {
            "vector": point["vector"],
            "payload": {name: value for name, value in point["payload"].items() if name != "version"},
        }
        for key, point in points.items()
    }


def assert_same_points(found: dict[str, Json], expected: dict[str, Json]) -> None:
    """Compares point by point; the message shows the first differing points."""
    left, right = comparable(found), comparable(expected)
    missing = [right[key]["payload"]["path"] for key in right.keys() - left.keys()]
    extra = [left[key]["payload"]["path"] for key in left.keys() - right.keys()]
    assert not missing, f"missing points of {sorted(missing)[:5]} ({len(missing)})"
    assert not extra, f"unexpected points of {sorted(extra)[:5]} ({len(extra)})"
    differing = [key for key in left if left[key] != right[key]]
    assert not differing, [(left[key], right[key]) for key in differing[:2]]
