"""Requests about tasks, and pushes and merges that name some."""

from prism_contracts.events import BranchPushed, PullRequestMerged
from prism_contracts.records import AnchoredKind, TaskRecord
from prism_contracts.rpc.anchors import STALE_LISTED_MAX
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.tasks import (
    CreateTaskRequest,
    GetTaskRequest,
    ListTasksReply,
    ListTasksRequest,
    TaskReply,
    TaskSummary,
    UpdateTaskRequest,
)
from prism_workspace.core.tasks import reply_of
from prism_workspace.operations.anchors import Anchors
from prism_workspace.operations.references import References
from prism_workspace.operations.task_links import TaskLinks
from prism_workspace.operations.tasks import TeamTasks


class TaskHandlers:
    """Answers requests about tasks, and receives pushes and merges. Errors are those of `TeamTasks`."""

    def __init__(self, tasks: TeamTasks, links: TaskLinks, anchors: Anchors, references: References) -> None:
        self._tasks = tasks
        self._links = links
        self._anchors = anchors
        self._references = references

    async def create(self, request: CreateTaskRequest) -> TaskReply:
        """Create a task, once for each client id."""
        return await self._reply(await self._tasks.create(request), request)

    async def get(self, request: GetTaskRequest) -> TaskReply:
        """Return a task with its history."""
        return await self._reply(await self._tasks.find(request, request.task_id), request)

    async def update(self, request: UpdateTaskRequest) -> TaskReply:
        """Change a task, and return the changed one."""
        return await self._reply(await self._tasks.update(request), request)

    async def _reply(self, task: TaskRecord, request: CallerRequest) -> TaskReply:
        not_found = await self._references.missing(request, task)
        stale = self._anchors.stale(request, AnchoredKind.TASK, task.task)
        return reply_of(task, request).model_copy(update={"stale": stale, "references_not_found": not_found})

    async def list(self, request: ListTasksRequest) -> ListTasksReply:
        """Return a page of tasks."""
        stale = self._anchors.all_stale(request, AnchoredKind.TASK) if request.stale is not None else {}
        page = await self._tasks.page(request, stale)
        return page.model_copy(update={"tasks": tuple(self._with_stale(request, one) for one in page.tasks)})

    def _with_stale(self, request: ListTasksRequest, one: TaskSummary) -> TaskSummary:
        stale = self._anchors.stale(request, AnchoredKind.TASK, one.id)[:STALE_LISTED_MAX]
        return one.model_copy(update={"stale": stale}) if stale else one

    async def on_pushed(self, event: BranchPushed) -> None:
        """Link the tasks that a push names."""
        await self._links.apply(event)

    async def on_merged(self, event: PullRequestMerged) -> None:
        """Complete the tasks that a merged pull request names, if the setting says so."""
        await self._links.complete(event)
