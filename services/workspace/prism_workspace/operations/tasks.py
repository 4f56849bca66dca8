"""Reads and changes tasks. The record in the bucket is the truth, and lists read what follows it."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime

from prism_contracts import names
from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.records import AnchoredKind, TaskRecord, task_key
from prism_contracts.rpc.common import CallerRequest
from prism_contracts.rpc.tasks import (
    CreateTaskRequest,
    ListTasksReply,
    ListTasksRequest,
    TaskStatus,
    UpdateTaskRequest,
)
from prism_runtime.bus import Bus
from prism_runtime.cursors import read_cursor, write_cursor
from prism_runtime.records import FollowedBucket, Records, open_bucket
from prism_workspace.adapters.anchors import WantLinks
from prism_workspace.adapters.task_table import TaskTable
from prism_workspace.core import tasks
from prism_workspace.core.anchors import Title

UUID_CHARS = 36


def _now() -> datetime:
    return datetime.now(UTC)


class TeamTasks:
    """The tasks of all tenants."""

    def __init__(
        self,
        records: Records[TaskRecord],
        followed: FollowedBucket[TaskRecord, TaskTable],
        *,
        statuses: Sequence[str] = (),
        tasks_max: int,
        want_links: WantLinks,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`statuses`: those that tasks may have besides `TaskStatus`. `tasks_max`: of each tenant."""
        self._records = records
        self._followed = followed
        self._statuses = tuple(dict.fromkeys((*TaskStatus, *statuses)))
        self._tasks_max = tasks_max
        self._want_links = want_links
        self._now = now

    @classmethod
    async def open(
        cls, bus: Bus, *, replicas: int, statuses: Sequence[str], tasks_max: int, want_links: WantLinks
    ) -> "TeamTasks":
        """Open the bucket, and follow it. The table is complete when this returns."""
        bucket = await open_bucket(bus.js, names.KV_TASKS, replicas=replicas)
        followed = await bus.project(names.KV_TASKS, TaskRecord, TaskTable)
        records = Records(bucket, TaskRecord)
        return cls(records, followed, statuses=statuses, tasks_max=tasks_max, want_links=want_links)

    async def create(self, request: CreateTaskRequest) -> TaskRecord:
        """Store a new task; or return the one that a request with the same client id created.

        Raises PrismError: REPO_NOT_FOUND, INVALID_PATH, LIMIT_EXCEEDED, PAYLOAD_TOO_LARGE.
        """
        _check_repo(request, request.repo)
        record = tasks.created(request, self._now())
        at = record.repo or request.connected_repo
        await self._want_links(request, AnchoredKind.TASK, record.task, tasks.text_of(record), at)
        stored = await self._records.modify(record.key, lambda found: found or self._within_limit(record))
        return _visible(stored, request, stored.task)

    async def find(self, request: CallerRequest, task_id: str) -> TaskRecord:
        """Returns a task as it is now. Raises TASK_NOT_FOUND, TASK_AMBIGUOUS, UNAVAILABLE."""
        task = await self._full_id(request.tenant, task_id)
        return _visible(await self._records.get(task_key(request.tenant, task)), request, task_id)

    async def update(self, request: UpdateTaskRequest) -> TaskRecord:
        """Change a task: all that the request says, or nothing.

        Raises PrismError: TASK_NOT_FOUND, TASK_AMBIGUOUS, TASK_CONFLICT, INVALID_STATUS, INVALID_COMMIT,
        INVALID_PATH, REPO_NOT_FOUND, LIMIT_EXCEEDED, PAYLOAD_TOO_LARGE.
        """
        _check_repo(request, request.repo)
        change = tasks.changed(request, self._statuses, self._now())
        task = await self._full_id(request.tenant, request.task_id)
        key = task_key(request.tenant, task)

        def changed(found: TaskRecord | None) -> TaskRecord:
            return change(_visible(found, request, request.task_id))

        before = await self._records.get(key)
        after = changed(before)
        text, at = tasks.text_of(after), after.repo or request.connected_repo
        if before is None or text != tasks.text_of(before):
            await self._want_links(request, AnchoredKind.TASK, task, text, at)
        stored = _visible(await self._records.change(key, changed), request, request.task_id)
        if tasks.text_of(stored) != text:  # another update came first, and this one was applied to its text
            await self._want_links(request, AnchoredKind.TASK, task, tasks.text_of(stored), at)
        return stored

    async def ids(self, tenant: str, prefix: str) -> list[str]:
        """Returns the ids of the tasks that begin so: two if there are more. Raises UNAVAILABLE."""
        await self._followed.require_current("tasks")
        return self._followed.projection.ids(tenant, prefix, 2)

    async def holders(self, tenant: str, repo: str, branch: str) -> list[str]:
        """Returns the ids of the tasks that a branch is linked to. Raises UNAVAILABLE."""
        await self._followed.require_current("tasks")
        return self._followed.projection.holders(tenant, repo.lower(), branch)

    async def change(self, tenant: str, task: str, change: Callable[[TaskRecord], TaskRecord]) -> None:
        """Change a task, if it exists, but not its texts. `change` must be pure; its errors are raised."""
        await self._records.change(task_key(tenant, task), change)

    async def text(self, tenant: str, task: str) -> str | None:
        """Returns the Markdown of a task, or None if there is none."""
        record = await self._records.get(task_key(tenant, task))
        return tasks.text_of(record) if record else None

    def title(self, request: CallerRequest, task: str) -> Title | None:
        """Returns how a task is shown, if there is one and the caller sees it."""
        found = self._followed.projection.title(request.tenant, task)
        if found is None:
            return None
        title, status, repo = found
        is_seen = not repo or request.sees(repo)
        return Title(title, status=status, is_open=status != TaskStatus.COMPLETE) if is_seen else None

    async def page(self, request: ListTasksRequest, stale: Collection[str] = ()) -> ListTasksReply:
        """Returns a page of the tasks that a caller sees, including all changes that were answered before.

        `stale` are the ids of the stale ones, for a request that asks for these or for the others.

        Raises PrismError: INVALID_STATUS, INVALID_CURSOR, EMPTY_QUERY, UNAVAILABLE.
        """
        if request.status:
            tasks.check_status(request.status, self._statuses)
        request = request.model_copy(update={"commit": request.commit.lower()})
        question = request.model_dump_json(
            include={"tenant", "status", "branch", "commit", "repo", "stale", "query"}
        )
        after = read_cursor(question, request.cursor, (int, str)) if request.cursor else None
        await self._followed.require_current("tasks")
        position = (int(after[0]), str(after[1])) if after else None
        page = self._followed.projection.page(request, position, stale)
        cursor = write_cursor(question, *page.next_position) if page.next_position else ""
        return ListTasksReply(tasks=tuple(page.tasks), total=page.total, next_cursor=cursor)

    def _within_limit(self, record: TaskRecord) -> TaskRecord:
        if self._followed.projection.count(record.tenant) >= self._tasks_max:
            raise PrismError(
                ErrorCode.LIMIT_EXCEEDED,
                f"The tenant has {self._tasks_max:,} tasks, which is the limit.",
                "Ask the operator of this Prism to raise PRISM_TASKS_MAX.",
            )
        return record

    async def _full_id(self, tenant: str, task_id: str) -> str:
        prefix = tasks.id_prefix(task_id)
        if len(prefix) == UUID_CHARS:
            return prefix
        found = await self.ids(tenant, prefix)
        if not found:
            raise tasks.not_found(task_id)
        if len(found) > 1:
            raise PrismError(
                ErrorCode.TASK_AMBIGUOUS,
                f"Several tasks have an id that begins with {shown(prefix)}.",
                "Give more digits of the id.",
                ids=found,
            )
        return found[0]


def _visible(task: TaskRecord | None, request: CallerRequest, task_id: str) -> TaskRecord:
    if task is None or not tasks.is_visible(task, request):
        raise tasks.not_found(task_id)
    return task


def _check_repo(request: CallerRequest, repo: str) -> None:
    if repo and not request.sees(repo):
        raise PrismError(
            ErrorCode.REPO_NOT_FOUND,
            f"There is no repository {shown(repo)}.",
            "Call list_repos for the names.",
        )
