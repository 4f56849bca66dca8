"""Tasks."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from prism_contracts import types
from prism_contracts.rpc.tasks import (
    CREATE_TASK,
    GET_TASK,
    LIST_TASKS,
    TASKS_LIMIT_MAX,
    UPDATE_TASK,
    CommitHash,
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksReply,
    ListTasksRequest,
    TaskId,
    TaskReply,
    UpdateTaskRequest,
)
from prism_gateway.rest.bodies import TaskBody, TaskPatch
from prism_gateway.rest.dependencies import Caller, RepoHeader, Services
from prism_gateway.rest.idempotency import IDEMPOTENT, IdempotentRoute
from prism_gateway.rest.replies import reply

TASKS_DEFAULT = 50

router = APIRouter(tags=["tasks"], route_class=IdempotentRoute)


@router.post("/tasks", response_model=TaskReply, status_code=201, dependencies=[IDEMPOTENT])
async def create_task(body: TaskBody, caller: Caller, backend: Services, header: RepoHeader = "") -> Response:
    """Create a task. A repeated request with the same `client_id` returns the same task."""
    request = CreateTaskRequest(
        tenant=caller.tenant, by=caller.label, connected_repo=header, **body.model_dump()
    )
    return reply(await backend.ask(CREATE_TASK, request), status=201)


@router.get("/tasks", response_model=ListTasksReply)
async def list_tasks(
    *,
    caller: Caller,
    backend: Services,
    status: types.Word = "",
    branch: types.RefName = "",
    commit: CommitHash = "",
    repo: types.RepoNameOrNone = "",
    stale: Annotated[bool | None, Query(description="whether code that it names has changed")] = None,
    query: types.Query = "",
    limit: Annotated[int, Query(ge=1, le=TASKS_LIMIT_MAX)] = TASKS_DEFAULT,
    cursor: types.Cursor = "",
) -> Response:
    """List the tasks that match every given filter: the last updated first, with `query` the best first."""
    request = ListTasksRequest(
        tenant=caller.tenant,
        status=status,
        branch=branch,
        commit=commit,
        repo=repo,
        stale=stale,
        query=query,
        limit=limit,
        cursor=cursor,
    )
    return reply(await backend.ask(LIST_TASKS, request))


@router.get("/tasks/{task}", response_model=TaskReply)
async def get_task(task: TaskId, caller: Caller, backend: Services) -> Response:
    """Return a task with its history, by its id or the first 8 digits or more of it."""
    return reply(await backend.ask(GET_TASK, GetTaskRequest(tenant=caller.tenant, task_id=task)))


@router.patch("/tasks/{task}", response_model=TaskReply, dependencies=[IDEMPOTENT])
async def update_task(
    task: TaskId, body: TaskPatch, caller: Caller, backend: Services, header: RepoHeader = ""
) -> Response:
    """Change the given fields of a task, and link a branch or a commit."""
    request = UpdateTaskRequest(
        tenant=caller.tenant, task_id=task, by=caller.label, connected_repo=header, **body.model_dump()
    )
    return reply(await backend.ask(UPDATE_TASK, request))
