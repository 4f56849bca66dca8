"""The toolset `admin`: the caller, repositories, indexing."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, model_validator

from prism_contracts import types
from prism_contracts.errors import ErrorCode, PrismError
from prism_contracts.rpc.files import COVERAGE, LIST_LIMIT_MAX
from prism_contracts.rpc.imports import (
    CANCEL_JOB,
    CLONE,
    EDIT_FILES_MAX,
    JOB,
    JOBS,
    CancelJobRequest,
    CloneRequest,
    FileEdit,
    JobRequest,
    JobsRequest,
)
from prism_contracts.rpc.layers import (
    CLOSE_OVERLAY,
    CREATE_LAYER,
    DELETE_LAYER,
    OPEN_OVERLAY,
    OVERLAY_TTL_DEFAULT_S,
    OVERLAY_TTL_MAX_S,
    OVERLAY_TTL_MIN_S,
    CloseOverlayRequest,
    CreateLayerRequest,
    DeleteLayerRequest,
    OpenOverlayRequest,
)
from prism_contracts.rpc.repositories import (
    REMOVE_REPOSITORY,
    RemoveRepositoryRequest,
)
from prism_gateway.mcp.answers import indexing
from prism_gateway.mcp.arguments import Arguments, BudgetedArguments, ScopedArguments
from prism_gateway.mcp.following import FollowingArguments, follow
from prism_gateway.mcp.schema import INTEGER, OBJECT, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.schema import JOB as JOB_RESULT
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset
from prism_gateway.scopes import READ, check_scope

PROBLEMS_DEFAULT = 50
JOBS_SHOWN = 10
REPOSITORIES_JOBS = 1


class Ping(Arguments):
    pass


class WhoAmI(Arguments):
    pass


class ListRepos(Arguments):
    pass


class IndexRepository(FollowingArguments):
    url: Annotated[types.GitUrl, Field(min_length=1, description="git URL")]
    name: Annotated[types.RepoNameOrNone, Field(description="default: from the URL")] = ""
    ref: Annotated[types.RefName, Field(description="branch, tag or commit")] = ""
    force: bool = False


class RemoveRepository(Arguments):
    repo: types.RepoKey


class BranchIndex(ScopedArguments):
    ref: types.Ref


class OverlayFile(Arguments):
    path: types.FilePath
    content: Annotated[types.FileText | None, Field(description="null deletes the file")]


class OpenOverlay(ScopedArguments):
    base_ref: Annotated[types.RefOrNone, Field(description="branch below; default: the default branch")] = ""
    base_commit: types.CommitIdOrNone = ""
    handle: Annotated[types.RefOrNone, Field(description="overlay whose edits to replace")] = ""
    files: Annotated[list[OverlayFile], Field(max_length=EDIT_FILES_MAX)] = []
    diff: Annotated[types.EditDiff, Field(description="unified diff, as printed by git diff")] = ""
    ttl_s: Annotated[int, Field(ge=OVERLAY_TTL_MIN_S, le=OVERLAY_TTL_MAX_S)] = OVERLAY_TTL_DEFAULT_S


class CloseOverlay(ScopedArguments):
    handle: types.Ref


class IndexStatus(ScopedArguments):
    job: types.JobIdOrNone = ""

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "IndexStatus":
        if self.job and self.repo:
            raise ValueError("give either job or repo")
        return self


class CancelJob(Arguments):
    job: types.JobId


class IndexCoverage(BudgetedArguments):
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT_MAX)] = PROBLEMS_DEFAULT


async def ping(call: Call, _: Ping) -> Answer:
    facts = {"status": "ok", "timestamp": datetime.now(UTC).isoformat(), "tool_count": call.tool_count}
    return Answer(facts, f"ok, {call.tool_count} tools")


async def whoami(call: Call, _: WhoAmI) -> Answer:
    caller, scopes = call.caller, sorted(call.caller.scopes)
    facts = {"tenant": caller.tenant, "label": caller.label, "scopes": scopes, "repo": call.repo}
    return Answer(facts, f"tenant {caller.tenant}, token {caller.label}, scopes {', '.join(scopes)}")


async def list_repos(call: Call, _: ListRepos) -> Answer:
    reply = await call.backend.ask(JOBS, JobsRequest(tenant=call.caller.tenant, limit=REPOSITORIES_JOBS))
    return indexing.repositories(reply.repositories, reply.layers)


async def index_repository(call: Call, arguments: IndexRepository) -> Answer:
    reply = await call.backend.ask(
        CLONE,
        CloneRequest(
            tenant=call.caller.tenant,
            url=arguments.url,
            repo_name=arguments.name,
            ref=arguments.ref,
            force=arguments.force,
        ),
    )
    return indexing.job(await follow(call, reply.job, arguments))


async def remove_repository(call: Call, arguments: RemoveRepository) -> Answer:
    request = RemoveRepositoryRequest(tenant=call.caller.tenant, repo=arguments.repo)
    return indexing.repository_gone(await call.backend.ask(REMOVE_REPOSITORY, request))


async def create_branch_index(call: Call, arguments: BranchIndex) -> Answer:
    request = call.request(CreateLayerRequest, arguments)
    return indexing.layer(await call.backend.ask(CREATE_LAYER, request))


async def delete_branch_index(call: Call, arguments: BranchIndex) -> Answer:
    request = call.request(DeleteLayerRequest, arguments)
    return indexing.layer_gone(await call.backend.ask(DELETE_LAYER, request))


async def open_overlay(call: Call, arguments: OpenOverlay) -> Answer:
    # Encoded here: pydantic would read a string in a bytes field as base64.
    files = tuple(
        FileEdit(path=file.path, content=None if file.content is None else file.content.encode())
        for file in arguments.files
    )
    # The `ref` of other tools is the layer below for an overlay.
    base_ref = arguments.base_ref or arguments.ref
    if arguments.ref and arguments.ref != base_ref:
        raise PrismError(
            ErrorCode.INVALID_ARGUMENT, "ref and base_ref are two different branches.", "Give base_ref alone."
        )
    request = call.request(OpenOverlayRequest, arguments, files=files, base_ref=base_ref)
    return indexing.overlay(await call.backend.ask(OPEN_OVERLAY, request))


async def close_overlay(call: Call, arguments: CloseOverlay) -> Answer:
    request = call.request(CloseOverlayRequest, arguments)
    return indexing.layer_gone(await call.backend.ask(CLOSE_OVERLAY, request))


async def index_status(call: Call, arguments: IndexStatus) -> Answer:
    tenant, repo = call.caller.tenant, arguments.repo or call.repo
    if arguments.job:
        return indexing.job((await call.backend.ask(JOB, JobRequest(tenant=tenant, job=arguments.job))).job)
    check_scope(call.caller, READ)
    if repo:
        return indexing.job((await call.backend.ask(JOB, JobRequest(tenant=tenant, repo=repo))).job)
    return indexing.jobs((await call.backend.ask(JOBS, JobsRequest(tenant=tenant, limit=JOBS_SHOWN))).jobs)


async def cancel_job(call: Call, arguments: CancelJob) -> Answer:
    request = CancelJobRequest(tenant=call.caller.tenant, job=arguments.job)
    return indexing.job((await call.backend.ask(CANCEL_JOB, request)).job)


async def index_coverage(call: Call, arguments: IndexCoverage) -> Answer:
    reply = await call.ask(COVERAGE, arguments)
    return indexing.coverage(reply, arguments.max_tokens)


LAYER = record(
    ref=STRING, kind=STRING, commit=STRING, files_changed=INTEGER, files_hidden=INTEGER, expires_at=STRING
)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "ping",
        Toolset.ADMIN,
        "Check that Prism answers.",
        Ping,
        record(status=STRING, timestamp=STRING, tool_count=INTEGER),
        ping,
    ),
    Tool(
        "whoami",
        Toolset.ADMIN,
        "Tenant, label and scopes of the token.",
        WhoAmI,
        record(tenant=STRING, label=STRING, scopes=STRINGS, repo=STRING),
        whoami,
    ),
    Tool(
        "list_repos",
        Toolset.ADMIN,
        "Indexed repositories with commits and branches.",
        ListRepos,
        record(
            repositories=array(
                record(name=STRING, source=STRING, head_commit=STRING, layers=array(OBJECT)),
            )
        ),
        list_repos,
    ),
    Tool(
        "index_repository",
        Toolset.ADMIN,
        "Clone or fetch a git URL and index it.",
        IndexRepository,
        record(job=JOB_RESULT),
        index_repository,
        effect=Effect.FETCHES,
    ),
    Tool(
        "remove_repository",
        Toolset.ADMIN,
        "Delete a repository and all its data.",
        RemoveRepository,
        record(deleted=STRING, jobs_cancelled=INTEGER),
        remove_repository,
        effect=Effect.FORGETS,
    ),
    Tool(
        "create_branch_index",
        Toolset.ADMIN,
        "Index a branch, tag, commit or pull request (pull/7), to pass as ref.",
        BranchIndex,
        record(layer=LAYER, job=JOB_RESULT),
        create_branch_index,
        effect=Effect.FETCHES,
    ),
    Tool(
        "delete_branch_index",
        Toolset.ADMIN,
        "Delete the index of a branch.",
        BranchIndex,
        record(deleted=STRING),
        delete_branch_index,
        effect=Effect.FORGETS,
    ),
    Tool(
        "open_overlay",
        Toolset.ADMIN,
        "Index uncommitted edits on top of a branch; returns a handle to pass as ref.",
        OpenOverlay,
        record(handle=STRING, expires_at=STRING, job=JOB_RESULT),
        open_overlay,
        effect=Effect.TAKES,
    ),
    Tool(
        "close_overlay",
        Toolset.ADMIN,
        "Delete an overlay.",
        CloseOverlay,
        record(deleted=STRING),
        close_overlay,
        effect=Effect.FORGETS,
    ),
    Tool(
        "index_status",
        Toolset.ADMIN,
        "A job, the newest job of a repository, or the newest jobs.",
        IndexStatus,
        record(job=JOB_RESULT, jobs=array(JOB_RESULT)),
        index_status,
    ),
    Tool(
        "cancel_job",
        Toolset.ADMIN,
        "End a running job; the index keeps what it serves.",
        CancelJob,
        record(job=JOB_RESULT),
        cancel_job,
        effect=Effect.FORGETS,
    ),
    Tool(
        "index_coverage",
        Toolset.ADMIN,
        "Which files are searchable, and why others are not.",
        IndexCoverage,
        record(
            repo=STRING,
            files=INTEGER,
            indexed=INTEGER,
            skipped=INTEGER,
            failed=INTEGER,
            by_reason=OBJECT,
            problems=array(OBJECT),
            **TRUNCATED,
            **RECEIPT,
        ),
        index_coverage,
    ),
)
