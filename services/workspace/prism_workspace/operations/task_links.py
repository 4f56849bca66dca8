"""Links tasks to the branches and commits that name them, and completes those that merged pull requests name.

In: a push or a merge that ingest reports. A redelivered one finds its work done and changes nothing. What no
delivery can change is logged and not repeated: an id that several tasks have, a branch of another task, a task
that is full.
"""

import logging
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from prism_contracts.errors import ErrorCode, PrismError, shown
from prism_contracts.events import BranchPushed, PullRequestMerged, PushedCommit
from prism_contracts.records import Repository, TaskRecord, TasksOnMerge, repository_key
from prism_runtime.records import WatchedRecords
from prism_workspace.core.task_mentions import named_in_branch, named_in_message
from prism_workspace.core.tasks import completed, linked
from prism_workspace.operations.tasks import TeamTasks

# The task cannot take the link, whenever it is tried again.
_FOR_GOOD = frozenset({ErrorCode.LIMIT_EXCEEDED, ErrorCode.PAYLOAD_TOO_LARGE})

log = logging.getLogger(__name__)


class _Source(NamedTuple):
    """Where a name of a task was read."""

    tenant: str
    repo: str  # owner/name


def _now() -> datetime:
    return datetime.now(UTC)


class TaskLinks:
    """What pushes and merges make of tasks."""

    def __init__(
        self,
        tasks: TeamTasks,
        repositories: WatchedRecords[Repository],
        *,
        completes: bool = False,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`completes`: whether merged pull requests of repositories without a setting complete tasks."""
        self._repositories = repositories
        self._tasks = tasks
        self._completes = completes
        self._now = now

    async def apply(self, push: BranchPushed) -> None:
        """Link the tasks of the tenant that a push names. Raises UNAVAILABLE."""
        source = _Source(push.tenant, push.name)
        named: dict[str, list[PushedCommit]] = defaultdict(list)
        for commit in push.commits:
            for name in named_in_message(commit.message):
                named[name].append(commit)
        commits: dict[str, list[PushedCommit]] = defaultdict(list)
        for name, naming in named.items():
            if task := await self._task(source, name):
                commits[task] += naming
        held = await self._task_of_branch(source, push.branch) if named_in_branch(push.branch) else []
        for task in dict.fromkeys((*commits, *held)):
            branch = push.branch if task in held else ""
            change = linked(branch, commits.get(task, []), push.name, self._now())
            await self._change(source, task, change)

    async def complete(self, merge: PullRequestMerged) -> None:
        """Complete the tasks of the tenant that a merged pull request names. Raises UNAVAILABLE."""
        if not await self._does_complete(merge):
            return
        merged, source = merge.merged, _Source(merge.tenant, merge.name)
        tasks = [
            await self._task(source, name) for name in named_in_message(f"{merged.title}\n\n{merged.body}")
        ]
        if merged.branch:
            tasks += await self._task_of_branch(source, merged.branch)
        for task in filter(None, dict.fromkeys(tasks)):
            await self._change(source, task, completed(merge, self._now()))

    async def _does_complete(self, merge: PullRequestMerged) -> bool:
        """Whether merges of a repository complete tasks: by its setting, else by that of the installation."""
        await self._repositories.catch_up()
        repository = self._repositories.get(repository_key(merge.tenant, merge.repo))
        said = repository.tasks_on_merge if repository else TasksOnMerge.INSTALLATION
        return self._completes if said is TasksOnMerge.INSTALLATION else said is TasksOnMerge.COMPLETE

    async def _task(self, source: _Source, named: str) -> str:
        """Returns the id of the task, or an empty string if there is none, or several."""
        found = await self._tasks.ids(source.tenant, named)
        if len(found) > 1:
            log.warning("%s names #%s, and several tasks have this id: none is changed", source.repo, named)
        return found[0] if len(found) == 1 else ""

    async def _task_of_branch(self, source: _Source, branch: str) -> list[str]:
        """Returns the id of the task that a branch names or is linked to, if it is one."""
        named = [task for name in named_in_branch(branch) if (task := await self._task(source, name))]
        holders = await self._tasks.holders(source.tenant, source.repo, branch)
        found = sorted({*named, *holders})
        if len(found) > 1:
            log.warning(
                "branch %s of %s belongs to one task, and names or has several: %s",
                shown(branch),
                source.repo,
                ", ".join(found),
            )
        return found if len(found) == 1 else []

    async def _change(self, source: _Source, task: str, change: Callable[[TaskRecord], TaskRecord]) -> None:
        try:
            await self._tasks.change(source.tenant, task, change)
        except PrismError as error:
            if error.code not in _FOR_GOOD:
                raise
            log.warning("%s names task %s, which cannot take it: %s", source.repo, task, error)
