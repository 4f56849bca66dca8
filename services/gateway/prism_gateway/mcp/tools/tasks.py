"""The toolset `tasks`: what is to be done, and the branches and commits that belong to it."""

from typing import Annotated

from pydantic import Field

from prism_contracts import types
from prism_contracts.rpc import tasks as contract
from prism_contracts.rpc.tasks import (
    CREATE_TASK,
    GET_TASK,
    LIST_TASKS,
    TASKS_LIMIT_MAX,
    UPDATE_TASK,
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    TaskStatus,
    UpdateTaskRequest,
)
from prism_gateway.mcp.answers import tasks
from prism_gateway.mcp.arguments import Arguments
from prism_gateway.mcp.schema import ARRAY, INTEGER, STRING, STRINGS, array, record
from prism_gateway.mcp.tool import Answer, AnyTool, Call, Effect, Tool, Toolset

TASKS_DEFAULT = 20

TaskIdField = Annotated[contract.TaskId, Field(description="UUID, or its first 8 digits")]
StatusField = Annotated[types.Word, Field(description=", ".join(TaskStatus))]
ReferencesField = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=types.PATH_CHARS_MAX)]],
    Field(max_length=contract.REFERENCES_MAX, description="paths, symbols, documents, URLs"),
]


class CreateTask(Arguments):
    title: types.TaskTitle
    description: types.TaskText = ""
    notes: types.TaskText = ""
    planning_references: ReferencesField = []
    repo: types.RepoNameOrNone = ""
    client_id: Annotated[contract.ClientId, Field(description="repeated calls with it create one task")] = ""


class GetTask(Arguments):
    task_id: TaskIdField


class ListTasks(Arguments):
    status: StatusField = ""
    branch: types.RefName = ""
    commit: Annotated[contract.CommitHash, Field(description="or its beginning")] = ""
    repo: types.RepoNameOrNone = ""
    stale: Annotated[bool | None, Field(description="names code that has changed")] = None
    query: Annotated[types.Query, Field(description="words of the task")] = ""
    limit: Annotated[int, Field(ge=1, le=TASKS_LIMIT_MAX)] = TASKS_DEFAULT
    cursor: types.Cursor = ""


class UpdateTask(Arguments):
    task_id: TaskIdField
    title: types.TaskTitle = ""
    description: types.TaskText = ""
    notes: types.TaskText = ""
    status: StatusField = ""
    planning_references: ReferencesField = []
    branch: Annotated[types.RefName, Field(description="branch to link")] = ""
    commit: Annotated[contract.CommitHash, Field(description="commit to link: 40 hex digits")] = ""
    commit_message: types.ShortText = ""
    repo: Annotated[types.RepoNameOrNone, Field(description="repository of the links")] = ""
    expected_version: Annotated[types.Count, Field(description="fail if it has changed since")] = 0


async def create_task(call: Call, arguments: CreateTask) -> Answer:
    request = CreateTaskRequest(
        tenant=call.caller.tenant,
        by=call.caller.label,
        connected_repo=call.repo,
        **arguments.model_dump(),
    )
    return tasks.changed(await call.backend.ask(CREATE_TASK, request))


async def get_task(call: Call, arguments: GetTask) -> Answer:
    request = GetTaskRequest(tenant=call.caller.tenant, task_id=arguments.task_id)
    return tasks.task(await call.backend.ask(GET_TASK, request))


async def list_tasks(call: Call, arguments: ListTasks) -> Answer:
    request = ListTasksRequest(tenant=call.caller.tenant, **arguments.model_dump())
    return tasks.listed(await call.backend.ask(LIST_TASKS, request))


async def update_task(call: Call, arguments: UpdateTask) -> Answer:
    # What is left out stays, and an empty text replaces one.
    given = arguments.model_dump(exclude_unset=True)
    for name in ("status", "expected_version"):
        if not given.get(name):
            given.pop(name, None)
    request = UpdateTaskRequest(
        tenant=call.caller.tenant, by=call.caller.label, connected_repo=call.repo, **given
    )
    return tasks.changed(await call.backend.ask(UPDATE_TASK, request))


_SUMMARY = {
    "id": STRING,
    "title": STRING,
    "status": STRING,
    "repo": STRING,
    "version": INTEGER,
    "created_at": STRING,
    "updated_at": STRING,
    "stale": ARRAY,
}
_LINKS = {"planning_references": ARRAY, "references_not_found": ARRAY, "branches": ARRAY, "commits": ARRAY}
_CHANGED = record(**_SUMMARY, created_by=STRING, **_LINKS)

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "create_task",
        Toolset.TASKS,
        f"Create a task. Its status is '{TaskStatus.TO_DO}'.",
        CreateTask,
        _CHANGED,
        create_task,
        effect=Effect.TAKES,
    ),
    Tool(
        "get_task",
        Toolset.TASKS,
        "Read a task with its links and its history.",
        GetTask,
        record(
            **_SUMMARY,
            description=STRING,
            notes=STRING,
            created_by=STRING,
            **_LINKS,
            history=ARRAY,
        ),
        get_task,
    ),
    Tool(
        "list_tasks",
        Toolset.TASKS,
        "List tasks, the last updated first; with a query, the best first.",
        ListTasks,
        record(
            tasks=array(record(**_SUMMARY, branches=STRINGS, commits=STRINGS)),
            total=INTEGER,
            next_cursor=STRING,
        ),
        list_tasks,
    ),
    Tool(
        "update_task",
        Toolset.TASKS,
        "Change a task, its status, or link a branch or commit.",
        UpdateTask,
        _CHANGED,
        update_task,
        effect=Effect.TAKES,
    ),
)
