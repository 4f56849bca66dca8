"""Tasks: what is to be done, with its status, its history, and the branches and commits that belong to it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from prism_contracts.base import Message
from prism_contracts.records import BranchLink, CommitLink, PlanningReference, TaskChange
from prism_contracts.registry import Rpc
from prism_contracts.rpc.anchors import StalePlace
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.types import (
    Count,
    Cursor,
    FilePath,
    LabelOrNone,
    Query,
    RefName,
    RepoKeyOrNone,
    RepoNameOrNone,
    ShortText,
    TaskText,
    TaskTitle,
    Word,
)

TASK_ID_CHARS_MAX = 36
SHORT_ID_CHARS = 8
REFERENCES_MAX = 50
TASKS_LIMIT_MAX = 100
CLIENT_ID_CHARS_MAX = 100

# A UUID, or at least its first eight digits.
TaskId = Annotated[str, Field(min_length=1, max_length=TASK_ID_CHARS_MAX)]
# A full hash. Its form is checked by the service, whose error has a code of its own.
CommitHash = Annotated[str, StringConstraints(max_length=100)]
ClientId = Annotated[str, StringConstraints(max_length=CLIENT_ID_CHARS_MAX)]
# A path, `owner/name: path:line`, `path::symbol`, a symbol, a document's id or an address.
References = Annotated[tuple[Annotated[FilePath, Field(min_length=1)], ...], Field(max_length=REFERENCES_MAX)]


class TaskStatus(StrEnum):
    """The statuses that every installation has. `PRISM_TASK_STATUSES` adds others."""

    TO_DO = "need to be done"
    IN_PROGRESS = "in-progress"
    COMPLETE = "complete"


class ReferenceType(StrEnum):
    """The type of a planning reference, which follows from its form, and from its path if it has one."""

    SPEC = "spec"
    PLAN = "plan"
    DECISION = "decision"
    DOCUMENT = "document"
    CODE = "code"
    SYMBOL = "symbol"
    URL = "url"


class TaskReply(Message):
    """A task."""

    id: str
    title: str
    description: str
    notes: str
    status: str
    repo: str
    version: int
    created_at: datetime
    updated_at: datetime
    created_by: str
    planning_references: tuple[PlanningReference, ...]
    branches: tuple[BranchLink, ...]
    commits: tuple[CommitLink, ...]
    history: tuple[TaskChange, ...]
    stale: tuple[StalePlace, ...] = ()  # places that it names and that have changed since it was written
    # Planning references that name nothing the index has; None if it did not answer in time.
    references_not_found: tuple[str, ...] | None = None


class TaskSummary(Message):
    """A task in a list."""

    id: str
    title: str
    status: str
    repo: str
    version: int
    created_at: datetime
    updated_at: datetime
    branches: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    stale: tuple[StalePlace, ...] = ()  # the first of them


class CreateTaskRequest(CallerRequest):
    """Creates a task. With the `client_id` of an earlier request, it returns the task of that request."""

    title: TaskTitle
    description: TaskText = ""
    notes: TaskText = ""
    planning_references: References = ()
    repo: RepoNameOrNone = ""
    client_id: ClientId = ""
    # Where its writer works: a name that several repositories have is meant there.
    connected_repo: RepoKeyOrNone = ""
    by: LabelOrNone = ""


class GetTaskRequest(CallerRequest):
    """Returns a task with its history."""

    task_id: TaskId


class UpdateTaskRequest(CallerRequest):
    """Changes the fields that are given, and links a branch or a commit.

    With `expected_version`, the task must not have changed since a reply with that version.
    """

    task_id: TaskId
    title: TaskTitle | None = None
    description: TaskText | None = None
    notes: TaskText | None = None
    status: Word | None = None
    planning_references: References | None = None
    branch: RefName = ""
    commit: CommitHash = ""
    commit_message: ShortText = ""
    repo: RepoNameOrNone = ""  # repository of the branch and the commit; empty: the repository of the task
    expected_version: Count | None = None
    # Where its writer works: a name that several repositories have is meant there.
    connected_repo: RepoKeyOrNone = ""
    by: LabelOrNone = ""


class ListTasksRequest(CallerRequest):
    """Lists the tasks that match every field that is set: the last updated first, or with `query` the best."""

    status: Word = ""
    branch: RefName = ""
    commit: CommitHash = ""  # or the beginning of one
    repo: RepoNameOrNone = ""
    stale: bool | None = None  # whether a place that it names has changed
    query: Query = ""  # words of title, description, notes, branches and commits
    limit: Annotated[int, Field(ge=1, le=TASKS_LIMIT_MAX)] = 50
    cursor: Cursor = ""


class ListTasksReply(Message):
    """A page of tasks. `total` counts the matching ones; a cursor is empty on the last page."""

    tasks: tuple[TaskSummary, ...]
    total: int
    next_cursor: str = ""


CREATE_TASK = Rpc("workspace.create_task", CreateTaskRequest, TaskReply, writes=True)
GET_TASK = Rpc("workspace.get_task", GetTaskRequest, TaskReply, reads=True)
UPDATE_TASK = Rpc("workspace.update_task", UpdateTaskRequest, TaskReply, writes=True)
LIST_TASKS = Rpc("workspace.list_tasks", ListTasksRequest, ListTasksReply, reads=True)
