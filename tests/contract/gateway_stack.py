"""A gateway on a free port in front of stand-ins for the search and ingest services, on a real nats-server."""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from prism_contracts import names, rpc
from prism_contracts.base import Lane, Message
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import Job, JobCounts, JobState, Layer, LayerKind, LayerState, Repository, Token
from prism_gateway.app import build_app
from prism_gateway.auth import TokenBook
from prism_gateway.settings import GatewaySettings
from prism_gateway.webhooks.receiver import Receiver, WebhookMetrics
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_runtime.rpc import serve
from prism_runtime.vault import KEY_CHARS_MIN, Vault, VaultSettings

SECRET = "prism_" + "s" * 40
RECOVERY_S = 20.0
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RECEIPT = rpc.Receipt(
    repo="acme/app",
    indexed_commit="a" * 40,
    head_commit="a" * 40,
    lag_seconds=0,
    indexed_at=NOW,
    corpus_version=1,
    files_indexed=3,
    files_skipped=1,
    files_failed=0,
)
JOB = Job(
    job="job-1",
    tenant="default",
    repo="r1",
    repo_name="acme/app",
    lane=Lane.BULK,
    state=JobState.INDEXING,
    counts=JobCounts(seen=3, indexed=2),
    expected=3,
    settled=b"\x03",
    created_at=NOW,
    updated_at=NOW,
)
REPOSITORY = Repository(
    tenant="default",
    repo="r1",
    name="acme/app",
    source="upload",
    created_at=NOW,
    served=LayerState(commit="a" * 40, ref="main", version=1, job="job-1", indexed_at=NOW),
)
LAYER = Layer(
    tenant="default",
    repo="r1",
    layer="l1",
    kind=LayerKind.BRANCH,
    ref="topic",
    files_changed=2,
    created_at=NOW,
    expires_at=NOW,
    served=LayerState(commit="b" * 40, ref="topic", version=7, job="job-1", indexed_at=NOW),
)
HIT = rpc.Hit(
    repo="acme/app",
    file_path="src/app.py",
    start_line=3,
    end_line=5,
    content="def main():\n    run()\n    stop()\n",
    symbol="main",
    kind="function",
    language="python",
    score=0.9,
    legs={"bm25": 1, "dense": 2},
)
SYMBOL = Symbol(
    name="main",
    qualified_name="main",
    kind=SymbolKind.FUNCTION,
    start_line=3,
    end_line=5,
    name_line=3,
    signature="def main()",
)
DEFINITION = rpc.Definition(repo="acme/app", file_path="src/app.py", language="python", symbol=SYMBOL)
RULES = rpc.RulesDocument(
    file_path="AGENTS.md",
    line_count=9,
    start_line=1,
    end_line=1,
    content="Keep it small.",
    headings=("5 ## Tests",),
    applies="repository",
)
EDIT_CONTEXT = rpc.EditContextReply(
    repo="acme/app",
    file_path="src/app.py",
    language="python",
    start_line=3,
    end_line=5,
    content="def main():\n    run()\n    stop()",
    symbol=SYMBOL,
    references=rpc.SymbolReferences(symbol="main", definitions=(DEFINITION,), total_definitions=1),
    rules=(RULES,),
    receipt=RECEIPT,
)
LINES = [f"line {number}" for number in range(1, 301)]


class FakeServices:
    """Search and ingest with canned replies; remembers what was asked.

    The query `slow` is under way once `slow_began` is set, and answered once `slow_ends` is.
    """

    def __init__(self) -> None:
        self.asked: list[Message] = []
        self.slow_began, self.slow_ends = asyncio.Event(), asyncio.Event()
        self.hits: tuple[rpc.Hit, ...] = (HIT,)

    def last(self) -> Any:
        return self.asked[-1]

    async def end_slow(self) -> None:
        """A bus waits for what it still answers before it stops."""
        self.slow_ends.set()

    async def search(self, request: rpc.SearchRequest) -> rpc.SearchReply:
        self.asked.append(request)
        if not request.query.strip():
            raise PrismError(ErrorCode.EMPTY_QUERY, "The query is empty.", "Ask something.")
        if request.query == "slow":
            self.slow_began.set()
            await self.slow_ends.wait()
        if request.repo == "nobody/nothing":
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND, "No such repository.", "Use one of these.", known=["acme/app"]
            )
        start = int(request.cursor or 0)
        end = start + request.limit
        hits = () if request.query == "nothing" else self.hits[start:end]
        return rpc.SearchReply(
            results=hits,
            confidence="high" if hits else "none",
            query_intent=rpc.Intent.DEFINITION,
            next_actions=("Read src/app.py.",),
            diagnostics={} if hits else {"files_in_scope": 3},
            next_cursor=str(end) if end < len(self.hits) else "",
            receipt=RECEIPT,
            timings_ms={"store": 1.5},
        )

    async def grep(self, request: rpc.GrepRequest) -> rpc.GrepReply:
        self.asked.append(request)
        if request.output_mode is rpc.OutputMode.COUNT:
            file = rpc.FileMatches(repo="acme/app", file_path="src/app.py", lines=len(LINES))
            return rpc.GrepReply(
                files=(file,),
                total_files=1,
                total_lines=len(LINES),
                complete=True,
                files_scanned=1,
                receipt=RECEIPT,
            )
        start = int(request.cursor or 0)
        end = min(start + request.limit, len(LINES))
        return rpc.GrepReply(
            matches=tuple(
                rpc.GrepMatch(
                    repo="acme/app",
                    file_path="src/app.py",
                    line=index + 1,
                    text=LINES[index],
                    before=("above",) * request.context_lines,
                )
                for index in range(start, end)
            ),
            next_cursor=str(end) if end < len(LINES) else "",
            complete=True,
            files_scanned=1,
            receipt=RECEIPT,
        )

    async def layer(self, request: Message) -> rpc.LayerReply:
        self.asked.append(request)
        return rpc.LayerReply(layer=LAYER, job=JOB)

    async def read_file(self, request: rpc.ReadFileRequest) -> rpc.ReadFileReply:
        self.asked.append(request)
        if request.path != "src/app.py":
            raise PrismError(ErrorCode.FILE_NOT_FOUND, "No such file.", "list_files shows what there is.")
        end = request.end_line or len(LINES)
        return rpc.ReadFileReply(
            repo="acme/app",
            file_path=request.path,
            start_line=request.start_line,
            end_line=end,
            line_count=len(LINES),
            content="".join(f"{line}\n" for line in LINES[request.start_line - 1 : end]),
            language="python",
            blob="b" * 40,
            receipt=RECEIPT,
        )

    async def list_files(self, request: rpc.ListFilesRequest) -> rpc.ListFilesReply:
        self.asked.append(request)
        start = int(request.cursor or 0)
        end = min(start + request.limit, 500)
        return rpc.ListFilesReply(
            repo="acme/app",
            files=tuple(
                rpc.FileEntry(file_path=f"src/{index:03}.py", blob="b" * 40, language="python", lines=10)
                for index in range(start, end)
            ),
            next_cursor=str(end) if end < 500 else "",
            total=500,
            receipt=RECEIPT,
        )

    async def outline(self, request: rpc.OutlineRequest) -> rpc.OutlineReply:
        self.asked.append(request)
        return rpc.OutlineReply(
            repo="acme/app",
            file_path=request.path,
            language="python",
            line_count=5,
            symbols=(SYMBOL,),
            parse="ok",
            receipt=RECEIPT,
        )

    async def definitions(self, request: rpc.DefinitionsRequest) -> rpc.DefinitionsReply:
        self.asked.append(request)
        found = DEFINITION.model_copy(
            update={"body": "def main():\n    run()\n"} if request.include_body else {}
        )
        return rpc.DefinitionsReply(
            answers=tuple(
                rpc.SymbolAnswer(symbol=symbol, definitions=(found,), total=1)
                if symbol == "main"
                else rpc.SymbolAnswer(symbol=symbol, definitions=(), total=0, suggestions=("main",))
                for symbol in request.symbols
            ),
            receipt=RECEIPT,
        )

    async def references(self, request: rpc.ReferencesRequest) -> rpc.ReferencesReply:
        self.asked.append(request)
        start = int(request.cursor or 0)
        end = min(start + request.limit, len(LINES))
        found = tuple(
            rpc.ReferenceEntry(
                repo="acme/app",
                file_path="src/app.py",
                line=index + 1,
                symbol="run",
                group=rpc.ReferenceGroup.CALLERS,
                edge=EdgeKind.CALLS,
                status=EdgeStatus.RESOLVED,
                strategy=Strategy.IMPORT,
                text=LINES[index],
            )
            for index in range(start, end)
        )
        known = rpc.SymbolReferences(
            symbol="main",
            definitions=(DEFINITION,),
            total_definitions=1,
            entries=found,
            counts={rpc.ReferenceGroup.CALLERS: len(LINES)},
            reconciliation=rpc.Reconciliation(
                resolved=len(LINES), candidates=0, elsewhere=0, text_lines=len(LINES) + 2, unexplained=1,
                unexplained_lines=(rpc.TextLine(repo="acme/app", file_path="src/app.py", line=900, text="# main"),), files=1,
            ),
            next_cursor=str(end) if end < len(LINES) else "",
        )  # fmt: skip
        unknown = rpc.SymbolReferences(symbol="", definitions=(), total_definitions=0, suggestions=("main",))
        return rpc.ReferencesReply(
            answers=tuple(
                known if symbol == "main" else unknown.model_copy(update={"symbol": symbol})
                for symbol in request.symbols
            ),
            receipt=RECEIPT,
        )

    async def edit_context(self, request: rpc.EditContextRequest) -> rpc.EditContextReply:
        self.asked.append(request)
        return EDIT_CONTEXT

    async def existing(self, request: rpc.ExistingRequest) -> rpc.ExistingReply:
        self.asked.append(request)
        found = rpc.ExistingDefinition(
            definition=DEFINITION, verdict=rpc.Verdict.MAYBE, score=0.5, reasons=("name: main",)
        )
        return rpc.ExistingReply(verdict=found.verdict, existing=(found,), receipt=RECEIPT)

    async def conventions(self, request: rpc.ConventionsRequest) -> rpc.ConventionsReply:
        self.asked.append(request)
        example = rpc.ConventionExample(file_path="src/app.py", line=3, text="def main()")
        told = rpc.Convention(
            topic="naming", language="python", statement="functions are snake_case", count=9, total=10, examples=(example,)
        )  # fmt: skip
        return rpc.ConventionsReply(
            repo="acme/app", conventions=(told,), rules=(RULES,), files_read=3, files=3, receipt=RECEIPT
        )

    async def repo_context(self, request: rpc.RepoContextRequest) -> rpc.RepoContextReply:
        self.asked.append(request)
        readme = rpc.ContextDocument(
            **RULES.model_dump(exclude={"applies"}), section=rpc.ContextSection.README
        )
        missing = (rpc.ContextSection.DECISIONS,)
        return rpc.RepoContextReply(repo="acme/app", documents=(readme,), missing=missing, receipt=RECEIPT)

    async def receipt(self, request: rpc.ReceiptRequest) -> rpc.Receipt:
        self.asked.append(request)
        return RECEIPT

    async def coverage(self, request: rpc.CoverageRequest) -> rpc.CoverageReply:
        self.asked.append(request)
        return rpc.CoverageReply(
            repo="acme/app",
            files=4,
            indexed=3,
            skipped=1,
            failed=0,
            by_reason={"binary": 1},
            by_language={"python": 3},
            by_parse={"ok": 3},
            redacted_files=0,
            redactions={},
            problems=(rpc.CoverageProblem(file_path="logo.png", status="skipped", reason="binary"),),
            receipt=RECEIPT,
        )

    async def point_counts(self, request: rpc.PointCountsRequest) -> rpc.PointCountsReply:
        self.asked.append(request)
        return rpc.PointCountsReply(
            total=9,
            repositories={"r1": 9},
            layers=(
                rpc.LayerPoints(repo="r1", layer="base", points=9, files=3),
                rpc.LayerPoints(repo="r1", layer="l1", ref="topic", points=4, files=2),
            ),
        )

    async def clone(self, request: rpc.CloneRequest) -> rpc.JobReply:
        self.asked.append(request)
        if request.url.startswith("file:"):
            raise PrismError(ErrorCode.CLONE_REFUSED, "The scheme is not allowed.", "Use https.")
        return rpc.JobReply(job=JOB)

    async def admit_upload(self, request: rpc.AdmitUploadRequest) -> rpc.AdmitUploadReply:
        """Job-1 takes contents, job-2 has ended, and nobody has others."""
        if request.tenant != "default" or request.job not in {"job-1", "job-2"}:
            raise PrismError(ErrorCode.JOB_NOT_FOUND, f"There is no job {request.job}.")
        return rpc.AdmitUploadReply(is_open=request.job == "job-1", bytes_max=100)

    async def job(self, request: rpc.JobRequest) -> rpc.JobReply:
        self.asked.append(request)
        if request.job not in ("", JOB.job):
            raise PrismError(ErrorCode.JOB_NOT_FOUND, "No such job.", "List the jobs.")
        return rpc.JobReply(job=JOB)

    async def jobs(self, request: rpc.JobsRequest) -> rpc.JobsReply:
        self.asked.append(request)
        return rpc.JobsReply(jobs=(JOB,), repositories=(REPOSITORY,), layers=(LAYER,))

    async def open_snapshot(self, request: rpc.OpenSnapshotRequest) -> rpc.OpenSnapshotReply:
        self.asked.append(request)
        return rpc.OpenSnapshotReply(job=JOB, needed=tuple(range(len(request.files))))

    async def store_scip(self, request: rpc.StoreScipRequest) -> rpc.StoreScipReply:
        self.asked.append(request)
        return rpc.StoreScipReply(
            repo=request.repo,
            commit=request.commit,
            indexer="scip-python",
            stored=True,
            documents=1,
            files=1,
            definitions=2,
            uses=3,
            implementations=0,
        )


def module_entry(number: int) -> rpc.ModuleEntry:
    return rpc.ModuleEntry(
        file_path=f"src/part{number}.py",
        language="python",
        lines=number + 1,
        tier=rpc.Tier.CORE,
        relative_score=1 / (number + 1),
        summary=f"Does part {number}.",
        top_symbols=("class Part", "function main"),
        commits_90_days=number,
    )


COMPONENT = rpc.ComponentSummary(
    id=0,
    name="src",
    files=2,
    lines=30,
    rank=0.75,
    main_files=("src/app.py",),
    main_symbols=("class Part",),
)
DEPENDENCY = rpc.ComponentDependency(
    source="src", target="lib", references=4, candidates=1, example=("src/app.py", "lib/run.py")
)
ENTRY_POINT = rpc.EntryPoint(kind=rpc.EntryKind.MAIN, file_path="src/app.py", line=3, symbol="main")
CYCLE = rpc.Cycle(members=2, path=("src/a.py", "src/b.py", "src/a.py"))
SPREAD = rpc.Spread(name="src", files=4, over={"src": 2, "lib": 2})
OVERVIEW = rpc.Overview(
    entry_points=(ENTRY_POINT,),
    components=(COMPONENT,),
    dependencies=(DEPENDENCY,),
    file_cycles=(CYCLE,),
    component_cycles=(),
    divergence=rpc.Divergence(
        agreement=0.5,
        folders=(SPREAD,),
        components=(),
        outliers=(rpc.Outlier(file_path="src/odd.py", component="lib", folder_component="src"),),
    ),
    partitions=(rpc.Partition(folder=".", manifest="pyproject.toml", files=3),),
    totals={
        "files": 3,
        "files_in_components": 2,
        "entry_points": 1,
        "components": 1,
        "dependencies": 9,
        "file_cycles": 1,
        "component_cycles": 0,
        "partitions": 1,
    },
)
DETAIL = rpc.ComponentDetail(
    summary=COMPONENT,
    files=(module_entry(0),),
    interface=(rpc.Interface(file_path="src/app.py", line=3, symbol="main", references=4),),
    uses=(DEPENDENCY,),
    used_by=(),
    external_modules={"json": 2},
    entry_points=(ENTRY_POINT,),
    cycles=(),
    totals={
        "files": 2,
        "interface": 1,
        "uses": 1,
        "used_by": 0,
        "external_modules": 1,
        "entry_points": 1,
        "cycles": 0,
    },
)
GRAPH_RECEIPT = rpc.GraphReceipt(
    **RECEIPT.model_dump(), graph_commit="b" * 40, graph_version=1, graph_built_at=NOW, graph_lag_seconds=7
)


WALKS = (
    (names.RPC_CALL_HIERARCHY, rpc.CallHierarchyRequest, rpc.CallHierarchyReply),
    (names.RPC_TYPE_HIERARCHY, rpc.TypeHierarchyRequest, rpc.TypeHierarchyReply),
    (names.RPC_DEPENDENCIES, rpc.DependenciesRequest, rpc.DependenciesReply),
    (names.RPC_FIND_PATH, rpc.FindPathRequest, rpc.FindPathReply),
    (names.RPC_IMPACT, rpc.ImpactRequest, rpc.ImpactReply),
)
EXAMPLES = Path(names.__file__).with_name("examples")


async def canned(fake: "FakeServices", reply_type: type[Message], request: Message) -> Message:
    """The stored example of a reply. Of a call hierarchy as many callers as were asked for."""
    fake.asked.append(request)
    reply = reply_type.model_validate_json((EXAMPLES / f"{reply_type.__name__}.json").read_text())
    if isinstance(reply, rpc.CallHierarchyReply):
        branches = reply.branches * request.limit
        return reply.model_copy(
            update={"branches": branches, "total": 300, "next_cursor": str(request.limit)}
        )
    return reply


def serve_atlas(bus: Bus, fake: FakeServices) -> None:
    async def module_map(request: rpc.ModuleMapRequest) -> rpc.ModuleMapReply:
        fake.asked.append(request)
        start = int(request.cursor or 0)
        end = min(start + request.limit, 300)
        return rpc.ModuleMapReply(
            repo="acme/app",
            entries=tuple(map(module_entry, range(start, end))),
            total=300,
            tiers={rpc.Tier.CORE: 300},
            next_cursor=str(end) if end < 300 else "",
            receipt=GRAPH_RECEIPT,
        )

    async def architecture(request: rpc.ArchitectureRequest) -> rpc.ArchitectureReply:
        fake.asked.append(request)
        told = {"component": DETAIL} if request.component else {"overview": OVERVIEW}
        return rpc.ArchitectureReply(repo="acme/app", **told, receipt=GRAPH_RECEIPT)

    for subject, request_type, reply_type in WALKS:
        serve(bus, subject, request_type, partial(canned, fake, reply_type), deadline_s=20)
    serve(bus, names.RPC_MODULE_MAP, rpc.ModuleMapRequest, module_map, deadline_s=20)
    serve(bus, names.RPC_ARCHITECTURE, rpc.ArchitectureRequest, architecture, deadline_s=20)


def serve_search(bus: Bus, fake: FakeServices) -> None:
    for subject, request_type, handle in (
        (names.RPC_SEARCH, rpc.SearchRequest, fake.search),
        (names.RPC_GREP, rpc.GrepRequest, fake.grep),
        (names.RPC_READ_FILE, rpc.ReadFileRequest, fake.read_file),
        (names.RPC_LIST_FILES, rpc.ListFilesRequest, fake.list_files),
        (names.RPC_OUTLINE, rpc.OutlineRequest, fake.outline),
        (names.RPC_DEFINITIONS, rpc.DefinitionsRequest, fake.definitions),
        (names.RPC_REFERENCES, rpc.ReferencesRequest, fake.references),
        (names.RPC_EDIT_CONTEXT, rpc.EditContextRequest, fake.edit_context),
        (names.RPC_EXISTING, rpc.ExistingRequest, fake.existing),
        (names.RPC_CONVENTIONS, rpc.ConventionsRequest, fake.conventions),
        (names.RPC_REPO_CONTEXT, rpc.RepoContextRequest, fake.repo_context),
        (names.RPC_RECEIPT, rpc.ReceiptRequest, fake.receipt),
        (names.RPC_COVERAGE, rpc.CoverageRequest, fake.coverage),
        (names.RPC_POINT_COUNTS, rpc.PointCountsRequest, fake.point_counts),
    ):
        serve(bus, subject, request_type, handle, deadline_s=20)


def serve_ingest(bus: Bus, fake: FakeServices) -> None:
    for subject, request_type, handle in (
        (names.RPC_CLONE, rpc.CloneRequest, fake.clone),
        (names.RPC_CREATE_LAYER, rpc.CreateLayerRequest, fake.layer),
        (names.RPC_DELETE_LAYER, rpc.DeleteLayerRequest, fake.layer),
        (names.RPC_OPEN_OVERLAY, rpc.OpenOverlayRequest, fake.layer),
        (names.RPC_CLOSE_OVERLAY, rpc.CloseOverlayRequest, fake.layer),
        (names.RPC_ADMIT_UPLOAD, rpc.AdmitUploadRequest, fake.admit_upload),
        (names.RPC_JOB, rpc.JobRequest, fake.job),
        (names.RPC_JOBS, rpc.JobsRequest, fake.jobs),
        (names.RPC_STORE_SCIP, rpc.StoreScipRequest, fake.store_scip),
        (names.RPC_OPEN_SNAPSHOT, rpc.OpenSnapshotRequest, fake.open_snapshot),
    ):
        serve(bus, subject, request_type, handle, deadline_s=20)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass
class Stack:
    """What a test holds: the address, the stand-ins, and the records behind."""

    url: str
    settings: GatewaySettings
    fake: FakeServices
    bus: Bus
    search: Bus
    ingest: Bus
    book: Records[Token]
    secret: str = SECRET
    headers: dict[str, str] = field(default_factory=lambda: {"Authorization": f"Bearer {SECRET}"})

    async def reconnected(self) -> None:
        """Wait until NATS is there again; a bus cannot be stopped before."""
        buses = (self.bus, self.search, self.ingest)
        async with asyncio.timeout(RECOVERY_S):
            while not all(bus.broker.connection.is_connected for bus in buses):
                await asyncio.sleep(0.05)

    async def change_token(self, secret: str, **changes: Any) -> None:
        """Make a token or change it."""
        first = Token(tenant="acme", label="laptop", created_at=NOW)
        known = await self.book.get(digest_of(secret)) or first
        await self.book.put(digest_of(secret), known.model_copy(update=changes))

    async def delete_token(self, secret: str) -> None:
        await self.book.delete(digest_of(secret))

    @asynccontextmanager
    async def mcp(self, mode: str = "auto", path: str = "/mcp", **headers: str) -> AsyncIterator[Client]:
        async with self.rest(**headers) as http:
            transport = streamable_http_client(f"{self.url}{path}", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    @asynccontextmanager
    async def rest(self, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        # Without `verify` a client begins by reading the certificates of the machine, which takes long.
        async with httpx2.AsyncClient(
            base_url=self.url, headers=self.headers | headers, timeout=30, verify=False
        ) as client:
            yield client


StackMaker = Callable[..., Any]


@pytest.fixture
async def make_stack(nats_server) -> AsyncIterator[StackMaker]:
    """Starts a stack; keyword arguments are settings of the gateway, `services` which stand-ins run."""
    undo: list[Callable[[], Any]] = []

    async def make(*, services: tuple[str, ...] = ("search", "ingest", "atlas"), **settings: Any) -> Stack:
        config = GatewaySettings(
            nats_url=nats_server.url, bootstrap_token_sha256=digest_of(SECRET), **settings
        )
        fake = FakeServices()
        buses = {name: Bus(name, config) for name in ("search", "ingest", "atlas", "gateway")}
        if "search" in services:
            serve_search(buses["search"], fake)
        if "ingest" in services:
            serve_ingest(buses["ingest"], fake)
        if "atlas" in services:
            serve_atlas(buses["atlas"], fake)
        for bus in buses.values():
            await bus.start()
            undo.append(bus.stop)
        undo.append(fake.end_slow)
        tokens = TokenBook()
        bus = buses["gateway"]
        await tokens.open(bus, replicas=1)
        await tokens.bootstrap(config.bootstrap_token_sha256, config.bootstrap_tenant)
        vault = Vault(VaultSettings(secrets_key=SecretStr("k" * KEY_CHARS_MIN)))
        await vault.open(bus.js, replicas=1)
        webhooks = Receiver(bus, vault, config, WebhookMetrics(CollectorRegistry()))
        await webhooks.open()
        listener = socket.create_server(("127.0.0.1", 0))
        app = build_app(config, bus, tokens, vault, webhooks)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))

        async def stop_serving() -> None:
            server.should_exit = True
            await serving

        undo.append(stop_serving)
        while not server.started:
            await asyncio.sleep(0.005)
        book = Records(await open_bucket(bus.js, names.KV_TOKENS), Token)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        return Stack(url, config, fake, bus, buses["search"], buses["ingest"], book)

    yield make
    for action in reversed(undo):
        await action()


@pytest.fixture
async def stack(make_stack) -> Stack:
    """A stack with everything running."""
    return await make_stack()
