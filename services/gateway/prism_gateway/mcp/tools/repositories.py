"""More of the toolset `admin`: repositories and their settings."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc.changes import CHANGES, ChangesRequest
from prism_contracts.rpc.repositories import (
    CLEAR_CACHE,
    REGISTER,
    REINDEX,
    REPOSITORY_STATUS,
    UPDATE_REPOSITORY,
    ClearCacheRequest,
    RegisterRequest,
    ReindexRequest,
    RepositoryStatusRequest,
    UpdateRepositoryRequest,
)
from prism_gateway.mcp.answers import indexing, repositories
from prism_gateway.mcp.arguments import Arguments
from prism_gateway.mcp.following import FollowingArguments, follow
from prism_gateway.mcp.schema import ARRAY, BOOLEAN, JOB, NUMBER, OBJECT, STRING, STRINGS, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset
from prism_gateway.scopes import ADMIN, check_scope

CHANGES_MAX = 100

GlobsField = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=types.GLOB_CHARS_MAX)]],
    Field(max_length=types.GLOBS_MAX),
]


class RepositorySettings(Arguments):
    ref: types.RefName = ""
    is_active: Annotated[bool, Field(description="false: no polls, no webhooks")] = True
    repo_root_prefix: Annotated[types.FilePath, Field(description="folder to import; empty: all")] = ""
    include: Annotated[GlobsField, Field(description="globs of files to import; empty: all")] = []
    exclude: GlobsField = []


class RegisterRepository(RepositorySettings):
    url: Annotated[types.GitUrl, Field(min_length=1, description="git URL")]
    name: types.RepoNameOrNone = ""
    index: Annotated[bool, Field(description="false: import nothing yet")] = True


class UpdateRepository(RepositorySettings):
    repo: types.RepoKey
    name: Annotated[types.RepoNameOrNone, Field(description="new name; needs the scope admin")] = ""


class ReindexRepository(FollowingArguments):
    repo: types.RepoKey
    full: Annotated[bool, Field(description="compare every file")] = False
    force: Annotated[bool, Field(description="index every file again")] = False


class OneRepository(Arguments):
    repo: types.RepoKey


class RepositoryWithChanges(OneRepository):
    changes: Annotated[
        int, Field(ge=0, le=CHANGES_MAX, description="also list so many of the newest changes of files")
    ] = 0
    path: Annotated[types.FilePath, Field(description="file or folder of these changes")] = ""


async def register_repository(call: Call, arguments: RegisterRepository) -> Answer:
    given = arguments.model_dump(exclude={"name"}, exclude_unset=True)
    request = RegisterRequest(tenant=call.caller.tenant, repo_name=arguments.name, **given)
    return repositories.registered(await call.backend.ask(REGISTER, request))


async def update_repository(call: Call, arguments: UpdateRepository) -> Answer:
    # What is left out stays.
    given = arguments.model_dump(exclude_unset=True)
    if arguments.name:
        check_scope(call.caller, ADMIN)
    else:
        given.pop("name", None)
    request = UpdateRepositoryRequest(tenant=call.caller.tenant, **given)
    return repositories.registered(await call.backend.ask(UPDATE_REPOSITORY, request))


async def repository_status(call: Call, arguments: RepositoryWithChanges) -> Answer:
    request = RepositoryStatusRequest(tenant=call.caller.tenant, repo=arguments.repo)
    status = repositories.status(await call.backend.ask(REPOSITORY_STATUS, request))
    if not arguments.changes:
        return status
    wanted = ChangesRequest(
        tenant=call.caller.tenant, repo=arguments.repo, path=arguments.path, limit=arguments.changes
    )
    return repositories.with_changes(status, await call.backend.ask(CHANGES, wanted))


async def reindex_repository(call: Call, arguments: ReindexRepository) -> Answer:
    request = ReindexRequest(tenant=call.caller.tenant, **arguments.model_dump(exclude={"wait_s"}))
    reply = await call.backend.ask(REINDEX, request)
    return indexing.job(await follow(call, reply.job, arguments))


async def clear_cache(call: Call, arguments: OneRepository) -> Answer:
    request = ClearCacheRequest(tenant=call.caller.tenant, repo=arguments.repo)
    found = await call.backend.ask(CLEAR_CACHE, request)
    name = found.repository.name
    return Answer({"cleared": name}, f"cached answers of {name} are dropped")


REPOSITORY = record(
    name=STRING,
    source=STRING,
    ref=STRING,
    is_active=BOOLEAN,
    repo_root_prefix=STRING,
    include=STRINGS,
    exclude=STRINGS,
)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "register_repository",
        Toolset.ADMIN,
        "Register a git URL with its settings, and index it.",
        RegisterRepository,
        record(repository=REPOSITORY, job=JOB),
        register_repository,
        effect=Effect.FETCHES,
    ),
    Tool(
        "update_repository",
        Toolset.ADMIN,
        "Change settings of a repository; the next import applies them.",
        UpdateRepository,
        record(repository=REPOSITORY),
        update_repository,
        effect=Effect.TAKES,
    ),
    Tool(
        "repository_status",
        Toolset.ADMIN,
        "What a repository is doing, and why its last import failed.",
        RepositoryWithChanges,
        record(
            repository=REPOSITORY,
            state=STRING,
            served_commit=STRING,
            lag_seconds=NUMBER,
            active_job=JOB,
            last_error=OBJECT,
            changes=ARRAY,
        ),
        repository_status,
    ),
    Tool(
        "reindex_repository",
        Toolset.ADMIN,
        "Fetch a repository and index what changed.",
        ReindexRepository,
        record(job=JOB),
        reindex_repository,
        effect=Effect.FETCHES,
    ),
    Tool(
        "clear_cache",
        Toolset.ADMIN,
        "Drop the cached answers of a repository.",
        OneRepository,
        record(cleared=STRING),
        clear_cache,
        effect=Effect.TAKES,
    ),
)
