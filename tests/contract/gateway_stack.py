"""A gateway on a free port in front of stand-ins for search and ingest, on a real nats-server."""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from prism_catalog.tenants import PlanSettings, Tenants
from prism_catalog.vault import KEY_CHARS_MIN, Vault, VaultSettings
from prism_contracts import names
from prism_contracts.base import Lane, Message
from prism_contracts.code import EdgeKind, EdgeStatus, Strategy, Symbol, SymbolKind
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.records import (
    UNCOMMITTED,
    Anchor,
    AnchoredKind,
    AnchorKind,
    BranchLink,
    CommitLink,
    Job,
    JobCounts,
    JobState,
    Layer,
    LayerKind,
    LayerState,
    PlanningReference,
    Repository,
    Staleness,
    StaleReason,
    TaskChange,
    Token,
)
from prism_contracts.rpc.anchors import CONCERNING, Concerning, ConcerningReply, ConcerningRequest
from prism_contracts.rpc.changes import CHANGES, ChangeKind, ChangesReply, ChangesRequest, FileChange
from prism_contracts.rpc.common import RECEIPT, GraphReceipt, Receipt, ReceiptRequest
from prism_contracts.rpc.context import ANSWER_CONTEXT, CONTEXT
from prism_contracts.rpc.dead_letters import (
    DROP_LETTER,
    RETRY_LETTER,
    DropLetterRequest,
    LetterReply,
    RetryLetterRequest,
)
from prism_contracts.rpc.descriptions import DESCRIBE, DESCRIPTIONS
from prism_contracts.rpc.documents import WRITE_TAGS
from prism_contracts.rpc.files import (
    COVERAGE,
    LINES,
    LIST_FILES,
    OUTLINE,
    POINT_COUNTS,
    READ_FILE,
    CoverageProblem,
    CoverageReply,
    CoverageRequest,
    FileEntry,
    LayerPoints,
    LinesReply,
    LinesRequest,
    ListFilesReply,
    ListFilesRequest,
    OutlineReply,
    OutlineRequest,
    PointCountsReply,
    PointCountsRequest,
    ReadFileReply,
    ReadFileRequest,
)
from prism_contracts.rpc.graph import (
    CALL_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    TYPE_HIERARCHY,
    CallHierarchyReply,
)
from prism_contracts.rpc.guidance import (
    CONVENTIONS,
    EDIT_CONTEXT,
    EXISTING,
    REPO_CONTEXT,
    ContextDocument,
    ContextSection,
    Convention,
    ConventionExample,
    ConventionsReply,
    ConventionsRequest,
    EditContextReply,
    EditContextRequest,
    ExistingDefinition,
    ExistingReply,
    ExistingRequest,
    RepoContextReply,
    RepoContextRequest,
    RulesDocument,
    Verdict,
)
from prism_contracts.rpc.imports import (
    ADMIT_UPLOAD,
    CANCEL_JOB,
    CLONE,
    JOB,
    JOBS,
    LIST_SCIP,
    OPEN_SNAPSHOT,
    REMOVE_SCIP,
    STORE_SCIP,
    AdmitUploadReply,
    AdmitUploadRequest,
    CancelJobRequest,
    CloneRequest,
    JobReply,
    JobRequest,
    JobsReply,
    JobsRequest,
    ListScipReply,
    ListScipRequest,
    OpenSnapshotReply,
    OpenSnapshotRequest,
    RemoveScipReply,
    RemoveScipRequest,
    ScipIndexEntry,
    StoreScipReply,
    StoreScipRequest,
)
from prism_contracts.rpc.layers import (
    CLOSE_OVERLAY,
    CREATE_LAYER,
    DELETE_LAYER,
    OPEN_OVERLAY,
    LayerReply,
)
from prism_contracts.rpc.maps import (
    ARCHITECTURE,
    MODULE_MAP,
    ArchitectureReply,
    ArchitectureRequest,
    ComponentDependency,
    ComponentDetail,
    ComponentSummary,
    Cycle,
    Divergence,
    EntryKind,
    EntryPoint,
    Interface,
    ModuleEntry,
    ModuleMapReply,
    ModuleMapRequest,
    Outlier,
    Overview,
    Partition,
    Spread,
    Tier,
)
from prism_contracts.rpc.repositories import (
    CLEAR_CACHE,
    REGISTER,
    REINDEX,
    REMOVE_REPOSITORY,
    REPOSITORY_STATUS,
    UPDATE_REPOSITORY,
    ClearCacheRequest,
    IndexState,
    RegisterRequest,
    ReindexRequest,
    RemoveRepositoryReply,
    RemoveRepositoryRequest,
    RepositoryReply,
    RepositoryStatusReply,
    RepositoryStatusRequest,
    UpdateRepositoryRequest,
)
from prism_contracts.rpc.search import (
    GREP,
    SEARCH,
    FileMatches,
    GrepMatch,
    GrepReply,
    GrepRequest,
    Hit,
    Intent,
    OutputMode,
    SearchReply,
    SearchRequest,
)
from prism_contracts.rpc.symbols import (
    DEFINITIONS,
    REFERENCES,
    Definition,
    DefinitionsReply,
    DefinitionsRequest,
    Reconciliation,
    ReferenceEntry,
    ReferenceGroup,
    ReferencesReply,
    ReferencesRequest,
    SymbolAnswer,
    SymbolReferences,
    TextLine,
    UseCounts,
)
from prism_contracts.rpc.tasks import (
    CREATE_TASK,
    GET_TASK,
    LIST_TASKS,
    UPDATE_TASK,
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksReply,
    ListTasksRequest,
    TaskReply,
    TaskSummary,
    UpdateTaskRequest,
)
from prism_contracts.rpc.unused import UNUSED
from prism_contracts.rpc.wiki import GENERATE_WIKI, GET_WIKI_PAGE, LIST_WIKI_PAGES
from prism_gateway.main import build, open_records
from prism_gateway.settings import GatewaySettings
from prism_gateway.tokens import TokenBook
from prism_runtime.bus import Bus
from prism_runtime.records import Records, open_bucket
from prism_scribe.main import ScribeApp
from prism_scribe.main import build as build_scribe
from prism_scribe.settings import ScribeSettings
from prism_workspace.main import build as build_workspace
from prism_workspace.main import register_documents
from prism_workspace.settings import WorkspaceSettings

SECRET = "prism_" + "s" * 40
RECOVERY_S = 120
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
A_RECEIPT = Receipt(
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
A_JOB = Job(
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
SCIP_INDEX = ScipIndexEntry(indexer="scip-python", commit="c" * 40, files=3, stored_at=NOW)
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
HIT = Hit(
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
DEFINITION = Definition(repo="acme/app", file_path="src/app.py", language="python", symbol=SYMBOL)
RULES = RulesDocument(
    file_path="AGENTS.md",
    line_count=9,
    start_line=1,
    end_line=1,
    content="Keep it small.",
    headings=("5 ## Tests",),
    applies="repository",
)
AN_EDIT_CONTEXT = EditContextReply(
    repo="acme/app",
    file_path="src/app.py",
    language="python",
    start_line=3,
    end_line=5,
    content="def main():\n    run()\n    stop()",
    symbol=SYMBOL,
    references=SymbolReferences(symbol="main", definitions=(DEFINITION,), total_definitions=1),
    rules=(RULES,),
    receipt=A_RECEIPT,
)
A_DOCUMENT = Concerning(
    kind=AnchoredKind.DOCUMENT,
    subject="d1",
    title="How it runs",
    path="generated/2026/01/how-it-runs.md",
    anchors=(
        Anchor(
            repo="r",
            kind=AnchorKind.SYMBOL,
            path="src/app.py",
            symbol="main",
            start_line=3,
            end_line=5,
            commit="c0ffee1",
            blob="b",
            stale=Staleness(reason=StaleReason.TEXT_CHANGED, commit="4f7c2b9", found_at=NOW),
        ),
    ),
)
FILE_LINES = [f"line {number}" for number in range(1, 301)]


class FakeServices:
    """Search and ingest with canned replies; records the requests.

    The query `slow` is running once `slow_began` is set, and answered once `slow_ends` is.
    """

    def __init__(self) -> None:
        self.asked: list[Message] = []
        self.places: list[ConcerningRequest] = []
        self.corpus_version = A_RECEIPT.corpus_version
        self.slow_began, self.slow_ends = asyncio.Event(), asyncio.Event()
        self.hits: tuple[Hit, ...] = (HIT,)
        self.has_files = True  # whether a listing lists any
        self.overview = OVERVIEW
        self.detail = DETAIL
        self.definition = DEFINITION
        self.source = REPOSITORY.source
        self.listed_jobs: tuple[Job, ...] = (A_JOB,)
        self.listed_repositories: tuple[Repository, ...] = (REPOSITORY,)
        self.unserved: set[str] = set()  # refs that no layer has
        self.letters: set[int] = set()  # numbers of dead letters that can be retried
        self.known: tuple[str, ...] = ("main",)  # names with a definition
        self.corrected: dict[str, str] = {}  # the names that others are taken for
        self.intent = Intent.DEFINITION
        self.outlines: dict[tuple[str, str], tuple[Symbol, ...]] = {}  # by ref and path
        self.references_of_task = (PlanningReference(file_path="docs/plan.md", reference_type="plan"),)
        self.refused: dict[type[Message], PrismError] = {}  # by the reply of a walk: what it fails with
        self.replies: dict[type[Message], Message] = {}  # instead of the stored examples
        self.files_of_layer: tuple[FileEntry, ...] | None = None  # of `topic`; None: those of the base
        self.texts: dict[tuple[str, str], str] = {}  # by ref and path
        self.modules = tuple(map(module_entry, range(300)))
        self.looks: list[Job] = []  # what looks at job-1 find, before A_JOB

    def end_job_after(self, looks: int) -> None:
        """Have job-1 end after so many looks at it."""
        ended = A_JOB.model_copy(update={"state": JobState.COMPLETE, "settled": b""})
        self.looks = [A_JOB] * looks + [ended]

    def last(self) -> Any:
        return self.asked[-1]

    async def end_slow(self) -> None:
        """Ends the slow answer, because a bus waits for its running handlers before it stops."""
        self.slow_ends.set()

    async def search(self, request: SearchRequest) -> SearchReply:
        self.asked.append(request)
        if not request.query.strip():
            raise PrismError(ErrorCode.EMPTY_QUERY, "The query is empty.", "Ask something.")
        if request.query == "slow":
            self.slow_began.set()
            await self.slow_ends.wait()
        if request.repo == "no/such":
            raise PrismError(
                ErrorCode.REPO_NOT_FOUND, "No such repository.", "Use one of these.", known=["acme/app"]
            )
        start = int(request.cursor or 0)
        end = start + request.limit
        hits = () if request.query == "nothing" else self.hits[start:end]
        return SearchReply(
            results=hits,
            confidence="high" if hits else "none",
            query_intent=self.intent,
            next_actions=("Read src/app.py.",),
            diagnostics={} if hits else {"files_in_scope": 3},
            next_cursor=str(end) if end < len(self.hits) else "",
            receipt=A_RECEIPT.model_copy(update={"corpus_version": self.corpus_version}),
            timings_ms={"embed": 2.5, "legs": 1.5},
        )

    async def grep(self, request: GrepRequest) -> GrepReply:
        self.asked.append(request)
        if request.output_mode is OutputMode.COUNT:
            file = FileMatches(repo="acme/app", file_path="src/app.py", lines=len(FILE_LINES))
            return GrepReply(
                files=(file,),
                total_files=1,
                total_lines=len(FILE_LINES),
                complete=True,
                files_scanned=1,
                receipt=A_RECEIPT,
            )
        start = int(request.cursor or 0)
        end = min(start + request.limit, len(FILE_LINES))
        return GrepReply(
            matches=tuple(
                GrepMatch(
                    repo="acme/app",
                    file_path="src/app.py",
                    line=index + 1,
                    text=FILE_LINES[index],
                    before=("above",) * request.context_lines,
                )
                for index in range(start, end)
            ),
            next_cursor=str(end) if end < len(FILE_LINES) else "",
            complete=True,
            files_scanned=1,
            receipt=A_RECEIPT,
        )

    async def layer(self, request: Message) -> LayerReply:
        self.asked.append(request)
        return LayerReply(layer=LAYER, job=A_JOB)

    async def read_file(self, request: ReadFileRequest) -> ReadFileReply:
        self.asked.append(request)
        if request.path != "src/app.py":
            raise PrismError(ErrorCode.FILE_NOT_FOUND, "No such file.", "list_files shows what there is.")
        end = min(request.end_line or len(FILE_LINES), len(FILE_LINES))
        is_past = request.end_line > len(FILE_LINES)
        return ReadFileReply(
            repo="acme/app",
            file_path=request.path,
            start_line=request.start_line,
            end_line=end,
            line_count=len(FILE_LINES),
            content="".join(f"{line}\n" for line in FILE_LINES[request.start_line - 1 : end]),
            language="python",
            blob="b" * 40,
            note=f"The file ends with line {len(FILE_LINES)}." if is_past else "",
            receipt=A_RECEIPT,
        )

    async def list_files(self, request: ListFilesRequest) -> ListFilesReply:
        self.asked.append(request)
        if request.ref in self.unserved:
            raise PrismError(
                ErrorCode.REF_NOT_FOUND, "There is no such layer.", "Create one.", suggestions=["topic"]
            )
        if request.ref == LAYER.ref and self.files_of_layer is not None:
            found = self.files_of_layer
            return ListFilesReply(repo="acme/app", files=found, total=len(found), receipt=A_RECEIPT)
        start = int(request.cursor or 0)
        total = 500 if self.has_files else 0
        end = min(start + request.limit, total)
        return ListFilesReply(
            repo="acme/app",
            files=tuple(
                FileEntry(file_path=f"src/{index:03}.py", blob="b" * 40, language="python", lines=10)
                for index in range(start, end)
            ),
            next_cursor=str(end) if end < total else "",
            total=total,
            receipt=A_RECEIPT.model_copy(update={"corpus_version": self.corpus_version}),
        )

    async def lines(self, request: LinesRequest) -> LinesReply:
        self.asked.append(request)
        return LinesReply(texts=tuple(self.texts.get((request.ref, one.file_path)) for one in request.ranges))

    async def outline(self, request: OutlineRequest) -> OutlineReply:
        self.asked.append(request)
        return OutlineReply(
            repo="acme/app",
            file_path=request.path,
            language="python",
            line_count=5,
            symbols=self.outlines.get((request.ref, request.path), (SYMBOL,)),
            parse="ok",
            receipt=A_RECEIPT,
        )

    async def definitions(self, request: DefinitionsRequest) -> DefinitionsReply:
        self.asked.append(request)
        found = self.definition.model_copy(
            update={"body": "def main():\n    run()\n"} if request.include_body else {}
        )
        counts = {ReferenceGroup.CALLERS: 40, ReferenceGroup.TESTS: 2}
        uses = UseCounts(groups=counts, by_name=3) if request.count_uses else None
        return DefinitionsReply(
            answers=tuple(
                SymbolAnswer(symbol=symbol, definitions=(found,), total=1, uses=uses)
                if symbol in self.known
                else SymbolAnswer(
                    symbol=symbol,
                    definitions=(),
                    total=0,
                    suggestions=("main src/app.py:3-5", "src/run.py:7"),
                )
                for symbol in (self.corrected.get(one, one) for one in request.symbols)
            ),
            receipt=A_RECEIPT,
        )

    async def references(self, request: ReferencesRequest) -> ReferencesReply:
        self.asked.append(request)
        start = int(request.cursor or 0)
        end = min(start + request.limit, len(FILE_LINES))
        found = tuple(
            ReferenceEntry(
                repo="acme/app",
                file_path="src/app.py",
                line=index + 1,
                symbol="run",
                group=ReferenceGroup.CALLERS,
                edge=EdgeKind.CALLS,
                status=EdgeStatus.RESOLVED,
                strategy=Strategy.IMPORT,
                text=FILE_LINES[index],
            )
            for index in range(start, end)
        )
        known = SymbolReferences(
            symbol="main",
            definitions=(DEFINITION,),
            total_definitions=1,
            entries=found,
            counts={ReferenceGroup.CALLERS: len(FILE_LINES)},
            reconciliation=Reconciliation(
                resolved=len(FILE_LINES), candidates=0, elsewhere=0, text_lines=len(FILE_LINES) + 2, unexplained=1,
                unexplained_lines=(TextLine(repo="acme/app", file_path="src/app.py", line=900, text="# main"),), files=1,
            ),
            next_cursor=str(end) if end < len(FILE_LINES) else "",
        )  # fmt: skip
        unknown = SymbolReferences(symbol="", definitions=(), total_definitions=0, suggestions=("main",))
        return ReferencesReply(
            answers=tuple(
                known if symbol == "main" else unknown.model_copy(update={"symbol": symbol})
                for symbol in request.symbols
            ),
            receipt=A_RECEIPT,
        )

    async def edit_context(self, request: EditContextRequest) -> EditContextReply:
        self.asked.append(request)
        return AN_EDIT_CONTEXT

    async def concerning(self, request: ConcerningRequest) -> ConcerningReply:
        self.places.append(request)
        return ConcerningReply(concerning=(A_DOCUMENT,), total=1)

    async def existing(self, request: ExistingRequest) -> ExistingReply:
        self.asked.append(request)
        found = ExistingDefinition(
            definition=DEFINITION, verdict=Verdict.MAYBE, score=0.5, reasons=("name: main",)
        )
        return ExistingReply(verdict=found.verdict, existing=(found,), receipt=A_RECEIPT)

    async def conventions(self, request: ConventionsRequest) -> ConventionsReply:
        self.asked.append(request)
        example = ConventionExample(file_path="src/app.py", line=3, text="def main()")
        convention = Convention(
            topic="naming", language="python", statement="functions are snake_case", count=9, total=10, examples=(example,)
        )  # fmt: skip
        return ConventionsReply(
            repo="acme/app",
            conventions=(convention,),
            rules=(RULES,),
            files_read=3,
            files=3,
            receipt=A_RECEIPT,
        )

    async def repo_context(self, request: RepoContextRequest) -> RepoContextReply:
        self.asked.append(request)
        readme = ContextDocument(**RULES.model_dump(exclude={"applies"}), section=ContextSection.README)
        missing = (ContextSection.DECISIONS,)
        return RepoContextReply(repo="acme/app", documents=(readme,), missing=missing, receipt=A_RECEIPT)

    async def receipt(self, request: ReceiptRequest) -> Receipt:
        self.asked.append(request)
        return A_RECEIPT.model_copy(update={"corpus_version": self.corpus_version})

    async def coverage(self, request: CoverageRequest) -> CoverageReply:
        self.asked.append(request)
        return CoverageReply(
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
            problems=(CoverageProblem(file_path="logo.png", status="skipped", reason="binary"),),
            receipt=A_RECEIPT,
        )

    async def point_counts(self, request: PointCountsRequest) -> PointCountsReply:
        self.asked.append(request)
        return PointCountsReply(
            total=9,
            repositories={"r1": 9},
            layers=(
                LayerPoints(repo="r1", layer="base", points=9, files=3),
                LayerPoints(repo="r1", layer="l1", ref="topic", points=4, files=2),
            ),
        )

    async def clone(self, request: CloneRequest) -> JobReply:
        self.asked.append(request)
        if request.url.startswith("file:"):
            raise PrismError(ErrorCode.CLONE_REFUSED, "The scheme is not allowed.", "Use https.")
        return JobReply(job=A_JOB)

    async def remove_repository(self, request: RemoveRepositoryRequest) -> RemoveRepositoryReply:
        self.asked.append(request)
        if request.repo != REPOSITORY.name:
            raise PrismError(ErrorCode.REPO_NOT_FOUND, f"There is no repository {request.repo}.")
        return RemoveRepositoryReply(repo=request.repo, jobs_cancelled=1)

    async def admit_upload(self, request: AdmitUploadRequest) -> AdmitUploadReply:
        """Accepts contents for job-1, has ended job-2, and knows no other job."""
        if request.tenant != "default" or request.job not in {"job-1", "job-2"}:
            raise PrismError(ErrorCode.JOB_NOT_FOUND, f"There is no job {request.job}.")
        return AdmitUploadReply(is_open=request.job == "job-1", bytes_max=100)

    async def job(self, request: JobRequest | CancelJobRequest) -> JobReply:
        self.asked.append(request)
        if request.job not in ("", A_JOB.job):
            raise PrismError(ErrorCode.JOB_NOT_FOUND, "No such job.", "List the jobs.")
        return JobReply(job=self.looks.pop(0) if self.looks else A_JOB)

    async def letter(self, request: RetryLetterRequest | DropLetterRequest) -> LetterReply:
        self.asked.append(request)
        if request.letter not in self.letters:
            raise PrismError(
                ErrorCode.LETTER_NOT_FOUND, f"There is no dead letter {request.letter}.", "List them."
            )
        job = A_JOB if isinstance(request, RetryLetterRequest) else None
        return LetterReply(
            letter=request.letter, event="file.changed", repo="acme/app", file_path="src/bad.py", job=job
        )

    async def register(self, request: RegisterRequest) -> RepositoryReply:
        self.asked.append(request)
        if not request.url.startswith("https://"):
            raise PrismError(ErrorCode.CLONE_REFUSED, "The scheme is not allowed.", "Use https.")
        job = A_JOB if request.index else None
        return RepositoryReply(repository=REPOSITORY, created=request.repo_name != "acme/app", job=job)

    async def update_repository(
        self, request: UpdateRepositoryRequest | ClearCacheRequest
    ) -> RepositoryReply:
        self.asked.append(request)
        return RepositoryReply(repository=REPOSITORY)

    async def create_task(self, request: CreateTaskRequest) -> TaskReply:
        self.asked.append(request)
        return self._task(request.title, "need to be done", 1)

    async def get_task(self, request: GetTaskRequest) -> TaskReply:
        self.asked.append(request)
        return self._task("Retry deliveries", "in-progress", 2)

    async def update_task(self, request: UpdateTaskRequest) -> TaskReply:
        self.asked.append(request)
        if request.expected_version == 1:
            raise PrismError(ErrorCode.TASK_CONFLICT, "It has changed.", "Read it again.", version=2)
        return self._task("Retry deliveries", request.status or "in-progress", 3)

    async def list_tasks(self, request: ListTasksRequest) -> ListTasksReply:
        self.asked.append(request)
        if request.repo not in ("", "acme/app") or request.query == "nothing":
            return ListTasksReply(tasks=(), total=0)
        shown = self._task("Retry deliveries", "in-progress", 2).model_dump(
            include={"id", "title", "status", "repo", "version", "created_at", "updated_at"}
        )
        return ListTasksReply(
            tasks=(TaskSummary(**shown, branches=("retry",), commits=("4f2d9c1b" * 5,)),),
            total=2,
            next_cursor="" if request.cursor else "W10",
        )

    def _task(self, title: str, status: str, version: int) -> TaskReply:
        now = datetime.now(UTC)
        change = TaskChange(version=version, at=now, by="laptop", changed=("status",), to_status=status)
        return TaskReply(
            id="7c0d5a54-3f0e-4c7b-9d1e-2a6b8c4f1e90",
            title=title,
            description="A delivery that fails is tried again.",
            notes="Ask the carrier.",
            status=status,
            repo="acme/app",
            version=version,
            created_at=now,
            updated_at=now,
            created_by="laptop",
            planning_references=self.references_of_task,
            branches=(BranchLink(branch_name="retry", linked_at=now),),
            commits=(CommitLink(commit_hash="4f2d9c1b" * 5, commit_message="Retry", linked_at=now),),
            history=(change,),
        )

    async def repository_status(self, request: RepositoryStatusRequest) -> RepositoryStatusReply:
        self.asked.append(request)
        if request.repo == "no/such":
            raise PrismError(ErrorCode.REPO_NOT_FOUND, "No such repository.", "Use one of these.")
        named = next((one for one in self.listed_repositories if one.name == request.repo), REPOSITORY)
        return RepositoryStatusReply(
            repository=named.model_copy(update={"source": self.source}),
            state=IndexState.INDEXING,
            lag_seconds=2.5,
            layers=1,
            active_job=A_JOB,
            last_job=A_JOB,
        )

    async def changes(self, request: ChangesRequest) -> ChangesReply:
        self.asked.append(request)
        change = FileChange(
            path="src/app.py", change=ChangeKind.CHANGED, at=NOW, commit=UNCOMMITTED, version=3, job="j"
        )
        return ChangesReply(repo="acme/app", changes=(change,))

    async def reindex(self, request: ReindexRequest) -> JobReply:
        self.asked.append(request)
        if request.repo == "slow":
            self.slow_began.set()
            await self.slow_ends.wait()
        return JobReply(job=A_JOB)

    async def jobs(self, request: JobsRequest) -> JobsReply:
        self.asked.append(request)
        return JobsReply(jobs=self.listed_jobs, repositories=self.listed_repositories, layers=(LAYER,))

    async def open_snapshot(self, request: OpenSnapshotRequest) -> OpenSnapshotReply:
        self.asked.append(request)
        return OpenSnapshotReply(job=A_JOB, needed=tuple(range(len(request.files))))

    async def store_scip(self, request: StoreScipRequest) -> StoreScipReply:
        self.asked.append(request)
        return StoreScipReply(
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

    async def list_scip(self, request: ListScipRequest) -> ListScipReply:
        self.asked.append(request)
        return ListScipReply(repo=request.repo, indexes=(SCIP_INDEX,))

    async def remove_scip(self, request: RemoveScipRequest) -> RemoveScipReply:
        self.asked.append(request)
        if request.indexer != SCIP_INDEX.indexer:
            raise PrismError(
                ErrorCode.SCIP_NOT_FOUND, f"There is no SCIP index by {request.indexer}.", "List them."
            )
        return RemoveScipReply(repo=request.repo, removed=SCIP_INDEX)


def module_entry(number: int) -> ModuleEntry:
    return ModuleEntry(
        file_path=f"src/part{number}.py",
        language="python",
        lines=number + 1,
        tier=Tier.CORE,
        relative_score=1 / (number + 1),
        summary=f"Does part {number}.",
        top_symbols=("class Part", "function main"),
        commits_90_days=number,
    )


COMPONENT = ComponentSummary(
    id=0,
    name="src",
    files=2,
    lines=30,
    rank=0.75,
    main_files=("src/app.py",),
    main_symbols=("class Part",),
)
DEPENDENCY = ComponentDependency(
    source="src", target="lib", references=4, candidates=1, example=("src/app.py", "lib/run.py")
)
ENTRY_POINT = EntryPoint(kind=EntryKind.MAIN, file_path="src/app.py", line=3, symbol="main")
CYCLE = Cycle(members=2, path=("src/a.py", "src/b.py", "src/a.py"))
SPREAD = Spread(name="src", files=4, over={"src": 2, "lib": 2})
OVERVIEW = Overview(
    entry_points=(ENTRY_POINT,),
    components=(COMPONENT,),
    dependencies=(DEPENDENCY,),
    file_cycles=(CYCLE,),
    component_cycles=(),
    divergence=Divergence(
        agreement=0.5,
        folders=(SPREAD,),
        components=(),
        outliers=(Outlier(file_path="src/odd.py", component="lib", folder_component="src"),),
    ),
    partitions=(Partition(folder=".", manifest="pyproject.toml", files=3),),
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
DETAIL = ComponentDetail(
    summary=COMPONENT,
    files=(module_entry(0),),
    interface=(Interface(file_path="src/app.py", line=3, symbol="main", references=4),),
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
GRAPH_RECEIPT = GraphReceipt(
    **A_RECEIPT.model_dump(), graph_commit="b" * 40, graph_version=1, graph_built_at=NOW, graph_lag_seconds=7
)


WALKS = (
    CALL_HIERARCHY,
    TYPE_HIERARCHY,
    DEPENDENCIES,
    FIND_PATH,
    IMPACT,
    UNUSED,
)
EXAMPLES = Path(names.__file__).with_name("examples")


async def canned(fake: "FakeServices", reply_type: type[Message], request: Message) -> Message:
    """Returns the stored example of a reply; for a call hierarchy, as many callers as requested."""
    fake.asked.append(request)
    if error := fake.refused.get(reply_type):
        raise error
    if made := fake.replies.get(reply_type):
        return made
    reply = reply_type.model_validate_json((EXAMPLES / f"{reply_type.__name__}.json").read_text())
    if isinstance(reply, CallHierarchyReply):
        branches = reply.branches * request.limit
        return reply.model_copy(
            update={"branches": branches, "total": 300, "next_cursor": str(request.limit)}
        )
    return reply


def serve_atlas(bus: Bus, fake: FakeServices) -> None:
    async def module_map(request: ModuleMapRequest) -> ModuleMapReply:
        fake.asked.append(request)
        start = int(request.cursor or 0)
        total = len(fake.modules)
        end = min(start + request.limit, total)
        return ModuleMapReply(
            repo="acme/app",
            entries=fake.modules[start:end],
            total=total,
            tiers={Tier.CORE: total},
            next_cursor=str(end) if end < total else "",
            receipt=GRAPH_RECEIPT,
        )

    async def architecture(request: ArchitectureRequest) -> ArchitectureReply:
        fake.asked.append(request)
        described = {"component": fake.detail} if request.component else {"overview": fake.overview}
        return ArchitectureReply(repo="acme/app", **described, receipt=GRAPH_RECEIPT)

    for rpc in WALKS:
        bus.serve(rpc, partial(canned, fake, rpc.reply))
    bus.serve(MODULE_MAP, module_map)
    bus.serve(ARCHITECTURE, architecture)


def serve_scribe(bus: Bus, scribe: ScribeApp, fake: FakeServices) -> None:
    """Contexts are gathered from the fakes; wikis and descriptions are canned."""
    bus.serve(CONTEXT, scribe.contexts.context)
    bus.serve(ANSWER_CONTEXT, scribe.contexts.answer)
    bus.serve(WRITE_TAGS, scribe.tags.write)
    for rpc in (DESCRIPTIONS, DESCRIBE, LIST_WIKI_PAGES, GET_WIKI_PAGE, GENERATE_WIKI):
        bus.serve(rpc, partial(canned, fake, rpc.reply))


def serve_search(bus: Bus, fake: FakeServices) -> None:
    for rpc, handle in (
        (SEARCH, fake.search),
        (GREP, fake.grep),
        (READ_FILE, fake.read_file),
        (LIST_FILES, fake.list_files),
        (LINES, fake.lines),
        (OUTLINE, fake.outline),
        (DEFINITIONS, fake.definitions),
        (REFERENCES, fake.references),
        (EDIT_CONTEXT, fake.edit_context),
        (CONCERNING, fake.concerning),
        (EXISTING, fake.existing),
        (CONVENTIONS, fake.conventions),
        (REPO_CONTEXT, fake.repo_context),
        (RECEIPT, fake.receipt),
        (COVERAGE, fake.coverage),
        (POINT_COUNTS, fake.point_counts),
    ):
        bus.serve(rpc, handle)


def serve_ingest(bus: Bus, fake: FakeServices) -> None:
    for rpc, handle in (
        (CLONE, fake.clone),
        (REMOVE_REPOSITORY, fake.remove_repository),
        (CREATE_LAYER, fake.layer),
        (DELETE_LAYER, fake.layer),
        (OPEN_OVERLAY, fake.layer),
        (CLOSE_OVERLAY, fake.layer),
        (ADMIT_UPLOAD, fake.admit_upload),
        (JOB, fake.job),
        (CANCEL_JOB, fake.job),
        (JOBS, fake.jobs),
        (RETRY_LETTER, fake.letter),
        (DROP_LETTER, fake.letter),
        (STORE_SCIP, fake.store_scip),
        (LIST_SCIP, fake.list_scip),
        (REMOVE_SCIP, fake.remove_scip),
        (REGISTER, fake.register),
        (UPDATE_REPOSITORY, fake.update_repository),
        (CLEAR_CACHE, fake.update_repository),
        (REPOSITORY_STATUS, fake.repository_status),
        (CHANGES, fake.changes),
        (CREATE_TASK, fake.create_task),
        (GET_TASK, fake.get_task),
        (UPDATE_TASK, fake.update_task),
        (LIST_TASKS, fake.list_tasks),
        (REINDEX, fake.reindex),
        (OPEN_SNAPSHOT, fake.open_snapshot),
    ):
        bus.serve(rpc, handle)


async def signed_in(http: httpx2.AsyncClient, secret: str = SECRET) -> None:
    """Sign in to the console as the holder of a token; the client keeps the cookie."""
    http.headers.pop("Authorization", None)
    answer = await http.post("/login", data={"token": secret}, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 303, answer.text


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass
class Stack:
    """The address of the gateway, its stand-ins, and the records behind it."""

    url: str
    settings: GatewaySettings
    fake: FakeServices
    bus: Bus
    search: Bus
    ingest: Bus
    book: Records[Token]
    tokens: TokenBook
    tenants: Tenants
    metrics: CollectorRegistry
    secret: str = SECRET
    headers: dict[str, str] = field(default_factory=lambda: {"Authorization": f"Bearer {SECRET}"})

    async def reconnected(self) -> None:
        """Waits until NATS is connected again; a bus cannot be stopped before."""
        buses = (self.bus, self.search, self.ingest)
        async with asyncio.timeout(RECOVERY_S):
            while not all(bus.broker.connection.is_connected for bus in buses):
                await asyncio.sleep(0.05)

    async def change_token(self, secret: str, **changes: Any) -> None:
        """Creates or changes a token."""
        first = Token(tenant="acme", label="laptop", created_at=NOW)
        known = await self.book.get(digest_of(secret)) or first
        await self.book.put(digest_of(secret), known.model_copy(update=changes))

    async def delete_token(self, secret: str) -> None:
        await self.book.delete(digest_of(secret))

    @asynccontextmanager
    async def mcp(self, mode: str = "auto", path: str = "/mcp", **headers: str) -> AsyncIterator[Client]:
        async with self.rest(**{"X-Prism-Structured": "true", **headers}) as http:
            transport = streamable_http_client(f"{self.url}{path}", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    @asynccontextmanager
    async def rest(self, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        # Without `verify=False` a client reads the machine's certificates first, which is slow.
        async with httpx2.AsyncClient(
            base_url=self.url, headers=self.headers | headers, timeout=30, verify=False
        ) as client:
            yield client


StackMaker = Callable[..., Any]


async def serve_documents(bus: Bus, nats_url: str, services: tuple[str, ...]) -> None:
    """Serve the documents of the real workspace, if it is one of the services: they need nothing but NATS.

    Its tasks and places are not served, because the stand-ins answer for them.
    """
    if "workspace" not in services:
        return
    settings = WorkspaceSettings(nats_url=nats_url)
    await bus.connect()
    app = await build_workspace(bus, settings)
    register_documents(bus, app, deadline_s=settings.documents_deadline_s)


@pytest.fixture
async def make_stack(nats_server) -> AsyncIterator[StackMaker]:
    """Starts a stack; keyword arguments are settings of the gateway, `services` the stand-ins to run."""
    undo: list[Callable[[], Any]] = []

    async def make(
        *,
        services: tuple[str, ...] = ("search", "ingest", "atlas", "scribe", "workspace"),
        plans: PlanSettings | None = None,
        port: int = 0,
        scribe: Mapping[str, Any] = MappingProxyType({}),
        **settings: Any,
    ) -> Stack:
        config = GatewaySettings(
            **{"nats_url": nats_server.url, "bootstrap_token_sha256": digest_of(SECRET)} | settings
        )
        fake = FakeServices()
        buses = {
            name: Bus(name, config)
            for name in ("search", "ingest", "atlas", "scribe", "workspace", "gateway")
        }
        if "search" in services:
            serve_search(buses["search"], fake)
        if "ingest" in services:
            serve_ingest(buses["ingest"], fake)
        if "atlas" in services:
            serve_atlas(buses["atlas"], fake)
        if "scribe" in services:
            settings_of_scribe = ScribeSettings(nats_url=config.nats_url, **scribe)
            await buses["scribe"].connect()
            app_of_scribe = await build_scribe(
                buses["scribe"], settings_of_scribe, plans or PlanSettings(), CollectorRegistry()
            )
            serve_scribe(buses["scribe"], app_of_scribe, fake)
            undo.append(app_of_scribe.writer.close)
        await serve_documents(buses["workspace"], config.nats_url, services)
        for bus in buses.values():
            await bus.start()
            undo.append(bus.stop)
        undo.append(fake.end_slow)
        bus = buses["gateway"]
        vault = Vault(VaultSettings(secrets_key=SecretStr("k" * KEY_CHARS_MIN)))
        metrics = CollectorRegistry()
        app = build(bus, config, vault, plans or PlanSettings(), metrics)
        await open_records(bus, app, config)
        listener = socket.create_server(("127.0.0.1", port))
        server = uvicorn.Server(uvicorn.Config(app.http, log_config=None, access_log=False, lifespan="on"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))

        async def stop_serving() -> None:
            server.should_exit = True
            await serving

        undo.append(stop_serving)
        while not server.started:
            await asyncio.sleep(0.005)
        book = Records(await open_bucket(bus.js, names.KV_TOKENS), Token)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        return Stack(
            url,
            config,
            fake,
            bus,
            buses["search"],
            buses["ingest"],
            book,
            app.parts.tokens,
            app.parts.tenants,
            metrics,
        )

    yield make
    for action in reversed(undo):
        await action()


@pytest.fixture
async def stack(make_stack) -> Stack:
    """A stack with every stand-in running."""
    return await make_stack()
