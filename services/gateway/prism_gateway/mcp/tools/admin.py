"""The toolset `admin`: who asks, which repositories there are, and how they come in."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, model_validator

from prism_contracts import rpc
from prism_gateway.auth import require_write
from prism_gateway.mcp.answers import indexing
from prism_gateway.mcp.arguments import Arguments, BudgetedArguments, ScopedArguments
from prism_gateway.mcp.schema import INTEGER, OBJECT, RECEIPT, STRING, STRINGS, TRUNCATED, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Tool, Toolset

PROBLEMS_DEFAULT = 50
JOBS_SHOWN = 10
REPOSITORIES_JOBS = 1


class Ping(Arguments):
    pass


class WhoAmI(Arguments):
    pass


class ListRepos(Arguments):
    pass


class IndexRepository(Arguments):
    url: Annotated[str, Field(min_length=1, description="git URL")]
    name: Annotated[str, Field(description="owner/name; from the URL if empty")] = ""
    ref: Annotated[str, Field(description="branch, tag or commit")] = ""


class IndexStatus(ScopedArguments):
    job: str = ""

    @model_validator(mode="after")
    def _one_way_of_asking(self) -> "IndexStatus":
        if self.job and self.repo:
            raise ValueError("give either job or repo")
        return self


class IndexCoverage(BudgetedArguments):
    limit: Annotated[int, Field(ge=1, le=rpc.LIST_LIMIT_MAX)] = PROBLEMS_DEFAULT


async def ping(call: Call, _: Ping) -> Answer:
    facts = {"status": "ok", "timestamp": datetime.now(UTC).isoformat(), "tool_count": call.tool_count}
    return Answer(facts, f"ok, {call.tool_count} tools")


async def whoami(call: Call, _: WhoAmI) -> Answer:
    caller = call.caller
    facts = {"tenant": caller.tenant, "label": caller.label, "scopes": list(caller.scopes), "repo": call.repo}
    return Answer(facts, f"tenant {caller.tenant}, token {caller.label}, scopes {', '.join(caller.scopes)}")


async def list_repos(call: Call, _: ListRepos) -> Answer:
    return indexing.repositories(
        (await call.backend.jobs(call.caller.tenant, REPOSITORIES_JOBS)).repositories
    )


async def index_repository(call: Call, arguments: IndexRepository) -> Answer:
    require_write(call.caller)
    reply = await call.backend.clone(
        rpc.CloneRequest(
            tenant=call.caller.tenant, url=arguments.url, repo_name=arguments.name, ref=arguments.ref
        )
    )
    return indexing.job(reply.job)


async def index_status(call: Call, arguments: IndexStatus) -> Answer:
    tenant, repo = call.caller.tenant, arguments.repo or call.repo
    if arguments.job:
        return indexing.job((await call.backend.job(tenant, job=arguments.job)).job)
    if repo:
        return indexing.job((await call.backend.job(tenant, repo=repo)).job)
    return indexing.jobs((await call.backend.jobs(tenant, JOBS_SHOWN)).jobs)


async def index_coverage(call: Call, arguments: IndexCoverage) -> Answer:
    reply = await call.backend.coverage(call.request(rpc.CoverageRequest, arguments))
    return indexing.coverage(reply, arguments.max_tokens)


JOB = record(
    job=STRING, repo=STRING, state=STRING, expected=INTEGER, settled=INTEGER, counts=OBJECT, error=OBJECT
)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "ping",
        Toolset.ADMIN,
        "Is Prism there?",
        Ping,
        record(status=STRING, timestamp=STRING, tool_count=INTEGER),
        ping,
    ),
    Tool(
        "whoami",
        Toolset.ADMIN,
        "Tenant, token label, scopes and the repository of the header.",
        WhoAmI,
        record(tenant=STRING, label=STRING, scopes=STRINGS, repo=STRING),
        whoami,
    ),
    Tool(
        "list_repos",
        Toolset.ADMIN,
        "Repositories and the commits that are indexed.",
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
        "Clone or fetch a git URL and index it; returns a job for index_status.",
        IndexRepository,
        record(job=JOB),
        index_repository,
        writes=True,
    ),
    Tool(
        "index_status",
        Toolset.ADMIN,
        "A job, or the newest job of a repository; without either, the newest jobs.",
        IndexStatus,
        record(job=JOB, jobs=array(JOB)),
        index_status,
    ),
    Tool(
        "index_coverage",
        Toolset.ADMIN,
        "What of a repository is searchable and what is not, with reasons.",
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
